use std::time::Duration;

use super::*;
use crate::play::room::handle::ReplyTo;
use crate::play::room::{MemberId, Recipient};
use crate::protocol::server::{Frame, Urgency};

use crate::model::opening::OpeningKind;
use crate::model::player::Identity;
use crate::storage::conformance::{FIRST_WINS, moves};
use crate::storage::record::{GamePair, OpeningSource, UnratedReason};
use crate::testing::{Account, Arena, Client, Setup, kind, offer};

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
    assert!(host.inner.starting.lock().unwrap().is_empty(), "nothing is kept of what has begun or failed");
}

#[tokio::test(start_paused = true)]
async fn a_paused_host_begins_nothing() {
    let arena = Arena::new().await;
    let (ada, _a, bob, _b) = two(&arena).await;
    arena.services.host.pause();
    let refused = arena.services.host.start(offer(&ada.identity, &bob.identity)).await;
    assert!(matches!(refused, Err(StartError::Paused)));
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
