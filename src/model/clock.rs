//! Which time controls the daemon allows, and its game clock: pure, the caller says what time it is ([`now`] is for
//! that caller). What a move costs and when a flag falls is told by the arena's [`Clock`], so that matches have the
//! same rule.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use fourfold_arena::time::{Arrival, Clock};
pub use fourfold_arena::time::{FlagFell, TimeControl};
use fourfold_engine::{BySide, Side};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use super::bounded::{Bounded, OfField};
use super::pause::Pause;

/// Shortest bank or move limit: below this, a network client cannot answer at all.
const LIMIT_MS_MIN: u32 = 10;
/// Longest bank: a day. Whoever wants longer games has days for each move.
const BANK_MS_MAX: u32 = DAY_MS;
/// Longest move limit: a week. Who has no time to look at a game once a week has forgotten it.
const MOVE_MS_MAX: u32 = 7 * DAY_MS;
/// From this limit for each move on, without a bank, a game is correspondence, if people play it.
const DAY_MS: u32 = 86_400_000;
/// Longest increment: more than an hour a move makes the bank meaningless.
const INCREMENT_MS_MAX: u32 = 3_600_000;

/// How much a bank or move limit may be overrun at the price of a strike.
pub(crate) const OVERRUN_GRACE: Duration = Duration::from_millis(50);
/// Overruns a side may make in one game before the next one loses it.
pub(crate) const OVERRUN_STRIKES: u8 = 3;

/// What time it is by the runtime's monotonic clock, which tests pause. Only tasks ask; rules are told.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Why a time control is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum InvalidTimeControl {
    /// Neither limit is there, so the game might never end.
    #[error("at least one of bank_ms and move_ms must be a number")]
    Unlimited,
    /// `bank_ms` out of range.
    #[error("bank_ms is {0}, allowed are {LIMIT_MS_MIN} to {BANK_MS_MAX} or null")]
    Bank(u32),
    /// `move_ms` out of range.
    #[error("move_ms is {0}, allowed are {LIMIT_MS_MIN} to {MOVE_MS_MAX} or null")]
    Move(u32),
    /// `increment_ms` out of range.
    #[error("increment_ms is {0}, allowed are 0 to {max}", max = .1)]
    Increment(u32, u32),
}

impl InvalidTimeControl {
    /// The field at fault.
    fn field(self) -> &'static str {
        match self {
            Self::Unlimited | Self::Bank(_) => "bank_ms",
            Self::Move(_) => "move_ms",
            Self::Increment(..) => "increment_ms",
        }
    }
}

/// Checks the ranges.
///
/// # Errors
///
/// Names the value that is out of range and what is allowed. An increment larger than the bank is refused too.
pub(crate) fn validate(time: TimeControl) -> Result<TimeControl, InvalidTimeControl> {
    if let Some(bank) = time.bank_ms.filter(|ms| !(LIMIT_MS_MIN..=BANK_MS_MAX).contains(ms)) {
        return Err(InvalidTimeControl::Bank(bank));
    }
    if let Some(limit) = time.move_ms.filter(|ms| !(LIMIT_MS_MIN..=MOVE_MS_MAX).contains(ms)) {
        return Err(InvalidTimeControl::Move(limit));
    }
    if !time.is_timed() {
        return Err(InvalidTimeControl::Unlimited);
    }
    let increment_max = time.bank_ms.unwrap_or(0).min(INCREMENT_MS_MAX);
    if time.increment_ms > increment_max {
        return Err(InvalidTimeControl::Increment(time.increment_ms, increment_max));
    }
    Ok(time)
}

/// A time control that games of the daemon may have: checked when it was made, so nobody need look again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(transparent)]
pub struct GameTime(TimeControl);

