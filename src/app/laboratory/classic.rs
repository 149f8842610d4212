//! `fourfold classic`: two of the classic programs under the command lines that their authors gave them.
//!
//! Each is turned into a command of ours, which says and does the rest.

mod c4ai;
mod lines69;

use clap::Subcommand;

/// Call classic programs as their authors did.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold classic c4ai -p1 C4AI -d -p2 MonteCarloAI -t 100
  fourfold classic lines69 '  YRY'")]
pub(in crate::app) struct ClassicCommand {
    #[command(subcommand)]
    program: ClassicProgram,
}

#[derive(Debug, Subcommand)]
enum ClassicProgram {
    /// The threat analyst and its companions.
    ///
    /// `-p1 NAME` and `-p2 NAME` say who plays first and second, and without it that is you: `MonteCarloAI`,
    /// `StupidAI`, `RandomAI` or `C4AI`, which is followed by a weights file; `-d`, behind it or anywhere else, says
    /// that it has its own weights. `-t MS` is the time for a move, 1000 unless said. `-train` lets the weights evolve,
    /// into weights.csv unless a file follows; `-train-test` asks first that they hold their own against
    /// `MonteCarloAI`.
    #[command(after_help = "\
Examples:
  fourfold classic c4ai -p1 C4AI weights.csv -t 500
  fourfold classic c4ai -p1 C4AI -d -p2 MonteCarloAI
  fourfold classic c4ai -train-test weights.csv")]
    C4ai {
        #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// The 69-line scorer.
    ///
    /// With a board of 42 characters (blank, Y for the computer, R for the other player, the bottom row first) it
    /// writes its move to Move.txt; without one it is a game in the terminal. Blanks count: the board stands between
    /// quotation marks, or the shell makes several words of it and leaves the blanks out.
    #[command(after_help = "Example:\n  fourfold classic lines69 '  YRY'")]
    Lines69 {
        #[arg(value_name = "BOARD", allow_hyphen_values = true)]
        board: Vec<String>,
    },
}

impl ClassicCommand {
    /// The words of the command line that does the same.
    ///
    /// # Errors
    ///
    /// The program's own arguments make no sense.
    pub(in crate::app) fn translate(self) -> anyhow::Result<Vec<String>> {
        match self.program {
            ClassicProgram::C4ai { arguments } => Ok(c4ai::translate(&arguments)?),
            ClassicProgram::Lines69 { board } => Ok(lines69::translate(&board)?),
        }
    }
}
