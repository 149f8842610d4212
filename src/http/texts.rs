//! The words of the pages, in all languages: `web/texts` has a file for each area and a table for each text, with one
//! line a language.
//!
//! A text may hold names in braces, which are filled in, and one part in brackets, which becomes a link. One that
//! counts `{n}` things has a form for each plural form of its language (see [`Plural`]), unless they read the same.
//! The same texts reach the modules of the page as a script, see `script`.

mod language;
mod plural;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::fmt::{Display, Write as _};
use std::sync::LazyLock;

use askama::Template;
use askama::filters::HtmlSafe;
use rust_embed::RustEmbed;
use serde::{Deserialize, Serialize};

pub(crate) use self::language::Language;
pub(crate) use self::plural::Plural;

#[derive(RustEmbed)]
#[folder = "web/texts"]
struct TextFiles;

/// A text in one language.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Text {
    Plain(String),
    Counted(BTreeMap<Plural, String>),
}

impl Text {
    /// The form for a number of things; without a number, or where all forms are the same, the only one.
    fn form(&self, language: Language, count: Option<u64>) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Counted(forms) => {
                let form = Plural::of(language, count.unwrap_or(0));
                forms.get(&form).or_else(|| forms.get(&Plural::Other)).map_or("", String::as_str)
            }
        }
    }
}

/// A file of `web/texts`: texts by name, each by the language's tag.
type Area = BTreeMap<String, BTreeMap<String, Text>>;

/// All texts of each language by key, which is area and name: `lobby.play_now`.
static TEXTS: LazyLock<HashMap<Language, BTreeMap<String, Text>>> = LazyLock::new(|| {
    let mut all: HashMap<Language, BTreeMap<String, Text>> = HashMap::new();
    for (area, texts) in areas() {
        for (name, by_language) in texts {
            for language in Language::ALL {
                let Some(text) = by_language.get(language.tag()) else { continue };
                all.entry(language).or_default().insert(format!("{area}.{name}"), text.clone());
            }
        }
    }
    all
});

/// All areas by name.
fn areas() -> BTreeMap<String, Area> {
    let read = |file: &str| {
        let area = file.strip_suffix(".toml")?.to_owned();
        let text = String::from_utf8(TextFiles::get(file)?.data.into_owned()).ok()?;
        Some((area, toml::from_str(&text).expect("a test reads all files")))
    };
    TextFiles::iter().filter_map(|file| read(&file)).collect()
}

/// Digest of all files, for addresses that change with them.
pub(super) fn hashes() -> impl Iterator<Item = [u8; 32]> {
    let mut names: Vec<_> = TextFiles::iter().collect();
    names.sort_unstable();
    names.into_iter().filter_map(|name| TextFiles::get(&name).map(|file| file.metadata.sha256_hash()))
}

/// The texts of one language that modules say, by their keys, as a module that lets the others find them, as
/// `web/static/texts.js` says.
pub(super) fn script(language: Language, is_said: impl Fn(&str) -> bool) -> String {
    let texts = TEXTS.get(&language).into_iter().flatten().filter(|(key, _)| is_said(key));
    let texts =
        serde_json::to_string(&texts.collect::<BTreeMap<_, _>>()).expect("texts have string keys only");
    format!("globalThis.fourfoldTexts={{language:\"{}\",texts:{texts}}};\n", language.tag())
}

/// All texts of one language, each below the English one, in the form of the files: for a translator.
///
/// # Panics
///
/// Never: tests read and write all texts.
pub(crate) fn beside_english(language: Language) -> String {
    let mut all = areas();
    for text in all.values_mut().flat_map(BTreeMap::values_mut) {
        text.retain(|tag, _| tag == Language::English.tag() || tag == language.tag());
    }
    toml::to_string(&all).expect("texts have string keys only")
}

fn find(language: Language, key: &str) -> Option<&'static Text> {
    let in_language = |language| TEXTS.get(&language).and_then(|texts| texts.get(key));
    in_language(language).or_else(|| in_language(Language::English))
}

impl Language {
    /// A text that needs nothing filled in. A test makes sure that there is one for every key in use; an unknown key
    /// stands for itself.
    pub(crate) fn text(self, key: &'static str) -> &'static str {
        find(self, key).map_or(key, |text| text.form(self, None))
    }

    /// A text whose key is made of data, for which there may be none.
    pub(crate) fn known(self, key: &str) -> Option<&'static str> {
        find(self, key).map(|text| text.form(self, None))
    }

    /// A text with values for the names in its braces.
    pub(crate) fn fill<V: Display>(self, key: &'static str, values: &[(&str, V)]) -> String {
        fill(self.text(key), values)
    }

    /// A text about `{n}` things, in the right form.
    pub(crate) fn count(self, key: &'static str, n: u64) -> String {
        let text = find(self, key).map_or(key, |text| text.form(self, Some(n)));
        fill(text, &[("n", self.number(n))])
    }

    /// The same with other values beside `{n}`.
    pub(crate) fn count_with<V: Display>(self, key: &'static str, n: u64, values: &[(&str, V)]) -> String {
        fill(&self.count(key, n), values)
    }

    /// A time as one says it who need not know it exactly: `2 days`, `5 h`, `12 min`.
    pub(crate) fn rough_time(self, ms: u64) -> String {
        match ms / 60_000 {
            minutes if minutes >= 24 * 60 => self.count("game.days", minutes / (24 * 60)),
            minutes if minutes >= 60 => self.fill("game.hours", &[("n", minutes / 60)]),
            minutes => self.fill("game.minutes", &[("n", minutes)]),
        }
    }

    /// A text whose part in brackets leads to an address.
    pub(crate) fn linked(self, key: &'static str, url: &str) -> Linked {
        self.linked_with::<&str>(key, url, &[])
    }

    /// A text that leads to its term in the glossary.
    pub(crate) fn term(self, term: &'static str, key: &'static str) -> TermLink {
        TermLink { term, words: self.text(key).to_owned() }
    }

    /// As [`Language::linked`], with values for the names in braces.
    pub(crate) fn linked_with<V: Display>(
        self,
        key: &'static str,
        url: &str,
        values: &[(&str, V)],
    ) -> Linked {
        let text = self.text(key);
        let (before, rest) = text.split_once('[').unwrap_or((text, ""));
        let (label, after) = rest.split_once(']').unwrap_or((rest, ""));
        Linked {
            before: fill(before, values),
            url: url.to_owned(),
            label: fill(label, values),
            after: fill(after, values),
        }
    }
}

/// A sentence with a link in it.
#[derive(Clone, Debug, Template)]
#[template(source = r#"{{ before }}<a href="{{ url }}">{{ label }}</a>{{ after }}"#, ext = "html")]
pub(crate) struct Linked {
    before: String,
    url: String,
    label: String,
    after: String,
}

impl HtmlSafe for Linked {}

/// Words that the glossary explains.
#[derive(Clone, Debug, Template)]
#[template(source = r#"<a class="term" href="/learn/glossary#{{ term }}">{{ words }}</a>"#, ext = "html")]
pub(crate) struct TermLink {
    term: &'static str,
    words: String,
}

impl HtmlSafe for TermLink {}

/// Puts values where their names stand in braces. What is filled in is not looked at again, so a value cannot name
/// another one.
fn fill<V: Display>(text: &str, values: &[(&str, V)]) -> String {
    let mut filled = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        match values.iter().find(|(known, _)| *known == name) {
            // Writing to a string never fails.
            Some((_, value)) => drop(write!(filled, "{value}")),
            None => drop(write!(filled, "{{{name}}}")),
        }
        rest = after;
    }
    filled.push_str(rest);
    filled
}
