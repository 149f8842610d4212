//! `fourfold cluster`: which nodes there are, and who of them leads. It asks the database, whether a node runs or not.

use std::io::{self, Write};

use clap::Subcommand;
use serde::Serialize;

use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::output;
use crate::app::terminal::runtime;
use crate::app::terminal::storage_url::StorageUrl;
use crate::storage::members::{Member, Role, Roll, answer_words};
use crate::storage::postgres::Members;

/// Show the nodes of a cluster, or let another one lead.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold cluster status --storage-url postgres://arena@db.example/arena")]
pub(super) struct ClusterCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show who leads, who stands by, and who is gone.
    #[command(after_help = "Example:\n  fourfold cluster status --json")]
    Status(StatusCommand),
    /// Let a node lead only if nobody else can: before it is stopped or updated. It is so until the node starts again.
    #[command(after_help = "Example:\n  fourfold cluster drain node-1")]
    Drain(DrainCommand),
    /// End all drains: from now on every node leads again when its turn comes.
    #[command(after_help = "Example:\n  fourfold cluster balance")]
    Balance(BalanceCommand),
}

#[derive(Debug, clap::Args)]
struct StatusCommand {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    storage_url: StorageUrl,
}

#[derive(Debug, clap::Args)]
struct DrainCommand {
    /// Its name, as `fourfold cluster status` shows it.
    #[arg(value_name = "NODE")]
    node: String,
    #[command(flatten)]
    storage_url: StorageUrl,
}

#[derive(Debug, clap::Args)]
struct BalanceCommand {
    #[command(flatten)]
    storage_url: StorageUrl,
}

/// A node as it is shown.
#[derive(Debug, Serialize)]
struct ShownNode<'r> {
    name: &'r str,
    role: Role,
    drained: bool,
    /// Where other nodes pass connections on to.
    address: &'r str,
    version: &'r str,
    since: String,
    /// After how many milliseconds the database answers it, if that is known.
    database_ms: Option<f64>,
}

impl ClusterCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.what {
            What::Status(command) => command.run(),
            What::Drain(command) => command.run(),
            What::Balance(command) => command.run(),
        }
    }
}

impl StatusCommand {
    fn run(self) -> anyhow::Result<()> {
        let roll = runtime()?.block_on(async { anyhow::Ok(open(&self.storage_url).await?.look().await?) })?;
        let shown: Vec<ShownNode<'_>> = roll.members.iter().map(|member| shown(member, &roll)).collect();
        if self.json {
            return output::print_json(&serde_json::json!({ "nodes": shown }));
        }
        let row = |node: &ShownNode<'_>| {
            let drained = if node.drained { ", drained" } else { "" };
            let does = format!("{}{drained}", node.role.words());
            let [name, address, version] = [node.name, node.address, node.version].map(str::to_owned);
            [name, does, address, version, node.since.clone(), answer_words(node.database_ms)]
        };
        let rows: Vec<[String; 6]> = shown.iter().map(row).collect();
        output::print_table(["node", "role", "address", "version", "since", "database"], &rows)?;
        let mut out = io::stdout();
        match shown.iter().find(|node| node.role == Role::Leads) {
            Some(_) => {}
            None if roll.is_locked => {
                writeln!(out, "no node leads: a command or a daemon without a bus uses the database")?;
            }
            None => writeln!(out, "no node leads")?,
        }
        Ok(())
    }
}

impl DrainCommand {
    fn run(self) -> anyhow::Result<()> {
        let Self { node, storage_url } = self;
        let roll = runtime()?.block_on(async {
            let mut members = open(&storage_url).await?;
            if !members.drain(&node, true).await? {
                let message = format!("there is no node `{node}`: `fourfold cluster status` lists them");
                return Err(Exit::new(Code::NoInput, message).into());
            }
            anyhow::Ok(members.look().await?)
        })?;
        let can_lead = |other: &&Member| other.name != node && other.is_able() && !other.is_drained;
        let mut out = io::stdout();
        Ok(match roll.members.iter().find(can_lead) {
            Some(other) => writeln!(out, "drained: {node}; {} and others may lead", other.name),
            None => writeln!(out, "drained: {node}; nobody else can lead, so it goes on until somebody can"),
        }?)
    }
}

impl BalanceCommand {
    fn run(self) -> anyhow::Result<()> {
        let ended = runtime()?.block_on(async {
            let mut members = open(&self.storage_url).await?;
            let roll = members.look().await?;
            let drained: Vec<String> =
                roll.members.into_iter().filter(|node| node.is_drained).map(|node| node.name).collect();
            for node in &drained {
                members.drain(node, false).await?;
            }
            anyhow::Ok(drained)
        })?;
        let mut out = io::stdout();
        Ok(match ended.as_slice() {
            [] => writeln!(out, "no node is drained"),
            nodes => writeln!(out, "may lead again: {}", nodes.join(", ")),
        }?)
    }
}

fn shown<'r>(member: &'r Member, roll: &Roll) -> ShownNode<'r> {
    ShownNode {
        name: &member.name,
        role: roll.role(member),
        drained: member.is_drained,
        address: &member.address,
        version: &member.version,
        since: member.began_at.to_string(),
        database_ms: member.database_ms(),
    }
}

/// The list of nodes of a database.
async fn open(url: &StorageUrl) -> anyhow::Result<Members> {
    let Some(url) = url.get() else {
        return Err(Exit::usage(
            "a cluster keeps everything in a PostgreSQL database: name it with `--storage-url` or FOURFOLD_STORAGE_URL",
        )
        .into());
    };
    let mut members = Members::of(url)?;
    if !members.has_list().await? {
        return Err(Exit::new(Code::NoInput, "no node has ever used this database").into());
    }
    Ok(members)
}