/// How much time each side has. At least one of `bank_ms` and `move_ms` is a number.
// As clients write it: each number in its own range, before the rules that hold between them.
#[derive(Deserialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the protocol's words")]
struct GameTimeForm {
    /// Time for the whole game in milliseconds, or null for none.
    #[serde(deserialize_with = "present")]
    bank_ms: Option<Bounded<LIMIT_MS_MIN, BANK_MS_MAX>>,
    /// Added to the bank after each move, in milliseconds; at most the bank.
    increment_ms: Bounded<0, INCREMENT_MS_MAX>,
    /// Time for each single move in milliseconds, or null for none.
    #[serde(deserialize_with = "present")]
    move_ms: Option<Bounded<LIMIT_MS_MIN, MOVE_MS_MAX>>,
}

/// Reads an optional value whose key must be there: `null` is said, not left out.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

impl GameTime {
    /// Checks a time control.
    ///
    /// # Errors
    ///
    /// As [`validate`].
    pub(crate) fn new(time: TimeControl) -> Result<Self, InvalidTimeControl> {
        validate(time).map(Self)
    }

    /// What it is.
    pub(crate) fn control(self) -> TimeControl {
        self.0
    }
}

/// Described as it is written. By derive, it would only point to the form, which has no name of its own.
impl JsonSchema for GameTime {
    fn schema_name() -> Cow<'static, str> {
        "GameTime".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        GameTimeForm::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for GameTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let GameTimeForm { bank_ms, increment_ms, move_ms } = GameTimeForm::deserialize(deserializer)?;
        let time = TimeControl {
            bank_ms: bank_ms.map(Bounded::number),
            increment_ms: increment_ms.number(),
            move_ms: move_ms.map(Bounded::number),
        };
        Self::new(time).map_err(|error| D::Error::custom(OfField::new(error.field(), &error)))
    }
}

/// A limit for each move from here on is no clock, but ends games that are forgotten, in milliseconds.
const UNHURRIED_MOVE_MS: u32 = 15 * 60 * 1_000;

/// Whether nobody need look at a clock: a game for fun against a bot.
pub(crate) fn is_unhurried(time: TimeControl) -> bool {
    time.bank_ms.is_none() && time.move_ms.is_some_and(|ms| ms >= UNHURRIED_MOVE_MS)
}

/// Whether each move may take a day or more: what people play by correspondence, and nobody sits at for hours.
pub(crate) fn takes_days(time: TimeControl) -> bool {
    time.bank_ms.is_none() && time.move_ms.is_some_and(|ms| ms >= DAY_MS)
}

/// Whether a move may take longer than any other game lasts: only people who have an account wait for each other so.
pub(crate) fn is_beyond_a_day(time: TimeControl) -> bool {
    time.bank_ms.is_none() && time.move_ms.is_some_and(|ms| ms > DAY_MS)
}

/// What a finished turn cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spent {
    /// Time from the start of the turn to the receipt of the move.
    pub(crate) elapsed: Duration,
    /// The part of it that was given back for the network.
    pub(crate) credited: Duration,
    /// Whether the limit was overrun within the grace, at the price of a strike.
    pub(crate) strike: bool,
}

/// The clocks of one game. Exactly one side's clock runs, or none.
///
/// Durations come from a monotonic clock, so a change of the wall clock changes nothing here.
#[derive(Clone, Debug)]
pub(crate) struct GameClock {
    /// As of the start of the turn that runs.
    clock: Clock,
    strikes: BySide<u8>,
    running: Option<(Side, Instant)>,
    /// Pauses of the daemon in the turn that runs, and what its player has of vacation, which may lie ahead: nobody is
    /// charged for them. There are hardly ever any.
    pauses: Vec<Pause>,
}

impl GameClock {
    /// Both sides have their full time; nothing runs yet.
    pub(crate) fn new(control: TimeControl) -> Self {
        Self::stopped(Clock::new(control))
    }

    /// Takes up a stored game: what each side had left after the last stored move.
    pub(crate) fn restore(control: TimeControl, remaining: BySide<Duration>) -> Self {
        Self::stopped(Clock::restore(control, remaining))
    }

