//! How much a player may think about a game, and the clock that charges it, for matches and for the daemon's games:
//! pure, durations come from outside.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use fourfold_engine::{BySide, Side};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest bank, move limit or increment: a day.
const LIMIT_MAX: Duration = Duration::from_hours(24);

/// Part of the bank that a bot without a sense of time uses for one move, beside the increment. Half of the 42 moves
/// of a game are its own, and later ones are easier.
const SHARE_OF_BANK: u32 = 20;

/// Kept back from a hard limit for the way of the answer, but never more than a quarter of it.
const RESERVE: Duration = Duration::from_millis(20);

/// How much time each side has. At least one of `bank_ms` and `move_ms` is set.
// That is the daemon's rule. In matches neither need be set, and no clock runs.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
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

impl TimeControl {
    /// Limits by nothing but time for each move.
    pub fn per_move(limit: Duration) -> Self {
        Self { move_ms: Some(saturating_ms(limit)), ..Self::default() }
    }

    /// Whether a clock runs. It always does in games of the daemon, which refuses anything else.
    pub fn is_timed(self) -> bool {
        self.bank_ms.is_some() || self.move_ms.is_some()
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

fn saturating_ms(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

/// Limits for each player of a game between bots. With none at all, they end by their own settings.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BotLimits {
    #[serde(flatten)]
    pub time: TimeControl,
    /// Search nodes or playouts for each move: equal choices on every machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
}

impl From<TimeControl> for BotLimits {
    fn from(time: TimeControl) -> Self {
        Self { time, nodes: None }
    }
}

/// Reads a bank with or without an increment: `60+1`, `0.3+0.05`, `50ms+5ms`, `2m`. Bare numbers are seconds.
impl FromStr for TimeControl {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let (bank, increment) = text.split_once('+').map_or((text, None), |(bank, rest)| (bank, Some(rest)));
        let read = |part: &str| read_duration(part).ok_or_else(|| TimeError { text: text.to_owned() });
        let bank = read(bank)?;
        let increment = increment.map(read).transpose()?.unwrap_or_default();
        if bank.is_zero() {
            return Err(TimeError { text: text.to_owned() });
        }
        Ok(Self {
            bank_ms: Some(saturating_ms(bank).max(1)),
            increment_ms: saturating_ms(increment),
            move_ms: None,
        })
    }
}

/// A number of seconds, or one with a unit (`500ms`, `2m`), at most a day. `None` if a text is nothing of the kind.
pub fn read_duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let seconds_a_unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = digits.parse().ok().filter(|_| is_number)?;
    Duration::try_from_secs_f64(number * seconds_a_unit).ok().filter(|duration| *duration <= LIMIT_MAX)
}

/// A text is no bank with an increment.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is no time such as 60+1 (seconds), 50ms+5ms or 2m, of more than 0 and at most 24h")]
pub struct TimeError {
    text: String,
}

/// Prints such as `60s+1s`, `100ms a move`, `20000 nodes a move`.
impl fmt::Display for BotLimits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time, nodes } = self;
        let mut parts = Vec::new();
        parts.extend(time.bank().map(|bank| format!("{bank:?}+{:?}", time.increment())));
        parts.extend(time.move_limit().map(|limit| format!("{limit:?} a move")));
        parts.extend(nodes.map(|nodes| format!("{nodes} nodes a move")));
        if parts.is_empty() {
            return formatter.write_str("no limits but the bots' own");
        }
        formatter.write_str(&parts.join(", "))
    }
}

/// What both sides of one game have left, and the rule by which a flag falls. Who measures, and what grace there is,
/// is the caller's business.
#[derive(Clone, Debug)]
pub struct Clock {
    control: TimeControl,
    remaining: BySide<Duration>,
}

/// A move that came before the flag fell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    InTime,
    /// Only because of the grace.
    Late,
}

/// A side ran out of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlagFell;

