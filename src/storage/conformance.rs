//! One suite for all back ends.
//!
//! A back end says how to create and reopen an empty store ([`Fixture`]) and calls [`conformance_suite`] in its tests.

use std::collections::HashMap;
use std::sync::Arc;

use fourfold_engine::{BySide, Column, Side, Variant, WinDrawLoss};

use super::chain::then_game;
use super::games::GameOutline;
use super::moderation::Because;
use super::record::BotProfile;
use super::record::Ending;
use super::record::EventKind;
use super::record::GamePair;
use super::record::GameSpec;
use super::record::OpeningSource;
use super::record::StoredEvent;
use super::record::StoredGame;
use super::record::StoredMove;
use super::record::StoredPlayer;
use super::record::StoredToken;
use super::record::TokenKind;
use super::record::TokenScope;
use super::record::UnratedReason;
use super::store::{GameQuery, IdleGuests, Refused, Store, Write, Written};
use crate::model::chain_hash::ChainHash;
use crate::model::clock::TimeControl;
use crate::model::device::Device;
use crate::model::ids::PlayerId;
use crate::model::opening::OpeningKind;
use crate::model::rating::elo::MilliElo;
use crate::model::rating::newcomers::Footing;
use crate::model::result::{EndReason, GameResult};
use crate::model::time::UnixMillis;

use crate::model::player::PlayerKind;
use crate::model::population::Population;
use crate::model::portrait::Portrait;

/// How the suite gets a store.
pub(crate) trait Fixture: Sized {
    /// Whether what it needs is on this machine. It says itself what is left out.
    fn is_available() -> bool {
        true
    }

    /// An empty one.
    async fn create() -> Self;

    fn store(&self) -> Arc<dyn Store>;

    /// The same one after a restart of the program.
    async fn reopen(self) -> Self;

    /// Has all logs stand as earlier versions left them: none packed, all their events as rows.
    async fn unpack(&self) {}
}

/// Makes a test of each check of each suite: what all back ends have in common.
macro_rules! conformance {
    ($fixture:ty) => {
        $crate::storage::conformance::conformance_of_games!($fixture);
        $crate::storage::conformance_of_attempts::conformance_of_attempts!($fixture);
        $crate::storage::conformance_of_bot_versions::conformance_of_bot_versions!($fixture);
        $crate::storage::conformance_of_choices::conformance_of_choices!($fixture);
        $crate::storage::conformance_of_follows::conformance_of_follows!($fixture);
        $crate::storage::conformance_of_judging::conformance_of_judging!($fixture);
        $crate::storage::conformance_of_learners::conformance_of_learners!($fixture);
        $crate::storage::conformance_of_left_sessions::conformance_of_left_sessions!($fixture);
        $crate::storage::conformance_of_links::conformance_of_links!($fixture);
        $crate::storage::conformance_of_mails::conformance_of_mails!($fixture);
        $crate::storage::conformance_of_vacations::conformance_of_vacations!($fixture);
        $crate::storage::conformance_of_moderation::conformance_of_moderation!($fixture);
        $crate::storage::conformance_of_operators::conformance_of_operators!($fixture);
        $crate::storage::conformance_of_packing::conformance_of_packing!($fixture);
        $crate::storage::conformance_of_privacy::conformance_of_privacy!($fixture);
        $crate::storage::conformance_of_pushes::conformance_of_pushes!($fixture);
        $crate::storage::conformance_of_ratings::conformance_of_ratings!($fixture);
        $crate::storage::conformance_of_reports::conformance_of_reports!($fixture);
        $crate::storage::conformance_of_studies::conformance_of_studies!($fixture);
        $crate::storage::conformance_of_tournaments::conformance_of_tournaments!($fixture);
        $crate::storage::conformance_of_webhooks::conformance_of_webhooks!($fixture);
    };
}
pub(crate) use conformance;

/// Makes a test of each check of a suite, for a back end that is on this machine.
macro_rules! checks {
    ($fixture:ty, $suite:ident: $($check:ident),+ $(,)?) => {
        $(
            #[tokio::test]
            async fn $check() {
                if <$fixture as $crate::storage::conformance::Fixture>::is_available() {
                    $crate::storage::$suite::$check::<$fixture>().await;
                }
            }
        )+
    };
}
pub(crate) use checks;

/// Makes a test of each check.
macro_rules! conformance_of_games {
    ($fixture:ty) => {
        $crate::storage::conformance::checks!($fixture, conformance:
            players_are_found_by_id_and_by_name_in_any_case,
            a_name_is_taken_in_any_case,
            profiles_and_passwords_change,
            a_guest_becomes_a_person_and_whoever_leaves_a_guest,
            bots_are_listed_by_house_and_by_owner,
            tokens_are_found_until_they_expire,
            tokens_are_revoked_one_by_one_or_all,
            old_sessions_make_room_and_tokens_of_bots_do_not,
            the_last_use_of_a_session_is_noted,
            a_new_password_ends_all_other_sessions,
            a_token_takes_the_place_of_another,
            an_owner_has_so_many_bots,
            whoever_leaves_has_no_credentials_and_gets_none,
            guests_whom_nobody_comes_back_to_make_room,
            a_game_is_read_back_as_it_was_written,
            events_must_follow_the_last_one,
            an_end_is_the_last_event_and_only_that,
            a_game_ends_once,
            games_need_players_and_an_id_of_their_own,
            a_refused_write_leaves_no_trace_and_hurts_no_other,
            a_batch_may_hold_a_whole_game,
            settlement_numbers_are_dense,
            finished_games_are_chained,
            whoever_aborts_or_leaves_is_listed,
            rated_games_move_both_ratings,
            games_that_do_not_count_leave_ratings_alone,
            a_repeated_game_does_not_count,
            leaderboards_list_whom_they_should,
            histories_hold_the_newest_points,
            pages_run_both_ways,
            outlines_say_what_whole_games_do,
            rated_games_of_a_pair_are_counted,
            live_games_survive_reopening,
            takebacks_count_for_the_moves,
            illegal_moves_are_counted_while_a_game_goes_on,
            what_was_said_in_advance_is_known_while_a_game_goes_on,
        );
    };
}
pub(crate) use conformance_of_games;

pub(crate) const NOON: UnixMillis = UnixMillis(1_750_000_000_000);

pub(crate) fn after_noon(ms: i64) -> UnixMillis {
    UnixMillis(NOON.0 + ms)
}

pub(crate) fn player_id(name: &str) -> PlayerId {
    format!("id{}", name.replace('-', "")).parse().unwrap()
}

pub(crate) fn player(name: &str, kind: PlayerKind) -> StoredPlayer {
    StoredPlayer {
        id: player_id(name),
        name: name.parse().unwrap(),
        kind,
        house: false,
        owner: None,
        profile: BotProfile::default(),
        portrait: Portrait::default(),
        created_at: NOON,
        ban: None,
        mute: None,
        start: None,
    }
}

pub(crate) fn add(player: StoredPlayer) -> Write {
    Write::AddPlayer { player, password: None }
}

pub(crate) fn because(reason: &str) -> Because {
    Because { reason: reason.to_owned(), by: "a test".to_owned(), at: NOON }
}

pub(crate) fn void(game: &str) -> Write {
    Write::VoidGame { game: game.parse().unwrap(), because: because("a test") }
}

pub(crate) fn spec(id: &str, first: &str, second: &str) -> GameSpec {
    GameSpec {
        id: id.parse().unwrap(),
        players: BySide { first: player_id(first), second: player_id(second) },
        variant: Variant::STANDARD,
        time: TimeControl { bank_ms: Some(60_000), increment_ms: 1_000, move_ms: None },
        rated: true,
        unrated_because: None,
        footing: None,
        versions: BySide::default(),
        opening: OpeningSource::default(),
        pair: None,
        started_at: NOON,
    }
}

