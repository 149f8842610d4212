//! The `fourfold` binary: parses the command line, runs one command, says how it went.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    fourfold::app::cli::main()
}
