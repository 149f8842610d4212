//! What learning a game changed in a bot's choices: the turns at which it chose otherwise right after, before and
//! after.

use std::fmt::Display;
use std::sync::Arc;

use askama::Template;
use askama::filters::HtmlSafe;
use fourfold_engine::{Column, Game, Variant};

use super::analysis;
use super::drawing::{Drawing, TurnBoard};
use super::pattern::middle;
use crate::http::texts::Language;
use crate::storage::record::StoredGame;
use crate::study::learning::changes::{ChangedMove, Changes};
use crate::study::learning::lesson_history::GameLessons;
use crate::study::learning::view::LearnerView;

/// Turns of a game that are drawn for each bot; an early game may change as many as it has moves.
const TURNS_MAX: usize = 8;

/// A turn of the game at which a bot chose otherwise right after.
#[derive(Clone, Debug)]
struct TurnTile {
    /// Which move, and what was played.
    title: String,
    /// From which columns to which.
    choice: String,
    /// The same in words, for those who do not see the board.
    words: String,
    board: TurnBoard,
    /// Where the position is analysed.
    analysis: String,
}

/// The turns of a game at which a bot chose otherwise right after, as far as they are drawn.
#[derive(Clone, Default, Debug, Template)]
#[template(path = "parts/turns.html")]
pub(super) struct Turns {
    tiles: Vec<TurnTile>,
    /// How many are not drawn.
    more: usize,
}

impl HtmlSafe for Turns {}

impl Turns {
    /// The turns of a game on the standard board, at most `limit` of them. What does not fit the game is passed over.
    pub(super) fn new(lang: Language, moves: &str, changed_moves: &[ChangedMove], limit: usize) -> Self {
        let Ok(game) = Game::from_moves(Variant::STANDARD, moves) else { return Self::default() };
        let shown = changed_moves.iter().take(limit).filter_map(|turn| TurnTile::new(lang, &game, turn));
        Self { tiles: shown.collect(), more: changed_moves.len().saturating_sub(limit) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tiles.is_empty()
    }
}

impl TurnTile {
    fn new(lang: Language, game: &Game, turn: &ChangedMove) -> Option<Self> {
        let index = turn.ply.checked_sub(1)?;
        let (position, played) = game.turns().nth(index)?;
        let moves = &game.notation()[..index];
        let cells = |columns: &[Column]| {
            let playable = position.playable().cells(Variant::STANDARD);
            let chosen = playable.filter(|cell| columns.contains(&cell.column()));
            chosen.map(|cell| middle(cell.numbers())).collect()
        };
        let open = position.open_columns().count();
        let named = |columns: &[Column]| {
            let numbers: Vec<String> = columns.iter().map(|column| column.number().to_string()).collect();
            if columns.len() == open && open > 1 {
                lang.text("learner.any_column").to_owned()
            } else {
                numbers.join(", ")
            }
        };
        let title: [(&str, &dyn Display); 2] = [("ply", &turn.ply), ("column", &played.number())];
        let (before, after) = (named(&turn.before), named(&turn.after));
        Some(Self {
            title: lang.fill("learning.why_move", &title),
            choice: format!("{before} → {after}"),
            words: lang.fill("learner.rethought_choice", &[("before", &before), ("after", &after)]),
            board: TurnBoard {
                drawing: Drawing::new(Variant::STANDARD, moves),
                before: cells(&turn.before),
                after: cells(&turn.after),
            },
            analysis: analysis::address(Variant::STANDARD, moves),
        })
    }
}

/// What a game taught the bots that learnt from it.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/taught.html")]
pub(super) struct LessonsPanel {
    lang: Language,
    learners: Vec<LearnerPanel>,
}

impl HtmlSafe for LessonsPanel {}

/// What it taught one of them.
#[derive(Clone, Debug)]
struct LearnerPanel {
    name: String,
    /// What changed in what it knows, and at how many of the game's moves it chose otherwise, as far as either is
    /// known.
    changed: String,
    turns: Turns,
    /// Whether it plays by an average that follows what it learnt.
    is_averaged: bool,
}

impl LessonsPanel {
    /// `None` if nobody learnt from it, or not yet.
    pub(super) fn new(lang: Language, game: &StoredGame, lessons: &GameLessons) -> Option<Self> {
        let moves = game.moves();
        let panel = |(learner, changes): &(Arc<LearnerView>, Changes)| {
            let keeps_counts = learner.knowledge.now().keeps_counts();
            LearnerPanel::new(lang, learner.name.to_string(), &moves, changes, keeps_counts)
        };
        let learners: Vec<_> = lessons.taught.iter().map(panel).collect();
        (!learners.is_empty()).then_some(Self { lang, learners })
    }
}

impl LearnerPanel {
    fn new(lang: Language, name: String, moves: &str, changes: &Changes, keeps_counts: bool) -> Self {
        let grown = changes.changed - changes.new;
        let counts =
            keeps_counts.then(|| lang.fill("learning.changed", &[("new", changes.new), ("grown", grown)]));
        let parts: Vec<String> = counts.into_iter().chain(count(lang, changes)).collect();
        Self {
            name,
            changed: parts.join("; "),
            turns: Turns::new(lang, moves, changes.turns(), TURNS_MAX),
            is_averaged: !keeps_counts,
        }
    }
}

/// At how many moves of the game it chose otherwise right after, in words; nothing if that was not noted.
pub(super) fn count(lang: Language, changes: &Changes) -> Option<String> {
    let turns = changes.changed_moves.as_ref()?;
    Some(match turns.len() {
        0 => lang.text("learner.rethought_none").to_owned(),
        count => lang.count("learner.rethought", count as u64),
    })
}

#[cfg(test)]
mod tests {
    use fourfold_engine::notation::parse_moves;

