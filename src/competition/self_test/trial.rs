//! Tests of connected bots: one at a time for each bot, their reports kept by version.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thiserror::Error;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::observer::TestObserver;
use crate::competition::matchmaker::Troubles;
use crate::model::ids::PlayerId;
use crate::model::player::Identity;
use crate::model::time::UnixMillis;
use crate::play::host::Host;
use crate::play::presence::Sessions;
use crate::storage::bot_versions::StoredTest;
use crate::storage::records::self_test::TestReport;
use crate::storage::store::{TestOutcome, Write};
use crate::storage::{Store, Writer};
use crate::system::tasks::Tasks;

/// Tests at the same time: each is four games, two of them a move long, against the quickest bot of the house.
const RUNNING_MAX: usize = 16;

/// How often to look for bots that must be tested before they may play.
const TICK: Duration = Duration::from_secs(1);

/// Why a test cannot begin.
#[derive(Debug, Error)]
pub enum BeginError {
    /// Only a bot that is there can be tested.
    #[error("{0} is not connected")]
    NotConnected(String),
    /// One is enough.
    #[error("a self-test of {0} is under way already")]
    Running(String),
    /// Too many at the same time, or no new games begin now.
    #[error("the arena is busy")]
    Busy,
}

/// What tests are made with.
#[derive(Clone, Debug)]
pub(crate) struct SelfTestDeps {
    pub(crate) host: Host,
    pub(crate) sessions: Sessions,
    /// Reads games and reports.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) writer: Writer,
    /// Where the ladder hears that a bot is mended.
    pub(crate) troubles: Troubles,
    /// Owns the tests' tasks.
    pub(crate) tasks: Tasks,
    /// Cancelled when the daemon stops.
    pub(crate) stop: CancellationToken,
}

/// Notes that a test is over when it is dropped, also if it panicked: or else it could never be repeated.
struct RunningTest {
    tests: SelfTests,
    bot: PlayerId,
}

impl Drop for RunningTest {
    fn drop(&mut self) {
        self.tests.running().remove(&self.bot);
    }
}

/// The tests of this daemon. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SelfTests {
    deps: Arc<SelfTestDeps>,
    running: Arc<Mutex<HashSet<PlayerId>>>,
}

impl SelfTests {
    /// None is under way yet.
    pub(crate) fn new(deps: SelfTestDeps) -> Self {
        Self { deps: Arc::new(deps), running: Arc::default() }
    }

    fn running(&self) -> MutexGuard<'_, HashSet<PlayerId>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a test of this bot is under way.
    pub fn is_running(&self, bot: &PlayerId) -> bool {
        self.running().contains(bot)
    }

    /// Begins a test of a connected bot in a task of its own.
    ///
    /// # Errors
    ///
    /// See [`BeginError`].
    pub fn begin(&self, bot: &Identity) -> Result<(), BeginError> {
        let deps = &self.deps;
        if !deps.sessions.is_online(&bot.id) {
            return Err(BeginError::NotConnected(bot.name.to_string()));
        }
        if deps.host.is_paused() {
            return Err(BeginError::Busy);
        }
        {
            let mut running = self.running();
            if running.contains(&bot.id) {
                return Err(BeginError::Running(bot.name.to_string()));
            }
            if running.len() >= RUNNING_MAX {
                return Err(BeginError::Busy);
            }
            running.insert(bot.id.clone());
        }
        let (tests, bot) = (self.clone(), bot.clone());
        let running = RunningTest { tests: tests.clone(), bot: bot.id.clone() };
        deps.tasks.spawn(async move {
            tokio::select! {
                biased;
                () = tests.deps.stop.cancelled() => {}
                () = tests.run_one(&bot) => {}
            }
            drop(running);
        });
        Ok(())
    }

    async fn run_one(&self, bot: &Identity) {
        let SelfTestDeps { host, sessions, store, writer, troubles, .. } = &*self.deps;
        let version = sessions.version_of(&bot.id).unwrap_or_default();
        let observer = TestObserver::new(host.clone(), sessions.clone(), Arc::clone(store), bot.clone());
        let report = observer.examine(&version).await;
        info!(bot = %bot.name, version, passed = report.passed, "self-test ended");
        if report.passed {
            troubles.mended(bot.id.clone());
        }
        let outcome = if report.passed { TestOutcome::Passed } else { TestOutcome::Failed };
        let test = StoredTest { at: UnixMillis::now(), report: TestReport::to_stored(&report) };
        let write = Write::SaveTest { bot: bot.id.clone(), version, test, outcome };
        if let Err(error) = writer.write(write).await {
            warn!(bot = %bot.name, error = %error, "a self-test could not be stored");
        }
    }

    /// Where the operator requires it: tests versions that connect openly and have no report yet, so that a bot need
    /// not ask. Runs until the daemon stops.
    pub(crate) async fn run(self) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = self.deps.stop.cancelled() => return,
                _ = tick.tick() => self.test_newcomers().await,
            }
        }
    }

    async fn test_newcomers(&self) {
        for bot in self.deps.sessions.open_bots() {
            let version = bot.profile.version.unwrap_or_default();
            match self.deps.store.bot_version(&bot.identity.id, &version).await {
                Ok(known) if known.as_ref().is_none_or(|known| known.tested.is_none()) => {
                    // It may run already, or the arena is busy: the next look finds it again.
                    let _later = self.begin(&bot.identity);
                }
                Ok(_) => {}
                Err(error) => warn!(error = %error, "a bot's version could not be read"),
            }
        }
    }
}
