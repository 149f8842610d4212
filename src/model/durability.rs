//! What an acknowledged write survives.

use serde::{Deserialize, Serialize};

/// What an acknowledged move survives. Announced in `welcome`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// The end of the process and power loss: every commit waits for the disk.
    #[default]
    Strict,
    /// The end of the process only: for arenas of bots whose last moments do not matter. Loss of power may take them,
    /// but does no damage.
    Relaxed,
}

impl Durability {
    /// As it stands in `welcome`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Relaxed => "relaxed",
        }
    }
}
