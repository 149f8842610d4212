//! What people and bots may be called.

use super::{AccountError, Accounts};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::lookalike::{ForbiddenWord, Outline};
use crate::system::config::{AccessConfig, Lookalikes};

/// What the operators say of names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct NameRules {
    forbidden: Vec<ForbiddenWord>,
    lookalikes: Lookalikes,
}

impl From<&AccessConfig> for NameRules {
    fn from(access: &AccessConfig) -> Self {
        Self { forbidden: access.forbidden_names.clone(), lookalikes: access.lookalikes }
    }
}

impl Accounts {
    /// Whether a name may be given to a new player, or to this one. Exactly the same name is refused where it is
    /// written.
    pub(super) async fn check_name(
        &self,
        name: &PlayerName,
        player: Option<&PlayerId>,
    ) -> Result<(), AccountError> {
        let NameRules { forbidden, lookalikes } = &self.inner.names;
        let outline = Outline::of(name.as_str());
        if forbidden.iter().any(|word| word.is_in(&outline)) {
            return Err(AccountError::NameForbidden);
        }
        match lookalikes {
            Lookalikes::Allowed => return Ok(()),
            Lookalikes::Refused => {}
        }
        let alike = self.inner.store.lookalikes(&outline).await?;
        let other =
            alike.into_iter().find(|other| Some(&other.id) != player && other.name.key() != name.key());
        other.map_or(Ok(()), |other| Err(AccountError::NameLooksLike { other: other.name }))
    }
}
