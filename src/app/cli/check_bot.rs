//! `fourfold check-bot`: the conformance self-test of a bot.

mod connected;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use crate::client::bridge;

use crate::client::Introduction;
use crate::client::bridge::BridgePlan;
use crate::competition::self_test;
use crate::model::clock::{GameTime, TimeControl};
use crate::model::opening::SideChoice;
use crate::model::pace::BotPace;
use crate::model::secret::Secret;
use crate::protocol::client::{BotInfo, PlayBot};

use crate::protocol::terms::WireVariant;
use crate::storage::records::self_test::{TestCheck, TestLatency, TestReport, TestVerdict};
use fourfold_arena::admission::{self, Check, CheckVerdict, Report};
use fourfold_arena::entrant::Entrant;
use fourfold_arena::house::HouseEntrant;
use fourfold_arena::program::dialect::Dialect;
use fourfold_arena::program::spec::ProgramSpec;
use fourfold_arena::watchdog::Watchdog;
use fourfold_bots::Recipe;
use fourfold_engine::Variant;
use tokio_util::sync::CancellationToken;

use self::connected::DaemonAccess;
use super::bridge as bridge_command;
use crate::app::laboratory::contest::programs::ProgramArgs;
use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::output;
use crate::app::terminal::runtime;

/// The house bot of the pair against chance.
const OPPONENT: &str = "random";

/// Test whether a bot keeps to the rules of the arena. Exits with 1 if it does not.
///
/// With a command, the program is asked over its standard streams: a pair against itself, a pair against chance, and
/// the positions at which programs break. With --url and --token, the bot's connection to a daemon is tested, and a
/// casual pair is played there against the house bot `random`: by the command, or if there is none by chance; then the
/// daemon tests the bot itself and keeps the report with its version. With --connects, the command is a bot that
/// connects by itself; without a command, the one that is connected is tested.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold check-bot -- ./mybot --depth 8
  fourfold check-bot --dialect kaggle --json -- python3 agent.py
  FOURFOLD_TOKEN=c4b_… fourfold check-bot --url ws://127.0.0.1:4444
  FOURFOLD_TOKEN=c4b_… fourfold check-bot --connects -- python3 mybot.py")]
pub(super) struct CheckBotCommand {
    /// Address of a daemon, ws://HOST:PORT; wss for TLS.
    ///
    /// With --connects it may be left out: where `FOURFOLD_URL` says, or port 4444 of this machine.
    #[arg(long, value_name = "URL", required_unless_present_any = ["command", "connects"], requires = "token")]
    url: Option<String>,
    /// The bot's token.
    #[arg(long, value_name = "T", env = "FOURFOLD_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// The bot connects by itself: the command, which finds address and token in its environment, or the one that is
    /// connected already.
    #[arg(long, requires = "token")]
    connects: bool,
    /// The version under which the daemon keeps its report; 1 with a command, none without.
    #[arg(long, value_name = "V", conflicts_with = "connects")]
    bot_version: Option<String>,
    /// What the program speaks: simple, board42 (or board42,order=top), kaggle, aigames or cfour.
    #[arg(long, value_name = "D", default_value = "simple")]
    dialect: Dialect,
    /// Time for each move, in milliseconds.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(50..=600_000))]
    move_ms: u32,
    /// Decides the positions and what chance plays.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    programs: ProgramArgs,
    /// The program and its arguments.
    #[arg(value_name = "CMD", trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

impl CheckBotCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let report = match (self.url(), &self.token) {
            (Some(url), Some(token)) => {
                let daemon = DaemonAccess { url, token: Secret::new(token.as_str()) };
                if self.connects {
                    runtime()?.block_on(daemon.test_connecting(&self.command))?
                } else {
                    self.check_connection(&daemon)?
                }
            }
            (Some(_), None) => return Err(Exit::usage("--url needs --token or FOURFOLD_TOKEN").into()),
            (None, _) => self.check_program()?,
        };
        if self.json {
            output::print_json(&report)?;
        } else {
            print(&report)?;
        }
        if report.passed {
            return Ok(());
        }
        let failed = report.checks.iter().filter(|check| check.verdict == TestVerdict::Failed);
        let names: Vec<&str> = failed.map(|check| check.name.as_str()).collect();
        Err(Exit::new(Code::Failure, format!("{} failed: {}", report.bot, names.join(", "))).into())
    }

    /// Where the daemon is, if one is asked.
    fn url(&self) -> Option<String> {
        let usual = || std::env::var("FOURFOLD_URL").unwrap_or_else(|_| bridge_command::URL.to_owned());
        self.url.clone().or_else(|| self.connects.then(usual))
    }

    fn limit(&self) -> Duration {
        Duration::from_millis(self.move_ms.into())
    }

    fn entrant(&self) -> anyhow::Result<Arc<dyn Entrant>> {
        if self.command.is_empty() {
            let watchdog = Watchdog::start()?;
            let recipe = Recipe::new(OPPONENT.parse()?, Variant::STANDARD, None)?;
            return Ok(Arc::new(HouseEntrant::new(OPPONENT.into(), recipe, &watchdog)));
        }
        let spec = ProgramSpec { dialect: self.dialect, words: self.command.clone() };
        Ok(Arc::new(self.programs.program(&self.command.join(" "), spec, Variant::STANDARD)?))
    }

    fn check_program(&self) -> anyhow::Result<TestReport> {
        let interrupt = Interrupt::listen()?;
        let entrant = self.entrant()?;
        let report =
            admission::admit(&*entrant, Variant::STANDARD, self.limit(), self.seed, interrupt.stop());
        interrupt.check(|| "the test is not finished".to_owned())?;
        Ok(TestReport::new(report, Vec::new()))
    }

    /// What the bot is called there.
    fn version(&self) -> Option<BotInfo> {
        let of_program = || (!self.command.is_empty()).then(|| "1".to_owned());
        let version = self.bot_version.clone().or_else(of_program)?;
        Some(BotInfo { version, about: None, url: None, language: None })
    }

    /// The checks of the protocol, then a pair through the bridge, then the daemon's own test.
    fn check_connection(&self, daemon: &DaemonAccess) -> anyhow::Result<TestReport> {
        let entrant = self.entrant()?;
        let introduction = Introduction {
            url: daemon.url.clone(),
            token: Some(daemon.token.clone()),
            bot: self.version(),
            open: Some(false),
            ..Introduction::default()
        };
        let time = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(self.move_ms) };
        let time = GameTime::new(time).map_err(|error| Exit::usage(format!("--move-ms: {error}")))?;
        let plan = BridgePlan {
            introduction: introduction.clone(),
            invitations: [SideChoice::First, SideChoice::Second].map(|side| invitation(side, time)).into(),
            games_max: Some(2),
            opponent: None,
        };
        let name = if self.command.is_empty() { "the connection" } else { entrant.name() }.to_owned();
        runtime()?.block_on(async {
            let mut checks = self_test::connection::run(introduction.clone()).await;
            let mut latencies = Vec::new();
            let mut games = Vec::new();
            if checks.iter().all(|check| check.verdict == CheckVerdict::Passed) {
                let mut words = Vec::new();
                let stop = CancellationToken::new();
                let mut note = |note: &bridge::Note| words.push(bridge_command::words(note));
                let summary = bridge::run(plan, Arc::clone(&entrant), &stop, &mut note).await;
                let summary = summary.map_err(bridge_command::exit)?;
                let is_sound = summary.faults == 0 && summary.refusals == 0;
                let verdict = if is_sound { CheckVerdict::Passed } else { CheckVerdict::Failed };
                checks.push(Check { name: "pair_against_random", verdict, note: words.join("; ") });
                latencies = summary.latencies;
                let seen = test_through(daemon, introduction, entrant).await?;
                checks.push(by_daemon(&seen));
                games = seen.games;
            }
            Ok(TestReport::new(Report::new(&name, self.limit(), checks, latencies), games))
        })
    }
}

