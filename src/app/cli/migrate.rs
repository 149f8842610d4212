//! `fourfold migrate`: an arena moves to another engine.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::output;
use crate::app::terminal::progress::{ProgressLine, while_working};
use crate::app::terminal::runtime;
use crate::model::durability::Durability;
use crate::operations::verify::{VerifyReport, verify};
use crate::storage::engine::Engine;
use crate::storage::transfer::{MovedTable, Step};
use crate::system::data_dir::{self, DataDir, DataDirError};

/// Move an arena from a data directory to a PostgreSQL database, or back.
///
/// No daemon may use either. The source is checked first and stays as it is. The target must be empty, or what an
/// earlier attempt has left: then only what is missing is moved. Every row is read again on both sides and compared,
/// and the target is checked as `fourfold games verify` does, before a daemon may use it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold migrate ./fourfold-data \"$FOURFOLD_STORAGE_URL\"
  fourfold migrate postgres://fourfold@%2Fvar%2Frun%2Fpostgresql/fourfold ./new-data")]
pub(super) struct MigrateCommand {
    /// A data directory, or the URL of a PostgreSQL database.
    from: End,
    /// The same.
    to: End,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Where an arena is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
enum End {
    Directory(PathBuf),
    Server(String),
}

impl From<&str> for End {
    fn from(text: &str) -> Self {
        let is_url = text.starts_with("postgres://") || text.starts_with("postgresql://");
        if is_url { Self::Server(text.to_owned()) } else { Self::Directory(text.into()) }
    }
}

/// What was moved.
#[derive(Debug, Serialize)]
struct Moved {
    tables: Vec<MovedTable>,
    games: VerifyReport,
}

/// An open end. Its fields are closed in this order.
struct Opened {
    engine: Engine,
    /// The lock of a directory.
    _data: Option<DataDir>,
}

impl MigrateCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        if self.from == self.to {
            return Err(Exit::usage("source and target are the same").into());
        }
        let Moved { tables, games } = runtime()?.block_on(self.migrate())?;
        if self.json {
            return output::print_json(&Moved { tables, games });
        }
        let rows: u64 = tables.iter().map(|table| table.rows).sum();
        let mut out = io::stdout();
        writeln!(out, "{rows} rows in {} tables are moved and compared", tables.len())?;
        writeln!(out, "{games}")?;
        Ok(writeln!(out, "{}", self.what_is_left())?)
    }

    async fn migrate(&self) -> anyhow::Result<Moved> {
        let source = self.from.open_source().await?;
        let moved = self.migrate_from(&source).await;
        source.engine.close().await?;
        moved
    }

    async fn migrate_from(&self, source: &Opened) -> anyhow::Result<Moved> {
        let report = while_working("checking the source", verify(source.engine.store().as_ref())).await?;
        expect_sound(&report, "the source", "nothing was moved; see `fourfold check`")?;
        let target = self.to.open_target().await?;
        let tables = {
            let mut line = ProgressLine::unbounded("rows moved or compared");
            let progress = |step| {
                let (Step::Moved(rows) | Step::Compared(rows)) = step;
                line.advance(rows);
            };
            target.engine.receive(&source.engine, progress).await?
        };
        let games = while_working("checking the target", verify(target.engine.store().as_ref())).await?;
        expect_sound(&games, "the target", "it is not released to a daemon")?;
        target.engine.arrive().await?;
        Ok(Moved { tables, games })
    }

    /// What the operator still has to do.
    fn what_is_left(&self) -> &'static str {
        match (&self.from, &self.to) {
            (End::Directory(_), End::Server(_)) => {
                "serve it with storage.url and the same data directory: its secret.key signs cookies, and memories of \
                 house bots are there; move its fourfold.db away"
            }
            _ => {
                "copy secret.key from the directory that served it before, or everybody has to sign in again, and \
                 memories of house bots"
            }
        }
    }
}

fn expect_sound(report: &VerifyReport, which: &str, then: &str) -> Result<(), Exit> {
    match report.findings.as_slice() {
        [] => Ok(()),
        [first, ..] => {
            let count = report.findings.len();
            let message =
                format!("{which} is not as it should be ({count} findings, the first: {first}): {then}");
            Err(Exit::new(Code::Data, message))
        }
    }
}

impl End {
    async fn open_source(&self) -> anyhow::Result<Opened> {
        if let Self::Directory(path) = self
            && !data_dir::database(path).exists()
        {
            let message = format!("there is no database in {}", path.display());
            return Err(Exit::new(Code::NoInput, message).into());
        }
        let data = self.take()?;
        let engine = Engine::open(self.url(), &database_of(data.as_ref()), Durability::Strict).await?;
        Ok(Opened { engine, _data: data })
    }

    async fn open_target(&self) -> anyhow::Result<Opened> {
        let data = self.take()?;
        let engine = Engine::open_arriving(self.url(), &database_of(data.as_ref())).await?;
        Ok(Opened { engine, _data: data })
    }

    fn url(&self) -> Option<&str> {
        match self {
            Self::Directory(_) => None,
            Self::Server(url) => Some(url),
        }
    }

    /// Takes a directory, so that nobody else uses it.
    fn take(&self) -> Result<Option<DataDir>, DataDirError> {
        match self {
            Self::Directory(path) => DataDir::open(path).map(Some),
            Self::Server(_) => Ok(None),
        }
    }
}

/// Where the database of a directory is; nowhere if a server has it.
fn database_of(data: Option<&DataDir>) -> PathBuf {
    data.map(DataDir::database).unwrap_or_default()
}
