use super::*;
use crate::model::result::EndReason;
use crate::protocol::client::Hello;
use crate::storage::games::GameStore;
use crate::testing::{Arena, Client, Setup, hello};

const TIME: TimeControl = TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None };

/// A ladder on an arena, and what it says of bots in trouble.
fn ladder(arena: &Arena, house_pairs: usize) -> (MatchmakerActor, Troubles) {
    ladder_of(arena, house_pairs, PairsPerMinute { all: 4, same: 4 })
}

fn ladder_of(arena: &Arena, house_pairs: usize, per_minute: PairsPerMinute) -> (MatchmakerActor, Troubles) {
    let (services, troubles) = (&arena.services, Troubles::default());
    let deps = MatchmakerDeps {
        host: services.host.clone(),
        store: Arc::clone(&services.store),
        sessions: services.sessions.clone(),
        directory: services.directory.clone(),
        feeds: services.feeds.clone(),
        pool: ComputePool::new(1),
        troubles: troubles.clone(),
        leaderboard: Leaderboard::default(),
        metrics: Arc::new(Metrics::new()),
    };
    let settings = MatchmakerSettings {
        time: TIME,
        cpu_share: 100,
        calm_percent: 3,
        house_pairs,
        pairs_per_day: 3,
        per_minute,
    };
    (MatchmakerActor::new(deps, settings), troubles)
}

fn spawn(arena: &Arena, house_pairs: usize) -> Troubles {
    let (ladder, troubles) = ladder(arena, house_pairs);
    tokio::spawn(ladder.run(CancellationToken::new()));
    troubles
}

async fn quiet_arena() -> Arena {
    Arena::with(Setup { house: &[], ..Setup::default() }).await
}

fn live_pairs(arena: &Arena) -> Vec<(u32, bool)> {
    let live = arena.services.directory.live();
    live.iter().map(|game| (game.spec.pair.as_ref().unwrap().leg, game.spec.rated)).collect()
}

