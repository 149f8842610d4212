//! How many clients come and go at the same time.
//!
//! A runtime does what is ready in turn, and has no order of rank. Thousands of clients who lose their connection at
//! once, and are back at once, would all be ready for each step that it takes, and whoever plays would wait behind
//! every one of them, at each step of a move. So few take these steps at a time, and the others wait where they cost
//! nothing.

use std::net::IpAddr;
use std::pin::pin;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::system::shares::line::LineRule;
use crate::system::shares::{Busy, Shares, Turns};

/// Sessions that are opened at a time. Measured where 10,000 are back at once on two cores, a move of others took up to
/// some 60 ms of a hundred all but one with 16, 200 with 64, and 300 without a limit; that all are back took as long.
pub(super) const COMING_MAX: usize = 16;

/// Sockets that are gone of which the session is told at a time.
const GOING_MAX: usize = 8;

/// How long somebody has a turn. Who takes longer waits for something, such as a store that is far away, and must not
/// make all others wait for it too.
const TURN_MAX: Duration = Duration::from_millis(50);

/// How many wait until it is their turn to come: as many as a daemon has connections. Who waits for long gives up.
const WAITING_MAX: usize = 1 << 16;

/// Networks take turns, so that one with thousands of clients delays the first of another by one of its own.
const COMING: LineRule = LineRule {
    at_work: COMING_MAX,
    at_work_of_network: COMING_MAX,
    waiting: WAITING_MAX,
    waiting_of_network: WAITING_MAX,
};

/// Lets clients come and go.
#[derive(Debug)]
pub(crate) struct Doors {
    coming: Turns,
    going: Semaphore,
}

impl Doors {
    pub(crate) fn new(shares: &Shares) -> Self {
        Self { coming: shares.turns(COMING), going: Semaphore::new(GOING_MAX) }
    }

    /// Opens a session for a client from this address once it is its turn.
    ///
    /// # Errors
    ///
    /// More wait than there can be.
    pub(super) async fn come<T>(&self, from: IpAddr, opening: impl Future<Output = T>) -> Result<T, Busy> {
        let turn = self.coming.take(from).await?;
        Ok(for_a_turn(turn, opening).await)
    }

    /// Tells a session that its socket is gone once there is time for it.
    pub(super) async fn go<T>(&self, telling: impl Future<Output = T>) -> T {
        // It is never closed.
        let turn = self.going.acquire().await.ok();
        for_a_turn(turn, telling).await
    }
}

/// Does something to its end, and holds the turn meanwhile, but not for ever.
async fn for_a_turn<T>(turn: impl Sized, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    if let Ok(done) = timeout(TURN_MAX, &mut work).await {
        return done;
    }
    drop(turn);
    work.await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::future::join_all;
    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::system::metrics::Metrics;
    use crate::system::shares::ShareSettings;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn doors() -> Doors {
        Doors::new(&Shares::new(ShareSettings::default(), Arc::new(Metrics::new())))
    }

    #[tokio::test(start_paused = true)]
    async fn so_many_come_and_go_at_a_time() {
        let (doors, took, began) = (doors(), TURN_MAX / 2, Instant::now());
        let coming = (0..2 * COMING_MAX).map(|_| doors.come(HERE, async { sleep(took).await }));
        assert!(join_all(coming).await.into_iter().all(|came| came.is_ok()));
        assert_eq!(began.elapsed(), 2 * took);
        join_all((0..2 * GOING_MAX).map(|_| doors.go(async { sleep(took).await }))).await;
        assert_eq!(began.elapsed(), 4 * took);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_something_holds_nobody_up_for_long() {
        let (doors, began) = (doors(), Instant::now());
        let stuck = join_all((0..COMING_MAX).map(|_| doors.come(HERE, std::future::pending::<()>())));
        let leaving = join_all((0..GOING_MAX).map(|_| doors.go(std::future::pending::<()>())));
        let others = async {
            doors.come(HERE, async {}).await.unwrap();
            doors.go(async {}).await;
        };
        tokio::select! {
            biased;
            _ = stuck => unreachable!(),
            _ = leaving => unreachable!(),
            came = timeout(8 * TURN_MAX, others) => came.expect("they come, rather than wait for ever"),
        }
        assert!(began.elapsed() <= 2 * TURN_MAX, "{:?}", began.elapsed());
    }
}
