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

/// Sessions that are opened at a time. Measured where 10,000 are back at once on two cores, while others played on: of
/// a hundred of their moves all but one took up to 50 or 63 ms with two, 57 or 100 with four, 68 or 118 with 16, 200
/// with 64, and 300 without a limit. All were back after 5.8 s, 4.9, and 3.4 with 16 and more.
pub(super) const COMING_MAX: usize = 2;

/// The same of those that an earlier process knew: their games stand still, and nobody else's goes on yet. Of 2,000
/// players all but one of a hundred were back from a planned restart in 2.0 s with 16, and in 3.6 with two.
pub(super) const RETURNING_MAX: usize = 16;

/// Sockets that are gone of which the session is told at a time.
const GOING_MAX: usize = 8;

/// How long somebody has a turn. Who takes longer waits for something, such as a store that is far away, and must not
/// make all others wait for it too.
const TURN_MAX: Duration = Duration::from_millis(50);

/// The same where so few are at it: 200 a second come in even if the store answers none of them in that time.
const COMING_TURN_MAX: Duration = Duration::from_millis(10);

/// How many wait until it is their turn to come: as many as a daemon has connections. Who waits for long gives up.
const WAITING_MAX: usize = 1 << 16;

/// Networks take turns, so that one with thousands of clients delays the first of another by one of its own.
const fn line(at_work: usize) -> LineRule {
    LineRule { at_work, at_work_of_network: at_work, waiting: WAITING_MAX, waiting_of_network: WAITING_MAX }
}

/// Who comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comer {
    /// Somebody new, or somebody whose session is still here.
    Any,
    /// Whoever an earlier process knew, and this one does not yet.
    OfEarlierProcess,
}

/// Lets clients come and go.
#[derive(Debug)]
pub(crate) struct Doors {
    coming: Turns,
    returning: Turns,
    going: Semaphore,
}

impl Doors {
    pub(crate) fn new(shares: &Shares) -> Self {
        Self {
            coming: shares.turns(line(COMING_MAX)),
            returning: shares.turns(line(RETURNING_MAX)),
            going: Semaphore::new(GOING_MAX),
        }
    }

    /// Opens a session for a client from this address once it is its turn.
    ///
    /// # Errors
    ///
    /// More wait than there can be.
    pub(super) async fn come<T>(
        &self,
        comer: Comer,
        from: IpAddr,
        opening: impl Future<Output = T>,
    ) -> Result<T, Busy> {
        let (line, turn_max) = match comer {
            Comer::Any => (&self.coming, COMING_TURN_MAX),
            Comer::OfEarlierProcess => (&self.returning, TURN_MAX),
        };
        let turn = line.take(from).await?;
        Ok(for_a_turn(turn, turn_max, opening).await)
    }

    /// Tells a session that its socket is gone once there is time for it.
    pub(super) async fn go<T>(&self, telling: impl Future<Output = T>) -> T {
        // It is never closed.
        let turn = self.going.acquire().await.ok();
        for_a_turn(turn, TURN_MAX, telling).await
    }
}

/// Does something to its end, and holds the turn meanwhile, but not for ever.
async fn for_a_turn<T>(turn: impl Sized, turn_max: Duration, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    if let Ok(done) = timeout(turn_max, &mut work).await {
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

    const COMERS: [(Comer, usize, Duration); 2] =
        [(Comer::Any, COMING_MAX, COMING_TURN_MAX), (Comer::OfEarlierProcess, RETURNING_MAX, TURN_MAX)];

    #[tokio::test(start_paused = true)]
    async fn so_many_come_and_go_at_a_time() {
        let doors = doors();
        for (comer, at_a_time, turn_max) in COMERS {
            let (took, began) = (turn_max / 2, Instant::now());
            let coming = (0..2 * at_a_time).map(|_| doors.come(comer, HERE, async { sleep(took).await }));
            assert!(join_all(coming).await.into_iter().all(|came| came.is_ok()));
            assert_eq!(began.elapsed(), 2 * took, "{comer:?}");
        }
        let (took, began) = (TURN_MAX / 2, Instant::now());
        join_all((0..2 * GOING_MAX).map(|_| doors.go(async { sleep(took).await }))).await;
        assert_eq!(began.elapsed(), 2 * took);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_something_holds_nobody_up_for_long() {
        let (doors, began) = (doors(), Instant::now());
        let stuck = COMERS.iter().flat_map(|(comer, at_a_time, _)| {
            (0..*at_a_time).map(|_| doors.come(*comer, HERE, std::future::pending::<()>()))
        });
        let (stuck, others) = (join_all(stuck), async {
            for (comer, _, turn_max) in COMERS {
                doors.come(comer, HERE, async {}).await.unwrap();
                assert!(began.elapsed() <= 2 * turn_max, "{comer:?}: {:?}", began.elapsed());
            }
            doors.go(async {}).await;
        });
        let leaving = join_all((0..GOING_MAX).map(|_| doors.go(std::future::pending::<()>())));
        tokio::select! {
            biased;
            _ = stuck => unreachable!(),
            _ = leaving => unreachable!(),
            came = timeout(8 * TURN_MAX, others) => came.expect("they come, rather than wait for ever"),
        }
    }
}
