//! Time controls and the game clock: pure, the caller says what time it is ([`now`] is for that caller).

use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Side};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Shortest bank or move limit: below this, a network client cannot answer at all.
const LIMIT_MS_MIN: u32 = 10;
/// Longest bank or move limit: a day. Longer games would be correspondence, which has other needs.
const LIMIT_MS_MAX: u32 = 86_400_000;
/// Longest increment: more than an hour a move makes the bank meaningless.
const INCREMENT_MS_MAX: u32 = 3_600_000;

/// How much a bank or move limit may be overrun at the price of a strike.
pub const OVERRUN_GRACE: Duration = Duration::from_millis(50);
/// Overruns a side may make in one game before the next one loses it.
pub const OVERRUN_STRIKES: u8 = 3;

/// What time it is by the runtime's monotonic clock, which tests pause. Only tasks ask; rules are told.
pub fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// How much time each side has. At least one of `bank_ms` and `move_ms` is set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TimeControl {
    /// Time for the whole game in milliseconds, or null for none.
    #[serde(deserialize_with = "present")]
    pub bank_ms: Option<u32>,
    /// Added to the bank after each move, in milliseconds.
    pub increment_ms: u32,
    /// Time for each single move in milliseconds, or null for none.
    #[serde(deserialize_with = "present")]
    pub move_ms: Option<u32>,
}

/// Reads an optional number whose key must be there: `null` is said, not left out.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    Option::deserialize(deserializer)
}

/// Why a time control is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum InvalidTimeControl {
    /// Neither limit is there, so the game might never end.
    #[error("at least one of bank_ms and move_ms must be a number")]
    Unlimited,
    /// `bank_ms` out of range.
    #[error("bank_ms is {0}, allowed are {LIMIT_MS_MIN} to {LIMIT_MS_MAX} or null")]
    Bank(u32),
    /// `move_ms` out of range.
    #[error("move_ms is {0}, allowed are {LIMIT_MS_MIN} to {LIMIT_MS_MAX} or null")]
    Move(u32),
    /// `increment_ms` out of range.
    #[error("increment_ms is {0}, allowed are 0 to {max}", max = .1)]
    Increment(u32, u32),
}

impl InvalidTimeControl {
    /// The wire field at fault.
    pub fn field(self) -> &'static str {
        match self {
            Self::Unlimited | Self::Bank(_) => "time.bank_ms",
            Self::Move(_) => "time.move_ms",
            Self::Increment(..) => "time.increment_ms",
        }
    }
}

impl TimeControl {
    /// Checks the ranges.
    ///
    /// # Errors
    ///
    /// Names the value that is out of range and what is allowed. An increment larger than the bank is refused too.
    pub fn validate(self) -> Result<Self, InvalidTimeControl> {
        let range = LIMIT_MS_MIN..=LIMIT_MS_MAX;
        if let Some(bank) = self.bank_ms.filter(|ms| !range.contains(ms)) {
            return Err(InvalidTimeControl::Bank(bank));
        }
        if let Some(limit) = self.move_ms.filter(|ms| !range.contains(ms)) {
            return Err(InvalidTimeControl::Move(limit));
        }
        if self.bank_ms.is_none() && self.move_ms.is_none() {
            return Err(InvalidTimeControl::Unlimited);
        }
        let increment_max = self.bank_ms.unwrap_or(0).min(INCREMENT_MS_MAX);
        if self.increment_ms > increment_max {
            return Err(InvalidTimeControl::Increment(self.increment_ms, increment_max));
        }
        Ok(self)
    }

    fn bank(self) -> Option<Duration> {
        self.bank_ms.map(|ms| Duration::from_millis(ms.into()))
    }

    fn move_limit(self) -> Option<Duration> {
        self.move_ms.map(|ms| Duration::from_millis(ms.into()))
    }

    fn increment(self) -> Duration {
        Duration::from_millis(self.increment_ms.into())
    }
}

/// What a finished turn cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spent {
    /// Time from the start of the turn to the receipt of the move.
    pub elapsed: Duration,
    /// The part of it that was given back for the network.
    pub credited: Duration,
    /// Whether the limit was overrun within the grace, at the price of a strike.
    pub strike: bool,
}

/// A side ran out of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlagFell;

/// The clocks of one game. Exactly one side's clock runs, or none.
///
/// Durations come from a monotonic clock, so a change of the wall clock changes nothing here.
#[derive(Clone, Debug)]
pub struct GameClock {
    control: TimeControl,
    remaining: BySide<Duration>,
    strikes: BySide<u8>,
    running: Option<(Side, Instant)>,
}

