//! What no task decides itself: the time on the wall, chance, and when a thread is done. All of the daemon takes them
//! from here, so that a simulation can give all of them from one seed: see `tests/simulation`.
//!
//! What a thread simulates is its own business. A daemon never does, and then these are the machine's.

use std::cell::RefCell;
use std::convert::Infallible;
use std::time::Duration;

use rand::rngs::{ChaCha8Rng, ThreadRng};
use rand::{Rng, RngExt, SeedableRng, TryRng};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How long a simulated thread may take for a job: from a book's answer to a search.
const SIMULATED_JOB_MS: std::ops::Range<u64> = 0..400;

thread_local! {
    static SIMULATED: RefCell<Option<SimulatedWorld>> = const { RefCell::new(None) };
}

/// A world in which everything comes from a seed.
#[doc(hidden)]
#[derive(Debug)]
pub struct SimulatedWorld {
    chance: ChaCha8Rng,
    /// What the wall showed at an instant of the runtime's clock.
    wall_ms: i64,
    since: Instant,
}

impl SimulatedWorld {
    /// A world that begins now, by the runtime's clock, with this time on the wall.
    pub fn new(seed: u64, wall_ms: i64) -> Self {
        Self { chance: ChaCha8Rng::seed_from_u64(seed), wall_ms, since: Instant::now() }
    }

    /// From now on this thread lives in it, and in no other.
    pub fn enter(self) {
        SIMULATED.set(Some(self));
    }
}

/// The thread is back in the real world.
#[doc(hidden)]
pub fn leave_simulation() {
    SIMULATED.set(None);
}

/// Sets the clock on a simulated wall forward or back, as an operator or a time server does.
#[doc(hidden)]
pub fn shift_simulated_wall(by_ms: i64) {
    simulated(|world| world.wall_ms += by_ms);
}

fn simulated<T>(ask: impl FnOnce(&mut SimulatedWorld) -> T) -> Option<T> {
    SIMULATED.with_borrow_mut(|world| world.as_mut().map(ask))
}

/// Whether this thread lives in a simulated world.
pub(crate) fn is_simulated() -> bool {
    simulated(|_| ()).is_some()
}

/// The time on the wall, if it is simulated, in milliseconds since 1970.
pub(super) fn simulated_wall_ms() -> Option<i64> {
    simulated(|world| {
        let passed = i64::try_from(world.since.elapsed().as_millis()).unwrap_or(i64::MAX);
        world.wall_ms.saturating_add(passed)
    })
}

/// Random numbers that nobody can foretell, unless the world is simulated.
pub fn chance() -> Chance {
    simulated(|_| ()).map_or_else(|| Chance::Real(rand::rng()), |()| Chance::Simulated)
}

/// See [`chance`].
#[derive(Debug)]
pub enum Chance {
    Real(ThreadRng),
    /// Of the world in which the thread is.
    Simulated,
}

impl Chance {
    fn draw<T>(&mut self, draw: impl FnOnce(&mut dyn Rng) -> T) -> T {
        match self {
            Self::Real(rng) => draw(rng),
            Self::Simulated => simulated(|world| draw(&mut world.chance)).expect("this world has not ended"),
        }
    }
}

impl TryRng for Chance {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.draw(|rng| rng.next_u32()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.draw(|rng| rng.next_u64()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.draw(|rng| rng.fill_bytes(bytes));
        Ok(())
    }
}

/// Does on a thread of its own what takes long. In a simulation it takes a while too, but no thread.
pub(crate) fn on_thread<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    match simulated(|world| world.chance.random_range(SIMULATED_JOB_MS)) {
        None => tokio::task::spawn_blocking(job),
        Some(ms) => tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            job()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::UnixMillis;

    /// What a world of this seed gives, and how long that takes by its wall.
    async fn live(seed: u64) -> (Vec<u64>, i64) {
        SimulatedWorld::new(seed, 1_000).enter();
        let drawn = (0..3).map(|_| chance().next_u64()).collect();
        on_thread(|| ()).await.unwrap();
        shift_simulated_wall(-500);
        let wall = UnixMillis::now().0;
        leave_simulation();
        (drawn, wall)
    }

    #[tokio::test(start_paused = true)]
    async fn one_seed_gives_one_world_and_no_other_thread_is_in_it() {
        assert_eq!(live(7).await, live(7).await);
        assert_ne!(live(7).await, live(8).await);
        SimulatedWorld::new(7, 1_000).enter();
        let elsewhere = std::thread::spawn(|| (UnixMillis::now(), matches!(chance(), Chance::Real(_))));
        let (wall, is_real) = elsewhere.join().unwrap();
        assert!(wall.0 > 1_000_000 && is_real);
        leave_simulation();
        assert!(UnixMillis::now().0 > 1_000_000 && matches!(chance(), Chance::Real(_)));
    }
}
