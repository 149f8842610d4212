//! What people report about others, and what operators made of it.

use async_trait::async_trait;

use super::error::StoreError;
use super::moderation::{AuditAction, AuditNote};
use crate::model::ids::{GameId, PlayerId};
use crate::model::time::UnixMillis;

/// Reports that are kept, some 300 bytes each. For a new one the oldest that was dealt with goes; where none was, there
/// is no room.
pub(crate) const REPORTS_MAX: u32 = 10_000;

/// What somebody is reported for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportReason {
    /// The name, or what a bot says about itself, offends.
    Name,
    /// Somebody lets a program play.
    Cheating,
    /// Somebody leaves games or lets the time run out.
    Stalling,
    /// Somebody challenges again and again, or is rude.
    Harassment,
    /// What the note says.
    Other,
}

/// What an operator does with a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportStep {
    /// Looks into it, so that no other operator need.
    Take,
    /// There is nothing in it.
    Dismiss,
    /// Something was done about it.
    Resolve,
}

/// How far a report has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportState {
    /// Nobody has looked at it.
    Open,
    /// An operator looks into it.
    Taken,
    Dismissed,
    Resolved,
}

super::words::words!(ReportReason {
    Name: "name",
    Cheating: "cheating",
    Stalling: "stalling",
    Harassment: "harassment",
    Other: "other",
});

super::words::words!(ReportStep { Take: "take", Dismiss: "dismiss", Resolve: "resolve" });

super::words::words!(ReportState {
    Open: "open",
    Taken: "taken",
    Dismissed: "dismissed",
    Resolved: "resolved",
});

impl ReportStep {
    /// What becomes of the report.
    pub(crate) fn state(self) -> ReportState {
        match self {
            Self::Take => ReportState::Taken,
            Self::Dismiss => ReportState::Dismissed,
            Self::Resolve => ReportState::Resolved,
        }
    }

    /// The entry of the audit log that is made with it.
    pub(super) fn entry(self, number: u64, player: &PlayerId) -> AuditNote {
        let action = match self {
            Self::Take => AuditAction::TakeReport,
            Self::Dismiss => AuditAction::DismissReport,
            Self::Resolve => AuditAction::ResolveReport,
        };
        AuditNote {
            action,
            subject: player.to_string(),
            detail: Some(format!("report {number}")),
            until: None,
        }
    }
}

impl ReportState {
    /// Whether there is something left to do.
    pub(crate) fn is_open(self) -> bool {
        match self {
            Self::Open | Self::Taken => true,
            Self::Dismissed | Self::Resolved => false,
        }
    }
}

/// A report as somebody makes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewReport {
    pub(crate) reporter: PlayerId,
    /// Whom it is about.
    pub(crate) player: PlayerId,
    /// In which game, if in one.
    pub(crate) game: Option<GameId>,
    pub(crate) reason: ReportReason,
    /// In the reporter's words; may be empty.
    pub(crate) note: String,
    pub(crate) at: UnixMillis,
}

/// What an operator does with one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportVerdict {
    pub(crate) number: u64,
    pub(crate) step: ReportStep,
    pub(crate) because: super::moderation::Because,
}

/// A report as it is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredReport {
    pub(crate) number: u64,
    /// Nobody any more, if it was a guest who has gone.
    pub(crate) reporter: Option<PlayerId>,
    pub(crate) player: PlayerId,
    pub(crate) game: Option<GameId>,
    pub(crate) reason: ReportReason,
    /// Empty when the reporter has left.
    pub(crate) note: String,
    pub(crate) at: UnixMillis,
    pub(crate) state: ReportState,
    /// The operator who has taken it or dealt with it.
    pub(crate) handled_by: Option<String>,
}

/// Which reports somebody wants to see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportQuery {
    /// With which there is something to do, the oldest first.
    Open,
    /// All of them, the newest first.
    All,
}

/// The part of a store that is about reports.
#[async_trait]
pub trait ReportStore {
    /// Reports, at most `limit`.
    async fn reports(&self, query: ReportQuery, limit: u32) -> Result<Vec<StoredReport>, StoreError>;

    /// All that somebody has made and that are kept, the newest first.
    async fn reports_by(&self, reporter: &PlayerId) -> Result<Vec<StoredReport>, StoreError>;
}
