//! `fourfold bot`: remote bots and their tokens.

use std::io::{self, Write};

use crate::operations::control::{ControlAnswer, ControlRequest};
use clap::Subcommand;
use serde::Serialize;

use super::operator::DataArg;
use crate::app::terminal::output;
use crate::app::terminal::runtime;

/// Create bots of one's own, and their tokens.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bot create mybot --owner ada")]
pub(super) struct BotCommand {
    #[command(subcommand)]
    what: BotAction,
}

#[derive(Debug, Subcommand)]
enum BotAction {
    /// Create a bot and print its token, which is shown this once.
    Create(CreateBot),
    /// Make another token for a bot, or end all of them.
    Token(IssueToken),
}

/// Create a bot and print its token, which is shown this once.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bot create mybot --owner ada")]
struct CreateBot {
    /// Its name: 2 to 20 letters, digits, `_` and `-`.
    name: String,
    /// The account that owns it.
    #[arg(long, value_name = "ACCOUNT")]
    owner: String,
    #[command(flatten)]
    data: DataArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Make another token for a bot and print it, or end all of its tokens.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold bot token mybot
  fourfold bot token mybot --revoke")]
struct IssueToken {
    /// Which bot.
    name: String,
    /// End all tokens of the bot and close its connection; makes no new one.
    #[arg(long)]
    revoke: bool,
    #[command(flatten)]
    data: DataArg,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct IssuedToken<'a> {
    name: &'a str,
    token: &'a str,
}

#[derive(Serialize)]
struct RevokedToken<'a> {
    name: &'a str,
    revoked: usize,
}

impl BotCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            BotAction::Create(CreateBot { name, owner, data, json }) => {
                print(&call(&data, ControlRequest::BotCreate { name, owner })?, json)
            }
            BotAction::Token(IssueToken { name, revoke: false, data, json }) => {
                print(&call(&data, ControlRequest::BotToken { name })?, json)
            }
            BotAction::Token(IssueToken { name, revoke: true, data, json }) => {
                print(&call(&data, ControlRequest::BotRevoke { name })?, json)
            }
        }
    }
}

fn call(data: &DataArg, request: ControlRequest) -> anyhow::Result<ControlAnswer> {
    runtime()?.block_on(async {
        let mut operator = data.open_or_create().await?;
        let answer = operator.call(request).await;
        operator.close().await?;
        answer
    })
}

fn print(answer: &ControlAnswer, json: bool) -> anyhow::Result<()> {
    match answer {
        ControlAnswer::Token { name, token, .. } if json => {
            output::print_json(&IssuedToken { name: name.as_str(), token: token.expose() })
        }
        ControlAnswer::Token { name, token, .. } => {
            let mut out = io::stdout().lock();
            writeln!(out, "a new token for {name}: it is shown this once, keep it secret")?;
            Ok(writeln!(out, "token: {}", token.expose())?)
        }
        ControlAnswer::Revoked { name, count } if json => {
            output::print_json(&RevokedToken { name: name.as_str(), revoked: *count })
        }
        ControlAnswer::Revoked { name, count } => {
            Ok(writeln!(io::stdout(), "{name}: {count} tokens revoked")?)
        }
        other => Err(output::unexpected(other)),
    }
}
