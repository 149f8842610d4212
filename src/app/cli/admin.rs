//! `fourfold admin`: what operators do. Each action has a reason, which the audit log keeps.

use std::io::{self, Write};

use clap::Subcommand;

use super::operator::DataArg;
use crate::app::terminal::output;
use crate::http::control::{
    ControlClient, ControlError, DaemonStatus, Done, ListedPlayer, ListedSession, LogEntry, RatingAlarmView,
    Reason, VoidedGame,
};
use crate::model::ids::GameId;

/// Entries of the log that are printed unless one says how many.
const LOG_ENTRIES: u32 = 50;

/// What operators do, with a reason that is kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin void 7kQ2mXy9Ab --reason 'the bot was started twice'")]
pub(super) struct AdminCommand {
    #[command(subcommand)]
    what: AdminAction,
}

#[derive(Debug, Subcommand)]
enum AdminAction {
    /// Take a finished game out of ratings and learning.
    Void(VoidGame),
    /// Keep an account and its bots out, or one bot.
    Ban(BanPlayer),
    /// Let somebody in again.
    Unban(OnPlayer),
    /// Give an account or a bot another name.
    Rename(RenamePlayer),
    /// Give an account a new password.
    ResetPassword(OnPlayer),
    /// List the sessions of an account or the tokens of a bot, or end them.
    Sessions(ShowSessions),
    /// List accounts or bots, and who of them is banned.
    List(ListPlayers),
    /// Print the audit log, the newest entries first.
    Log(ShowLog),
    /// Show what the daemon is doing.
    Status(ShowStatus),
}

/// Why, and who says so.
#[derive(Debug, clap::Args)]
struct ReasonArg {
    /// Why, for the audit log: one line.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Who does it, for the audit log.
    #[arg(long, value_name = "NAME", env = "SUDO_USER", hide_env = true, default_value_t = user())]
    by: String,
}

/// What all these commands have.
#[derive(Debug, clap::Args)]
struct Common {
    #[command(flatten)]
    data: DataArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Take a finished game out, whether the daemon runs or not.
///
/// The game stays in the records, with `voided` as the reason why it is not rated. All ratings are computed again
/// without it, and learners forget what it taught them. This cannot be undone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin void 7kQ2mXy9Ab --reason 'the bot was started twice'")]
struct VoidGame {
    /// The game: the last part of its link.
    game: GameId,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

/// Keep an account and its bots out, or one bot, whether the daemon runs or not.
///
/// Its connections are closed with 4403, its games are lost, its tokens and its password open nothing until the ban
/// ends. What it is told has the reason. Another ban takes the place of the one before.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  fourfold admin ban rude-bot --days 7 --reason 'floods the lobby with challenges'"
)]
struct BanPlayer {
    /// The account or the bot.
    name: String,
    /// For so many; without, until it is lifted.
    #[arg(long, value_name = "N")]
    days: Option<u32>,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

/// Give an account or a remote bot another name.
///
/// Its games and ratings stay with it, links to its page change. Its connections are closed and may come back at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin rename rude-name polite-name --reason 'the name offends'")]
struct RenamePlayer {
    /// The name now.
    name: String,
    /// The name from now on.
    new_name: String,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

/// Whom it is done to, and why.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin unban ada --reason 'she apologised'")]
struct OnPlayer {
    /// The account or the bot.
    name: String,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

/// List the sessions of an account or the tokens of a bot; with `--end` and a reason, end all of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin sessions ada --end --reason 'her laptop was stolen'")]
struct ShowSessions {
    /// The account or the bot.
    name: String,
    /// End all of them; connections that rest on them are closed.
    #[arg(long, requires = "reason")]
    end: bool,
    /// Why, for the audit log: one line.
    #[arg(long, value_name = "TEXT", requires = "end")]
    reason: Option<String>,
    /// Who does it, for the audit log.
    #[arg(long, value_name = "NAME", env = "SUDO_USER", hide_env = true, default_value_t = user())]
    by: String,
    #[command(flatten)]
    common: Common,
}

/// List all accounts or all remote bots by name, and who of them is banned.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin list accounts")]
struct ListPlayers {
    /// Which.
    #[arg(value_enum)]
    what: Listed,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Listed {
    /// People with a name and a password.
    Accounts,
    /// Bots that connect from elsewhere.
    Bots,
}

/// Print what operators did and why, the newest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin log --limit 10")]
struct ShowLog {
    /// Entries at most.
    #[arg(long, value_name = "N", default_value_t = LOG_ENTRIES, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    #[command(flatten)]
    common: Common,
}

/// Show what the daemon on a data directory is doing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin status --json")]
struct ShowStatus {
    #[command(flatten)]
    common: Common,
}

/// Whoever types, as the system names them.
fn user() -> String {
    let named = std::env::var("USER").ok().filter(|name| !name.trim().is_empty());
    named.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()))
}

impl ReasonArg {
    fn told(self) -> Reason {
        Reason { reason: self.reason, by: self.by }
    }
}

impl Common {
    /// Has it done, and prints what came of it.
    fn run<T: serde::Serialize>(
        &self,
        command: impl AsyncFnOnce(&ControlClient) -> Result<T, ControlError>,
        print: impl FnOnce(&mut dyn Write, T) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let done = self.data.command(command)?;
        if self.json {
            return output::print_json(&done);
        }
        Ok(print(&mut io::stdout(), done)?)
    }
}

impl AdminCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            AdminAction::Void(void) => void.run(),
            AdminAction::Ban(ban) => ban.run(),
            AdminAction::Unban(unban) => unban.unban(),
            AdminAction::Rename(rename) => rename.run(),
            AdminAction::ResetPassword(reset) => reset.reset_password(),
            AdminAction::Sessions(sessions) => sessions.run(),
            AdminAction::List(list) => list.run(),
            AdminAction::Log(log) => log.run(),
            AdminAction::Status(status) => status.run(),
        }
    }
}