impl Clock {
    /// Both sides have their whole time.
    pub fn new(control: TimeControl) -> Self {
        let full = control.bank().or(control.move_limit()).unwrap_or_default();
        Self { control, remaining: BySide { first: full, second: full } }
    }

    /// A clock under way: what each side has left.
    pub fn restore(control: TimeControl, remaining: BySide<Duration>) -> Self {
        Self { control, remaining }
    }

    /// The rules of this clock.
    pub fn control(&self) -> TimeControl {
        self.control
    }

    /// What both sides have left: of their banks, or without banks of a move.
    pub fn remaining(&self) -> BySide<Duration> {
        self.remaining
    }

    /// The same in milliseconds, the first side first; zeros if no clock runs.
    pub fn remaining_ms(&self) -> [u64; 2] {
        let BySide { first, second } = self.remaining;
        [first, second].map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
    }

    /// The hard limit for the next move of `side`, the smaller of bank and move limit; `None` if no clock runs.
    pub fn budget(&self, side: Side) -> Option<Duration> {
        let left = self.remaining[side];
        self.control.is_timed().then(|| self.control.move_limit().map_or(left, |limit| limit.min(left)))
    }

    /// How long a bot without a sense of time should think about its next move.
    pub fn allotment(&self, side: Side) -> Option<Duration> {
        let budget = self.budget(side)?;
        let safe = budget.saturating_sub(RESERVE.min(budget / 4));
        if self.control.bank_ms.is_none() {
            return Some(safe);
        }
        let increment = self.control.increment();
        Some((self.remaining[side] / SHARE_OF_BANK + increment * 3 / 4).min(safe))
    }

    /// A turn of `side` begins. Without a bank, every one has its full time.
    pub fn begin_turn(&mut self, side: Side) {
        if let (None, Some(limit)) = (self.control.bank_ms, self.control.move_limit()) {
            self.remaining[side] = limit;
        }
    }

    /// Gives both sides more time. Without a bank there is nothing to add to.
    pub fn add_to_both(&mut self, extra: Duration) {
        if self.control.bank_ms.is_some() {
            self.remaining = self.remaining.map(|left| left + extra);
        }
    }

    /// Charges the time of a move, exactly all that is left being in time. The increment is added after the charge.
    ///
    /// # Errors
    ///
    /// The limit was overrun by more than the grace: the game is lost, and the clock stands at zero.
    pub fn charge(&mut self, side: Side, spent: Duration, grace: Duration) -> Result<Arrival, FlagFell> {
        let over = self.budget(side).map_or(Duration::ZERO, |budget| spent.saturating_sub(budget));
        if over > grace {
            self.run_out(side);
            return Err(FlagFell);
        }
        if self.control.bank_ms.is_some() {
            self.remaining[side] = self.remaining[side].saturating_sub(spent) + self.control.increment();
        }
        Ok(if over.is_zero() { Arrival::InTime } else { Arrival::Late })
    }

