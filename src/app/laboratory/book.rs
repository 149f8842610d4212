//! `fourfold book`: makes and checks the opening book of the exact solver.

mod build;
mod checkpoint;
mod verify;

use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;

use clap::Subcommand;
use fourfold_arena::shard::Shard;
use fourfold_engine::solver::Score;
use fourfold_engine::solver::book::{self, PLIES_MAX};

use crate::app::terminal::exit::Exit;

/// Make and check the opening book of the exact solver.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold book verify")]
pub(in crate::app) struct BookCommand {
    #[command(subcommand)]
    what: BookAction,
}

#[derive(Debug, Subcommand)]
enum BookAction {
    /// Solve all positions of one ply and make a book of all plies up to it.
    Build(BuildBook),
    /// Put checkpoints together.
    Join(JoinCheckpoints),
    /// Check a book: its checksum, and some of its scores by solving them again.
    Verify(VerifyBook),
    /// List openings with their exact scores.
    Openings(BookOpenings),
}

/// Solve all positions of one ply and make a book of all plies up to it.
///
/// Each score is appended to the checkpoint as soon as it is proven, and what the checkpoint has is not solved again:
/// Ctrl-C loses nothing but the positions at hand, and several runs, each with a checkpoint of its own, can share the
/// work if their lines are put together.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold book build --plies 4 --checkpoint ply4.tsv --out book-7x6.bin
  fourfold book build --plies 8 --checkpoint ply8.tsv --memory 2048 --out book-7x6.bin")]
struct BuildBook {
    /// Stones of the fullest positions that the book will know.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(PLIES_MAX)))]
    plies: u32,
    /// Where proven scores are kept: a line for each position, moves and score with a tab between.
    #[arg(long, value_name = "FILE")]
    checkpoint: PathBuf,
    /// Write the finished book to this file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Guesses of scores, written like a checkpoint. A guess saves time if it is right and costs some if it is not; it
    /// is proven like any other.
    #[arg(long, value_name = "FILE")]
    hints: Option<PathBuf>,
    /// Positions solved at the same time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,
    /// Memory for what the searches remember, in MiB, shared out among the threads.
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(4..))]
    memory: u32,
    /// Solve only the K-th of N equal parts of all positions, and write no book; `fourfold book join` puts the parts'
    /// checkpoints together.
    #[arg(long, value_name = "K/N", conflicts_with = "out")]
    shard: Option<Shard>,
    /// The order in which groups of neighbouring positions are solved.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// Put checkpoints together: those of the parts of a `build --shard`, or of several runs.
///
/// A position that two of them score differently is an error. `build` with the new checkpoint makes the book of it, and
/// solves whatever is missing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold book join ply8-*.tsv --out ply8.tsv")]
struct JoinCheckpoints {
    /// Checkpoints.
    #[arg(value_name = "FILE", required = true)]
    parts: Vec<PathBuf>,
    /// Write all scores to this file.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl JoinCheckpoints {
    fn run(&self) -> anyhow::Result<()> {
        let scores = checkpoint::join(&self.parts, &self.out)?;
        Ok(writeln!(io::stdout(), "{scores} scores in {}", self.out.display())?)
    }
}

/// Check a book: its checksum, and some of its scores by solving them again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold book verify
  fourfold book verify --sample 1000 --seed 7 book-7x6.bin")]
struct VerifyBook {
    /// The book; the one inside the program if left out.
    file: Option<PathBuf>,
    /// How many positions to solve again.
    #[arg(long, value_name = "N", default_value_t = 20)]
    sample: u32,
    /// Which ones.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// List openings with their exact scores.
///
/// All positions after so many plies in which there is something to choose (no win at hand, nothing to parry), one of
/// each mirrored pair: 568 after 4 plies, 7120 after 6, 67557 after 8. A line has moves and score with a tab between,
/// as `match --openings FILE` reads it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold book openings --plies 4 --balanced > drawn.tsv")]
struct BookOpenings {
    /// Plies of the openings.
    #[arg(long, value_name = "N", default_value_t = 4)]
    plies: u32,
    /// Only those whose exact value is a draw.
    #[arg(long)]
    balanced: bool,
}

impl BookOpenings {
    fn run(&self) -> anyhow::Result<()> {
        let known = book::Book::embedded().plies();
        let beyond = || Exit::usage(format!("--plies: the opening book knows up to {known}"));
        let mut out = BufWriter::new(io::stdout().lock());
        for (opening, score) in book::scored_after(self.plies).ok_or_else(beyond)? {
            if !self.balanced || score == Score::DRAW {
                let moves = if opening.moves().is_empty() { "-".to_owned() } else { opening.notation() };
                writeln!(out, "{moves}\t{score}")?;
            }
        }
        Ok(out.flush()?)
    }
}

impl BookCommand {
    pub(in crate::app) fn run(self) -> anyhow::Result<()> {
        match self.what {
            BookAction::Build(build) => build.run(),
            BookAction::Join(join) => join.run(),
            BookAction::Verify(verify) => verify.run(),
            BookAction::Openings(openings) => openings.run(),
        }
    }
}