pub(crate) fn event(seq: u32, kind: EventKind) -> StoredEvent {
    let left = 60_000 - u64::from(seq);
    StoredEvent {
        seq,
        kind,
        clock_ms: BySide { first: left, second: left + 1 },
        at: after_noon(i64::from(seq) * 1_000),
    }
}

pub(crate) fn moves(text: &str) -> Vec<StoredEvent> {
    let stored = |column| StoredMove { column, spent_ms: 7, credited_ms: 3, info: None };
    let columns: Vec<Column> = fourfold_engine::notation::parse_moves(text).unwrap();
    (1..).zip(columns).map(|(seq, column)| event(seq, EventKind::Move(stored(column)))).collect()
}

/// All events of a game that ends after these moves.
pub(crate) fn whole_game(text: &str, result: GameResult, reason: EndReason) -> Vec<StoredEvent> {
    let mut events = moves(text);
    let seq = u32::try_from(events.len()).unwrap() + 1;
    events.push(event(seq, EventKind::Finished(Ending { result, reason, by: None })));
    events
}

/// Column 1 of the first side, column 2 of the second: a line after seven stones.
pub(crate) const FIRST_WINS: &str = "1212121";
/// Another way to the same end.
pub(crate) const FIRST_WINS_TOO: &str = "7676767";

pub(crate) async fn write(store: &dyn Store, write: Write) -> Result<Written, Refused> {
    store.commit(&[write]).await.unwrap().pop().unwrap()
}

pub(crate) async fn add_players(store: &dyn Store, names: &[&str]) {
    for name in names {
        write(store, add(player(name, PlayerKind::Human))).await.unwrap();
    }
}

/// Plays a whole game and returns it as it is stored.
pub(crate) async fn play(
    store: &dyn Store,
    spec: GameSpec,
    moves: &str,
    result: GameResult,
    reason: EndReason,
) -> StoredGame {
    let id = spec.id.clone();
    let finish = Write::Finish { game: id.clone(), events: whole_game(moves, result, reason) };
    for answer in store.commit(&[Write::StartGame(spec), finish]).await.unwrap() {
        answer.unwrap();
    }
    store.game(&id).await.unwrap().unwrap()
}

pub(crate) async fn first_wins(store: &dyn Store, spec: GameSpec, moves: &str) -> StoredGame {
    play(store, spec, moves, GameResult::First, EndReason::Four).await
}

pub(crate) async fn players_are_found_by_id_and_by_name_in_any_case<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let ada = player("Ada", PlayerKind::Human);
    write(&*store, add(ada.clone())).await.unwrap();
    assert_eq!(store.player(&ada.id).await.unwrap(), Some(ada.clone()));
    assert_eq!(store.player_by_name(&"aDA".parse().unwrap()).await.unwrap(), Some(ada));
    assert_eq!(store.player_by_name(&"bob".parse().unwrap()).await.unwrap(), None);
    assert_eq!(store.player(&player_id("bob")).await.unwrap(), None);
    store.ping().await.unwrap();
}

pub(crate) async fn a_name_is_taken_in_any_case<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    let same = StoredPlayer { id: player_id("other"), ..player("ada", PlayerKind::Bot) };
    assert_eq!(write(&*store, add(same)).await, Err(Refused::NameTaken));
    let same_id = StoredPlayer { id: player_id("Ada"), ..player("bob", PlayerKind::Bot) };
    assert_eq!(write(&*store, add(same_id)).await, Err(Refused::IdTaken));
    let orphan = StoredPlayer { owner: Some(player_id("nobody")), ..player("bob", PlayerKind::Bot) };
    assert_eq!(write(&*store, add(orphan)).await, Err(Refused::NoSuchPlayer));
    assert_eq!(store.player_by_name(&"bob".parse().unwrap()).await.unwrap(), None);
}

pub(crate) async fn profiles_and_passwords_change<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let ada = player("Ada", PlayerKind::Human);
    let with_password = Write::AddPlayer { player: ada.clone(), password: Some("$old".into()) };
    write(&*store, with_password).await.unwrap();
    assert_eq!(store.password(&ada.id).await.unwrap().as_deref(), Some("$old"));
    let password = "$new".to_owned();
    write(&*store, Write::SetPassword { player: ada.id.clone(), password: password.clone(), keeps: None })
        .await
        .unwrap();
    assert_eq!(store.password(&ada.id).await.unwrap(), Some(password.clone()));
    let profile = BotProfile {
        version: Some("2".into()),
        about: Some("plays".into()),
        url: Some("https://example.org".into()),
        language: Some("C++".into()),
    };
    write(&*store, Write::SetProfile { player: ada.id.clone(), profile: profile.clone() }).await.unwrap();
    assert_eq!(store.player(&ada.id).await.unwrap().unwrap().profile, profile);

    let nobody = player_id("nobody");
    assert_eq!(store.password(&nobody).await.unwrap(), None);
    let refused = Err(Refused::NoSuchPlayer);
    assert_eq!(
        write(&*store, Write::SetPassword { player: nobody.clone(), password, keeps: None }).await,
        refused
    );
    assert_eq!(write(&*store, Write::SetProfile { player: nobody, profile }).await, refused);
}

pub(crate) async fn a_guest_becomes_a_person_and_whoever_leaves_a_guest<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Bob"]).await;
    let guest = player("guest-abc123", PlayerKind::Guest);
    write(&*store, add(guest.clone())).await.unwrap();
    let promote = |player: &PlayerId, name: &str| Write::Promote {
        player: player.clone(),
        name: name.parse().unwrap(),
        password: "$hash".into(),
    };
    let named = |player: &PlayerId, name: &str| Write::NameGuest {
        player: player.clone(),
        name: name.parse().unwrap(),
    };
    assert_eq!(write(&*store, named(&guest.id, "bob")).await, Err(Refused::NameTaken));
    assert_eq!(write(&*store, named(&player_id("Bob"), "guest-bob")).await, Err(Refused::NoSuchPlayer));
    for name in ["guest-anna", "guest-Anna"] {
        write(&*store, named(&guest.id, name)).await.unwrap();
        let anna = StoredPlayer { name: name.parse().unwrap(), ..guest.clone() };
        assert_eq!(store.player(&guest.id).await.unwrap(), Some(anna));
    }
    assert_eq!(write(&*store, promote(&guest.id, "bob")).await, Err(Refused::NameTaken));
    assert_eq!(write(&*store, promote(&player_id("Bob"), "bobby")).await, Err(Refused::NoSuchPlayer));
    write(&*store, promote(&guest.id, "Ada")).await.unwrap();
    let ada = StoredPlayer { name: "Ada".parse().unwrap(), kind: PlayerKind::Human, ..guest.clone() };
    assert_eq!(store.player(&guest.id).await.unwrap(), Some(ada));
    assert_eq!(store.password(&guest.id).await.unwrap().as_deref(), Some("$hash"));

    let retire =
        |player: &PlayerId, name: &str| Write::Retire { player: player.clone(), name: name.parse().unwrap() };
    let of_ada = StoredPlayer { owner: Some(guest.id.clone()), ..player("zed", PlayerKind::Bot) };
    let of_house = StoredPlayer { house: true, ..player("perfect", PlayerKind::Bot) };
    write(&*store, add(of_ada.clone())).await.unwrap();
    write(&*store, add(of_house.clone())).await.unwrap();
    assert_eq!(write(&*store, retire(&of_ada.id, "BOB")).await, Err(Refused::NameTaken));
    assert_eq!(write(&*store, retire(&of_house.id, "gone-house")).await, Err(Refused::NoSuchPlayer));
    assert_eq!(write(&*store, retire(&guest.id, "gone-ada")).await, Err(Refused::OwnsBots));
    write(&*store, retire(&of_ada.id, "gone-zed")).await.unwrap();
    write(&*store, retire(&guest.id, "gone-ada")).await.unwrap();
    assert_eq!(write(&*store, promote(&guest.id, "Ada")).await, Err(Refused::NoSuchPlayer), "it has left");
    let gone = |name: &str, before: &StoredPlayer| StoredPlayer {
        name: name.parse().unwrap(),
        kind: PlayerKind::Guest,
        owner: None,
        ..before.clone()
    };
    assert_eq!(store.player(&guest.id).await.unwrap(), Some(gone("gone-ada", &guest)));
    assert_eq!(store.player(&of_ada.id).await.unwrap(), Some(gone("gone-zed", &of_ada)));
    assert_eq!(store.password(&guest.id).await.unwrap(), None);
    assert_eq!(store.player_by_name(&"Ada".parse().unwrap()).await.unwrap(), None);
}