impl GameClock {
    /// Both sides have their full time; nothing runs yet.
    pub fn new(control: TimeControl) -> Self {
        let full = control.bank().or(control.move_limit()).unwrap_or_default();
        Self {
            control,
            remaining: BySide { first: full, second: full },
            strikes: BySide { first: 0, second: 0 },
            running: None,
        }
    }

    /// Takes up a stored game: what each side had left after the last stored move.
    pub fn restore(control: TimeControl, remaining: BySide<Duration>) -> Self {
        Self { remaining, ..Self::new(control) }
    }

    /// The rules of this clock.
    pub fn control(&self) -> TimeControl {
        self.control
    }

    /// Starts `side`'s turn. Whatever ran before no longer does. Without a bank, every turn has its full time.
    pub fn start(&mut self, side: Side, now: Instant) {
        if let (None, Some(limit)) = (self.control.bank_ms, self.control.move_limit()) {
            self.remaining[side] = limit;
        }
        self.running = Some((side, now));
    }

    /// Stops the clock without charging anybody for the time since it was started.
    pub fn freeze(&mut self) {
        self.running = None;
    }

    /// When the current turn began.
    pub fn turn_started(&self) -> Option<Instant> {
        self.running.map(|(_, started)| started)
    }

    /// Gives both sides more time. Without a bank there is nothing to add to.
    pub fn add_to_both(&mut self, extra: Duration) {
        if self.control.bank_ms.is_some() {
            self.remaining.first += extra;
            self.remaining.second += extra;
        }
    }

    /// What `side` has left at `now`: of its bank, or without a bank of the current move.
    pub fn remaining(&self, side: Side, now: Instant) -> Duration {
        let spent = match self.running {
            Some((running, started)) if running == side => now.saturating_duration_since(started),
            _ => Duration::ZERO,
        };
        self.remaining[side].saturating_sub(spent)
    }

    /// Both sides' [`Self::remaining`].
    pub fn both(&self, now: Instant) -> BySide<Duration> {
        BySide { first: self.remaining(Side::First, now), second: self.remaining(Side::Second, now) }
    }

    /// The hard limit for a move of `side` that starts now: the smaller of bank and move limit.
    pub fn budget(&self, side: Side) -> Duration {
        let bank = self.remaining[side];
        self.control.move_limit().map_or(bank, |limit| limit.min(bank))
    }

    /// What is left at `now` of the hard limit for the current move of `side`.
    pub fn budget_left(&self, side: Side, now: Instant) -> Duration {
        match self.running {
            Some((running, started)) if running == side => {
                self.budget(side).saturating_sub(now.saturating_duration_since(started))
            }
            _ => self.budget(side),
        }
    }

    /// When the running side's flag falls at the latest, if `credit` is the most that may be given back to it.
    pub fn flag_at(&self, credit: Duration) -> Option<Instant> {
        let (side, started) = self.running?;
        let grace = if self.strikes[side] < OVERRUN_STRIKES { OVERRUN_GRACE } else { Duration::ZERO };
        Some(started + self.budget(side) + grace + credit)
    }

    /// Ends `side`'s turn with a move received at `received`, giving back `credit` of the elapsed time.
    ///
    /// The clock stops. The increment is added after the charge.
    ///
    /// # Errors
    ///
    /// The flag fell before the move came: the limit was overrun by more than the grace, or all strikes were used.
    pub fn finish_turn(
        &mut self,
        side: Side,
        received: Instant,
        credit: Duration,
    ) -> Result<Spent, FlagFell> {
        let elapsed = match self.running {
            Some((running, started)) if running == side => received.saturating_duration_since(started),
            _ => Duration::ZERO,
        };
        let credited = credit.min(elapsed);
        let charged = elapsed.saturating_sub(credited);
        let budget = self.budget(side);
        let strike = charged > budget;
        if strike && (charged > budget + OVERRUN_GRACE || self.strikes[side] >= OVERRUN_STRIKES) {
            return Err(FlagFell);
        }
        self.running = None;
        self.strikes[side] += u8::from(strike);
        if self.control.bank_ms.is_some() {
            self.remaining[side] = self.remaining[side].saturating_sub(charged) + self.control.increment();
        }
        Ok(Spent { elapsed, credited, strike })
    }

    /// The running side's time is up: stops its clock at zero.
    pub fn run_out(&mut self, side: Side) {
        self.running = None;
        self.remaining[side] = Duration::ZERO;
    }

