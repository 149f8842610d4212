//! What the clients were told, kept by the clients.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use fourfold::client::load::{Ack, HeardEnd, LoadTrouble, Role, Witness};
use fourfold::model::ids::{GameId, PlayerId};
use fourfold::model::time::UnixMillis;
use fourfold::protocol::server::GameEnd;

use fourfold::model::result::{EndReason, GameResult};
use fourfold_engine::Column;
use tokio::sync::watch;

/// How often it is looked whether something was told: less than a commit takes.
const LOOK: Duration = Duration::from_millis(2);

/// Everything that clients were told.
pub(crate) struct History {
    inner: Mutex<Inner>,
    begun: watch::Sender<Begun>,
}

/// How far everybody has come at first.
#[derive(Default)]
struct Begun {
    /// Pairs that are connected. Who is not yet does not outlive a death of the daemon.
    pairs: usize,
    /// Games that have begun; of a quick pair more than one.
    games: HashSet<GameId>,
}

/// The parts, for the check.
pub(crate) struct Inner {
    file: BufWriter<File>,
    /// Columns of moves that may have reached the server.
    pub(crate) sent: HashMap<(GameId, u32), HashSet<u8>>,
    /// What each of the acknowledgements took.
    pub(crate) latencies: Vec<Duration>,
    /// Columns of acknowledged moves.
    pub(crate) acked: HashMap<(GameId, u32), u8>,
    /// Results and moves of games that ended.
    pub(crate) ended: HashMap<GameId, (GameResult, String)>,
    /// On which of its connections a player was told how a game ended.
    pub(crate) heard_ends: HashMap<(GameId, PlayerId), Vec<u32>>,
    /// Players who left and have heard all that was said until then.
    pub(crate) heard_out: HashSet<PlayerId>,
    /// When the players were told to stop.
    pub(crate) stopped_at: Option<UnixMillis>,
    /// What should not have been said.
    pub(crate) faults: Vec<String>,
    /// Refusals that may happen while a server starts, by code.
    refusals: BTreeMap<String, u64>,
    reconnects: u64,
}

impl History {
    /// Begins a history, written to a file as it happens.
    pub(crate) fn create(path: &Path) -> Self {
        let file = BufWriter::new(File::create(path).expect("a writable directory"));
        Self { inner: Mutex::new(Inner::new(file)), begun: watch::Sender::default() }
    }

    /// Waits until so many pairs are connected, and as many games have begun.
    pub(crate) async fn games_begun(&self, count: usize) {
        let mut begun = self.begun.subscribe();
        let is_enough = |begun: &Begun| begun.pairs >= count && begun.games.len() >= count;
        begun.wait_for(is_enough).await.expect("the sender is here");
    }

    /// Waits until one more move is acknowledged than now.
    pub(crate) async fn one_more_move(&self) {
        let before = self.lock().acked.len();
        while self.lock().acked.len() == before {
            tokio::time::sleep(LOOK).await;
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no task panics while it holds the history")
    }

    /// What ends from now on, the players are perhaps too late to hear: they will be told to stop.
    pub(crate) fn stopping(&self) {
        self.lock().stopped_at = Some(UnixMillis::now());
    }

    /// How often somebody went on with a session on another connection.
    pub(crate) fn reconnects(&self) -> u64 {
        self.lock().reconnects
    }

    pub(crate) fn summary(&self) -> String {
        let inner = self.lock();
        let refusals: Vec<String> = inner.refusals.iter().map(|(code, n)| format!("{code} {n}")).collect();
        let refusals = if refusals.is_empty() { "none".to_owned() } else { refusals.join(" ") };
        format!(
            "{} moves acknowledged, {} games finished, {} connections resumed, refusals: {refusals}",
            inner.acked.len(),
            inner.ended.len(),
            inner.reconnects,
        )
    }
}

impl Inner {
    fn new(file: BufWriter<File>) -> Self {
        Self {
            file,
            sent: HashMap::new(),
            latencies: Vec::new(),
            acked: HashMap::new(),
            ended: HashMap::new(),
            heard_ends: HashMap::new(),
            heard_out: HashSet::new(),
            stopped_at: None,
            faults: Vec::new(),
            refusals: BTreeMap::new(),
            reconnects: 0,
        }
    }

    fn write(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.file, "{line}").and_then(|()| self.file.flush()).expect("the history can be written");
    }
}

