//! `fourfold admin`: what operators do. Each action has a reason, which the audit log keeps.

mod fair_play;
mod invitations;
mod mail;
mod operators;
mod orders;
mod reports;
mod status;
mod studies;
mod tournaments;

use std::io::{self, Write};

use clap::Subcommand;

use self::fair_play::ShowFairPlay;
use self::invitations::{Invite, Uninvite};
use self::mail::TestMail;
use self::operators::OperatorCommand;
use self::orders::{AnnounceOnPages, DrainDaemon, OnArena};
use self::reports::{HandleReport, ShowReports};
pub(super) use self::status::ShowStatus;
use super::operator::DataArg;
use crate::app::terminal::output;
use crate::app::terminal::progress::while_working;
use crate::http::control::{
    ControlClient, ControlError, Done, ListedNetwork, ListedPlayer, ListedSession, LogEntry, Reason,
    VoidedGame, VoidedGamesOf,
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
    /// Call off a tournament that goes on, or that somebody has made.
    CancelTournament(tournaments::CancelTournament),
    /// Take away a study.
    RemoveStudy(studies::RemoveStudy),
    /// Keep an account and its bots out, or one bot, or a network.
    Ban(BanPlayer),
    /// Let somebody in again.
    Unban(OnPlayer),
    /// Let somebody play, but ask nobody.
    Mute(MutePlayer),
    /// Let somebody ask again.
    Unmute(OnPlayer),
    /// Give an account or a bot another name.
    Rename(RenamePlayer),
    /// Take away the picture, the flag and the line that somebody shows.
    ClearProfile(OnPlayer),
    /// Give an account a new password.
    ResetPassword(OnPlayer),
    /// End an account with its bots, or one bot.
    Delete(OnPlayer),
    /// List the sessions of an account or the tokens of a bot, or end them.
    Sessions(ShowSessions),
    /// List accounts, bots, banned networks or invitations, and who of them is banned.
    List(ListPlayers),
    /// Let people register by a code.
    Invite(Invite),
    /// End an invitation.
    Uninvite(Uninvite),
    /// Say which accounts act on the page /admin.
    Operator(OperatorCommand),
    /// List what players report about others.
    Reports(ShowReports),
    /// Take a report, or say what came of it.
    Report(HandleReport),
    /// Show who decides better in hard positions than people of their rating.
    FairPlay(ShowFairPlay),
    /// Begin no more games; those under way go on.
    Pause(OnArena),
    /// Begin games again, after a pause or while the daemon drains.
    Resume(OnArena),
    /// Stop the daemon when its games are over.
    Drain(DrainDaemon),
    /// Say something on every page.
    Announce(AnnounceOnPages),
    /// Try whether mails are sent.
    MailTest(TestMail),
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

/// Take a finished game out, or all of a player's, whether the daemon runs or not.
///
/// Games stay in the records, with `voided` as the reason why they are not rated. All ratings are computed again
/// without them, and learners forget what they taught. This cannot be undone. All games of a player are taken out in
/// portions while the arena goes on; if that is stopped, the same command goes on with it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold admin void 7kQ2mXy9Ab --reason 'the bot was started twice'
  fourfold admin void --player cheater --reason 'a program played for a person'")]
struct VoidGame {
    /// The game: the last part of its link.
    #[arg(required_unless_present = "player")]
    game: Option<GameId>,
    /// All finished games of this account, bot or guest.
    #[arg(long, value_name = "NAME", conflicts_with = "game")]
    player: Option<String>,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

/// Keep an account and its bots out, or one bot, or a network, whether the daemon runs or not.
///
/// Its connections are closed with 4403, its games are lost, its tokens and its password open nothing until the ban
/// ends. What it is told has the reason. Another ban takes the place of the one before. From a banned network nobody
/// plays, signs in or changes anything; pages can be read.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  fourfold admin ban rude-bot --days 7 --reason 'floods the lobby with challenges'"
)]
struct BanPlayer {
    /// The account, the bot, or an address or a range of addresses, such as 203.0.113.7 or `2001:db8::/32`.
    name: String,
    /// For so many; without, until it is lifted.
    #[arg(long, value_name = "N")]
    days: Option<u32>,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

/// Let an account and its bots, or one bot, play, but ask nobody: no challenges, links, takebacks and reactions.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  fourfold admin mute eager-ed --days 7 --reason 'challenges everybody, again and again'"
)]
struct MutePlayer {
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

/// List all accounts or all remote bots by name, and who of them is banned; or banned networks, or invitations.
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
    /// Networks from which nobody comes in.
    Networks,
    /// Codes by which people register.
    Invitations,
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
            AdminAction::CancelTournament(cancel) => cancel.run(),
            AdminAction::RemoveStudy(remove) => remove.run(),
            AdminAction::Ban(ban) => ban.run(),
            AdminAction::Unban(unban) => unban.unban(),
            AdminAction::Mute(mute) => mute.run(),
            AdminAction::Unmute(unmute) => unmute.unmute(),
            AdminAction::Delete(delete) => delete.delete(),
            AdminAction::Pause(pause) => pause.pause(),
            AdminAction::Resume(resume) => resume.resume(),
            AdminAction::Drain(drain) => drain.run(),
            AdminAction::Announce(announce) => announce.run(),
            AdminAction::Rename(rename) => rename.run(),
            AdminAction::ClearProfile(clear) => clear.clear_profile(),
            AdminAction::ResetPassword(reset) => reset.reset_password(),
            AdminAction::Sessions(sessions) => sessions.run(),
            AdminAction::List(list) => list.run(),
            AdminAction::Invite(invite) => invite.run(),
            AdminAction::Uninvite(uninvite) => uninvite.run(),
            AdminAction::Operator(operator) => operator.run(),
            AdminAction::Reports(reports) => reports.run(),
            AdminAction::FairPlay(show) => show.run(),
            AdminAction::Report(report) => report.run(),
            AdminAction::MailTest(mail) => mail.run(),
            AdminAction::Log(log) => log.run(),
            AdminAction::Status(status) => status.run(),
        }
    }
}