    use super::*;

    fn turn(ply: usize, before: &str, after: &str) -> ChangedMove {
        ChangedMove { ply, before: parse_moves(before).unwrap(), after: parse_moves(after).unwrap() }
    }

    #[test]
    fn a_turn_shows_the_position_and_both_choices() {
        let changed_moves = [turn(5, "1234567", "4"), turn(3, "46", "35")];
        let Turns { tiles, more } = Turns::new(Language::English, "445566", &changed_moves, 12);
        let words: Vec<_> = tiles.iter().map(|tile| (tile.title.as_str(), tile.choice.as_str())).collect();
        assert_eq!(words, [("Move 5, column 6", "any → 4"), ("Move 3, column 5", "4, 6 → 3, 5")]);
        assert_eq!(tiles[1].words, "before: column 4, 6; after: column 3, 5");
        assert_eq!(tiles[0].analysis, "/analysis/4455");
        assert_eq!((tiles[0].board.before.len(), &tiles[0].board.after), (7, &vec![(350, 350)]));
        assert_eq!((&tiles[1].board.after, more), (&vec![(250, 550), (450, 550)], 0));
    }

    #[test]
    fn what_does_not_fit_the_game_is_passed_over_and_the_rest_counted() {
        let many: Vec<ChangedMove> = (1..=6).map(|ply| turn(ply, "4", "5")).collect();
        let shown = Turns::new(Language::English, "445566", &many, 4);
        assert_eq!((shown.tiles.len(), shown.more), (4, 2));
        for wrong in [turn(0, "4", "5"), turn(7, "4", "5")] {
            assert!(Turns::new(Language::English, "445566", &[wrong], 12).is_empty());
        }
        assert!(Turns::new(Language::English, "no moves", &many, 12).is_empty());
        let full = Turns::new(Language::English, "4444441", &[turn(7, "4", "1")], 12).tiles;
        assert_eq!((full[0].board.before.len(), full[0].board.after.len()), (0, 1), "a column that is full");
    }
}
