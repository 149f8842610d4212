//! Whether mails arrive.

use super::Common;
use crate::http::control::TriedMail;

/// Send a mail that says nothing, by the daemon and its settings in `[mail]`, and print what the mail server answers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold admin mail-test you@example.org")]
pub(super) struct TestMail {
    /// Where to.
    address: String,
    #[command(flatten)]
    common: Common,
}

impl TestMail {
    pub(super) fn run(self) -> anyhow::Result<()> {
        self.common.run(
            async |daemon| daemon.try_mail(&self.address).await,
            |out, TriedMail { address }| writeln!(out, "the mail server has taken a mail to {address}"),
        )
    }
}
