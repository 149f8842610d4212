//! `fourfold bot`: remote bots and their tokens.

use std::io::{self, Write};

use crate::http::control::{BotToken, RevokedTokensOf};
use clap::Subcommand;
use serde::Serialize;

use super::operator::DataArg;
use crate::app::terminal::output;

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

impl BotCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            BotAction::Create(CreateBot { name, owner, data, json }) => {
                let issued = data.command_new(async |daemon| daemon.create_bot(&name, &owner).await)?;
                print_token(&issued, json)
            }
            BotAction::Token(IssueToken { name, revoke: false, data, json }) => {
                print_token(&data.command_new(async |daemon| daemon.create_token(&name).await)?, json)
            }
            BotAction::Token(IssueToken { name, revoke: true, data, json }) => {
                print_revoked(&data.command_new(async |daemon| daemon.revoke_tokens(&name).await)?, json)
            }
        }
    }
}

fn print_token(issued: &BotToken, json: bool) -> anyhow::Result<()> {
    let BotToken { name, token } = issued;
    if json {
        return output::print_json(&IssuedToken { name: name.as_str(), token: &token.token });
    }
    let mut out = io::stdout().lock();
    writeln!(out, "a new token for {name}: it is shown this once, keep it secret")?;
    Ok(writeln!(out, "token: {}", token.token)?)
}

fn print_revoked(revoked: &RevokedTokensOf, json: bool) -> anyhow::Result<()> {
    if json {
        return output::print_json(revoked);
    }
    let RevokedTokensOf { name, tokens } = revoked;
    Ok(writeln!(io::stdout(), "{name}: {} tokens revoked", tokens.revoked)?)
}