pub(crate) async fn bots_are_listed_by_house_and_by_owner<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let of_ada = |name| StoredPlayer { owner: Some(player_id("Ada")), ..player(name, PlayerKind::Bot) };
    let of_house = |name| StoredPlayer { house: true, ..player(name, PlayerKind::Bot) };
    for bot in [of_ada("zed"), of_ada("Eva"), of_house("perfect"), of_house("Memory")] {
        write(&*store, add(bot)).await.unwrap();
    }
    assert_eq!(store.bots_of(&player_id("Ada")).await.unwrap(), [of_ada("Eva"), of_ada("zed")]);
    assert_eq!(store.bots_of(&player_id("Bob")).await.unwrap(), []);
    assert_eq!(store.house_bots().await.unwrap(), [of_house("Memory"), of_house("perfect")]);
}

fn token(id: &str, player: &str, digit: u8) -> StoredToken {
    StoredToken {
        id: id.parse().unwrap(),
        player: player_id(player),
        kind: TokenKind::Bot,
        digest: [digit; 32],
        created_at: after_noon(i64::from(digit)),
        expires_at: None,
        device: None,
        used_at: None,
        scope: TokenScope::Play,
    }
}

pub(crate) async fn tokens_are_found_until_they_expire<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    let lasting = token("t1", "Ada", 1);
    let passing =
        StoredToken { kind: TokenKind::Session, expires_at: Some(after_noon(100)), ..token("t2", "Ada", 2) };
    for token in [&lasting, &passing] {
        write(&*store, add_token(token)).await.unwrap();
    }
    let (early, late) = (after_noon(99), after_noon(100));
    assert_eq!(store.token(&[2; 32], early).await.unwrap(), Some(passing.clone()));
    assert_eq!(store.token(&[2; 32], late).await.unwrap(), None);
    assert_eq!(store.token(&[3; 32], early).await.unwrap(), None);
    assert_eq!(store.token_by_id(&passing.id, early).await.unwrap(), Some(passing.clone()));
    assert_eq!(store.token_by_id(&passing.id, late).await.unwrap(), None);
    assert_eq!(store.tokens_of(&lasting.player, early).await.unwrap(), [passing, lasting.clone()]);
    assert_eq!(store.tokens_of(&lasting.player, late).await.unwrap(), std::slice::from_ref(&lasting));
    assert_eq!(store.token(&[1; 32], UnixMillis(i64::MAX)).await.unwrap(), Some(lasting));
}

pub(crate) async fn tokens_are_revoked_one_by_one_or_all<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let tokens = [token("t3", "Ada", 3), token("t1", "Ada", 1), token("t2", "Ada", 2), token("t4", "Bob", 4)];
    for token in &tokens {
        write(&*store, add_token(token)).await.unwrap();
    }
    let again = add_token(&StoredToken { id: tokens[0].id.clone(), ..token("t9", "Ada", 9) });
    assert_eq!(write(&*store, again).await, Err(Refused::IdTaken));
    let nobodys = add_token(&token("t9", "nobody", 9));
    assert_eq!(write(&*store, nobodys).await, Err(Refused::NoSuchPlayer));

    let revoke = |name, only: Option<&StoredToken>| Write::RevokeTokens {
        player: player_id(name),
        only: only.map(|t| t.id.clone()),
    };
    let ids = |names: &[&str]| Ok(Written::Revoked(names.iter().map(|id| id.parse().unwrap()).collect()));
    assert_eq!(write(&*store, revoke("Ada", Some(&tokens[3]))).await, ids(&[]));
    assert_eq!(write(&*store, revoke("Ada", Some(&tokens[2]))).await, ids(&["t2"]));
    assert_eq!(store.token(&[2; 32], NOON).await.unwrap(), None);
    assert_eq!(write(&*store, revoke("Ada", None)).await, ids(&["t1", "t3"]));
    assert_eq!(store.tokens_of(&player_id("Ada"), NOON).await.unwrap(), []);
    assert_eq!(store.token(&[4; 32], NOON).await.unwrap(), Some(tokens[3].clone()));
    assert_eq!(write(&*store, revoke("nobody", None)).await, Err(Refused::NoSuchPlayer));
}

fn add_token(token: &StoredToken) -> Write {
    Write::AddToken { token: token.clone(), at_most: 3, password: None }
}

fn ended(ids: &[&str]) -> Written {
    Written::Revoked(ids.iter().map(|id| id.parse().unwrap()).collect())
}

/// A session that began so many milliseconds after noon.
fn session(id: &str, name: &str, number: u8) -> StoredToken {
    StoredToken {
        kind: TokenKind::Session,
        created_at: after_noon(number.into()),
        expires_at: Some(after_noon(1_000)),
        device: Some(Device::of("Firefox/140.0 (Windows)")),
        ..token(id, name, number)
    }
}

async fn token_ids(store: &dyn Store, name: &str) -> Vec<String> {
    let tokens = store.tokens_of(&player_id(name), NOON).await.unwrap();
    tokens.into_iter().map(|token| token.id.to_string()).collect()
}

pub(crate) async fn old_sessions_make_room_and_tokens_of_bots_do_not<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    for number in 1..=3 {
        let id = format!("s{number}");
        assert_eq!(write(&*store, add_token(&session(&id, "Ada", number))).await, Ok(ended(&[])));
        let id = format!("t{number}");
        assert_eq!(write(&*store, add_token(&token(&id, "Bob", 10 + number))).await, Ok(ended(&[])));
    }
    assert_eq!(write(&*store, add_token(&session("s4", "Ada", 4))).await, Ok(ended(&["s1"])));
    assert_eq!(token_ids(&*store, "Ada").await, ["s4", "s3", "s2"]);
    assert_eq!(write(&*store, add_token(&token("t4", "Bob", 14))).await, Err(Refused::TooMany));
    assert_eq!(token_ids(&*store, "Bob").await.len(), 3);
    assert_eq!(write(&*store, add_token(&session("s5", "Bob", 5))).await, Ok(ended(&[])), "another kind");
}

pub(crate) async fn the_last_use_of_a_session_is_noted<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    for number in [1, 2] {
        write(&*store, add_token(&session(&format!("s{number}"), "Ada", number))).await.unwrap();
    }
    let note = |id: &str, at| Write::NoteUse { token: id.parse().unwrap(), at: after_noon(at) };
    for (id, at) in [("s2", 500), ("s2", 700), ("gone", 800)] {
        assert_eq!(write(&*store, note(id, at)).await, Ok(Written::Done), "{id}");
    }
    drop(store);
    let fixture = fixture.reopen().await;
    let used = StoredToken { used_at: Some(after_noon(700)), ..session("s2", "Ada", 2) };
    let sessions = fixture.store().tokens_of(&player_id("Ada"), NOON).await.unwrap();
    assert_eq!(sessions, [used, session("s1", "Ada", 1)]);
}

