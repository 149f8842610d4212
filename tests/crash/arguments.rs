//! `--cycles N --games N --seed S`, and what test runners pass to every test.

/// How hard to try.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// So many times it is killed.
    pub(crate) cycles: u32,
    /// Games at a time.
    pub(crate) games: u32,
    /// Decides when to kill and what to play.
    pub(crate) seed: u64,
}

impl Arguments {
    /// Reads the command line; `None` if a test runner asks for other tests only, or for a list.
    ///
    /// # Panics
    ///
    /// Panics if a value is missing or is no number.
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mut arguments = Self { cycles: 3, games: 20, seed: 1 };
        while let Some(word) = words.next() {
            let mut number = || -> u64 {
                let value = words.next().unwrap_or_else(|| panic!("{word} needs a number"));
                value.parse().unwrap_or_else(|_| panic!("{word} needs a number, not {value}"))
            };
            let small = |number: u64| u32::try_from(number).expect("a number below four billion");
            match word.as_str() {
                "--cycles" => arguments.cycles = small(number()),
                "--games" => arguments.games = small(number()).max(1),
                "--seed" => arguments.seed = number(),
                "--list" => return None,
                flag if flag.starts_with('-') => {} // of a test runner: --nocapture, --quiet
                filter if "crash".contains(filter) => {}
                _ => return None,
            }
        }
        Some(arguments)
    }
}
