use proptest::prelude::*;

use super::absence::{BOT_ABSENCE_MAX, LEFT_ON_PURPOSE_MAX, PERSON_ABSENCE_MIN};
use super::deadline::FIRST_MOVE_MAX;
use super::freeze::{RESTART_BONUS, RESTART_FREEZE_MAX};
use super::*;
use crate::model::clock::{OVERRUN_GRACE, OVERRUN_STRIKES, TimeControl};
use crate::model::conditional::ConditionalMoves;
use crate::model::fault::ILLEGAL_FORGIVEN;
use crate::model::pause::Pause;
use crate::model::result::{EndReason, GameResult};
use crate::model::vacation::Vacation;
use crate::protocol::ErrorCode;
use crate::storage::conformance::{FIRST_WINS, NOON, spec};
use crate::storage::record::{GamePair, OpeningSource, StoredGame};

const HUMANS: BySide<PlayerKind> = BySide { first: PlayerKind::Human, second: PlayerKind::Guest };
const BOTS: BySide<PlayerKind> = BySide { first: PlayerKind::Bot, second: PlayerKind::Bot };
const SECOND: Duration = Duration::from_secs(1);

/// A room, the time, and what its store holds.
#[derive(Clone, Debug)]
struct Table {
    state: RoomState,
    now: Instant,
    /// The same by the wall clock.
    at: UnixMillis,
    /// What the store has of vacations.
    vacations: BySide<Vec<Vacation>>,
    log: Vec<StoredEvent>,
}

fn casual() -> GameSpec {
    GameSpec { rated: false, ..spec("g1", "Ada", "Bob") }
}

fn with_opening(moves: &str) -> GameSpec {
    GameSpec { opening: OpeningSource { moves: moves.into(), ..OpeningSource::default() }, ..casual() }
}

fn per_move(limit_ms: u32) -> GameSpec {
    GameSpec { time: TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(limit_ms) }, ..casual() }
}

impl Table {
    /// Both players are there and the first turn runs.
    fn new(spec: GameSpec, kinds: BySide<PlayerKind>) -> Self {
        let now = Instant::now();
        let state = RoomState::new(spec, kinds, now).unwrap();
        let mut table = Self { state, now, at: NOON, vacations: BySide::default(), log: Vec::new() };
        table.arrive(Side::First);
        table.arrive(Side::Second);
        table.state.begin(now);
        table
    }

    /// The same game after a crash: what was stored, and nobody there yet.
    fn restarted(&self) -> Self {
        let stored =
            StoredGame { spec: self.state.spec().clone(), events: self.log.clone(), settlement: None };
        let state = RoomState::restore(stored, self.state.kinds, self.now, self.at, &self.vacations).unwrap();
        Self { state, ..self.clone() }
    }

    fn arrive(&mut self, side: Side) -> Effects {
        self.state.presence_changed(side, true, false, self.now)
    }

    fn lose(&mut self, side: Side) -> Effects {
        self.state.presence_changed(side, false, false, self.now)
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.at = self.at.later(time);
    }

    fn request(&self, ply: u32, column: i64) -> Play {
        let known = u8::try_from(column).ok().and_then(Column::from_number);
        Play {
            ply,
            column: known.ok_or(NoColumn::OutOfRange(column)),
            forgiven: ILLEGAL_FORGIVEN,
            info: None,
            said: None,
            received: self.now,
            round_trip: Duration::ZERO,
        }
    }

    fn send(
        &mut self,
        side: Side,
        ply: u32,
        column: i64,
    ) -> (Result<Option<PlayedMove>, RoomRefusal>, Effects) {
        let request = self.request(ply, column);
        self.state.play(side, &request, self.at)
    }

    /// The store answers. Tests that let a game end do not look at ratings.
    fn commit(&mut self) -> Effects {
        let staged = self.state.staged.as_ref().expect("something is being stored");
        self.log.extend(staged.events.clone());
        self.state.stored(Some(Settlement::default()), self.now)
    }

    /// The side to move plays and the store answers.
    #[track_caller]
    fn play(&mut self, column: i64) -> Effects {
        let (verdict, effects) = self.send(self.state.side_to_move(), self.state.game().ply(), column);
        assert_eq!(verdict, Ok(None));
        assert!(matches!(effects[..], [Effect::Store(_)]), "{effects:?}");
        self.commit()
    }

    #[track_caller]
    fn play_all(&mut self, moves: &str) {
        for column in moves.chars() {
            self.play(column.to_digit(10).unwrap().into());
        }
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "what a request came to is passed on")]
    fn accept(&mut self, effects: Result<Effects, RoomRefusal>) -> Effects {
        assert!(matches!(effects.as_deref(), Ok([Effect::Store(_)])), "{effects:?}");
        self.commit()
    }

    fn resign(&mut self, side: Side) -> Result<Effects, RoomRefusal> {
        self.state.resign(side, self.now, NOON)
    }

    fn abort(&mut self, side: Side) -> Result<Effects, RoomRefusal> {
        self.state.abort(side, self.now, NOON)
    }

    fn claim(&mut self, side: Side) -> Result<Effects, RoomRefusal> {
        self.state.claim(side, self.now, NOON)
    }

    fn answer(&mut self, side: Side, agrees: bool) -> Result<Effects, RoomRefusal> {
        self.state.answer_takeback(side, agrees, self.now, NOON)
    }

    /// Time passes until the next deadline, which is dealt with.
    #[track_caller]
    fn wake(&mut self) -> Effects {
        self.now = self.state.next_deadline().expect("there is a deadline");
        let effects = self.state.wake(self.now, NOON);
        assert!(!effects.is_empty(), "a deadline has an effect");
        if self.state.is_storing() { self.commit() } else { effects }
    }

    fn clock_ms(&self) -> (u64, u64) {
        let clock = self.state.clock(self.now).map(millis);
        (clock.first, clock.second)
    }

    #[track_caller]
    fn check_ended(&self, result: GameResult, reason: EndReason, by: Option<Side>) {
        let (ending, _) = self.state.end().expect("the game is over");
        assert_eq!(*ending, Ending { result, reason, by });
        assert_eq!(self.state.next_deadline(), None, "nothing happens after the end");
    }
}

// --- moves and their two steps ---

#[test]
fn a_move_is_public_only_after_its_commit() {
    let mut table = Table::new(casual(), HUMANS);
    table.pass(SECOND);
    let (verdict, effects) = table.send(Side::First, 0, 4);
    assert_eq!(verdict, Ok(None));
    let [Effect::Store(StoreRequest { events, finishes: false, .. })] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(events.len(), 1);
    assert_eq!((table.state.event_seq(), table.state.game().ply()), (0, 0));
    assert_eq!(table.state.next_deadline(), None, "the clock stands while the disk writes");
    table.pass(10 * SECOND);
    assert_eq!(table.clock_ms(), (60_000, 60_000), "storing costs nobody time");
    let effects = table.commit();
    let [Effect::Moved(played), Effect::Prompt(Side::Second)] = effects[..] else { panic!("{effects:?}") };
    assert_eq!((played.seq, played.ply, played.spent_ms), (1, 0, 1_000));
    assert_eq!((table.state.event_seq(), table.state.game().notation()), (1, "4".to_owned()));
}