pub(crate) async fn a_new_password_ends_all_other_sessions<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    for (id, name, number) in [("s1", "Ada", 1), ("s2", "Ada", 2), ("s3", "Ada", 3), ("s4", "Bob", 4)] {
        write(&*store, add_token(&session(id, name, number))).await.unwrap();
    }
    let set = |keeps: Option<&str>| Write::SetPassword {
        player: player_id("Ada"),
        password: "$new".into(),
        keeps: keeps.map(|id| id.parse().unwrap()),
    };
    assert_eq!(write(&*store, set(Some("s2"))).await, Ok(ended(&["s1", "s3"])));
    assert_eq!(token_ids(&*store, "Ada").await, ["s2"]);
    assert_eq!(write(&*store, set(None)).await, Ok(ended(&["s2"])));
    assert_eq!(token_ids(&*store, "Bob").await, ["s4"]);
}

pub(crate) async fn a_token_takes_the_place_of_another<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    for token in [token("t1", "Ada", 1), token("t2", "Bob", 2), session("s3", "Ada", 3)] {
        write(&*store, add_token(&token)).await.unwrap();
    }
    let rotate = |old: &str, new: StoredToken| Write::RotateToken { old: old.parse().unwrap(), new };
    assert_eq!(write(&*store, rotate("t1", token("t4", "Ada", 4))).await, Ok(ended(&["t1"])));
    assert_eq!(store.token(&[1; 32], NOON).await.unwrap(), None);
    assert!(store.token(&[4; 32], NOON).await.unwrap().is_some());
    for (old, new, refused) in [
        ("t1", token("t5", "Ada", 5), Refused::NoSuchToken),
        ("t2", token("t5", "Ada", 5), Refused::NoSuchToken),
        ("s3", token("t5", "Ada", 5), Refused::NoSuchToken),
        ("t4", token("t2", "Ada", 5), Refused::IdTaken),
        ("t4", token("t5", "nobody", 5), Refused::NoSuchPlayer),
    ] {
        assert_eq!(write(&*store, rotate(old, new)).await, Err(refused), "{old}");
    }
    assert_eq!(token_ids(&*store, "Ada").await.len(), 2, "a refusal ends nothing");
}

pub(crate) async fn whoever_leaves_has_no_credentials_and_gets_none<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let ada = player("Ada", PlayerKind::Human);
    let with_password = Write::AddPlayer { player: ada.clone(), password: Some("$old".into()) };
    write(&*store, with_password).await.unwrap();
    let proven = |id: &str, number, password: &str| Write::AddToken {
        token: session(id, "Ada", number),
        at_most: 3,
        password: Some(password.into()),
    };
    write(&*store, proven("s1", 1, "$old")).await.unwrap();
    let new = |player: &PlayerId| Write::SetPassword {
        player: player.clone(),
        password: "$new".into(),
        keeps: None,
    };
    assert_eq!(write(&*store, new(&ada.id)).await, Ok(ended(&["s1"])));
    assert_eq!(write(&*store, proven("s2", 2, "$old")).await, Err(Refused::PasswordChanged));
    write(&*store, proven("s3", 3, "$new")).await.unwrap();
    let bot = |name: &str, number| Write::AddBot {
        bot: StoredPlayer { owner: Some(ada.id.clone()), ..player(name, PlayerKind::Bot) },
        token: token(&format!("t{number}"), name, number),
        at_most: 2,
    };
    write(&*store, bot("zed", 4)).await.unwrap();
    let leave =
        |name: &str| Write::Retire { player: player_id(name), name: format!("gone-{name}").parse().unwrap() };
    assert_eq!(write(&*store, leave("zed")).await, Ok(ended(&["t4"])));
    assert_eq!(write(&*store, leave("Ada")).await, Ok(ended(&["s3"])));
    for (late, refused) in [
        (proven("s5", 5, "$new"), Refused::NoSuchPlayer),
        (add_token(&session("s6", "Ada", 6)), Refused::NoSuchPlayer),
        (add_token(&token("t7", "zed", 7)), Refused::NoSuchPlayer),
        (bot("zoe", 8), Refused::NoSuchPlayer),
        (new(&ada.id), Refused::NoSuchPlayer),
    ] {
        assert_eq!(write(&*store, late.clone()).await, Err(refused), "{late:?}");
    }
    assert_eq!(store.password(&ada.id).await.unwrap(), None);
}

pub(crate) async fn an_owner_has_so_many_bots<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let add = |name: &str, owner: &str, number| Write::AddBot {
        bot: StoredPlayer { owner: Some(player_id(owner)), ..player(name, PlayerKind::Bot) },
        token: token(&format!("t{number}"), name, number),
        at_most: 2,
    };
    // In one batch, as requests that race come.
    let answers = store
        .commit(&[add("zed", "Ada", 1), add("zoe", "Ada", 2), add("zac", "Ada", 3), add("zip", "Bob", 4)])
        .await
        .unwrap();
    assert_eq!(answers, [Ok(Written::Done), Ok(Written::Done), Err(Refused::TooMany), Ok(Written::Done)]);
    assert_eq!(store.bots_of(&player_id("Ada")).await.unwrap().len(), 2);
    assert_eq!(token_ids(&*store, "zed").await, ["t1"]);
    assert_eq!(write(&*store, add("zip", "Bob", 5)).await, Err(Refused::NameTaken));
    assert_eq!(write(&*store, add("zap", "Bob", 4)).await, Err(Refused::IdTaken));
    assert_eq!(store.bots_of(&player_id("Bob")).await.unwrap().len(), 1);
}

pub(crate) async fn guests_whom_nobody_comes_back_to_make_room<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada"]).await;
    let guest =
        |name: &str, ms| StoredPlayer { created_at: after_noon(ms), ..player(name, PlayerKind::Guest) };
    for (name, ms) in [("guest-old", 1), ("guest-plays", 2), ("guest-new", 100), ("gone-old", 3)] {
        write(&*store, add(guest(name, ms))).await.unwrap();
    }
    write(&*store, Write::StartGame(spec("g1", "guest-plays", "Ada"))).await.unwrap();
    let idle = IdleGuests { stored_before: after_noon(50), tried_before: after_noon(20) };
    assert_eq!(store.idle_guests(idle, 9).await.unwrap(), [player_id("guest-old")]);
    assert_eq!(store.idle_guests(idle, 0).await.unwrap(), []);
    let replace =
        |old: &str, new: &str| Write::ReplaceGuest { old: player_id(old), new: guest(new, 101), idle };
    for old in ["guest-plays", "guest-new", "gone-old", "Ada", "nobody"] {
        assert_eq!(write(&*store, replace(old, "guest-next")).await, Err(Refused::NoSuchPlayer), "{old}");
    }
    assert_eq!(write(&*store, replace("guest-old", "ada")).await, Err(Refused::NameTaken));
    write(&*store, replace("guest-old", "guest-next")).await.unwrap();
    assert_eq!(store.player(&player_id("guest-old")).await.unwrap(), None);
    assert_eq!(store.player(&player_id("guest-next")).await.unwrap(), Some(guest("guest-next", 101)));
    let whole = whole_game(FIRST_WINS, GameResult::First, EndReason::Four);
    write(&*store, Write::Finish { game: "g1".parse().unwrap(), events: whole }).await.unwrap();
    assert_eq!(write(&*store, replace("guest-plays", "guest-x")).await, Err(Refused::NoSuchPlayer));
}

