//! Games by correspondence from the link to the end, over days and restarts.

use fourfold_engine::BySide;

use super::*;
use crate::lobby::challenge::LISTED_OF_ONE_MAX;
use crate::model::ids::GameId;
use crate::model::result::EndReason;
use crate::model::world::{SimulatedWorld, leave_simulation};
use crate::play::correspondence::GAMES_MAX;
use crate::play::host::{ConditionalRefusal, GameOffer, StartError};
use crate::protocol::server::Snapshot;
use crate::protocol::terms::WireSide;
use crate::storage::record::UnratedReason;

const DAY: Duration = Duration::from_hours(24);
/// A Thursday of 2026, in milliseconds.
const WALL_MS: i64 = 1_795_000_000_000;

/// A thread whose wall goes with the runtime's clock, until the test ends.
struct Days;

impl Days {
    fn begin(seed: u64) -> Self {
        SimulatedWorld::new(seed, WALL_MS).enter();
        Self
    }
}

impl Drop for Days {
    fn drop(&mut self) {
        leave_simulation();
    }
}

fn three_days() -> GameTime {
    GameTime::new(TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(3 * 86_400_000) }).unwrap()
}

fn days(rated: bool) -> Terms {
    Terms { time: three_days(), rated, ..casual() }
}

fn open(terms: Terms) -> ClientMessage {
    ClientMessage::OpenChallenge(OpenChallenge { terms, listed: false, key: None })
}

fn listed(terms: Terms) -> ClientMessage {
    ClientMessage::OpenChallenge(OpenChallenge { terms, listed: true, key: None })
}

/// Who of the two is to move, and what is left for it.
fn to_move(game: &Snapshot) -> (WireSide, Duration) {
    let side = game.to_move.expect("the game goes on");
    (side, Duration::from_millis(game.clock.of(side)))
}

#[tokio::test(start_paused = true)]
async fn a_game_by_correspondence_lasts_for_days_and_through_a_restart() {
    let _days = Days::begin(3);
    let arena = Arena::new().await;
    let (ada, mut first, bob, second) = two(&arena).await;
    first.say(open(days(true))).await;
    arena.settle().await;
    let link = hear_offer(&mut first);
    assert!(Duration::from_millis(link.expires_ms) > 6 * DAY);
    first.leave().await;
    tokio::time::sleep(2 * DAY).await;
    second.say(accept(&link)).await;
    arena.settle().await;
    second.leave().await;
    assert_eq!(arena.services.directory.games_of(&ada.identity.id), 0, "no place at the boards is taken");
    tokio::time::sleep(DAY).await;

    let mut players = [arena.join(&ada).await, arena.join(&bob).await];
    let games = players.each_mut().map(|player| player.hear_game().unwrap());
    let id = games[0].game.clone();
    let (mover, left) = to_move(&games[0]);
    assert_eq!(left.as_secs() / 3_600, 47, "a day has passed, and the moments of its beginning");
    let at_move = games.iter().position(|game| game.you == Some(mover)).unwrap();
    players[at_move].play(&id, 0, 4).await;
    arena.settle().await;
    for player in &players {
        player.leave().await;
    }
    tokio::time::sleep(2 * DAY).await;

    let arena = Arena::restarted(Arc::clone(&arena.store)).await;
    let mut waited = arena.join(if at_move == 0 { &bob } else { &ada }).await;
    let game = waited.hear_game().unwrap();
    assert_eq!(game.frozen_ms, None, "no clock stands still");
    let (mover, left) = to_move(&game);
    assert_eq!((Some(mover), left.as_secs() / 3_600), (game.you, 23), "what passed without a daemon counts");
    tokio::time::sleep(DAY + Duration::from_secs(1)).await;
    arena.settle().await;
    let stored = arena.store.game(&id).await.unwrap().unwrap();
    assert_eq!(stored.ending().map(|ending| ending.reason), Some(EndReason::Time));
    let settlement = stored.settlement.unwrap();
    assert_eq!(settlement.unrated_because, Some(UnratedReason::Correspondence));
    assert_eq!(settlement.ratings, None, "live ratings do not move");
}

