//! How pages say things. `web/static/words.js` says the same when a page is live.

use jiff::Timestamp;

use crate::clock::TimeControl;
use crate::protocol::server::{EndReason, GameResult};
use crate::protocol::terms::WireSide;
use crate::storage::record::UnixMillis;

/// The word for a side's discs.
pub(super) fn color(side: WireSide) -> &'static str {
    match side {
        WireSide::First => "Coral",
        WireSide::Second => "Gold",
    }
}

/// The name of a side in attributes and style classes.
pub(super) fn key(side: WireSide) -> &'static str {
    match side {
        WireSide::First => "first",
        WireSide::Second => "second",
    }
}

/// `3 min + 2 s`, `30 s a move`.
pub(super) fn time_control(time: TimeControl) -> String {
    let bank = time.bank_ms.map(|bank| match time.increment_ms {
        0 => length(bank),
        increment => format!("{} + {}", length(bank), length(increment)),
    });
    let limit = time.move_ms.map(|limit| format!("{} a move", length(limit)));
    bank.into_iter().chain(limit).collect::<Vec<_>>().join(", ")
}

fn length(ms: u32) -> String {
    const MINUTE: u32 = 60_000;
    const HOUR: u32 = 60 * MINUTE;
    match ms {
        ms if ms >= HOUR && ms % HOUR == 0 => format!("{} h", ms / HOUR),
        ms if ms >= MINUTE && ms % MINUTE == 0 => format!("{} min", ms / MINUTE),
        ms if ms % 1_000 == 0 => format!("{} s", ms / 1_000),
        ms => format!("{} s", f64::from(ms) / 1_000.0),
    }
}

/// What a clock shows: `3:05`, in the last ten seconds `9.4`.
pub(super) fn clock_face(ms: u64) -> String {
    if ms < 10_000 {
        return format!("{}.{}", ms / 1_000, ms % 1_000 / 100);
    }
    let seconds = ms.div_ceil(1_000);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours == 0 { format!("{minutes}:{seconds:02}") } else { format!("{hours}:{minutes:02}:{seconds:02}") }
}

/// The headline of a finished game.
pub(super) fn headline(result: GameResult, you: Option<WireSide>, names: &[String; 2]) -> String {
    let wins = |side: WireSide, name: &str| {
        if you == Some(side) { "You win".to_owned() } else { format!("{name} wins") }
    };
    match result {
        GameResult::First => wins(WireSide::First, &names[0]),
        GameResult::Second => wins(WireSide::Second, &names[1]),
        GameResult::Draw => "A draw".to_owned(),
        GameResult::Void => "No result".to_owned(),
    }
}

/// How it came to a result, in a word or two.
pub(super) fn reason(reason: EndReason, connect: u8) -> String {
    match reason {
        EndReason::Four if connect == 4 => "Four in a row",
        EndReason::Four => return format!("{connect} in a row"),
        EndReason::Full => "The board is full",
        EndReason::Resign => "Resigned",
        EndReason::Time => "Out of time",
        EndReason::Illegal => "Broke the rules",
        EndReason::Left => "Left the game",
        EndReason::Aborted => "Ended before it began",
        EndReason::Stopped => "Stopped by the arena",
        EndReason::BotFailed => "The bot broke down",
    }
    .to_owned()
}

/// A day in words: `20 Nov 2026`.
pub(super) fn day(at: UnixMillis) -> String {
    Timestamp::from_millisecond(at.0)
        .map_or_else(|_| String::new(), |time| time.strftime("%-d %b %Y").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_time(bank_ms: Option<u32>, increment_ms: u32, move_ms: Option<u32>, expected: &str) {
        assert_eq!(time_control(TimeControl { bank_ms, increment_ms, move_ms }), expected);
    }

    #[test]
    fn time_controls_read_as_people_say_them() {
        check_time(Some(180_000), 2_000, None, "3 min + 2 s");
        check_time(Some(60_000), 0, None, "1 min");
        check_time(None, 0, Some(30_000), "30 s a move");
        check_time(Some(90_000), 500, Some(10_000), "90 s + 0.5 s, 10 s a move");
        check_time(Some(7_200_000), 0, None, "2 h");
    }

    #[test]
    fn clocks_round_up_until_the_last_ten_seconds() {
        for (ms, expected) in [
            (185_000, "3:05"),
            (59_001, "1:00"),
            (10_000, "0:10"),
            (9_999, "9.9"),
            (0, "0.0"),
            (3_600_000, "1:00:00"),
        ] {
            assert_eq!(clock_face(ms), expected, "{ms} ms");
        }
    }
}