pub(crate) async fn a_game_is_read_back_as_it_was_written<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let spec = GameSpec {
        variant: "9x6x5".parse().unwrap(),
        time: TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(500) },
        rated: false,
        unrated_because: Some(UnratedReason::PairLimit),
        opening: OpeningSource { kind: OpeningKind::Given, moves: "12".into() },
        pair: Some(GamePair { id: "p1".parse().unwrap(), leg: 2, of: 4 }),
        versions: BySide { first: Some("1.2-ä".into()), second: None },
        ..spec("g1", "Ada", "Bob")
    };
    write(&*store, Write::StartGame(spec.clone())).await.unwrap();
    let mut events = moves("939");
    if let EventKind::Move(played) = &mut events[1].kind {
        played.info = Some(r#"{"note":"ä"}"#.into());
    }
    events.push(event(4, EventKind::Paused));
    events.push(event(5, EventKind::Takeback { plies: 2 }));
    let append = Write::Append { game: spec.id.clone(), events: events.clone() };
    assert_eq!(write(&*store, append).await, Ok(Written::Done));
    let live = StoredGame { spec: spec.clone(), events: events.clone(), settlement: None };
    assert_eq!(store.game(&spec.id).await.unwrap(), Some(live.clone()));
    assert_eq!(store.live_games().await.unwrap(), std::slice::from_ref(&live));
    assert_eq!(live.moves(), "129");

    let ending = Ending { result: GameResult::Second, reason: EndReason::Time, by: Some(Side::First) };
    let end = event(6, EventKind::Finished(ending));
    let finish = Write::Finish { game: spec.id.clone(), events: vec![end.clone()] };
    let Ok(Written::Settled(settlement)) = write(&*store, finish).await else { panic!("not settled") };
    assert_eq!((settlement.number, settlement.ratings), (1, None));
    assert_eq!(settlement.unrated_because, Some(UnratedReason::PairLimit));
    events.push(end);
    let over = StoredGame { spec, events, settlement: Some(settlement) };
    assert_eq!(over.ending(), Some(&ending));
    assert_eq!(store.game(&over.spec.id).await.unwrap(), Some(over.clone()));
    assert_eq!(store.live_games().await.unwrap(), []);
    assert_eq!(store.audit_finished(0, 9).await.unwrap(), [Ok(over)]);
    assert_eq!(store.game(&"g2".parse().unwrap()).await.unwrap(), None);
}

pub(crate) async fn events_must_follow_the_last_one<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let spec = spec("g1", "Ada", "Bob");
    write(&*store, Write::StartGame(spec.clone())).await.unwrap();
    let all = moves("4453627");
    let append =
        |from: usize, to: usize| Write::Append { game: spec.id.clone(), events: all[from..to].to_vec() };
    assert_eq!(write(&*store, append(0, 2)).await, Ok(Written::Done));
    for (from, to) in [(0, 1), (1, 3), (3, 4)] {
        let refused = Refused::OutOfSequence { last: 2, got: u32::try_from(from).unwrap() + 1 };
        assert_eq!(write(&*store, append(from, to)).await, Err(refused));
    }
    let hole = Write::Append { game: spec.id.clone(), events: vec![all[2].clone(), all[4].clone()] };
    assert_eq!(write(&*store, hole).await, Err(Refused::OutOfSequence { last: 3, got: 5 }));
    assert_eq!(write(&*store, append(2, 2)).await, Ok(Written::Done));
    assert_eq!(write(&*store, append(2, 4)).await, Ok(Written::Done));
    assert_eq!(store.game(&spec.id).await.unwrap().unwrap().events, all[..4]);
}

pub(crate) async fn an_end_is_the_last_event_and_only_that<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let spec = spec("g1", "Ada", "Bob");
    write(&*store, Write::StartGame(spec.clone())).await.unwrap();
    let game = spec.id.clone();
    let whole = whole_game(FIRST_WINS, GameResult::First, EndReason::Four);
    let mut twice = whole.clone();
    twice.push(StoredEvent { seq: 9, ..whole[7].clone() });
    for wrong in [
        Write::Append { game: game.clone(), events: whole },
        Write::Finish { game: game.clone(), events: moves(FIRST_WINS) },
        Write::Finish { game: game.clone(), events: vec![] },
        Write::Finish { game: game.clone(), events: twice },
    ] {
        assert_eq!(write(&*store, wrong).await, Err(Refused::EndMisplaced));
    }
    let live = store.live_games().await.unwrap();
    assert_eq!(live, [StoredGame { spec, events: vec![], settlement: None }]);
}

pub(crate) async fn a_game_ends_once<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let over = first_wins(&*store, spec("g1", "Ada", "Bob"), FIRST_WINS).await;
    let game = over.spec.id.clone();
    let again = Write::Finish { game: game.clone(), events: over.events.clone() };
    assert_eq!(write(&*store, again.clone()).await, Err(Refused::NoSuchGame));
    let more = Write::Append { game: game.clone(), events: vec![event(9, EventKind::Paused)] };
    assert_eq!(write(&*store, more).await, Err(Refused::NoSuchGame));
    let spec = spec("g2", "Ada", "Bob");
    let events = whole_game(FIRST_WINS_TOO, GameResult::First, EndReason::Four);
    let finish = Write::Finish { game: spec.id.clone(), events };
    let both = [Write::StartGame(spec), finish.clone(), finish];
    let answers = store.commit(&both).await.unwrap();
    assert!(matches!(answers[1], Ok(Written::Settled(_))), "{answers:?}");
    assert_eq!(answers[2], Err(Refused::NoSuchGame));
    assert_eq!(store.game(&game).await.unwrap(), Some(over));
    let row = store.rating(&player_id("Ada"), Variant::STANDARD).await.unwrap().unwrap();
    assert_eq!((row.standing.games, row.score.wins), (2, 2));
}

pub(crate) async fn games_need_players_and_an_id_of_their_own<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let start = |spec| Write::StartGame(spec);
    assert_eq!(write(&*store, start(spec("g1", "Ada", "Eve"))).await, Err(Refused::NoSuchPlayer));
    assert_eq!(write(&*store, start(spec("g1", "Ada", "Bob"))).await, Ok(Written::Done));
    assert_eq!(write(&*store, start(spec("g1", "Bob", "Ada"))).await, Err(Refused::IdTaken));
    let nowhere = Write::Append { game: "g2".parse().unwrap(), events: moves("4") };
    assert_eq!(write(&*store, nowhere).await, Err(Refused::NoSuchGame));
    let live = store.live_games().await.unwrap();
    assert_eq!(live.into_iter().map(|game| game.spec).collect::<Vec<_>>(), [spec("g1", "Ada", "Bob")]);
}

pub(crate) async fn a_refused_write_leaves_no_trace_and_hurts_no_other<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let [one, two] = [spec("g1", "Ada", "Bob"), spec("g2", "Ada", "Bob")];
    let append = |spec: &GameSpec, events| Write::Append { game: spec.id.clone(), events };
    let late = moves("1234")[2..].to_vec();
    let batch = [
        Write::StartGame(one.clone()),
        append(&one, late),
        add(player("ADA", PlayerKind::Human)),
        Write::StartGame(two.clone()),
        append(&one, moves("44")),
        append(&two, moves("7")),
    ];
    let answers = store.commit(&batch).await.unwrap();
    let expected = [
        Ok(Written::Done),
        Err(Refused::OutOfSequence { last: 0, got: 3 }),
        Err(Refused::NameTaken),
        Ok(Written::Done),
        Ok(Written::Done),
        Ok(Written::Done),
    ];
    assert_eq!(answers, expected);
    let stored: Vec<String> = store.live_games().await.unwrap().iter().map(StoredGame::moves).collect();
    assert_eq!(stored, ["44", "7"]);
}

pub(crate) async fn a_batch_may_hold_a_whole_game<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    let spec = spec("g1", "Ada", "Bob");
    let game = spec.id.clone();
    let events = whole_game(FIRST_WINS, GameResult::First, EndReason::Four);
    let batch = [
        add(player("Ada", PlayerKind::Human)),
        add(player("Bob", PlayerKind::Human)),
        Write::StartGame(spec),
        Write::Append { game: game.clone(), events: events[..6].to_vec() },
        Write::Finish { game: game.clone(), events: events[6..].to_vec() },
    ];
    let answers = store.commit(&batch).await.unwrap();
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(store.game(&game).await.unwrap().unwrap().events, events);
}

