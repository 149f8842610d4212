//! What the screen says in words.

use std::time::Duration;

use fourfold_bots::SearchInfo;
use fourfold_engine::search::Score;
use fourfold_engine::{Column, Position, Side};

use super::super::super::{result_line, symbol};
use super::super::game::{BotId, MoveKnowledge, MoveReport, PendingQuestion, ScreenGame, ScreenSeat, Whom};
use super::super::hints;
use super::super::pace::TICK;

/// Turned by one each tick.
const SPINNER: [char; 4] = ['|', '/', '-', '\\'];

/// Moves of a principal variation that are shown.
const LINE_MOVES_MAX: usize = 8;

/// What is going on.
pub(super) fn status(state: &ScreenGame) -> String {
    if let Some(outcome) = state.game().outcome() {
        return result_line(outcome, |side| state.title(side));
    }
    let side = state.game().position().side_to_move();
    match state.asked() {
        Some(asked @ PendingQuestion { whom: Whom::Player(_), .. }) => {
            format!("{}: {} thinks {}", symbol(side), state.name(side), elapsed(asked))
        }
        Some(asked @ PendingQuestion { whom: Whom::Adviser, .. }) => {
            format!("{} - looking for a hint {}", turn(state, side), elapsed(asked))
        }
        None if state.is_watched() && state.pace().is_paused() => {
            format!("paused - {} to move", symbol(side))
        }
        None => turn(state, side),
    }
}

fn turn(state: &ScreenGame, side: Side) -> String {
    match state.name(side).as_str() {
        "you" => format!("{}: your turn", symbol(side)),
        name => format!("{}: {name} to move", symbol(side)),
    }
}

fn elapsed(asked: PendingQuestion) -> String {
    let index = usize::try_from(asked.ticks).unwrap_or(0) % SPINNER.len();
    let seconds = (TICK * asked.ticks).as_secs_f64();
    format!("{} {seconds:.1} s", SPINNER[index])
}

/// More about it: why a key did nothing, the hint, or what the bot said about its last move.
pub(super) fn detail(state: &ScreenGame) -> String {
    if let Some(message) = state.message() {
        return message.to_owned();
    }
    if let Some(said) = state.hint() {
        return hint(said, state.game().position());
    }
    if state.is_watched() && state.game().outcome().is_none() {
        return pace(state.pace().delay());
    }
    let last_mover = state.game().position().side_to_move().opponent();
    match &state.reports()[last_mover] {
        Some(said) => format!("{} played {}", symbol(last_mover), report(said)),
        None => String::new(),
    }
}

fn pace(delay: Duration) -> String {
    if delay.is_zero() {
        "as fast as they can".to_owned()
    } else {
        format!("{:.1} s between two moves", delay.as_secs_f64())
    }
}

/// A hint for this position, and how far to trust it.
fn hint(report: &MoveReport, position: &Position) -> String {
    let column = report.column;
    match &report.known {
        MoveKnowledge::Exactly(score) => format!("hint: {column} {} (proven)", how_it_ends(*score, position)),
        MoveKnowledge::Estimate(info) => {
            format!("hint: {column}, thinks {} ({})", hints::ESTIMATOR, figures(info))
        }
        MoveKnowledge::Nothing => format!("hint: {column}, thinks {}", hints::ESTIMATOR),
    }
}

/// What a best move leads to if both sides play perfectly.
fn how_it_ends(score: Score, position: &Position) -> String {
    let winner = match score.value() {
        0 => return "holds the draw".to_owned(),
        1.. => position.side_to_move(),
        _ => position.side_to_move().opponent(),
    };
    // The score counts the winner's stones from its last one; what is left to play is counted from now.
    let cells = position.variant().cells();
    let (all, played) = match winner {
        Side::First => (cells.div_ceil(2), position.ply().div_ceil(2)),
        Side::Second => (cells / 2, position.ply() / 2),
    };
    let left = (all + 1).saturating_sub(score.value().unsigned_abs()).saturating_sub(played);
    match (score.value() > 0, left) {
        (true, ..=1) => "wins at once".to_owned(),
        (true, _) => format!("wins in {left} moves"),
        (false, ..=1) => "loses at once, as any other move".to_owned(),
        (false, _) => format!("lasts longest: lost in {left} moves"),
    }
}

