//! The `fourfold` binary: parses the command line, runs one command, says how it went.

#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let command_line = cli::CommandLine::parse();
    let result = command_line.run();
    cli::exit::report(result)
}