pub(crate) async fn whoever_aborts_or_leaves_is_listed<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    write(&*store, add(player("Gus", PlayerKind::Guest))).await.unwrap();
    let (first, second) = (Some(Side::First), Some(Side::Second));
    for (id, opponent, reason, by) in [
        ("g1", "Bob", EndReason::Aborted, first),
        ("g2", "Bob", EndReason::Left, second),
        ("g3", "Bob", EndReason::Resign, first),
        ("g4", "Gus", EndReason::Left, second),
        ("g5", "Bob", EndReason::Aborted, None),
    ] {
        let game = spec(id, "Ada", opponent);
        let mut events = moves("44");
        events.push(event(3, EventKind::Finished(Ending { result: GameResult::Void, reason, by })));
        let batch = [Write::StartGame(game.clone()), Write::Finish { game: game.id, events }];
        assert!(store.commit(&batch).await.unwrap().iter().all(Result::is_ok));
    }
    let at = after_noon(3_000);
    let listed = [(player_id("Ada"), at), (player_id("Bob"), at)];
    assert_eq!(store.departures(at).await.unwrap(), listed);
    assert_eq!(store.departures(UnixMillis(at.0 + 1)).await.unwrap(), []);
}

/// Games that differ in all that is hashed of them.
pub(crate) async fn play_various(store: &dyn Store) {
    add_players(store, &["Ada", "Bob", "Eve"]).await;
    let untimed = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(500) };
    let opening = OpeningSource { kind: OpeningKind::Given, moves: "44".to_owned() };
    let pair = GamePair { id: "p1".parse().unwrap(), leg: 2, of: 2 };
    let footing = BySide { first: Footing::House, second: Footing::Young };
    let limit = Some(UnratedReason::PairLimit);
    for (spec, moves, result, reason) in [
        (spec("g1", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four),
        (
            GameSpec { time: untimed, rated: false, opening, ..spec("g2", "Bob", "Eve") },
            "4453",
            GameResult::Second,
            EndReason::Time,
        ),
        (
            GameSpec { pair: Some(pair), ..spec("g3", "Eve", "Ada") },
            "12",
            GameResult::Void,
            EndReason::Aborted,
        ),
        (
            GameSpec { footing: Some(footing), unrated_because: limit, ..spec("g4", "Ada", "Eve") },
            "",
            GameResult::First,
            EndReason::Resign,
        ),
    ] {
        play(store, spec, moves, result, reason).await;
    }
}

/// The hashes of all finished games, each of which was found to follow from the one before.
pub(crate) async fn checked_chain(store: &dyn Store) -> Vec<ChainHash> {
    let games = store.finished_games(&GameQuery { limit: 100, ..GameQuery::default() }).await.unwrap();
    let mut head = ChainHash::default();
    let follow = |game: StoredGame| {
        head = then_game(&head, &game).unwrap();
        assert_eq!(game.settlement.unwrap().hash, Some(head.clone()), "{}", game.spec.id);
        head.clone()
    };
    games.into_iter().map(follow).collect()
}

pub(crate) async fn finished_games_are_chained<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    play_various(&*store).await;
    let before = checked_chain(&*store).await;
    assert_eq!(before.len(), 4);
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let finish = |id: &str| Write::Finish {
        game: id.parse().unwrap(),
        events: whole_game(FIRST_WINS_TOO, GameResult::First, EndReason::Four),
    };
    let start = |id: &str| Write::StartGame(spec(id, "Bob", "Ada"));
    let batch = [start("g5"), start("g6"), finish("g6"), finish("g6"), finish("g5"), void("g1")];
    let answers = store.commit(&batch).await.unwrap();
    assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), 1, "{answers:?}");
    let after = checked_chain(&*store).await;
    assert_eq!((after.len(), &after[..4]), (6, &before[..]));
}

pub(crate) async fn settlement_numbers_are_dense<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let ids = ["g1", "g2", "g3", "g4", "g5"];
    for id in ids {
        write(&*store, Write::StartGame(spec(id, "Ada", "Bob"))).await.unwrap();
    }
    drop(store);
    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let finish = |id: &str| Write::Finish {
        game: id.parse().unwrap(),
        events: whole_game("4453627", GameResult::Void, EndReason::Stopped),
    };
    let batch = [finish("g3"), finish("g3"), finish("g1"), finish("g9"), finish("g5")];
    let mut numbers: Vec<u64> = Vec::new();
    for answer in store.commit(&batch).await.unwrap().into_iter().flatten() {
        if let Written::Settled(settlement) = answer {
            assert_eq!(settlement.unrated_because, Some(UnratedReason::Void));
            numbers.push(settlement.number);
        }
    }
    assert_eq!(numbers, [1, 2, 3]);
    let in_order = store.finished_games(&GameQuery { limit: 9, ..GameQuery::default() }).await.unwrap();
    let in_order: Vec<&str> = in_order.iter().map(|game| game.spec.id.as_str()).collect();
    assert_eq!(in_order, ["g3", "g1", "g5"]);
    let live = store.live_games().await.unwrap();
    assert_eq!(live.iter().map(|game| game.spec.id.as_str()).collect::<Vec<_>>(), ["g2", "g4"]);
}

pub(crate) async fn rated_games_move_both_ratings<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let won = first_wins(&*store, spec("g1", "Ada", "Bob"), FIRST_WINS).await;
    let entries = won.settlement.unwrap().ratings.unwrap();
    assert_eq!((entries.first.after, entries.second.after), (MilliElo(770_000), MilliElo(730_000)));
    let drawn = play(&*store, spec("g2", "Bob", "Ada"), "4453627", GameResult::Draw, EndReason::Full).await;
    let entries = drawn.settlement.unwrap().ratings.unwrap();
    assert_eq!((entries.first.before, entries.second.before), (MilliElo(730_000), MilliElo(770_000)));
    assert!(entries.first.delta > 0 && entries.second.delta < 0, "the favourite loses by a draw");

    let ada = store.rating(&player_id("Ada"), Variant::STANDARD).await.unwrap().unwrap();
    assert_eq!(ada.standing.rating, entries.second.after);
    assert_eq!((ada.standing.games, ada.score), (2, WinDrawLoss { wins: 1, draws: 1, losses: 0 }));
    let small: Variant = "4x4".parse().unwrap();
    assert_eq!(store.rating(&player_id("Ada"), small).await.unwrap(), None);
    let on_small = GameSpec { variant: small, ..spec("g3", "Bob", "Ada") };
    first_wins(&*store, on_small, FIRST_WINS).await;
    let of_bob = store.ratings_of(&player_id("Bob")).await.unwrap();
    assert_eq!(of_bob.iter().map(|(variant, _)| *variant).collect::<Vec<_>>(), [small, Variant::STANDARD]);
    assert_eq!(of_bob[0].1.standing.rating, MilliElo(770_000));
    assert_eq!(store.audit_ratings().await.unwrap().len(), 4);
}

pub(crate) async fn games_that_do_not_count_leave_ratings_alone<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let casual = GameSpec { rated: false, ..spec("g1", "Ada", "Bob") };
    let guest =
        GameSpec { unrated_because: Some(UnratedReason::Guest), rated: false, ..spec("g2", "Ada", "Bob") };
    let load =
        GameSpec { unrated_because: Some(UnratedReason::Load), rated: false, ..spec("g6", "Ada", "Bob") };
    let (first, four) = (GameResult::First, EndReason::Four);
    for (spec, moves, result, reason, expected) in [
        (casual, FIRST_WINS, first, four, None),
        (guest, FIRST_WINS, first, four, Some(UnratedReason::Guest)),
        (load, FIRST_WINS, first, four, Some(UnratedReason::Load)),
        (spec("g3", "Ada", "Bob"), "445566", first, EndReason::Resign, Some(UnratedReason::TooShort)),
        (
            spec("g4", "Ada", "Bob"),
            FIRST_WINS,
            GameResult::Void,
            EndReason::Stopped,
            Some(UnratedReason::Void),
        ),
        (spec("g5", "Ada", "Ada"), FIRST_WINS, first, four, Some(UnratedReason::SameOwner)),
    ] {
        let settlement = play(&*store, spec, moves, result, reason).await.settlement.unwrap();
        assert_eq!((settlement.ratings, settlement.unrated_because), (None, expected));
    }
    assert_eq!(store.ratings_of(&player_id("Ada")).await.unwrap(), []);
    let of_ada = GameQuery { player: Some(player_id("Ada")), limit: 9, ..GameQuery::default() };
    let games = store.finished_games(&of_ada).await.unwrap();
    assert_eq!(
        games.iter().map(|game| game.spec.is_load()).collect::<Vec<_>>(),
        [false, false, true, false, false, false]
    );
}

