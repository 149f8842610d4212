use std::sync::Arc;
use std::time::Duration;

use crate::model::clock::{GameTime, TimeControl};
use crate::model::ids::ChallengeId;
use crate::model::pace::BotPace;
use crate::model::player::{OpponentKind, PlayerKind};
use crate::protocol::client::{
    Accept, Challenge, Decline, DeclineReason, OnChallenge, OpenChallenge, PlayBot, Seek,
};
use crate::protocol::server::{ChallengeOutcome, Offer};

use crate::model::opening::{OpeningKind, SideChoice};

use crate::model::time::UnixMillis;
use crate::protocol::terms::{SeriesLength, Terms, WireOpening, WireSide, WireVariant};
use crate::protocol::{ClientMessage, ErrorCode, ServerMessage};
use crate::storage::MemoryStore;
use crate::storage::conformance::{add, player};
use crate::storage::games::GameStore as _;
use crate::storage::links::{LinkStore, StoredLink};
use crate::storage::memory::CommitFault;
use crate::storage::store::Write;
use crate::system::shares::Share;
use crate::testing::{Account, Arena, Client, Setup, blitz, offer};

mod blocks;
mod correspondence;
mod outages;

fn seek(rated: bool) -> Seek {
    Seek { time: blitz(), rated, opponents: None, rating: None, variant: WireVariant::default() }
}

fn bank(ms: u32) -> GameTime {
    GameTime::new(TimeControl { bank_ms: Some(ms), increment_ms: 0, move_ms: None }).unwrap()
}

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

fn challenge(to: &str, key: Option<&str>) -> ClientMessage {
    ClientMessage::Challenge(Challenge { to: to.into(), terms: casual(), key: key.map(Into::into) })
}

/// How many seeks the list has once it is up to date.
async fn shown_seeks(arena: &Arena) -> usize {
    tokio::time::sleep(Duration::from_millis(251)).await;
    arena.services.feeds.lobby().seeks.len()
}

fn accept(offer: &Offer) -> ClientMessage {
    ClientMessage::Accept(Accept { challenge: offer.challenge.clone(), side: None })
}

fn hear_offer(client: &mut Client) -> Offer {
    let heard = client.hear();
    let offer = heard.iter().find_map(|message| match message {
        ServerMessage::Challenge(offer) => Some((**offer).clone()),
        _ => None,
    });
    offer.unwrap_or_else(|| panic!("{heard:?}"))
}

fn hear_ends(client: &mut Client) -> Vec<(ChallengeId, ChallengeOutcome)> {
    let ends = client.hear().into_iter().filter_map(|message| match message {
        ServerMessage::ChallengeEnd(end) => Some((end.challenge, end.how)),
        _ => None,
    });
    ends.collect()
}

#[track_caller]
fn check_refused(client: &mut Client, code: ErrorCode) {
    let codes: Vec<ErrorCode> = client.hear_errors().iter().map(|error| error.code).collect();
    assert_eq!(codes, [code]);
}

/// Two people who are connected and have heard everything.
async fn two(arena: &Arena) -> (Account, Client, Account, Client) {
    let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
    let (mut first, mut second) = (arena.join(&ada).await, arena.join(&bob).await);
    first.hear();
    second.hear();
    (ada, first, bob, second)
}