    /// Stops the running clock at the end of the game, charging the time since the turn began.
    pub fn stop(&mut self, now: Instant) {
        self.remaining = self.both(now);
        self.running = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLITZ: TimeControl = TimeControl { bank_ms: Some(1_000), increment_ms: 100, move_ms: None };
    const PER_MOVE: TimeControl = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(500) };

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn ranges_are_checked_and_named() {
        let check = |bank_ms, increment_ms, move_ms, expected: Result<(), InvalidTimeControl>| {
            let control = TimeControl { bank_ms, increment_ms, move_ms };
            assert_eq!(control.validate().map(|_| ()), expected, "{control:?}");
        };
        check(Some(60_000), 1_000, None, Ok(()));
        check(Some(50), 5, None, Ok(()));
        check(None, 0, Some(1_000), Ok(()));
        check(None, 0, None, Err(InvalidTimeControl::Unlimited));
        check(Some(0), 0, None, Err(InvalidTimeControl::Bank(0)));
        check(Some(315_360_000), 0, None, Err(InvalidTimeControl::Bank(315_360_000)));
        check(Some(1_000), 1_001, None, Err(InvalidTimeControl::Increment(1_001, 1_000)));
        check(None, 1, Some(1_000), Err(InvalidTimeControl::Increment(1, 0)));
        check(Some(1_000), 0, Some(9), Err(InvalidTimeControl::Move(9)));
    }

    #[test]
    fn a_move_is_charged_less_its_credit_and_earns_the_increment() {
        let start = Instant::now();
        let mut clock = GameClock::new(BLITZ);
        clock.start(Side::First, start);
        let spent = clock.finish_turn(Side::First, start + ms(300), ms(40)).unwrap();
        assert_eq!(spent, Spent { elapsed: ms(300), credited: ms(40), strike: false });
        assert_eq!(clock.both(start + ms(900)), BySide { first: ms(840), second: ms(1_000) });
    }

    #[test]
    fn credit_never_exceeds_the_elapsed_time() {
        let start = Instant::now();
        let mut clock = GameClock::new(BLITZ);
        clock.start(Side::First, start);
        let spent = clock.finish_turn(Side::First, start + ms(5), ms(40)).unwrap();
        assert_eq!(spent.credited, ms(5));
    }

    #[test]
    fn three_small_overruns_are_forgiven_and_the_fourth_loses() {
        let start = Instant::now();
        let mut clock = GameClock::new(PER_MOVE);
        for _ in 0..OVERRUN_STRIKES {
            clock.start(Side::Second, start);
            assert!(clock.finish_turn(Side::Second, start + ms(550), Duration::ZERO).unwrap().strike);
        }
        clock.start(Side::Second, start);
        assert_eq!(clock.flag_at(Duration::ZERO), Some(start + ms(500)));
        assert_eq!(clock.finish_turn(Side::Second, start + ms(501), Duration::ZERO), Err(FlagFell));
    }

    #[test]
    fn a_large_overrun_loses_at_once() {
        let start = Instant::now();
        let mut clock = GameClock::new(BLITZ);
        clock.start(Side::First, start);
        assert_eq!(clock.flag_at(ms(40)), Some(start + ms(1_090)));
        assert_eq!(clock.finish_turn(Side::First, start + ms(1_091), ms(40)), Err(FlagFell));
    }

    #[test]
    fn the_move_limit_bounds_a_move_within_a_larger_bank() {
        let clock = GameClock::new(TimeControl { move_ms: Some(200), ..BLITZ });
        assert_eq!(clock.budget(Side::First), ms(200));
    }

    #[test]
    fn a_turn_cut_short_costs_nothing_later_if_there_is_no_bank() {
        let start = Instant::now();
        let mut clock = GameClock::new(PER_MOVE);
        clock.start(Side::First, start);
        clock.stop(start + ms(400));
        assert_eq!(clock.remaining(Side::First, start), ms(100), "shown at the end of a game");
        clock.start(Side::First, start);
        assert_eq!(clock.budget(Side::First), ms(500), "after a takeback or a restart");
    }

    #[test]
    fn frozen_time_is_charged_to_nobody() {
        let start = Instant::now();
        let mut clock = GameClock::new(BLITZ);
        clock.start(Side::First, start);
        clock.freeze();
        assert_eq!(clock.remaining(Side::First, start + ms(5_000)), ms(1_000));
        assert_eq!(clock.flag_at(Duration::ZERO), None);
    }
}