pub(crate) async fn a_repeated_game_does_not_count<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Eve"]).await;
    let small = |id| GameSpec { variant: "8x7".parse().unwrap(), ..spec(id, "Ada", "Bob") };
    let repeated = Some(UnratedReason::Repeated);
    for (spec, moves, expected) in [
        (spec("g1", "Ada", "Bob"), FIRST_WINS, None),
        (spec("g2", "Ada", "Bob"), FIRST_WINS, repeated),
        (spec("g3", "Ada", "Eve"), FIRST_WINS, None),
        (spec("g4", "Bob", "Ada"), FIRST_WINS, None), // another player wins
        (small("g5"), FIRST_WINS, None),
        (spec("g6", "Ada", "Bob"), FIRST_WINS_TOO, None),
        (spec("g7", "Ada", "Bob"), FIRST_WINS, repeated), // the third last that counted
        (spec("g8", "Bob", "Ada"), FIRST_WINS_TOO, None),
        (spec("g9", "Ada", "Bob"), FIRST_WINS, None), // forgotten by now
    ] {
        let id = spec.id.clone();
        let settlement = first_wins(&*store, spec, moves).await.settlement.unwrap();
        assert_eq!(settlement.unrated_because, expected, "{id}");
        assert_eq!(settlement.ratings.is_none(), expected.is_some());
    }
}

pub(crate) async fn leaderboards_list_whom_they_should<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["zoe", "Ada", "Bob", "eve"]).await;
    write(&*store, add(player("deep", PlayerKind::Bot))).await.unwrap();
    write(&*store, add(player("guest-abc123", PlayerKind::Guest))).await.unwrap();
    for (id, winner, loser) in [("g1", "zoe", "Bob"), ("g2", "Ada", "deep"), ("g3", "guest-abc123", "eve")] {
        first_wins(&*store, spec(id, winner, loser), FIRST_WINS).await;
    }
    let board = |board, limit| {
        let store = store.clone();
        async move {
            let rows = store.leaderboard(board, Variant::STANDARD, limit).await.unwrap();
            rows.iter().map(|row| format!("{} {}", row.rank, row.player.name)).collect::<Vec<_>>()
        }
    };
    assert_eq!(board(Population::All, 9).await, ["1 Ada", "1 zoe", "3 Bob", "3 deep", "3 eve"]);
    assert_eq!(board(Population::People, 3).await, ["1 Ada", "1 zoe", "3 Bob"]);
    assert_eq!(board(Population::Bots, 9).await, ["1 deep"]);
    let elsewhere = store.leaderboard(Population::All, "4x4".parse().unwrap(), 9).await.unwrap();
    assert_eq!(elsewhere, []);
}

pub(crate) async fn histories_hold_the_newest_points<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    for (id, moves) in [("g1", FIRST_WINS), ("g2", FIRST_WINS_TOO), ("g3", "2323232")] {
        first_wins(&*store, spec(id, "Ada", "Bob"), moves).await;
    }
    let history = store.rating_history(&player_id("Bob"), Variant::STANDARD, None, 2).await.unwrap();
    assert_eq!(history.iter().map(|point| point.game.as_str()).collect::<Vec<_>>(), ["g2", "g3"]);
    assert_eq!(history[0].before, MilliElo(730_000));
    assert_eq!(history[0].after, history[1].before);
    assert_eq!(history[1].at, after_noon(8_000));
    let before = store.rating_history(&player_id("Bob"), Variant::STANDARD, Some(2), 2).await.unwrap();
    assert_eq!(before.iter().map(|point| point.game.as_str()).collect::<Vec<_>>(), ["g1"]);
    for (player, before) in [("Eve", None), ("Bob", Some(1)), ("Bob", Some(0))] {
        let none = store.rating_history(&player_id(player), Variant::STANDARD, before, 2).await.unwrap();
        assert_eq!(none, [], "{player} {before:?}");
    }
    let all = store.rating_history(&player_id("Bob"), Variant::STANDARD, Some(u64::MAX), 9).await.unwrap();
    assert_eq!(all.len(), 3);
}

pub(crate) async fn pages_run_both_ways<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Eve"]).await;
    for (number, second) in (1..=6).zip(["Bob", "Eve", "Bob", "Eve", "Bob", "Eve"]) {
        let spec = spec(&format!("g{number}"), "Ada", second);
        let mut events = whole_game("4453627", GameResult::Void, EndReason::Stopped);
        events[7].at = after_noon(number * 60_000);
        let finish = Write::Finish { game: spec.id.clone(), events };
        store.commit(&[Write::StartGame(spec), finish]).await.unwrap();
    }
    let page = |query: GameQuery| {
        let store = store.clone();
        async move {
            let games = store.finished_games(&query).await.unwrap();
            games.iter().map(|game| game.settlement.as_ref().unwrap().number).collect::<Vec<_>>()
        }
    };
    let all = GameQuery { limit: 2, ..GameQuery::default() };
    assert_eq!(page(all.clone()).await, [1, 2]);
    assert_eq!(page(GameQuery { after: Some(2), ..all.clone() }).await, [3, 4]);
    assert_eq!(page(GameQuery { after: Some(6), ..all.clone() }).await, [0; 0]);
    assert_eq!(page(GameQuery { limit: 0, ..all.clone() }).await, [0; 0]);
    let back = GameQuery { newest_first: true, ..all.clone() };
    assert_eq!(page(back.clone()).await, [6, 5]);
    assert_eq!(page(GameQuery { after: Some(2), ..back.clone() }).await, [1]);
    let of_eve = GameQuery { player: Some(player_id("Eve")), ..all.clone() };
    assert_eq!(page(of_eve.clone()).await, [2, 4]);
    assert_eq!(page(GameQuery { after: Some(4), ..of_eve.clone() }).await, [6]);
    let back_of_eve = GameQuery { newest_first: true, ..of_eve.clone() };
    assert_eq!(page(back_of_eve).await, [6, 4]);
    assert_eq!(page(GameQuery { player: Some(player_id("nobody")), ..all.clone() }).await, [0; 0]);
    let since = Some(after_noon(5 * 60_000));
    assert_eq!(page(GameQuery { since, limit: 9, ..all.clone() }).await, [5, 6]);
    assert_eq!(page(GameQuery { since, ..back }).await, [6, 5]);
    assert_eq!(page(GameQuery { since, ..of_eve }).await, [6]);
    assert_eq!(page(GameQuery { since: Some(after_noon(9 * 60_000)), ..all }).await, [0; 0]);
}

