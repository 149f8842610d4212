//! Programs of the operator's that play as bots of the house.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use fourfold_arena::program::limits::{Environment, ProcessLimits, Sandbox};
use fourfold_arena::program::spec::{ProgramSpec, ProgramSpecError};
use fourfold_bots::BotSpec;
use serde::{Deserialize, Serialize};

use super::value;
use super::{Bounded, Config, HouseBotConfig};
use crate::system::bot_files;

/// What programs may do that play as bots of the house.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProgramsConfig {
    /// Whether there may be any.
    pub allow: bool,
    /// Processes of each such bot, which are the games that it plays at the same time.
    pub processes: Bounded<1, 64>,
    /// Memory of each process in MiB; 0 for no limit.
    pub memory_mb: Bounded<0, 1_048_576>,
    /// Processor time of each process, in seconds; 0 for no limit.
    pub cpu_s: Bounded<0, 86_400>,
    /// How long a process may take until it answers for the first time, in milliseconds; 0 to ask nothing before its
    /// game.
    pub startup_ms: Bounded<0, 60_000>,
}

impl Default for ProgramsConfig {
    fn default() -> Self {
        Self {
            allow: false,
            processes: Bounded::new(2),
            memory_mb: Bounded::new(1_024),
            cpu_s: Bounded::new(300),
            startup_ms: Bounded::new(5_000),
        }
    }
}

impl ProgramsConfig {
    /// What each process may use. All of them run in a sandbox: whoever plays against them chooses what they read.
    pub(crate) fn limits(&self) -> ProcessLimits {
        let unless_zero = |number: u64| Some(number).filter(|number| *number > 0);
        ProcessLimits {
            memory_mib: unless_zero(self.memory_mb.number().into()),
            cpu_s: unless_zero(self.cpu_s.number().into()),
            sandbox: Sandbox::Bubblewrap,
            environment: Environment::Bare,
            warm_up: Duration::from_millis(self.startup_ms.number().into()),
        }
    }
}

/// What plays as a bot of the house.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HouseSpec {
    /// One of the bots that are built in, with its settings.
    Bot(BotSpec),
    /// A program of the operator's.
    Program(NamedProgram),
}

/// A program as it was written, and what that says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedProgram {
    text: String,
    pub(crate) spec: ProgramSpec,
}

impl FromStr for NamedProgram {
    type Err = ProgramSpecError;

    fn from_str(text: &str) -> Result<Self, ProgramSpecError> {
        Ok(Self { text: text.to_owned(), spec: text.parse()? })
    }
}

impl fmt::Display for HouseSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bot(spec) => spec.fmt(f),
            Self::Program(program) => f.pad(&program.text),
        }
    }
}

impl Serialize for HouseSpec {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HouseSpec {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let text = String::deserialize(from)?;
        if ProgramSpec::is_meant_by(&text) {
            return text.parse().map(Self::Program).map_err(D::Error::custom);
        }
        let spec = value::known_bot(&text).map_err(D::Error::custom)?;
        match bot_files::leaves_its_folder(&spec) {
            Some(file) => Err(D::Error::custom(format!(
                "`{file}` leads out of the data directory by `..`: allowed are paths below it, and those that are \
                 written in full from / on"
            ))),
            None => Ok(Self::Bot(spec)),
        }
    }
}

impl Config {
    /// The first bot that is a program though there may be none: its place in the list, from 0.
    pub(super) fn forbidden_program(&self) -> Option<(usize, &HouseBotConfig)> {
        let is_program = |(_, bot): &(usize, &HouseBotConfig)| matches!(bot.spec, HouseSpec::Program(_));
        if self.programs.allow { None } else { self.house_bots.0.iter().enumerate().find(is_program) }
    }
}