#[test]
fn while_an_event_is_stored_nothing_else_changes_the_game() {
    let mut table = Table::new(casual(), HUMANS);
    table.play_all("44");
    table.send(Side::First, 2, 4).0.unwrap();
    let before = table.clone();
    assert_eq!(table.resign(Side::Second), Err(RoomRefusal::Busy));
    assert_eq!(table.claim(Side::Second), Err(RoomRefusal::Busy));
    assert_eq!(table.state.ask_takeback(Side::Second), Err(RoomRefusal::Busy));
    assert_eq!(table.send(Side::First, 2, 4), (Err(RoomRefusal::Busy), Vec::new()));
    assert_eq!(table.state.pause(table.now, NOON), Vec::new());
    assert_eq!(table.state.wake(table.now + 3_600 * SECOND, NOON), Vec::new());
    let (before, after) = (before.state.staged.unwrap(), table.state.staged.as_ref().unwrap());
    assert_eq!(before.events, after.events);
}

#[test]
fn a_move_that_could_not_be_queued_may_be_sent_again() {
    let mut table = Table::new(casual(), HUMANS);
    table.send(Side::First, 0, 4).0.unwrap();
    assert_eq!(table.state.not_stored(table.now), [Effect::Prompt(Side::First)]);
    table.pass(SECOND);
    table.play(3);
    assert_eq!(table.state.game().notation(), "3");
    assert_eq!(table.clock_ms().0, 60_000, "charged for the whole turn, less the increment");
}

#[test]
fn the_last_stone_and_the_end_are_stored_together() {
    let mut table = Table::new(casual(), HUMANS);
    table.play_all(&FIRST_WINS[..6]);
    let (_, effects) = table.send(Side::First, 6, 1);
    let [Effect::Store(StoreRequest { events, finishes: true, .. })] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [7, 8]);
    assert!(matches!(table.commit()[..], [Effect::Moved(_), Effect::Ended]));
    table.check_ended(GameResult::First, EndReason::Four, None);
}

#[test]
fn a_full_board_is_a_draw() {
    let mut table = Table::new(GameSpec { variant: "4x4".parse().unwrap(), ..casual() }, HUMANS);
    table.play_all("1122112234433443");
    table.check_ended(GameResult::Draw, EndReason::Full, None);
}

#[test]
fn after_the_end_every_request_is_refused_with_the_result() {
    let mut table = Table::new(casual(), HUMANS);
    table.play_all(FIRST_WINS);
    let over = RoomRefusal::GameOver { result: GameResult::First };
    assert_eq!(table.resign(Side::First), Err(over.clone()));
    assert_eq!(table.abort(Side::First), Err(over.clone()));
    assert_eq!(table.claim(Side::First), Err(over.clone()));
    assert_eq!(table.state.fail(Side::First, table.now, NOON), Err(over.clone()));
    assert_eq!(table.state.ask_takeback(Side::First), Err(over.clone()));
    assert_eq!(table.answer(Side::First, true), Err(over.clone()));
    assert_eq!(table.send(Side::Second, 7, 1).0, Err(over.clone()));
    assert_eq!(table.send(Side::Second, 8, 1).0, Err(over));
    assert_eq!(table.state.pause(table.now, NOON), Vec::new());
    assert_eq!(table.lose(Side::Second), Vec::new());
}

// --- duplicates, stale and early moves ---

#[track_caller]
fn check_refused(table: &mut Table, side: Side, ply: u32, column: i64, expected: &RoomRefusal) {
    let (verdict, effects) = table.send(side, ply, column);
    assert_eq!((verdict.as_ref(), effects), (Err(expected), Vec::new()));
}

#[test]
fn the_same_move_again_is_answered_by_the_same_event() {
    let mut table = Table::new(casual(), HUMANS);
    table.play_all("43");
    let (verdict, effects) = table.send(Side::First, 0, 4);
    assert_eq!(verdict.unwrap().map(|played| played.seq), Some(1));
    assert_eq!(effects, Vec::new());
    let effects = table.resign(Side::First);
    table.accept(effects);
    let (verdict, _) = table.send(Side::Second, 1, 3);
    assert_eq!(verdict.unwrap().map(|played| played.seq), Some(2), "after the end, too");
}

#[test]
fn another_column_for_a_played_ply_is_stale() {
    let mut table = Table::new(casual(), HUMANS);
    table.play_all("43");
    let stale = RoomRefusal::StalePly { ply: 2, stale: 0, column: 4 };
    check_refused(&mut table, Side::First, 0, 5, &stale);
    let malformed = Play { column: Err(NoColumn::Malformed), ..table.request(0, 4) };
    assert_eq!(table.state.play(Side::First, &malformed, NOON), (Err(stale), Vec::new()));
}

#[test]
fn plies_of_the_opening_are_stale_whatever_the_column() {
    let mut table = Table::new(with_opening("44"), HUMANS);
    let of_opening = RoomRefusal::OfOpening { ply: 2, stale: 0, column: 4 };
    for column in [4, 5] {
        check_refused(&mut table, Side::First, 0, column, &of_opening);
    }
    let error = of_opening.to_wire(&"g1".parse().unwrap());
    assert_eq!((error.code, error.ply, error.column), (ErrorCode::StalePly, Some(2), Some(4)));
    assert_eq!(error.message, "ply 0 belongs to the opening, which has column 4 there");
    table.play(3);
    let (verdict, _) = table.send(Side::First, 2, 3);
    assert_eq!(verdict.unwrap().map(|played| (played.seq, played.ply)), Some((1, 2)));
}

#[test]
fn a_move_for_a_later_ply_or_by_the_other_side_is_too_early() {
    let mut table = Table::new(casual(), HUMANS);
    check_refused(&mut table, Side::First, 1, 4, &RoomRefusal::NotYourTurn { ply: 0 });
    check_refused(&mut table, Side::Second, 0, 4, &RoomRefusal::NotYourTurn { ply: 0 });
    check_refused(&mut table, Side::First, u32::MAX, 4, &RoomRefusal::NotYourTurn { ply: 0 });
}

#[test]
fn duplicates_are_judged_by_the_board_after_a_takeback() {
    let mut table = Table::new(casual(), HUMANS);
    table.play_all("434");
    table.state.ask_takeback(Side::First).unwrap();
    let effects = table.answer(Side::Second, true);
    table.accept(effects);
    check_refused(&mut table, Side::First, 1, 4, &RoomRefusal::StalePly { ply: 2, stale: 1, column: 3 });
    table.play(5);
    let (verdict, _) = table.send(Side::First, 2, 5);
    assert_eq!(verdict.unwrap().map(|played| played.seq), Some(5), "3 moves, 1 takeback, this one");
}

// --- illegal moves ---