/// A game against the easiest opponent.
fn invitation(side: SideChoice, time: GameTime) -> PlayBot {
    PlayBot {
        bot: OPPONENT.to_owned(),
        time,
        side,
        variant: WireVariant(Variant::STANDARD),
        rated: false,
        opening: None,
        pace: BotPace::default(),
    }
}

/// Keeps the bot connected through the bridge while the daemon tests it.
async fn test_through(
    daemon: &DaemonAccess,
    introduction: Introduction,
    entrant: Arc<dyn Entrant>,
) -> anyhow::Result<TestReport> {
    let plan = BridgePlan { introduction, invitations: [].into(), games_max: None, opponent: None };
    let stop = CancellationToken::new();
    let mut silent = |_: &bridge::Note| {};
    let test = async {
        let seen = daemon.test().await;
        stop.cancel();
        seen
    };
    let (seen, played) = tokio::join!(test, bridge::run(plan, entrant, &stop, &mut silent));
    played.map_err(bridge_command::exit)?;
    seen
}

/// What the daemon saw, as one check.
fn by_daemon(seen: &TestReport) -> Check {
    let failed = seen.checks.iter().filter(|check| check.verdict == TestVerdict::Failed);
    let failed: Vec<String> = failed.map(|check| format!("{}: {}", check.name, check.note)).collect();
    if failed.is_empty() {
        let note = format!("the daemon's own test passed: {} checks", seen.checks.len());
        Check { name: "daemon", verdict: CheckVerdict::Passed, note }
    } else {
        Check { name: "daemon", verdict: CheckVerdict::Failed, note: failed.join("; ") }
    }
}

fn print(report: &TestReport) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for TestCheck { name, verdict, note } in &report.checks {
        let verdict = match verdict {
            TestVerdict::Passed => "passed",
            TestVerdict::Failed => "FAILED",
            TestVerdict::Skipped => "skipped",
        };
        writeln!(out, "{verdict:8}{name:21}{note}")?;
    }
    let TestLatency { count, p50, p90, p99, max } = report.latency_ms;
    writeln!(
        out,
        "{count} moves in ms: p50 {p50:.2}, p90 {p90:.2}, p99 {p99:.2}, at most {max:.2}; the limit is {}",
        report.move_limit_ms
    )
}
