use std::time::Duration;

use futures::future::join_all;

use super::*;
use crate::model::bounded::BoundedLong;
use crate::model::ids::GameId;
use crate::model::opening::SideChoice;
use crate::play::presence::outbox::{Next, RING_MESSAGES_MAX};
use crate::protocol::ClientMessage;
use crate::protocol::client::{OpenChallenge, Ping, ProgramFault, ProgramFaultKind, Resign, Watch};
use crate::protocol::server::ServerMessage;
use crate::protocol::terms::{SeriesLength, Terms, WireVariant};
use crate::session::doors::{COMING_MAX, Comer};
use crate::session::port::{Disconnected, IDLE_GUEST_WITHIN, RESUME_WITHIN};
use crate::storage::bot_versions::FaultKind;
use crate::storage::store::StoreError;
use crate::system::shares::Share;
use crate::testing::{Arena, Client, blitz, hello, kind, unknown_token};

fn close_code(client: &Client) -> Option<CloseCode> {
    client.port.outbox().parted(&client.attachment)
}

fn is_open(opened: &Opened) -> bool {
    opened.session.outbox().parted(&opened.attachment).is_none()
}

#[tokio::test(start_paused = true)]
async fn a_fresh_session_hears_welcome_and_synced() {
    let arena = Arena::new().await;
    let mut guest = arena.guest().await;
    assert!(!guest.welcome.resumed);
    assert_eq!(guest.hear_kinds(), ["synced"]);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_token_is_refused() {
    let arena = Arena::new().await;
    let refused = arena.try_hello(Credential::Token(unknown_token()), hello()).await.err().unwrap();
    assert_eq!((refused.error.code, refused.code), (ErrorCode::Unauthorized, CloseCode::Credentials));
}

#[tokio::test(start_paused = true)]
async fn a_session_goes_on_where_it_was() {
    let arena = Arena::new().await;
    let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
    let (mut first, mut second) = (arena.join(&ada).await, arena.join(&bob).await);
    let game = arena.start(&ada.identity, &bob.identity).await;
    arena.settle().await;
    assert_eq!(first.hear_kinds(), ["synced", "game", "turn"]);
    second.hear();
    second.vanish().await;
    arena.settle().await;
    assert_eq!(first.hear_kinds(), ["opponent_gone"]);
    first.play(&game, 0, 4).await;
    arena.settle().await;
    let mut back = arena.hello(Credential::None, second.resuming()).await;
    assert!(back.welcome.resumed);
    assert_eq!(back.welcome.you.id, bob.identity.id);
    assert_eq!(back.hear_kinds(), ["moved", "turn", "synced", "turn"]);
    arena.settle().await;
    assert_eq!(first.hear_kinds(), ["moved", "opponent_gone", "opponent_gone"]);
}

#[tokio::test(start_paused = true)]
async fn the_news_of_an_old_socket_does_not_harm_the_new_one() {
    let arena = Arena::new().await;
    let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
    let (mut first, second) = (arena.join(&ada).await, arena.join(&bob).await);
    arena.start(&ada.identity, &bob.identity).await;
    let back = arena.hello(Credential::None, second.resuming()).await;
    assert_eq!(close_code(&second), Some(CloseCode::Replaced));
    first.hear();
    // Only now does the old socket find out.
    second.vanish().await;
    tokio::time::sleep(2 * RESUME_WITHIN).await;
    assert!(arena.services.sessions.is_online(&bob.identity.id));
    assert_eq!(close_code(&back), None);
    assert!(!first.hear_kinds().contains(&"opponent_gone".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_two_minutes_after_its_last_loss_and_not_after_an_earlier_one() {
    let arena = Arena::new().await;
    let ada = arena.person("Ada").await;
    let client = arena.join(&ada).await;
    client.vanish().await;
    tokio::time::sleep(RESUME_WITHIN / 2).await;
    let client = arena.hello(Credential::None, client.resuming()).await;
    client.vanish().await;
    tokio::time::sleep(RESUME_WITHIN * 3 / 4).await;
    assert_eq!(arena.services.sessions.of(&ada.identity.id).len(), 1);
    tokio::time::sleep(RESUME_WITHIN / 2).await;
    assert_eq!(arena.services.sessions.of(&ada.identity.id).len(), 0);
    let client = arena.hello(ada.credential.clone(), client.resuming()).await;
    assert!(!client.welcome.resumed);
}

#[tokio::test(start_paused = true)]
async fn errors_on_the_socket_are_counted_by_code() {
    let arena = Arena::new().await;
    for code in [ErrorCode::Quota, ErrorCode::BadJson, ErrorCode::Quota] {
        arena.gateway.refused(code);
    }
    let text = arena.services.metrics.text();
    for (code, count) in [("quota", 2), ("bad_json", 1), ("busy", 0)] {
        let line = format!("fourfold_socket_refusals_total{{code=\"{code}\"}} {count}\n");
        assert!(text.contains(&line), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_guest_is_waited_for_ten_seconds_and_one_with_business_for_two_minutes() {
    let arena = Arena::new().await;
    let count = || arena.services.sessions.count();
    let idle = arena.guest().await;
    let (playing, offering) = (arena.guest().await, arena.guest().await);
    let guest = |client: &Client| arena.services.sessions.of(&client.welcome.you.id)[0].identity().clone();
    let house = arena.services.host.house().all()[0].identity.clone();
    arena.start(&guest(&playing), &house).await;
    let link = OpenChallenge { terms: casual(), listed: false, key: None };
    offering.say(ClientMessage::OpenChallenge(link)).await;
    arena.settle().await;
    for client in [&idle, &playing, &offering] {
        client.vanish().await;
    }
    tokio::time::sleep(IDLE_GUEST_WITHIN.saturating_sub(Duration::from_secs(1))).await;
    assert_eq!(count(), 3);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(count(), 2, "nothing to come back for");
    let back = arena.hello(Credential::None, offering.resuming()).await;
    assert!(back.welcome.resumed);
    back.vanish().await;
    tokio::time::sleep(RESUME_WITHIN + Duration::from_secs(1)).await;
    assert_eq!(count(), 0);
}

#[tokio::test(start_paused = true)]
async fn one_network_makes_so_many_sessions_a_minute_and_takes_none_from_others() {
    let arena = Arena::new().await;
    let budget = Share::Session.rule().network.budget.unwrap();
    let first = arena.guest_from("192.0.2.1").await;
    for _ in 1..budget.amount {
        arena.guest_from("192.0.2.1").await;
    }
    let refused = arena.try_hello_from("192.0.2.1", Credential::None, hello()).await.err().unwrap();
    assert_eq!((refused.error.code, refused.code), (ErrorCode::Quota, CloseCode::Flooding));
    let wait = Duration::from_millis(refused.error.retry_ms.unwrap());
    assert!(wait <= budget.period / budget.amount, "{wait:?}");
    arena.guest_from("192.0.2.2").await;
    first.vanish().await;
    let back = arena.try_hello_from("192.0.2.1", Credential::None, first.resuming()).await;
    assert!(back.is_ok(), "to go on costs nothing");
    tokio::time::sleep(wait + Duration::from_millis(1)).await;
    arena.guest_from("192.0.2.1").await;
}

#[tokio::test(start_paused = true)]
async fn of_those_who_come_at_once_so_many_are_greeted_at_a_time() {
    let arena = Arena::new().await;
    let (doors, here) = (&arena.services.doors, "198.51.100.1".parse().unwrap());
    let others =
        join_all((0..COMING_MAX).map(|_| doors.come(Comer::Any, here, std::future::pending::<()>())));
    let guests = async {
        let soon = Duration::from_millis(5);
        let given_up = tokio::time::timeout(soon, arena.guest_from("192.0.2.1")).await.map(drop);
        assert!(given_up.is_err(), "it waits");
        assert_eq!(arena.services.sessions.count(), 0);
        arena.guest_from("192.0.2.2").await
    };
    let greeted = tokio::select! {
        biased;
        _ = others => unreachable!(),
        greeted = guests => greeted,
    };
    assert!(!greeted.welcome.resumed);
    arena.settle().await;
    assert_eq!(arena.services.sessions.count(), 1, "whoever has given up is not greeted");
}

#[tokio::test(start_paused = true)]
async fn whoever_an_earlier_process_knew_does_not_wait_behind_others() {
    let before = Arena::new().await;
    let ada = before.person("Ada").await;
    let client = before.join(&ada).await;
    let arena = Arena::restarted(Arc::clone(&before.store)).await;
    let (doors, here) = (&arena.services.doors, "198.51.100.1".parse().unwrap());
    let others =
        join_all((0..COMING_MAX).map(|_| doors.come(Comer::Any, here, std::future::pending::<()>())));
    let back = async {
        let soon = Duration::from_millis(3);
        let resumed = tokio::time::timeout(soon, arena.hello(Credential::None, client.resuming())).await;
        assert!(resumed.expect("there is a place for it").welcome.resumed);
        let again = arena.try_hello(Credential::None, client.resuming());
        assert!(tokio::time::timeout(soon, again).await.is_err(), "known here now, it waits like all");
    };
    tokio::select! {
        biased;
        _ = others => unreachable!(),
        () = back => {}
    }
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_guests_leaves_nothing_behind() {
    let arena = Arena::new().await;
    let ada = arena.person("Ada").await;
    let _ada = arena.join(&ada).await;
    let tasks = arena.services.tasks.len();
    for number in 0..300 {
        let guest = arena.guest_from(&format!("192.0.2.{}", number % 250)).await;
        guest.vanish().await;
    }
    tokio::time::sleep(IDLE_GUEST_WITHIN + Duration::from_secs(1)).await;
    arena.settle().await;
    assert_eq!(arena.services.sessions.count(), 1);
    assert_eq!(arena.services.tasks.len(), tasks);
    assert_eq!(arena.services.sessions.by_name(&ada.identity.name), Some(ada.identity.clone()));
}

/// Terms of a casual game.
fn casual() -> Terms {
    Terms {
        time: blitz(),
        rated: false,
        variant: WireVariant::default(),
        opening: None,
        games: SeriesLength::default(),
        side: SideChoice::Random,
        load: false,
        private: false,
    }
}

#[tokio::test(start_paused = true)]
async fn a_newer_connection_of_a_bot_takes_over_its_seats_and_not_its_settings() {
    let arena = Arena::new().await;
    let (ada, bot) = (arena.person("Ada").await, arena.bot("Robo").await);
    let (mut person, older) = (arena.join(&ada).await, arena.join_open(&bot).await);
    arena.start(&bot.identity, &ada.identity).await;
    arena.settle().await;
    person.hear();
    let mut newer = arena.join(&bot).await;
    assert_eq!(close_code(&older), Some(CloseCode::Replaced));
    assert_eq!(newer.hear_kinds(), ["game", "synced", "turn"]);
    older.vanish().await;
    tokio::time::sleep(RESUME_WITHIN * 2).await;
    assert_eq!(arena.services.sessions.of(&bot.identity.id).len(), 1);
    assert!(!person.hear_kinds().contains(&"opponent_gone".to_owned()));
    assert!(arena.services.sessions.open_bots().is_empty(), "the newer one did not say that it is open");
}

#[tokio::test(start_paused = true)]
async fn of_many_connections_of_a_bot_that_come_at_once_one_is_left() {
    let arena = Arena::new().await;
    let bot = arena.bot("Robo").await;
    let opening = (0..10).map(|_| arena.try_hello(bot.credential.clone(), hello()));
    let opened = futures::future::join_all(opening).await;
    assert_eq!(arena.services.sessions.of(&bot.identity.id).len(), 1);
    assert_eq!(opened.into_iter().filter(|opened| is_open(opened.as_ref().unwrap())).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_person_may_have_several_connections_and_each_sees_everything() {
    let arena = Arena::new().await;
    let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
    let (mut phone, mut laptop) = (arena.join(&ada).await, arena.join(&ada).await);
    let mut other = arena.join(&bob).await;
    let game = arena.start(&ada.identity, &bob.identity).await;
    phone.play(&game, 0, 4).await;
    arena.settle().await;
    assert_eq!(phone.hear_kinds(), ["synced", "game", "turn", "moved"]);
    assert_eq!(laptop.hear_kinds(), ["synced", "game", "turn", "moved"]);
    other.hear();
    phone.vanish().await;
    arena.settle().await;
    assert_eq!(other.hear_kinds(), Vec::<String>::new());
    laptop.leave().await;
    arena.settle().await;
    assert_eq!(other.hear_kinds(), ["opponent_gone"]);
}

#[tokio::test(start_paused = true)]
async fn the_oldest_connection_of_a_person_with_too_many_gives_way() {
    let arena = Arena::new().await;
    let ada = arena.person("Ada").await;
    let mut clients = Vec::new();
    for _ in 0..=arena.services.connections_per_account {
        clients.push(arena.join(&ada).await);
    }
    let closed: Vec<_> = clients.iter().filter_map(close_code).collect();
    assert_eq!((closed, close_code(&clients[0])), (vec![CloseCode::Replaced], Some(CloseCode::Replaced)));
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_a_session_goes_on_with_its_games() {
    let before = Arena::new().await;
    let (ada, bob) = (before.person("Ada").await, before.person("Bob").await);
    let (first, _second) = (before.join(&ada).await, before.join(&bob).await);
    let game = before.start(&ada.identity, &bob.identity).await;
    first.play(&game, 0, 4).await;
    before.settle().await;
    let arena = Arena::restarted(Arc::clone(&before.store)).await;
    let mut again = arena.hello(Credential::None, first.resuming()).await;
    assert!(again.welcome.resumed);
    assert_eq!(again.welcome.session, first.welcome.session);
    let heard = again.hear();
    assert_eq!(heard.iter().map(kind).collect::<Vec<_>>(), ["game", "synced"]);
    let ServerMessage::Game(snapshot) = &heard[0] else { panic!("{heard:?}") };
    assert_eq!((snapshot.moves.as_str(), snapshot.frozen_ms.is_some()), ("4", true));
}

#[tokio::test(start_paused = true)]
async fn a_database_that_is_away_for_a_moment_costs_nobody_the_session() {
    let before = Arena::new().await;
    let ada = before.person("Ada").await;
    let resuming = before.join(&ada).await.resuming();
    let arena = Arena::restarted(Arc::clone(&before.store)).await;
    arena.store.lose("rating");
    let refused = arena.try_hello(Credential::None, resuming.clone()).await.map(|_| ()).unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::Busy, "{refused}");
    assert!(refused.error.retry_ms.is_some(), "{refused}");
    assert!(arena.hello(Credential::None, resuming).await.welcome.resumed);
}

#[tokio::test(start_paused = true)]
async fn a_token_is_called_wrong_only_after_a_look() {
    let arena = Arena::new().await;
    let Credential::Token(token) = arena.bot("robo").await.credential else { panic!("bots have tokens") };
    arena.store.lose("token");
    let away = arena.gateway.check_token(&token).await;
    assert!(matches!(away, Err(AccountError::Read(StoreError::Unreachable(_)))), "{away:?}");
    assert!(arena.gateway.check_token(&token).await.is_ok());
    let wrong = arena.gateway.check_token(&Secret::new("c4b_wrong")).await;
    assert!(matches!(wrong, Err(AccountError::Unauthorized)), "{wrong:?}");
}

/// Dates the session as a clock did that has been set back by an hour since.
fn issue_in_an_hour(arena: &Arena, identity: &Identity, resuming: &mut Hello) {
    let signer = &arena.services.signer;
    let resume = resuming.resume.as_mut().unwrap();
    let token = ResumeToken::read(signer, &resume.secret).unwrap();
    let in_an_hour = UnixMillis(UnixMillis::now().0 + 3_600_000);
    resume.secret = ResumeToken::new(&token.session, identity, token.credential, in_an_hour).write(signer);
}

#[tokio::test(start_paused = true)]
async fn a_session_goes_on_though_the_clock_was_set_back_before_the_start() {
    let before = Arena::new().await;
    let ada = before.person("Ada").await;
    let mut resuming = before.join(&ada).await.resuming();
    let arena = Arena::restarted(Arc::clone(&before.store)).await;
    issue_in_an_hour(&arena, &ada.identity, &mut resuming);
    assert!(arena.hello(Credential::None, resuming).await.welcome.resumed);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_has_ended_is_over_though_the_clock_was_set_back_since() {
    let arena = Arena::new().await;
    let ada = arena.person("Ada").await;
    let client = arena.join(&ada).await;
    let mut resuming = client.resuming();
    client.leave().await;
    issue_in_an_hour(&arena, &ada.identity, &mut resuming);
    assert!(!arena.hello(Credential::None, resuming).await.welcome.resumed);
}

#[tokio::test(start_paused = true)]
async fn two_sockets_that_resume_one_session_after_a_restart_share_it() {
    let before = Arena::new().await;
    let ada = before.person("Ada").await;
    let client = before.join(&ada).await;
    let arena = Arena::restarted(Arc::clone(&before.store)).await;
    let resume = || arena.try_hello(Credential::None, client.resuming());
    let (one, other) = tokio::join!(resume(), resume());
    assert_eq!(arena.services.sessions.of(&ada.identity.id).len(), 1);
    assert_ne!(is_open(&one.unwrap()), is_open(&other.unwrap()));
}

#[tokio::test(start_paused = true)]
async fn a_number_that_was_never_sent_begins_a_fresh_session_without_an_absence() {
    let arena = Arena::new().await;
    let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
    let (mut first, second) = (arena.join(&ada).await, arena.join(&bob).await);
    arena.start(&ada.identity, &bob.identity).await;
    arena.settle().await;
    first.hear();
    let mut wrong = second.resuming();
    wrong.resume.as_mut().unwrap().seq = BoundedLong::new(1_000);
    let mut fresh = arena.hello(Credential::None, wrong).await;
    assert!(!fresh.welcome.resumed);
    assert_eq!(fresh.hear_kinds(), ["game", "synced"]);
    assert_eq!(close_code(&second), Some(CloseCode::Replaced));
    arena.settle().await;
    assert_eq!(first.hear_kinds(), Vec::<String>::new());
    assert_eq!(arena.services.sessions.of(&bob.identity.id).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_foreign_or_changed_secret_resumes_nothing() {
    let arena = Arena::new().await;
    let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
    let (first, second) = (arena.join(&ada).await, arena.join(&bob).await);
    let mut stolen = first.resuming();
    stolen.resume.as_mut().unwrap().secret = second.resuming().resume.unwrap().secret;
    let thief = arena.hello(Credential::None, stolen).await;
    assert!(!thief.welcome.resumed);
    assert_eq!(thief.welcome.you.kind, crate::model::player::PlayerKind::Guest);
    let not_mine = arena.hello(bob.credential.clone(), first.resuming()).await;
    assert!(!not_mine.welcome.resumed);
    assert_eq!(not_mine.welcome.you.id, bob.identity.id);
}

#[tokio::test(start_paused = true)]
async fn a_socket_that_gives_up_while_it_is_greeted_opens_no_session_and_replaces_none() {
    let arena = Arena::new().await;
    let ada = arena.person("Ada").await;
    let _given_up = tokio::time::timeout(Duration::ZERO, arena.join(&ada)).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!arena.services.sessions.is_online(&ada.identity.id));
    assert_eq!(arena.services.sessions.all().len(), 0);
    let client = arena.join(&ada).await;
    let _given_up =
        tokio::time::timeout(Duration::ZERO, arena.hello(Credential::None, client.resuming())).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(close_code(&client), None, "the older attempt comes to nothing");
}

#[tokio::test(start_paused = true)]
async fn ending_twice_is_ending_once() {
    let arena = Arena::new().await;
    let ada = arena.person("Ada").await;
    let client = arena.join(&ada).await;
    let session = arena.services.sessions.all().remove(0);
    for _ in 0..2 {
        arena.services.end_session(&session, Connection::Lost, CloseCode::Credentials).await;
    }
    assert_eq!(close_code(&client), Some(CloseCode::Credentials));
    client.vanish().await;
    assert!(matches!(client.port.outbox().next(&client.attachment), Next::Close(CloseCode::Credentials)));
    assert!(arena.services.sessions.all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_game_that_a_socket_watches_after_the_end_of_its_session_is_left_with_the_socket() {
    let arena = Arena::new().await;
    let (ada, bob, eve) = (arena.person("Ada").await, arena.person("Bob").await, arena.person("Eve").await);
    let (_first, _second, watcher) = (arena.join(&ada).await, arena.join(&bob).await, arena.join(&eve).await);
    let game = arena.start(&ada.identity, &bob.identity).await;
    let watching = async || {
        arena.settle().await;
        arena.services.directory.public(&game).unwrap().watching()
    };
    let session = arena.services.sessions.of(&eve.identity.id).remove(0);
    arena.services.end_session(&session, Connection::Lost, CloseCode::Replaced).await;
    // It stood behind a request that took long.
    watcher.say(ClientMessage::Watch(Watch { game: Some(game.clone()), feed: None })).await;
    assert_eq!(watching().await, 1);
    watcher.vanish().await;
    assert_eq!(watching().await, 0);
}

/// A session that is entered and not yet left to its task.
fn half_opened(arena: &Arena, identity: &Identity) -> OwnedSession {
    let proven = Proven { identity: identity.clone(), credential: None };
    let id = SessionId::random(&mut chance());
    let address = "127.0.0.1".parse().unwrap();
    let request = KnownHello { hello: hello(), profile: None, proven, address, site: None };
    let owned = arena.gateway.make(id, "secret", &request, Outbox::new());
    arena.services.sessions.insert(&owned.session, 0, None, |_| {}).unwrap();
    owned
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_task_has_panicked_ends_with_its_socket() {
    let arena = Arena::new().await;
    let ada = arena.person("Ada").await;
    let mut owned = half_opened(&arena, &ada.identity);
    let session = Arc::clone(&owned.session);
    drop(owned.inbox.take());
    let welcome = arena.services.welcome(&session, false).await.unwrap();
    let attachment = session.outbox().attach(None, &welcome, None).unwrap();
    let mut socket = arena.gateway.opened(&session, attachment.clone());
    socket.let_go(Disconnected::Lost).await;
    assert!(arena.services.sessions.all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_opener_panics_half_way_is_struck_out() {
    let arena = Arena::new().await;
    let ada = arena.person("Ada").await;
    let owned = half_opened(&arena, &ada.identity);
    let session = Arc::clone(&owned.session);
    let opener = tokio::spawn(async move {
        let _owned = owned;
        panic!("between entering and leaving it to its task")
    });
    assert!(opener.await.is_err());
    arena.settle().await;
    assert!(arena.services.sessions.all().is_empty());
    let ending = SessionEnding::silent(Connection::Lost, CloseCode::Bye);
    assert!(session.ask(|ended| SessionCommand::End { ending, ended }).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_takes_waits_for_its_client() {
    let arena = Arena::new().await;
    let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
    let mut other = arena.join(&bob).await;
    arena.start(&ada.identity, &bob.identity).await;
    drop(arena.try_hello(ada.credential.clone(), hello()).await.unwrap());
    arena.settle().await;
    assert!(!arena.services.sessions.is_online(&ada.identity.id));
    assert_eq!(other.hear_kinds().pop().as_deref(), Some("opponent_gone"));
    tokio::time::sleep(2 * RESUME_WITHIN).await;
    assert_eq!(arena.services.sessions.of(&ada.identity.id).len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_was_replaced_has_done_nothing_wrong() {
    let arena = Arena::new().await;
    let (ada, bot) = (arena.person("Ada").await, arena.bot("Robo").await);
    let (_person, older) = (arena.join(&ada).await, arena.join(&bot).await);
    arena.start(&bot.identity, &ada.identity).await;
    let newer = arena.join(&bot).await;
    older.vanish().await;
    arena.settle().await;
    let faults = || arena.services.store.bot_faults(&bot.identity.id, 10);
    assert_eq!(faults().await.unwrap(), []);
    newer.vanish().await;
    arena.settle().await;
    assert_eq!(faults().await.unwrap().len(), 1, "this one was a loss");
}

#[tokio::test(start_paused = true)]
async fn a_bot_says_why_it_resigns_and_what_it_said_wrongly_is_listed() {
    let arena = Arena::new().await;
    let (ada, bot) = (arena.person("Ada").await, arena.bot("Robo").await);
    let (person, robo) = (arena.join(&ada).await, arena.join(&bot).await);
    let game = arena.start(&bot.identity, &ada.identity).await;
    arena.settle().await;
    robo.misspeak(ErrorCode::BadJson, "expected value at line 1 column 3");
    let fault = |note: &str| ProgramFault { kind: ProgramFaultKind::Left, note: note.to_owned() };
    let resign = |game: &GameId, note: &str| {
        ClientMessage::Resign(Resign { game: game.clone(), fault: Some(fault(note)) })
    };
    robo.say(resign(&"elsewhere".parse().unwrap(), "not there")).await;
    robo.say(resign(&game, "bad \u{202e} letter")).await;
    robo.say(resign(&game, "exited with code 1: ValueError")).await;
    arena.settle().await;
    let faults = arena.services.store.bot_faults(&bot.identity.id, 10).await.unwrap();
    let seen: Vec<_> =
        faults.iter().map(|fault| (fault.kind, fault.game.clone(), fault.note.as_str())).collect();
    assert_eq!(
        seen,
        [
            (FaultKind::Left, Some(game), "exited with code 1: ValueError"),
            (FaultKind::IllegalMove, None, "expected value at line 1 column 3; it said {\"move␣"),
        ]
    );
    let again = arena.start(&bot.identity, &ada.identity).await;
    person.say(resign(&again, "people have no program")).await;
    person.misspeak(ErrorCode::BadJson, "nor an owner");
    arena.settle().await;
    assert_eq!(arena.services.store.bot_faults(&ada.identity.id, 10).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn an_illegal_move_is_listed_with_the_frame_it_came_in() {
    let arena = Arena::new().await;
    let (ada, bot) = (arena.person("Ada").await, arena.bot("Robo").await);
    let (person, robo) = (arena.join(&ada).await, arena.join(&bot).await);
    let game = arena.start(&bot.identity, &ada.identity).await;
    let frame = |column: &str| {
        format!(
            "{{\"type\":\"move\",\n\"game\":\"{game}\",\"ply\":0,\"column\":{column},\"x\":\"\u{202e}\"}}"
        )
    };
    robo.say_frame(&frame("9")).await;
    robo.say_frame(&frame("\"d\"")).await;
    robo.say_frame(&frame("4")).await;
    arena.settle().await;
    person.say_frame(&frame("9").replace("\"ply\":0", "\"ply\":1")).await;
    arena.settle().await;
    let faults = arena.services.store.bot_faults(&bot.identity.id, 10).await.unwrap();
    let notes: Vec<&str> = faults.iter().map(|fault| fault.note.as_str()).collect();
    let said = |column: &str| frame(column).replace(['\n', '\u{202e}'], "␣");
    assert_eq!(
        notes,
        [
            format!("column must be a whole number from 1 to 7 (after 0 moves); it said {}", said("\"d\"")),
            format!("column 9 is not on a board of 7 columns (after 0 moves); it said {}", said("9")),
        ]
    );
    assert_eq!(arena.services.store.bot_faults(&ada.identity.id, 10).await.unwrap(), []);
}

/// The ends that came, and whether `synced` was the last message.
fn hear_ends(client: &mut Client) -> (usize, Option<String>) {
    let kinds = client.hear_kinds();
    (kinds.iter().filter(|kind| *kind == "game_end").count(), kinds.last().cloned())
}

#[tokio::test(start_paused = true)]
async fn an_end_that_a_full_ring_has_forgotten_is_told_to_the_session_that_takes_over() {
    let arena = Arena::new().await;
    let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
    let (first, mut second) = (arena.join(&ada).await, arena.join(&bob).await);
    second.hear();
    let (early, late) = (second.resuming(), arena.start(&ada.identity, &bob.identity).await);
    arena.settle().await;
    second.hear();
    let game = arena.start(&ada.identity, &bob.identity).await;
    first.say(ClientMessage::Resign(Resign::new(game.clone()))).await;
    arena.settle().await;
    second.hear();
    let seen = second.resuming();
    second.vanish().await;
    first.say(ClientMessage::Resign(Resign::new(late.clone()))).await;
    arena.settle().await;
    let session = arena.services.sessions.of(&bob.identity.id).remove(0);
    for n in 0..RING_MESSAGES_MAX {
        session.tell(ServerMessage::Pong(Ping { n: BoundedLong::new(n as u64) }));
    }
    let mut back = arena.hello(bob.credential.clone(), seen).await;
    assert!(!back.welcome.resumed);
    assert_eq!(hear_ends(&mut back), (1, Some("synced".to_owned())), "the other one was seen");
    // Whoever names an early number of a session that is gone has heard neither.
    let mut again = arena.hello(bob.credential.clone(), early).await;
    assert!(!again.welcome.resumed);
    assert_eq!(hear_ends(&mut again), (2, Some("synced".to_owned())));
    let mut stranger = arena.hello(bob.credential.clone(), hello()).await;
    assert_eq!(hear_ends(&mut stranger), (0, Some("synced".to_owned())), "it has missed nothing");
}

#[tokio::test(start_paused = true)]
async fn when_the_last_sockets_end_no_session_keeps_a_task() {
    let arena = Arena::new().await;
    let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
    let (first, second) = (arena.join(&ada).await, arena.join(&bob).await);
    first.vanish().await;
    arena.services.stop.cancel();
    arena.settle().await;
    let back = arena.hello(Credential::None, first.resuming()).await;
    assert!(back.welcome.resumed, "until then clients may come back");
    arena.services.sockets_stop.cancel();
    back.vanish().await;
    second.vanish().await;
    arena.services.tasks.close();
    let ended = tokio::time::timeout(Duration::from_secs(1), arena.services.tasks.wait()).await;
    assert!(ended.is_ok(), "{} tasks are left", arena.services.tasks.len());
}

#[tokio::test(start_paused = true)]
async fn who_comes_back_while_the_last_sockets_end_goes_on_at_the_next_process() {
    let before = Arena::new().await;
    let ada = before.person("Ada").await;
    let client = before.join(&ada).await;
    before.services.sockets_stop.cancel();
    client.vanish().await;
    before.settle().await;
    let refused = before.try_hello(Credential::None, client.resuming()).await.err().unwrap();
    assert_eq!((refused.error.code, refused.code), (ErrorCode::Busy, CloseCode::Restart));
    assert!(refused.error.retry_ms.is_some());
    let arena = Arena::restarted(Arc::clone(&before.store)).await;
    assert!(arena.hello(Credential::None, client.resuming()).await.welcome.resumed);
}

fn size_of_future<F: Future>(_: fn(SessionTask) -> F) -> usize {
    size_of::<F>()
}

/// Half a room and an idle connection together may take 12 KB, most of which are the socket's buffers.
#[test]
fn a_session_is_small() {
    let (session, task) = (size_of::<Session>(), size_of_future(SessionTask::run));
    assert!(session <= 576 && task <= 512, "{session} bytes, and {task} of its task");
}
