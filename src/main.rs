//! The `fourfold` binary: parses the command line, runs one command, says how it went.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use tikv_jemallocator::Jemalloc;

/// Rooms and sessions come and go on all threads. The C library's allocator keeps what they leave in pieces, and an
/// arena grew by some 2 KB for each game; this one gives it back (docs/performance.md).
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    fourfold::app::cli::main()
}
