//! Flags for entrants that are programs.

use std::time::Duration;

use fourfold_arena::program::limits::{ProcessLimits, Sandbox};
use fourfold_arena::program::spec::ProgramSpec;
use fourfold_arena::program::{Program, ProgramError};
use fourfold_engine::Variant;

use crate::app::terminal::exit::Exit;

/// What programs may use.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Programs")]
pub(in crate::app) struct ProgramArgs {
    /// Memory of each process of a program in MiB; 0 for no limit.
    #[arg(long, value_name = "N", default_value_t = 4096)]
    memory_mb: u64,
    /// Processor time of each process of a program for one game, in seconds; 0 for no limit.
    #[arg(long, value_name = "N", default_value_t = 0)]
    cpu_s: u64,
    /// How long a new process of a program may take to answer a first question that does not count, in milliseconds;
    /// 0 to ask none.
    #[arg(long, value_name = "N", default_value_t = 3_000, value_parser = clap::value_parser!(u64).range(..=600_000))]
    startup_ms: u64,
    /// Run programs without network and without the right to write files; needs bubblewrap.
    #[arg(long)]
    sandbox: bool,
}

impl ProgramArgs {
    pub(in crate::app) fn limits(self) -> ProcessLimits {
        ProcessLimits {
            memory_mib: Some(self.memory_mb).filter(|&mib| mib > 0),
            cpu_s: Some(self.cpu_s).filter(|&seconds| seconds > 0),
            sandbox: if self.sandbox { Sandbox::Bubblewrap } else { Sandbox::None },
            warm_up: Duration::from_millis(self.startup_ms),
        }
    }

    pub(in crate::app) fn program(
        self,
        name: &str,
        spec: ProgramSpec,
        variant: Variant,
    ) -> anyhow::Result<Program> {
        let wrong = |error: ProgramError| Exit::usage(format!("{name}: {error}"));
        Ok(Program::new(name.to_owned(), spec, variant, self.limits()).map_err(wrong)?)
    }
}