    fn stopped(clock: Clock) -> Self {
        Self { clock, strikes: BySide { first: 0, second: 0 }, running: None, pauses: Vec::new() }
    }

    /// Starts `side`'s turn. Whatever ran before no longer does. Without a bank, every turn has its full time.
    pub(crate) fn start(&mut self, side: Side, now: Instant) {
        self.clock.begin_turn(side);
        self.running = Some((side, now));
        self.pauses.clear();
    }

    /// Stops the clock without charging anybody for the time since it was started.
    pub(crate) fn freeze(&mut self) {
        self.running = None;
    }

    /// When the current turn began, later by the pauses since.
    pub(crate) fn turn_started(&self) -> Option<Instant> {
        let (_, started) = self.running?;
        Some(started + self.paused(started, None))
    }

    /// The daemon stood still. Gives the running side its part of that back, and says how much it is.
    pub(crate) fn give_back(&mut self, pause: Pause) -> Duration {
        let Some((_, started)) = self.running else { return Duration::ZERO };
        let given = pause.within(started, pause.until);
        if !given.is_zero() {
            self.pauses.push(pause);
        }
        given
    }

    /// From now on nothing passes of the turn that runs during `standing`, instead of what was said of that before.
    pub(crate) fn stand(&mut self, standing: Option<Pause>, now: Instant) {
        for pause in &mut self.pauses {
            pause.until = pause.until.min(now.max(pause.from));
        }
        self.pauses.extend(standing);
    }

    /// How long the daemon stood still since then, `until` some moment or in all.
    fn paused(&self, since: Instant, until: Option<Instant>) -> Duration {
        self.pauses.iter().map(|pause| pause.within(since, until.unwrap_or(pause.until))).sum()
    }

    /// Gives both sides more time. Without a bank there is nothing to add to.
    pub(crate) fn add_to_both(&mut self, extra: Duration) {
        self.clock.add_to_both(extra);
    }

    /// How long the turn of `side` has lasted, if it runs.
    fn elapsed(&self, side: Side, now: Instant) -> Duration {
        match self.running {
            Some((running, started)) if running == side => {
                now.saturating_duration_since(started).saturating_sub(self.paused(started, Some(now)))
            }
            _ => Duration::ZERO,
        }
    }

    /// What `side` has left at `now`: of its bank, or without a bank of the current move.
    pub(crate) fn remaining(&self, side: Side, now: Instant) -> Duration {
        self.clock.remaining()[side].saturating_sub(self.elapsed(side, now))
    }

    /// Both sides' [`Self::remaining`].
    pub(crate) fn both(&self, now: Instant) -> BySide<Duration> {
        BySide::from_fn(|side| self.remaining(side, now))
    }

    /// How often each side has overrun its limit within the grace.
    pub(crate) fn strikes(&self) -> BySide<u8> {
        self.strikes
    }

    /// The same clock, of a game that is taken up, in which so many were used.
    pub(crate) fn with_strikes(self, strikes: BySide<u8>) -> Self {
        Self { strikes, ..self }
    }

    /// The hard limit for a move of `side` that starts now: the smaller of bank and move limit.
    pub(crate) fn budget(&self, side: Side) -> Duration {
        self.clock.budget(side).unwrap_or_default()
    }

    /// What is left at `now` of the hard limit for the current move of `side`.
    pub(crate) fn budget_left(&self, side: Side, now: Instant) -> Duration {
        self.budget(side).saturating_sub(self.elapsed(side, now))
    }

    /// How much `side` may overrun its limit this time.
    fn grace(&self, side: Side) -> Duration {
        if self.strikes[side] < OVERRUN_STRIKES { OVERRUN_GRACE } else { Duration::ZERO }
    }

    /// When the running side's flag falls at the latest, if `credit` is the most that may be given back to it.
    pub(crate) fn flag_at(&self, credit: Duration) -> Option<Instant> {
        let (side, started) = self.running?;
        Some(started + self.paused(started, None) + self.budget(side) + self.grace(side) + credit)
    }

