//! The command line: one module for each command, and what they share.
//!
//! A command takes its parsed arguments, writes results to standard output and everything else to standard error, and
//! returns an error that [`exit`](super::terminal::exit) turns into one line and an exit code.

mod account;
mod admin;
mod bot;
mod bots;
mod bridge;
mod check_bot;
mod completions;
mod games;
mod hold;
mod load;
mod memory;
mod move_cmd;
mod operator;
mod play;
mod puzzles;
mod reasons;
mod review;
mod serve;
mod solve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use super::laboratory::{bench, book, classic, match_cmd, measure, rate, tournament, train};
use super::terminal::exit::{self, Exit};

/// Runs the command that the process was called with.
pub fn main() -> ExitCode {
    exit::report(CommandLine::parse().run())
}

/// A Connect Four arena: play online, connect bots, rate them.
#[derive(Debug, Parser)]
#[command(name = "fourfold", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Example:\n  fourfold play --second negamax:depth=6")]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the daemon.
    Serve(serve::Serve),
    /// Play a game in the terminal, or watch two bots play.
    Play(play::Play),
    /// Let a bot choose one move and print it.
    Move(move_cmd::Move),
    /// Call classic programs as their authors did.
    Classic(classic::Classic),
    /// List the house bots with their settings.
    Bots(bots::Bots),
    /// Play a match in pairs of games between two bots.
    Match(Box<match_cmd::Match>),
    /// Play a tournament between any number of bots.
    Tournament(Box<tournament::Tournament>),
    /// Rate everybody by all games of a file.
    Rate(rate::Rate),
    /// Let a bot learn, and show how it gets better.
    Train(Box<train::Train>),
    /// Look at a pattern memory, or carry it from one bot to another.
    Memory(memory::Memory),
    /// Score positions exactly.
    Solve(solve::Solve),
    /// Judge every move of a game exactly.
    Review(review::Review),
    /// Find puzzles in saved games.
    Puzzles(puzzles::Puzzles),
    /// Measure how well a bot plays, by the exact solver.
    Measure(measure::Measure),
    /// Measure speed, with figures that can be repeated.
    Bench(bench::Bench),
    /// Make and check the opening book of the exact solver.
    Book(book::Book),
    /// Create an account.
    Account(account::Account),
    /// Create bots of one's own, and their tokens.
    Bot(bot::Bot),
    /// Export the records of finished games, or verify them.
    Games(games::Games),
    /// Begin a tournament of the daemon's configuration.
    Hold(hold::Hold),
    /// What operators do, with a reason that is kept.
    Admin(admin::Admin),
    /// Play whole games over the protocol and measure the server.
    Load(load::Load),
    /// Let any program play as a remote bot.
    Bridge(Box<bridge::Bridge>),
    /// Test whether a bot keeps to the rules.
    CheckBot(Box<check_bot::CheckBot>),
    /// Print a completion script for a shell.
    Completions(completions::Completions),
    /// Print the manual page.
    #[command(after_help = "Example:\n  fourfold man | man -l -")]
    Man,
}

impl CommandLine {
    /// Reads words that were made from those of another program.
    fn of(words: Vec<String>) -> anyhow::Result<Self> {
        let words = std::iter::once("fourfold".to_owned()).chain(words);
        let line = Self::try_parse_from(words).map_err(|error| {
            let message = error.to_string();
            Exit::usage(message.lines().next().unwrap_or_default().trim_start_matches("error: "))
        })?;
        Ok(line)
    }

    fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Serve(arguments) => arguments.run(),
            Command::Play(arguments) => arguments.run(),
            Command::Move(arguments) => arguments.run(),
            Command::Classic(arguments) => Self::of(arguments.translate()?)?.run(),
            Command::Bots(arguments) => arguments.run(),
            Command::Match(arguments) => arguments.run(),
            Command::Tournament(arguments) => arguments.run(),
            Command::Rate(arguments) => arguments.run(),
            Command::Train(arguments) => arguments.run(),
            Command::Memory(arguments) => arguments.run(),
            Command::Solve(arguments) => arguments.run(),
            Command::Review(arguments) => arguments.run(),
            Command::Puzzles(arguments) => arguments.run(),
            Command::Measure(arguments) => arguments.run(),
            Command::Bench(arguments) => arguments.run(),
            Command::Book(arguments) => arguments.run(),
            Command::Account(arguments) => arguments.run(),
            Command::Bot(arguments) => arguments.run(),
            Command::Games(arguments) => arguments.run(),
            Command::Hold(arguments) => arguments.run(),
            Command::Admin(arguments) => arguments.run(),
            Command::Load(arguments) => arguments.run(),
            Command::Bridge(arguments) => arguments.run(),
            Command::CheckBot(arguments) => arguments.run(),
            Command::Completions(arguments) => arguments.run(),
            Command::Man => completions::man(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_holds_together() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        fn check(command: &mut clap::Command) {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Example"), "{} --help:\n{help}", command.get_name());
            command.get_subcommands_mut().filter(|sub| sub.get_name() != "help").for_each(check);
        }
        check(&mut CommandLine::command());
    }
}