#[test]
fn the_third_illegal_move_loses() {
    let mut table = Table::new(casual(), HUMANS);
    table.play_all("444444");
    let illegal = |table: &mut Table, column| {
        let (verdict, effects) = table.send(Side::First, 6, column);
        match verdict {
            Err(RoomRefusal::Illegal { retries_left, .. }) => (retries_left, effects),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(illegal(&mut table, 4), (2, Vec::new()));
    assert_eq!(illegal(&mut table, 8), (1, Vec::new()));
    let (left, effects) = illegal(&mut table, i64::MIN);
    assert!(left == 0 && matches!(effects[..], [Effect::Store(_)]));
    table.commit();
    table.check_ended(GameResult::Second, EndReason::Illegal, Some(Side::First));
}

#[test]
fn malformed_columns_count_for_the_due_ply_only_and_each_side_has_its_own_count() {
    let mut table = Table::new(casual(), HUMANS);
    let malformed = |table: &mut Table, side, ply| {
        let request = Play { column: Err(NoColumn::Malformed), ..table.request(ply, 0) };
        table.state.play(side, &request, NOON).0.unwrap_err()
    };
    let counted = |left| RoomRefusal::Malformed { width: 7, retries_left: Some(left) };
    assert_eq!(malformed(&mut table, Side::Second, 0), RoomRefusal::NotYourTurn { ply: 0 });
    assert_eq!(malformed(&mut table, Side::First, 0), counted(2));
    assert_eq!(malformed(&mut table, Side::First, 0), counted(1));
    table.play(4);
    assert_eq!(malformed(&mut table, Side::Second, 1), counted(2));
    assert!(table.state.end().is_none());
}

// --- clocks ---

#[test]
fn a_flag_falls_by_itself_after_grace_and_possible_credit() {
    let mut table = Table::new(casual(), BOTS);
    table.play_all("44");
    let latest = table.now + 61 * SECOND + OVERRUN_GRACE + table.state.lag.first.limit();
    assert_eq!(table.state.next_deadline(), Some(latest));
    let effects = table.wake();
    assert_eq!(effects, [Effect::Ended]);
    table.check_ended(GameResult::Second, EndReason::Time, Some(Side::First));
    assert_eq!(table.clock_ms().0, 0);
}

#[test]
fn a_move_received_too_late_loses_on_time() {
    let mut table = Table::new(per_move(500), BOTS);
    table.play_all("44");
    table.pass(Duration::from_millis(551));
    let (verdict, effects) = table.send(Side::First, 2, 4);
    assert_eq!(verdict, Ok(None));
    assert!(matches!(effects[..], [Effect::Store(StoreRequest { finishes: true, .. })]));
    table.commit();
    table.check_ended(GameResult::Second, EndReason::Time, Some(Side::First));
    assert_eq!(table.state.game().notation(), "44");
}

#[test]
fn small_overruns_cost_strikes_and_the_fourth_loses() {
    let mut table = Table::new(per_move(500), BOTS);
    for _ in 0..OVERRUN_STRIKES {
        table.pass(Duration::from_millis(530));
        table.play(1);
        table.play(2);
        if table.state.game().ply() == 4 {
            table.play_all("34");
        }
    }
    table.pass(Duration::from_millis(530));
    table.send(Side::First, table.state.game().ply(), 5).0.unwrap();
    table.commit();
    table.check_ended(GameResult::Second, EndReason::Time, Some(Side::First));
}

#[test]
fn strikes_are_remembered_over_a_restart() {
    for (time, late) in [(per_move(500), 530), (casual(), 60_030)] {
        let mut table = Table::new(time, BOTS);
        table.play(4);
        table.pass(Duration::from_millis(late));
        table.play(4);
        table.play(4);
        table.play(4);
        let strikes = table.state.clock.strikes();
        assert_eq!((strikes.first, strikes.second), (0, 1));
        assert_eq!(table.restarted().state.clock.strikes(), strikes);
    }
}

#[test]
fn the_measured_network_is_credited() {
    let mut table = Table::new(casual(), BOTS);
    table.pass(SECOND);
    let request = Play { round_trip: Duration::from_millis(30), ..table.request(0, 4) };
    table.state.play(Side::First, &request, NOON).0.unwrap();
    let effects = table.commit();
    let Effect::Moved(played) = effects[0] else { panic!("{effects:?}") };
    assert_eq!((played.spent_ms, played.credited_ms), (1_000, 30));
    assert_eq!(played.clock_ms.first, 60_030);
}

#[test]
fn a_person_who_never_moves_makes_the_game_void() {
    let mut table = Table::new(casual(), HUMANS);
    assert_eq!(table.state.next_deadline(), Some(table.now + FIRST_MOVE_MAX));
    table.play(4);
    table.pass(SECOND);
    table.wake();
    table.check_ended(GameResult::Void, EndReason::Aborted, Some(Side::Second));
}

#[test]
fn a_bot_waits_for_a_persons_first_move_unless_the_game_is_rated() {
    let kinds = BySide { first: PlayerKind::Human, second: PlayerKind::Bot };
    let mut table = Table::new(casual(), kinds);
    assert!(table.state.next_deadline().unwrap() > table.now + FIRST_MOVE_MAX);
    table.wake();
    table.check_ended(GameResult::Second, EndReason::Time, Some(Side::First));
    let rated = Table::new(spec("g1", "Ada", "Bob"), kinds);
    assert_eq!(rated.state.next_deadline(), Some(rated.now + FIRST_MOVE_MAX));
}

#[test]
fn a_game_without_a_clock_waits_for_a_person_as_long_as_for_a_move() {
    let kinds = BySide { first: PlayerKind::Guest, second: PlayerKind::Bot };
    for on_purpose in [true, false] {
        let mut table = Table::new(per_move(900_000), kinds);
        table.state.presence_changed(Side::First, false, on_purpose, table.now);
        assert_eq!(table.state.absence_ends(Side::First), Some(table.now + 900 * SECOND));
    }
}

#[test]
fn a_bot_has_its_whole_clock_for_the_first_move() {
    let mut table = Table::new(casual(), BOTS);
    table.wake();
    table.check_ended(GameResult::Second, EndReason::Time, Some(Side::First));
}

// --- ending by will ---

#[test]
fn resigning_loses_at_any_time() {
    let mut table = Table::new(casual(), HUMANS);
    let effects = table.resign(Side::Second);
    table.accept(effects);
    table.check_ended(GameResult::First, EndReason::Resign, Some(Side::Second));
}

#[test]
fn a_broken_bot_loses() {
    let mut table = Table::new(casual(), BOTS);
    let effects = table.state.fail(Side::First, table.now, NOON);
    table.accept(effects);
    table.check_ended(GameResult::Second, EndReason::BotFailed, Some(Side::First));
}

#[test]
fn a_game_can_be_aborted_until_both_have_moved() {
    let mut table = Table::new(with_opening("4455"), HUMANS);
    table.play(1);
    let mut other = table.clone();
    let effects = other.abort(Side::First);
    other.accept(effects);
    other.check_ended(GameResult::Void, EndReason::Aborted, Some(Side::First));
    table.play(1);
    assert_eq!(table.abort(Side::Second), Err(RoomRefusal::TooLateToAbort));
}

// --- absence ---

#[test]
fn an_absent_bot_loses_when_its_own_turn_has_lasted_too_long() {
    let mut table = Table::new(casual(), BOTS);
    let effects = table.lose(Side::Second);
    assert_eq!(effects, [Effect::Presence { side: Side::Second, here: false, claim_in: None }]);
    table.pass(20 * SECOND);
    let effects = table.play(4);
    let gone = Effect::Presence { side: Side::Second, here: false, claim_in: Some(BOT_ABSENCE_MAX) };
    assert_eq!(effects[1..], [Effect::Prompt(Side::Second), gone]);
    assert_eq!(table.state.next_deadline(), Some(table.now + BOT_ABSENCE_MAX));
    table.wake();
    table.check_ended(GameResult::First, EndReason::Left, Some(Side::Second));
}

#[test]
fn a_bot_that_comes_back_in_time_plays_on() {
    let mut table = Table::new(casual(), BOTS);
    table.lose(Side::First);
    table.pass(BOT_ABSENCE_MAX.checked_sub(SECOND).unwrap());
    table.arrive(Side::First);
    assert_eq!(table.state.wake(table.now + 2 * SECOND, NOON), Vec::new());
    table.play(4);
}

#[test]
fn an_absent_person_loses_only_by_a_claim_and_not_before_its_time() {
    let mut table = Table::new(casual(), HUMANS);
    table.play_all("44");
    table.lose(Side::First);
    assert_eq!(
        table.claim(Side::Second),
        Err(RoomRefusal::NothingToClaim { wait: Some(PERSON_ABSENCE_MIN) })
    );
    assert_eq!(table.claim(Side::First), Err(RoomRefusal::NothingToClaim { wait: None }));
    table.pass(PERSON_ABSENCE_MIN);
    assert_eq!(table.state.wake(table.now, NOON), Vec::new());
    let effects = table.claim(Side::Second);
    table.accept(effects);
    table.check_ended(GameResult::Second, EndReason::Left, Some(Side::First));
}

#[test]
fn nobody_can_be_claimed_from_while_the_opponent_is_to_move() {
    let mut table = Table::new(casual(), HUMANS);
    table.play_all("44");
    table.lose(Side::Second);
    table.pass(50 * SECOND);
    assert_eq!(table.claim(Side::First), Err(RoomRefusal::NothingToClaim { wait: None }));
}

#[test]
fn whoever_left_on_purpose_has_less_time_and_slow_games_give_more() {
    let check = |spec: GameSpec, on_purpose, expected: Duration| {
        let mut table = Table::new(spec, HUMANS);
        let effects = table.state.presence_changed(Side::First, false, on_purpose, table.now);
        let gone = Effect::Presence { side: Side::First, here: false, claim_in: Some(expected) };
        assert_eq!(effects, [gone]);
    };
    let slow = |bank_ms| GameSpec {
        time: TimeControl { bank_ms: Some(bank_ms), increment_ms: 0, move_ms: None },
        ..casual()
    };
    check(casual(), true, LEFT_ON_PURPOSE_MAX);
    check(slow(120_000), false, PERSON_ABSENCE_MIN);
    check(slow(120_001), false, 2 * PERSON_ABSENCE_MIN);
    check(slow(480_001), false, 4 * PERSON_ABSENCE_MIN);
    check(per_move(30_000), false, 4 * PERSON_ABSENCE_MIN);
    let increments = TimeControl { bank_ms: Some(100_000), increment_ms: 2_000, move_ms: None };
    check(GameSpec { time: increments, ..casual() }, false, 2 * PERSON_ABSENCE_MIN);
}

#[test]
fn only_a_bot_at_an_unhurried_game_waits_for_a_person_as_long_as_for_a_move() {
    const MOVE_MS: u32 = 3_600_000;
    let check = |spec: GameSpec, opponent, expected: Duration| {
        let kinds = BySide { first: PlayerKind::Human, second: opponent };
        let mut table = Table::new(spec, kinds);
        table.play_all("44");
        table.lose(Side::First);
        assert_eq!(table.state.absence_ends(Side::First), Some(table.now + expected));
    };
    check(per_move(MOVE_MS), PlayerKind::Bot, Duration::from_millis(MOVE_MS.into()));
    check(per_move(MOVE_MS), PlayerKind::Human, 4 * PERSON_ABSENCE_MIN);
    check(casual(), PlayerKind::Bot, PERSON_ABSENCE_MIN);
}

#[test]
fn two_guests_who_do_not_come_back_leave_no_room_behind() {
    let guests = BySide { first: PlayerKind::Guest, second: PlayerKind::Guest };
    let mut table = Table::new(casual(), guests);
    table.play_all("44");
    table.lose(Side::First);
    assert_eq!(table.state.unclaimed_absence_ends(Side::First), None, "the other guest is there to claim");
    table.lose(Side::Second);
    assert_eq!(table.state.unclaimed_absence_ends(Side::First), Some(table.now + PERSON_ABSENCE_MIN));
    table.wake();
    table.check_ended(GameResult::Second, EndReason::Left, Some(Side::First));

    let of_a_person = BySide { first: PlayerKind::Guest, second: PlayerKind::Human };
    let mut of_a_person = Table::new(casual(), of_a_person);
    of_a_person.play_all("44");
    of_a_person.lose(Side::First);
    of_a_person.lose(Side::Second);
    assert_eq!(of_a_person.state.unclaimed_absence_ends(Side::First), None, "a person may claim for a day");
}

// --- a daemon that stood still ---

#[test]
fn a_pause_is_nobodys_time_and_nobodys_absence() {
    let mut table = Table::new(casual(), HUMANS);
    table.play_all("44");
    table.lose(Side::First);
    let absent_until = table.state.absence_ends(Side::First).unwrap();
    let pause = Pause { from: table.now + SECOND, until: table.now + 8 * SECOND };
    table.now = pause.until;
    assert_eq!(table.state.give_back(pause), [Effect::GivenBack(7 * SECOND)]);
    assert_eq!(table.clock_ms(), (60_000, 61_000), "the second before it is charged");
    assert_eq!(table.state.absence_ends(Side::First), Some(absent_until + 7 * SECOND));

    table.send(Side::First, 2, 3).0.unwrap();
    let more = Pause { from: table.now, until: table.now + SECOND };
    assert_eq!(table.state.give_back(more), [], "nothing is told while a move is being stored");
    table.commit();
    let effects = table.resign(Side::First);
    table.accept(effects);
    assert_eq!(table.state.give_back(more), [], "and nothing after the end");
}

#[test]
fn a_pause_makes_a_freeze_longer_that_it_falls_into() {
    let mut table = Table::new(casual(), HUMANS).restarted();
    let frozen = |table: &Table| table.state.frozen_for(table.now);
    assert_eq!(frozen(&table), Some(RESTART_FREEZE_MAX));
    let within = Pause { from: table.now + SECOND, until: table.now + 4 * SECOND };
    assert_eq!(table.state.give_back(within), [], "no clock runs");
    assert_eq!(frozen(&table), Some(RESTART_FREEZE_MAX + 3 * SECOND));
    let after = Pause { from: table.now + 2 * RESTART_FREEZE_MAX, until: table.now + 3 * RESTART_FREEZE_MAX };
    assert_eq!(table.state.give_back(after), []);
    assert_eq!(frozen(&table), Some(RESTART_FREEZE_MAX + 3 * SECOND));
}

// --- restart ---

#[test]
fn after_a_restart_the_clock_waits_for_the_side_to_move_and_both_get_ten_seconds_once() {
    let mut table = Table::new(casual(), HUMANS);
    table.play_all("44");
    let mut table = table.restarted();
    assert_eq!(table.state.event_seq(), 2);
    table.arrive(Side::Second);
    table.pass(20 * SECOND);
    assert_eq!(table.state.frozen_for(table.now), Some(40 * SECOND));
    assert_eq!(table.clock_ms(), (61_000, 61_000), "nobody's clock runs, and the bonus is not given yet");
    let effects = table.arrive(Side::First);
    assert!(effects.contains(&Effect::Prompt(Side::First)), "{effects:?}");
    assert_eq!((table.state.frozen_for(table.now), table.clock_ms()), (None, (71_000, 71_000)));
    table.play_all("33");
    assert_eq!(table.clock_ms(), (72_000, 72_000));
}

#[test]
fn a_freeze_holds_for_each_side_and_ends_after_a_minute() {
    let mut table = Table::new(casual(), HUMANS);
    table.play_all("44");
    let mut table = table.restarted();
    table.arrive(Side::First);
    table.pass(SECOND);
    let effects = table.play(4);
    assert_eq!(effects[1..], [Effect::Prompt(Side::Second)]);
    assert_eq!(table.state.frozen_for(table.now), Some(59 * SECOND), "the other side is not back yet");
    assert_eq!(table.claim(Side::First), Err(RoomRefusal::NothingToClaim { wait: None }));
    let effects = table.wake();
    assert_eq!(effects[0], Effect::Prompt(Side::Second));
    assert!(matches!(effects[1], Effect::Presence { side: Side::Second, here: false, claim_in: Some(_) }));
    assert_eq!(table.state.frozen_for(table.now), None);
    table.pass(PERSON_ABSENCE_MIN);
    let effects = table.claim(Side::First);
    table.accept(effects);
}

#[test]
fn whoever_moves_is_back() {
    let mut table = Table::new(casual(), BOTS).restarted();
    table.pass(5 * SECOND);
    table.play(4);
    assert_eq!(table.clock_ms().0, 71_000, "bank, bonus and increment");
}

#[test]
fn a_side_that_returns_while_a_refused_write_waited_gets_its_turn() {
    let mut table = Table::new(casual(), HUMANS);
    table.play_all("44");
    let mut table = table.restarted();
    table.resign(Side::Second).unwrap();
    table.arrive(Side::First);
    let effects = table.state.not_stored(table.now);
    assert!(effects.contains(&Effect::Prompt(Side::First)), "{effects:?}");
    assert!(table.state.next_deadline().is_some(), "its clock runs");
}

#[test]
fn a_refused_write_leaves_a_frozen_and_a_held_clock_as_they_are() {
    let mut frozen = Table::new(casual(), HUMANS).restarted();
    frozen.resign(Side::Second).unwrap();
    assert_eq!(frozen.state.not_stored(frozen.now), []);
    assert_eq!(frozen.state.frozen_for(frozen.now), Some(RESTART_FREEZE_MAX));

    let mut held = Table::new(casual(), BOTS);
    held.state.hold(Side::First, held.now);
    let until = held.state.held_until();
    held.resign(Side::Second).unwrap();
    assert_eq!(held.state.not_stored(held.now), [Effect::Prompt(Side::First)]);
    assert!(until.is_some() && held.state.held_until() == until, "it still waits for its thread");
}

#[test]
fn a_planned_stop_stores_the_clocks_as_they_stand() {
    let mut table = Table::new(casual(), BOTS);
    table.pass(7 * SECOND);
    let effects = table.state.pause(table.now, NOON);
    assert!(matches!(effects[..], [Effect::Store(_)]));
    assert_eq!(table.commit(), Vec::new(), "nobody is asked for a move any more");
    assert_eq!(table.clock_ms(), (53_000, 60_000));
    let mut table = table.restarted();
    table.pass(3_600 * SECOND);
    assert_eq!(table.clock_ms(), (53_000, 60_000));
}

fn stored(events: Vec<StoredEvent>) -> StoredGame {
    StoredGame { spec: casual(), events, settlement: None }
}

#[track_caller]
fn check_unreadable(stored: StoredGame, expected: &str) {
    let error =
        RoomState::restore(stored, HUMANS, Instant::now(), UnixMillis(0), &BySide::default()).unwrap_err();
    assert_eq!(error, expected);
}

#[test]
fn games_that_cannot_be_are_not_taken_up() {
    use crate::storage::conformance::{event, moves, whole_game};
    let mut hole = moves("44");
    hole[1].seq = 3;
    check_unreadable(stored(hole), "event 3 follows event 1");
    check_unreadable(stored(moves("4444444")), "column 4 is full");
    check_unreadable(stored(moves(FIRST_WINS)), "the board is decided, but the game has no end");
    let mut after_the_end = whole_game("44", GameResult::First, EndReason::Resign);
    after_the_end.push(event(4, EventKind::Paused));
    check_unreadable(stored(after_the_end), "event 4 follows the end of the game");
    let takeback = vec![event(1, EventKind::Takeback { plies: 1 })];
    let opened = StoredGame { spec: with_opening("44"), events: takeback, settlement: None };
    check_unreadable(opened, "1 moves are taken back and 0 were played");
    let decided = StoredGame { spec: with_opening(FIRST_WINS), events: Vec::new(), settlement: None };
    check_unreadable(decided, "the game is over after these moves");
}

#[test]
fn a_finished_game_is_shown_as_it_ended() {
    use crate::storage::conformance::whole_game;
    let events = whole_game("44", GameResult::First, EndReason::Resign);
    let settlement = Settlement { number: 9, ..Settlement::default() };
    let game = StoredGame { settlement: Some(settlement.clone()), ..stored(events) };
    let state = RoomState::replayed(game, HUMANS, Instant::now()).unwrap();
    let (ending, settled) = state.end().unwrap();
    assert_eq!((ending.reason, settled), (EndReason::Resign, &settlement));
}

// --- takebacks and rematches ---

#[test]
fn one_ply_goes_back_if_the_opponent_has_not_answered_and_two_if_it_has() {
    let check = |moves: &str, asker: Side, left: &str| {
        let mut table = Table::new(casual(), HUMANS);
        table.play_all(moves);
        assert_eq!(table.state.ask_takeback(asker), Ok(vec![Effect::TakebackOffered(asker)]));
        let effects = table.answer(asker.opponent(), true);
        let effects = table.accept(effects);
        assert_eq!(effects, [Effect::Resnapshot, Effect::Prompt(asker)]);
        assert_eq!(table.state.game().notation(), left);
        assert_eq!(table.restarted().state.game().notation(), left, "and it is stored so");
    };
    check("4", Side::First, "");
    check("434", Side::First, "43");
    check("434", Side::Second, "4");
    check("43", Side::First, "");
}

#[test]
fn a_takeback_needs_a_casual_game_people_a_move_and_an_offer() {
    let refused = |table: &mut Table, side| match table.state.ask_takeback(side) {
        Err(RoomRefusal::NoTakeback(why)) => why,
        other => panic!("{other:?}"),
    };
    let mut rated = Table::new(spec("g1", "Ada", "Bob"), HUMANS);
    rated.play_all("44");
    assert_eq!(refused(&mut rated, Side::First), "rated games have no takebacks");
    let mut bots = Table::new(casual(), BOTS);
    bots.play_all("44");
    assert_eq!(refused(&mut bots, Side::First), "only people take moves back");
    let mut mixed = Table::new(casual(), BySide { first: PlayerKind::Guest, second: PlayerKind::Bot });
    mixed.play_all("44");
    assert_eq!(refused(&mut mixed, Side::Second), "only people take moves back");
    assert_eq!(mixed.state.ask_takeback(Side::First), Ok(vec![Effect::TakebackOffered(Side::First)]));
    let mut casual = Table::new(casual(), HUMANS);
    casual.play(4);
    assert_eq!(refused(&mut casual, Side::Second), "you have not moved yet");
    let nobody_asked = Err(RoomRefusal::NoTakeback("your opponent did not ask for a move back"));
    assert_eq!(casual.answer(Side::Second, true), nobody_asked);
    casual.state.ask_takeback(Side::First).unwrap();
    assert_eq!(casual.state.ask_takeback(Side::First), Ok(Vec::new()), "asked already");
    assert_eq!(casual.answer(Side::First, true), nobody_asked, "nobody answers for the other");
    let refused = Ok(vec![Effect::TakebackRefused(Side::Second)]);
    assert_eq!(casual.answer(Side::Second, false), refused, "the asker is told");
    assert_eq!(casual.answer(Side::Second, true), nobody_asked, "declined");
    casual.state.ask_takeback(Side::First).unwrap();
    casual.play(4);
    assert_eq!(casual.answer(Side::Second, true), nobody_asked, "a move is an answer, too");
}

#[test]
fn a_takeback_in_a_game_without_a_bank_gives_the_turn_its_full_time() {
    let mut table = Table::new(per_move(10_000), HUMANS);
    table.play(4);
    table.pass(9 * SECOND);
    table.state.ask_takeback(Side::First).unwrap();
    let effects = table.answer(Side::Second, true);
    table.accept(effects);
    table.play(4);
    assert_eq!(table.state.budget(table.now), 10 * SECOND);
}

#[test]
fn a_rematch_needs_both_after_the_end_and_at_the_table() {
    let mut table = Table::new(casual(), HUMANS);
    assert_eq!(table.state.ask_rematch(Side::First), Err(RoomRefusal::NotOver));
    table.play_all(FIRST_WINS);
    assert_eq!(table.state.ask_rematch(Side::First), Ok(vec![Effect::RematchOffered(Side::First)]));
    assert_eq!(table.state.ask_rematch(Side::First), Ok(Vec::new()), "asked already");
    table.lose(Side::First);
    assert_eq!(table.state.ask_rematch(Side::Second), Ok(vec![Effect::RematchOffered(Side::Second)]));
    table.arrive(Side::First);
    assert_eq!(table.state.ask_rematch(Side::First), Ok(vec![Effect::RematchAgreed]));
    assert_eq!(table.state.ask_rematch(Side::Second), Ok(Vec::new()), "agreed already");
}

#[test]
fn games_of_a_series_have_no_rematch() {
    let pair = Some(GamePair { id: "p1".parse().unwrap(), leg: 1, of: 2 });
    let mut table = Table::new(GameSpec { pair, ..casual() }, HUMANS);
    table.play_all(FIRST_WINS);
    assert!(matches!(table.state.ask_rematch(Side::First), Err(RoomRefusal::NotAllowed(_))));
}

// --- anything at all ---

/// Something that may happen to a room.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Move { side: Side, ply_off: i8, column: i64 },
    Resign(Side),
    Abort(Side),
    Claim(Side),
    Fail(Side),
    AskTakeback(Side),
    AnswerTakeback(Side, bool),
    Rematch(Side),
    Here(Side),
    Away(Side, bool),
    Pass(u64),
    Wake,
    Commit,
    Refuse,
    Pause,
    Restart,
}

fn any_side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::First), Just(Side::Second)]
}

