//! What the daemon is doing, for the eye.

use std::io::{self, Write};

use super::Common;
use crate::app::terminal::output;
use crate::http::control::{BackupsShown, DaemonStatus, MailsShown, OrdersShown, RatingAlarmView};
use crate::model::ids::GameId;

/// Show what the daemon on a data directory is doing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold status --json")]
pub(in crate::app::cli) struct ShowStatus {
    #[command(flatten)]
    common: Common,
}

impl ShowStatus {
    pub(in crate::app::cli) fn run(self) -> anyhow::Result<()> {
        let status = self.common.data.command(async |daemon| daemon.status().await)?;
        if self.common.json {
            return output::print_json(&status);
        }
        Ok(print(&mut io::stdout(), &status)?)
    }
}

fn print(out: &mut dyn Write, status: &DaemonStatus) -> io::Result<()> {
    let DaemonStatus { version, pid, started_at, games, online, .. } = status;
    writeln!(out, "fourfold {version}, process {pid}, since {started_at} ({})", span(status.uptime_s))?;
    writeln!(out, "games under way: {games}, by correspondence: {}", status.correspondence)?;
    writeln!(out, "players connected: {online}, by {} sessions", status.sessions)?;
    writeln!(out, "games finished: {}, moves stored: {}", status.games_finished, status.moves)?;
    writeln!(out, "commits: {}, writes that wait: {}", status.commits, status.writer_queue)?;
    writeln!(out, "games that the judge has not looked at: {}", status.unjudged)?;
    writeln!(out, "games in the records: {}, hash of the last: {}", status.finished, status.head)?;
    for learner in &status.learners {
        writeln!(out, "games that {} has not looked at: {}", learner.name, learner.behind)?;
    }
    if let Some(bytes) = status.memory_bytes {
        writeln!(out, "memory: {}", mebibytes(bytes))?;
    }
    let free = status.disk_free_bytes.map(|free| format!(", {} free on the disk", mebibytes(free)));
    writeln!(out, "data directory: {}{}", mebibytes(status.data_bytes), free.unwrap_or_default())?;
    if status.open_reports > 0 {
        writeln!(out, "reports to be dealt with: {}", status.open_reports)?;
    }
    print_orders(out, &status.orders)?;
    print_backups(out, &status.backups)?;
    if let Some(mails) = &status.mails {
        print_mails(out, mails)?;
    }
    for pause in &status.pauses {
        writeln!(out, "{pause}")?;
    }
    for thing in &status.set_aside {
        writeln!(out, "set aside by {thing}")?;
    }
    for alarm in &status.rating_alarms {
        writeln!(out, "{}", alarm_line(alarm))?;
    }
    Ok(())
}

fn print_orders(out: &mut dyn Write, orders: &OrdersShown) -> io::Result<()> {
    let OrdersShown { paused_because, drains_until, announcement, announced_until } = orders;
    if let Some(reason) = paused_because {
        writeln!(out, "paused, no game begins: {reason}")?;
    }
    if let Some(until) = drains_until {
        writeln!(out, "drains: stops when its games are over, at the latest {until}")?;
    }
    if let Some(text) = announcement {
        let until = announced_until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
        writeln!(out, "announced{until}: {text}")?;
    }
    Ok(())
}

fn print_backups(out: &mut dyn Write, backups: &BackupsShown) -> io::Result<()> {
    let BackupsShown { due, made, failure } = backups;
    if let Some(due) = due {
        let made = made.as_deref().unwrap_or("none");
        writeln!(out, "last backup: {made}, next one: {due}")?;
    }
    if let Some(failure) = failure {
        writeln!(out, "backup failed: {failure}")?;
    }
    Ok(())
}

fn print_mails(out: &mut dyn Write, mails: &MailsShown) -> io::Result<()> {
    let MailsShown { waiting, delivered, lost, delivered_at, failure } = mails;
    let last = delivered_at.as_ref().map(|at| format!(", the last {at}")).unwrap_or_default();
    writeln!(out, "mails delivered: {delivered}{last}; waiting: {waiting}, lost: {lost}")?;
    if let Some(failure) = failure {
        writeln!(out, "mail failed: {failure}")?;
    }
    Ok(())
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

fn span(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes} min"),
        (0, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

/// What an operator should look at, in a line.
fn alarm_line(alarm: &RatingAlarmView) -> String {
    let RatingAlarmView { habit, player, opponent, variant, games, at } = alarm;
    let against = opponent.as_ref().map(|opponent| format!(" against {opponent}")).unwrap_or_default();
    let games: Vec<&str> = games.iter().map(GameId::as_str).collect();
    format!("{habit}? {player}{against} on {variant}, {at}: {}", games.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_units_at_most() {
        assert_eq!(span(59), "0 min");
        assert_eq!(span(3_660), "1 h 1 min");
        assert_eq!(span(3 * 86_400 + 7_200 + 60), "3 d 2 h");
    }
}
