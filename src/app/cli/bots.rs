//! `fourfold bots`: the house bots and their settings.

use std::path::PathBuf;

use crate::protocol::terms::WireRating;
use fourfold_bots::registry::{self, BotEntry};
use serde::Serialize;

use super::operator::DataArg;
use crate::app::terminal::output;

/// List the house bots with their settings.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold bots
  fourfold bots --data fourfold-data --json")]
pub(super) struct BotsCommand {
    /// Show the ratings that players of these names have in this data directory.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Print one JSON array, with what each setting allows.
    #[arg(long)]
    json: bool,
}

/// A bot as `--json` shows it.
#[derive(Serialize)]
struct BotListing {
    name: &'static str,
    kind: &'static str,
    about: &'static str,
    settings: Vec<SettingRow>,
    /// Null if it is not known.
    rating: Option<WireRating>,
}

#[derive(Serialize)]
struct SettingRow {
    name: &'static str,
    default: Option<String>,
    allowed: String,
    about: &'static str,
}

impl BotsCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let entries = registry::entries();
        let ratings = match self.data {
            Some(path) => ratings(path, entries)?,
            None => vec![None; entries.len()],
        };
        if self.json {
            let rows: Vec<BotListing> = entries.iter().zip(ratings).map(bot_row).collect();
            return output::print_json(&rows);
        }
        let rows: Vec<_> = entries.iter().zip(ratings).map(table_row).collect();
        output::print_table(["Name", "Kind", "Rating", "Settings", "How it plays"], &rows)?;
        Ok(())
    }
}

/// What players of the same names are rated.
fn ratings(path: PathBuf, entries: &[BotEntry]) -> anyhow::Result<Vec<Option<WireRating>>> {
    let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    let ratings = DataArg::from(path).command(async |daemon| daemon.ratings(&names).await)?;
    Ok(ratings.into_iter().map(|of_name| of_name.rating).collect())
}

fn bot_row((entry, rating): (&BotEntry, Option<WireRating>)) -> BotListing {
    let setting = |setting: &fourfold_bots::Setting| SettingRow {
        name: setting.name,
        default: setting.kind.default_value(),
        allowed: setting.kind.allowed(),
        about: setting.about,
    };
    BotListing {
        name: entry.name,
        kind: entry.style,
        about: entry.about,
        settings: entry.settings.iter().map(setting).collect(),
        rating,
    }
}

fn table_row((entry, rating): (&BotEntry, Option<WireRating>)) -> [String; 5] {
    // A setting without a default is unset unless given.
    let setting = |setting: &fourfold_bots::Setting| match setting.kind.default_value() {
        Some(default) => format!("{}={default}", setting.name),
        None => setting.name.to_owned(),
    };
    let settings: Vec<String> = entry.settings.iter().map(setting).collect();
    let rating = rating.map_or_else(|| "-".to_owned(), |rating| format!("{} ± {}", rating.elo, rating.pm95));
    [entry.name.to_owned(), entry.style.to_owned(), rating, settings.join(" "), entry.about.to_owned()]
}