pub(crate) async fn outlines_say_what_whole_games_do<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Eve"]).await;
    let versions = BySide { first: Some("1.0".into()), second: None };
    let load = Some(UnratedReason::Load);
    for (spec, result, reason) in [
        (GameSpec { versions, ..spec("g1", "Ada", "Bob") }, GameResult::First, EndReason::Four),
        (GameSpec { rated: false, ..spec("g2", "Bob", "Ada") }, GameResult::Draw, EndReason::Full),
        (
            GameSpec { unrated_because: load, ..spec("g3", "Ada", "Eve") },
            GameResult::Void,
            EndReason::Stopped,
        ),
        (spec("g4", "Bob", "Eve"), GameResult::First, EndReason::Resign),
        (
            GameSpec { pair: Some(pair("p1-d", 1)), ..spec("g5", "Eve", "Ada") },
            GameResult::Second,
            EndReason::Time,
        ),
    ] {
        play(&*store, spec, FIRST_WINS, result, reason).await;
    }
    store.commit(&[Write::StartGame(spec("g6", "Ada", "Bob"))]).await.unwrap().remove(0).unwrap();
    let ada = player_id("Ada");
    let query = GameQuery { player: Some(ada.clone()), newest_first: true, limit: 9, ..GameQuery::default() };
    let whole: Vec<_> =
        store.finished_games(&query).await.unwrap().iter().filter_map(GameOutline::of).collect();
    let outlines = store.outlines(&ada, 9).await.unwrap();
    assert_eq!(outlines, whole);
    let ids = |outlines: &[GameOutline]| outlines.iter().map(|game| game.id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(&outlines), ["g5", "g3", "g2", "g1"]);
    assert_eq!(outlines.iter().filter(|game| game.ratings.is_some()).count(), 2);
    assert_eq!((outlines[0].series.as_ref().unwrap().as_str(), outlines[1].is_load), ("p1-d", true));
    assert_eq!(ids(&store.outlines(&ada, 2).await.unwrap()), ["g5", "g3"]);
    assert_eq!(store.outlines(&player_id("nobody"), 9).await.unwrap(), []);
}

fn pair(id: &str, leg: u32) -> GamePair {
    GamePair { id: id.parse().unwrap(), leg, of: 2 }
}

pub(crate) async fn rated_games_of_a_pair_are_counted<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob", "Eve"]).await;
    for (id, first, second, rated, started) in [
        ("g1", "Ada", "Bob", true, 0),
        ("g2", "Ada", "Bob", true, 10),
        ("g3", "Bob", "Ada", true, 20),
        ("g4", "Ada", "Bob", false, 20),
        ("g5", "Ada", "Eve", true, 20),
    ] {
        let spec = GameSpec { rated, started_at: after_noon(started), ..spec(id, first, second) };
        write(&*store, Write::StartGame(spec)).await.unwrap();
    }
    let pair = |first, second| BySide { first: player_id(first), second: player_id(second) };
    for (players, since, expected) in [
        (pair("Ada", "Bob"), 10, 2),
        (pair("Bob", "Ada"), 0, 3),
        (pair("Bob", "Ada"), 21, 0),
        (pair("Bob", "Eve"), 0, 0),
        (pair("Bob", "nobody"), 0, 0),
    ] {
        assert_eq!(store.rated_games_between(&players, after_noon(since)).await.unwrap(), expected);
    }
}

pub(crate) async fn live_games_survive_reopening<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let one = spec("g1", "Ada", "Bob");
    write(&*store, Write::StartGame(one.clone())).await.unwrap();
    first_wins(&*store, spec("g2", "Ada", "Bob"), FIRST_WINS).await;
    let whole = whole_game(FIRST_WINS_TOO, GameResult::First, EndReason::Four);
    let append = |events: &[StoredEvent]| Write::Append { game: one.id.clone(), events: events.to_vec() };
    write(&*store, append(&whole[..3])).await.unwrap();
    let before = store.live_games().await.unwrap();
    drop(store);

    let fixture = fixture.reopen().await;
    let store = fixture.store();
    assert_eq!(store.live_games().await.unwrap(), before);
    assert_eq!(store.audit_live().await.unwrap(), before.into_iter().map(Ok).collect::<Vec<_>>());
    let stale = Err(Refused::OutOfSequence { last: 3, got: 3 });
    assert_eq!(write(&*store, append(&whole[2..4])).await, stale);
    assert_eq!(write(&*store, append(&whole[3..5])).await, Ok(Written::Done));
    let finish = Write::Finish { game: one.id.clone(), events: whole[5..].to_vec() };
    let Ok(Written::Settled(settlement)) = write(&*store, finish).await else { panic!("not settled") };
    assert_eq!(settlement.number, 2);
    assert_eq!(settlement.ratings.unwrap().first.before, MilliElo(770_000));
    assert_eq!(store.game(&one.id).await.unwrap().unwrap().events, whole);
}

pub(crate) async fn illegal_moves_are_counted_while_a_game_goes_on<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let one = spec("g1", "Ada", "Bob");
    let count = |side, count| Write::CountIllegal { game: one.id.clone(), side, count };
    assert_eq!(write(&*store, count(Side::First, 1)).await, Err(Refused::NoSuchGame));
    let batch = [Write::StartGame(one.clone()), count(Side::Second, 1), count(Side::Second, 2)];
    store.commit(&batch).await.unwrap();
    write(&*store, Write::StartGame(spec("g2", "Ada", "Bob"))).await.unwrap();
    drop(store);

    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let counted = HashMap::from([(one.id.clone(), BySide { first: 0, second: 2 })]);
    assert_eq!(store.illegal_moves().await.unwrap(), counted);
    let events = whole_game(FIRST_WINS, GameResult::First, EndReason::Four);
    write(&*store, Write::Finish { game: one.id.clone(), events }).await.unwrap();
    assert_eq!(store.illegal_moves().await.unwrap(), HashMap::new(), "they are of games that go on");
    assert_eq!(write(&*store, count(Side::First, 1)).await, Err(Refused::NoSuchGame));
}

pub(crate) async fn what_was_said_in_advance_is_known_while_a_game_goes_on<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    let (one, two) = (spec("g1", "Ada", "Bob"), spec("g2", "Ada", "Bob"));
    let say = |side, text: Option<&str>| {
        let moves = text.map(|text| text.parse().unwrap());
        Write::SetConditional { game: one.id.clone(), side, moves }
    };
    assert_eq!(write(&*store, say(Side::First, None)).await, Err(Refused::NoSuchGame));
    let batch =
        [Write::StartGame(one.clone()), Write::StartGame(two.clone()), say(Side::Second, Some("44 34"))];
    for done in store.commit(&batch).await.unwrap() {
        done.unwrap();
    }
    write(&*store, say(Side::Second, Some("44 3412 56"))).await.unwrap();
    write(&*store, say(Side::First, Some(" 12"))).await.unwrap();
    write(&*store, say(Side::First, None)).await.unwrap();
    drop(store);

    let fixture = fixture.reopen().await;
    let store = fixture.store();
    let said = BySide { first: None, second: Some("44 3412 56".parse().unwrap()) };
    let all = HashMap::from([(one.id.clone(), said)]);
    assert_eq!(store.conditional_moves(None).await.unwrap(), all);
    assert_eq!(store.conditional_moves(Some(&one.id)).await.unwrap(), all);
    assert_eq!(store.conditional_moves(Some(&two.id)).await.unwrap(), HashMap::new());
    let events = whole_game(FIRST_WINS, GameResult::First, EndReason::Four);
    write(&*store, Write::Finish { game: one.id.clone(), events }).await.unwrap();
    assert_eq!(store.conditional_moves(None).await.unwrap(), HashMap::new());
    assert_eq!(write(&*store, say(Side::First, Some(" 12"))).await, Err(Refused::NoSuchGame));
}

pub(crate) async fn takebacks_count_for_the_moves<F: Fixture>() {
    let fixture = F::create().await;
    let store = fixture.store();
    add_players(&*store, &["Ada", "Bob"]).await;
    first_wins(&*store, spec("g1", "Ada", "Bob"), FIRST_WINS).await;
    let again = spec("g2", "Ada", "Bob");
    let mut events = moves("44");
    events.push(event(3, EventKind::Takeback { plies: 2 }));
    let rest = whole_game(FIRST_WINS, GameResult::First, EndReason::Four);
    events.extend(rest.into_iter().map(|event| StoredEvent { seq: event.seq + 3, ..event }));
    let finish = Write::Finish { game: again.id.clone(), events };
    store.commit(&[Write::StartGame(again.clone()), finish]).await.unwrap();
    let game = store.game(&again.id).await.unwrap().unwrap();
    assert_eq!(game.moves(), FIRST_WINS);
    assert_eq!(game.settlement.unwrap().unrated_because, Some(UnratedReason::Repeated));
}
