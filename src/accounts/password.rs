//! Passwords: the rule they keep, and their slow hashes, of which only a few are computed at a time.

use std::net::IpAddr;

use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use rand::{Rng, RngExt};
use thiserror::Error;

use crate::model::secret::Secret;
use crate::model::world::chance;
use crate::system::aside::{self, AsideError};
use crate::system::part::Part;
use crate::system::shares::line::LineRule;
use crate::system::shares::{Shares, Turns};
use crate::system::supervision::Supervision;

/// Characters of a password. Below 8 it is guessed; above 200 nobody types it, and hashing it costs us.
const LENGTH: std::ops::RangeInclusive<usize> = 8..=200;

/// Memory of one hash, in KiB: the least that OWASP recommends for argon2id (with 2 passes and 1 lane).
const MEMORY_KIB: u32 = 19 * 1_024;
/// Passes over that memory.
const PASSES: u32 = 2;
/// Lanes.
const LANES: u32 = 1;

/// Bytes of salt, as RFC 9106 recommends.
const SALT_BYTES: usize = 16;

/// Hashes at the same time: each takes some 50 ms of a core, and games come first.
const HASHES_MAX: usize = 2;

/// Networks take turns at it, so that whoever signs in again and again delays others by one hash. Of those who wait the
/// last waits about a second.
const TURNS: LineRule =
    LineRule { at_work: HASHES_MAX, at_work_of_network: 1, waiting: 32, waiting_of_network: 2 };

/// Stands in for the password of somebody who does not exist, so that asking takes as long.
///
/// Made with the same settings from random bytes that were thrown away; a test compares the settings.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$YmVjYXVzZSBub2JvZHkh$\
                      8YyU3kWzYHn3Bz3x1cUq3w8bUe2jV0mS0n0i7h0b9zQ";

/// What drawn passwords are made of: nothing that is mistaken for something else when it is read out.
const DRAWN_FROM: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
/// Characters of a drawn password: beyond all guessing, some 79 bits.
const DRAWN_CHARS: usize = 16;

/// Why a password cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("a password has {} to {} characters, this one has {length}", LENGTH.start(), LENGTH.end())]
pub struct InvalidPassword {
    length: usize,
}

/// Why no hash was computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum HashError {
    /// Too many wait already.
    #[error("too many people sign in at once")]
    Busy,
    /// The daemon is stopping, or a stored hash is damaged.
    #[error("the password could not be checked")]
    Failed,
}

/// Checks the rule.
///
/// # Errors
///
/// Says how long the text is and how long it may be.
pub(super) fn check_rule(password: &Secret) -> Result<(), InvalidPassword> {
    let length = password.expose().chars().count();
    if LENGTH.contains(&length) { Ok(()) } else { Err(InvalidPassword { length }) }
}

/// A new password, to be read out or typed once.
pub(super) fn draw() -> Secret {
    let letters =
        (0..DRAWN_CHARS).map(|_| char::from(DRAWN_FROM[chance().random_range(0..DRAWN_FROM.len())]));
    Secret::new(letters.collect::<String>())
}

/// Computes hashes beside the games, a few at a time.
#[derive(Clone, Debug)]
pub(super) struct Passwords {
    turns: Turns,
    supervision: Supervision,
}

impl Passwords {
    /// `supervision` counts panics.
    pub(super) fn new(shares: &Shares, supervision: Supervision) -> Self {
        Self { turns: shares.turns(TURNS), supervision }
    }

    /// Hashes a new password into a PHC string, for somebody who connects from `from`.
    pub(super) async fn hash(&self, from: IpAddr, password: Secret) -> Result<String, HashError> {
        let supervision = self.supervision.clone();
        self.run(from, move || {
            let mut salt = [0; SALT_BYTES];
            chance().fill_bytes(&mut salt);
            let hash =
                counted_hasher(&supervision).hash_password_with_salt(password.expose().as_bytes(), &salt);
            hash.map(|hash| hash.to_string()).map_err(|_| HashError::Failed)
        })
        .await
    }

    /// Whether this is the password of that PHC string; never so, but as slowly, if there is none.
    pub(super) async fn verify(
        &self,
        from: IpAddr,
        password: Secret,
        stored: Option<String>,
    ) -> Result<bool, HashError> {
        let supervision = self.supervision.clone();
        self.run(from, move || {
            let known = stored.is_some();
            let stored = stored.unwrap_or_else(|| NOBODY.to_owned());
            let matches = counted_hasher(&supervision)
                .verify_password(password.expose().as_bytes(), stored.as_str())
                .is_ok();
            Ok(matches && known)
        })
        .await
    }

