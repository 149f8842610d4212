//! The command line: one module for each command, and what they share.
//!
//! A command takes its parsed arguments, writes results to standard output and everything else to standard error, and
//! returns an error that `terminal::exit` turns into one line and an exit code.

mod account;
mod account_list;
mod admin;
mod backup;
mod bot;
mod bots;
mod bridge;
mod check_bot;
mod cluster;
mod completions;
mod games;
mod load;
mod memory;
mod migrate;
mod move_cmd;
mod operator;
mod play;
mod push_key;
mod puzzles;
mod reasons;
mod review;
mod serve;
mod solve;
mod start_tournament;
mod texts;
mod worker;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use super::laboratory::{
    bench, book, classic, dataset, engine_cmd, fair_play, log_cmd, match_cmd, measure, rate, report,
    tournament, train,
};
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
    command: AnyCommand,
}

#[derive(Debug, Subcommand)]
enum AnyCommand {
    /// Run the daemon.
    Serve(serve::ServeCommand),
    /// Play a game in the terminal, or watch two bots play.
    Play(play::PlayCommand),
    /// Let a bot choose one move and print it.
    Move(move_cmd::MoveCommand),
    /// Call classic programs as their authors did.
    Classic(classic::ClassicCommand),
    /// List the house bots with their settings.
    Bots(bots::BotsCommand),
    /// Play a match in pairs of games between two bots.
    Match(Box<match_cmd::MatchCommand>),
    /// Play a tournament between any number of bots.
    Tournament(Box<tournament::TournamentCommand>),
    /// Rate everybody by all games of a file.
    Rate(rate::RateCommand),
    /// Print the table of a log, export its games, or check it.
    Log(log_cmd::LogCommand),
    /// Make a page or tables for a paper of a log.
    Report(report::ReportCommand),
    /// Let a bot play over standard input and output, for other referees.
    Engine(engine_cmd::EngineCommand),
    /// Let a bot learn, and show how it gets better.
    Train(Box<train::TrainCommand>),
    /// Look at a pattern memory, or carry it from one bot to another.
    Memory(memory::MemoryCommand),
    /// Score positions exactly.
    Solve(solve::SolveCommand),
    /// Judge every move of a game exactly.
    Review(review::ReviewCommand),
    /// Show who decides better in hard positions than people of their rating.
    FairPlay(fair_play::FairPlayCommand),
    /// Find puzzles in saved games.
    Puzzles(puzzles::PuzzlesCommand),
    /// Measure how well a bot plays, by the exact solver.
    Measure(measure::MeasureCommand),
    /// Draw positions and label them with their exact value.
    Dataset(dataset::DatasetCommand),
    /// Measure speed, with figures that can be repeated.
    Bench(bench::BenchCommand),
    /// Make and check the opening book of the exact solver.
    Book(book::BookCommand),
    /// Create an account.
    Account(account::AccountCommand),
    /// Create bots of one's own, and their tokens.
    Bot(bot::BotCommand),
    /// Export the records of finished games, or verify them.
    Games(games::GamesCommand),
    /// Copy the database into a file, while the daemon plays on.
    Backup(backup::BackupCommand),
    /// Make a database of such a copy.
    Restore(backup::RestoreCommand),
    /// Check everything that is stored.
    Check(backup::CheckCommand),
    /// Move an arena from a file to a PostgreSQL database, or back.
    Migrate(migrate::MigrateCommand),
    /// Begin a tournament of the daemon's configuration.
    // Its name until 0.1; goes with the next release.
    #[command(alias = "hold")]
    StartTournament(start_tournament::StartTournamentCommand),
    /// Show the nodes of a cluster, or let another one lead.
    Cluster(cluster::ClusterCommand),
    /// Think for the bots of the house of a cluster.
    Worker(worker::WorkerCommand),
    /// Show what the daemon is doing.
    Status(admin::ShowStatus),
    /// What operators do, with a reason that is kept.
    Admin(admin::AdminCommand),
    /// Play whole games over the protocol and measure the server.
    Load(load::LoadCommand),
    /// Let any program play as a remote bot.
    Bridge(Box<bridge::BridgeCommand>),
    /// Test whether a bot keeps to the rules.
    CheckBot(Box<check_bot::CheckBotCommand>),
    /// Make the keys by which push services know this arena.
    PushKey(push_key::PushKeyCommand),
    /// Print all texts of the pages in one language.
    Texts(texts::TextsCommand),
    /// Print a completion script for a shell.
    Completions(completions::CompletionsCommand),
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
            AnyCommand::Serve(arguments) => arguments.run(),
            AnyCommand::Play(arguments) => arguments.run(),
            AnyCommand::Move(arguments) => arguments.run(),
            AnyCommand::Classic(arguments) => Self::of(arguments.translate()?)?.run(),
            AnyCommand::Bots(arguments) => arguments.run(),
            AnyCommand::Match(arguments) => arguments.run(),
            AnyCommand::Tournament(arguments) => arguments.run(),
            AnyCommand::Rate(arguments) => arguments.run(),
            AnyCommand::Log(arguments) => arguments.run(),
            AnyCommand::Report(arguments) => arguments.run(),
            AnyCommand::Engine(arguments) => arguments.run(),
            AnyCommand::Train(arguments) => arguments.run(),
            AnyCommand::Memory(arguments) => arguments.run(),
            AnyCommand::Solve(arguments) => arguments.run(),
            AnyCommand::Review(arguments) => arguments.run(),
            AnyCommand::FairPlay(arguments) => arguments.run(),
            AnyCommand::Puzzles(arguments) => arguments.run(),
            AnyCommand::Measure(arguments) => arguments.run(),
            AnyCommand::Dataset(arguments) => arguments.run(),
            AnyCommand::Bench(arguments) => arguments.run(),
            AnyCommand::Book(arguments) => arguments.run(),
            AnyCommand::Account(arguments) => arguments.run(),
            AnyCommand::Bot(arguments) => arguments.run(),
            AnyCommand::Games(arguments) => arguments.run(),
            AnyCommand::Backup(arguments) => arguments.run(),
            AnyCommand::Restore(arguments) => arguments.run(),
            AnyCommand::Check(arguments) => arguments.run(),
            AnyCommand::Migrate(arguments) => arguments.run(),
            AnyCommand::StartTournament(arguments) => arguments.run(),
            AnyCommand::Cluster(arguments) => arguments.run(),
            AnyCommand::Worker(arguments) => arguments.run(),
            AnyCommand::Status(arguments) => arguments.run(),
            AnyCommand::Admin(arguments) => arguments.run(),
            AnyCommand::Load(arguments) => arguments.run(),
            AnyCommand::Bridge(arguments) => arguments.run(),
            AnyCommand::CheckBot(arguments) => arguments.run(),
            AnyCommand::PushKey(push_key::PushKeyCommand) => push_key::PushKeyCommand::run(),
            AnyCommand::Texts(arguments) => arguments.run(),
            AnyCommand::Completions(arguments) => arguments.run(),
            AnyCommand::Man => completions::man(),
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
