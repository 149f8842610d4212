//! Accounts that are operators: who appoints them, how they prove that it is they, and for how long that holds.
//!
//! Nobody becomes one over the network: the command that appoints shows the key of the second factor, and it goes
//! through the operator's socket or works on the data directory. A proof holds for one session, in memory: a restart, a
//! dismissal and the end of the session end it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::BASE32_NOPAD;
use rand::Rng as _;
use tracing::{info, warn};

use super::{AccountError, Accounts, Authenticated};
use crate::model::clock;
use crate::model::ids::{PlayerId, TokenId};
use crate::model::signing::{Purpose, Signer};
use crate::model::time::UnixMillis;
use crate::model::totp::{KEY_BYTES, Totp};
use crate::model::world::chance;
use crate::storage::StoredPlayer;
use crate::storage::moderation::{Because, MeasureKind};
use crate::storage::operators::{FactorUse, StoredOperator};
use crate::storage::store::{StoreError, Write};

/// For so long after a code an operator sees what operators see.
const SEES_FOR: Duration = Duration::from_mins(30);

/// For so long after a code an operator acts without another one.
const ACTS_FOR: Duration = Duration::from_mins(5);

/// Codes for the day when the phone is lost.
const RECOVERY_CODES: usize = 8;

/// Random bytes of one: 80 bits, so that a fast digest is enough to keep it.
const RECOVERY_BYTES: usize = 10;

/// Characters of a group of one, as people write it down.
const RECOVERY_GROUP: usize = 4;

/// Random bytes from which, with the key of the data directory, the key of the second factor is made.
const SALT_BYTES: usize = 16;

/// What a new operator must write down. This is the only time it is seen.
#[derive(Clone)]
pub(crate) struct Enrolment {
    pub(crate) totp: Totp,
    pub(crate) recovery: Vec<String>,
}

impl fmt::Debug for Enrolment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enrolment").finish_non_exhaustive()
    }
}

/// What somebody who is signed in may do as an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// Nothing: the account is no operator's.
    None,
    /// Give a code.
    Unproven,
    /// Look.
    Sees,
    /// Act.
    Acts,
}

/// Who has given a code lately, by session. Bounded: an account has few sessions, and few are operators.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    at: Mutex<HashMap<TokenId, (PlayerId, Instant)>>,
}

impl Proofs {
    fn remember(&self, session: &Authenticated) {
        let now = clock::now();
        let mut proofs = self.lock();
        proofs.retain(|_, (_, at)| now.duration_since(*at) < SEES_FOR);
        proofs.insert(session.token.clone(), (session.identity.id.clone(), now));
    }

    fn standing(&self, session: &Authenticated) -> Standing {
        match self.lock().get(&session.token).map(|(_, at)| clock::now().duration_since(*at)) {
            Some(age) if age < ACTS_FOR => Standing::Acts,
            Some(age) if age < SEES_FOR => Standing::Sees,
            Some(_) | None => Standing::Unproven,
        }
    }

    fn forget(&self, session: &TokenId) {
        self.lock().remove(session);
    }

    fn forget_all_of(&self, player: &PlayerId) {
        self.lock().retain(|_, (who, _)| who != player);
    }

    /// The lock is held for one look or one entry.
    fn lock(&self) -> MutexGuard<'_, HashMap<TokenId, (PlayerId, Instant)>> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Accounts {
    /// Makes an operator of a person with an account.
    ///
    /// # Errors
    ///
    /// It is one already, or no person's account; or the store failed.
    pub(crate) async fn appoint(
        &self,
        player: &StoredPlayer,
        because: Because,
    ) -> Result<Enrolment, AccountError> {
        let mut bytes = [0; SALT_BYTES];
        chance().fill_bytes(&mut bytes);
        let salt = BASE32_NOPAD.encode(&bytes);
        let recovery: Vec<String> = (0..RECOVERY_CODES).map(|_| draw_recovery_code()).collect();
        let digests = recovery.iter().map(|code| recovery_digest(&self.inner.signer, &player.id, code));
        let totp = totp_of(&self.inner.signer, &player.id, &salt);
        let kind = MeasureKind::Appoint { salt, recovery: digests.collect() };
        self.take(&player.id, kind, because).await?;
        self.inner.proofs.forget_all_of(&player.id);
        Ok(Enrolment { totp, recovery })
    }

