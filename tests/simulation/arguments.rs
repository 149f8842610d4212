//! `--seeds N --from N`, `--seed S --keep A,B,C`, `--defect NAME`, and what test runners pass to every test.

use crate::defect::Defect;

/// What to run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Arguments {
    /// Many seeds, one after the other.
    Seeds { from: u64, count: u64 },
    /// One, with everything that happens in it.
    One {
        seed: u64,
        /// Its deeds by their numbers; all if nothing is said.
        keep: Option<Vec<usize>>,
        defect: Option<Defect>,
    },
    /// What `cargo test` runs.
    All,
}

impl Arguments {
    /// Reads the command line; `None` if a test runner asks for other tests only, or for a list.
    ///
    /// # Panics
    ///
    /// Panics if a value is missing or is no number.
    pub(crate) fn read(words: impl Iterator<Item = String>) -> Option<Self> {
        let mut words = words.peekable();
        let (mut from, mut count, mut seed, mut keep, mut defect) = (None, None, None, None, None);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("{word} needs a value"));
            match word.as_str() {
                "--from" => from = Some(number(&value())),
                "--seeds" => count = Some(number(&value())),
                "--seed" => seed = Some(number(&value())),
                "--keep" => keep = Some(numbers(&value())),
                "--defect" => defect = Some(Defect::named(&value())),
                "--list" => return None,
                flag if flag.starts_with('-') => {} // of a test runner: --nocapture, --quiet
                filter if "simulation".contains(filter) => {}
                _ => return None,
            }
        }
        Some(match (seed, from.is_some() || count.is_some()) {
            (Some(seed), _) => Self::One { seed, keep, defect },
            (None, true) => Self::Seeds { from: from.unwrap_or(1), count: count.unwrap_or(200) },
            (None, false) => Self::All,
        })
    }
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("a number is needed, not {text}"))
}

fn numbers(text: &str) -> Vec<usize> {
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("a number is needed, not {text}"));
    text.split(',').filter(|text| !text.is_empty()).map(number).collect()
}
