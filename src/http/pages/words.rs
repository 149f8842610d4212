//! How pages say things. `web/static/words.js` says the same when a page is live.

use fourfold_engine::Variant;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::competition::leaderboard::standings::Scale;
use crate::http::texts::Language;
use crate::lobby::challenge::BEST_OF;
use crate::model::clock::{TimeControl, is_unhurried, takes_days};
use crate::model::opening::{OpeningKind, SideChoice};
use crate::model::rating::eligibility::UnratedReason;
use crate::model::result::{EndReason, GameResult};
use crate::model::time::UnixMillis;
use crate::protocol::terms::{Terms, WireOpening, WireSeries, WireSide};

/// The word for a side's discs.
pub(super) fn color(lang: Language, side: WireSide) -> &'static str {
    match side {
        WireSide::First => lang.text("game.first_color"),
        WireSide::Second => lang.text("game.second_color"),
    }
}

/// The word for what is in a cell.
pub(super) fn cell(lang: Language, stone: Option<WireSide>) -> &'static str {
    stone.map_or(lang.text("game.empty"), |side| color(lang, side))
}

/// The name of a side in attributes and style classes.
pub(super) fn key(side: WireSide) -> &'static str {
    match side {
        WireSide::First => "first",
        WireSide::Second => "second",
    }
}

/// A result in figures.
pub(super) fn score(result: GameResult) -> &'static str {
    match result {
        GameResult::First => "1–0",
        GameResult::Second => "0–1",
        GameResult::Draw => "½–½",
        GameResult::Void => "–",
    }
}

/// Whether a game counts.
pub(super) fn kind(lang: Language, is_rated: bool) -> &'static str {
    lang.text(if is_rated { "game.rated" } else { "game.casual" })
}

/// Why a game that was to be rated is not, as the wire says it.
pub(super) fn unrated(lang: Language, because: &str) -> &'static str {
    let key = match UnratedReason::from_text(because) {
        Some(UnratedReason::SameOwner) => "game.unrated_same_owner",
        Some(UnratedReason::Guest) => "game.unrated_guest",
        Some(UnratedReason::SameAddress) => "game.unrated_same_address",
        Some(UnratedReason::TooShort) => "game.unrated_too_short",
        Some(UnratedReason::Repeated) => "game.unrated_repeated",
        Some(UnratedReason::Correspondence) => "game.unrated_correspondence",
        Some(UnratedReason::PairLimit) => "game.unrated_pair_limit",
        Some(UnratedReason::Load) => "game.unrated_load",
        Some(UnratedReason::Private) => "invite.private",
        Some(UnratedReason::Voided) => "game.unrated_voided",
        Some(UnratedReason::Void) | None => "game.unrated",
    };
    lang.text(key)
}

/// The same of a game that is offered, which may be private.
pub(super) fn terms_kind(lang: Language, terms: &Terms) -> &'static str {
    if terms.private { lang.text("invite.private") } else { kind(lang, terms.rated) }
}

/// `3 min + 2 s`, of a time that has nothing else.
pub(super) fn bank_and_increment(lang: Language, bank_ms: u32, increment_ms: u32) -> String {
    time_control(lang, TimeControl { bank_ms: Some(bank_ms), increment_ms, move_ms: None })
}

/// Whether nothing is said of the time but that there is no clock.
fn has_no_clock(time: TimeControl) -> bool {
    is_unhurried(time) && !takes_days(time)
}

/// What the class of a game is followed by, so that no clocks are shown where there are none.
pub(super) fn clock_class(time: TimeControl) -> &'static str {
    if has_no_clock(time) { " unhurried" } else { "" }
}

/// `3 min + 2 s`, `30 s a move`.
pub(super) fn time_control(lang: Language, time: TimeControl) -> String {
    if has_no_clock(time) {
        return lang.text("game.no_clock").to_owned();
    }
    let bank = time.bank_ms.map(|bank| match time.increment_ms {
        0 => length(lang, bank),
        increment => format!("{} + {}", length(lang, bank), length(lang, increment)),
    });
    let limit = time.move_ms.map(|limit| lang.fill("game.per_move", &[("time", length(lang, limit))]));
    bank.into_iter().chain(limit).collect::<Vec<_>>().join(", ")
}