fn any_deed() -> impl Strategy<Value = Deed> {
    let side = any_side;
    prop_oneof![
        30 => (side(), -3_i8..2, -1_i64..9).prop_map(|(side, ply_off, column)| Deed::Move { side, ply_off, column }),
        30 => (side(), 1_i64..8).prop_map(|(side, column)| Deed::Move { side, ply_off: 0, column }),
        30 => Just(Deed::Commit),
        4 => Just(Deed::Refuse),
        10 => (0_u64..40_000).prop_map(Deed::Pass),
        10 => Just(Deed::Wake),
        1 => side().prop_map(Deed::Resign),
        1 => side().prop_map(Deed::Abort),
        2 => side().prop_map(Deed::Claim),
        1 => side().prop_map(Deed::Fail),
        4 => side().prop_map(Deed::AskTakeback),
        4 => (side(), any::<bool>()).prop_map(|(side, yes)| Deed::AnswerTakeback(side, yes)),
        2 => side().prop_map(Deed::Rematch),
        4 => side().prop_map(Deed::Here),
        3 => (side(), any::<bool>()).prop_map(|(side, on_purpose)| Deed::Away(side, on_purpose)),
        1 => Just(Deed::Pause),
        1 => Just(Deed::Restart),
    ]
}

impl Table {
    fn suffer(&mut self, deed: Deed) -> Effects {
        let (now, at) = (self.now, NOON);
        let effects = match deed {
            Deed::Move { side, ply_off, column } => {
                let ply = self.state.game().ply().saturating_add_signed(ply_off.into());
                return self.send(side, ply, column).1;
            }
            Deed::Resign(side) => self.resign(side),
            Deed::Abort(side) => self.abort(side),
            Deed::Claim(side) => self.claim(side),
            Deed::Fail(side) => self.state.fail(side, now, at),
            Deed::AskTakeback(side) => self.state.ask_takeback(side),
            Deed::AnswerTakeback(side, yes) => self.answer(side, yes),
            Deed::Rematch(side) => self.state.ask_rematch(side),
            Deed::Here(side) => Ok(self.arrive(side)),
            Deed::Away(side, on_purpose) => Ok(self.state.presence_changed(side, false, on_purpose, now)),
            Deed::Pass(ms) => {
                self.pass(Duration::from_millis(ms));
                Ok(Vec::new())
            }
            Deed::Wake => Ok(self.state.wake(now, at)),
            Deed::Commit if self.state.is_storing() => Ok(self.commit()),
            Deed::Refuse if self.state.is_storing() => Ok(self.state.not_stored(now)),
            Deed::Commit | Deed::Refuse => Ok(Vec::new()),
            Deed::Pause => Ok(self.state.pause(now, at)),
            Deed::Restart => {
                *self = self.restarted();
                Ok(Vec::new())
            }
        };
        effects.unwrap_or_default()
    }