async fn resign_all(clients: &mut [&mut Client]) {
    for client in clients {
        if let Some(game) = client.hear_game() {
            client.resign(&game.game).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn two_open_bots_play_one_rated_pair_after_the_other_until_the_day_s_are_played() {
    let arena = quiet_arena().await;
    let (ann, bob) = (arena.bot("ann").await, arena.bot("bob").await);
    let (mut ann, mut bob) = (arena.join_open(&ann).await, arena.join_open(&bob).await);
    spawn(&arena, 0);
    tokio::time::sleep(5 * TICK).await;
    for pair in 1..=3 {
        assert_eq!(live_pairs(&arena), [(1, true)], "pair {pair}");
        resign_all(&mut [&mut ann]).await;
        bob.hear();
        arena.settle().await;
        assert_eq!(live_pairs(&arena), [(2, true)], "the second game follows, and no other pair");
        resign_all(&mut [&mut ann]).await;
        bob.hear();
        arena.settle().await;
    }
    tokio::time::sleep(5 * TICK).await;
    assert_eq!(live_pairs(&arena), [], "enough for a day");
}

/// The range of docs/protocol.md: newcomers have 750 on the one scale that there is.
#[tokio::test(start_paused = true)]
async fn a_bot_that_accepts_a_range_of_ratings_meets_newcomers_within_it() {
    let arena = quiet_arena().await;
    let (ann, bob) = (arena.bot("ann").await, arena.bot("bob").await);
    let accepts = serde_json::from_value(serde_json::json!({ "rating": [400, 1200] })).unwrap();
    let hello = Hello { open: Some(true), accepts: Some(accepts), ..hello() };
    let _ann = arena.hello(ann.credential.clone(), hello).await;
    let _bob = arena.join_open(&bob).await;
    spawn(&arena, 0);
    tokio::time::sleep(5 * TICK).await;
    assert_eq!(live_pairs(&arena), [(1, true)]);
}

#[tokio::test(start_paused = true)]
async fn a_fast_bot_waits_for_the_next_minute() {
    let arena = quiet_arena().await;
    let (ann, bob) = (arena.bot("ann").await, arena.bot("bob").await);
    let (mut ann, mut bob) = (arena.join_open(&ann).await, arena.join_open(&bob).await);
    let (ladder, _troubles) = ladder_of(&arena, 0, PairsPerMinute { all: 2, same: 1 });
    tokio::spawn(ladder.run(CancellationToken::new()));
    tokio::time::sleep(2 * TICK).await;
    for _ in 0..2 {
        resign_all(&mut [&mut ann]).await;
        bob.hear();
        arena.settle().await;
    }
    tokio::time::sleep(20 * TICK).await;
    assert_eq!(live_pairs(&arena), [], "they have just met");
    tokio::time::sleep(60 * TICK).await;
    assert_eq!(live_pairs(&arena), [(1, true)]);
}

#[tokio::test(start_paused = true)]
async fn bots_that_are_not_open_full_or_gone_are_left_alone() {
    let arena = quiet_arena().await;
    let (ann, bob) = (arena.bot("ann").await, arena.bot("bob").await);
    let _ann = arena.join_open(&ann).await;
    let bob = arena.join(&bob).await;
    let eve = arena.join_open(&arena.bot("eve").await).await;
    eve.vanish().await;
    spawn(&arena, 0);
    tokio::time::sleep(5 * TICK).await;
    assert_eq!(live_pairs(&arena), []);
    drop(bob);
}

#[tokio::test(start_paused = true)]
async fn nothing_begins_while_the_host_is_paused() {
    let arena = Arena::new().await;
    arena.services.host.stop();
    spawn(&arena, 1);
    tokio::time::sleep(5 * TICK).await;
    assert_eq!(live_pairs(&arena), []);
}

#[tokio::test(start_paused = true)]
async fn bots_of_the_house_play_one_pair_at_a_time_each() {
    let arena = Arena::new().await;
    spawn(&arena, 8);
    tokio::time::sleep(TICK).await;
    assert_eq!(live_pairs(&arena).len(), 1, "there are two of them");
    let query = crate::storage::store::GameQuery { limit: 9, ..Default::default() };
    let played = loop {
        let played = arena.store.finished_games(&query).await.unwrap();
        if played.len() >= 2 {
            break played;
        }
        tokio::time::sleep(TICK).await;
    };
    let pairs: Vec<_> = played.iter().map(|game| game.spec.pair.clone().unwrap()).collect();
    assert_eq!(pairs[0].id, pairs[1].id);
    assert_eq!(played[0].spec.opening, played[1].spec.opening);
    assert_eq!(played[0].spec.players.first, played[1].spec.players.second);
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_breaks_off_is_paused_and_everybody_sees_it() {
    let arena = quiet_arena().await;
    let (ann, bob) = (arena.bot("ann").await, arena.bot("bob").await);
    let bob_id = bob.identity.id.clone();
    let (mut ann, mut bob) = (arena.join_open(&ann).await, arena.join_open(&bob).await);
    let (mut ladder, troubles) = ladder(&arena, 0);
    let now = now();
    for _ in 0..2 {
        assert_eq!(ladder.health.fault(&bob_id, Fault::of(EndReason::Illegal).unwrap(), now), None);
    }
    tokio::spawn(ladder.run(CancellationToken::new()));
    tokio::time::sleep(2 * TICK).await;
    assert_eq!(troubles.of(&bob_id), None);
    ann.hear();
    let game = bob.hear_game().unwrap().game;
    bob.say(crate::protocol::ClientMessage::Abort(crate::protocol::client::OnGame { game })).await;
    arena.settle().await;
    let trouble = troubles.of(&bob_id).unwrap();
    assert_eq!((trouble.fault, trouble.probing), ("absent", false));
    let left = trouble.until.unwrap().0 - UnixMillis::now().0;
    assert!((200_000..=300_000).contains(&left), "five minutes, from which some have gone: {left}");
    let told = |client: &mut Client| {
        client
            .hear()
            .into_iter()
            .filter_map(|message| match message {
                ServerMessage::Notice(Notice { code: NoticeCode::Paused, in_ms, .. }) => Some(in_ms),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    tokio::time::sleep(2 * TICK).await;
    let notices = told(&mut bob);
    assert!(matches!(notices[..], [in_ms] if (200_000..=300_000).contains(&in_ms)), "once: {notices:?}");
    resign_all(&mut [&mut ann]).await; // the pair is played to its end
    tokio::time::sleep(10 * TICK).await;
    assert_eq!(live_pairs(&arena), [], "and no other begins");
    troubles.mended(bob_id.clone());
    tokio::time::sleep(2 * TICK).await;
    assert!(troubles.of(&bob_id).unwrap().probing, "who passes a test is tried again");
}
