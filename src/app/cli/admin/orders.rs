//! What holds for the whole arena.

use std::io::{self, Write};

use super::{Common, ReasonArg};
use crate::http::control::OrdersShown;

/// Order something for the whole arena, whether the daemon runs or not.
///
/// A pause holds until `fourfold admin resume`, also for a daemon that is started again: no game begins, those under
/// way go on, series wait between two games. Whoever asks for a game is told the reason.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin pause --reason 'ratings are looked into'")]
pub(super) struct OnArena {
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

/// Stop the daemon when its games are over, at the latest after a while; `fourfold admin resume` calls it off.
///
/// Everybody is told, pages count down, no game begins. What still goes on then is kept as at every stop: the next
/// daemon takes it up, and series between two games go on when their players are back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin drain --seconds 300 --reason 'a new version'")]
pub(super) struct DrainDaemon {
    /// When it stops at the latest, 1 to 86400; 120 unless one says.
    #[arg(long, value_name = "N")]
    seconds: Option<u32>,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

/// Say something on every page, in one line of at most 160 characters; an empty text takes it away.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  fourfold admin announce 'Maintenance on Sunday at noon, some minutes' --hours 48 --reason 'upgrade'"
)]
pub(super) struct AnnounceOnPages {
    /// What to say.
    text: String,
    /// For so long, 1 to 720; without, until something else is said.
    #[arg(long, value_name = "N")]
    hours: Option<u32>,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

impl OnArena {
    pub(super) fn pause(self) -> anyhow::Result<()> {
        let because = self.because.told();
        self.common.run(
            async |daemon| daemon.pause(&because).await,
            |out, _| writeln!(out, "no game begins until `fourfold admin resume`; those under way go on"),
        )
    }

    pub(super) fn resume(self) -> anyhow::Result<()> {
        let because = self.because.told();
        self.common
            .run(async |daemon| daemon.resume(&because).await, |out, _| writeln!(out, "games begin again"))
    }
}

impl DrainDaemon {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let Self { seconds, because, common } = self;
        common.run(
            async |daemon| daemon.drain(seconds, because.told()).await,
            |out, OrdersShown { drains_until, .. }| {
                let until = drains_until.unwrap_or_default();
                writeln!(out, "the daemon stops when its games are over, at the latest {until}")
            },
        )
    }
}

impl AnnounceOnPages {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let Self { text, hours, because, common } = self;
        common.run(
            async |daemon| daemon.announce(&text, hours, because.told()).await,
            |out, shown| announced(out, &shown),
        )
    }
}

fn announced(out: &mut dyn Write, shown: &OrdersShown) -> io::Result<()> {
    let until = shown.announced_until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
    match &shown.announcement {
        Some(text) => writeln!(out, "every page says{until}: {text}"),
        None => writeln!(out, "pages say nothing of their own"),
    }
}
