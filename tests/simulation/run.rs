//! One run: a plan carried out from the first start to the verdict.
//!
//! Every life of the daemon has a runtime of its own, on one thread and with a paused clock. A kill drops it with all
//! its tasks, wherever they are; what outlives it is what the clients know and what is on the disk.

mod calm;
mod deeds;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use fourfold::app::server::{Daemon, NodeParts, Parts, ServerError};
use fourfold::model::device::Device;
use fourfold::model::ids::PlayerId;
use fourfold::model::player::PlayerKind;
use fourfold::model::portrait::Portrait;
use fourfold::model::time::UnixMillis;
use fourfold::model::world::{self, SimulatedWorld, chance};
use fourfold::session::Services;
use fourfold::session::port::Credential;
use fourfold::storage::record::{BotProfile, StoredPlayer};
use fourfold::storage::store::Write;
use fourfold::storage::{MemoryStore, Store};
use fourfold::system::config::{Bounded, Config};
use fourfold::system::pauses::Pauses;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::defect::Defect;
use crate::disk::SimDisk;
use crate::judge;
use crate::net::{Heard, News};
use crate::panics;
use crate::plan::{Kind, Plan};
use crate::witness::{Figures, Witness};

/// The bot of the house that everybody can play.
pub(crate) const HOUSE_BOT: &str = "greedy";

/// Another one, which it meets where the ladder is on.
const SECOND_BOT: &str = "random";

/// Of so many seeds one has a ladder: its games are work for a run, and are seen by all that is written.
const LADDER_EVERY: u64 = 4;

/// Pairs of the ladder in a run.
const LADDER_PAIRS: u32 = 4;

/// The secret key of the data directory.
const KEY: [u8; 32] = [7; 32];

/// What the wall shows when a run begins: a day of 2026.
const WALL_MS: i64 = 1_790_000_000_000;

/// How long a process is gone that nobody meant to stop.
const REPAIR_MS: u64 = 500;

/// How often the run looks around by itself, when nothing else happens.
const LOOK_EVERY_MS: u64 = 500;

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) faults: Vec<String>,
    /// Of all that clients saw, and of all that is kept.
    pub(crate) hash: u64,
    pub(crate) figures: Figures,
    /// All that was written, batch by batch.
    pub(crate) journal: Vec<Vec<Write>>,
    /// What clients have met: kinds of messages, codes, reasons.
    pub(crate) seen: BTreeSet<String>,
}

/// How a life of the daemon ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LifeEnd {
    Killed {
        down_ms: u64,
    },
    Stopped {
        down_ms: u64,
    },
    /// Everything is done.
    Over,
}

/// Carries a plan out.
pub(crate) fn run(plan: &Plan, defect: Option<Defect>) -> Verdict {
    carry_out(Run::new(plan, defect))
}

/// The same, and says all that happens.
pub(crate) fn run_aloud(plan: &Plan, defect: Option<Defect>) -> Verdict {
    let mut run = Run::new(plan, defect);
    run.witness.is_loud = true;
    carry_out(run)
}

fn carry_out(mut run: Run<'_>) -> Verdict {
    panics::forget();
    loop {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime of one thread");
        let end = runtime.block_on(run.live());
        let down_ms = match end {
            LifeEnd::Killed { down_ms } | LifeEnd::Stopped { down_ms } => down_ms,
            LifeEnd::Over => 0,
        };
        run.clients.iter_mut().for_each(|client| client.lose_daemon(down_ms));
        runtime.shutdown_background();
        run.witness.tell(run.began_ms, format_args!("the daemon is gone: {end:?}"));
        match end {
            LifeEnd::Killed { .. } => {
                run.disk.crash();
                run.witness.figures.kills += 1;
            }
            LifeEnd::Stopped { .. } => {}
            LifeEnd::Over => break,
        }
        run.began_ms += down_ms;
        if run.began_ms > run.gives_up_ms() {
            run.witness.fault("the daemon does not stay up".to_owned());
            break;
        }
    }
    world::leave_simulation();
    run.judge()
}

struct Run<'p> {
    plan: &'p Plan,
    disk: Arc<SimDisk>,
    clients: Vec<Client>,
    witness: Witness,
    /// When this life of the daemon began, by the run's clock.
    began_ms: u64,
    /// By how much the clock on the wall was set.
    wall_shift_ms: i64,
    lives: u64,
    connections: u64,
    next_op: usize,
    /// How long the daemon is down after the kill that the disk was told of.
    down_ms: u64,
    defect: Option<Defect>,
    /// Tasks of an idle daemon.
    idle_tasks: Option<usize>,
    stage: Stage,
}

