//! A study as the interface shows it, its maker's export and its page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::state::AppState;
use crate::model::ids::{PlayerId, PlayerName, StudyId};
use crate::model::study::StudyComment;
use crate::protocol::terms::WireVariant;
use crate::storage::studies::StoredStudy;
use crate::storage::{StoreError, StoredPlayer};

/// What is said of a position.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StudyComment")]
pub(super) struct CommentView {
    /// Moves before it: `start` is the position at which the study begins.
    pub(super) ply: u32,
    /// 1 to 500 characters; line ends are allowed.
    #[schemars(length(max = 500))]
    pub(super) text: String,
}

/// A study.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Study")]
pub(super) struct StudyView {
    /// The last part of its link.
    pub(super) id: StudyId,
    pub(super) title: String,
    /// Who made it.
    pub(super) by: PlayerName,
    /// Board size.
    pub(super) variant: WireVariant,
    /// All moves from the empty board.
    pub(super) moves: String,
    /// After how many of them it begins.
    pub(super) start: u32,
    /// By their plies.
    pub(super) comments: Vec<CommentView>,
    /// Whether it is in the list.
    pub(super) listed: bool,
    /// Counts its changes, from 1.
    pub(super) version: u32,
    /// RFC 3339.
    pub(super) made_at: String,
    /// RFC 3339.
    pub(super) changed_at: String,
}

impl StudyView {
    pub(super) fn new(stored: &StoredStudy, by: PlayerName) -> Self {
        let study = &stored.study;
        let comment = |comment: &StudyComment| CommentView { ply: comment.ply, text: comment.text.clone() };
        Self {
            id: stored.id.clone(),
            title: study.title().to_owned(),
            by,
            variant: WireVariant(study.game().variant()),
            moves: study.game().notation(),
            start: study.start(),
            comments: study.comments().iter().map(comment).collect(),
            listed: study.listing.is_listed(),
            version: stored.version,
            made_at: stored.made_at.to_string(),
            changed_at: stored.changed_at.to_string(),
        }
    }
}

/// With the names of those who made them, of whom each is looked up once.
pub(super) async fn views_of(
    state: &AppState,
    studies: &[StoredStudy],
) -> Result<Vec<StudyView>, StoreError> {
    let mut owners: Vec<PlayerId> = studies.iter().map(|stored| stored.owner.clone()).collect();
    owners.sort_unstable();
    owners.dedup();
    let owners = state.store.players(&owners).await?;
    let view = |stored: &StoredStudy| {
        let owner = owners.iter().find(|owner| owner.id == stored.owner);
        Ok(StudyView::new(stored, owner.ok_or_else(|| ownerless(stored))?.name.clone()))
    };
    studies.iter().map(view).collect()
}

/// The same of one.
pub(super) async fn view_of(state: &AppState, stored: &StoredStudy) -> Result<StudyView, StoreError> {
    Ok(StudyView::new(stored, owner_of(state, stored).await?.name))
}

/// Who made a study.
pub(super) async fn owner_of(state: &AppState, stored: &StoredStudy) -> Result<StoredPlayer, StoreError> {
    state.store.player(&stored.owner).await?.ok_or_else(|| ownerless(stored))
}

fn ownerless(stored: &StoredStudy) -> StoreError {
    StoreError::Corrupt(format!("study {} has an owner who is not there", stored.id))
}