    /// What must hold whatever happened.
    fn check_invariants(&self) {
        let (log, state) = (&self.log, &self.state);
        assert!((1..).zip(log).all(|(seq, event)| event.seq == seq), "a hole in {log:?}");
        assert_eq!(state.seq as usize, log.len());
        let public = log.iter().filter(|event| event.kind.is_public()).count();
        assert_eq!(state.event_seq() as usize, public, "players see no holes");
        let ends = log.iter().filter(|event| matches!(event.kind, EventKind::Finished(_))).count();
        assert_eq!(ends, usize::from(state.end().is_some()), "exactly one end");
        assert!(state.end().is_none() || !state.is_storing());
        let opening = state.spec().opening.moves.len();
        assert_eq!(state.game().moves().len(), opening + state.history.len());
        let waits = state.is_storing() || state.end().is_some() || self.is_paused();
        assert!(waits || state.next_deadline().is_some(), "somebody's time always runs");
    }

    fn is_paused(&self) -> bool {
        matches!(self.log.last().map(|event| &event.kind), Some(EventKind::Paused))
    }

    /// What is stored says the same as what is shown.
    fn check_replay(&self) {
        let settlement = self.state.end().map(|(_, settlement)| settlement.clone());
        let stored = StoredGame { spec: self.state.spec().clone(), events: self.log.clone(), settlement };
        let replayed = RoomState::replayed(stored, self.state.kinds, self.now).unwrap();
        assert_eq!(replayed.game(), self.state.game());
        assert_eq!(replayed.history, self.state.history);
        assert_eq!((replayed.event_seq(), replayed.end()), (self.state.event_seq(), self.state.end()));
    }
}