impl VoidGame {
    fn run(self) -> anyhow::Result<()> {
        let Self { game, because, common } = self;
        let because = because.told();
        common.run(
            async |daemon| daemon.void_game(&game, &because).await,
            |out, VoidedGame { game, was_rated }| {
                if was_rated {
                    writeln!(out, "game {game} voided, ratings computed again without it")
                } else {
                    writeln!(out, "game {game} voided, it had moved no rating")
                }
            },
        )
    }
}

impl BanPlayer {
    fn run(self) -> anyhow::Result<()> {
        let Self { name, days, because, common } = self;
        common.run(
            async |daemon| daemon.ban(&name, days, because.told()).await,
            |out, Done { name, until, .. }| match until {
                Some(until) => writeln!(out, "{name} is banned until {until}"),
                None => writeln!(out, "{name} is banned until `fourfold admin unban {name}`"),
            },
        )
    }
}

impl OnPlayer {
    fn unban(self) -> anyhow::Result<()> {
        let because = self.because.told();
        self.common.run(
            async |daemon| daemon.unban(&self.name, &because).await,
            |out, Done { name, .. }| writeln!(out, "{name} may come in again"),
        )
    }

    fn reset_password(self) -> anyhow::Result<()> {
        let because = self.because.told();
        self.common.run(
            async |daemon| daemon.reset_password(&self.name, &because).await,
            |out, Done { name, password, .. }| {
                writeln!(out, "{name} is signed out everywhere; the new password is shown this once:")?;
                writeln!(out, "password: {}", password.unwrap_or_default())
            },
        )
    }
}

impl RenamePlayer {
    fn run(self) -> anyhow::Result<()> {
        let Self { name, new_name, because, common } = self;
        common.run(
            async |daemon| daemon.rename(&name, &new_name, because.told()).await,
            |out, done| writeln!(out, "{name} is {} from now on", done.name),
        )
    }
}

