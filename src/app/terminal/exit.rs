//! How an error becomes one line on standard error and an exit code.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use crate::app::server::ServerError;
use crate::client::ClientError;
use crate::http::ApiCode;
use crate::http::control::ControlError;
use crate::storage::StoreError;
use crate::storage::engine::EngineError;
use crate::storage::postgres::PostgresOpenError;
use crate::storage::records::lines::LineError;
use crate::storage::sqlite::{OpenError, RestoreError};
use crate::storage::transfer::TransferError;
use crate::system::bot_files::BotFileError;
use crate::system::config::ConfigError;
use crate::system::data_dir::DataDirError;
use fourfold_bots::BotError;
use thiserror::Error;

/// Exit codes beyond 0 and 1: those of BSD's `sysexits.h`, and 2 for wrong use as shells have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::app) enum Code {
    /// Nothing more particular can be said.
    Failure,
    /// Wrong use: flags, arguments, configuration.
    Usage,
    /// A service that is needed cannot be reached.
    Unavailable,
    /// The system refused something, such as a port.
    System,
    /// Something that is there in principle cannot be used now; it may be worth another try.
    TryLater,
    /// What is stored is not as it should be.
    Data,
    /// An input is not there.
    NoInput,
    /// Reading or writing failed.
    Io,
    /// What others could use against the arena.
    Unsafe,
    /// What the failed part says itself.
    Other(u8),
}

impl Code {
    fn number(self) -> u8 {
        match self {
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Data => 65,
            Self::NoInput => 66,
            Self::Unavailable => 69,
            Self::System => 71,
            Self::Io => 74,
            Self::TryLater => 75,
            Self::Unsafe => 78,
            Self::Other(code) => code,
        }
    }
}

/// An error that knows its exit code.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub(in crate::app) struct Exit {
    code: Code,
    message: String,
}

impl Exit {
    pub(in crate::app) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The same with words before it, such as the option that it is about.
    pub(in crate::app) fn before(self, words: &str) -> Self {
        Self { message: format!("{words}{}", self.message), ..self }
    }

    /// The arguments make no sense.
    pub(in crate::app) fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::Usage, message)
    }
}

/// Says on standard error what went wrong, and gives the exit code.
///
/// A reader of our output that went away (`fourfold bots | head -1`) has what it wanted: that is no error.
pub(in crate::app) fn report(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    if is_broken_pipe(&error) {
        return ExitCode::SUCCESS;
    }
    let line = format!("fourfold: {error:#}").replace('\n', " ");
    let _ = writeln!(io::stderr(), "{line}"); // without standard error there is nobody to tell
    ExitCode::from(code_of(&error).number())
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|e| e.kind() == ErrorKind::BrokenPipe)
}

fn code_of(error: &anyhow::Error) -> Code {
    error.chain().find_map(code_of_cause).unwrap_or(Code::Failure)
}

fn code_of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Code> {
    if let Some(exit) = cause.downcast_ref::<Exit>() {
        Some(exit.code)
    } else if let Some(error) = cause.downcast_ref::<ConfigError>() {
        Some(if matches!(error, ConfigError::Unsafe { .. }) { Code::Unsafe } else { Code::Usage })
    } else if let Some(error) = cause.downcast_ref::<DataDirError>() {
        Some(Code::Other(error.exit_code()))
    } else if let Some(error) = cause.downcast_ref::<OpenError>() {
        Some(Code::Other(error.exit_code()))
    } else if let Some(error) = cause.downcast_ref::<EngineError>() {
        Some(Code::Other(error.exit_code()))
    } else if let Some(error) = cause.downcast_ref::<PostgresOpenError>() {
        Some(Code::Other(error.exit_code()))
    } else if let Some(error) = cause.downcast_ref::<RestoreError>() {
        Some(Code::Other(error.exit_code()))
    } else if let Some(error) = cause.downcast_ref::<TransferError>() {
        Some(Code::Other(error.exit_code()))
    } else if let Some(error) = cause.downcast_ref::<ServerError>() {
        Some(code_of_server_error(error))
    } else if let Some(error) = cause.downcast_ref::<ControlError>() {
        Some(code_of_control_error(error))
    } else if let Some(error) = cause.downcast_ref::<ClientError>() {
        Some(code_of_client_error(error))
    } else if cause.is::<StoreError>() {
        Some(Code::Io)
    } else if let Some(bot) = cause.downcast_ref::<BotError>() {
        Some(code_of_bot_error(bot))
    } else if let Some(error) = cause.downcast_ref::<BotFileError>() {
        Some(code_of_bot_file_error(error))
    } else if cause.is::<LineError>() {
        Some(Code::Data)
    } else if cause.is::<io::Error>() {
        Some(Code::Io)
    } else {
        None
    }
}

