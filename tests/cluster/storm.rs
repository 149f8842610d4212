//! Everybody who was connected to a node that dies comes back by the others, and goes on with the same session, while
//! others play.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fourfold::client::Introduction;
use fourfold::client::load::{Ack, GamesPlan, LoadTrouble, PairPlan, Role, Witness, play_pair};
use fourfold::model::ids::GameId;
use fourfold::protocol::server::GameEnd;
use fourfold_engine::Column;
use futures::future::join_all;
use futures::stream::{self, StreamExt as _};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::history::History;
use crate::nodes::Nodes;
use crate::players::TIME;

/// How soon all are back.
const BACK_MAX: Duration = Duration::from_secs(10);

/// Handshakes at a time while nobody is in a hurry.
const AT_A_TIME: usize = 64;

/// One in so many clients has a game that goes on; it has one opponent, who is in this storm too.
const SEATED_ONE_IN: usize = 5;

/// Pauses before a client tries again: from the first to the last, each twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LAST_PAUSE: Duration = Duration::from_secs(5);

/// Attempts to come back: about a minute, half of the time for which a session is kept.
const RETURNS_MAX: u32 = 15;

/// Pairs who play meanwhile at the other nodes.
const OTHERS: u32 = 20;

/// How long they think.
pub(crate) const THINK: Duration = Duration::from_millis(200);

/// A move of theirs may take so long, of a hundred all but one.
const MOVE_P99_MAX: Duration = Duration::from_millis(100);

/// How long they play before anything happens.
const BEFORE: Duration = Duration::from_secs(3);

/// Those who play meanwhile: how long each move took until it was acknowledged. The history is told everything.
struct Others {
    history: Arc<History>,
    moves: Mutex<Vec<Duration>>,
}

/// How the return of one client went.
struct Return {
    after: Duration,
    attempts: u32,
}

/// Kills the node with so many clients, and waits until all of them are back.
pub(crate) async fn test(nodes: &mut Nodes, sockets: usize, history: &Arc<History>) -> Vec<String> {
    open_as_many_files_as_allowed();
    let leader = nodes.leader().await;
    let killed = (leader + 1) % nodes.len();
    let addresses = nodes.addresses();
    let ways_back: Vec<SocketAddr> =
        (0..nodes.len()).filter(|node| *node != killed).map(|node| addresses[node]).collect();
    let (others, stop) = (Arc::new(Others::told_to(history)), CancellationToken::new());
    let playing = others.play(&ways_back, &stop);
    let mut clients = match gather(addresses[killed], sockets).await {
        Ok(clients) => clients,
        Err(why) => return vec![format!("{sockets} clients do not fit into the arena: {why}")],
    };
    let seated = clients.len() / SEATED_ONE_IN / 2 * 2;
    let seating = stream::iter(clients[..seated].chunks_mut(2))
        .map(|pair| seat(pair, history))
        .buffer_unordered(AT_A_TIME);
    let mut faults: Vec<String> = seating.filter_map(async |seated| seated.err()).collect().await;
    tokio::time::sleep(BEFORE).await;
    let before = others.take();
    let died = Instant::now();
    let mut returning = JoinSet::new();
    for (index, client) in clients.into_iter().enumerate() {
        let (first, then) = ways_back.split_at(index % ways_back.len());
        returning.spawn(come_back(client, [then, first].concat(), u64::from(index < seated), died));
    }
    nodes.kill(killed);
    let mut back = Vec::new();
    while let Some(returned) = returning.join_next().await {
        match returned.expect("a client does not panic") {
            Ok(returned) => back.push(returned),
            Err(why) => faults.push(why),
        }
    }
    // A few clients are back before anybody else has moved.
    tokio::time::sleep(BEFORE.saturating_sub(died.elapsed())).await;
    let meanwhile = others.take();
    stop.cancel();
    faults.extend(playing.finish().await);
    nodes.start_again(killed);
    faults.extend(report(&mut back, seated, before, meanwhile));
    faults.truncate(20);
    faults
}

/// So many clients of one node.
async fn gather(node: SocketAddr, sockets: usize) -> Result<Vec<Client>, String> {
    let opening = stream::iter(0..sockets).map(|_| Client::connect(node)).buffer_unordered(AT_A_TIME);
    opening.collect::<Vec<_>>().await.into_iter().collect()
}

/// Lets two clients begin a game, which waits for its third move from then on.
async fn seat(pair: &mut [Client], history: &History) -> Result<(), String> {
    let [first, second] = pair else { return Ok(()) };
    let Err(why) = begin_game(first, second, history).await else { return Ok(()) };
    // Whoever waits for a message need not be the one who was refused something.
    let unheard = [first.unheard().await, second.unheard().await];
    Err(format!("{why}; of the two who begin a game each has not heard yet: {unheard:?}"))
}

async fn begin_game(first: &mut Client, second: &mut Client, history: &History) -> Result<(), String> {
    let challenge =
        json!({"type": "challenge", "to": second.name(), "time": TIME, "rated": false, "side": "first"});
    first.say(&challenge).await?;
    let offer = second.hear_until("challenge").await?["challenge"].clone();
    second.say(&json!({"type": "accept", "challenge": offer})).await?;
    for ply in 0..2 {
        let mover = if ply == 0 { &mut *first } else { &mut *second };
        let game = mover.hear_until("turn").await?["game"].clone();
        let known = game.as_str().and_then(|id| id.parse().ok()).ok_or("a turn in no game")?;
        history.sending(&known, ply, Column::from_number(1).ok_or("there is a first column")?);
        mover.say(&json!({"type": "move", "game": game, "ply": ply, "column": 1})).await?;
        mover.hear_until("moved").await?;
    }
    Ok(())
}