/// What a run is at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The plan is carried out.
    Trouble,
    /// Faults have stopped, all come back and play on.
    Calm { since_ms: u64 },
    /// Two look for a game.
    Pairing { since_ms: u64, games: u64 },
}

/// A daemon and all that is connected to it.
struct Life {
    began: Instant,
    services: Arc<Services>,
    store: Arc<MemoryStore>,
    shutdown: CancellationToken,
    serving: JoinHandle<Result<(), ServerError>>,
    heard: mpsc::UnboundedReceiver<Heard>,
    hear: mpsc::UnboundedSender<Heard>,
}

impl<'p> Run<'p> {
    fn new(plan: &'p Plan, defect: Option<Defect>) -> Self {
        Self {
            plan,
            disk: SimDisk::new(plan.seed, defect),
            clients: plan.clients.iter().map(|habits| Client::new(*habits, defect)).collect(),
            witness: Witness::default(),
            began_ms: 0,
            wall_shift_ms: 0,
            lives: 0,
            connections: 0,
            next_op: 0,
            down_ms: 0,
            defect,
            idle_tasks: None,
            stage: Stage::Trouble,
        }
    }

    /// Whether bots of the house play each other.
    fn has_ladder(&self) -> bool {
        self.plan.seed.is_multiple_of(LADDER_EVERY)
    }

    /// When a run is given up that does not come to an end.
    fn gives_up_ms(&self) -> u64 {
        let last = self.plan.ops.last().map_or(0, |op| op.at_ms);
        last + 60 * 60_000
    }

