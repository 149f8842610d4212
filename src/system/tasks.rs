//! Tasks for one thing each: a panic ends the task, is counted, and its owner hears of it.

use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TrackedFuture;

use super::part::Part;
use super::supervision::Supervision;

/// Spawns tasks in the name of a part, and knows when all of them have ended, also those of its namesakes for other
/// parts. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Tasks {
    tracker: TaskTracker,
    supervision: Supervision,
    part: Part,
}

impl Tasks {
    /// No task yet.
    pub(crate) fn new(supervision: Supervision, part: Part) -> Self {
        Self { tracker: TaskTracker::new(), supervision, part }
    }

    /// Some that nobody counts.
    #[cfg(test)]
    pub(crate) fn for_tests(part: Part) -> Self {
        Self::new(Supervision::new(std::sync::Arc::default()), part)
    }

    /// The same tasks, spawned in the name of another part.
    pub(crate) fn of(&self, part: Part) -> Self {
        Self { part, ..self.clone() }
    }

    /// Runs a task to its end.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn_or(task, async {});
    }

    /// Runs a task to its end, and `otherwise` if it panics.
    pub(crate) fn spawn_or(
        &self,
        task: impl Future<Output = ()> + Send + 'static,
        otherwise: impl Future<Output = ()> + Send + 'static,
    ) {
        self.tracker.spawn(self.looked_after(task, otherwise));
    }

    /// Combined, and not awaited in a block, which would have room for the task twice: before it is begun and while it
    /// is waited for.
    fn looked_after(
        &self,
        task: impl Future<Output = ()> + Send + 'static,
        otherwise: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (supervision, part) = (self.supervision.clone(), self.part);
        AssertUnwindSafe(task).catch_unwind().then(async move |ended| {
            if ended.is_err() {
                supervision.panicked(part);
                otherwise.await;
            }
        })
    }

    /// Counts a panic that was caught elsewhere in the part's name.
    pub(crate) fn panicked(&self) {
        self.supervision.panicked(self.part);
    }

    /// Counts what runs elsewhere as one of them.
    pub(crate) fn track_future<F: Future>(&self, task: F) -> TrackedFuture<F> {
        self.tracker.track_future(task)
    }

    /// There will be no more.
    pub(crate) fn close(&self) {
        self.tracker.close();
    }

    /// Waits until all have ended and there will be no more.
    pub(crate) async fn wait(&self) {
        self.tracker.wait().await;
    }

    pub(crate) fn len(&self) -> usize {
        self.tracker.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::system::metrics::Metrics;

    #[tokio::test]
    async fn a_task_that_panics_is_counted_by_its_part_and_its_owner_hears_of_it() {
        let metrics = Arc::new(Metrics::new());
        let tasks = Tasks::new(Supervision::new(Arc::clone(&metrics)), Part::Session);
        let (told, hears) = tokio::sync::oneshot::channel();
        tasks
            .of(Part::Seat)
            .spawn_or(async { panic!("broken on purpose") }, async { told.send(()).unwrap() });
        tasks.spawn(async { panic!("broken on purpose") });
        tasks.spawn(async {});
        tasks.close();
        tasks.wait().await;
        hears.await.unwrap();
        let text = metrics.text();
        for line in ["{part=\"seat\"} 1", "{part=\"session\"} 1", "{part=\"lobby\"} 0"] {
            assert!(text.contains(&format!("fourfold_panics_total{line}")), "{text}");
        }
    }

    #[test]
    fn a_task_takes_its_memory_once() {
        let tasks = Tasks::for_tests(Part::Session);
        let task = async {
            let held = [0_u8; 4_096];
            tokio::task::yield_now().await;
            std::hint::black_box(held);
        };
        let own = size_of_val(&task);
        let all = size_of_val(&tasks.looked_after(task, async {}));
        assert!((4_096..=own + 128).contains(&all), "{all} bytes for {own}");
    }
}