impl Witness for History {
    fn connected(&self) {
        self.begun.send_modify(|begun| begun.pairs += 1);
    }

    fn playing(&self, game: &GameId) {
        self.begun.send_if_modified(|begun| begun.games.insert(game.clone()));
    }

    fn sending(&self, game: &GameId, ply: u32, column: Column) {
        self.lock().sent.entry((game.clone(), ply)).or_default().insert(column.number());
    }

    fn acked(&self, ack: &Ack) {
        let Ack { game, ply, column, latency } = ack;
        let mut inner = self.lock();
        inner.latencies.push(*latency);
        inner.write(format_args!(r#"{{"game":"{game}","ply":{ply},"column":{column}}}"#));
        if let Some(before) = inner.acked.insert((game.clone(), *ply), *column) {
            inner
                .faults
                .push(format!("game {game} ply {ply}: acknowledged twice, column {before} and {column}"));
        }
    }

    fn ended(&self, _role: Role, end: &GameEnd) {
        let mut inner = self.lock();
        let told = (end.result, end.moves.clone());
        if end.reason == EndReason::Time {
            // Our players answer at once.
            inner.faults.push(format!("game {}: a flag fell though nobody thought", end.game));
        }
        match inner.ended.insert(end.game.clone(), told.clone()) {
            Some(before) if before != told => {
                inner.faults.push(format!("game {}: its two players were told different ends", end.game));
            }
            Some(_) => {}
            None => inner.write(format_args!(r#"{{"game":"{}","ended":"{}"}}"#, end.game, end.moves)),
        }
    }

    fn heard_end(&self, heard: &HeardEnd) {
        let HeardEnd { player, game, connection } = heard.clone();
        self.lock().heard_ends.entry((game, player)).or_default().push(connection);
    }

    fn heard_out(&self, player: &PlayerId) {
        self.lock().heard_out.insert(player.clone());
    }

    fn reconnected(&self, _role: Role) {
        self.lock().reconnects += 1;
    }

    fn trouble(&self, trouble: LoadTrouble) {
        let mut inner = self.lock();
        match trouble {
            LoadTrouble::Rollback { game, known, said } => {
                inner.faults.push(format!("game {game}: a client had seen {known}, then was told {said}"));
            }
            LoadTrouble::SessionLost => inner.faults.push("a session could not be resumed".to_owned()),
            LoadTrouble::Refused(error) => {
                *inner.refusals.entry(format!("{:?}", error.code)).or_default() += 1;
            }
        }
    }
}

/// The history itself is tested: each thing that should not be said must be a fault.
///
/// # Panics
///
/// Panics if one is not.
pub(crate) fn self_test(directory: &Path) {
    let history = History::create(&directory.join("self-test.ndjson"));
    let game: GameId = "g1".parse().expect("an id");
    let ack = |column| Ack { game: "g1".parse().expect("an id"), ply: 0, column, latency: Duration::ZERO };
    let end = |reason: &str, moves: &str| -> GameEnd {
        let clock = serde_json::json!({"first": 1, "second": 1});
        let end = serde_json::json!({
            "game": "g1", "event_seq": 1, "result": "first", "reason": reason, "moves": moves, "clock": clock
        });
        serde_json::from_value(end).expect("an end as it is on the wire")
    };
    let rollback = || LoadTrouble::Rollback { game: game.clone(), known: "44".into(), said: "4".into() };
    let mut expected = 0;
    let mut adds = |faults: usize, what: &str, say: &dyn Fn()| {
        say();
        expected += faults;
        assert_eq!(history.lock().faults.len(), expected, "{what}");
    };
    adds(0, "a move and the end of its game", &|| {
        history.acked(&ack(4));
        history.ended(Role::Challenger, &end("four", "4"));
        history.ended(Role::Challenged, &end("four", "4"));
    });
    adds(1, "a move acknowledged again, in another column", &|| history.acked(&ack(5)));
    adds(1, "another end for the other player", &|| history.ended(Role::Challenged, &end("four", "45")));
    adds(1, "moves taken back", &|| history.trouble(rollback()));
    adds(1, "a session lost", &|| history.trouble(LoadTrouble::SessionLost));
    adds(2, "a flag", &|| history.ended(Role::Challenger, &end("time", "5")));
}
