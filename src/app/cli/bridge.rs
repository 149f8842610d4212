//! `fourfold bridge`: any program as a remote bot.

use std::io::{self, Write};
use std::sync::Arc;

use crate::client::bridge;

use crate::client::Introduction;
use crate::client::bridge::{BridgeError, BridgePlan, BridgeSummary, Note, Practice};
use crate::model::secret::Secret;
use crate::protocol::client::BotInfo;
use fourfold_arena::program::Program;
use fourfold_arena::program::dialect::Dialect;
use fourfold_arena::program::spec::ProgramSpec;
use fourfold_engine::Variant;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::app::laboratory::contest::programs::ProgramArgs;
use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::runtime;

/// Let any program play as a remote bot of a running daemon.
///
/// The program is asked over its standard streams, as `fourfold match cmd:…` asks it. Ctrl-C plays the games under way
/// to their end and leaves; once more leaves at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  FOURFOLD_TOKEN=c4b_… fourfold bridge -- ./mybot --depth 8
  FOURFOLD_TOKEN=c4b_… fourfold bridge --opponent negamax-6 --games 20 -- ./mybot
  fourfold bridge --url wss://arena.example.org --token c4b_… --dialect kaggle -- python3 agent.py")]
pub(super) struct BridgeCommand {
    #[command(flatten)]
    connection: ConnectionArgs,
    /// What the program speaks: simple, board42 (or board42,order=top), kaggle, aigames or cfour.
    #[arg(long, value_name = "D", default_value = "simple")]
    dialect: Dialect,
    /// Games at the same time, each with a process of its own.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    max_games: u32,
    /// Stay off the ladder and out of the directory: only the owner's other bots and the owner can challenge.
    #[arg(long)]
    private: bool,
    /// Ask this player for all of its games, such as negamax-6, in pairs from balanced openings, a minute and half a
    /// second a move each. Stays off the ladder.
    #[arg(long, value_name = "NAME", conflicts_with = "max_games")]
    opponent: Option<String>,
    /// Let the games with --opponent count for the rating.
    #[arg(long, requires = "opponent")]
    rated: bool,
    /// Leave after so many games.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    games: Option<u64>,
    /// The version of the bot, shown beside its name.
    #[arg(long, value_name = "V", default_value = "1")]
    bot_version: String,
    /// What it is written in, such as `C++`, for the gallery of bots.
    #[arg(long, value_name = "TEXT")]
    bot_language: Option<String>,
    /// Where its source or page is, `https://…`, for the gallery of bots.
    #[arg(long, value_name = "URL")]
    bot_source: Option<String>,
    #[command(flatten)]
    programs: ProgramArgs,
    /// The program and its arguments.
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

/// Where a daemon listens unless it is told otherwise.
pub(super) const URL: &str = "ws://127.0.0.1:4444";

/// Where, and as whom.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ConnectionArgs {
    /// Address of the server, ws://HOST:PORT; wss for TLS.
    #[arg(long, value_name = "URL", env = "FOURFOLD_URL", default_value = URL)]
    url: String,
    /// The bot's token; better in the variable, where other processes do not see it.
    #[arg(long, value_name = "T", env = "FOURFOLD_TOKEN", hide_env_values = true)]
    token: String,
}

impl ConnectionArgs {
    pub(super) fn introduction(&self) -> Introduction {
        Introduction {
            url: self.url.clone(),
            token: Some(Secret::new(self.token.as_str())),
            ..Introduction::default()
        }
    }
}

impl BridgeCommand {
    fn about_itself(&self) -> BotInfo {
        let (url, language) = (self.bot_source.clone(), self.bot_language.clone());
        BotInfo { version: self.bot_version.clone(), about: None, url, language }
    }

    pub(super) fn run(self) -> anyhow::Result<()> {
        let spec = ProgramSpec { dialect: self.dialect, words: self.command.clone() };
        let program = self.programs.program(&self.command.join(" "), spec, Variant::STANDARD)?;
        let introduction = Introduction {
            bot: Some(self.about_itself()),
            open: Some(!self.private && self.opponent.is_none()),
            max_games: Some(self.max_games),
            ..self.connection.introduction()
        };
        let opponent = self.opponent.map(|opponent| Practice { opponent, rated: self.rated });
        let plan = BridgePlan { introduction, invitations: [].into(), games_max: self.games, opponent };
        let summary = conduct(plan, program)?;
        let BridgeSummary { score, faults, .. } = summary;
        let games = score.games();
        writeln!(io::stdout(), "{games} games: {score}, {faults} by a fault of the program")?;
        Ok(())
    }
}

fn conduct(plan: BridgePlan, program: Program) -> anyhow::Result<BridgeSummary> {
    let result = runtime()?.block_on(async {
        let stop = CancellationToken::new();
        for (kind, code) in [(SignalKind::interrupt(), 130), (SignalKind::terminate(), 143)] {
            let mut signals = signal(kind)?;
            let stop = stop.clone();
            tokio::spawn(async move {
                while signals.recv().await.is_some() {
                    if stop.is_cancelled() {
                        std::process::exit(code);
                    }
                    stop.cancel();
                }
            });
        }
        Ok::<_, io::Error>(bridge::run(plan, Arc::new(program), &stop, &mut tell).await)
    })?;
    result.map_err(exit)
}

pub(super) fn exit(error: BridgeError) -> anyhow::Error {
    match error {
        BridgeError::Client(error) => error.into(),
        BridgeError::CannotStart(_) | BridgeError::Broken(..) | BridgeError::NotTaken(..) => {
            Exit::new(Code::Failure, error.to_string()).into()
        }
    }
}

/// A standard error that is gone must not end the games.
fn tell(note: &Note) {
    let _ = writeln!(io::stderr(), "{}", words(note));
}

/// What happened, in one line.
pub(super) fn words(note: &Note) -> String {
    match note {
        Note::Connected { name } => format!("connected as {name}"),
        Note::Reconnected => "connected again".to_owned(),
        Note::Ended { end, side } => {
            let (result, reason) = (format!("{:?}", end.result), format!("{:?}", end.reason));
            format!(
                "game {} as {side}: {} by {}, {} moves",
                end.game,
                result.to_lowercase(),
                reason.to_lowercase(),
                end.moves.len()
            )
        }
        Note::Failed { game, fault } => format!("game {game}: the program failed: {fault}"),
        Note::Paused(time) => format!(
            "the ladder has no games for this bot for {} s, after faults in a row: its page has them, and a self-test that \
             it passes ends that",
            time.as_secs()
        ),
        Note::Refused(error) => format!("refused: {}", error.message),
    }
}
