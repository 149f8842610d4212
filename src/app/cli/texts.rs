//! `fourfold texts`: what a translator reads and corrects.

use std::io::{self, Write};

use crate::http::texts::{self, Language};

/// Print all texts of the pages in one language, each below the English one, as the files of web/texts have them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold texts de | less")]
pub(super) struct TextsCommand {
    /// Tag of the language: en, de, fr, es, pt, it, nl, pl, ja or zh.
    #[arg(value_name = "LANGUAGE", value_parser = language)]
    language: Language,
}

impl TextsCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        Ok(io::stdout().write_all(texts::beside_english(self.language).as_bytes())?)
    }
}

fn language(tag: &str) -> Result<Language, String> {
    let tags = || Language::ALL.map(Language::tag).join(", ");
    Language::ALL
        .into_iter()
        .find(|language| language.tag() == tag)
        .ok_or_else(|| format!("the pages speak {}", tags()))
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;

    #[test]
    fn the_help_names_all_languages() {
        let help = TextsCommand::augment_args(clap::Command::new("texts")).render_long_help().to_string();
        let help: Vec<&str> = help.split_whitespace().collect();
        let tags = Language::ALL.map(Language::tag);
        let (last, others) = tags.split_last().unwrap();
        let listed = format!("{} or {last}", others.join(", "));
        assert!(help.join(" ").contains(&listed), "the help does not name {listed}");
    }

    #[test]
    fn a_language_is_taken_by_its_tag_and_no_other() {
        assert!(Language::ALL.iter().all(|known| language(known.tag()) == Ok(*known)));
        assert!(language("DE-ch").unwrap_err().starts_with("the pages speak en, de, "));
    }
}
