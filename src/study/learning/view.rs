//! What pages and commands see of the learners.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::Notify;

use super::Watches;
use crate::model::ids::{PlayerId, PlayerName};
use crate::play::house::LearnerKnowledge;

/// A learner as it is now.
#[derive(Clone, Debug)]
pub(crate) struct LearnerView {
    /// The name of the live account.
    pub(crate) name: PlayerName,
    pub(crate) player: PlayerId,
    /// One line about it.
    pub(crate) about: &'static str,
    /// Which games teach it.
    pub(crate) watches: Watches,
    pub(crate) games: u64,
    /// Whether it is about to be made again from its lessons, and knows nothing until then.
    pub(crate) is_remade: bool,
    /// Thousandths of the positions that can be spoilt in which it kept the result when it was measured last.
    pub(crate) decision: Option<u16>,
    /// Number of the last finished game that was looked at.
    pub(crate) covered: u64,
    /// Number of the last finished game up to which its lessons are stored; `covered` may be ahead by some minutes.
    pub(crate) stored: u64,
    pub(crate) knowledge: LearnerKnowledge,
    /// Its frozen versions, by their marks.
    pub(crate) versions: Vec<LearnerVersion>,
}

/// A frozen version.
#[derive(Clone, Debug)]
pub(crate) struct LearnerVersion {
    /// Games after which it was frozen.
    pub(crate) mark: u64,
    /// Lessons in it: fewer than the mark if some were withdrawn; then it is frozen anew when there are as many again.
    pub(crate) games: u64,
    /// The name of its account.
    pub(crate) name: PlayerName,
    pub(crate) player: PlayerId,
    /// Thousandths of the positions that can be spoilt in which it keeps the result.
    pub(crate) decision: Option<u16>,
    pub(crate) knowledge: LearnerKnowledge,
}

/// All learners, for reading; cheap to clone. Empty where nothing learns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learning {
    inner: Arc<LearningInner>,
}

#[derive(Debug, Default)]
struct LearningInner {
    /// The actor of the learners puts views in here that do not change any more; pages read them. A lock, held for a
    /// copy of a short list of pointers.
    learners: RwLock<Vec<Arc<LearnerView>>>,
    withdrawn: Notify,
}

impl Learning {
    pub(crate) fn all(&self) -> Vec<Arc<LearnerView>> {
        self.inner.learners.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The learner of this name, without regard to case.
    pub(crate) fn learner(&self, name: &PlayerName) -> Option<Arc<LearnerView>> {
        self.all().into_iter().find(|learner| learner.name.key() == name.key())
    }

    /// Whether a learner has a frozen version of this name, without regard to case.
    pub(crate) fn has_version(&self, name: &PlayerName) -> bool {
        let key = name.key();
        self.all().iter().any(|learner| learner.versions.iter().any(|version| version.name.key() == key))
    }

    /// Whether there are frozen versions.
    pub(crate) fn has_frozen(&self) -> bool {
        self.all().iter().any(|learner| !learner.versions.is_empty())
    }

    /// Whether this is the account of a frozen version.
    pub(crate) fn is_frozen(&self, player: &PlayerId) -> bool {
        self.all().iter().any(|learner| learner.versions.iter().any(|version| version.player == *player))
    }

    /// Whether this is the account of a learner, or of a version of one.
    pub(crate) fn knows(&self, player: &PlayerId) -> bool {
        self.games_learnt(player).is_some()
    }

    /// The games that a learner has learnt, or after which a version of one was frozen. `None` for all others.
    pub(crate) fn games_learnt(&self, player: &PlayerId) -> Option<u64> {
        self.all().iter().find_map(|learner| {
            if learner.player == *player {
                return Some(learner.games);
            }
            let mut versions = learner.versions.iter();
            versions.find(|version| version.player == *player).map(|version| version.mark)
        })
    }

    /// Says that lessons were withdrawn: learners that had them are made again.
    pub(crate) fn lessons_withdrawn(&self) {
        self.inner.withdrawn.notify_one();
    }

    /// Waits until lessons are withdrawn.
    pub(super) async fn withdrawn(&self) {
        self.inner.withdrawn.notified().await;
    }

    /// Whether lessons were withdrawn since this or [`Self::withdrawn`] said so.
    pub(super) async fn were_withdrawn(&self) -> bool {
        tokio::select! {
            biased;
            () = self.withdrawn() => true,
            () = std::future::ready(()) => false,
        }
    }

    /// Shows a learner as it is now.
    pub(crate) fn show(&self, view: LearnerView) {
        let mut learners = self.inner.learners.write().unwrap_or_else(PoisonError::into_inner);
        match learners.iter_mut().find(|known| known.player == view.player) {
            Some(known) => *known = Arc::new(view),
            None => learners.push(Arc::new(view)),
        }
    }
}