/// Waits until its node is gone, and comes back as the protocol asks for.
async fn come_back(
    mut client: Client,
    ways: Vec<SocketAddr>,
    games: u64,
    died: Instant,
) -> Result<Return, String> {
    client.hear_to_the_end().await;
    let (mut pause, mut last) = (FIRST_PAUSE, String::new());
    for (attempt, way) in (1..=RETURNS_MAX).zip(ways.iter().cycle()) {
        match client.go_on_at(*way).await {
            Ok(()) => {
                let synced = client.hear_until("synced").await?;
                if synced["games"] != games {
                    return Err(format!("a client of {games} games has come back to {synced}"));
                }
                return Ok(Return { after: died.elapsed(), attempts: attempt });
            }
            Err(why) => last = why,
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LAST_PAUSE);
    }
    Err(format!("no way back after {RETURNS_MAX} attempts: {last}"))
}

/// Prints how it went, and says what was too slow.
fn report(
    back: &mut [Return],
    seated: usize,
    before: Vec<Duration>,
    meanwhile: Vec<Duration>,
) -> Option<String> {
    back.sort_unstable_by_key(|returned| returned.after);
    let times: Vec<Duration> = back.iter().map(|returned| returned.after).collect();
    let attempts: u32 = back.iter().map(|returned| returned.attempts).sum();
    let longest = times.last().copied().unwrap_or_default();
    let moves = meanwhile.len();
    let (before, meanwhile) = (at(before, 99), [at(meanwhile.clone(), 50), at(meanwhile, 99)]);
    let held = if meanwhile[1] <= MOVE_P99_MAX { "held" } else { "missed" };
    println!(
        "{} clients of a node that died, {seated} of them with a game, were back after p50 {:.1?}, p99 {:.1?}, max \
         {longest:.1?}, in {attempts} attempts; {moves} moves of others meanwhile took p50 {:.1?}, p99 {:.1?} (before: \
         p99 {before:.1?}; {MOVE_P99_MAX:?} is {held})",
        times.len(),
        at(times.clone(), 50),
        at(times.clone(), 99),
        meanwhile[0],
        meanwhile[1],
    );
    (longest > BACK_MAX).then(|| format!("all were back after {longest:.1?}, which may take {BACK_MAX:?}"))
}

/// The time that so many of a hundred do not exceed.
fn at(mut times: Vec<Duration>, percent: usize) -> Duration {
    times.sort_unstable();
    times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}

/// Each client is a file, here and at the nodes, which are started by this process.
fn open_as_many_files_as_allowed() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // What is not allowed is seen when the clients connect.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// Others at play.
struct Playing(JoinSet<Result<(), fourfold::client::ClientError>>);

impl Playing {
    async fn finish(mut self) -> Vec<String> {
        let mut faults = Vec::new();
        while let Some(played) = self.0.join_next().await {
            faults.extend(played.expect("a player does not panic").err().map(|error| error.to_string()));
        }
        faults
    }
}

impl Others {
    fn told_to(history: &Arc<History>) -> Self {
        Self { history: Arc::clone(history), moves: Mutex::default() }
    }

    /// Lets pairs play at these nodes, on a thread of their own: they must not wait for what the clients of the storm
    /// have to do, as they would not on other machines.
    fn play(self: &Arc<Self>, nodes: &[SocketAddr], stop: &CancellationToken) -> Playing {
        let mut games = Vec::new();
        let at = |seat: u32| {
            let node = nodes[seat as usize % nodes.len()];
            Introduction { url: format!("ws://{node}"), ..Introduction::default() }
        };
        for pair in 0..OTHERS {
            let plan = PairPlan {
                challenger: at(pair),
                challenged: at(pair + 1),
                games: GamesPlan { think: THINK, ..GamesPlan::casual(TIME, pair.into()) },
            };
            let witness: Arc<dyn Witness> = Arc::<Self>::clone(self);
            games.push(play_pair(plan, witness, stop.clone()));
        }
        let mut playing = JoinSet::new();
        playing.spawn_blocking(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(join_all(games)).into_iter().collect()
        });
        Playing(playing)
    }

    /// How long the moves took since this was asked last.
    fn take(&self) -> Vec<Duration> {
        std::mem::take(&mut *self.moves.lock().expect("nobody panics with it"))
    }
}

impl Witness for Others {
    fn playing(&self, game: &GameId) {
        self.history.playing(game);
    }

    fn sending(&self, game: &GameId, ply: u32, column: Column) {
        self.history.sending(game, ply, column);
    }

    fn acked(&self, ack: &Ack) {
        self.moves.lock().expect("nobody panics with it").push(ack.latency);
        self.history.acked(ack);
    }

    fn ended(&self, role: Role, end: &GameEnd) {
        self.history.ended(role, end);
    }

    fn trouble(&self, trouble: LoadTrouble) {
        self.history.trouble(trouble);
    }
}