    fn now_ms(&self, life: &Life) -> u64 {
        self.began_ms + u64::try_from(life.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// One life of the daemon.
    async fn live(&mut self) -> LifeEnd {
        let began = Instant::now();
        let seed = self.plan.seed.wrapping_mul(1_000_003).wrapping_add(self.lives);
        let wall_ms = WALL_MS + i64::try_from(self.began_ms).unwrap_or(0) + self.wall_shift_ms;
        SimulatedWorld::new(seed, wall_ms).enter();
        self.lives += 1;
        let store = self.disk.mount();
        let disk = Arc::clone(&self.disk);
        let started = tokio::select! {
            biased;
            () = disk.died() => None,
            daemon = Daemon::start(parts(&store, self.has_ladder()).await) => Some(daemon),
        };
        let Some(Ok(daemon)) = started else { return self.gone(began, REPAIR_MS) };
        let services = Arc::clone(daemon.services());
        let shutdown = CancellationToken::new();
        let serving = tokio::spawn(daemon.run(shutdown.clone()));
        let (hear, heard) = mpsc::unbounded_channel();
        let mut life = Life { began, services, store, shutdown, serving, heard, hear };
        if self.lives == 1 {
            self.set_up(&life).await;
            sleep(Duration::from_secs(2)).await;
            self.idle_tasks = Some(alive_tasks());
        }
        if self.defect == Some(Defect::LeftTasks) {
            (0..3).for_each(|_| drop(tokio::spawn(std::future::pending::<()>())));
        }
        loop {
            let now_ms = self.now_ms(&life);
            if let Some(end) = self.step(&mut life, now_ms).await {
                self.began_ms = self.now_ms(&life);
                return end;
            }
        }
    }

    /// The process is gone: it was killed, or has ended by itself.
    fn gone(&mut self, began: Instant, down_ms: u64) -> LifeEnd {
        self.began_ms += u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        LifeEnd::Killed { down_ms }
    }

    /// Accounts, and what proves them.
    async fn set_up(&mut self, life: &Life) {
        for number in 0..self.clients.len() {
            let accounts = &life.services.accounts;
            let (before, client) = self.clients.split_at_mut(number);
            let Some(client) = client.first_mut() else { continue };
            if let Some(same) = client.habits.same_as {
                (client.name, client.credential) =
                    (before[same].name.clone(), before[same].credential.clone());
                continue;
            }
            client.name = format!("client-{number}");
            client.credential = match client.habits.kind {
                Kind::Guest => Credential::None,
                Kind::Person => {
                    let person = add_person(life, &client.name).await;
                    let issued =
                        accounts.open_session(&person.id, Device::default()).await.expect("a cookie");
                    Credential::Cookie(issued.secret)
                }
                Kind::Bot => {
                    let owner = add_person(life, &format!("owner-{number}")).await;
                    let owner = fourfold::accounts::identity_of(&owner);
                    let issued = accounts.create_bot(&owner, &client.name).await.expect("a token");
                    Credential::Token(issued.secret)
                }
            };
        }
    }

    /// Waits for whatever comes next and deals with it.
    async fn step(&mut self, life: &mut Life, now_ms: u64) -> Option<LifeEnd> {
        let op = self.plan.ops.get(self.next_op).copied().filter(|_| self.stage == Stage::Trouble);
        let look_ms = now_ms + LOOK_EVERY_MS;
        let due_ms = self.clients.iter().filter_map(Client::next_due_ms).min();
        let wake_ms = [op.map(|op| op.at_ms), due_ms].into_iter().flatten().fold(look_ms, u64::min);
        let wake = life.began + Duration::from_millis(wake_ms.saturating_sub(self.began_ms));
        tokio::select! {
            biased;
            () = self.disk.died() => return Some(LifeEnd::Killed { down_ms: self.down_ms }),
            _ = &mut life.serving => return Some(LifeEnd::Killed { down_ms: REPAIR_MS }),
            Some(heard) = life.heard.recv() => {
                let now_ms = self.now_ms(life);
                self.hear(heard, now_ms);
                return None;
            }
            () = sleep_until(wake) => {}
        }
        let now_ms = self.now_ms(life);
        for client in &mut self.clients {
            client.answer_due(now_ms, &mut self.witness);
        }
        match op {
            Some(op) if op.at_ms <= now_ms => {
                self.next_op += 1;
                self.perform(op, life).await
            }
            Some(_) => None,
            None => self.go_on(life, now_ms).await,
        }
    }

    fn hear(&mut self, heard: Heard, now_ms: u64) {
        let Heard { client: number, connection, news } = heard;
        let Some(client) = self.clients.get_mut(number) else { return };
        if client.link.as_ref().is_none_or(|link| link.connection != connection) {
            return; // of a connection that it has given up
        }
        match news {
            News::Text(text) => {
                self.witness.tell(now_ms, format_args!("{number} <- {text}"));
                self.witness.note((number, now_ms, &text));
                self.witness.figures.messages += 1;
                client.hear(&text, now_ms, &mut self.witness);
            }
            News::Closed(code) => {
                self.witness.tell(now_ms, format_args!("{number} is closed: {code:?}"));
                self.witness.note((number, now_ms, code));
                self.witness.see("closed", code.map_or("lost".to_owned(), |code| code.to_string()));
                client.cut();
            }
        }
    }

    fn judge(mut self) -> Verdict {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let store = self.disk.mount();
        self.witness.figures.simulated_ms = self.began_ms;
        self.witness.faults.extend(panics::all().into_iter().map(|panic| format!("panic: {panic}")));
        let faults = runtime.block_on(judge::judge(&*store, &mut self.witness));
        let hash = self.witness.hash();
        let Witness { figures, seen, .. } = self.witness;
        Verdict { faults, hash, figures, journal: self.disk.journal(), seen }
    }
}

fn alive_tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// What is different from a real daemon: few bots, and few games that nobody asked for.
async fn parts(store: &Arc<MemoryStore>, has_ladder: bool) -> Parts {
    let mut config = Config::quiet([HOUSE_BOT, SECOND_BOT]);
    config.ladder.enabled = has_ladder;
    config.ladder.concurrency = Bounded::new(1);
    config.ladder.pairs_per_day = Bounded::new(LADDER_PAIRS);
    // Nobody connects to it: connections of a simulation are pipes.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let store: Arc<dyn Store> = Arc::<MemoryStore>::clone(store);
    // Nobody beats: a simulated standstill is none that the daemon could notice.
    Parts {
        listener,
        metrics_listener: None,
        config,
        store,
        key: KEY,
        pauses: Pauses::default(),
        node: NodeParts::default(),
    }
}

async fn add_person(life: &Life, name: &str) -> StoredPlayer {
    let player = StoredPlayer {
        id: PlayerId::random(&mut chance()),
        name: name.parse().expect("a name"),
        kind: PlayerKind::Human,
        house: false,
        owner: None,
        profile: BotProfile::default(),
        portrait: Portrait::default(),
        created_at: UnixMillis::now(),
        ban: None,
        mute: None,
        start: None,
    };
    let added = life.services.writer.write(Write::AddPlayer { player: player.clone(), password: None }).await;
    added.expect("a new player");
    player
}

/// One of few time controls, so that seeks fit: some so short that flags fall, one so long that absence counts first.
fn time(draw: u64) -> Value {
    match draw % 5 {
        0 | 3 => json!({"bank_ms": null, "increment_ms": 0, "move_ms": 6_000}),
        4 => json!({"bank_ms": 120_000, "increment_ms": 0, "move_ms": null}),
        _ => json!({"bank_ms": 20_000, "increment_ms": 500, "move_ms": null}),
    }
}
