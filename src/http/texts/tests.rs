//! Every text is there in every language, and every text in use is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::system::config::Config;

/// What stands in braces, and whether there is a link.
fn placeholders(text: &str) -> BTreeSet<String> {
    let names = text.split('{').skip(1).filter_map(|rest| rest.split('}').next()).map(str::to_owned);
    let brackets = text.matches(['[', ']']).map(str::to_owned);
    names.chain(brackets).collect()
}

/// All forms of a text.
fn forms(text: &Text) -> Vec<&str> {
    match text {
        Text::Plain(text) => vec![text],
        Text::Counted(forms) => forms.values().map(String::as_str).collect(),
    }
}

#[test]
fn every_text_is_there_in_every_language() {
    let mut faults = Vec::new();
    for (area, texts) in areas() {
        for (name, by_language) in texts {
            for tag in by_language.keys().filter(|tag| Language::of_tag(tag).is_none_or(|l| l.tag() != **tag))
            {
                faults.push(format!(
                    "{area}.{name} has a line for `{tag}`, which is no tag of `Language::ALL`"
                ));
            }
            for language in Language::ALL {
                match by_language.get(language.tag()) {
                    None => faults.push(format!("{area}.{name} has no line for `{}`", language.tag())),
                    Some(text) if forms(text).iter().any(|form| form.trim().is_empty()) => {
                        faults.push(format!("{area}.{name} is empty in `{}`", language.tag()));
                    }
                    Some(_) => {}
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn all_languages_fill_in_the_same() {
    let mut faults = Vec::new();
    for (area, texts) in areas() {
        for (name, by_language) in texts {
            let Some(english) = by_language.get("en") else { continue };
            // A form for one thing may say the number in a word.
            let all: BTreeSet<_> = forms(english).into_iter().flat_map(placeholders).collect();
            for (tag, text) in &by_language {
                let own: BTreeSet<_> = forms(text).into_iter().flat_map(placeholders).collect();
                if own != all {
                    faults.push(format!("{area}.{name} fills in {own:?} in `{tag}`, in English {all:?}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What visitors have stumbled over: word for word from another language, or in the tone of a laboratory.
const STIFF: [&str; 13] = [
    "Draw lots",
    "One that suits you",
    "The same as a table",
    "Look at it again",
    "Ended before it began",
    "Best game now",
    "cannot be missed",
    "better known",
    "other choice right after",
    "is no column",
    "is no legal column",
    "is called so",
    "are at work",
];

#[test]
fn no_english_text_reads_as_translated() {
    for (area, texts) in areas() {
        for (name, by_language) in texts {
            for form in by_language.get("en").into_iter().flat_map(forms) {
                let stiff = STIFF.iter().find(|words| form.contains(**words));
                assert!(stiff.is_none() && form != "I do", "{area}.{name}: {form}");
            }
        }
    }
}

#[test]
fn what_is_counted_has_every_form_of_its_language() {
    for (area, texts) in areas() {
        for (name, by_language) in texts {
            for (tag, text) in &by_language {
                let Text::Counted(forms) = text else { continue };
                let language = Language::of_tag(tag).unwrap();
                let own: Vec<_> = forms.keys().copied().collect();
                assert_eq!(own, Plural::all(language), "{area}.{name} in `{tag}`");
            }
        }
    }
}

#[test]
fn lists_of_languages_elsewhere_have_them_all() {
    for path in ["scripts/unchanged/pages.py", "tests/browser/languages.test.js"] {
        let list = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        for tag in Language::ALL.map(Language::tag) {
            assert!(list.contains(&format!("\"{tag}\"")), "{path} leaves out `{tag}`");
        }
    }
}

/// Files whose quoted words may be keys.
fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut directories = ["src/http", "web/static", "web/templates"].map(|name| root.join(name)).to_vec();
    let mut found = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let is_source =
                path.extension().is_some_and(|kind| kind == "rs" || kind == "js" || kind == "html");
            if path.is_dir() {
                directories.push(path);
            } else if is_source && !path.ends_with("tests.rs") {
                found.push(path);
            }
        }
    }
    found
}

/// Words in quotes that look like a key of one of the areas: `"lobby.play_now"`.
fn keys_in(source: &str, areas: &BTreeMap<String, Area>) -> BTreeSet<String> {
    let is_key = |word: &&str| {
        let Some((area, name)) = word.split_once('.') else { return false };
        let is_name =
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        areas.contains_key(area) && is_name && !["html", "css", "js", "svg"].contains(&name)
    };
    source.split('"').filter(is_key).map(str::to_owned).collect()
}

#[test]
fn every_text_in_use_is_there_and_every_text_is_in_use() {
    let areas = areas();
    let mut used = BTreeSet::new();
    for path in sources() {
        used.extend(keys_in(&fs::read_to_string(path).unwrap(), &areas));
    }
    // How house bots play is looked up by their names.
    let house = Config::default().house_bots.0.into_iter().map(|bot| bot.name);
    let learners = crate::study::learning::plans().into_iter().map(|plan| plan.name);
    used.extend(house.chain(learners).map(|name| format!("bot.{}", name.as_str().replace('-', "_"))));
    let there: BTreeSet<String> = areas
        .iter()
        .flat_map(|(area, texts)| texts.keys().map(move |name| format!("{area}.{name}")))
        .collect();
    let missing: Vec<_> = used.difference(&there).collect();
    assert!(missing.is_empty(), "no text for {missing:?}");
    let unused: Vec<_> = there.difference(&used).collect();
    assert!(unused.is_empty(), "nobody says {unused:?}");
}

#[test]
fn values_are_filled_in_once() {
    let filled = fill("{a} and {b} and {c}", &[("a", "{b}"), ("b", "x")]);
    assert_eq!(filled, "{b} and x and {c}");
    assert_eq!(fill::<&str>("a { b", &[]), "a { b}");
}

#[test]
fn links_and_values_stay_text() {
    let link = Language::English.linked_with("player.made_by", "/player/\"x\"", &[("name", "<b>")]);
    assert_eq!(link.to_string(), "made by <a href=\"/player/&#34;x&#34;\">&#60;b&#62;</a>");
}

#[test]
fn a_script_has_the_texts_of_its_language() {
    let script = script(Language::German, |key| key.starts_with("game."));
    assert!(script.starts_with("globalThis.fourfoldTexts={language:\"de\","), "{script:.80}");
    assert!(script.contains("\"game.you_win\":\"Du hast gewonnen\""));
    assert!(!script.contains("ranking.lead"), "others stay with the server");
}

#[test]
fn a_translator_reads_every_text_beside_the_english_one() {
    let printed: BTreeMap<String, Area> = toml::from_str(&beside_english(Language::German)).unwrap();
    let texts: Vec<_> = printed.values().flat_map(BTreeMap::values).collect();
    assert_eq!(texts.len(), areas().values().map(BTreeMap::len).sum::<usize>());
    assert!(texts.iter().all(|text| text.keys().eq(["de", "en"])));
}

#[test]
fn rough_times_have_one_unit() {
    for (ms, expected) in [
        (0, "0 min"),
        (59 * 60_000, "59 min"),
        (3_600_000, "1 h"),
        (86_399_999, "23 h"),
        (86_400_000, "1 day"),
        (604_800_000, "7 days"),
    ] {
        assert_eq!(Language::English.rough_time(ms), expected);
    }
    assert_eq!(Language::Polish.rough_time(3 * 86_400_000), "3 dni");
}