impl ShowSessions {
    fn run(self) -> anyhow::Result<()> {
        let Self { name, end: _, reason, by, common } = self;
        let Some(reason) = reason else {
            return common.run(
                async |daemon| daemon.sessions(&name).await,
                |out, sessions: Vec<ListedSession>| {
                    for ListedSession { id, created_at, expires_at } in sessions {
                        let until = expires_at.map(|end| format!(", until {end}")).unwrap_or_default();
                        writeln!(out, "{id}  since {created_at}{until}")?;
                    }
                    Ok(())
                },
            );
        };
        let because = Reason { reason, by };
        common.run(
            async |daemon| daemon.sign_out(&name, &because).await,
            |out, Done { name, ended, .. }| writeln!(out, "{name}: {} ended", ended.unwrap_or_default()),
        )
    }
}

impl ListPlayers {
    fn run(self) -> anyhow::Result<()> {
        let kind = match self.what {
            Listed::Accounts => "human",
            Listed::Bots => "bot",
        };
        self.common.run(
            async |daemon| {
                let mut all = Vec::new();
                let mut cursor = None;
                loop {
                    let page = daemon.players(kind, cursor.as_deref()).await?;
                    all.extend(page.items);
                    cursor = page.cursor;
                    if cursor.is_none() {
                        return Ok(all);
                    }
                }
            },
            |out, players: Vec<ListedPlayer>| {
                for player in players {
                    writeln!(out, "{}", player_line(&player))?;
                }
                Ok(())
            },
        )
    }
}

fn player_line(player: &ListedPlayer) -> String {
    let ListedPlayer { name, owner, created_at, banned_because, banned_until } = player;
    let owner = owner.as_ref().map(|owner| format!(", of {owner}")).unwrap_or_default();
    let until = banned_until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
    let ban = banned_because.as_ref().map(|reason| format!(", banned{until}: {reason}")).unwrap_or_default();
    format!("{name}, since {created_at}{owner}{ban}")
}

impl ShowLog {
    fn run(self) -> anyhow::Result<()> {
        self.common.run(
            async |daemon| daemon.audit_log(self.limit).await,
            |out, entries: Vec<LogEntry>| {
                for LogEntry { number, at, action, subject, detail, until, reason, by } in entries {
                    let until = until.map(|until| format!("until {until}"));
                    let detail: String = [detail, until].into_iter().flatten().map(|word| format!(" {word}")).collect();
                    let by = by.map(|by| format!(" ({by})")).unwrap_or_default();
                    writeln!(out, "{number}  {at}  {action} {subject}{detail}: {reason}{by}")?;
                }
                Ok(())
            },
        )
    }
}

impl ShowStatus {
    fn run(self) -> anyhow::Result<()> {
        let status = self.common.data.command(async |daemon| daemon.status().await)?;
        if self.common.json {
            return output::print_json(&status);
        }
        let DaemonStatus { version, pid, started_at, games, online, rating_alarms, pauses, set_aside } =
            status;
        let mut out = io::stdout();
        writeln!(out, "fourfold {version}, process {pid}, since {started_at}")?;
        writeln!(out, "games under way: {games}")?;
        writeln!(out, "players connected: {online}")?;
        for pause in pauses {
            writeln!(out, "{pause}")?;
        }
        for thing in set_aside {
            writeln!(out, "set aside by {thing}")?;
        }
        for alarm in rating_alarms {
            writeln!(out, "{}", alarm_line(&alarm))?;
        }
        Ok(())
    }
}

/// What an operator should look at, in a line.
fn alarm_line(alarm: &RatingAlarmView) -> String {
    let RatingAlarmView { habit, player, opponent, variant, games, at } = alarm;
    let against = opponent.as_ref().map(|opponent| format!(" against {opponent}")).unwrap_or_default();
    let games: Vec<&str> = games.iter().map(GameId::as_str).collect();
    format!("{habit}? {player}{against} on {variant}, {at}: {}", games.join(" "))
}
