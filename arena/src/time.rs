//! How much a player may think about a game, and the clock that charges it: pure, durations come from outside.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use fourfold_engine::{BySide, Side};
use serde::{Deserialize, Serialize};

/// The longest bank, move limit or increment: a day.
const LIMIT_MAX: Duration = Duration::from_hours(24);

/// Part of the bank that a bot without a sense of time uses for one move, beside the increment. Half of the 42 moves
/// of a game are its own, and later ones are easier.
const SHARE_OF_BANK: u32 = 20;

/// Kept back from a hard limit for the way of the answer, but never more than a quarter of it.
const RESERVE: Duration = Duration::from_millis(20);

/// Limits for each player of a game. With none at all, bots end by their own settings.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TimeControl {
    /// Time for the whole game, in milliseconds.
    #[serde(default)]
    pub bank_ms: Option<u64>,
    /// Added to the bank after each move, in milliseconds.
    #[serde(default)]
    pub increment_ms: u64,
    /// Time for each single move, in milliseconds.
    #[serde(default)]
    pub move_ms: Option<u64>,
    /// Search nodes or playouts for each move: equal choices on every machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
}

impl TimeControl {
    /// Limits by nothing but time for each move.
    pub fn per_move(limit: Duration) -> Self {
        Self { move_ms: Some(whole_ms(limit)), ..Self::default() }
    }

    /// Limits by nodes for each move.
    pub fn nodes(nodes: u64) -> Self {
        Self { nodes: Some(nodes), ..Self::default() }
    }

    /// Whether a clock runs.
    pub fn is_timed(self) -> bool {
        self.bank_ms.is_some() || self.move_ms.is_some()
    }

    fn bank(self) -> Option<Duration> {
        self.bank_ms.map(Duration::from_millis)
    }

    fn move_limit(self) -> Option<Duration> {
        self.move_ms.map(Duration::from_millis)
    }
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
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
            bank_ms: Some(whole_ms(bank).max(1)),
            increment_ms: whole_ms(increment),
            ..Self::default()
        })
    }
}

/// A number with a unit, at most [`LIMIT_MAX`].
fn read_duration(text: &str) -> Option<Duration> {
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
impl fmt::Display for TimeControl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(bank) = self.bank() {
            let increment = Duration::from_millis(self.increment_ms);
            parts.push(format!("{bank:?}+{increment:?}"));
        }
        parts.extend(self.move_limit().map(|limit| format!("{limit:?} a move")));
        parts.extend(self.nodes.map(|nodes| format!("{nodes} nodes a move")));
        if parts.is_empty() {
            return formatter.write_str("no limits but the bots' own");
        }
        formatter.write_str(&parts.join(", "))
    }
}

/// Both clocks of one game.
#[derive(Clone, Debug)]
pub struct Clock {
    control: TimeControl,
    /// How far a limit may be overrun without losing by it.
    margin: Duration,
    remaining: BySide<Duration>,
}

/// A player used more than it had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlagFell;

impl Clock {
    /// Both sides have their whole time.
    pub fn new(control: TimeControl, margin: Duration) -> Self {
        let full = control.bank().or(control.move_limit()).unwrap_or_default();
        Self { control, margin, remaining: BySide { first: full, second: full } }
    }

    /// The hard limit for the next move of `side`; `None` if no clock runs.
    pub fn budget(&self, side: Side) -> Option<Duration> {
        let bank = self.control.bank().map(|_| self.remaining[side]);
        match (bank, self.control.move_limit()) {
            (Some(bank), Some(limit)) => Some(bank.min(limit)),
            (bank, limit) => bank.or(limit),
        }
    }

    /// How long a bot without a sense of time should think about its next move.
    pub fn allotment(&self, side: Side) -> Option<Duration> {
        let budget = self.budget(side)?;
        let safe = budget.saturating_sub(RESERVE.min(budget / 4));
        let Some(bank) = self.control.bank().map(|_| self.remaining[side]) else { return Some(safe) };
        let increment = Duration::from_millis(self.control.increment_ms);
        Some((bank / SHARE_OF_BANK + increment * 3 / 4).min(safe))
    }

    /// Books the time of a move. The increment is added after the charge.
    ///
    /// # Errors
    ///
    /// The limit was overrun by more than the margin: the game is lost, and the clock stands at zero.
    pub fn charge(&mut self, side: Side, spent: Duration) -> Result<(), FlagFell> {
        if self.budget(side).is_some_and(|budget| spent > budget + self.margin) {
            self.remaining[side] = Duration::ZERO;
            return Err(FlagFell);
        }
        if self.control.bank_ms.is_some() {
            let increment = Duration::from_millis(self.control.increment_ms);
            self.remaining[side] = self.remaining[side].saturating_sub(spent) + increment;
        } else if let Some(limit) = self.control.move_limit() {
            self.remaining[side] = limit;
        }
        Ok(())
    }

    /// What both sides have left, in milliseconds, the first side first; zeros if no clock runs.
    pub fn remaining_ms(&self) -> [u64; 2] {
        [whole_ms(self.remaining.first), whole_ms(self.remaining.second)]
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
    fn a_bank_is_charged_and_the_increment_added() {
        let control = TimeControl { bank_ms: Some(1_000), increment_ms: 100, ..TimeControl::default() };
        let mut clock = Clock::new(control, ms(50));
        clock.charge(Side::First, ms(300)).unwrap();
        assert_eq!(clock.remaining_ms(), [800, 1_000]);
        clock.charge(Side::First, ms(840)).unwrap();
        assert_eq!(clock.remaining_ms(), [100, 1_000], "an overrun within the margin costs the rest");
        assert_eq!(clock.charge(Side::First, ms(151)), Err(FlagFell));
        assert_eq!(clock.remaining_ms(), [0, 1_000]);
    }

    #[test]
    fn the_smaller_of_bank_and_move_limit_counts() {
        let control = TimeControl { bank_ms: Some(1_000), move_ms: Some(200), ..TimeControl::default() };
        let clock = Clock::new(control, Duration::ZERO);
        assert_eq!(clock.budget(Side::First), Some(ms(200)));
        assert_eq!(clock.allotment(Side::First), Some(ms(50)));
        let per_move = Clock::new(TimeControl::per_move(ms(100)), Duration::ZERO);
        assert_eq!(per_move.allotment(Side::Second), Some(ms(80)));
        assert_eq!(Clock::new(TimeControl::nodes(9), Duration::ZERO).budget(Side::First), None);
    }
}