fn any_time() -> impl Strategy<Value = TimeControl> {
    prop_oneof![
        Just(TimeControl { bank_ms: Some(60_000), increment_ms: 1_000, move_ms: None }),
        Just(TimeControl { bank_ms: Some(30_000), increment_ms: 0, move_ms: Some(5_000) }),
        Just(TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(10_000) }),
    ]
}

/// Most that either clock may have gained by one deed.
fn gain_max(time: TimeControl) -> Duration {
    let turn = if time.bank_ms.is_none() { Duration::from_secs(10) } else { Duration::ZERO };
    Duration::from_millis(time.increment_ms.into()) + RESTART_BONUS + turn
}

proptest! {
    #[test]
    fn whatever_happens_the_table_stays_in_order(
        deeds in prop::collection::vec(any_deed(), 1..200),
        kinds in prop_oneof![Just(HUMANS), Just(BOTS)],
        time in any_time(),
        opening in prop_oneof![Just(""), Just("44"), Just("123")],
    ) {
        let mut table = Table::new(GameSpec { time, ..with_opening(opening) }, kinds);
        for deed in deeds {
            let (seq, clock) = (table.state.event_seq(), table.state.clock(table.now));
            let effects = table.suffer(deed);
            table.check_invariants();
            prop_assert!(table.state.event_seq() >= seq);
            let stores = effects.iter().filter(|effect| matches!(effect, Effect::Store(_))).count();
            prop_assert!(stores <= 1 && (stores == 0 || table.state.is_storing()));
            // A refused write takes back what was charged for it.
            if !matches!(deed, Deed::Restart | Deed::Refuse) {
                let after = table.state.clock(table.now);
                for side in Side::BOTH {
                    prop_assert!(after[side] <= clock[side] + gain_max(time), "{deed:?}: {clock:?} {after:?}");
                }
            }
        }
        if table.state.is_storing() {
            table.commit();
        }
        table.check_replay();
    }
}