#[tokio::test(start_paused = true)]
async fn days_for_a_move_are_for_people_with_an_account() {
    let arena = Arena::new().await;
    let (_, mut ada, _, _) = two(&arena).await;
    let mut guest = arena.guest().await;
    let bot = arena.bot("robo").await;
    let mut robo = arena.join_open(&bot).await;
    for client in [&mut guest, &mut robo] {
        client.hear();
        client.say(open(days(false))).await;
        arena.settle().await;
        check_refused(client, ErrorCode::BadField);
    }
    ada.say(ClientMessage::Challenge(Challenge { to: "robo".into(), terms: days(false), key: None })).await;
    arena.settle().await;
    check_refused(&mut ada, ErrorCode::BadField);
    ada.say(ClientMessage::Seek(Seek { time: three_days(), ..seek(false) })).await;
    arena.settle().await;
    check_refused(&mut ada, ErrorCode::BadField);
    ada.say(open(Terms { games: SeriesLength::checked(2).unwrap(), ..days(false) })).await;
    arena.settle().await;
    check_refused(&mut ada, ErrorCode::BadField);
    ada.say(open(days(false))).await;
    arena.settle().await;
    let link = hear_offer(&mut ada);
    for client in [&mut guest, &mut robo] {
        client.hear();
        client.say(accept(&link)).await;
        arena.settle().await;
        check_refused(client, ErrorCode::BadField);
    }
    assert!(arena.services.lobby.offer(link.challenge).await.is_some(), "it stands for whoever may");
}

