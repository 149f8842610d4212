//! Moves that threw the value of their position away, over many games: each once, the costliest first.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;

use fourfold_engine::review::{Mistake, Verdict};
use fourfold_engine::search::Score;
use fourfold_engine::solver::ColumnScores;
use fourfold_engine::{Column, Game, Position, Side, Variant, notation};

/// The first line of the file of such moves, whose fields stand between tabs.
pub(crate) const TSV_HEAD: &str = "moves\tchosen\tbest\tvalues\tplayer\tmistake\ttimes\tgame\n";

/// A move that threw the value of its position away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CostlyMove {
    pub(crate) player: String,
    /// The game in which it was found first.
    pub(crate) game: String,
    /// The moves before it.
    pub(crate) before: Vec<Column>,
    pub(crate) variant: Variant,
    pub(crate) chosen: Column,
    /// What each column is worth to whoever moves.
    pub(crate) columns: ColumnScores,
    pub(crate) mistake: Mistake,
    /// In how many games it was made.
    pub(crate) times: u32,
}

impl CostlyMove {
    /// Which move of the game it is, from 1.
    pub(crate) fn ply(&self) -> usize {
        self.before.len() + 1
    }

    /// The moves before it as a list; empty for the first move.
    pub(crate) fn moves(&self) -> String {
        notation::print_moves(&self.before)
    }

    /// What each column of the board is worth, from the left; `None` for full ones.
    pub(crate) fn values(&self) -> Vec<Option<i32>> {
        let value = |column| self.columns.get(column).map(Score::value);
        self.variant.columns().map(value).collect()
    }

    /// What was to be had, and what the chosen column is worth.
    pub(crate) fn scores(&self) -> (i32, i32) {
        let score = |score: Option<Score>| score.map_or(0, Score::value);
        (score(self.columns.best()), score(self.columns.get(self.chosen)))
    }

    /// What it gave away: the smaller, the dearer.
    fn cheapness(&self) -> impl Ord + use<> {
        let steps = match self.mistake {
            Mistake::WinToLoss => 2,
            Mistake::WinToDraw | Mistake::DrawToLoss => 1,
            Mistake::SlowerWin | Mistake::FasterLoss => 0,
        };
        let (best, chosen) = self.scores();
        Reverse((steps, self.times, best - chosen))
    }

    /// A line of the file. The moves are written as lists of openings have them, `-` for the empty board.
    pub(crate) fn tsv_line(&self) -> String {
        let joined = |words: Vec<String>| words.join(",");
        let moves = if self.before.is_empty() { "-".to_owned() } else { self.moves() };
        let best = joined(self.columns.best_columns().map(|column| column.to_string()).collect());
        let value = |value: Option<i32>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
        let values = joined(self.values().into_iter().map(value).collect());
        let (player, word) = (self.player.replace(['\t', '\n', '\r'], " "), self.mistake.word());
        let Self { chosen, times, game, .. } = self;
        format!("{moves}\t{chosen}\t{best}\t{values}\t{player}\t{word}\t{times}\t{game}\n")
    }
}

/// What makes two moves the same: who played which column in which position.
#[derive(PartialEq, Eq, Hash, Debug)]
struct MoveMade {
    player: String,
    variant: Variant,
    key: u64,
    chosen: Column,
}

/// A game with what the columns before its moves are worth, from the one after `from_ply` moves on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoredGame<'a> {
    pub(crate) id: &'a str,
    pub(crate) game: &'a Game,
    pub(crate) from_ply: u32,
    pub(crate) scores: &'a [ColumnScores],
}

/// Such moves of any number of games.
#[derive(Debug, Default)]
pub(crate) struct CostlyMoves {
    found: Vec<CostlyMove>,
    places: HashMap<MoveMade, usize>,
}

impl CostlyMoves {
    /// Adds what `side` threw away in a game.
    pub(crate) fn add(&mut self, scored: &ScoredGame<'_>, side: Side, player: &str) {
        let opening = scored.from_ply as usize;
        let mut position = Position::new(scored.game.variant());
        for (index, (&chosen, ply)) in scored.game.moves().iter().zip(0..).enumerate() {
            let columns = index.checked_sub(opening).and_then(|place| scored.scores.get(place));
            let own = columns.filter(|_| Side::to_move_at(ply) == side);
            let mistake = own.and_then(|columns| Verdict::new(ply, chosen, columns).mistake());
            if let (Some(&columns), Some(mistake)) = (own, mistake.filter(|mistake| mistake.is_blunder())) {
                let costly = CostlyMove {
                    player: player.to_owned(),
                    game: scored.id.to_owned(),
                    before: scored.game.moves()[..index].to_vec(),
                    variant: scored.game.variant(),
                    chosen,
                    columns,
                    mistake,
                    times: 0,
                };
                self.count(position.key(), costly);
            }
            position = position.play_unchecked(chosen);
        }
    }

