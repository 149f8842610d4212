//! Positions before they are solved.

use std::collections::HashSet;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use fourfold_arena::measure::classes::PositionClass;
use fourfold_bots::{Bot, BotSpec, MoveBudget, registry};
use fourfold_engine::rng::{self, GameRng};
use fourfold_engine::{Game, Variant};
use rand::RngExt;
use rand::seq::IteratorRandom;

use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::input;

/// Who plays the games that are not random, and how often it errs: as the positions of `measure` come about.
const PLAYER: &str = "negamax:depth=3";
const ERROR_RATE: f64 = 0.25;

/// Numbers of stones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PlyRange {
    pub(super) from: u32,
    pub(super) to: u32,
}

impl PlyRange {
    /// Behind what the opening book knows, and before there is nothing left to choose.
    pub(super) const DEFAULT: Self = Self { from: 8, to: 36 };

    /// Stones of a game that goes on, at most.
    const MAX: u32 = 41;

    /// Whether a position of this class may have so many stones.
    pub(super) fn reaches(self, class: PositionClass) -> bool {
        let (from, to) = class.stones();
        from <= self.to && self.from <= to
    }
}

impl fmt::Display for PlyRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.from, self.to)
    }
}

impl FromStr for PlyRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        match (from.parse(), to.parse()) {
            (Ok(from), Ok(to)) if from <= to && to <= Self::MAX => Ok(Self { from, to }),
            _ => Err(format!("two numbers of stones such as 12-30, from 0 to {}", Self::MAX)),
        }
    }
}

/// From what kind of game a position is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Source {
    Random,
    Played,
}

impl Source {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Played => "played",
        }
    }
}

/// A position that may be taken.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) game: Game,
    pub(super) source: Source,
}

/// Candidates one after the other, without end, each one new.
pub(super) struct Draw {
    rng: GameRng,
    player: Box<dyn Bot>,
    plies: PlyRange,
    /// Plies in turn, so that each comes up as often; by chance if `None`.
    next_ply: Option<u32>,
    /// What was drawn or is to be left out, mirror images as one.
    known: HashSet<u64>,
    tried: u64,
}

impl Draw {
    pub(super) fn new(seed: u64, plies: PlyRange, each_ply_in_turn: bool) -> Self {
        let player: BotSpec = PLAYER.parse().expect("the text is a bot");
        Self {
            rng: rng::seeded(seed),
            player: registry::build(&player, Variant::STANDARD).expect("the bot is in the registry"),
            plies,
            next_ply: each_ply_in_turn.then_some(plies.from),
            known: HashSet::new(),
            tried: 0,
        }
    }

    /// Games that were begun, whatever came of them.
    pub(super) fn tried(&self) -> u64 {
        self.tried
    }

    /// Leaves out the positions of a file: of each line the moves, which are its first word or its `moves`.
    pub(super) fn exclude(&mut self, path: &Path) -> anyhow::Result<()> {
        let name = path.display();
        let file = input::open_file(path)?;
        for (number, line) in (1_u64..).zip(BufReader::new(file).lines()) {
            let line = line.map_err(|error| input::unreadable(path, &error))?;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') || (number == 1 && line.starts_with("moves,")) {
                continue;
            }
            let game = moves_of(line).and_then(|moves| {
                Game::from_moves(Variant::STANDARD, &moves).map_err(|error| error.to_string())
            });
            let game =
                game.map_err(|reason| Exit::new(Code::Data, format!("{name}, line {number}: {reason}")))?;
            self.known.insert(game.position().canonical_key());
        }
        Ok(())
    }

    fn candidate(&mut self) -> Option<Candidate> {
        self.tried += 1;
        let ply = match &mut self.next_ply {
            Some(next) => {
                let ply = *next;
                *next = if ply == self.plies.to { self.plies.from } else { ply + 1 };
                ply
            }
            None => self.rng.random_range(self.plies.from..=self.plies.to),
        };
        let source = if self.rng.random_bool(0.5) { Source::Random } else { Source::Played };
        let error_rate = match source {
            Source::Random => 1.0,
            Source::Played => ERROR_RATE,
        };
        let never = AtomicBool::new(false);
        let mut game = Game::new(Variant::STANDARD);
        while game.ply() < ply {
            let position = game.position();
            let column = if self.rng.random_bool(error_rate) {
                position.legal_columns().choose(&mut self.rng)?
            } else {
                self.player.choose(position, MoveBudget::default(), &never).ok()?.column
            };
            game.play(column).ok()?;
        }
        let is_new = game.outcome().is_none() && self.known.insert(game.position().canonical_key());
        is_new.then_some(Candidate { game, source })
    }
}

/// Games that end too early, and positions that are known, are passed over; after so many in a row there is hardly
/// anything new, and whoever asks is told so.
const PASSED_OVER_MAX: u32 = 4_096;

impl Iterator for Draw {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        (0..PASSED_OVER_MAX).find_map(|_| self.candidate())
    }
}

fn moves_of(line: &str) -> Result<String, String> {
    if line.starts_with('{') {
        let value: serde_json::Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let moves = value["moves"].as_str().ok_or("it has no `moves`")?;
        return Ok(moves.to_owned());
    }
    let end = line.find(|letter: char| letter.is_whitespace() || letter == ',').unwrap_or(line.len());
    Ok(line[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_new_also_in_the_mirror_and_repeat_with_the_seed() {
        let plies = PlyRange { from: 2, to: 6 };
        let draw =
            |seed| Draw::new(seed, plies, false).take(300).map(|it| it.game.notation()).collect::<Vec<_>>();
        let sample = draw(7);
        assert_eq!(sample, draw(7));
        assert_ne!(sample, draw(8));
        let key =
            |moves: &String| Game::from_moves(Variant::STANDARD, moves).unwrap().position().canonical_key();
        assert_eq!(sample.iter().map(key).collect::<HashSet<_>>().len(), 300);
        assert!(sample.iter().all(|moves| (2..=6).contains(&moves.len())));
    }

    #[test]
    fn what_there_is_runs_out() {
        // Of one stone there are four positions, mirror images as one.
        let mut draw = Draw::new(1, PlyRange { from: 1, to: 1 }, false);
        assert_eq!(draw.by_ref().count(), 4);
    }

    #[test]
    fn files_of_any_kind_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("known");
        std::fs::write(&path, "moves,ply\n1,1\n{\"moves\":\"2\"}\n# none\n\n3 -2\n").unwrap();
        let mut draw = Draw::new(1, PlyRange { from: 1, to: 1 }, false);
        draw.exclude(&path).unwrap();
        assert_eq!(draw.map(|it| it.game.notation()).collect::<Vec<_>>(), ["4"]);
        for (text, message) in [("9\n", "line 1: "), ("4\n{}\n", "line 2: it has no `moves`")] {
            std::fs::write(&path, text).unwrap();
            let error = Draw::new(1, PlyRange::DEFAULT, false).exclude(&path).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn ranges_are_two_numbers_in_order() {
        assert_eq!("12-30".parse(), Ok(PlyRange { from: 12, to: 30 }));
        assert_eq!("0".parse(), Ok(PlyRange { from: 0, to: 0 }));
        for text in ["", "-", "30-12", "0-42", "-1-5", "a-b", "1-2-3"] {
            assert!(text.parse::<PlyRange>().is_err(), "{text}");
        }
    }
}
