//! What is looked after again and again.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Looks at once, and again each time that so long has passed, until it is to stop: a look that is under way is broken
/// off then.
pub(super) async fn look_every<Look: Future<Output = ()>>(
    pause: Duration,
    stop: &CancellationToken,
    mut look: impl FnMut() -> Look,
) {
    let mut tick = interval(pause);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let looking = async {
        loop {
            tick.tick().await;
            look().await;
        }
    };
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        () = looking => {}
    }
}