fn code_of_server_error(error: &ServerError) -> Code {
    match error {
        ServerError::DataDir(error) => Code::Other(error.exit_code()),
        ServerError::Open(error) => Code::Other(error.exit_code()),
        ServerError::House(_)
        | ServerError::Learning(_)
        | ServerError::Judging(_)
        | ServerError::Obstructed(_)
        | ServerError::Unclosed(_)
        | ServerError::Read(_)
        | ServerError::Write(_) => Code::Io,
        ServerError::Tls(_) | ServerError::Bus(_) => Code::Usage,
        ServerError::Cluster(error) => Code::Other(error.exit_code()),
        ServerError::OtherKey(_) => Code::Unsafe,
        ServerError::Replaced => Code::TryLater,
        ServerError::Listener(_) => Code::System,
    }
}

fn code_of_control_error(error: &ControlError) -> Code {
    match error {
        ControlError::Lost(_) => Code::TryLater,
        ControlError::Unwritten(_) => Code::Io,
        ControlError::Unreadable(_) | ControlError::Unknown => Code::Failure,
        ControlError::Refused(refusal) => code_of_refusal(refusal.code),
    }
}

/// By whose fault it is: the command makes no sense, or not with what is there, or not now, or the daemon failed.
fn code_of_refusal(code: ApiCode) -> Code {
    match code {
        ApiCode::BadJson
        | ApiCode::BadParameter
        | ApiCode::BadRequest
        | ApiCode::BadHandshake
        | ApiCode::TokenInUrl
        | ApiCode::BadField
        | ApiCode::NameReserved
        | ApiCode::TooLarge
        | ApiCode::UnsupportedMediaType
        | ApiCode::HeaderTooLarge
        | ApiCode::UpgradeRequired => Code::Usage,
        ApiCode::NameTaken
        | ApiCode::Conflict
        | ApiCode::Unauthorized
        | ApiCode::Forbidden
        | ApiCode::OriginNotAllowed
        | ApiCode::HostNotAllowed
        | ApiCode::NotFound
        | ApiCode::MethodNotAllowed => Code::Failure,
        ApiCode::Timeout | ApiCode::RateLimited | ApiCode::Busy => Code::TryLater,
        ApiCode::Internal | ApiCode::NotReady => Code::Io,
    }
}

fn code_of_client_error(error: &ClientError) -> Code {
    match error {
        ClientError::BadUrl(_) => Code::Usage,
        ClientError::Lost(_) | ClientError::Tls(_) | ClientError::Silent(_) | ClientError::Closed { .. } => {
            Code::Unavailable
        }
        ClientError::NoUpgrade { .. } | ClientError::Refused(_) | ClientError::Unreadable(_) => Code::Failure,
    }
}

fn code_of_bot_error(error: &BotError) -> Code {
    match error {
        BotError::Unreadable { .. }
        | BotError::UnknownBot { .. }
        | BotError::UnknownSetting { .. }
        | BotError::RepeatedSetting { .. }
        | BotError::BadValue { .. }
        | BotError::OtherBot { .. }
        | BotError::VariantNotPlayed { .. }
        | BotError::LearnsNothing { .. } => Code::Usage,
        BotError::GameOver | BotError::Broken { .. } | BotError::BadState { .. } => Code::Failure,
    }
}

fn code_of_bot_file_error(error: &BotFileError) -> Code {
    match error {
        BotFileError::Bot(error) => code_of_bot_error(error),
        BotFileError::Content { .. } => Code::Data,
        BotFileError::Unreadable { .. } => Code::NoInput,
        BotFileError::Unwritable { .. } => Code::Io,
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    use super::*;

    #[test]
    fn the_first_cause_that_knows_a_code_gives_it() {
        assert_eq!(code_of(&anyhow!("x")), Code::Failure);
        assert_eq!(code_of(&Exit::usage("x").into()), Code::Usage);
        let wrapped = Err::<(), _>(io::Error::other("x")).context("reading y").unwrap_err();
        assert_eq!(code_of(&wrapped), Code::Io);
        let unknown = "nobody".parse().and_then(|spec| {
            fourfold_bots::registry::build(&spec, fourfold_engine::Variant::STANDARD).map(|_| ())
        });
        assert_eq!(code_of(&unknown.unwrap_err().into()), Code::Usage);
    }

    #[test]
    fn a_reader_that_went_away_is_no_error() {
        let broken = Err::<(), _>(io::Error::from(ErrorKind::BrokenPipe)).context("printing the table");
        assert_eq!(format!("{:?}", report(broken)), format!("{:?}", ExitCode::SUCCESS));
    }
}
