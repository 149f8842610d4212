use std::time::Duration;

use super::duel::DuelStanding;
use super::*;
use crate::model::clock::TimeControl;
use crate::model::duel::{DuelRule, DuelTest};
use crate::model::result::{EndReason, GameResult};
use crate::model::world::chance;
use crate::play::room::handle::ReplyTo;
use crate::play::room::{MemberId, Recipient};
use crate::protocol::server::{Frame, Urgency};

use crate::model::opening::OpeningKind;
use crate::model::player::Identity;
use crate::model::time::UnixMillis;
use crate::protocol::client::{BotInfo, Hello, OnGame, Seek};
use crate::protocol::terms::WireVariant;
use crate::protocol::{ClientMessage, ErrorCode, WireError};
use crate::storage::conformance::{FIRST_WINS, event, moves, spec};
use crate::storage::error::StoreError;
use crate::storage::games::GameStore;
use crate::storage::memory::CommitFault;
use crate::storage::record::{
    Ending, EventKind, GamePair, GameSpec, OpeningSource, StoredEvent, UnratedReason,
};
use crate::system::shares::Share;
use crate::testing::{Account, Arena, Client, Setup, blitz, hello, kind, offer};
use fourfold_engine::{BySide, Side};

/// Two people who are connected.
async fn two(arena: &Arena) -> (Account, Client, Account, Client) {
    let (ada, bob) = (arena.person("Ada").await, arena.person("Bob").await);
    let (first, second) = (arena.join(&ada).await, arena.join(&bob).await);
    (ada, first, bob, second)
}

fn only_game(arena: &Arena) -> Arc<crate::play::room::directory::PublicGame> {
    let mut live = arena.services.directory.live();
    assert_eq!(live.len(), 1);
    live.remove(0)
}

async fn unrated_because(arena: &Arena, offer: GameOffer) -> Option<UnratedReason> {
    let game = arena.services.host.start(GameOffer { rated: true, ..offer }).await.unwrap();
    let public = arena.services.directory.public(&game).unwrap();
    assert_eq!(public.spec.rated, public.spec.unrated_because.is_none());
    public.spec.unrated_because
}

#[tokio::test(start_paused = true)]
async fn two_starts_at_once_do_not_exceed_a_limit() {
    let arena = Arena::with(Setup { games_max: 1, ..Setup::default() }).await;
    let (ada, _a, bob, _b) = two(&arena).await;
    let eve = arena.person("Eve").await;
    let host = &arena.services.host;
    let (one, other) = tokio::join!(
        host.start(offer(&ada.identity, &bob.identity)),
        host.start(offer(&eve.identity, &ada.identity))
    );
    let refused = [one, other].into_iter().filter_map(Result::err).collect::<Vec<_>>();
    assert!(matches!(&refused[..], [StartError::PlayerBusy { name }] if name == "Ada"), "{refused:?}");
    assert_eq!(arena.services.directory.live().len(), 1);
    let starting = host.inner.starting.lock().unwrap();
    let kept = (starting.games, starting.by_player.len());
    assert_eq!(kept, (0, 0), "nothing is kept of what has begun or failed");
}