#[tokio::test(start_paused = true)]
async fn who_is_challenged_by_days_has_a_week_to_answer_and_neither_need_be_here() {
    let _days = Days::begin(4);
    let arena = Arena::new().await;
    let (ada, mut first, bob, second) = two(&arena).await;
    second.leave().await;
    let mut away = arena.services.lobby.challenged_away();
    let ask = || ClientMessage::Challenge(Challenge { to: "Bob".into(), terms: days(true), key: None });
    first.say(ask()).await;
    arena.settle().await;
    let offer = hear_offer(&mut first);
    assert!(Duration::from_millis(offer.expires_ms) > 6 * DAY);
    assert!(away.try_recv().unwrap().lasts > 6 * DAY, "Bob is told where he is");
    first.say(ask()).await;
    arena.settle().await;
    check_refused(&mut first, ErrorCode::Quota);
    first.say(ClientMessage::Challenge(Challenge { to: "Bob".into(), terms: casual(), key: None })).await;
    arena.settle().await;
    check_refused(&mut first, ErrorCode::NotAccepting);
    first.leave().await;
    tokio::time::sleep(6 * DAY).await;

    let mut second = arena.join(&bob).await;
    assert_eq!(hear_offer(&mut second).challenge, offer.challenge, "it is told to whoever comes back");
    for player in [&ada, &bob] {
        assert_eq!(arena.services.lobby.asked(player.identity.id.clone()).await.len(), 1);
    }
    second.say(accept(&offer)).await;
    arena.settle().await;
    assert_eq!(second.hear_game().unwrap().time, three_days().control());
    assert_eq!(arena.services.lobby.asked(ada.identity.id).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_week_of_restarts_keeps_challenge_game_and_clocks() {
    let _days = Days::begin(6);
    let mut arena = Arena::new().await;
    let (ada, mut first, bob, second) = two(&arena).await;
    second.leave().await;
    let key = Some("once".to_owned());
    let ask = ClientMessage::Challenge(Challenge { to: "Bob".into(), terms: days(true), key });
    first.say(ask.clone()).await;
    arena.settle().await;
    let offer = hear_offer(&mut first);
    // Each day begins with another process, at another time of the day.
    for day in 1..=3_u32 {
        tokio::time::sleep(DAY + Duration::from_hours(1)).await;
        arena = Arena::restarted(Arc::clone(&arena.store)).await;
        let mut maker = arena.join(&ada).await;
        let again = hear_offer(&mut maker);
        assert_eq!((&again.challenge, &again.terms), (&offer.challenge, &offer.terms), "day {day}");
        let left = Duration::from_millis(again.expires_ms);
        let expected = (7 * DAY).saturating_sub(day * (DAY + Duration::from_hours(1)));
        assert!(left <= expected && left + Duration::from_mins(5) > expected, "day {day}: {left:?} are left");
        maker.say(ask.clone()).await;
        arena.settle().await;
        assert_eq!(hear_offer(&mut maker).challenge, offer.challenge, "the same request is the same offer");
    }
    let mut taker = arena.join(&bob).await;
    assert_eq!(hear_offer(&mut taker).challenge, offer.challenge);
    taker.say(accept(&offer)).await;
    arena.settle().await;
    let game = taker.hear_game().unwrap();
    let sides = BySide { first: &ada, second: &bob };
    let sides = if game.you == Some(WireSide::First) { BySide { first: &bob, second: &ada } } else { sides };
    assert_eq!(arena.store.links().await.unwrap(), [], "it was taken");
    for ply in 0..4_u32 {
        tokio::time::sleep(DAY).await;
        arena = Arena::restarted(Arc::clone(&arena.store)).await;
        let mover = if ply % 2 == 0 { sides.first } else { sides.second };
        let mut client = arena.join(mover).await;
        let shown = client.hear_game().unwrap();
        let (side, left) = to_move(&shown);
        assert_eq!(
            (Some(side), left.as_secs() / 3_600),
            (shown.you, 47),
            "ply {ply}: two of three days are left"
        );
        client.play(&game.game, ply, if ply % 2 == 0 { 4 } else { 3 }).await;
        arena.settle().await;
    }
    let client = arena.join(sides.first).await;
    client.resign(&game.game).await;
    arena.settle().await;
    let stored = arena.store.game(&game.game).await.unwrap().unwrap();
    assert_eq!(
        (stored.moves().as_str(), stored.ending().map(|end| end.reason)),
        ("4343", Some(EndReason::Resign))
    );
}

#[tokio::test(start_paused = true)]
async fn a_challenge_by_days_is_stored_until_it_is_answered() {
    let _days = Days::begin(7);
    let arena = Arena::new().await;
    let (_, mut ada, bob, second) = two(&arena).await;
    let ask = |terms| ClientMessage::Challenge(Challenge { to: "Bob".into(), terms, key: None });
    ada.say(ask(casual())).await;
    arena.settle().await;
    hear_offer(&mut ada);
    assert_eq!(arena.store.links().await.unwrap(), [], "nobody waits for it after a restart");
    for is_declined in [false, true] {
        ada.say(ask(days(false))).await;
        arena.settle().await;
        let challenge = hear_offer(&mut ada).challenge;
        assert_eq!(arena.store.links().await.unwrap()[0].to, Some(bob.identity.id.clone()));
        if is_declined {
            let decline = Decline { challenge, reason: DeclineReason::Later };
            second.say(ClientMessage::Decline(decline)).await;
        } else {
            ada.say(ClientMessage::Cancel(OnChallenge { challenge })).await;
        }
        arena.settle().await;
        assert_eq!(arena.store.links().await.unwrap(), []);
    }
    ada.say(ask(days(false))).await;
    arena.settle().await;
    let mut gone = arena.store.links().await.unwrap().remove(0);
    gone.id = "togone".parse().unwrap();
    gone.to = Some("nobody".parse().unwrap());
    arena.store.apply(&[Write::OpenLink(Box::new(gone))]);
    let arena = Arena::restarted(Arc::clone(&arena.store)).await;
    arena.settle().await;
    let left: Vec<_> = arena.store.links().await.unwrap().into_iter().map(|link| link.to).collect();
    assert_eq!(left, [Some(bob.identity.id)], "whoever was asked is gone");
}

#[tokio::test(start_paused = true)]
async fn challenges_by_days_are_in_nobodys_way_and_end_after_a_week() {
    let _days = Days::begin(5);
    let arena = Arena::new().await;
    let (_, mut ada, bob, _second) = two(&arena).await;
    let ask = |terms| ClientMessage::Challenge(Challenge { to: "Bob".into(), terms, key: None });
    ada.say(ask(days(false))).await;
    arena.settle().await;
    let by_days = hear_offer(&mut ada);
    ada.say(ask(casual())).await;
    arena.settle().await;
    let now = hear_offer(&mut ada);
    assert_ne!(now.challenge, by_days.challenge);
    tokio::time::sleep(Duration::from_secs(22)).await;
    assert_eq!(hear_ends(&mut ada), [(now.challenge, ChallengeOutcome::Expired)]);
    tokio::time::sleep(7 * DAY + Duration::from_secs(2)).await;
    assert!(hear_ends(&mut ada).contains(&(by_days.challenge, ChallengeOutcome::Expired)));
    assert_eq!(arena.services.lobby.asked(bob.identity.id).await, []);
}

#[tokio::test(start_paused = true)]
async fn nobody_has_more_games_by_correspondence_than_fit() {
    let arena = Arena::new().await;
    let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
    let players = BySide { first: ada.identity.clone(), second: bob.identity.clone() };
    let by_correspondence =
        || GameOffer { time: three_days().control(), ..offer(&players.first, &players.second) };
    for _ in 0..GAMES_MAX {
        arena.services.host.start(by_correspondence()).await.unwrap();
    }
    let refused = arena.services.host.start(by_correspondence()).await.unwrap_err();
    assert!(matches!(refused, StartError::CorrespondenceBusy { .. }), "{refused}");
    assert!(refused.to_string().starts_with("Ada has 50 games by correspondence"), "{refused}");
    arena.start(&players.first, &players.second).await;
    assert_eq!(arena.services.directory.live().len(), 1, "what goes on at the board, and is waited for");
}

#[tokio::test(start_paused = true)]
async fn an_offer_to_everybody_stands_in_the_list_until_it_is_taken_and_over_restarts() {
    let arena = Arena::new().await;
    let (_, mut ada, bob, _bob) = two(&arena).await;
    // With exactly a day for each move a link needs its maker there; an offer in the list does not.
    let a_day = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(86_400_000) };
    ada.say(listed(Terms { time: GameTime::new(a_day).unwrap(), ..days(true) })).await;
    arena.settle().await;
    let first = hear_offer(&mut ada);
    ada.say(listed(days(false))).await;
    arena.settle().await;
    let second = hear_offer(&mut ada);
    ada.say(open(days(false))).await;
    arena.settle().await;
    assert!(first.listed && second.listed && !hear_offer(&mut ada).listed);
    ada.leave().await;

    let arena = Arena::restarted(Arc::clone(&arena.store)).await;
    let ids = async |arena: &Arena| {
        arena.services.lobby.listed().await.into_iter().map(|offer| offer.challenge).collect::<Vec<_>>()
    };
    assert_eq!(ids(&arena).await.len(), 2, "the link is for whoever has it");
    let mut taker = arena.join(&bob).await;
    taker.hear();
    taker.say(accept(&first)).await;
    arena.settle().await;
    assert_eq!(taker.hear_game().unwrap().players.first.kind, PlayerKind::Human);
    assert_eq!(ids(&arena).await, std::slice::from_ref(&second.challenge));
}

#[tokio::test(start_paused = true)]
async fn the_list_is_for_people_with_accounts_and_has_room_for_many() {
    let arena = Arena::new().await;
    let (_, mut ada, _, _) = two(&arena).await;
    let mut guest = arena.guest().await;
    guest.hear();
    guest.say(listed(days(false))).await;
    ada.say(listed(casual())).await;
    arena.settle().await;
    check_refused(&mut guest, ErrorCode::BadField);
    check_refused(&mut ada, ErrorCode::BadField);
    ada.say(listed(days(false))).await;
    arena.settle().await;
    let offer = hear_offer(&mut ada);
    guest.say(accept(&offer)).await;
    arena.settle().await;
    check_refused(&mut guest, ErrorCode::Forbidden);
    for _ in 1..LISTED_OF_ONE_MAX {
        ada.say(listed(days(false))).await;
        arena.settle().await;
        hear_offer(&mut ada);
    }
    ada.say(listed(days(false))).await;
    arena.settle().await;
    check_refused(&mut ada, ErrorCode::Quota);
    ada.say(ClientMessage::Cancel(OnChallenge { challenge: offer.challenge })).await;
    arena.settle().await;
    ada.hear();
    ada.say(listed(days(false))).await;
    arena.settle().await;
    assert!(hear_offer(&mut ada).listed, "withdrawn, its place is free");
}

/// Ada and Bob at a game by correspondence that Ada begins, and its id.
async fn game_of(arena: &Arena, ada: &Account, bob: &Account) -> GameId {
    let time = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(3 * 86_400_000) };
    arena.services.host.start(GameOffer { time, ..offer(&ada.identity, &bob.identity) }).await.unwrap()
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn what_was_said_in_advance_is_played_over_a_restart_and_shown_to_nobody_else() {
    let _days = Days::begin(4);
    let arena = Arena::new().await;
    let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
    let game = game_of(&arena, &ada, &bob).await;
    let host = &arena.services.host;
    let (first, second) = (ada.identity.id.clone(), bob.identity.id.clone());
    let refused =
        |said: Result<_, ConditionalRefusal>| said.map(|_: Vec<String>| ()).unwrap_err().to_string();
    let your_move = host.say_in_advance(&game, &first, &lines(&["44"])).await;
    assert_eq!(refused(your_move), "it is your move: lines begin with one of the opponent");
    assert_eq!(host.said_in_advance(&game, &first).await.unwrap(), lines(&[]));
    let said = lines(&["4435", "52"]);
    assert_eq!(host.say_in_advance(&game, &second, &said).await.unwrap(), said);
    assert_eq!(host.said_in_advance(&game, &first).await.unwrap(), lines(&[]), "it is the other's secret");
    let eve = arena.person("Eve").await;
    for (player, game) in [(&eve.identity.id, &game), (&second, &"nosuchgame".parse().unwrap())] {
        let none = host.say_in_advance(game, player, &said).await;
        assert_eq!(refused(none), "you have no game by correspondence of this id that goes on");
    }
    let wrong = host.say_in_advance(&game, &second, &lines(&["44", "45"])).await;
    assert_eq!(refused(wrong), "lines 1 and 2 answer the same moves in two ways");
    assert_eq!(host.said_in_advance(&game, &second).await.unwrap(), said, "what was refused changes nothing");

    let arena = Arena::restarted(Arc::clone(&arena.store)).await;
    let client = arena.join(&ada).await;
    client.play(&game, 0, 4).await;
    arena.settle().await;
    let moves = async || arena.store.game(&game).await.unwrap().unwrap().moves();
    assert_eq!(moves().await, "44");
    let host = &arena.services.host;
    assert_eq!(host.said_in_advance(&game, &second).await.unwrap(), lines(&["35"]));
    assert_eq!(host.say_in_advance(&game, &second, &[]).await.unwrap(), lines(&[]), "it is taken back");
    client.play(&game, 2, 3).await;
    arena.settle().await;
    assert_eq!(moves().await, "443");
}
