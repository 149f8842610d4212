//! The words under which choices are stored. They are the same as on the wire, but stay when the wire changes.

use fourfold_engine::Side;

use super::moderation::AuditAction;
use super::record::{TokenKind, TokenScope};
use super::tournaments::EndedBecause;
use crate::model::opening::{OpeningKind, SideChoice};
use crate::model::result::{EndReason, GameResult};

use crate::model::player::PlayerKind;
use crate::model::population::Population;
use crate::model::rating::newcomers::Footing;
use crate::system::config::FormatName;

/// A choice that is stored as one word.
pub(crate) trait Word: Copy + 'static {
    /// All choices.
    const ALL: &'static [Self];

    fn word(self) -> &'static str;

    /// Reads [`Self::word`] back.
    fn from_word(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|choice| choice.word() == text)
    }
}

/// Lists choices and words once; a choice that is left out does not compile.
macro_rules! words {
    ($type:ident { $($choice:ident: $word:literal),+ $(,)? }) => {
        impl $crate::storage::words::Word for $type {
            const ALL: &'static [Self] = &[$(Self::$choice),+];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$choice => $word,)+
                }
            }
        }
    };
}
pub(crate) use words;

words!(Side { First: "first", Second: "second" });
words!(PlayerKind { Human: "human", Bot: "bot", Guest: "guest" });
words!(TokenScope { Manage: "manage", Play: "play", Read: "read" });
words!(Population { All: "all", People: "people", Bots: "bots" });
words!(Footing { House: "house", Settled: "settled", Young: "young" });
words!(AuditAction {
    Void: "void",
    CancelTournament: "cancel_tournament",
    RemoveStudy: "remove_study",
    Ban: "ban",
    Unban: "unban",
    Rename: "rename",
    ClearProfile: "clear_profile",
    ResetPassword: "reset_password",
    SignOut: "sign_out",
    Mute: "mute",
    Unmute: "unmute",
    Delete: "delete",
    Pause: "pause",
    Resume: "resume",
    Drain: "drain",
    Announce: "announce",
    BanNetwork: "ban_network",
    UnbanNetwork: "unban_network",
    Invite: "invite",
    Uninvite: "uninvite",
    DrainNode: "drain_node",
    UndoDrains: "undo_drains",
    Admit: "admit",
    Appoint: "appoint",
    Dismiss: "dismiss",
    TakeReport: "take_report",
    DismissReport: "dismiss_report",
    ResolveReport: "resolve_report",
});
words!(TokenKind { Bot: "bot", Session: "session" });
words!(EndedBecause { Complete: "complete", Suspended: "suspended", Cancelled: "cancelled" });
words!(FormatName {
    RoundRobin: "round_robin",
    Gauntlet: "gauntlet",
    Swiss: "swiss",
    Knockout: "knockout",
    Ladder: "ladder",
    Arena: "arena",
});
words!(OpeningKind { None: "none", Balanced: "balanced", Given: "given" });
words!(SideChoice { First: "first", Second: "second", Random: "random", Opponent: "opponent" });
words!(GameResult { First: "first", Second: "second", Draw: "draw", Void: "void" });
words!(EndReason {
    Four: "four",
    Full: "full",
    Resign: "resign",
    Time: "time",
    Illegal: "illegal",
    Left: "left",
    Aborted: "aborted",
    Stopped: "stopped",
    BotFailed: "bot_failed",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_same_as_on_the_wire<T: Word + serde::Serialize>() {
        for &choice in T::ALL {
            assert_eq!(serde_json::to_value(choice).unwrap(), choice.word());
            assert_eq!(T::from_word(choice.word()).map(Word::word), Some(choice.word()));
        }
        assert!(T::from_word("").is_none());
    }

    #[test]
    fn stored_words_are_those_of_the_wire() {
        check_same_as_on_the_wire::<PlayerKind>();
        check_same_as_on_the_wire::<Population>();
        check_same_as_on_the_wire::<OpeningKind>();
        check_same_as_on_the_wire::<SideChoice>();
        check_same_as_on_the_wire::<GameResult>();
        check_same_as_on_the_wire::<EndReason>();
    }
}
