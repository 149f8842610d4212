//! `fourfold account`: accounts of people.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::http::control::SignedInView;
use crate::model::secret::Secret;
use anyhow::Context;
use clap::Subcommand;
use console::Term;
use serde::Serialize;

use super::account_list::CreateAccounts;
use super::operator::DataArg;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::output;

/// Where scripts put the password.
const PASSWORD_VARIABLE: &str = "FOURFOLD_PASSWORD";

/// Create accounts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold account create ada")]
pub(super) struct AccountCommand {
    #[command(subcommand)]
    what: AccountAction,
}

#[derive(Debug, Subcommand)]
enum AccountAction {
    /// Create an account.
    Create(CreateAccount),
    /// Create an account for each name of a list, with passwords to print.
    CreateMany(CreateAccounts),
}

/// Create an account, whether the daemon runs or not.
///
/// The password comes from standard input (--password-stdin), from the variable `FOURFOLD_PASSWORD`, or is asked for.
/// It is never given as a flag, where others could see it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold account create ada
  echo 'tea and biscuits' | fourfold account create ada --password-stdin")]
struct CreateAccount {
    /// Its name: 2 to 20 letters, digits, `_` and `-`.
    name: String,
    /// Read the password from the first line of standard input.
    #[arg(long)]
    password_stdin: bool,
    #[command(flatten)]
    data: DataArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Created<'a> {
    id: &'a str,
    name: &'a str,
}

impl AccountCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            AccountAction::Create(create) => create.run(),
            AccountAction::CreateMany(create) => create.run(),
        }
    }
}

impl CreateAccount {
    fn run(self) -> anyhow::Result<()> {
        let password = self.password()?;
        let SignedInView { id, name, .. } =
            self.data.command_new(async |daemon| daemon.create_account(&self.name, &password).await)?;
        if self.json {
            output::print_json(&Created { id: id.as_str(), name: name.as_str() })
        } else {
            Ok(writeln!(io::stdout(), "account {name} created")?)
        }
    }

    fn password(&self) -> anyhow::Result<Secret> {
        if self.password_stdin {
            return first_line(io::stdin().lock());
        }
        match std::env::var(PASSWORD_VARIABLE) {
            Ok(password) => Ok(Secret::new(password)),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(Exit::usage(format!("environment variable {PASSWORD_VARIABLE}: not UTF-8")).into())
            }
            Err(std::env::VarError::NotPresent) if io::stdin().is_terminal() => ask(),
            Err(std::env::VarError::NotPresent) => Err(Exit::usage(format!(
                "no password: use --password-stdin, set {PASSWORD_VARIABLE}, or call this from a terminal"
            ))
            .into()),
        }
    }
}

fn first_line(mut input: impl BufRead) -> anyhow::Result<Secret> {
    let mut line = String::new();
    input.read_line(&mut line).context("reading the password")?;
    let password = line.trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        return Err(Exit::usage("no password on standard input").into());
    }
    Ok(Secret::new(password))
}

/// Asks twice on the terminal, without showing what is typed.
fn ask() -> anyhow::Result<Secret> {
    let terminal = Term::stderr();
    let read = |prompt: &str| -> io::Result<String> {
        terminal.write_str(prompt)?;
        terminal.read_secure_line()
    };
    let password = read("Password: ").context("reading the password")?;
    let again = read("Again: ").context("reading the password")?;
    if password != again {
        return Err(Exit::usage("the two passwords differ").into());
    }
    Ok(Secret::new(password))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_the_first_line() {
        let read = |text: &str| first_line(text.as_bytes()).map(|secret| secret.expose().to_owned()).ok();
        assert_eq!(read("tea and biscuits\r\nmore"), Some("tea and biscuits".to_owned()));
        assert_eq!(read(" no newline "), Some(" no newline ".to_owned()));
        assert_eq!(read("\n"), None);
        assert_eq!(read(""), None);
    }
}
