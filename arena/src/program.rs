//! Programs that play over standard streams: started, asked line by line, watched and ended with all their children.
//!
//! - [`dialect`] turns a question into text and a line into a column; pure.
//! - [`spec`] reads `cmd+DIALECT:WORDS`, [`limits`] are what a program may use.
//! - `sandbox` says what a program sees of the machine.
//! - `process` is one running program. Nothing is read ahead: what a program writes unasked waits in its pipe, so its
//!   memory is its own, and everything that is read is counted.
//!
//! A program is used for many games. It is started anew when it ended between two of them, and after every fault.

pub mod dialect;
pub mod limits;
mod once;
mod player;
mod process;
mod sandbox;
pub mod spec;
pub mod transcript;

use std::sync::Arc;
use std::time::Duration;

use fourfold_engine::Variant;

use self::dialect::Dialect;
use self::limits::{ProcessLimits, Sandbox};
use self::spec::ProgramSpec;
use self::transcript::Transcript;
use crate::entrant::{Entrant, EntrantFault, Player};

/// How long a program may think where no clock runs.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// An executable as an entrant. A copy of it starts processes of its own.
#[derive(Clone, Debug)]
pub struct Program {
    recipe: Arc<ProcessRecipe>,
}

/// All that is needed to start one more process.
#[derive(Clone, Debug)]
struct ProcessRecipe {
    /// By which tables and the transcript call the entrant.
    name: String,
    /// The program and its arguments, at least one word.
    words: Vec<String>,
    dialect: Dialect,
    variant: Variant,
    limits: ProcessLimits,
    transcript: Option<Arc<Transcript>>,
}

impl ProcessRecipe {
    fn warm_up(&self) -> Option<Duration> {
        Some(self.limits.warm_up).filter(|limit| !limit.is_zero())
    }
}

/// Why a program cannot take part at all.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("the dialect {dialect} has no {variant} board")]
    Variant { dialect: Dialect, variant: Variant },
    #[error("a sandbox was asked for, but there is no `bwrap` on the path: install bubblewrap")]
    NoBubblewrap,
}

impl Program {
    /// Nothing is started yet.
    ///
    /// # Errors
    ///
    /// The dialect cannot express the variant, or the sandbox is not there.
    pub fn new(
        name: String,
        spec: ProgramSpec,
        variant: Variant,
        limits: ProcessLimits,
    ) -> Result<Self, ProgramError> {
        let ProgramSpec { dialect, words } = spec;
        if !dialect.plays(variant) {
            return Err(ProgramError::Variant { dialect, variant });
        }
        if limits.sandbox == Sandbox::Bubblewrap && !limits::has_bubblewrap() {
            return Err(ProgramError::NoBubblewrap);
        }
        let recipe = ProcessRecipe { name, words, dialect, variant, limits, transcript: None };
        Ok(Self { recipe: Arc::new(recipe) })
    }

    /// Writes down all that is said.
    pub fn with_transcript(mut self, transcript: Arc<Transcript>) -> Self {
        Arc::make_mut(&mut self.recipe).transcript = Some(transcript);
        self
    }
}

impl Entrant for Program {
    fn name(&self) -> &str {
        &self.recipe.name
    }

    fn player(&self) -> Result<Box<dyn Player>, EntrantFault> {
        match self.recipe.dialect {
            Dialect::Board42(order) => Ok(Box::new(once::OncePlayer::new(&self.recipe, order)?)),
            Dialect::Simple | Dialect::Kaggle | Dialect::Aigames | Dialect::Cfour => {
                Ok(Box::new(player::LinePlayer::start(Arc::clone(&self.recipe))?))
            }
        }
    }
}
