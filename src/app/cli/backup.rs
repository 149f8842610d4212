//! `fourfold backup`, `restore` and `check`: the database as a whole.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;

use super::operator::DataArg;
use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::output;
use crate::app::terminal::progress::while_working;
use crate::app::terminal::runtime;
use crate::http::control::MadeBackup;
use crate::storage::backup::Overwrite;
use crate::storage::sqlite::{Restored, restore};
use crate::system::data_dir::DataDir;

/// Copy the database into a file, while the daemon plays on or without one.
///
/// The copy is what was stored at one moment. It goes slowly, so that no move waits for it; it is read back before it
/// gets its name, and ends with its checksum. Copy `secret.key` apart, once: with another one everybody has to sign in
/// again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold backup /backups/fourfold-monday
  fourfold backup --force /backups/fourfold-latest")]
pub(super) struct BackupCommand {
    /// The file to be made.
    file: PathBuf,
    /// Replace the file if it is there.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    data: DataArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Make a data directory's database of a file that `backup` made. No daemon may run there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold restore /backups/fourfold-monday --data ./fourfold-data")]
pub(super) struct RestoreCommand {
    /// The file.
    file: PathBuf,
    #[command(flatten)]
    data: DataArg,
    /// Move a database that is there aside.
    #[arg(long)]
    force: bool,
}

/// Check everything that is stored: pages, what rows name, every game, all ratings.
///
/// Before that the write-ahead log is held against what the last process noted, as at every start. Each finding is a
/// line on standard output; if there are any, the exit code is 65.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold check --data ./fourfold-data")]
pub(super) struct CheckCommand {
    #[command(flatten)]
    data: DataArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl BackupCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let file = std::path::absolute(&self.file).context("the file has no name")?;
        let made = self.data.command(async |daemon| {
            while_working("copying", daemon.back_up(&file.to_string_lossy(), self.force)).await
        })?;
        if self.json {
            return output::print_json(&made);
        }
        let MadeBackup { path, bytes, sha256, games } = made;
        Ok(writeln!(io::stdout(), "{path}: {games} finished games, {bytes} bytes, sha256 {sha256}")?)
    }
}

impl RestoreCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let overwrite = if self.force { Overwrite::Replace } else { Overwrite::Never };
        if self.data.url().is_some() {
            let message =
                "the database is kept by a server: restore it with pg_restore, see docs/operating.md";
            return Err(Exit::new(Code::Usage, message).into());
        }
        if !self.file.exists() {
            let message = format!("there is no file {}", self.file.display());
            return Err(Exit::new(Code::NoInput, message).into());
        }
        let restored = runtime()?.block_on(self.restore(overwrite))?;
        let Restored { games, moved_to } = restored;
        let mut out = io::stdout();
        if let Some(path) = moved_to {
            writeln!(out, "the database that was there is now {}", path.display())?;
        }
        let directory = self.data.directory().display();
        Ok(writeln!(out, "{games} finished games restored into {directory}")?)
    }

    async fn restore(&self, overwrite: Overwrite) -> anyhow::Result<Restored> {
        let data = DataDir::open(self.data.directory())?;
        let database = data.database();
        let restoring = restore(&self.file, &database, overwrite);
        let restored = while_working("restoring", restoring).await?;
        // With it the directory is one that has had a database, should that ever be gone.
        data.secret()?;
        Ok(restored)
    }
}

impl CheckCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let report = self.data.command(async |daemon| while_working("checking", daemon.check()).await)?;
        let findings = report.findings();
        if self.json {
            output::print_json(&report)?;
        } else {
            let mut out = io::stdout();
            for finding in &report.pages {
                writeln!(out, "pages: {finding}")?;
            }
            if report.pages.is_empty() {
                writeln!(out, "pages: sound")?;
            }
            writeln!(out, "{}", report.games)?;
        }
        match findings {
            0 => Ok(()),
            1 => Err(Exit::new(Code::Data, "one finding").into()),
            count => Err(Exit::new(Code::Data, format!("{count} findings")).into()),
        }
    }
}