#[test]
fn a_side_that_the_server_keeps_waiting_pays_for_its_own_time_only() {
    let mut table = Table::new(casual(), BOTS);
    table.play(4);
    assert_eq!(table.state.hold(Side::Second, table.now), []);
    let before = table.state.clock(table.now);
    table.pass(200 * SECOND);
    assert_eq!(table.state.clock(table.now), before);
    assert_eq!(table.state.wake(table.now, NOON), [], "no flag falls");
    assert_eq!(table.state.release(Side::Second, table.now), [Effect::Resnapshot]);
    table.pass(SECOND);
    table.play(4);
    let played = table.state.history.last().unwrap();
    assert_eq!((played.spent_ms, played.credited_ms), (1_000, 0));
    assert_eq!(
        table.restarted().state.clock(table.now).second,
        Duration::from_millis(played.clock_ms.second)
    );
}

#[test]
fn a_clock_is_held_for_the_side_to_move_only_and_not_for_ever() {
    let mut table = Table::new(casual(), BOTS);
    assert_eq!(table.state.hold(Side::Second, table.now), []);
    assert_eq!(table.state.release(Side::First, table.now), []);
    table.pass(SECOND);
    table.play(4);
    assert_eq!(table.state.history[0].spent_ms, 1_000, "nobody was held");
    assert_eq!(table.state.hold(Side::Second, table.now), []);
    let until = table.state.next_deadline().unwrap();
    table.now = until;
    assert_eq!(table.state.wake(until, NOON), [Effect::Resnapshot]);
    assert!(table.state.next_deadline() > Some(until), "the flag is next");
    assert_eq!(table.state.release(Side::Second, until), [], "released once");
}

#[test]
fn nothing_is_held_or_released_while_an_event_is_stored_nor_after_the_end() {
    let mut table = Table::new(casual(), BOTS);
    table.send(Side::First, 0, 4).0.unwrap();
    table.state.hold(Side::First, table.now);
    assert_eq!(table.state.held_until(), None, "its move is being stored");
    table.commit();
    table.state.hold(Side::Second, table.now);
    let until = table.state.held_until();
    assert!(until.is_some());
    assert_eq!(table.state.release(Side::First, table.now + SECOND), [], "it is not its turn");
    assert_eq!(table.state.held_until(), until);
    table.resign(Side::First).unwrap();
    assert_eq!(table.state.release(Side::Second, table.now + SECOND), [], "the end is being stored");
    table.commit();
    assert_eq!(table.state.release(Side::Second, table.now + SECOND), [], "the game is over");
    table.state.hold(Side::Second, table.now);
    assert_eq!(table.state.held_until(), until, "nothing begins after the end");

    let mut frozen = Table::new(casual(), BOTS).restarted();
    frozen.state.hold(Side::First, frozen.now);
    assert_eq!(frozen.state.held_until(), None, "its clock does not run");
}

#[test]
fn half_a_second_of_waiting_is_told() {
    for (ms, told) in [(499, &[][..]), (500, &[Effect::Resnapshot][..])] {
        let mut table = Table::new(casual(), BOTS);
        table.state.hold(Side::First, table.now);
        table.pass(Duration::from_millis(ms));
        assert_eq!(table.state.release(Side::First, table.now), told);
    }
}

const PEOPLE: BySide<PlayerKind> = BySide { first: PlayerKind::Human, second: PlayerKind::Human };
const DAY: Duration = Duration::from_hours(24);
/// Three days for each move.
const DAYS_MS: u32 = 3 * 86_400_000;

#[test]
fn nobody_waits_at_a_board_by_correspondence() {
    let mut table = Table::new(per_move(DAYS_MS), PEOPLE);
    table.lose(Side::First);
    table.pass(DAY);
    assert!(table.state.claim(Side::Second, table.now, table.at).is_err(), "absence is nothing to claim");
    assert!(table.state.wake(table.now, table.at).is_empty(), "the first move may take days too");
    table.play(4);
    table.lose(Side::Second);
    table.pass(2 * DAY);
    table.play(4);
    assert_eq!(table.state.history.last().unwrap().spent_ms, 2 * 86_400_000);
}

#[test]
fn whoever_lets_the_days_pass_loses_on_time() {
    let mut table = Table::new(per_move(DAYS_MS), PEOPLE);
    table.play(4);
    table.pass(Duration::from_hours(72).saturating_sub(SECOND));
    assert!(table.state.wake(table.now, table.at).is_empty());
    table.pass(2 * SECOND);
    let effects = table.state.wake(table.now, table.at);
    assert!(matches!(effects[..], [Effect::Store(_)]), "{effects:?}");
    table.commit();
    let (ending, _) = table.state.end().unwrap();
    assert_eq!((ending.reason, ending.by), (EndReason::Time, Some(Side::Second)));
}

#[test]
fn days_pass_while_no_process_has_the_game() {
    let mut table = Table::new(per_move(DAYS_MS), PEOPLE);
    table.play(4);
    assert!(table.state.pause(table.now, table.at).is_empty(), "clocks do not stand while the daemon does");
    // The machine is new: its clock began a moment ago, the one on the wall goes on.
    table.pass(2 * DAY);
    let mut table = table.restarted();
    table.state.begin(table.now);
    assert_eq!(table.state.budget(table.now), DAY);
    assert_eq!(table.state.frozen_for(table.now), None);
    // Down beyond the limit: an hour is left, and no more than that.
    table.pass(5 * DAY);
    let mut table = table.restarted();
    table.state.begin(table.now);
    assert_eq!(table.state.budget(table.now), crate::play::correspondence::RESTART_LEAST);
    table.play(4);
    assert_eq!(table.state.budget(table.now), 3 * DAY, "the next move has its days again");
}