    fn count(&mut self, key: u64, costly: CostlyMove) {
        let CostlyMove { variant, chosen, .. } = costly;
        let made = MoveMade { player: costly.player.clone(), variant, key, chosen };
        let place = *self.places.entry(made).or_insert(self.found.len());
        if place == self.found.len() {
            self.found.push(costly);
        }
        self.found[place].times += 1;
    }

    /// The costliest first: what turned a win into a loss before all else, then what was done most often.
    pub(crate) fn sorted(mut self) -> Vec<CostlyMove> {
        self.found.sort_by_key(CostlyMove::cheapness);
        self.found
    }
}

/// The file of such moves.
pub(crate) fn tsv(moves: &[CostlyMove]) -> String {
    let mut text = TSV_HEAD.to_owned();
    for costly in moves {
        // Writing to a string does not fail.
        let _ = text.write_str(&costly.tsv_line());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of the columns from the left.
    fn scores(numbers: &[i32]) -> ColumnScores {
        let column = |index: usize| Column::from_index(index).unwrap();
        let scored = |(index, &number): (usize, &i32)| (column(index), Score::new(number));
        numbers.iter().enumerate().map(scored).collect()
    }

    /// Adds a game of which the positions after `from_ply` moves are scored.
    fn add(
        found: &mut CostlyMoves,
        (id, moves, from_ply): (&str, &str, u32),
        scores: &[ColumnScores],
        (side, player): (Side, &str),
    ) {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        found.add(&ScoredGame { id, game: &game, from_ply, scores }, side, player);
    }

    #[test]
    fn what_is_thrown_away_is_listed_once_and_the_dearest_first() {
        let all = [
            scores(&[-2, -1, 0, 1, 0, -1, -2]),
            scores(&[-4, -2, -2, -1, -2, -2, -4]),
            scores(&[3, 0, 0, 2, 0, 0, 0]),
            scores(&[0, 1, -2, -2, -2, -2, -2]),
            scores(&[-1, 3, -1, -1, -1, -1, -1]),
        ];
        let mut found = CostlyMoves::default();
        for (id, moves) in [("a", "41215"), ("b", "4121"), ("c", "41215")] {
            add(&mut found, (id, moves, 0), &all, (Side::First, "ada"));
        }
        add(&mut found, ("d", "4121", 0), &all, (Side::Second, "bob"));
        let found = found.sorted();
        let lines: Vec<String> = found.iter().map(CostlyMove::tsv_line).collect();
        assert_eq!(
            lines,
            [
                "4121\t5\t2\t-1,3,-1,-1,-1,-1,-1\tada\twin_to_loss\t2\ta\n",
                "41\t2\t1\t3,0,0,2,0,0,0\tada\twin_to_draw\t3\ta\n",
                "412\t1\t2\t0,1,-2,-2,-2,-2,-2\tbob\twin_to_draw\t1\td\n",
            ]
        );
        assert_eq!(found[0].ply(), 5);
        assert_eq!(found[0].scores(), (3, -1));
    }

    #[test]
    fn openings_and_moves_that_only_take_longer_are_no_mistakes() {
        let mut found = CostlyMoves::default();
        let after = [scores(&[0, 1, -2, -2, -2, -2, -2])];
        add(&mut found, ("a", "4121", 3), &after, (Side::First, "ada"));
        let slower = [scores(&[3, 1, 1, 4, 1, 1, 1])];
        add(&mut found, ("b", "1", 0), &slower, (Side::First, "ada"));
        assert!(found.sorted().is_empty());
    }

    #[test]
    fn the_file_says_full_columns_and_the_empty_board() {
        let mut found = CostlyMoves::default();
        add(&mut found, ("a", "1", 0), &[scores(&[-2, -1, 0, 1, 0, -1, -2])], (Side::First, "a\tb"));
        let full: ColumnScores = scores(&[0, 0, 0, 0, 0, 0, -1]).iter().skip(1).collect();
        add(&mut found, ("b", "1111117", 6), &[full], (Side::First, "c"));
        let text = tsv(&found.sorted());
        assert!(text.starts_with(TSV_HEAD), "{text}");
        assert!(text.contains("-\t1\t4\t-2,-1,0,1,0,-1,-2\ta b\twin_to_loss\t1\ta\n"), "{text}");
        assert!(text.contains("111111\t7\t2,3,4,5,6\t-,0,0,0,0,0,-1\tc\tdraw_to_loss\t1\tb\n"), "{text}");
    }
}