impl VoidGame {
    fn run(self) -> anyhow::Result<()> {
        let Self { game, player, because, common } = self;
        let because = because.told();
        let Some(game) = game else {
            let player = player.unwrap_or_default(); // one of both is given
            return common.run(
                async |daemon| while_working("voiding", daemon.void_player(&player, &because)).await,
                |out, voided| writeln!(out, "{}", voided_line(&voided)),
            );
        };
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

fn voided_line(voided: &VoidedGamesOf) -> String {
    let VoidedGamesOf { player, games, was_begun, variants } = voided;
    let begun = if *was_begun { "; an earlier call had been stopped, which is made good" } else { "" };
    let ratings = match &variants[..] {
        [] => "no rating moved".to_owned(),
        variants => format!("ratings computed again in {}", variants.join(", ")),
    };
    format!("{player}: {games} games voided, {ratings}{begun}")
}

/// Names have none of these: it is an address.
fn is_network(name: &str) -> bool {
    name.contains(['.', ':', '/'])
}

impl BanPlayer {
    fn run(self) -> anyhow::Result<()> {
        let Self { name, days, because, common } = self;
        if is_network(&name) {
            return common.run(
                async |daemon| daemon.ban_network(&name, days, because.told()).await,
                |out, ListedNetwork { network, until, .. }| match until {
                    Some(until) => writeln!(out, "{network} is banned until {until}"),
                    None => writeln!(out, "{network} is banned until `fourfold admin unban {network}`"),
                },
            );
        }
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
        if is_network(&self.name) {
            return self.common.run(
                async |daemon| daemon.unban_network(&self.name, because).await,
                |out, ListedNetwork { network, .. }| {
                    writeln!(out, "whoever comes from {network} may come in again")
                },
            );
        }
        self.common.run(
            async |daemon| daemon.unban(&self.name, &because).await,
            |out, Done { name, .. }| writeln!(out, "{name} may come in again"),
        )
    }

    fn unmute(self) -> anyhow::Result<()> {
        let because = self.because.told();
        self.common.run(
            async |daemon| daemon.unmute(&self.name, &because).await,
            |out, Done { name, .. }| writeln!(out, "{name} may ask others again"),
        )
    }

    fn clear_profile(self) -> anyhow::Result<()> {
        let because = self.because.told();
        self.common.run(
            async |daemon| daemon.clear_profile(&self.name, &because).await,
            |out, Done { name, .. }| writeln!(out, "{name} shows nothing but the name now"),
        )
    }

    fn delete(self) -> anyhow::Result<()> {
        let because = self.because.told();
        self.common.run(
            async |daemon| daemon.delete_player(&self.name, &because).await,
            |out, Done { name, ended, .. }| match ended.unwrap_or_default() {
                0 => writeln!(out, "{name} is deleted; the games stay, without the name"),
                bots => {
                    writeln!(out, "{name} is deleted with {bots} bots; the games stay, without the names")
                }
            },
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

impl MutePlayer {
    fn run(self) -> anyhow::Result<()> {
        let Self { name, days, because, common } = self;
        common.run(
            async |daemon| daemon.mute(&name, days, because.told()).await,
            |out, Done { name, until, .. }| match until {
                Some(until) => writeln!(out, "{name} is muted until {until}"),
                None => writeln!(out, "{name} is muted until `fourfold admin unmute {name}`"),
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
            Listed::Networks => return self.networks(),
            Listed::Invitations => return invitations::list(&self.common),
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

impl ListPlayers {
    fn networks(self) -> anyhow::Result<()> {
        self.common.run(
            async |daemon| daemon.networks().await,
            |out, networks: Vec<ListedNetwork>| {
                for ListedNetwork { network, reason, by, since, until } in networks {
                    let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
                    writeln!(out, "{network}, since {since}{until}: {reason} ({by})")?;
                }
                Ok(())
            },
        )
    }
}

fn player_line(player: &ListedPlayer) -> String {
    let ListedPlayer { name, owner, created_at, .. } = player;
    let owner = owner.as_ref().map(|owner| format!(", of {owner}")).unwrap_or_default();
    let because = |word: &str, reason: &Option<String>, until: &Option<String>| {
        let until = until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
        reason.as_ref().map(|reason| format!(", {word}{until}: {reason}")).unwrap_or_default()
    };
    let ban = because("banned", &player.banned_because, &player.banned_until);
    let mute = because("muted", &player.muted_because, &player.muted_until);
    format!("{name}, since {created_at}{owner}{ban}{mute}")
}

impl ShowLog {
    fn run(self) -> anyhow::Result<()> {
        self.common.run(
            async |daemon| daemon.audit_log(self.limit).await,
            |out, entries: Vec<LogEntry>| {
                for LogEntry { number, at, action, subject, detail, until, reason, by } in entries {
                    let until = until.map(|until| format!("until {until}"));
                    let what: Vec<_> =
                        [Some(action), Some(subject), detail, until].into_iter().flatten().collect();
                    let by = by.map(|by| format!(" ({by})")).unwrap_or_default();
                    writeln!(out, "{number}  {at}  {}: {reason}{by}", what.join(" "))?;
                }
                Ok(())
            },
        )
    }
}