#[tokio::test(start_paused = true)]
async fn two_equal_seeks_become_a_game_at_once() {
    let arena = Arena::new().await;
    let (_, mut ada, _, mut bob) = two(&arena).await;
    ada.say(ClientMessage::Seek(seek(false))).await;
    arena.settle().await;
    assert_eq!(ada.hear_kinds(), ["ok"]);
    bob.say(ClientMessage::Seek(seek(false))).await;
    arena.settle().await;
    assert!(ada.hear_game().is_some() && bob.hear_game().is_some());
    assert_eq!(shown_seeks(&arena).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_seek_goes_with_its_connection() {
    let arena = Arena::new().await;
    let (_, ada, _, mut bob) = two(&arena).await;
    ada.say(ClientMessage::Seek(seek(false))).await;
    assert_eq!(shown_seeks(&arena).await, 1);
    ada.vanish().await;
    bob.say(ClientMessage::Seek(seek(false))).await;
    arena.settle().await;
    assert_eq!(bob.hear_kinds(), ["ok"]);
}

#[tokio::test(start_paused = true)]
async fn the_list_of_seeks_changes_four_times_a_second_at_most() {
    let arena = Arena::new().await;
    let mut clients = Vec::new();
    for number in 0..5 {
        clients.push(arena.join(&arena.person(&format!("p{number}")).await).await);
    }
    let of = |number: u32| Seek { time: bank(60_000 + 1_000 * number), ..seek(false) };
    let mut shown = Vec::new();
    for (number, client) in (0..).zip(&clients) {
        client.say(ClientMessage::Seek(of(number))).await;
        arena.settle().await;
        shown.push(arena.services.feeds.lobby().seeks.len());
    }
    assert_eq!(shown, [1, 1, 1, 1, 1], "the first at once, the others with the next list");
    assert_eq!(shown_seeks(&arena).await, 5);
}

#[tokio::test(start_paused = true)]
async fn a_network_has_so_many_searches_at_a_time_and_leaves_others_theirs() {
    let arena = Arena::new().await;
    let places = Share::Seek.rule().network.held.unwrap();
    let of = |number: u32| ClientMessage::Seek(Seek { time: bank(60_000 + number), ..seek(false) });
    let mut crowd = Vec::new();
    for number in 0..places {
        let guest = arena.guest_from("192.0.2.1").await;
        guest.say(of(number)).await;
        crowd.push(guest);
    }
    let (mut late, mut other) = (arena.guest_from("192.0.2.1").await, arena.guest_from("192.0.2.2").await);
    for client in [&mut late, &mut other] {
        client.hear();
        client.say(of(places)).await;
    }
    crowd[0].say(of(places + 1)).await;
    arena.settle().await;
    let refused = late.hear_errors();
    assert_eq!(refused.iter().map(|error| error.code).collect::<Vec<_>>(), [ErrorCode::Quota]);
    assert!(refused[0].retry_ms.is_some());
    assert_eq!(other.hear_kinds(), ["ok"]);
    assert!(crowd[0].hear_errors().is_empty(), "another search in place of one's own");
    crowd[1].say(ClientMessage::Unseek).await;
    late.say(of(places)).await;
    arena.settle().await;
    assert!(late.hear_game().is_some() && other.hear_game().is_some());
}

#[tokio::test(start_paused = true)]
async fn who_is_not_why_a_pairing_fails_waits_on() {
    let arena = Arena::with(Setup { games_max: 1, ..Setup::default() }).await;
    let (ada_account, mut ada, _, mut bob) = two(&arena).await;
    ada.say(ClientMessage::Seek(seek(false))).await;
    arena.settle().await;
    let house = arena.services.host.house().all()[0].identity.clone();
    // Both at once: the lobby pairs them, and then ada's only place is taken.
    let offered = offer(&house, &ada_account.identity);
    let (started, ()) =
        tokio::join!(arena.services.host.start(offered), bob.say(ClientMessage::Seek(seek(false))));
    started.unwrap();
    arena.settle().await;
    assert!(bob.hear_game().is_none());
    assert_eq!(shown_seeks(&arena).await, 1, "bob's");
    check_refused(&mut ada, ErrorCode::Busy);
    let mut eve = arena.join(&arena.person("Eve").await).await;
    eve.say(ClientMessage::Seek(seek(false))).await;
    arena.settle().await;
    assert!(eve.hear_game().is_some() && bob.hear_game().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_seek_waits_for_a_place_and_is_paired_when_there_is_one() {
    let arena = Arena::with(Setup { games_max: 1, ..Setup::default() }).await;
    let (ada_account, mut ada, _, mut bob) = two(&arena).await;
    ada.say(ClientMessage::Seek(seek(false))).await;
    arena.settle().await;
    let house = arena.services.host.house().all()[0].identity.clone();
    let game = arena.start(&ada_account.identity, &house).await;
    bob.say(ClientMessage::Seek(seek(false))).await;
    arena.settle().await;
    assert!(bob.hear_game().is_none());
    ada.resign(&game).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(bob.hear_game().is_some() && ada.hear_game().is_some());
}

#[tokio::test(start_paused = true)]
async fn what_a_session_asked_for_before_it_ended_is_forgotten() {
    let arena = Arena::new().await;
    let bot = arena.bot("Robo").await;
    let older = arena.join(&bot).await;
    let _newer = arena.join(&bot).await;
    // The older socket has not found out yet.
    older.say(ClientMessage::Seek(seek(false))).await;
    assert_eq!(shown_seeks(&arena).await, 0);
}

#[tokio::test(start_paused = true)]
async fn rated_seeks_need_an_account() {
    let arena = Arena::new().await;
    let mut guest = arena.guest().await;
    guest.say(ClientMessage::Seek(seek(true))).await;
    arena.settle().await;
    check_refused(&mut guest, ErrorCode::Forbidden);
}

#[tokio::test(start_paused = true)]
async fn people_who_wait_ten_seconds_are_offered_a_bot_once() {
    let arena = Arena::new().await;
    let (mut guest, robo) = (arena.guest().await, arena.bot("Robo").await);
    let mut robo = arena.join(&robo).await;
    let only_people = Seek { opponents: Some(vec![OpponentKind::Human]), ..seek(false) };
    guest.say(ClientMessage::Seek(only_people)).await;
    robo.say(ClientMessage::Seek(Seek { time: bank(1_000), ..seek(false) })).await;
    tokio::time::sleep(Duration::from_secs(9)).await;
    assert!(!guest.hear_kinds().contains(&"bot_offer".to_owned()));
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(guest.hear_kinds(), ["bot_offer"]);
    assert!(!robo.hear_kinds().contains(&"bot_offer".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_would_be_refused_is_not_offered() {
    let arena = Arena::new().await;
    let is_offered = async |accepts: serde_json::Value, rating: Option<[i32; 2]>| {
        let mut guest = arena.guest().await;
        guest.say_frame(&serde_json::json!({"type": "set", "accepts": accepts}).to_string()).await;
        let rating = rating.map(|ends| serde_json::from_value(serde_json::json!(ends)).unwrap());
        guest.say(ClientMessage::Seek(Seek { rating, ..seek(false) })).await;
        tokio::time::sleep(Duration::from_secs(12)).await;
        let is_offered = guest.hear_kinds().contains(&"bot_offer".to_owned());
        guest.leave().await;
        is_offered
    };
    for (accepts, rating, expected) in [
        (serde_json::json!({}), None, true),
        (serde_json::json!({"opponents": ["human"]}), None, false),
        (serde_json::json!({"rating": [2_000, 2_100]}), None, false),
        (serde_json::json!({"rating": [2_000, 2_100]}), Some([0, 1_500]), true),
        (serde_json::json!({}), Some([2_000, 2_100]), false),
        (serde_json::json!({"bank_ms": [0, 1_000]}), None, false),
        (serde_json::json!({"rated": true}), None, false),
        (serde_json::json!({"variants": ["8x7"]}), None, true),
    ] {
        assert_eq!(is_offered(accepts.clone(), rating).await, expected, "{accepts} {rating:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_house_bot_can_be_played_at_once() {
    let arena = Arena::new().await;
    let mut guest = arena.guest().await;
    let play = |bot: &str, variant: WireVariant| {
        ClientMessage::PlayBot(PlayBot {
            bot: bot.into(),
            time: blitz(),
            side: SideChoice::First,
            variant,
            rated: false,
            opening: None,
            pace: BotPace::default(),
        })
    };
    guest.say(play("rando", WireVariant::default())).await;
    arena.settle().await;
    let heard = guest.hear_kinds();
    assert!(heard.contains(&"ok".to_owned()) && heard.contains(&"turn".to_owned()), "{heard:?}");
    guest.say(play("nobody", WireVariant::default())).await;
    arena.settle().await;
    check_refused(&mut guest, ErrorCode::NoSuchBot);
}

#[tokio::test(start_paused = true)]
async fn a_challenge_is_offered_accepted_and_ended_for_all_to_hear() {
    let arena = Arena::new().await;
    let (_, mut ada, bob_account, mut bob) = two(&arena).await;
    let mut tablet = arena.join(&bob_account).await;
    ada.say(challenge("bob", None)).await;
    arena.settle().await;
    let offer = hear_offer(&mut bob);
    assert_eq!(
        (hear_offer(&mut ada).challenge, hear_offer(&mut tablet).challenge),
        (offer.challenge.clone(), offer.challenge.clone())
    );
    bob.say(accept(&offer)).await;
    tablet.say(accept(&offer)).await;
    arena.settle().await;
    let accepted = (offer.challenge.clone(), ChallengeOutcome::Accepted);
    assert_eq!(hear_ends(&mut ada), std::slice::from_ref(&accepted));
    assert_eq!(hear_ends(&mut bob), [accepted]);
    check_refused(&mut tablet, ErrorCode::NoSuchChallenge);
    assert_eq!(arena.services.directory.live().len(), 1, "accepted twice is accepted once");
}

#[tokio::test(start_paused = true)]
async fn a_challenge_expires_is_declined_or_withdrawn() {
    let arena = Arena::new().await;
    let (_, mut ada, _, mut bob) = two(&arena).await;
    ada.say(challenge("bob", None)).await;
    tokio::time::sleep(Duration::from_secs(21)).await;
    let offer = hear_offer(&mut ada);
    bob.say(accept(&offer)).await;
    arena.settle().await;
    check_refused(&mut bob, ErrorCode::NoSuchChallenge);
    ada.say(challenge("bob", None)).await;
    arena.settle().await;
    let offer = hear_offer(&mut bob);
    let no = Decline { challenge: offer.challenge.clone(), reason: DeclineReason::TooFast };
    bob.say(ClientMessage::Decline(no)).await;
    arena.settle().await;
    assert_eq!(hear_ends(&mut ada), [(offer.challenge, ChallengeOutcome::Declined)]);
    ada.say(challenge("bob", None)).await;
    arena.settle().await;
    let offer = hear_offer(&mut ada);
    bob.hear();
    bob.say(ClientMessage::Cancel(OnChallenge { challenge: offer.challenge.clone() })).await;
    arena.settle().await;
    check_refused(&mut bob, ErrorCode::NoSuchChallenge);
    ada.say(ClientMessage::Cancel(OnChallenge { challenge: offer.challenge.clone() })).await;
    arena.settle().await;
    assert_eq!(hear_ends(&mut bob), [(offer.challenge, ChallengeOutcome::Canceled)]);
}

#[tokio::test(start_paused = true)]
async fn a_key_makes_a_repeated_challenge_the_same() {
    let arena = Arena::new().await;
    let (_, mut ada, _, _bob) = two(&arena).await;
    let _eve = arena.join(&arena.person("Eve").await).await;
    ada.say(challenge("bob", Some("k"))).await;
    arena.settle().await;
    let offer = hear_offer(&mut ada);
    ada.say(challenge("bob", Some("k"))).await;
    arena.settle().await;
    assert_eq!(hear_offer(&mut ada).challenge, offer.challenge);
    ada.say(challenge("eve", Some("k"))).await;
    arena.settle().await;
    check_refused(&mut ada, ErrorCode::Conflict);
}

#[tokio::test(start_paused = true)]
async fn a_link_outlives_its_makers_connection_and_waits_for_it() {
    let arena = Arena::new().await;
    let (ada, mut first, _, mut bob) = two(&arena).await;
    first
        .say(ClientMessage::OpenChallenge(OpenChallenge { terms: casual(), listed: false, key: None }))
        .await;
    arena.settle().await;
    let offer = hear_offer(&mut first);
    assert!(offer.url.as_ref().unwrap().ends_with(offer.challenge.as_str()));
    first.leave().await;
    arena.settle().await;
    bob.say(accept(&offer)).await;
    arena.settle().await;
    check_refused(&mut bob, ErrorCode::NotAccepting);
    let mut first = arena.join(&ada).await;
    assert_eq!(hear_offer(&mut first).challenge, offer.challenge, "told again");
    bob.say(accept(&offer)).await;
    arena.settle().await;
    assert_eq!(hear_ends(&mut bob), [(offer.challenge, ChallengeOutcome::Accepted)]);
}

#[tokio::test(start_paused = true)]
async fn one_makes_the_first_moves_and_the_other_chooses_the_side() {
    let arena = Arena::new().await;
    let (ada, mut first, bob, mut second) = two(&arena).await;
    let opening = Some(WireOpening { kind: OpeningKind::Given, moves: "4".into() });
    let cut = || Terms { opening: opening.clone(), side: SideChoice::Opponent, ..casual() };
    let ask = |to: &str, terms| ClientMessage::Challenge(Challenge { to: to.into(), terms, key: None });
    let chosen = |offer: &Offer, side| {
        ClientMessage::Accept(Accept { challenge: offer.challenge.clone(), side: Some(side) })
    };
    for side in [WireSide::First, WireSide::Second] {
        first.say(ask("Bob", cut())).await;
        arena.settle().await;
        let offer = hear_offer(&mut second);
        assert_eq!(offer.terms.side, SideChoice::Opponent);
        second.say(chosen(&offer, side)).await;
        arena.settle().await;
        let game = second.hear_game().unwrap();
        assert_eq!((game.you, game.moves.as_str()), (Some(side), "4"));
        let stored = arena.store.game(&game.game).await.unwrap().unwrap();
        assert_eq!(stored.spec.players[side.into()], bob.identity.id);
        second.resign(&game.game).await;
        arena.settle().await;
        first.hear();
        second.hear();
    }
    // Whoever chooses none plays by lot; where the sides are chosen nobody chooses again.
    first.say(ask("Bob", cut())).await;
    arena.settle().await;
    let offer = hear_offer(&mut second);
    second.say(accept(&offer)).await;
    arena.settle().await;
    let game = second.hear_game().unwrap();
    assert!(game.you.is_some());
    second.resign(&game.game).await;
    arena.settle().await;
    first.hear();
    first.say(ask("Bob", casual())).await;
    arena.settle().await;
    let offer = hear_offer(&mut second);
    second.say(chosen(&offer, WireSide::First)).await;
    arena.settle().await;
    check_refused(&mut second, ErrorCode::BadField);
    assert!(arena.services.lobby.offer(offer.challenge).await.is_some(), "it stands");
    let house = arena.services.host.house().all()[0].identity.name.to_string();
    first.hear();
    first.say(ask(&house, cut())).await;
    arena.settle().await;
    check_refused(&mut first, ErrorCode::BadField);
    assert_eq!(arena.services.directory.games_of(&ada.identity.id), 0);
}

#[tokio::test(start_paused = true)]
async fn a_challenge_that_makes_no_game_says_so_to_both() {
    let arena = Arena::with(Setup { games_max: 1, ..Setup::default() }).await;
    let (ada_account, mut ada, bob_account, mut bob) = two(&arena).await;
    ada.say(challenge("bob", None)).await;
    arena.settle().await;
    let offer = hear_offer(&mut bob);
    let house = arena.services.host.house().all()[0].identity.clone();
    arena.start(&ada_account.identity, &house).await;
    bob.say(accept(&offer)).await;
    arena.settle().await;
    check_refused(&mut bob, ErrorCode::Busy);
    assert!(hear_ends(&mut ada).contains(&(offer.challenge, ChallengeOutcome::Refused)));
    assert_eq!(arena.services.directory.games_of(&bob_account.identity.id), 0);
}

fn open_challenge(key: &str) -> ClientMessage {
    ClientMessage::OpenChallenge(OpenChallenge { terms: casual(), listed: false, key: Some(key.into()) })
}

#[tokio::test(start_paused = true)]
async fn a_link_that_cannot_be_stored_was_never_made() {
    let arena = Arena::new().await;
    let (_, mut ada, _, mut bob) = two(&arena).await;
    arena.store.inject(CommitFault::Full);
    ada.say(open_challenge("k")).await;
    arena.settle().await;
    check_refused(&mut ada, ErrorCode::Busy);
    assert_eq!(arena.store.links().await.unwrap(), []);
    tokio::time::sleep(Duration::from_secs(2)).await;
    ada.say(open_challenge("k")).await;
    arena.settle().await;
    let offer = hear_offer(&mut ada);
    assert!(arena.services.lobby.offer(offer.challenge.clone()).await.is_some());
    bob.say(accept(&offer)).await;
    arena.settle().await;
    assert_eq!(hear_ends(&mut bob), [(offer.challenge, ChallengeOutcome::Accepted)]);
    assert_eq!(arena.store.links().await.unwrap(), [], "it was taken");
}

#[tokio::test(start_paused = true)]
async fn links_that_ended_while_nobody_ran_are_forgotten_and_guests_are_waited_for_a_while() {
    let arena = Arena::new().await;
    let (_, mut ada, _, _) = two(&arena).await;
    let mut guest = arena.guest().await;
    ada.say(open_challenge("k")).await;
    guest.say(open_challenge("k")).await;
    arena.settle().await;
    let (of_ada, of_guest) = (hear_offer(&mut ada), hear_offer(&mut guest));
    let links = arena.store.links().await.unwrap();
    let mut ended = links.into_iter().find(|link| link.guest.is_none()).unwrap();
    ended.id = "ended".parse().unwrap();
    ended.expires_at = UnixMillis(UnixMillis::now().0 - 1);
    let far = StoredLink { id: "far".parse().unwrap(), expires_at: UnixMillis(i64::MAX), ..ended.clone() };
    let gone = StoredLink { id: "gone".parse().unwrap(), maker: "nobody".parse().unwrap(), ..far.clone() };
    // The process that made them goes on: the next one gets what is stored now.
    let store = Arc::new(MemoryStore::new());
    store.apply(&[add(player("Ada", PlayerKind::Human))]);
    let links = arena.store.links().await.unwrap().into_iter().chain([ended, far, gone]);
    store.apply(&links.map(|link| Write::OpenLink(Box::new(link))).collect::<Vec<_>>());
    let arena = Arena::restarted(store).await;
    arena.settle().await;
    let stored = async || {
        let links = arena.store.links().await.unwrap();
        links.into_iter().map(|link| link.id).collect::<std::collections::BTreeSet<_>>()
    };
    let far = "far".parse::<ChallengeId>().unwrap();
    let expected = |ids: &[&ChallengeId]| ids.iter().map(|id| (*id).clone()).collect();
    assert_eq!(stored().await, expected(&[&of_ada.challenge, &of_guest.challenge, &far]));
    let shown = arena.services.lobby.offer(far.clone()).await.unwrap();
    assert!(
        (86_390_000..=86_400_000).contains(&shown.expires_ms),
        "a clock that was set back gives nobody more than a day"
    );
    tokio::time::sleep(Duration::from_secs(160)).await;
    assert_eq!(stored().await, expected(&[&of_ada.challenge, &far]), "the guest did not come back");
    tokio::time::sleep(Duration::from_hours(24)).await;
    assert_eq!(stored().await, expected(&[]));
}

#[tokio::test(start_paused = true)]
async fn whoever_is_challenged_while_away_is_told_elsewhere() {
    let arena = Arena::new().await;
    let (_, mut ada, bob, second) = two(&arena).await;
    let mut away = arena.services.lobby.challenged_away();
    ada.say(challenge("Bob", None)).await;
    arena.settle().await;
    let offer = hear_offer(&mut ada);
    assert!(away.try_recv().is_err(), "Bob is here");
    ada.say(ClientMessage::Cancel(OnChallenge { challenge: offer.challenge })).await;
    drop(second);
    arena.settle().await;
    ada.hear();
    ada.say(challenge("Bob", None)).await;
    arena.settle().await;
    let offer = hear_offer(&mut ada);
    let told = away.try_recv().unwrap();
    assert_eq!((told.to, told.from.as_str(), told.challenge), (bob.identity.id, "Ada", offer.challenge));
    assert!(told.lasts > Duration::from_secs(10), "{:?}", told.lasts);
}
