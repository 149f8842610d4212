use super::*;
use crate::rating::elo::MilliElo;
use crate::testing::{Arena, Client, Setup};

const TIME: TimeControl = TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None };

fn candidate(name: &str, house: bool, elo: i64, games: u64) -> Candidate {
    let identity = Identity {
        id: name.parse().unwrap(),
        name: name.parse().unwrap(),
        kind: PlayerKind::Bot,
        owner: (!house).then(|| format!("owner{name}").parse().unwrap()),
    };
    let standing = Standing { rating: MilliElo(elo * 1_000), games };
    Candidate { identity, house, standing, accepts: Accepts::default() }
}

#[track_caller]
fn check_choice(candidates: &[Candidate], meetings: &Meetings, expected: Option<(&str, &str)>) {
    let chosen = choose(candidates, meetings, TIME, &mut rng::seeded(1));
    let names = chosen.map(|(a, b)| (candidates[a].identity.id.as_str(), candidates[b].identity.id.as_str()));
    assert_eq!(names, expected);
}

#[test]
fn remote_newcomers_come_first_and_meet_the_nearest() {
    let field = [
        candidate("h1", true, 1400, 50),
        candidate("h2", true, 1900, 50),
        candidate("r1", false, 1500, 9),
        candidate("r2", false, 2000, 2),
    ];
    check_choice(&field, &Meetings::default(), Some(("r2", "h2")));
    let mut meetings = Meetings::default();
    meetings.add(&"r2".parse().unwrap(), &"h2".parse().unwrap());
    check_choice(&field, &meetings, Some(("r2", "r1")));
}

#[test]
fn meetings_fade_when_there_are_too_many() {
    let id = |n: usize| format!("b{n}").parse::<PlayerId>().unwrap();
    let (mut meetings, old) = (Meetings::default(), id(0));
    for _ in 0..4 {
        meetings.add(&old, &id(1));
    }
    for n in 2..=MEETINGS_MAX + 1 {
        meetings.add(&old, &id(n));
    }
    assert_eq!((meetings.0.len(), meetings.count(&id(1), &old)), (1, 2));
}

#[test]
fn bots_of_one_owner_do_not_meet() {
    let mut field = [candidate("r1", false, 1500, 0), candidate("r2", false, 1500, 0)];
    field[1].identity.owner = field[0].identity.owner.clone();
    check_choice(&field, &Meetings::default(), None);
}

#[test]
fn what_a_bot_does_not_accept_is_never_chosen() {
    let mut field = [candidate("h1", true, 1500, 0), candidate("r1", false, 1500, 0)];
    field[1].accepts.rated = Some(false);
    check_choice(&field, &Meetings::default(), None);
    check_choice(&[candidate("r1", false, 1500, 0)], &Meetings::default(), None);
}

fn ladder(arena: &Arena, house_pairs: usize) -> LadderActor {
    LadderActor {
        host: arena.services.host.clone(),
        store: Arc::clone(&arena.services.store),
        sessions: arena.services.sessions.clone(),
        directory: arena.services.directory.clone(),
        settings: LadderSettings { time: TIME, pause: Duration::from_mins(1), house_pairs },
    }
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
async fn two_open_bots_play_one_rated_pair_at_a_time() {
    let arena = quiet_arena().await;
    let (ann, bob) = (arena.bot("ann").await, arena.bot("bob").await);
    let (mut ann, mut bob) = (arena.join_open(&ann).await, arena.join_open(&bob).await);
    tokio::spawn(ladder(&arena, 0).run(CancellationToken::new()));
    tokio::time::sleep(5 * TICK).await;
    assert_eq!(live_pairs(&arena), [(1, true)]);
    resign_all(&mut [&mut ann]).await;
    bob.hear();
    arena.settle().await;
    assert_eq!(live_pairs(&arena), [(2, true)], "the second game follows, and no other pair");
    resign_all(&mut [&mut ann]).await;
    arena.settle().await;
    assert_eq!(live_pairs(&arena), []);
    tokio::time::sleep(5 * TICK).await;
    assert_eq!(live_pairs(&arena), [(1, true)], "and then the next pair");
}

#[tokio::test(start_paused = true)]
async fn bots_that_are_not_open_full_or_gone_are_left_alone() {
    let arena = quiet_arena().await;
    let (ann, bob) = (arena.bot("ann").await, arena.bot("bob").await);
    let _ann = arena.join_open(&ann).await;
    let bob = arena.join(&bob).await;
    let eve = arena.join_open(&arena.bot("eve").await).await;
    eve.vanish().await;
    tokio::spawn(ladder(&arena, 0).run(CancellationToken::new()));
    tokio::time::sleep(5 * TICK).await;
    assert_eq!(live_pairs(&arena), []);
    drop(bob);
}

#[tokio::test(start_paused = true)]
async fn nothing_begins_while_the_host_is_paused() {
    let arena = Arena::new().await;
    arena.services.host.pause();
    tokio::spawn(ladder(&arena, 1).run(CancellationToken::new()));
    tokio::time::sleep(5 * TICK).await;
    assert_eq!(live_pairs(&arena), []);
}
