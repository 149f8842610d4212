//! Stops house bots in time: they have no clock, only a flag that says "answer now".
//!
//! One thread serves all players of a run. It sleeps until the earliest deadline.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Sets flags at deadlines. Cheap to clone; the thread ends soon after the last clone and the last [`FlagAlarm`].
#[derive(Clone, Debug)]
pub struct Watchdog(Arc<SharedWatchdog>);

#[derive(Debug, Default)]
struct SharedWatchdog {
    state: Mutex<WatchdogState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct WatchdogState {
    alarms: HashMap<u64, WatchedPlayer>,
    next_id: u64,
    /// When the thread will look next; `None` while nothing is set.
    wakes_at: Option<Instant>,
    /// From now on every flag is set: the run is over.
    is_over: bool,
}

#[derive(Debug)]
struct WatchedPlayer {
    flag: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl SharedWatchdog {
    fn lock(&self) -> MutexGuard<'_, WatchdogState> {
        // The state is whole after every statement, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watchdog {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// The system has no thread left.
    pub fn start() -> std::io::Result<Self> {
        let shared = Arc::new(SharedWatchdog::default());
        let watched = Arc::downgrade(&shared);
        thread::Builder::new().name("watchdog".into()).spawn(move || {
            while let Some(shared) = watched.upgrade() {
                watch(&shared);
            }
        })?;
        Ok(Self(shared))
    }

    /// A flag of its own for one player.
    pub fn alarm(&self) -> FlagAlarm {
        let mut state = self.0.lock();
        state.next_id += 1;
        let id = state.next_id;
        let flag = Arc::new(AtomicBool::new(state.is_over));
        state.alarms.insert(id, WatchedPlayer { flag: Arc::clone(&flag), deadline: None });
        FlagAlarm { shared: Arc::clone(&self.0), id, flag }
    }

    /// Sets all flags for good: the run is over, nobody shall think any longer.
    pub fn stop_all(&self) {
        let mut state = self.0.lock();
        state.is_over = true;
        for entry in state.alarms.values() {
            entry.flag.store(true, Ordering::Relaxed);
        }
    }
}

/// The longest sleep: so soon the thread notices that everybody else has let go.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Sets the flags whose time has come, and sleeps until the next is due.
fn watch(shared: &SharedWatchdog) {
    let mut state = shared.lock();
    let now = Instant::now();
    let mut earliest: Option<Instant> = None;
    for entry in state.alarms.values_mut() {
        match entry.deadline {
            Some(deadline) if deadline <= now => {
                entry.flag.store(true, Ordering::Relaxed);
                entry.deadline = None;
            }
            Some(deadline) => earliest = Some(earliest.map_or(deadline, |known| known.min(deadline))),
            None => {}
        }
    }
    state.wakes_at = earliest;
    let sleep = earliest.map_or(LOOK_EVERY, |at| at.saturating_duration_since(now).min(LOOK_EVERY));
    drop(shared.changed.wait_timeout(state, sleep));
}

/// One player's flag.
#[derive(Debug)]
pub struct FlagAlarm {
    shared: Arc<SharedWatchdog>,
    id: u64,
    flag: Arc<AtomicBool>,
}

impl FlagAlarm {
    /// The flag to hand to the bot.
    pub fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// Clears the flag and sets it again at `deadline`.
    pub fn set(&self, deadline: Instant) {
        let mut state = self.shared.lock();
        let is_over = state.is_over;
        if let Some(entry) = state.alarms.get_mut(&self.id) {
            entry.deadline = Some(deadline);
            entry.flag.store(is_over, Ordering::Relaxed);
        }
        if state.wakes_at.is_none_or(|at| deadline < at) {
            state.wakes_at = Some(deadline);
            self.shared.changed.notify_one();
        }
    }

    /// The bot has answered: the deadline is off. The thread may wake once for nothing.
    pub fn clear(&self) {
        if let Some(entry) = self.shared.lock().alarms.get_mut(&self.id) {
            entry.deadline = None;
        }
    }
}

impl Drop for FlagAlarm {
    fn drop(&mut self) {
        self.shared.lock().alarms.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits as a bot does.
    fn spin(alarm: &FlagAlarm) {
        while !alarm.flag().load(Ordering::Relaxed) {
            thread::yield_now();
        }
    }

    #[test]
    fn flags_are_set_at_their_deadlines_and_can_be_used_again() {
        let watchdog = Watchdog::start().unwrap();
        let (soon, never) = (watchdog.alarm(), watchdog.alarm());
        never.set(Instant::now() + Duration::from_hours(1));
        for _ in 0..3 {
            soon.set(Instant::now() + Duration::from_millis(1));
            spin(&soon);
        }
        soon.set(Instant::now() + Duration::from_hours(1));
        assert!(!soon.flag().load(Ordering::Relaxed) && !never.flag().load(Ordering::Relaxed));
    }

    #[test]
    fn the_end_of_a_run_stops_everybody_for_good() {
        let watchdog = Watchdog::start().unwrap();
        let early = watchdog.alarm();
        watchdog.stop_all();
        let late = watchdog.alarm();
        early.set(Instant::now() + Duration::from_hours(1));
        spin(&early);
        spin(&late);
    }
}