#[tokio::test(start_paused = true)]
async fn whoever_left_game_after_game_waits_after_a_restart_too() {
    let arena = Arena::new().await;
    let (ada, _a, bob, _b) = two(&arena).await;
    let host = &arena.services.host;
    let players = BySide { first: ada.identity.id.clone(), second: bob.identity.id.clone() };
    let ending = Ending { result: GameResult::Second, reason: EndReason::Left, by: Some(Side::First) };
    for n in 0..6 {
        let at = UnixMillis(UnixMillis::now().0 - (5 - n) * 5 * 60_000);
        let game = GameSpec { players: players.clone(), ..spec(&format!("left{n}"), "Ada", "Bob") };
        let end = StoredEvent { at, ..event(1, EventKind::Finished(ending)) };
        let finish = Write::Finish { game: game.id.clone(), events: vec![end] };
        let answers = arena.store.commit(&[Write::StartGame(game), finish]).await.unwrap();
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    }
    assert!(host.check_patience(&ada.identity).is_ok(), "nobody has looked yet");
    host.remember_departures().await.unwrap();
    let refused = host.start(offer(&ada.identity, &bob.identity)).await;
    assert!(matches!(refused, Err(StartError::Aborted { name, .. }) if name == "Ada"));
    assert!(host.check_patience(&bob.identity).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_paused_host_begins_nothing() {
    let arena = Arena::new().await;
    let (ada, _a, bob, _b) = two(&arena).await;
    arena.services.host.stop();
    let refused = arena.services.host.start(offer(&ada.identity, &bob.identity)).await;
    assert!(matches!(refused, Err(StartError::Paused)));
}

#[tokio::test(start_paused = true)]
async fn a_game_that_begins_while_the_daemon_stops_is_paused_like_all_others() {
    let arena = Arena::new().await;
    let (ada, _a, bob, _b) = two(&arena).await;
    let host = &arena.services.host;
    arena.store.inject(CommitFault::Slow(Duration::from_secs(1)));
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        host.stop();
        assert!(host.rooms().is_empty(), "its room is not there yet");
    };
    let (started, ()) = tokio::join!(host.start(offer(&ada.identity, &bob.identity)), stopping);
    let game = started.unwrap();
    assert!(host.rooms().is_empty(), "nobody else would close its room");
    let live = arena.store.live_games().await.unwrap();
    assert_eq!(live.iter().map(|game| &game.spec.id).collect::<Vec<_>>(), [&game]);
}

#[tokio::test(start_paused = true)]
async fn games_of_guests_and_of_one_family_are_unrated() {
    let arena = Arena::new().await;
    let (ada, _a, bob, _b) = two(&arena).await;
    let guest = arena.guest().await;
    let guest = arena.services.sessions.of(&guest.welcome.you.id)[0].identity().clone();
    assert_eq!(unrated_because(&arena, offer(&ada.identity, &bob.identity)).await, None);
    assert_eq!(unrated_because(&arena, offer(&ada.identity, &guest)).await, Some(UnratedReason::Guest));
    let own = Identity { owner: Some(ada.identity.id.clone()), ..arena.bot("Robo").await.identity };
    assert_eq!(unrated_because(&arena, offer(&ada.identity, &own)).await, Some(UnratedReason::SameOwner));
}

#[tokio::test(start_paused = true)]
async fn games_of_a_load_test_are_marked_in_their_whole_series_and_after_it() {
    let arena = Arena::new().await;
    let (ada, first, bob, second) = two(&arena).await;
    let series = GameOffer {
        pair: Some(GamePair { id: "p1".parse().unwrap(), leg: 1, of: 2 }),
        origin: Origin::Load,
        ..offer(&ada.identity, &bob.identity)
    };
    arena.services.host.start(series).await.unwrap();
    for leg in 1..=2 {
        let spec = &only_game(&arena).spec;
        assert_eq!((spec.rated, spec.is_load()), (false, true), "game {leg}");
        first.resign(&spec.id).await;
        arena.settle().await;
    }
    let single = GameOffer { origin: Origin::Load, ..offer(&ada.identity, &bob.identity) };
    let game = arena.services.host.start(single).await.unwrap();
    first.resign(&game).await;
    arena.settle().await;
    first.rematch(&game).await;
    second.rematch(&game).await;
    arena.settle().await;
    let spec = &only_game(&arena).spec;
    assert_eq!((spec.rated, spec.is_load()), (false, true), "its rematch");
    first.resign(&spec.id).await;
    arena.settle().await;
    assert!(arena.services.directory.live().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_pair_has_so_many_rated_games_a_day_and_rematches_count() {
    let arena = Arena::with(Setup { pair_limit: 1, ..Setup::default() }).await;
    let (ada, first, bob, second) = two(&arena).await;
    assert_eq!(unrated_because(&arena, offer(&ada.identity, &bob.identity)).await, None);
    let game = only_game(&arena).spec.id.clone();
    first.resign(&game).await;
    arena.settle().await;
    first.rematch(&game).await;
    second.rematch(&game).await;
    arena.settle().await;
    assert_eq!(only_game(&arena).spec.unrated_because, Some(UnratedReason::PairLimit));
    let ladder =
        GameOffer { origin: Origin::Ladder(Tempo::Watchable), ..offer(&ada.identity, &bob.identity) };
    assert_eq!(unrated_because(&arena, ladder).await, None, "the ladder has its own measure");
}

#[tokio::test(start_paused = true)]
async fn a_series_swaps_sides_shares_openings_in_twos_and_counts_as_its_first_game() {
    let arena = Arena::with(Setup { pair_limit: 0, ..Setup::default() }).await;
    let (ada, first, bob, second) = two(&arena).await;
    let series = GameOffer {
        rated: true,
        opening: OpeningSource { kind: OpeningKind::Balanced, moves: String::new() },
        pair: Some(GamePair { id: "p1".parse().unwrap(), leg: 1, of: 4 }),
        ..offer(&ada.identity, &bob.identity)
    };
    arena.services.host.start(series).await.unwrap();
    let mut openings = Vec::new();
    for leg in 1..=4 {
        let spec = &only_game(&arena).spec;
        assert_eq!(spec.pair.as_ref().map(|pair| pair.leg), Some(leg));
        let ada_begins = spec.players.first == ada.identity.id;
        assert_eq!(ada_begins, leg % 2 == 1, "sides are swapped each time");
        assert_eq!((spec.rated, spec.unrated_because), (false, Some(UnratedReason::PairLimit)));
        openings.push(spec.opening.moves.clone());
        let client = if leg % 2 == 0 { &first } else { &second };
        client.resign(&spec.id).await;
        arena.settle().await;
    }
    assert!(arena.services.directory.live().is_empty());
    assert!(!openings[0].is_empty() && openings[0] == openings[1] && openings[2] == openings[3]);
    assert_ne!(openings[0], openings[2]);
}

#[tokio::test(start_paused = true)]
async fn the_next_game_of_a_series_waits_for_a_store_that_takes_nothing() {
    let arena = Arena::new().await;
    let (ada, mut first, bob, mut second) = two(&arena).await;
    let series = GameOffer {
        pair: Some(GamePair { id: "p1".parse().unwrap(), leg: 1, of: 2 }),
        ..offer(&ada.identity, &bob.identity)
    };
    let game = arena.services.host.start(series).await.unwrap();
    // The end is stored; then the disk is full for some seconds.
    arena.store.inject(CommitFault::Slow(Duration::ZERO));
    (0..5).for_each(|_| arena.store.inject(CommitFault::Full));
    first.resign(&game).await;
    arena.settle().await;
    assert!(arena.services.host.obstacle().is_some() && arena.services.directory.live().is_empty());
    tokio::time::sleep(Duration::from_secs(12)).await;
    let pair = only_game(&arena).spec.pair.clone();
    assert_eq!(pair.map(|pair| pair.leg), Some(2));
    assert_eq!((first.hear_errors().len(), second.hear_errors().len()), (0, 0), "it waits in silence");
}

#[tokio::test]
async fn a_database_out_of_reach_is_nobodys_fault() {
    let ada = Arena::new().await.person("Ada").await.identity;
    let away: StartError = StoreError::Unreachable("made up".into()).into();
    assert!(away.is_passing() && !away.is_about(&ada), "{away}");
    let damaged: StartError = StoreError::Corrupt("made up".into()).into();
    assert!(!damaged.is_passing() && damaged.is_about(&ada), "{damaged}");
}

#[tokio::test(start_paused = true)]
async fn a_rematch_swaps_sides_and_needs_the_other_at_the_table() {
    let arena = Arena::new().await;
    let (ada, first, bob, second) = two(&arena).await;
    let game = arena.start(&ada.identity, &bob.identity).await;
    first.resign(&game).await;
    arena.settle().await;
    first.rematch(&game).await;
    first.vanish().await;
    second.rematch(&game).await;
    arena.settle().await;
    assert!(arena.services.directory.live().is_empty(), "whoever asked is gone");
    let first = arena.hello(ada.credential.clone(), first.resuming()).await;
    first.rematch(&game).await;
    arena.settle().await;
    assert_eq!(only_game(&arena).spec.players.first, bob.identity.id);
}

/// Breaks the room that speaks to it.
struct Bomb;

impl Recipient for Bomb {
    fn deliver(&self, _: &Frame, _: Option<&str>, _: Urgency) {
        panic!("broken on purpose");
    }

    fn round_trip(&self) -> Duration {
        Duration::ZERO
    }

    fn is_connected(&self) -> bool {
        true
    }
}

async fn break_room(arena: &Arena, game: &GameId, watcher: &Account) {
    let room = arena.services.directory.room(game).unwrap();
    let reply = ReplyTo { member: MemberId::next(), recipient: Arc::new(Bomb), re: None };
    room.watch(watcher.identity.id.clone(), reply);
    arena.settle().await;
}

#[tokio::test(start_paused = true)]
async fn a_room_that_panics_is_rebuilt_and_its_game_goes_on() {
    let arena = Arena::new().await;
    let (ada, mut first, bob, mut second) = two(&arena).await;
    let game = arena.start(&ada.identity, &bob.identity).await;
    first.play(&game, 0, 4).await;
    arena.settle().await;
    first.hear();
    second.hear();
    break_room(&arena, &game, &ada).await;
    assert_eq!(second.hear().iter().map(kind).collect::<Vec<_>>(), ["game", "turn"]);
    second.play(&game, 1, 4).await;
    arena.settle().await;
    assert!(first.hear_kinds().contains(&"moved".to_owned()));
    assert_eq!(only_game(&arena).to_wire().moves, "44");
}

#[tokio::test(start_paused = true)]
async fn a_room_out_of_step_with_the_store_takes_over_what_is_stored() {
    let arena = Arena::new().await;
    let (ada, first, bob, mut second) = two(&arena).await;
    let game = arena.start(&ada.identity, &bob.identity).await;
    arena.store.commit(&[Write::Append { game: game.clone(), events: moves("5") }]).await.unwrap();
    arena.settle().await;
    second.hear();
    first.play(&game, 0, 4).await;
    arena.settle().await;
    assert_eq!(second.hear_game().unwrap().moves, "5");
}

#[tokio::test(start_paused = true)]
async fn a_room_that_breaks_each_time_is_given_up() {
    let arena = Arena::new().await;
    let (ada, _first, bob, _second) = two(&arena).await;
    let game = arena.start(&ada.identity, &bob.identity).await;
    for _ in 0..REBUILDS_MAX {
        break_room(&arena, &game, &ada).await;
    }
    break_room(&arena, &game, &ada).await;
    assert!(arena.services.directory.room(&game).is_none());
    assert_eq!(arena.services.directory.games_of(&ada.identity.id), 0);
    assert_eq!(arena.store.live_games().await.unwrap().len(), 1, "the game is kept");
}

#[tokio::test(start_paused = true)]
async fn a_game_that_cannot_be_does_not_keep_the_others_from_being_taken_up() {
    let before = Arena::new().await;
    let (ada, _a, bob, _b) = two(&before).await;
    let good = before.start(&ada.identity, &bob.identity).await;
    let bad = before.start(&ada.identity, &bob.identity).await;
    // Decided, but without an end: nobody may write that but this test.
    before.store.commit(&[Write::Append { game: bad.clone(), events: moves(FIRST_WINS) }]).await.unwrap();
    let arena = Arena::restarted(Arc::clone(&before.store)).await;
    assert!(arena.services.directory.room(&good).is_some());
    assert!(arena.services.directory.room(&bad).is_none());
}

#[tokio::test(start_paused = true)]
async fn people_of_one_network_play_unrated() {
    let arena = Arena::new().await;
    let (ada, bob, eve) = (arena.person("Ada").await, arena.person("Bob").await, arena.person("Eve").await);
    let _one = arena.join_from("2001:db8:1:2::7", &ada).await;
    let _two = arena.join_from("2001:db8:1:2::8", &bob).await;
    let _three = arena.join_from("2001:db8:1:3::7", &eve).await;
    let same = Some(UnratedReason::SameAddress);
    assert_eq!(unrated_because(&arena, offer(&ada.identity, &bob.identity)).await, same);
    assert_eq!(unrated_because(&arena, offer(&ada.identity, &eve.identity)).await, None);
    let robo = arena.bot("Robo").await;
    let _bot = arena.join_from("2001:db8:1:2::9", &robo).await;
    assert_eq!(
        unrated_because(&arena, offer(&ada.identity, &robo.identity)).await,
        None,
        "a bot has an owner"
    );
    let (one, two) = (arena.person("One").await, arena.person("Two").await);
    let _here = (arena.join(&one).await, arena.join(&two).await);
    assert_eq!(unrated_because(&arena, offer(&one.identity, &two.identity)).await, None, "this machine");
}

/// The refusals of starts, and how many games began.
async fn begin(arena: &Arena, offers: Vec<GameOffer>) -> (usize, Vec<WireError>) {
    let (mut begun, mut refused) = (0, Vec::new());
    for offer in offers {
        match arena.services.host.start(offer).await {
            Ok(_) => begun += 1,
            Err(error) => refused.push(error.to_wire()),
        }
    }
    (begun, refused)
}

fn identity_of(arena: &Arena, client: &Client) -> Identity {
    arena.services.sessions.of(&client.welcome.you.id)[0].identity().clone()
}

#[tokio::test(start_paused = true)]
async fn a_guest_has_four_games_and_an_arena_as_many_as_it_takes() {
    let arena = Arena::with(Setup { games_max: 16, arena_games_max: 6, ..Setup::default() }).await;
    let house = arena.services.host.house().all()[0].identity.clone();
    let (one, two) = (arena.guest().await, arena.guest().await);
    let against = |client: &Client| offer(&identity_of(&arena, client), &house);
    let (begun, refused) = begin(&arena, vec![against(&one); 5]).await;
    assert_eq!((begun, refused.len(), refused[0].code), (4, 1, ErrorCode::Quota));
    assert!(refused[0].retry_ms.is_some());
    let (begun, refused) = begin(&arena, vec![against(&two); 3]).await;
    assert_eq!((begun, refused.len(), refused[0].code), (2, 1, ErrorCode::Busy));
    assert!(refused[0].retry_ms.is_some());
    let game = arena.services.directory.live()[0].spec.id.clone();
    for client in [&one, &two] {
        client.resign(&game).await;
    }
    // The room of the game that is over lingers for a rematch, and counts as long as it is there.
    tokio::time::sleep(Duration::from_mins(2)).await;
    assert_eq!(begin(&arena, vec![against(&two)]).await.0, 1);
}

#[tokio::test(start_paused = true)]
async fn a_network_has_so_many_games_at_a_time_and_leaves_others_theirs() {
    let arena = Arena::with(Setup { games_max: 1_000, ..Setup::default() }).await;
    let places = Share::Game.rule().network.held.unwrap() as usize;
    let house = arena.services.host.house().all()[0].identity.clone();
    let ada = arena.person("Ada").await;
    let client = arena.join_from("192.0.2.1", &ada).await;
    let (begun, refused) = begin(&arena, vec![offer(&ada.identity, &house); places + 1]).await;
    assert_eq!((begun, refused.len(), refused[0].code), (places, 1, ErrorCode::Quota));
    let bob = arena.person("Bob").await;
    let _bob = arena.join_from("192.0.2.2", &bob).await;
    assert_eq!(begin(&arena, vec![offer(&bob.identity, &house)]).await.0, 1);
    let game = arena.services.directory.rooms_of(&ada.identity.id)[0].game().clone();
    client.resign(&game).await;
    arena.settle().await;
    assert_eq!(begin(&arena, vec![offer(&ada.identity, &house)]).await.0, 1, "one that ended makes room");
    assert_eq!(arena.services.host.held().len(), places + 1);
}

#[tokio::test(start_paused = true)]
async fn games_of_an_earlier_process_count_for_the_network_of_whoever_comes_back() {
    let setup = || Setup { games_max: 1_000, ..Setup::default() };
    let arena = Arena::with(setup()).await;
    let places = Share::Game.rule().network.held.unwrap() as usize;
    let house = arena.services.host.house().all()[0].identity.clone();
    let bob = arena.person("Bob").await;
    // A client does not read hundreds of games at once, so several have them.
    let (mut class, mut offers) = (Vec::new(), Vec::new());
    for number in 0..16 {
        let pupil = arena.person(&format!("Pupil{number}")).await;
        let _here = arena.join_from("192.0.2.1", &pupil).await;
        offers.extend(vec![offer(&pupil.identity, &house); places / 16]);
        class.push(pupil);
    }
    assert_eq!(begin(&arena, offers).await.0, places);

    let arena = Arena::restarted_with(Arc::clone(&arena.store), setup()).await;
    arena.take_up_games().await;
    assert!(arena.services.host.held().is_empty(), "nobody is back");
    let mut back = Vec::new();
    for pupil in &class {
        back.push(arena.join_from("192.0.2.1", pupil).await);
    }
    let ada = back.remove(0);
    let _bob = arena.join_from("192.0.2.1", &bob).await;
    let against_house = |who: &Account| vec![offer(&who.identity, &house)];
    let (begun, refused) = begin(&arena, against_house(&bob)).await;
    assert_eq!((begun, refused[0].code), (0, ErrorCode::Quota), "the network's places are taken");
    let game = arena.services.directory.rooms_of(&ada.welcome.you.id)[0].game().clone();
    ada.resign(&game).await;
    arena.settle().await;
    assert_eq!(begin(&arena, against_house(&bob)).await.0, 1, "one that ended makes room");
    assert_eq!(arena.services.host.held().len(), places);
    assert!(arena.services.host.taken_up().is_empty());
}

#[tokio::test(start_paused = true)]
async fn who_aborts_game_after_game_waits_longer_and_longer() {
    let arena = Arena::new().await;
    let (ada, mut first, bob, _second) = two(&arena).await;
    let abort = async |times: u32| {
        for _ in 0..times {
            let game = arena.start(&ada.identity, &bob.identity).await;
            first.say(ClientMessage::Abort(OnGame { game })).await;
            arena.settle().await;
        }
    };
    abort(6).await;
    let mut pauses = Vec::new();
    for _ in 0..3 {
        let refused = arena.services.host.start(offer(&bob.identity, &ada.identity)).await.unwrap_err();
        assert!(refused.is_about(&ada.identity) && !refused.is_about(&bob.identity));
        let refused = refused.to_wire();
        assert_eq!(refused.code, ErrorCode::Quota);
        let wait = Duration::from_millis(refused.retry_ms.unwrap() + 1);
        pauses.push((wait.as_millis() + 500) / 1_000);
        tokio::time::sleep(wait).await;
        abort(1).await;
    }
    assert_eq!(pauses, [60, 120, 240]);
    first.hear();
    let seek =
        Seek { time: blitz(), rated: false, opponents: None, rating: None, variant: WireVariant::default() };
    first.say(ClientMessage::Seek(seek)).await;
    arena.settle().await;
    assert_eq!(first.hear_errors().iter().map(|error| error.code).collect::<Vec<_>>(), [ErrorCode::Quota]);
    let eve = arena.person("Eve").await;
    assert!(
        arena.services.host.start(offer(&bob.identity, &eve.identity)).await.is_ok(),
        "it is ada's alone"
    );
}

#[tokio::test(start_paused = true)]
async fn guests_who_do_not_come_back_leave_no_game_behind() {
    let arena = Arena::new().await;
    let (one, two) = (arena.guest_from("192.0.2.1").await, arena.guest_from("192.0.2.2").await);
    let day = TimeControl { bank_ms: Some(86_400_000), increment_ms: 0, move_ms: None };
    let slow = GameOffer { time: day, ..offer(&identity_of(&arena, &one), &identity_of(&arena, &two)) };
    let game = arena.services.host.start(slow).await.unwrap();
    for (ply, client) in (0..).zip([&one, &two, &one]) {
        client.play(&game, ply, 4).await;
        arena.settle().await;
    }
    one.vanish().await;
    two.vanish().await;
    tokio::time::sleep(Duration::from_mins(5)).await;
    assert!(arena.services.directory.rooms().is_empty());
    let stored = arena.store.game(&game).await.unwrap().unwrap();
    assert_eq!(
        stored.ending().map(|ending| (ending.reason, ending.by)),
        Some((EndReason::Left, Some(Side::Second)))
    );
    assert_eq!(arena.services.sessions.count(), 0);
    assert_eq!(arena.services.host.held().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_house_bot_claims_when_its_opponent_does_not_come_back() {
    let arena = Arena::new().await;
    let (ada, mut client, ..) = two(&arena).await;
    let house = arena.services.host.house().all()[0].identity.clone();
    let day = TimeControl { bank_ms: Some(86_400_000), increment_ms: 0, move_ms: None };
    let slow = GameOffer { time: day, ..offer(&ada.identity, &house) };
    let game = arena.services.host.start(slow).await.unwrap();
    arena.settle().await;
    client.play(&game, 0, 4).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(client.hear_kinds().contains(&"turn".to_owned()), "the bot has answered");
    client.vanish().await;
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert_eq!(arena.services.directory.live().len(), 1, "it bears an absence");
    let back = arena.hello(ada.credential.clone(), client.resuming()).await;
    tokio::time::sleep(Duration::from_mins(5)).await;
    assert_eq!(arena.services.directory.live().len(), 1, "and forgets it");
    back.vanish().await;
    tokio::time::sleep(Duration::from_secs(125)).await;
    let stored = arena.store.game(&game).await.unwrap().unwrap();
    assert_eq!(
        stored.ending().map(|ending| (ending.reason, ending.by)),
        Some((EndReason::Left, Some(Side::First)))
    );
}

#[tokio::test(start_paused = true)]
async fn a_game_keeps_which_version_played_it() {
    let arena = Arena::new().await;
    let (ada, bot) = (arena.person("Ada").await, arena.bot("Robo").await);
    let _person = arena.join(&ada).await;
    let info = BotInfo { version: "1.1".into(), about: None, url: None, language: None };
    let _robo = arena.hello(bot.credential.clone(), Hello { bot: Some(info), ..hello() }).await;
    arena.start(&bot.identity, &ada.identity).await;
    let versions = &only_game(&arena).spec.versions;
    assert_eq!((versions.first.as_deref(), versions.second.as_deref()), (Some("1.1"), None));
}

/// Plays a series to its end, all games given up by the same player, and says how many there were.
async fn give_up_all(arena: &Arena, who: &Client, pair: GamePair, offer: GameOffer) -> u32 {
    let opening = OpeningSource { kind: OpeningKind::Balanced, moves: String::new() };
    arena.services.host.start(GameOffer { opening, pair: Some(pair), ..offer }).await.unwrap();
    let mut games = 0;
    while let Some(game) = arena.services.directory.live().first().map(|game| game.spec.id.clone()) {
        who.resign(&game).await;
        arena.settle().await;
        games += 1;
    }
    games
}

#[tokio::test(start_paused = true)]
async fn a_duel_ends_when_it_is_played_or_its_test_has_decided() {
    let arena = Arena::new().await;
    let (ada, _first, bob, second) = two(&arena).await;
    let duel = |test, of| GamePair { id: DuelRule { test }.draw_id(&mut chance()), leg: 1, of };
    let offer = || offer(&ada.identity, &bob.identity);
    assert_eq!(give_up_all(&arena, &second, duel(None, 6), offer()).await, 6);
    let pair = duel(DuelTest::new(0, 100), 400);
    let games = give_up_all(&arena, &second, pair.clone(), offer()).await;
    assert!(games.is_multiple_of(2) && (32..=80).contains(&games), "{games}");
    let stored = arena.services.store.games_of_series(&pair.id).await.unwrap();
    let standing = DuelStanding::of(&stored, &ada.identity.id);
    assert_eq!((stored.len(), standing.pairs.counts[4]), (games as usize, u64::from(games / 2)));
}
