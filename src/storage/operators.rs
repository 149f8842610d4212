//! Accounts that are operators, and their second factors.

use async_trait::async_trait;

use super::error::StoreError;
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;

/// An account that may do on `/admin` what operators do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredOperator {
    pub(crate) player: PlayerId,
    pub(crate) since: UnixMillis,
    /// From which, and from the key of the data directory, the key of its codes is made.
    pub(crate) salt: String,
    /// The last time step whose code was used: neither it nor those before are good any more.
    pub(crate) last_step: u64,
    /// Digests of its codes for the day when the phone is lost; each is good once.
    pub(crate) recovery: Vec<String>,
}

/// What proves that it is the operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FactorUse {
    /// The code of a time step.
    Step(u64),
    /// One of the codes for a lost phone, by its digest.
    Recovery(String),
}

/// The digests in the one column that they share.
pub(super) fn joined(recovery: &[String]) -> String {
    recovery.join(" ")
}

pub(super) fn split(recovery: &str) -> Vec<String> {
    recovery.split_whitespace().map(str::to_owned).collect()
}

impl StoredOperator {
    /// What becomes of it by a use, if it can be used: a code is good once.
    pub(super) fn after(mut self, used: &FactorUse) -> Option<Self> {
        match used {
            FactorUse::Step(step) if *step > self.last_step => self.last_step = *step,
            FactorUse::Step(_) => return None,
            FactorUse::Recovery(digest) => {
                let place = self.recovery.iter().position(|other| other == digest)?;
                self.recovery.remove(place);
            }
        }
        Some(self)
    }
}

/// The part of a store that is about operators.
#[async_trait]
pub trait OperatorStore {
    /// The operator that an account is, if it is one.
    async fn operator(&self, player: &PlayerId) -> Result<Option<StoredOperator>, StoreError>;

    /// All of them, in the order in which they were appointed.
    async fn operators(&self) -> Result<Vec<StoredOperator>, StoreError>;
}