    /// Runs `work` on a thread of its own when its turn comes.
    async fn run<T: Send + 'static>(
        &self,
        from: IpAddr,
        work: impl FnOnce() -> Result<T, HashError> + Send + 'static,
    ) -> Result<T, HashError> {
        let turn = self.turns.take(from).await.map_err(|_| HashError::Busy)?;
        let task = aside::run(move || {
            let result = work();
            // Held until the hash is computed: an asker who goes away must not let another hash begin.
            drop(turn);
            result
        });
        task.await.unwrap_or_else(|error| {
            if error == AsideError::Panicked {
                self.supervision.panicked(Part::Passwords);
            }
            Err(HashError::Failed)
        })
    }
}

/// For one hash, which counts as computed.
fn counted_hasher(supervision: &Supervision) -> Argon2<'static> {
    supervision.metrics().password_hashed();
    hasher()
}

fn hasher() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).expect("the settings are in argon2's range");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn secret(text: &str) -> Secret {
        Secret::new(text)
    }

    fn passwords() -> Passwords {
        Passwords::new(&Shares::default(), Supervision::default())
    }

    #[tokio::test]
    async fn a_panic_while_hashing_is_counted_and_gives_its_place_back() {
        let passwords = passwords();
        for _ in 0..=HASHES_MAX {
            let broken = passwords.run(from(1), || -> Result<(), HashError> { panic!("broken on purpose") });
            assert_eq!(broken.await, Err(HashError::Failed));
        }
        assert_eq!(passwords.supervision.metrics().panics_of(Part::Passwords), HASHES_MAX as u64 + 1);
        assert_eq!(passwords.verify(from(1), secret("x"), None).await, Ok(false));
    }

    #[tokio::test]
    async fn a_hash_is_computed_at_a_lower_priority_than_the_games() {
        let niceness = || rustix::process::getpriority_process(None).unwrap();
        let here = niceness();
        let there = passwords().run(from(1), move || Ok(niceness())).await.unwrap();
        assert!(there > here || here == 19, "{there} after {here}");
    }

    #[tokio::test]
    async fn a_password_is_known_again_and_others_are_not() {
        let passwords = passwords();
        let stored = passwords.hash(from(1), secret("correct horse")).await.unwrap();
        assert_eq!(passwords.verify(from(1), secret("correct horse"), Some(stored.clone())).await, Ok(true));
        assert_eq!(passwords.verify(from(1), secret("wrong horse"), Some(stored)).await, Ok(false));
        assert_eq!(passwords.verify(from(1), secret("correct horse"), None).await, Ok(false));
        // One for each, so that nobody who measures learns which names exist.
        assert_eq!(passwords.supervision.metrics().password_hashes(), 4);
    }

    #[test]
    fn the_stand_in_is_as_slow_as_the_real_thing() {
        let real = hasher().hash_password_with_salt(b"anything", &[0; SALT_BYTES]).unwrap().to_string();
        let settings = |phc: &str| phc.split('$').take(4).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(settings(NOBODY), settings(&real));
        let stand_in = argon2::PasswordHash::new(NOBODY).unwrap();
        assert_eq!(stand_in.hash.map(|hash| hash.len()), Some(Params::DEFAULT_OUTPUT_LEN));
    }

    #[test]
    fn the_length_is_counted_in_characters() {
        assert_eq!(check_rule(&secret("ääääääää")), Ok(()));
        assert_eq!(check_rule(&secret("1234567")), Err(InvalidPassword { length: 7 }));
        assert_eq!(check_rule(&secret(&"a".repeat(201))), Err(InvalidPassword { length: 201 }));
    }

    #[tokio::test]
    async fn a_network_whose_places_are_taken_is_turned_away_and_another_is_served() {
        let passwords = passwords();
        let at_work = passwords.turns.take(from(1)).await.unwrap();
        let waiting: Vec<_> = (0..TURNS.waiting_of_network)
            .map(|_| {
                let passwords = passwords.clone();
                tokio::spawn(async move { passwords.verify(from(1), secret("x"), None).await })
            })
            .collect();
        tokio::task::yield_now().await;
        assert_eq!(passwords.verify(from(1), secret("x"), None).await, Err(HashError::Busy));
        assert_eq!(passwords.verify(from(2), secret("x"), None).await, Ok(false), "it has not even waited");
        drop(at_work);
        for each in waiting {
            assert_eq!(each.await.unwrap(), Ok(false));
        }
    }
}
