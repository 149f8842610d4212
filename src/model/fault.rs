//! How a bot breaks off.

use crate::model::result::EndReason;

/// Illegal moves of a side that one game forgives, unless arena or player are stricter: who slips once or twice has
/// made a mistake, who does it again has a broken program.
pub(crate) const ILLEGAL_FORGIVEN: u8 = 2;

/// How a bot broke off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// Its time ran out.
    Time,
    /// It played what cannot be played.
    Illegal,
    /// It was not there, or left.
    Absent,
    /// Its program failed.
    Failed,
}

impl Fault {
    /// The fault by which a game ended, if it did by one. Whoever is at fault, it is a fault of that side.
    pub(crate) fn of(reason: EndReason) -> Option<Self> {
        match reason {
            EndReason::Time => Some(Self::Time),
            EndReason::Illegal => Some(Self::Illegal),
            EndReason::Left | EndReason::Aborted => Some(Self::Absent),
            EndReason::BotFailed => Some(Self::Failed),
            EndReason::Four | EndReason::Full | EndReason::Resign | EndReason::Stopped => None,
        }
    }

    /// In a word, for logs and lists.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Illegal => "illegal",
            Self::Absent => "absent",
            Self::Failed => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_by_play_are_no_faults() {
        assert_eq!(Fault::of(EndReason::Four), None);
        assert_eq!(Fault::of(EndReason::Resign), None);
        assert_eq!(Fault::of(EndReason::Stopped), None);
        assert_eq!(Fault::of(EndReason::Aborted).map(Fault::as_str), Some("absent"));
    }
}