fn report(report: &MoveReport) -> String {
    match &report.known {
        MoveKnowledge::Estimate(info) => format!("{} ({})", report.column, figures(info)),
        MoveKnowledge::Nothing | MoveKnowledge::Exactly(_) => report.column.to_string(),
    }
}

/// Depth, score and nodes, as far as the bot knows them. The score is in the bot's own unit.
pub(super) fn figures(info: &SearchInfo) -> String {
    let depth = if info.depth == 0 { String::new() } else { format!("depth {}, ", info.depth) };
    format!("{depth}score {:+}, {} nodes", info.score, short_number(info.nodes))
}

/// The beginning of the best line that the bot saw.
pub(super) fn best_line(info: &SearchInfo) -> String {
    let columns = info.pv.iter().take(LINE_MOVES_MAX).copied().map(Column::digit);
    let columns: Vec<String> = columns.map(String::from).collect();
    let more = if info.pv.len() > LINE_MOVES_MAX { " …" } else { "" };
    format!("line {}{more}", columns.join(" "))
}

/// At most five characters below 10^12: `950`, `12.3k`, `4.0M`.
fn short_number(number: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let number = number as f64;
    match number {
        n if n < 1e3 => format!("{n}"),
        n if n < 1e6 => format!("{:.1}k", n / 1e3),
        n if n < 1e9 => format!("{:.1}M", n / 1e6),
        n => format!("{:.1}G", n / 1e9),
    }
}

/// Whether this side is the one that the bot named `id` plays and thinks for.
pub(super) fn is_thinking(state: &ScreenGame, side: Side) -> bool {
    match (&state.seats()[side], state.asked()) {
        (
            ScreenSeat::Bot { id: BotId(own), .. },
            Some(PendingQuestion { whom: Whom::Player(BotId(asked)), .. }),
        ) => *own == asked,
        _ => false,
    }
}

/// Cuts a text that is too long and says so.
pub(super) fn shorten(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    kept + "…"
}

/// As many of the words as fit, three blanks apart.
pub(super) fn fill(words: &[&str], width: usize) -> String {
    let mut line = String::new();
    for word in words {
        let gap = if line.is_empty() { "" } else { "   " };
        if line.chars().count() + gap.len() + word.chars().count() > width {
            break;
        }
        line = line + gap + word;
    }
    line
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Variant};

    use super::*;

    #[track_caller]
    fn check_how_it_ends(moves: &str, score: Score, expected: &str) {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        assert_eq!(how_it_ends(score, game.position()), expected);
    }

    #[test]
    fn scores_are_told_in_moves_from_now() {
        let (win, loss) =
            (|ply| Score::win(Variant::STANDARD, ply), |ply| Score::loss(Variant::STANDARD, ply));
        check_how_it_ends("121212", win(7), "wins at once");
        check_how_it_ends("", win(41), "wins in 21 moves");
        check_how_it_ends("1", win(42), "wins in 21 moves");
        check_how_it_ends("1", loss(7), "lasts longest: lost in 3 moves");
        check_how_it_ends("4142434", Score::DRAW, "holds the draw");
        check_how_it_ends("1212", loss(6), "loses at once, as any other move");
    }

    #[test]
    fn numbers_stay_short() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (12_345, "12.3k"), (4_000_000, "4.0M"), (7_300_000_000, "7.3G")]
        {
            assert_eq!(short_number(number), expected);
        }
    }

    #[test]
    fn texts_fit_their_width() {
        assert_eq!(shorten("column 4 is full", 16), "column 4 is full");
        assert_eq!(shorten("column 4 is full", 9), "column 4…");
        assert_eq!(fill(&["? help", "q quit", "u undo"], 17), "? help   q quit");
    }
}
