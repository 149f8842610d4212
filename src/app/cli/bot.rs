//! `fourfold bot`: remote bots and their tokens.

use std::io::{self, Write};

use crate::operations::control::{Answer, Request};
use clap::Subcommand;
use serde::Serialize;

use super::operator::DataArg;
use crate::app::terminal::output;
use crate::app::terminal::runtime;

/// Create bots of one's own, and their tokens.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bot create mybot --owner ada")]
pub(super) struct Bot {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Create a bot and print its token, which is shown this once.
    Create(Create),
    /// Make another token for a bot, or end all of them.
    Token(Token),
}

/// Create a bot and print its token, which is shown this once.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bot create mybot --owner ada")]
struct Create {
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
struct Token {
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
struct Issued<'a> {
    name: &'a str,
    token: &'a str,
}

#[derive(Serialize)]
struct Revoked<'a> {
    name: &'a str,
    revoked: usize,
}

impl Bot {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            What::Create(Create { name, owner, data, json }) => {
                print(&call(&data, Request::BotCreate { name, owner })?, json)
            }
            What::Token(Token { name, revoke: false, data, json }) => {
                print(&call(&data, Request::BotToken { name })?, json)
            }
            What::Token(Token { name, revoke: true, data, json }) => {
                print(&call(&data, Request::BotRevoke { name })?, json)
            }
        }
    }
}

fn call(data: &DataArg, request: Request) -> anyhow::Result<Answer> {
    runtime()?.block_on(async {
        let mut operator = data.open_or_create().await?;
        let answer = operator.call(request).await;
        operator.close().await?;
        answer
    })
}

fn print(answer: &Answer, json: bool) -> anyhow::Result<()> {
    match answer {
        Answer::Token { name, token, .. } if json => {
            output::print_json(&Issued { name: name.as_str(), token: token.expose() })
        }
        Answer::Token { name, token, .. } => {
            let mut out = io::stdout().lock();
            writeln!(out, "a new token for {name}: it is shown this once, keep it secret")?;
            Ok(writeln!(out, "token: {}", token.expose())?)
        }
        Answer::Revoked { name, count } if json => {
            output::print_json(&Revoked { name: name.as_str(), revoked: *count })
        }
        Answer::Revoked { name, count } => Ok(writeln!(io::stdout(), "{name}: {count} tokens revoked")?),
        other => Err(output::unexpected(other)),
    }
}