fn length(lang: Language, ms: u32) -> String {
    const MINUTE: u32 = 60_000;
    const HOUR: u32 = 60 * MINUTE;
    const DAY: u32 = 24 * HOUR;
    match ms {
        ms if ms >= DAY && ms % DAY == 0 => lang.count("game.days", u64::from(ms / DAY)),
        ms if ms >= HOUR && ms % HOUR == 0 => lang.fill("game.hours", &[("n", ms / HOUR)]),
        ms if ms >= MINUTE && ms % MINUTE == 0 => lang.fill("game.minutes", &[("n", ms / MINUTE)]),
        ms => lang.fill("game.seconds", &[("n", lang.decimal(f64::from(ms) / 1_000.0))]),
    }
}

/// What a game that is offered would be, to whoever made the offer or is asked. The usual board and a single game go
/// without saying.
pub(super) fn offer(lang: Language, terms: &Terms, is_mine: bool) -> String {
    let mut words = vec![time_control(lang, terms.time.control()), terms_kind(lang, terms).to_owned()];
    if terms.variant.0 != Variant::STANDARD {
        words.push(board(lang, terms.variant.0));
    }
    words.push(colors(lang, terms.side, is_mine));
    words.extend(opening(lang, terms.opening.as_ref()));
    if terms.games.number() > 1 {
        words.push(length_of(lang, terms.games.number()));
    }
    words.join(" · ")
}

/// How many games a series has, at most if the better of them wins.
pub(super) fn length_of(lang: Language, games: u32) -> String {
    if BEST_OF.contains(&games) {
        return lang.fill("challenge.best_of", &[("n", games)]);
    }
    lang.count("challenge.games", games.into())
}

/// How a series of which the better wins stands, first the side that moves first: `2½ : ½`.
pub(super) fn standing(series: &WireSeries) -> String {
    format!("{} : {}", points(series.half_points.first), points(series.half_points.second))
}

/// Halves of points as people write them: `2½`.
fn points(halves: u32) -> String {
    match (halves / 2, halves % 2) {
        (whole, 0) => whole.to_string(),
        (0, _) => "½".to_owned(),
        (whole, _) => format!("{whole}½"),
    }
}

/// Which discs one would play: whoever made the offer has chosen a side.
pub(super) fn colors(lang: Language, chosen: SideChoice, is_mine: bool) -> String {
    let side = match (chosen, is_mine) {
        (SideChoice::Random, _) => return lang.text("invite.colors_by_lot").to_owned(),
        (SideChoice::Opponent, true) => return lang.text("challenge.other_chooses").to_owned(),
        (SideChoice::Opponent, false) => return lang.text("challenge.you_choose").to_owned(),
        (SideChoice::First, true) | (SideChoice::Second, false) => WireSide::First,
        (SideChoice::First, false) | (SideChoice::Second, true) => WireSide::Second,
    };
    lang.fill("invite.you_play", &[("color", color(lang, side))])
}

/// How a game begins, where that is not an empty board.
pub(super) fn opening(lang: Language, opening: Option<&WireOpening>) -> Option<String> {
    let opening = opening?;
    match opening.kind {
        OpeningKind::None => None,
        OpeningKind::Balanced => Some(lang.text("invite.opening_balanced").to_owned()),
        OpeningKind::Given => Some(lang.fill("invite.after_moves", &[("moves", opening.moves.as_str())])),
    }
}

/// Where published ratings have their zero.
pub(super) fn scale(lang: Language, scale: Scale) -> &'static str {
    match scale {
        Scale::Random => lang.text("ranking.scale_random"),
        Scale::Mean => lang.text("ranking.scale_mean"),
    }
}

/// A number with its sign, as it is printed.
pub(super) fn signed(n: i64) -> String {
    format!("{n:+}").replace('-', "−")
}

/// What a clock shows: `3:05`, in the last ten seconds `9.4`, from a day on `2 d 5 h`.
pub(super) fn clock_face(lang: Language, ms: u64) -> String {
    if ms < 10_000 {
        return lang.decimal(format_args!("{}.{}", ms / 1_000, ms % 1_000 / 100));
    }
    let seconds = ms.div_ceil(1_000);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours >= 24 {
        return lang.fill("game.days_hours", &[("days", hours / 24), ("hours", hours % 24)]);
    }
    if hours == 0 { format!("{minutes}:{seconds:02}") } else { format!("{hours}:{minutes:02}:{seconds:02}") }
}

