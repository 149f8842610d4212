//! Who may come in.

use serde::{Deserialize, Serialize};

use crate::model::lookalike::ForbiddenWord;

/// Who may come in.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccessConfig {
    /// Who may make an account.
    pub registration: Registration,
    /// Whether people play without an account; everybody may watch.
    pub guests: bool,
    /// Whether people with an account may make tournaments.
    pub tournaments: bool,
    /// Words that no name may have in it.
    pub forbidden_names: Vec<ForbiddenWord>,
    /// Whether a name may look like that of somebody else.
    pub lookalikes: Lookalikes,
}

impl Default for AccessConfig {
    fn default() -> Self {
        Self {
            registration: Registration::Open,
            guests: true,
            tournaments: true,
            forbidden_names: Vec::new(),
            lookalikes: Lookalikes::Refused,
        }
    }
}

/// Who may make an account, apart from those for whom operators make one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Registration {
    /// Everybody.
    #[default]
    Open,
    /// Nobody: operators make accounts.
    Closed,
    /// Whoever has the code of an invitation that operators have given out.
    Code,
}

impl Registration {
    /// Nobody does.
    pub(crate) fn is_closed(self) -> bool {
        self == Self::Closed
    }

    /// One needs a code.
    pub(crate) fn takes_codes(self) -> bool {
        self == Self::Code
    }
}

/// Whether a name may look like that of somebody else.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lookalikes {
    /// It may not.
    #[default]
    Refused,
    /// It may, if only a letter is another one.
    Allowed,
}
