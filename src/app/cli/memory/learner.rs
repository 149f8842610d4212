//! What the page of a learner shows, in a terminal.

use std::io::{self, Write};

use crate::http::control::{
    ChangedMoveJson, LearnerShown, LessonShown, PatternShown, PointShown, VersionShown,
};
use crate::model::ids::GameId;
use crate::model::result::GameResult;

use super::super::operator::DataArg;
use super::super::reasons;
use crate::app::terminal::output;

/// Points of the curve in the table, the last ones: one for each doubling is enough to see where it goes.
const POINTS_MAX: usize = 12;

/// New patterns of a lesson that are named; the rest are counted.
const NAMED_MAX: usize = 2;

/// Moves of a lesson's game that are named at which it chose otherwise right after; the rest are counted.
const RETHOUGHT_MAX: usize = 3;

/// Prints versions, curve, lessons and patterns of a learner of the arena.
pub(super) fn show(mut learner: LearnerShown, limit: Option<usize>, json: bool) -> anyhow::Result<()> {
    learner.patterns.truncate(limit.unwrap_or(usize::MAX));
    if json {
        return output::print_json(&learner);
    }
    let mut out = io::stdout();
    writeln!(out, "{}: {} games learnt, {} patterns", learner.name, learner.games, learner.pattern_count)?;
    writeln!(out)?;
    let versions: Vec<_> = learner.versions.iter().map(version).collect();
    output::print_table(["Version", "Games", "Rating", "Decision", "Rated games"], &versions)?;
    if !learner.curve.is_empty() {
        let points = &learner.curve[learner.curve.len().saturating_sub(POINTS_MAX)..];
        let points: Vec<_> = points.iter().map(point).collect();
        writeln!(out)?;
        output::print_table(["Games learnt", "Live rating", "Decision"], &points)?;
    }
    if !learner.lessons.is_empty() {
        let lessons: Vec<_> =
            learner.lessons.iter().map(|taught| lesson(taught, learner.keeps_counts)).collect();
        writeln!(out)?;
        output::print_table(["Lesson", "Game", "Played", "Changed", "Chose otherwise"], &lessons)?;
    }
    writeln!(out)?;
    if learner.keeps_counts {
        let patterns: Vec<_> = learner.patterns.iter().map(counted).collect();
        output::print_table(["Pattern", "Seen", "Won", "Lost", "Weighting"], &patterns)?;
    } else {
        let weighed = |row: &PatternShown| [row.pattern.clone(), format!("{:+}", row.weighting)];
        let patterns: Vec<_> = learner.patterns.iter().map(weighed).collect();
        output::print_table(["Pattern", "Weighting"], &patterns)?;
    }
    Ok(())
}

fn version(version: &VersionShown) -> [String; 5] {
    let rating = version.published.map_or_else(unknown, |rating| {
        let mark = if rating.provisional { "?" } else { "" };
        format!("{}{mark} ± {}", rating.elo, rating.pm95)
    });
    [
        version.name.to_string(),
        version.games.to_string(),
        rating,
        percent(version.decision),
        version.rated_games.to_string(),
    ]
}

fn point(point: &PointShown) -> [String; 3] {
    let rating = point.live_elo.map_or_else(unknown, |elo| elo.to_string());
    [point.games.to_string(), rating, percent(point.decision)]
}

fn lesson(lesson: &LessonShown, keeps_counts: bool) -> [String; 5] {
    let played = match (&lesson.players, lesson.result) {
        (Some([first, second]), Some(result)) => format!("{first} {} {second}", score(result)),
        _ => unknown(),
    };
    let game = lesson.game.as_ref().map_or_else(unknown, ToString::to_string);
    let changed = if keeps_counts { changes(lesson) } else { "weights".to_owned() };
    let turns = lesson.rethought.as_deref().map_or_else(unknown, changed_moves);
    [lesson.number.to_string(), game, played, changed, turns]
}

/// `move 5: 4 -> 3; move 9: 1 2 7 -> 4; +2`: columns among which it would have chosen before, and chose right after.
fn changed_moves(turns: &[ChangedMoveJson]) -> String {
    let columns = |columns: &[u8]| columns.iter().map(u8::to_string).collect::<Vec<_>>().join(" ");
    let turn = |ChangedMoveJson { ply, before, after }: &ChangedMoveJson| {
        format!("move {ply}: {} -> {}", columns(before), columns(after))
    };
    let mut named: Vec<String> = turns.iter().take(RETHOUGHT_MAX).map(turn).collect();
    let more = turns.len().saturating_sub(RETHOUGHT_MAX);
    if more > 0 {
        named.push(format!("+{more}"));
    }
    named.join("; ")
}

/// `3 seen again, 3 new: own c1 d1 . ., own d1 e1 . ., +1`
fn changes(lesson: &LessonShown) -> String {
    let mut text = format!("{} seen again, {} new", lesson.again, lesson.new.len());
    let named: Vec<&str> = lesson.new.iter().take(NAMED_MAX).map(String::as_str).collect();
    if !named.is_empty() {
        text = format!("{text}: {}", named.join(", "));
    }
    match lesson.new.len().saturating_sub(NAMED_MAX) {
        0 => text,
        more => format!("{text}, +{more}"),
    }
}

fn counted(row: &PatternShown) -> [String; 5] {
    [
        row.pattern.clone(),
        row.seen.to_string(),
        row.won.to_string(),
        row.lost.to_string(),
        row.weighting.to_string(),
    ]
}

fn score(result: GameResult) -> &'static str {
    match result {
        GameResult::First => "1-0",
        GameResult::Second => "0-1",
        GameResult::Draw => "½-½",
        GameResult::Void => "void",
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(unknown, |share| format!("{:.1} %", 100.0 * share))
}

fn unknown() -> String {
    "-".to_owned()
}

/// Prints why a bot moved as it did in a game.
pub(super) fn explain(data: &DataArg, name: &str, game: &GameId, json: bool) -> anyhow::Result<()> {
    let moves = data.command(async |daemon| daemon.reasons(name, game).await)?;
    if json {
        return output::print_json(&moves);
    }
    if moves.is_empty() {
        writeln!(io::stdout(), "{name} gave no reasons in game {game}")?;
    }
    for (number, said) in moves.iter().enumerate() {
        if number > 0 {
            writeln!(io::stdout())?;
        }
        writeln!(io::stdout(), "Move {}: column {}", said.ply, said.column)?;
        reasons::print(&said.reasons)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_names_some_of_what_was_new() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let taught = |new: &[&str]| LessonShown {
            number: 3,
            game: None,
            players: None,
            result: None,
            new: names(new),
            again: 1,
            rethought: None,
        };
        assert_eq!(changes(&taught(&[])), "1 seen again, 0 new");
        assert_eq!(changes(&taught(&["a", "b"])), "1 seen again, 2 new: a, b");
        assert_eq!(changes(&taught(&["a", "b", "c"])), "1 seen again, 3 new: a, b, +1");
        assert_eq!(lesson(&taught(&["a"]), false), ["3", "-", "-", "weights", "-"]);
    }

    #[test]
    fn the_first_turns_are_named() {
        let turn = |ply| ChangedMoveJson { ply, before: vec![1, 2, 7], after: vec![4] };
        let turns: Vec<_> = [5, 9, 12, 14, 20].map(turn).into();
        assert_eq!(changed_moves(&turns[..1]), "move 5: 1 2 7 -> 4");
        assert!(changed_moves(&turns).ends_with("; move 12: 1 2 7 -> 4; +2"), "{}", changed_moves(&turns));
    }
}