    /// Makes an operator an account like others.
    ///
    /// # Errors
    ///
    /// It is no operator; or the store failed.
    pub(crate) async fn dismiss(&self, player: &PlayerId, because: Because) -> Result<(), AccountError> {
        self.take(player, MeasureKind::Dismiss, because).await?;
        self.inner.proofs.forget_all_of(player);
        Ok(())
    }

    /// What somebody who is signed in may do as an operator now.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn standing(&self, session: &Authenticated) -> Result<Standing, StoreError> {
        match self.inner.store.operator(&session.identity.id).await? {
            Some(_) => Ok(self.inner.proofs.standing(session)),
            None => Ok(Standing::None),
        }
    }

    /// Takes a code of the phone, or one for a lost phone, each of which is good once.
    ///
    /// # Errors
    ///
    /// [`AccountError::WrongCode`] if it is wrong or was used; too many wrong ones came; it is no operator; or the
    /// store failed.
    pub(crate) async fn prove_operator(
        &self,
        session: &Authenticated,
        code: &str,
    ) -> Result<(), AccountError> {
        let player = &session.identity.id;
        let operator = self.inner.store.operator(player).await?.ok_or(AccountError::NoOperator)?;
        let attempt = self.inner.counters.begin_factor(player).await?;
        let used = self.read_code(&operator, code);
        let Some(used) = used else {
            warn!(%player, "a wrong code of an operator");
            return Err(AccountError::WrongCode);
        };
        let by_recovery = matches!(used, FactorUse::Recovery(_));
        self.write(Write::UseFactor { player: player.clone(), used }).await?;
        self.inner.counters.was_right(&attempt).await;
        self.inner.proofs.remember(session);
        info!(%player, by_recovery, "an operator has given a code");
        Ok(())
    }

    /// Ends what a session has proved.
    pub(crate) fn forget_proof(&self, session: &TokenId) {
        self.inner.proofs.forget(session);
    }

    /// What a text is as a code, if it is right.
    fn read_code(&self, operator: &StoredOperator, code: &str) -> Option<FactorUse> {
        let code: String = code.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
        let totp = totp_of(&self.inner.signer, &operator.player, &operator.salt);
        if let Some(step) = totp.accepts(&code, UnixMillis::now(), operator.last_step) {
            return Some(FactorUse::Step(step));
        }
        let digest = recovery_digest(&self.inner.signer, &operator.player, &code);
        operator.recovery.contains(&digest).then_some(FactorUse::Recovery(digest))
    }
}

/// What the phone and the arena share: nobody who has read the database alone knows it.
fn totp_of(signer: &Signer, player: &PlayerId, salt: &str) -> Totp {
    let derived = signer.derive(Purpose::SecondFactor, &format!("{player} {salt}"));
    let mut key = [0; KEY_BYTES];
    key.copy_from_slice(&derived[..KEY_BYTES]);
    Totp::new(key)
}

fn draw_recovery_code() -> String {
    let mut bytes = [0; RECOVERY_BYTES];
    chance().fill_bytes(&mut bytes);
    let text = BASE32_NOPAD.encode(&bytes);
    let groups: Vec<String> =
        text.as_bytes().chunks(RECOVERY_GROUP).map(|group| String::from_utf8_lossy(group).into()).collect();
    groups.join("-")
}

/// What is kept of a code for a lost phone. Small letters and lines between the groups do not matter.
fn recovery_digest(signer: &Signer, player: &PlayerId, code: &str) -> String {
    let code: String = code.chars().filter(|c| *c != '-').map(|c| c.to_ascii_uppercase()).collect();
    signer.digest(Purpose::RecoveryCode, &format!("{player} {code}"))
}

#[cfg(test)]
mod tests;