    /// The side has nothing left.
    pub fn run_out(&mut self, side: Side) {
        self.remaining[side] = Duration::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn banks_are_read_in_seconds_or_with_a_unit() {
        let read = |text: &str| {
            let control: TimeControl = text.parse().unwrap();
            (control.bank_ms.unwrap(), control.increment_ms)
        };
        assert_eq!(read("60+1"), (60_000, 1_000));
        assert_eq!(read("0.3+0.05"), (300, 50));
        assert_eq!(read("50ms+5ms"), (50, 5));
        assert_eq!(read("2m"), (120_000, 0));
        for text in ["", "+", "0", "0+1", "-1", "1e3", "5d", "25h", "1+", "1+1+1", "ms", "inf", "1.2.3"] {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
    }

    #[test]
    fn limits_are_one_object_in_logs() {
        let time = "60+1".parse().unwrap();
        for (nodes, text) in [(None, ""), (Some(9), r#","nodes":9"#)] {
            let limits = BotLimits { time, nodes };
            let text = format!(r#"{{"bank_ms":60000,"increment_ms":1000,"move_ms":null{text}}}"#);
            assert_eq!(serde_json::to_string(&limits).unwrap(), text);
            assert_eq!(serde_json::from_str::<BotLimits>(&text).unwrap(), limits);
        }
    }

    #[test]
    fn a_bank_is_charged_and_the_increment_added() {
        let control = TimeControl { bank_ms: Some(1_000), increment_ms: 100, ..TimeControl::default() };
        let mut clock = Clock::new(control);
        assert_eq!(clock.charge(Side::First, ms(300), Duration::ZERO), Ok(Arrival::InTime));
        assert_eq!(clock.remaining_ms(), [800, 1_000]);
        assert_eq!(clock.charge(Side::First, ms(840), ms(50)), Ok(Arrival::Late));
        assert_eq!(clock.remaining_ms(), [100, 1_000], "an overrun within the grace costs the rest");
        assert_eq!(clock.charge(Side::First, ms(151), ms(50)), Err(FlagFell));
        assert_eq!(clock.remaining_ms(), [0, 1_000]);
    }

    #[test]
    fn limits_say_what_they_are() {
        let limits = |text: &str| BotLimits::from(text.parse::<TimeControl>().unwrap()).to_string();
        assert_eq!(limits("60+1"), "60s+1s");
        assert_eq!(BotLimits::from(TimeControl::default()).to_string(), "no limits but the bots' own");
        assert_eq!("24h".parse::<TimeControl>().unwrap().bank(), Some(LIMIT_MAX));
        assert!("24.1h".parse::<TimeControl>().is_err());
    }

    #[test]
    fn a_bot_without_a_sense_of_time_is_given_a_twentieth_and_three_quarters_of_the_increment() {
        let clock = Clock::new("60+1".parse().unwrap());
        assert_eq!(clock.allotment(Side::First), Some(ms(3_750)));
        let short = Clock::restore("60+1".parse().unwrap(), BySide { first: ms(20), second: ms(20) });
        assert_eq!(short.allotment(Side::First), Some(ms(15)), "a part is kept for the way");
    }

    #[test]
    fn a_limit_for_a_move_is_whole_for_each_and_only_banks_get_more() {
        let per_move = TimeControl::per_move(ms(500));
        let mut clock = Clock::restore(per_move, BySide { first: ms(0), second: ms(500) });
        clock.begin_turn(Side::First);
        assert_eq!(clock.remaining_ms(), [500, 500]);
        clock.add_to_both(ms(9_000));
        assert_eq!(clock.remaining_ms(), [500, 500]);
        let mut banked = Clock::new("60+1".parse().unwrap());
        banked.add_to_both(ms(9_000));
        banked.begin_turn(Side::First);
        assert_eq!(banked.remaining_ms(), [69_000, 69_000]);
    }

    #[test]
    fn who_uses_up_all_time_is_in_time() {
        let mut clock = Clock::new(TimeControl::per_move(ms(100)));
        for _ in 0..2 {
            assert_eq!(clock.charge(Side::First, ms(100), Duration::ZERO), Ok(Arrival::InTime));
        }
        assert_eq!(clock.charge(Side::First, ms(101), Duration::ZERO), Err(FlagFell));
    }

    #[test]
    fn the_smaller_of_bank_and_move_limit_counts() {
        let control = TimeControl { bank_ms: Some(1_000), move_ms: Some(200), ..TimeControl::default() };
        let clock = Clock::new(control);
        assert_eq!(clock.budget(Side::First), Some(ms(200)));
        assert_eq!(clock.allotment(Side::First), Some(ms(50)));
        let per_move = Clock::new(TimeControl::per_move(ms(100)));
        assert_eq!(per_move.allotment(Side::Second), Some(ms(80)));
        assert_eq!(Clock::new(TimeControl::default()).budget(Side::First), None);
    }
}