#[test]
fn a_wall_that_was_set_back_charges_nobody() {
    let mut table = Table::new(per_move(DAYS_MS), PEOPLE);
    table.pass(DAY);
    table.play(4);
    table.at = UnixMillis(0);
    let mut table = table.restarted();
    table.state.begin(table.now);
    assert_eq!(table.state.budget(table.now), 3 * DAY);
}

impl Table {
    /// A side takes a vacation of so many days, and the store knows.
    fn take_vacation(&mut self, side: Side, days: u32) -> Effects {
        self.vacations[side].push(Vacation::of_days(days, self.at));
        self.state.take_vacation(side, Some(DAY * days), self.now)
    }

    fn end_vacation(&mut self, side: Side) -> Effects {
        self.vacations[side].last_mut().unwrap().until = self.at;
        self.state.take_vacation(side, None, self.now)
    }
}

#[test]
fn a_clock_stands_while_its_player_has_a_vacation() {
    let mut table = Table::new(per_move(DAYS_MS), PEOPLE);
    table.play(4);
    table.pass(DAY);
    assert_eq!(table.take_vacation(Side::First, 28), [], "it is the other's turn");
    assert_eq!(table.take_vacation(Side::Second, 7), [Effect::Resnapshot]);
    assert_eq!(table.state.frozen_for(table.now), Some(7 * DAY));
    table.pass(6 * DAY);
    assert_eq!(table.state.budget(table.now), 2 * DAY);
    assert!(table.state.wake(table.now, table.at).is_empty());
    let mut table = table.restarted();
    table.state.begin(table.now);
    assert_eq!((table.state.budget(table.now), table.state.frozen_for(table.now)), (2 * DAY, Some(DAY)));
    table.pass(2 * DAY);
    assert_eq!((table.state.budget(table.now), table.state.frozen_for(table.now)), (DAY, None));
    table.play(4);
    assert_eq!(table.state.frozen_for(table.now), Some(20 * DAY), "now it is the turn of the other one");
    table.pass(5 * DAY);
    assert_eq!(table.end_vacation(Side::First), [Effect::Resnapshot]);
    assert_eq!(table.state.budget(table.now), 3 * DAY);
    table.pass(3 * DAY + SECOND);
    let effects = table.state.wake(table.now, table.at);
    assert!(matches!(effects[..], [Effect::Store(_)]), "{effects:?}");
}

#[test]
fn a_vacation_is_for_correspondence_alone() {
    let mut table = Table::new(per_move(60_000), PEOPLE);
    assert_eq!(table.take_vacation(Side::First, 7), []);
    table.pass(Duration::from_mins(2));
    assert!(!table.state.wake(table.now, table.at).is_empty());
}

impl Table {
    /// A side has said so in advance, and plays it if it is due; whether something was stored.
    fn plays_what_was_said(&mut self) -> bool {
        let effects = self.state.play_conditional(self.now, self.at);
        let is_played = matches!(effects[..], [Effect::Store(_)]);
        assert!(is_played || effects.is_empty(), "{effects:?}");
        if is_played {
            self.commit();
        }
        is_played
    }
}

fn lines(text: &str) -> ConditionalMoves {
    text.parse().unwrap()
}

#[test]
fn what_was_said_in_advance_is_played_at_once_and_costs_no_time() {
    let mut table = Table::new(per_move(DAYS_MS), PEOPLE);
    table.play(4);
    table.state.set_conditional(Side::First, Some(lines("4 3435 11")));
    assert!(!table.plays_what_was_said(), "the opponent is to move");
    table.pass(DAY);
    table.play(3);
    table.pass(SECOND);
    assert!(table.plays_what_was_said() && !table.plays_what_was_said());
    assert_eq!(table.state.game.notation(), "434");
    assert_eq!(table.state.history.last().unwrap().spent_ms, 1_000);
    table.play(3);
    assert!(table.plays_what_was_said());
    table.play(1);
    assert!(!table.plays_what_was_said(), "nothing was said of that");
    assert_eq!(table.state.game.notation(), "434351");
}

#[test]
fn what_was_said_before_a_crash_is_played_after_it() {
    let mut table = Table::new(per_move(DAYS_MS), PEOPLE);
    table.play(4);
    table.play(4);
    let mut table = table.restarted();
    let conditional = BySide { first: Some(lines("4 43")), second: None };
    table.state = table.state.with_conditional(conditional);
    table.state.begin(table.now);
    assert!(table.plays_what_was_said());
    assert_eq!(table.state.game.notation(), "443");
}

#[test]
fn what_does_not_fit_is_forgotten_and_the_player_decides() {
    let mut table = Table::new(per_move(DAYS_MS), PEOPLE);
    for column in [4, 4, 4, 4, 4, 4, 1] {
        table.play(column);
    }
    table.state.set_conditional(Side::Second, Some(lines("444444 14")));
    assert!(!table.plays_what_was_said(), "the column is full");
    assert_eq!(table.state.illegal_moves(Side::Second), 0);
    table.play(2);
    let mut live = Table::new(per_move(60_000), PEOPLE);
    live.play(4);
    live.state.set_conditional(Side::Second, Some(lines(" 44")));
    assert!(!live.plays_what_was_said(), "it is for games by correspondence");
}

#[test]
fn a_standstill_costs_nobody_time_and_no_stone_is_played() {
    let mut table = Table::new(casual(), PEOPLE);
    table.play_all("44");
    table.pass(3 * SECOND);
    assert_eq!(table.state.stand_still(Standstill::Begins, table.now), [Effect::Resnapshot]);
    assert_eq!(table.state.stand_still(Standstill::Begins, table.now), [], "it stands already");
    let before = table.clock_ms();
    table.pass(600 * SECOND);
    assert_eq!(table.clock_ms(), before);
    assert_eq!(table.state.wake(table.now, table.at), [], "no flag falls");
    let (refused, effects) = table.send(Side::First, 2, 4);
    assert_eq!((refused, effects), (Err(RoomRefusal::StandsStill), Vec::new()));
    table.lose(Side::First);
    table.pass(120 * SECOND);
    assert!(table.state.frozen_for(table.now).is_some());
    assert_eq!(table.state.stand_still(Standstill::Ends, table.now), [Effect::Resnapshot]);
    assert_eq!(table.state.stand_still(Standstill::Ends, table.now), []);
    assert_eq!((table.clock_ms(), table.state.frozen_for(table.now)), (before, None));
    let missed = table.state.absence_ends(Side::First).unwrap();
    assert!(missed >= table.now + PERSON_ABSENCE_MIN, "nobody was missed meanwhile");
    table.arrive(Side::First);
    table.pass(SECOND);
    table.play(4);
    assert_eq!(table.state.history[2].spent_ms, 4_000, "what was used before still counts");
}

#[test]
fn a_standstill_waits_for_the_store_and_ends_by_itself() {
    let mut table = Table::new(casual(), PEOPLE);
    table.play(4);
    table.send(Side::Second, 1, 4).0.unwrap();
    table.state.stand_still(Standstill::Begins, table.now);
    assert!(table.commit().contains(&Effect::Resnapshot), "the next turn begins standing");
    let before = table.clock_ms();
    table.pass(80 * 60 * SECOND);
    assert_eq!((table.clock_ms(), table.state.wake(table.now, table.at)), (before, Vec::new()));
    table.pass(10 * 60 * SECOND + SECOND);
    assert_eq!(table.state.frozen_for(table.now), None);
    table.play(4);
    table.resign(Side::Second).unwrap();
    table.commit();
    assert_eq!(table.state.stand_still(Standstill::Begins, table.now), [], "the game is over");
}
