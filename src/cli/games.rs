//! `fourfold games`: the records of finished games.

mod format;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use fourfold::control::{Answer, Request};

use super::operator::{DataArg, Operator};
use super::progress::Progress;
use super::{output, runtime};
use format::Format;

/// Records in one request: the most that the daemon gives.
const PAGE: u32 = 500;

/// Export the records of finished games, or verify them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold games export > games.ndjson")]
pub(super) struct Games {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Write the records of all finished games, in the order in which they finished.
    Export(Export),
}

/// Write the records of all finished games, in the order in which they finished.
///
/// Works while the daemon plays on. Ctrl-C keeps what was written until then; --after goes on behind it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold games export > games.ndjson
  fourfold games export --format csv --out games.csv")]
struct Export {
    /// One JSON object a line, or portable game notation, or a table.
    #[arg(long, value_enum, default_value_t = Format::Ndjson)]
    format: Format,
    /// Write to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Leave out the first N finished games.
    #[arg(long, value_name = "N")]
    after: Option<u64>,
    #[command(flatten)]
    data: DataArg,
}

impl Games {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            What::Export(export) => export.run(),
        }
    }
}

impl Export {
    fn run(self) -> anyhow::Result<()> {
        runtime()?.block_on(async {
            let mut operator = self.data.open().await?;
            let written = match &self.out {
                Some(path) => self.write_file(&mut operator, path).await,
                None => self.write(&mut operator, &mut io::stdout()).await,
            };
            operator.close().await?;
            written
        })
    }

    async fn write_file(&self, operator: &mut Operator, path: &Path) -> anyhow::Result<()> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        self.write(operator, &mut BufWriter::new(file)).await
    }

    async fn write(&self, operator: &mut Operator, out: &mut impl Write) -> anyhow::Result<()> {
        let mut progress = Progress::unbounded("games");
        let mut after = self.after;
        write!(out, "{}", self.format.head())?;
        loop {
            let answer = operator.call(Request::GamesExport { after, limit: PAGE }).await?;
            let Answer::Games { records, next } = answer else { return Err(output::unexpected(&answer)) };
            for record in &records {
                self.format.write(record, out)?;
            }
            progress.advance(records.len() as u64);
            match next {
                Some(_) => after = next,
                None => break,
            }
        }
        Ok(out.flush()?)
    }
}
