//! Players between games: an entrant has as many as it plays games at the same time.

use std::sync::{Mutex, PoisonError};

use fourfold_engine::Game;

use super::RunError;
use crate::entrant::{Answer, End, Entrant, EntrantFault, GameStart, Player, Turn};

/// The players that are free, by entrant.
pub(super) struct Seats<'a> {
    entrants: &'a [Box<dyn Entrant>],
    free: Vec<Mutex<Vec<Box<dyn Player>>>>,
}

impl<'a> Seats<'a> {
    /// Starts one player of everybody, so that who cannot be started at all is known before the first game.
    pub(super) fn new(entrants: &'a [Box<dyn Entrant>]) -> Result<Self, RunError> {
        let mut free = Vec::new();
        for entrant in entrants {
            let player = entrant.player().map_err(|fault| {
                let entrant = entrant.name().to_owned();
                RunError::CannotStart { entrant, fault }
            })?;
            free.push(Mutex::new(vec![player]));
        }
        Ok(Self { entrants, free })
    }

    /// A player of this entrant for one game; one that loses by its fault if none can be started.
    pub(super) fn take(&self, entrant: usize) -> Box<dyn Player> {
        let free = self.free[entrant].lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.unwrap_or_else(|| {
            self.entrants[entrant].player().unwrap_or_else(|fault| Box::new(Absent(fault)))
        })
    }

    pub(super) fn give_back(&self, entrant: usize, player: Box<dyn Player>) {
        self.free[entrant].lock().unwrap_or_else(PoisonError::into_inner).push(player);
    }
}

/// Stands for a player that could not be started.
struct Absent(EntrantFault);

impl Player for Absent {
    fn begin(&mut self, _: &GameStart) -> Result<(), EntrantFault> {
        Err(self.0.clone())
    }

    fn choose(&mut self, _: &Turn<'_>) -> Result<Answer, EntrantFault> {
        Err(self.0.clone())
    }

    fn end(&mut self, _: &Game, _: &End) {}
}
