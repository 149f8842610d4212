//! Comparing what clients were told with what the store holds. The kill test and the simulation judge by it.

use std::collections::{HashMap, HashSet};

use fourfold::model::ids::{GameId, PlayerId};
use fourfold::model::result::GameResult;
use fourfold::model::time::UnixMillis;
use fourfold::storage::store::GameQuery;
use fourfold::storage::{Store, StoredGame};

/// Games read at a time.
const PAGE: u32 = 1_000;

/// A game as the check sees it.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    opening: usize,
    moves: String,
    result: Option<GameResult>,
    players: [PlayerId; 2],
    last_change: UnixMillis,
}

/// What clients were told, as the check sees it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// Columns of moves that may have reached the server.
    pub(crate) sent: HashMap<(GameId, u32), HashSet<u8>>,
    /// Columns of acknowledged moves.
    pub(crate) acked: HashMap<(GameId, u32), u8>,
    /// Results and moves of games that ended.
    pub(crate) ended: HashMap<GameId, (GameResult, String)>,
    /// On which of its connections a player was told how a game ended.
    pub(crate) heard_ends: HashMap<(GameId, PlayerId), Vec<u32>>,
    /// Players who left and have heard all that was said until then.
    pub(crate) heard_out: HashSet<PlayerId>,
    /// What ended before this moment was on disk and told when the players were told to stop.
    pub(crate) stopped_at: UnixMillis,
}

/// All games, live and finished, and what is wrong with their numbers.
pub(crate) async fn read(store: &dyn Store) -> (HashMap<GameId, Kept>, Vec<String>) {
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
        players: [game.spec.players.first.clone(), game.spec.players.second.clone()],
        last_change: game.last_change(),
    };
    if kept.insert(game.spec.id.clone(), entry).is_some() {
        faults.push(format!("game {} is stored twice", game.spec.id));
    }
}

/// Everything in which they disagree, one line each.
pub(crate) fn find_faults(told: &Told, kept: &HashMap<GameId, Kept>) -> Vec<String> {
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
    faults.extend(untold_ends(told, kept));
    faults
}

/// Every player of a finished game has heard of its end, and not twice on one connection: after a kill nobody knows
/// whether it arrived, so it may be told again.
fn untold_ends(told: &Told, kept: &HashMap<GameId, Kept>) -> Vec<String> {
    let mut faults = Vec::new();
    // What came after that, the players were perhaps too late to hear.
    let finished =
        kept.iter().filter(|(_, kept)| kept.result.is_some() && kept.last_change < told.stopped_at);
    for (game, kept) in finished {
        for player in kept.players.iter().filter(|player| told.heard_out.contains(*player)) {
            if !told.heard_ends.contains_key(&(game.clone(), player.clone())) {
                faults.push(format!("game {game}: player {player} was never told of its end"));
            }
        }
    }
    for ((game, player), connections) in &told.heard_ends {
        if connections.iter().collect::<HashSet<_>>().len() < connections.len() {
            faults.push(format!("game {game}: player {player} was told of its end on {connections:?}"));
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
    let players = ["ann", "bob"].map(|id| id.parse::<PlayerId>().expect("an id"));
    let last_change = UnixMillis::default();
    let result = Some(GameResult::Draw);
    kept.insert(
        game.clone(),
        Kept { opening: 1, moves: "4453".into(), result, players: players.clone(), last_change },
    );
    let told = Told {
        sent: HashMap::from([1, 2, 3].map(|ply| ((game.clone(), ply), HashSet::from([4, 5, 3])))),
        acked: HashMap::from([((game.clone(), 1), 4), ((game.clone(), 2), 5)]),
        ended: HashMap::from([(game.clone(), (GameResult::Draw, "4453".to_owned()))]),
        // One of them heard it again after a kill.
        heard_ends: [(&players[0], vec![1]), (&players[1], vec![1, 2])]
            .map(|(player, connections)| ((game.clone(), player.clone()), connections))
            .into(),
        heard_out: players.into(),
        stopped_at: UnixMillis::now(),
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
    finds("an end that a player was not told", |told, _| {
        told.heard_ends.retain(|(_, player), _| player.as_str() != "ann");
    });
    finds("an end that a player was told twice", |told, _| {
        told.heard_ends.values_mut().for_each(|connections| connections.push(1));
    });
    finds("a lost game", |told, _| {
        told.acked.insert(("g2".parse().expect("an id"), 0), 1);
    });
}
