//! Comparing what clients were told with what the store holds.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use fourfold::model::durability::Durability;
use fourfold::model::ids::GameId;
use fourfold::model::result::GameResult;
use fourfold::storage::store::GameQuery;
use fourfold::system::data_dir::DataDir;

use fourfold::storage::{SqliteStore, Store, StoredGame};

use crate::daemon::{data, fourfold};
use crate::history::{History, Inner};
use crate::players::run;

/// Games read at a time.
const PAGE: u32 = 1_000;

/// A game as the check sees it.
#[derive(Clone, Debug)]
struct Kept {
    opening: usize,
    moves: String,
    result: Option<GameResult>,
}

/// What clients were told, as the check sees it.
#[derive(Clone, Debug, Default)]
struct Told {
    sent: HashMap<(GameId, u32), HashSet<u8>>,
    acked: HashMap<(GameId, u32), u8>,
    ended: HashMap<GameId, (GameResult, String)>,
}

/// Everything that is wrong, one line each.
pub(crate) async fn compare(directory: &Path, history: &History) -> Vec<String> {
    let verified = run(directory, fourfold().args(["games", "verify"]));
    print!("{verified}");
    let (kept, mut faults) = read(directory).await;
    let inner = history.lock();
    faults.extend(inner.faults.iter().cloned());
    faults.extend(find_faults(&Told::of(&inner), &kept));
    if inner.acked.is_empty() {
        faults.push("no move was acknowledged: nothing was tested".to_owned());
    }
    faults
}

impl Told {
    fn of(inner: &Inner) -> Self {
        Self { sent: inner.sent.clone(), acked: inner.acked.clone(), ended: inner.ended.clone() }
    }
}

/// All games, live and finished, and what is wrong with their numbers.
async fn read(directory: &Path) -> (HashMap<GameId, Kept>, Vec<String>) {
    let data = DataDir::open(&data(directory)).expect("the daemon has left the directory");
    let store = SqliteStore::open(&data.database(), Durability::Strict).await.expect("a whole database");
    let mut faults = Vec::new();
    let mut kept = HashMap::new();
    let mut query = GameQuery { limit: PAGE, ..GameQuery::default() };
    loop {
        let games = store.finished_games(&query).await.expect("readable games");
        let Some(last) = games.last() else { break };
        let expected = query.after.unwrap_or(0) + 1;
        for (game, expected) in games.iter().zip(expected..) {
            if number(game) != expected {
                faults.push(format!("game {}: number {} instead of {expected}", game.spec.id, number(game)));
            }
        }
        query.after = Some(number(last));
        for game in &games {
            keep(&mut kept, game, &mut faults);
        }
    }
    for game in &store.live_games().await.expect("readable games") {
        keep(&mut kept, game, &mut faults);
    }
    store.close().await.expect("the database closes");
    (kept, faults)
}

fn number(game: &StoredGame) -> u64 {
    game.settlement.as_ref().map_or(0, |settlement| settlement.number)
}

fn keep(kept: &mut HashMap<GameId, Kept>, game: &StoredGame, faults: &mut Vec<String>) {
    let entry = Kept {
        opening: game.spec.opening.moves.len(),
        moves: game.moves(),
        result: game.ending().map(|ending| ending.result),
    };
    if kept.insert(game.spec.id.clone(), entry).is_some() {
        faults.push(format!("game {} is stored twice", game.spec.id));
    }
}

fn find_faults(told: &Told, kept: &HashMap<GameId, Kept>) -> Vec<String> {
    let mut faults = Vec::new();
    for ((game, ply), column) in &told.acked {
        let stored = kept.get(game).and_then(|kept| kept.moves.chars().nth(*ply as usize));
        if stored != char::from_digit((*column).into(), 36) {
            faults.push(format!(
                "game {game} ply {ply}: column {column} was acknowledged, stored is {stored:?}"
            ));
        }
    }
    for (game, (result, moves)) in &told.ended {
        match kept.get(game) {
            Some(kept) if kept.result == Some(*result) && kept.moves == *moves => {}
            other => {
                faults.push(format!("game {game}: ended with {moves} ({result:?}), stored is {other:?}"));
            }
        }
    }
    for (game, kept) in kept {
        for (ply, digit) in (0..).zip(kept.moves.chars()).skip(kept.opening) {
            let sent = told.sent.get(&(game.clone(), ply));
            let was_sent =
                sent.is_some_and(|sent| sent.iter().any(|&c| char::from_digit(c.into(), 36) == Some(digit)));
            if !was_sent {
                faults.push(format!("game {game} ply {ply}: column {digit} is stored, nobody sent it"));
            }
        }
    }
    faults
}

/// The check itself is tested: each defect that is planted must be found.
///
/// # Panics
///
/// Panics if one is not.
pub(crate) fn self_test() {
    let game: GameId = "g1".parse().expect("an id");
    let mut kept = HashMap::new();
    kept.insert(game.clone(), Kept { opening: 1, moves: "4453".into(), result: Some(GameResult::Draw) });
    let told = Told {
        sent: HashMap::from([1, 2, 3].map(|ply| ((game.clone(), ply), HashSet::from([4, 5, 3])))),
        acked: HashMap::from([((game.clone(), 1), 4), ((game.clone(), 2), 5)]),
        ended: HashMap::from([(game.clone(), (GameResult::Draw, "4453".to_owned()))]),
    };
    assert_eq!(find_faults(&told, &kept), Vec::<String>::new(), "nothing is wrong yet");
    let finds = |what: &str, plant: fn(&mut Told, &mut Kept)| {
        let (mut told, mut kept) = (told.clone(), kept.clone());
        let game = kept.get_mut(&game).expect("the one game");
        plant(&mut told, game);
        assert!(!find_faults(&told, &kept).is_empty(), "{what} goes unnoticed");
    };
    finds("a lost move", |_, kept| kept.moves.truncate(2));
    finds("a changed move", |_, kept| kept.moves = "4463".into());
    finds("a doubled move", |_, kept| kept.moves = "44453".into());
    finds("two swapped plies", |_, kept| kept.moves = "4543".into());
    finds("another result", |_, kept| kept.result = Some(GameResult::First));
    finds("a forgotten end", |_, kept| kept.result = None);
    finds("a move that nobody sent", |_, kept| kept.moves.push('7'));
    finds("a lost game", |told, _| {
        told.acked.insert(("g2".parse().expect("an id"), 0), 1);
    });
}
