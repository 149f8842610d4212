//! Who is measured: a house bot, or a program, which is asked about positions as if it played.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fourfold_bots::{Bot, BotError, Choice, MoveBudget, Recipe};
use fourfold_engine::{Cell, Column, Game, Position, Side};

use crate::entrant::{Entrant, EntrantFault, GameStart, Player, Turn};
use crate::house::HouseEntrant;
use crate::program::Program;
use crate::stop::Stop;
use crate::time::TimeControl;
use crate::watchdog::Watchdog;

/// How far a program may overrun its time: a measurement is no game, and its machine is busy.
const MARGIN: Duration = Duration::from_millis(200);

/// Who is measured.
#[derive(Clone, Debug)]
pub enum Subject {
    House(Recipe),
    Program {
        program: Program,
        /// Its time for each move.
        limit: Duration,
    },
}

impl Subject {
    /// One that chooses; house bots that draw do so by this seed.
    ///
    /// # Errors
    ///
    /// As for [`Recipe::build`], or the program cannot be started.
    pub fn build(&self, seed: u64) -> Result<Box<dyn Bot>, BotError> {
        match self {
            Self::House(recipe) => recipe.build(seed),
            Self::Program { program, limit } => {
                let player = Some(program.player().map_err(broken)?);
                Ok(Box::new(ProgramBot { program: program.clone(), player, limit: *limit }))
            }
        }
    }

    /// Whether another seed may give other choices. Of a program nobody knows; its process is kept.
    pub fn draws(&self) -> bool {
        match self {
            Self::House(recipe) => recipe.draws(),
            Self::Program { .. } => false,
        }
    }

    /// The same as an entrant.
    pub(super) fn entrant(&self, watchdog: &Watchdog) -> Box<dyn Entrant> {
        let name = "measured".to_owned();
        match self {
            Self::House(recipe) => Box::new(HouseEntrant::new(name, recipe.clone(), watchdog)),
            Self::Program { program, .. } => Box::new(program.clone()),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn broken(fault: EntrantFault) -> BotError {
    BotError::Broken { bot: "the program", reason: fault.to_string() }
}

/// A program that is asked about single positions.
struct ProgramBot {
    program: Program,
    /// `None` after a fault.
    player: Option<Box<dyn Player>>,
    limit: Duration,
}

impl Bot for ProgramBot {
    fn choose(&mut self, position: &Position, _: MoveBudget, _: &AtomicBool) -> Result<Choice, BotError> {
        let game = game_to(position).ok_or_else(|| BotError::Broken {
            bot: "the program",
            reason: "no moves lead there".to_owned(),
        })?;
        let mut player = match self.player.take() {
            Some(player) => player,
            None => self.program.player().map_err(broken)?,
        };
        let (side, time) = (position.side_to_move(), TimeControl::per_move(self.limit));
        let ms = u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX);
        player.begin(&GameStart { variant: position.variant(), side, time, seed: 0 }).map_err(broken)?;
        let turn = Turn {
            game: &game,
            budget: Some(self.limit),
            allotment: None,
            margin: MARGIN,
            remaining_ms: [ms; 2],
            nodes: None,
            stop: &Stop::default(),
        };
        let answer = player.choose(&turn).map_err(broken)?;
        self.player = Some(player);
        Ok(Choice::from(answer.column))
    }
}

/// A game that leads to a position in which nobody has won: dialects tell positions by their moves. Of several orders
/// any will do; a part of the stones has no line where all of them have none.
fn game_to(position: &Position) -> Option<Game> {
    let variant = position.variant();
    let stones =
        |column: Column| (0..usize::from(variant.height())).map_while(move |row| Cell::new(column, row));
    let columns: Vec<Vec<_>> = variant
        .columns()
        .map(|column| stones(column).map_while(|cell| position.stone_at(cell)).collect())
        .collect();
    let mut search = OrderSearch { columns, taken: Vec::new(), dead: HashSet::new() };
    let mut heights: Vec<usize> = search.columns.iter().map(Vec::len).collect();
    let found = search.take_back(&mut heights, position.side_to_move().opponent());
    let moves = search.taken.iter().rev().copied();
    found.then(|| {
        moves.fold(Game::new(variant), |mut game, column| {
            let is_played = game.play(column).is_ok();
            debug_assert!(is_played, "the stones lie on each other");
            game
        })
    })
}

/// Takes stones off the board, the last one first.
struct OrderSearch {
    /// By column from the bottom.
    columns: Vec<Vec<Side>>,
    taken: Vec<Column>,
    /// Heights from which no order leads to the empty board.
    dead: HashSet<Vec<usize>>,
}

impl OrderSearch {
    fn take_back(&mut self, heights: &mut Vec<usize>, last: Side) -> bool {
        if heights.iter().all(|&height| height == 0) {
            return true;
        }
        if self.dead.contains(heights) {
            return false;
        }
        for index in 0..heights.len() {
            let Some(top) = heights[index].checked_sub(1) else { continue };
            let Some(column) = Column::from_index(index).filter(|_| self.columns[index][top] == last) else {
                continue;
            };
            heights[index] = top;
            self.taken.push(column);
            if self.take_back(heights, last.opponent()) {
                return true;
            }
            self.taken.pop();
            heights[index] = top + 1;
        }
        self.dead.insert(heights.clone());
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_reached_by_some_order_of_moves() {
        for position in crate::measure::positions(200, 3) {
            let game = game_to(&position).unwrap();
            assert_eq!(*game.position(), position);
        }
    }
}
