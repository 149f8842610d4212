//! `fourfold bots`: the house bots and their settings.

use fourfold_bots::registry::{self, Entry};
use serde::Serialize;

use super::output;

/// List the house bots with their settings.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bots --json")]
pub(super) struct Bots {
    /// Print one JSON array, with what each setting allows.
    #[arg(long)]
    json: bool,
}

/// A bot as `--json` shows it.
#[derive(Serialize)]
struct BotRow {
    name: &'static str,
    kind: &'static str,
    about: &'static str,
    settings: Vec<SettingRow>,
}

#[derive(Serialize)]
struct SettingRow {
    name: &'static str,
    default: Option<String>,
    allowed: String,
    about: &'static str,
}

impl Bots {
    pub(super) fn run(self) -> anyhow::Result<()> {
        if self.json {
            let rows: Vec<BotRow> = registry::entries().iter().map(bot_row).collect();
            return output::print_json(&rows);
        }
        let rows: Vec<_> = registry::entries().iter().map(table_row).collect();
        output::print_table(["Name", "Kind", "Settings", "How it plays"], &rows)?;
        Ok(())
    }
}

fn bot_row(entry: &Entry) -> BotRow {
    let setting = |setting: &fourfold_bots::Setting| SettingRow {
        name: setting.name,
        default: setting.kind.default_value(),
        allowed: setting.kind.allowed(),
        about: setting.about,
    };
    BotRow {
        name: entry.name,
        kind: entry.style,
        about: entry.about,
        settings: entry.settings.iter().map(setting).collect(),
    }
}

fn table_row(entry: &Entry) -> [String; 4] {
    let setting = |setting: &fourfold_bots::Setting| {
        format!("{}={}", setting.name, setting.kind.default_value().unwrap_or_default())
    };
    let settings: Vec<String> = entry.settings.iter().map(setting).collect();
    [entry.name.to_owned(), entry.style.to_owned(), settings.join(" "), entry.about.to_owned()]
}
