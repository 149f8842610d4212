//! What is done by a schedule, and made up for if nobody was there when it was due.

use std::time::Duration;

use crate::model::cron::Cron;
use crate::model::time::UnixMillis;

/// How long to wait after a failure: a directory that is not mounted, or a full disk, may be seen to meanwhile.
const AFTER_FAILURE: Duration = Duration::from_mins(10);

/// The longest sleep: whoever sets the clock or lets the machine sleep is late by no more.
const LOOK_EVERY: Duration = Duration::from_mins(1);

/// Something that is done again and again.
pub(super) trait Scheduled {
    /// When.
    fn schedule(&self) -> &Cron;

    /// The moment that the next one is for.
    fn is_due_at(&self, _moment: UnixMillis) {}

    /// Does it. Whether it is done; what failed has been said.
    fn attempt(&self) -> impl Future<Output = bool> + Send;
}

/// Does it for ever. It was done last at `since`: moments that have passed from then on are made up for by one.
pub(super) async fn keep_to_schedule(job: &(impl Scheduled + Sync), since: UnixMillis) {
    let mut due = job.schedule().next_after(since);
    while let Some(moment) = due {
        job.is_due_at(moment);
        while UnixMillis::now() < moment {
            tokio::time::sleep(moment.after(UnixMillis::now()).min(LOOK_EVERY)).await;
        }
        while !job.attempt().await {
            tokio::time::sleep(AFTER_FAILURE).await;
        }
        due = job.schedule().next_after(UnixMillis::now());
    }
}
