//! Codes by which people register where not everybody may.

use std::io::{self, Write};

use super::{Common, ReasonArg};
use crate::http::control::ListedInvitation;

/// Let people register by a code, where `access.registration` is `code`; whether the daemon runs or not.
///
/// Without --code one is drawn, which nobody guesses. One for a class may be a word that everybody remembers.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold admin invite --reason 'for Ada'
  fourfold admin invite --code class-7b --uses 30 --days 7 --reason 'the chess club'")]
pub(super) struct Invite {
    /// The code: 6 to 32 letters, digits and `-`, in upper or lower case alike.
    #[arg(long)]
    code: Option<String>,
    /// People whom it lets in, 1 to 10000; one unless one says.
    #[arg(long, value_name = "N")]
    uses: Option<u32>,
    /// For so many; without, until `fourfold admin uninvite`.
    #[arg(long, value_name = "N")]
    days: Option<u32>,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

/// End an invitation. Who has registered by it stays.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin uninvite class-7b --reason 'the term is over'")]
pub(super) struct Uninvite {
    /// Its code.
    code: String,
    #[command(flatten)]
    because: ReasonArg,
    #[command(flatten)]
    common: Common,
}

impl Invite {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let Self { code, uses, days, because, common } = self;
        common.run(
            async |daemon| daemon.invite(code, uses, days, because.told()).await,
            |out, ListedInvitation { code, uses, until, .. }| {
                let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
                let people = if uses == 1 { "one person".to_owned() } else { format!("{uses} people") };
                writeln!(out, "{code}: lets {people} register{until}, at /account?invitation={code}")
            },
        )
    }
}

impl Uninvite {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let because = self.because.told();
        self.common.run(
            async |daemon| daemon.uninvite(&self.code, because).await,
            |out, ListedInvitation { code, used, uses, .. }| {
                writeln!(out, "nobody registers by {code} any more; {used} of {uses} have")
            },
        )
    }
}

pub(super) fn list(common: &Common) -> anyhow::Result<()> {
    common.run(async |daemon| daemon.invitations().await, lines)
}

fn lines(out: &mut dyn Write, invitations: Vec<ListedInvitation>) -> io::Result<()> {
    for ListedInvitation { code, uses, used, reason, by, since, until } in invitations {
        let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
        writeln!(out, "{code}, {used} of {uses} used, since {since}{until}: {reason} ({by})")?;
    }
    Ok(())
}