/// The headline of a finished game.
pub(super) fn headline(
    lang: Language,
    result: GameResult,
    you: Option<WireSide>,
    names: &[String; 2],
) -> String {
    let wins = |side: WireSide, name: &str| match you {
        Some(own) if own == side => lang.text("game.you_win").to_owned(),
        Some(_) => lang.text("game.you_lost").to_owned(),
        None => lang.fill("game.wins", &[("name", name)]),
    };
    match result {
        GameResult::First => wins(WireSide::First, &names[0]),
        GameResult::Second => wins(WireSide::Second, &names[1]),
        GameResult::Draw => lang.text("game.draw").to_owned(),
        GameResult::Void => lang.text("game.void").to_owned(),
    }
}

/// How it came to a result, in a word or two.
pub(super) fn reason(lang: Language, reason: EndReason, connect: u8) -> String {
    let key = match reason {
        EndReason::Four if connect == 4 => "game.four",
        EndReason::Four => return lang.fill("game.in_a_row", &[("n", connect)]),
        EndReason::Full => "game.full",
        EndReason::Resign => "game.resign",
        EndReason::Time => "game.time",
        EndReason::Illegal => "game.illegal",
        EndReason::Left => "game.left",
        EndReason::Aborted => "game.aborted",
        EndReason::Stopped => "game.stopped",
        EndReason::BotFailed => "game.bot_failed",
    };
    lang.text(key).to_owned()
}

/// Boards that one chooses among in the lobby: the usual one, a larger one, one with longer lines, one for children.
const BOARDS: [&str; 4] = ["7x6", "8x7", "9x6x5", "5x4"];

/// A board to choose: as the protocol writes it, and as people say it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct BoardChoice {
    pub(super) value: &'static str,
    pub(super) name: String,
}

/// The boards to choose among.
pub(super) fn boards(lang: Language) -> Vec<BoardChoice> {
    let choice = |(value, variant)| BoardChoice { value, name: board(lang, variant) };
    BOARDS.into_iter().zip(offered_boards()).map(choice).collect()
}

/// The boards that pages offer, the usual one first.
pub(super) fn offered_boards() -> impl Iterator<Item = Variant> {
    BOARDS.into_iter().map(|value| value.parse().expect("a test reads them all"))
}

/// A board's size, and how many win where it is not four: `9 × 6, 5 in a row`.
pub(super) fn board(lang: Language, variant: Variant) -> String {
    let size = format!("{} × {}", variant.width(), variant.height());
    if variant.connect() == 4 {
        return size;
    }
    format!("{size}, {}", lang.fill("game.in_a_row", &[("n", variant.connect())]))
}

/// A day in words: `20 Nov 2026`.
pub(super) fn day(lang: Language, at: UnixMillis) -> String {
    let Ok(time) = Timestamp::from_millisecond(at.0) else { return String::new() };
    let date = time.to_zoned(TimeZone::UTC).date();
    let month = month(lang, at);
    let (day, year) = (date.day().to_string(), date.year().to_string());
    lang.fill("player.day_format", &[("day", day.as_str()), ("month", month), ("year", &year)])
}

/// The month of a moment: `Nov`.
pub(super) fn month(lang: Language, at: UnixMillis) -> &'static str {
    let time = Timestamp::from_millisecond(at.0).unwrap_or_default();
    let month = time.to_zoned(TimeZone::UTC).date().month();
    let place = usize::try_from(month - 1).unwrap_or_default();
    lang.text("player.months").split(' ').nth(place).unwrap_or_default()
}

/// Day and time: `20 Nov 2026, 18:00 UTC`.
pub(super) fn moment(lang: Language, at: UnixMillis) -> String {
    format!("{}, {} UTC", day(lang, at), minute(at))
}

