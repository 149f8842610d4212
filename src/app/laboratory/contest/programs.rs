//! Flags for entrants that are programs.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use fourfold_arena::program::limits::{Environment, ProcessLimits, Sandbox};
use fourfold_arena::program::spec::ProgramSpec;
use fourfold_arena::program::transcript::Transcript;
use fourfold_arena::program::{Program, ProgramError};
use fourfold_engine::Variant;

use crate::app::terminal::exit::{Code, Exit};

/// What programs may use.
#[derive(Clone, Debug, clap::Args)]
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
    /// Write down all that is said with programs: question, answer, time, fault and standard error, a line of JSON for
    /// each question.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// The file of --log, once it is open: all programs share it.
    #[arg(skip)]
    transcript: OnceLock<Arc<Transcript>>,
}

impl ProgramArgs {
    pub(in crate::app) fn limits(&self) -> ProcessLimits {
        ProcessLimits {
            memory_mib: Some(self.memory_mb).filter(|&mib| mib > 0),
            cpu_s: Some(self.cpu_s).filter(|&seconds| seconds > 0),
            sandbox: if self.sandbox { Sandbox::Bubblewrap } else { Sandbox::None },
            environment: Environment::Inherited,
            warm_up: Duration::from_millis(self.startup_ms),
        }
    }

    /// Refuses what is said of programs where none plays, or somebody would wait for it in vain.
    pub(in crate::app) fn expect_use(&self, has_program: bool) -> Result<(), Exit> {
        let unused = match (has_program, &self.log, self.sandbox) {
            (true, ..) | (false, None, false) => return Ok(()),
            (false, Some(_), _) => "--log writes down what is said with programs",
            (false, None, true) => "--sandbox is for programs",
        };
        Err(Exit::usage(format!("{unused}, and none of the bots is one (cmd:COMMAND)")))
    }

    /// A program with its limits. Nothing is started yet.
    pub(in crate::app) fn program(
        &self,
        name: &str,
        spec: ProgramSpec,
        variant: Variant,
    ) -> anyhow::Result<Program> {
        let wrong = |error: ProgramError| Exit::usage(format!("{name}: {error}"));
        let program = Program::new(name.to_owned(), spec, variant, self.limits()).map_err(wrong)?;
        Ok(match self.transcript()? {
            Some(transcript) => program.with_transcript(transcript),
            None => program,
        })
    }

    fn transcript(&self) -> anyhow::Result<Option<Arc<Transcript>>> {
        let Some(path) = &self.log else { return Ok(None) };
        if self.transcript.get().is_none() {
            let cannot =
                |error| Exit::new(Code::Io, format!("cannot write --log {}: {error}", path.display()));
            // Only this thread looks at flags.
            let _ = self.transcript.set(Arc::new(Transcript::create(path).map_err(cannot)?));
        }
        Ok(self.transcript.get().cloned())
    }
}
