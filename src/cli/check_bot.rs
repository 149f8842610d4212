//! `fourfold check-bot`: the conformance self-test of a bot.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use fourfold::bridge::{self, BridgePlan};
use fourfold::client::Introduction;
use fourfold::clock::TimeControl;
use fourfold::protocol::client::PlayBot;
use fourfold::protocol::terms::{SideChoice, WireVariant};
use fourfold::secret::Secret;
use fourfold::self_test;
use fourfold_arena::admission::{self, Check, Report, Verdict};
use fourfold_arena::entrant::Entrant;
use fourfold_arena::house::HouseBot;
use fourfold_arena::program::dialect::Dialect;
use fourfold_arena::program::spec::ProgramSpec;
use fourfold_arena::watchdog::Watchdog;
use fourfold_engine::Variant;
use tokio_util::sync::CancellationToken;

use super::contest::programs::ProgramArgs;
use super::exit::{Code, Exit};
use super::interrupt::Interrupt;
use super::{bridge as bridge_command, output, runtime};

/// The house bot of the pair against chance.
const OPPONENT: &str = "random";

/// Test whether a bot keeps to the rules of the arena. Exits with 1 if it does not.
///
/// With a command, the program is asked over its standard streams: a pair against itself, a pair against chance, and the
/// positions at which programs break. With --url and --token, the bot's connection to a daemon is tested, and a casual
/// pair is played there against the house bot `random`: by the command, or if there is none by chance.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold check-bot -- ./mybot --depth 8
  fourfold check-bot --dialect kaggle --json -- python3 agent.py
  FOURFOLD_TOKEN=c4b_… fourfold check-bot --url ws://127.0.0.1:4444")]
pub(super) struct CheckBot {
    /// Address of a daemon, ws://HOST:PORT.
    #[arg(long, value_name = "URL", required_unless_present = "command", requires = "token")]
    url: Option<String>,
    /// The bot's token.
    #[arg(long, value_name = "T", env = "FOURFOLD_TOKEN", hide_env_values = true)]
    token: Option<String>,
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

impl CheckBot {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let report = match (&self.url, &self.token) {
            (Some(url), Some(token)) => self.check_connection(url, token)?,
            (Some(_), None) => return Err(Exit::usage("--url needs --token or FOURFOLD_TOKEN").into()),
            (None, _) => self.check_program()?,
        };
        if self.json {
            output::print_json(&report)?;
        } else {
            print(&report)?;
        }
        if report.is_passed() {
            return Ok(());
        }
        let failed = report.checks.iter().filter(|check| check.verdict == Verdict::Failed);
        let names: Vec<&str> = failed.map(|check| check.name).collect();
        Err(Exit::new(Code::Failure, format!("{} failed: {}", report.bot, names.join(", "))).into())
    }

    fn limit(&self) -> Duration {
        Duration::from_millis(self.move_ms.into())
    }

    fn entrant(&self) -> anyhow::Result<Arc<dyn Entrant>> {
        if self.command.is_empty() {
            let watchdog = Watchdog::start()?;
            let chance =
                HouseBot::new(OPPONENT.into(), OPPONENT.parse()?, Variant::STANDARD, None, &watchdog)?;
            return Ok(Arc::new(chance));
        }
        let spec = ProgramSpec { dialect: self.dialect, words: self.command.clone() };
        Ok(Arc::new(self.programs.program(&self.command.join(" "), spec, Variant::STANDARD)?))
    }

    fn check_program(&self) -> anyhow::Result<Report> {
        let interrupt = Interrupt::listen()?;
        let entrant = self.entrant()?;
        let report =
            admission::admit(&*entrant, Variant::STANDARD, self.limit(), self.seed, interrupt.stop());
        interrupt.check(|| "the test is not finished".to_owned())?;
        Ok(report)
    }

    /// The checks of the protocol, then a pair through the bridge.
    fn check_connection(&self, url: &str, token: &str) -> anyhow::Result<Report> {
        let entrant = self.entrant()?;
        let introduction = Introduction {
            url: url.to_owned(),
            token: Some(Secret::new(token)),
            open: Some(false),
            ..Introduction::default()
        };
        let invitation = |side| PlayBot {
            bot: OPPONENT.to_owned(),
            time: TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(self.move_ms) },
            side,
            variant: WireVariant(Variant::STANDARD),
            rated: false,
            opening: None,
        };
        let plan = BridgePlan {
            introduction: introduction.clone(),
            invitations: [SideChoice::First, SideChoice::Second].map(invitation).into(),
            games_max: Some(2),
        };
        let name = if self.command.is_empty() { "the connection" } else { entrant.name() }.to_owned();
        runtime()?.block_on(async {
            let mut checks = self_test::run(introduction).await;
            let mut latencies = Vec::new();
            if checks.iter().all(|check| check.verdict == Verdict::Passed) {
                let mut words = Vec::new();
                let stop = CancellationToken::new();
                let mut note = |note: &bridge::Note| words.push(bridge_command::words(note));
                let summary = bridge::run(plan, entrant, &stop, &mut note).await;
                let summary = summary.map_err(bridge_command::exit)?;
                let is_sound = summary.faults == 0 && summary.refusals == 0;
                let verdict = if is_sound { Verdict::Passed } else { Verdict::Failed };
                checks.push(Check { name: "pair_against_random", verdict, note: words.join("; ") });
                latencies = summary.latencies;
            }
            Ok(Report::new(&name, self.limit(), checks, latencies))
        })
    }
}

fn print(report: &Report) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for Check { name, verdict, note } in &report.checks {
        let verdict = match verdict {
            Verdict::Passed => "passed",
            Verdict::Failed => "FAILED",
            Verdict::Skipped => "skipped",
        };
        writeln!(out, "{verdict:8}{name:21}{note}")?;
    }
    let latency = report.latency_ms;
    writeln!(
        out,
        "{} moves in ms: p50 {:.2}, p90 {:.2}, p99 {:.2}, at most {:.2}; the limit is {}",
        latency.count, latency.p50, latency.p90, latency.p99, latency.max, report.move_limit_ms
    )
}
