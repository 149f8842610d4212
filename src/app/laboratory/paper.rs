//! Results in the forms that papers want: tables in Markdown, LaTeX and CSV, or a page, each with all that is needed to
//! make them again.

mod forms;
mod plot;
mod tables;

use std::fs::File;
use std::io;
use std::path::Path;

use anyhow::Context;
use clap::ValueEnum;

use crate::system::sha256;

use self::plot::{PlotRow, intervals};
pub(in crate::app) use self::tables::{difference_picture, ratings_picture};

/// How a result is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(in crate::app) enum PaperFormat {
    /// Tables of GitHub and of notebooks.
    Markdown,
    /// Tables for `booktabs`.
    Latex,
    /// The first table, below lines of facts that begin with `#`.
    Csv,
}

/// A result: its tables, and what is needed to make them again.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::app) struct Paper {
    pub(in crate::app) title: String,
    /// What was found, in a sentence or none.
    pub(in crate::app) sentence: String,
    pub(in crate::app) tables: Vec<PaperTable>,
    /// Names and what they stand for: seed, version, command, machine and so on.
    pub(in crate::app) facts: Vec<(&'static str, String)>,
    /// Why not to trust it.
    pub(in crate::app) warnings: Vec<String>,
}

/// A table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::app) struct PaperTable {
    pub(in crate::app) caption: &'static str,
    pub(in crate::app) head: Vec<String>,
    /// Each as long as the head; the first cell is a name, the others are numbers.
    pub(in crate::app) rows: Vec<Vec<String>>,
}

impl PaperTable {
    pub(in crate::app) fn new(caption: &'static str, head: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self { caption, head: head.iter().map(|&word| word.to_owned()).collect(), rows }
    }
}

impl Paper {
    /// The text in one of the formats, with a line feed at its end.
    pub(in crate::app) fn text(&self, format: PaperFormat) -> String {
        match format {
            PaperFormat::Markdown => forms::markdown(self),
            PaperFormat::Latex => forms::latex(self),
            PaperFormat::Csv => forms::csv(self),
        }
    }

    /// A page that needs nothing beside itself, with these pictures.
    pub(in crate::app) fn page(&self, pictures: &[String]) -> String {
        forms::html(self, pictures)
    }
}

/// A file by its name and its checksum.
pub(in crate::app) fn sum_of(path: &Path) -> anyhow::Result<String> {
    let sum = || -> io::Result<String> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        sha256::of_next(&mut file, bytes, || ())
    };
    let sum = sum().with_context(|| format!("cannot read {}", path.display()))?;
    Ok(format!("{}, SHA-256 {sum}", path.file_name().unwrap_or_default().to_string_lossy()))
}
