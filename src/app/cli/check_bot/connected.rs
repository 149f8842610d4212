//! The daemon's own test of a bot that is connected to it, asked for with the bot's token.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use crate::client::http::call;
use crate::http::error::{ApiCode, ApiError};
use crate::model::secret::Secret;
use crate::storage::records::self_test::{TestCheck, TestReport, TestVerdict};
use hyper::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use crate::app::terminal::exit::{Code, Exit};

/// How long a bot may take to connect: a program may have to be compiled or to load its weights.
const CONNECT_WITHIN: Duration = Duration::from_mins(1);

/// How long the daemon may take for its games.
const TEST_WITHIN: Duration = Duration::from_mins(15);

/// How long a bot without games may take to leave after Ctrl-C.
const LEAVE_WITHIN: Duration = Duration::from_secs(15);

/// Where the test is begun, and how it stands.
const TEST_PATH: &str = "/api/v1/bots/@me/self-test";

/// How often to ask how it stands.
const ASK_EVERY: Duration = Duration::from_millis(200);

/// Where the daemon is, and whose token speaks.
#[derive(Clone, Debug)]
pub(super) struct DaemonAccess {
    pub(super) url: String,
    pub(super) token: Secret,
}

/// The part of a bot's state that is waited for.
#[derive(Debug, Deserialize)]
struct BotConnection {
    connected: bool,
}

/// How the daemon's test stands.
#[derive(Debug, Deserialize)]
struct TestState {
    running: bool,
    report: Option<TestReport>,
}

impl DaemonAccess {
    /// Has the bot that is connected, or connects soon, tested by the daemon.
    pub(super) async fn test(&self) -> anyhow::Result<TestReport> {
        self.begin().await?;
        self.report().await
    }

    async fn begin(&self) -> anyhow::Result<()> {
        self.until_connected().await?;
        match call::<TestState, ApiError>(&self.url, &self.token, Method::POST, TEST_PATH).await? {
            // Where the operator requires it, the daemon may have begun by itself.
            Err(refusal) if refusal.code != ApiCode::Conflict => {
                Err(Exit::new(Code::Failure, refusal.message).into())
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Waits for what the test found.
    async fn report(&self) -> anyhow::Result<TestReport> {
        let deadline = Instant::now() + TEST_WITHIN;
        while Instant::now() < deadline {
            let state = self.ask::<TestState>(TEST_PATH).await?;
            if let (false, Some(report)) = (state.running, state.report) {
                return Ok(report);
            }
            sleep(ASK_EVERY).await;
        }
        Err(Exit::new(Code::Failure, "the daemon's test did not end").into())
    }

    async fn until_connected(&self) -> anyhow::Result<()> {
        let deadline = Instant::now() + CONNECT_WITHIN;
        while Instant::now() < deadline {
            if self.ask::<BotConnection>("/api/v1/bots/@me").await?.connected {
                return Ok(());
            }
            sleep(ASK_EVERY).await;
        }
        let message = format!("the bot did not connect within {} s", CONNECT_WITHIN.as_secs());
        Err(Exit::new(Code::Failure, message).into())
    }

    async fn ask<T: serde::de::DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        let answer = call(&self.url, &self.token, Method::GET, path).await?;
        answer.map_err(|refusal: ApiError| Exit::new(Code::Failure, refusal.message).into())
    }

    /// Tests a bot that connects by itself: the one that is there if `command` is empty, else the one that it starts,
    /// which must also leave when it is told to.
    pub(super) async fn test_connecting(&self, command: &[String]) -> anyhow::Result<TestReport> {
        let Some((program, arguments)) = command.split_first() else { return self.test().await };
        let mut bot = Command::new(program)
            .args(arguments)
            .env("FOURFOLD_URL", &self.url)
            .env("FOURFOLD_TOKEN", self.token.expose())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Exit::usage(format!("`{program}` cannot be started: {error}")))?;
        tokio::select! {
            begun = self.begin() => begun?,
            ended = bot.wait() => {
                let message = format!("the bot ended before its test began: {}", how(ended));
                return Err(Exit::new(Code::Failure, message).into());
            }
        }
        let mut report = tokio::select! {
            report = self.report() => report?,
            // What it did well until then is worth knowing.
            ended = bot.wait() => {
                let mut report = self.report().await?;
                add(&mut report, TestCheck {
                    name: "stays".to_owned(),
                    verdict: TestVerdict::Failed,
                    note: format!("ended during the test: {}; a lost connection has to be made again", how(ended)),
                });
                return Ok(report);
            }
        };
        add(&mut report, drain(&mut bot).await);
        Ok(report)
    }
}

/// One more check, which this side makes.
fn add(report: &mut TestReport, check: TestCheck) {
    report.passed &= check.verdict != TestVerdict::Failed;
    report.checks.push(check);
}

fn how(ended: io::Result<ExitStatus>) -> String {
    ended.map_or_else(|error| error.to_string(), |status| status.to_string())
}

/// Tells the bot to leave, as Ctrl-C does.
async fn drain(bot: &mut Child) -> TestCheck {
    let id = bot.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let told = id.is_some_and(|id| kill_process(id, Signal::INT).is_ok());
    let (verdict, note) = match timeout(LEAVE_WITHIN, bot.wait()).await {
        Ok(Ok(status)) if told => (TestVerdict::Passed, format!("left after Ctrl-C: {status}")),
        Ok(_) => (TestVerdict::Failed, "ended before it was told to".to_owned()),
        Err(_) => {
            (TestVerdict::Failed, format!("did not leave within {} s after Ctrl-C", LEAVE_WITHIN.as_secs()))
        }
    };
    TestCheck { name: "drain".to_owned(), verdict, note }
}