/// The time of day, `18:54`, UTC.
pub(super) fn minute(at: UnixMillis) -> String {
    let Ok(time) = Timestamp::from_millisecond(at.0) else { return String::new() };
    let time = time.to_zoned(TimeZone::UTC).time();
    format!("{:02}:{:02}", time.hour(), time.minute())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::clock::GameTime;
    use crate::protocol::terms::{SeriesLength, Sides, WireVariant};

    #[track_caller]
    fn check_time(bank_ms: Option<u32>, increment_ms: u32, move_ms: Option<u32>, expected: &str) {
        assert_eq!(time_control(Language::English, TimeControl { bank_ms, increment_ms, move_ms }), expected);
    }

    #[test]
    fn time_controls_read_as_people_say_them() {
        check_time(Some(180_000), 2_000, None, "3 min + 2 s");
        check_time(Some(60_000), 0, None, "1 min");
        check_time(None, 0, Some(30_000), "30 s a move");
        check_time(Some(90_000), 500, Some(10_000), "90 s + 0.5 s, 10 s a move");
        check_time(Some(7_200_000), 0, None, "2 h");
        check_time(None, 0, Some(900_000), "No clock");
        check_time(None, 0, Some(86_400_000), "1 day a move");
        check_time(None, 0, Some(3 * 86_400_000), "3 days a move");
        let half = TimeControl { bank_ms: Some(60_000), increment_ms: 500, move_ms: None };
        assert_eq!(time_control(Language::German, half), "1 min + 0,5 s");
    }

    #[test]
    fn every_kind_of_offer_is_said_in_words() {
        let time = TimeControl { bank_ms: Some(180_000), increment_ms: 2_000, move_ms: None };
        let plain = Terms {
            time: GameTime::new(time).unwrap(),
            rated: true,
            variant: WireVariant::default(),
            opening: None,
            games: SeriesLength::default(),
            side: SideChoice::Random,
            load: false,
            private: false,
        };
        assert_eq!(offer(Language::English, &plain, false), "3 min + 2 s · Rated · Colours by lot");
        let given = WireOpening { kind: OpeningKind::Given, moves: "4453".into() };
        let full = Terms {
            rated: false,
            variant: WireVariant("9x6x5".parse().unwrap()),
            opening: Some(given),
            games: SeriesLength::new(2),
            side: SideChoice::First,
            ..plain.clone()
        };
        let terms = |color| {
            format!(
                "3 min + 2 s · Casual · 9 × 6, 5 in a row · You play {color} · After 4453 · \
                 2 games, sides swapped each time"
            )
        };
        assert_eq!(offer(Language::English, &full, true), terms("Coral"));
        let private = Terms { private: true, rated: false, ..plain };
        assert_eq!(offer(Language::English, &private, false), "3 min + 2 s · Private · Colours by lot");
        assert_eq!(offer(Language::English, &full, false), terms("Gold"));
    }

    #[test]
    fn series_are_said_with_their_score() {
        assert_eq!(length_of(Language::English, 5), "Best of 5");
        assert_eq!(length_of(Language::English, 2), "2 games, sides swapped each time");
        let half_points = Sides { first: 5, second: 1 };
        assert_eq!(standing(&WireSeries { leg: 4, of: 5, half_points }), "2½ : ½");
    }

    #[test]
    fn boards_read_as_people_say_them() {
        let names: Vec<_> = boards(Language::English).into_iter().map(|board| board.name).collect();
        assert_eq!(names, ["7 × 6", "8 × 7", "9 × 6, 5 in a row", "5 × 4"]);
    }

    #[test]
    fn days_are_written_as_in_each_language() {
        let at = UnixMillis(1_795_132_800_000);
        assert_eq!(day(Language::English, at), "20 Nov 2026");
        assert_eq!(day(Language::German, at), "20. Nov. 2026");
        assert_eq!(day(Language::Japanese, at), "2026年11月20日");
    }

    #[test]
    fn every_language_has_twelve_months() {
        for language in Language::ALL {
            assert_eq!(language.text("player.months").split(' ').count(), 12, "{language:?}");
        }
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
            (86_399_000, "23:59:59"),
            (3 * 86_400_000 - 1, "3 d 0 h"),
            (2 * 86_400_000 + 5 * 3_600_000, "2 d 5 h"),
        ] {
            assert_eq!(clock_face(Language::English, ms), expected, "{ms} ms");
        }
        assert_eq!(clock_face(Language::German, 9_999), "9,9");
    }
}
