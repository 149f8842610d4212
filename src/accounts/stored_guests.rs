//! Guests who are known to be stored, so that the store need not be asked before each of their games.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::ids::PlayerId;
use crate::model::player::Identity;

/// Guests remembered; at one more all are forgotten, which costs each of them one look into the store.
const REMEMBERED_MAX: usize = 10_000;

/// What is forgotten must be asked for again; what is remembered is right, for whatever changes a guest's row is told
/// here.
#[derive(Debug, Default)]
pub(super) struct StoredGuests {
    known: Mutex<HashMap<PlayerId, Identity>>,
}

impl StoredGuests {
    pub(super) fn get(&self, guest: &PlayerId) -> Option<Identity> {
        self.lock().get(guest).cloned()
    }

    pub(super) fn remember(&self, guest: &Identity) {
        let mut known = self.lock();
        if known.len() >= REMEMBERED_MAX {
            *known = HashMap::new();
        }
        known.insert(guest.id.clone(), guest.clone());
    }

    pub(super) fn forget(&self, guest: &PlayerId) {
        self.lock().remove(guest);
    }

    /// The lock is held for one look or one entry.
    fn lock(&self) -> MutexGuard<'_, HashMap<PlayerId, Identity>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::guest;

    #[test]
    fn one_guest_too_many_makes_room_and_whoever_changed_is_forgotten() {
        let guests = StoredGuests::default();
        let all: Vec<Identity> = (0..=REMEMBERED_MAX)
            .map(|number| guest::identity(format!("g{number}").parse().unwrap(), 0))
            .collect();
        for guest in &all {
            guests.remember(guest);
        }
        assert_eq!(guests.get(&all[0].id), None);
        let last = &all[REMEMBERED_MAX];
        assert_eq!(guests.get(&last.id).as_ref(), Some(last));
        guests.forget(&last.id);
        assert_eq!(guests.get(&last.id), None);
    }
}