    /// Ends `side`'s turn with a move received at `received`, giving back `credit` of the elapsed time.
    ///
    /// The clock stops. The increment is added after the charge.
    ///
    /// # Errors
    ///
    /// The flag fell before the move came: the limit was overrun by more than the grace, or all strikes were used.
    pub(crate) fn finish_turn(
        &mut self,
        side: Side,
        received: Instant,
        credit: Duration,
    ) -> Result<Spent, FlagFell> {
        let elapsed = self.elapsed(side, received);
        let credited = credit.min(elapsed);
        let grace = self.grace(side);
        let strike = self.clock.charge(side, elapsed.saturating_sub(credited), grace)? == Arrival::Late;
        self.running = None;
        self.strikes[side] += u8::from(strike);
        Ok(Spent { elapsed, credited, strike })
    }

    /// The running side's time is up: stops its clock at zero.
    pub(crate) fn run_out(&mut self, side: Side) {
        self.running = None;
        self.clock.run_out(side);
    }

    /// Stops the running clock at the end of the game, charging the time since the turn began.
    pub(crate) fn stop(&mut self, now: Instant) {
        self.clock = Clock::restore(self.clock.control(), self.both(now));
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
            assert_eq!(validate(control).map(|_| ()), expected, "{control:?}");
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
    fn a_clock_that_has_run_out_stands_at_zero() {
        let start = Instant::now();
        let mut clock = GameClock::new(BLITZ);
        clock.start(Side::First, start);
        clock.run_out(Side::First);
        assert_eq!(clock.turn_started(), None);
        assert_eq!(clock.both(start), BySide { first: ms(0), second: ms(1_000) });
    }

    #[test]
    fn a_game_without_a_bank_and_with_a_quarter_of_an_hour_a_move_is_unhurried() {
        let unhurried = |bank_ms, move_ms| is_unhurried(TimeControl { bank_ms, increment_ms: 0, move_ms });
        assert!(unhurried(None, Some(900_000)));
        assert!(!unhurried(None, Some(899_999)));
        assert!(!unhurried(Some(900_000), Some(900_000)));
        assert!(!unhurried(None, None));
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
    fn a_pause_of_the_daemon_is_charged_to_nobody() {
        let start = Instant::now();
        let mut clock = GameClock::new(BLITZ);
        let pause = Pause { from: start + ms(400), until: start + ms(60_400) };
        assert_eq!(clock.give_back(pause), Duration::ZERO, "nobody's clock runs");
        clock.start(Side::First, start);
        assert_eq!(clock.give_back(pause), ms(60_000));
        assert_eq!(clock.flag_at(Duration::ZERO), Some(start + ms(61_050)));
        assert_eq!(clock.turn_started(), Some(start + ms(60_000)));
        assert_eq!(clock.remaining(Side::First, start + ms(300)), ms(700), "before it");
        assert_eq!(clock.remaining(Side::First, start + ms(9_000)), ms(600), "in it");
        assert_eq!(clock.remaining(Side::First, start + ms(60_900)), ms(100), "after it");
        let spent = clock.finish_turn(Side::First, start + ms(60_900), Duration::ZERO).unwrap();
        assert_eq!((spent.elapsed, spent.strike), (ms(900), false));
        clock.start(Side::Second, start + ms(61_000));
        assert_eq!(
            clock.remaining(Side::Second, start + ms(61_500)),
            ms(500),
            "a turn later it is forgotten"
        );
    }

    #[test]
    fn a_turn_that_began_in_a_pause_gets_its_own_part_back() {
        let start = Instant::now();
        let mut clock = GameClock::new(BLITZ);
        clock.start(Side::First, start + ms(100));
        let pause = Pause { from: start, until: start + ms(1_000) };
        assert_eq!(clock.give_back(pause), ms(900));
        assert_eq!(clock.remaining(Side::First, start + ms(1_000)), ms(1_000));
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
