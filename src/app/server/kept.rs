//! The parts that are there as long as the daemon.

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::system::supervision::{Kept, Supervision};
use crate::system::tasks::Tasks;

/// Owns their tasks.
#[derive(Debug)]
pub(super) struct KeptParts {
    supervision: Supervision,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl KeptParts {
    /// None yet.
    pub(super) fn new(supervision: Supervision, stop: CancellationToken) -> Self {
        Self { supervision, stop, tasks: JoinSet::new() }
    }

    pub(super) fn keep(&mut self, part: impl Kept + 'static) {
        self.tasks.spawn(self.supervision.clone().keep(part, self.stop.clone()));
    }

    /// Keeps a part for whose end a planned stop waits, as for these tasks.
    pub(super) fn keep_tracked(&mut self, part: impl Kept + 'static, tasks: &Tasks) {
        self.tasks.spawn(tasks.track_future(self.supervision.clone().keep(part, self.stop.clone())));
    }

    /// Ends whatever has not ended by itself.
    pub(super) async fn shutdown(mut self) {
        self.tasks.shutdown().await;
    }
}
