//! One data directory, a daemon that dies and starts again on it, and players who go on over all its lives.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use fourfold::client::load::Witness;
use fourfold::model::clock::TimeControl;
use fourfold::model::durability::Durability;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Bench;
use super::shim::{self, Fault, Strike};
use crate::below;
use crate::check;
use crate::daemon::{Daemon, SETTINGS, copy_data, data, fourfold};
use crate::history::History;
use crate::kill::{self, SEATING_MAX};
use crate::players::{self, Playing, Seating};

/// Games at a time in a lane, one of them between rated bots: enough that commits have more than one event in them.
const GAMES: u32 = 3;

/// How long a fault may be in coming while everybody plays, or an answer to it.
pub(super) const LIFE_MAX: Duration = Duration::from_secs(30);

/// Between two looks at how far the players are.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(5);

/// How a lane differs from others.
pub(super) struct LanePlan {
    pub(super) name: String,
    pub(super) durability: Durability,
    pub(super) time: TimeControl,
}

/// A daemon with its players.
pub(super) struct Lane<'a> {
    bench: &'a Bench,
    pub(super) directory: PathBuf,
    pub(super) history: Arc<History>,
    settings: String,
    daemon: Option<Daemon>,
    address: SocketAddr,
    playing: Playing,
    stop: CancellationToken,
    /// Connections that were resumed before the last start.
    reconnects: u64,
    /// From the start of a daemon after a death to its readiness.
    pub(super) recoveries: Vec<Duration>,
}

impl<'a> Lane<'a> {
    /// Starts a daemon with nothing in store for it, and seats everybody.
    pub(super) async fn open(bench: &'a Bench, plan: &LanePlan) -> Self {
        let directory = below(&bench.directory, &plan.name);
        copy_data(&bench.template(), &directory);
        let settings = settings(plan.durability);
        let daemon = Daemon::start(&directory, None, &settings);
        let history = Arc::new(History::create(&directory.join("history.ndjson")));
        let stop = CancellationToken::new();
        let seating = Seating { games: GAMES, time: plan.time, think: Duration::ZERO, seed: bench.seed };
        let witness: Arc<dyn Witness> = Arc::<History>::clone(&history);
        let playing = players::start(&seating, &bench.bots, [daemon.address(); 2], &witness, &stop);
        let seated = history.games_begun(GAMES as usize);
        tokio::time::timeout(SEATING_MAX, seated).await.expect("everybody finds a game");
        let address = daemon.address();
        Self {
            bench,
            directory,
            history,
            settings,
            daemon: Some(daemon),
            address,
            playing,
            stop,
            reconnects: 0,
            recoveries: Vec::new(),
        }
    }

    /// Kills the daemon if it runs, and starts another; how that ended, if it was before it was ready.
    pub(super) fn restart(&mut self, fault: Option<&Fault>) -> Result<(), ExitStatus> {
        self.kill();
        self.reconnects = self.history.reconnects();
        let command = self.bench.shim.fourfold(&self.directory, fault);
        self.start(command)
    }

    fn start(&mut self, command: Command) -> Result<(), ExitStatus> {
        let daemon = Daemon::launch(command, &self.directory, Some(self.address), &self.settings)?;
        self.recoveries.push(daemon.started_in());
        self.daemon = Some(daemon);
        Ok(())
    }

    pub(super) fn kill(&mut self) {
        if let Some(daemon) = self.daemon.take() {
            daemon.kill();
        }
    }

    pub(super) fn daemon(&mut self) -> &mut Daemon {
        self.daemon.as_mut().expect("it was started")
    }

    /// Waits until the daemon ends by itself.
    pub(super) async fn ended(&mut self) -> Option<ExitStatus> {
        let ended = self.daemon().ended_within(LIFE_MAX).await;
        if ended.is_some() {
            self.daemon = None;
        }
        ended
    }

    /// What the shim has said since the last start.
    pub(super) fn strike(&self) -> Option<Strike> {
        shim::strike(&self.directory)
    }

    /// Waits for the shim to say something; nothing if it does not.
    pub(super) async fn struck(&self) -> Option<Strike> {
        shim::struck(&self.directory).await
    }

    /// Moves that were acknowledged.
    pub(super) fn acked(&self) -> usize {
        self.history.lock().acked.len()
    }

    /// Waits until so many more moves are acknowledged. How long it took, or nothing if it does not come to that.
    pub(super) async fn play(&mut self, moves: usize) -> Option<Duration> {
        let (began, wanted) = (Instant::now(), self.acked() + moves);
        while self.acked() < wanted {
            if began.elapsed() > LIFE_MAX || self.daemon().ended_within(LOOK_EVERY).await.is_some() {
                return None;
            }
        }
        Some(began.elapsed())
    }

    /// Waits until all players have come back since the last start; false if some do not.
    pub(super) async fn everybody_back(&self) -> bool {
        let (began, wanted) = (Instant::now(), self.reconnects + 2 * u64::from(GAMES));
        while self.history.reconnects() < wanted && began.elapsed() < LIFE_MAX {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        self.history.reconnects() >= wanted
    }

    /// Lets everybody come back to a daemon on sound hardware, stops it as planned, and gives all that is wrong.
    pub(super) async fn close(mut self) -> Closed {
        self.kill();
        if let Err(status) = self.start(fourfold()) {
            let fault = format!("{}: the last start failed with {status}", self.directory.display());
            return Closed { history: self.history, recoveries: self.recoveries, faults: vec![fault] };
        }
        kill::end(&self.history, &self.stop, self.playing).await;
        self.daemon.take().expect("it was started").stop();
        let faults = check_store(&self.directory, &self.history).await;
        let place = |fault| format!("{}: {fault}", self.directory.display());
        let faults = faults.into_iter().map(place).collect();
        Closed { history: self.history, recoveries: self.recoveries, faults }
    }
}

/// What is left of a lane.
pub(super) struct Closed {
    pub(super) history: Arc<History>,
    pub(super) recoveries: Vec<Duration>,
    pub(super) faults: Vec<String>,
}

fn settings(durability: Durability) -> String {
    let word = match durability {
        Durability::Strict => "strict",
        Durability::Relaxed => "relaxed",
    };
    format!("{SETTINGS}\n[server]\nrestart_notice_ms = 0\n\n[storage]\ndurability = \"{word}\"\n")
}

/// What does not agree in the store, with itself or with what the players were told.
pub(super) async fn check_store(directory: &Path, history: &History) -> Vec<String> {
    let mut faults = contradictions(directory);
    if faults.is_empty() {
        faults = check::differences(directory, history).await;
    }
    if history.lock().acked.is_empty() {
        faults.push("no move was acknowledged: nothing was tested".to_owned());
    }
    faults
}

/// What `fourfold games verify` finds.
pub(super) fn contradictions(directory: &Path) -> Vec<String> {
    let verify =
        fourfold().args(["games", "verify", "--data"]).arg(data(directory)).stdin(Stdio::null()).output();
    let verify = verify.expect("the binary starts");
    if verify.status.success() {
        return Vec::new();
    }
    let said = [verify.stdout, verify.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    vec![format!("games verify: {}: {}", verify.status, said.concat().trim())]
}
