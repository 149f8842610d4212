//! `--kills N --zombies N --rolling N --bus-restart N --database-restart N --games N --seed S --upgrade-from BINARY`,
//! and what test runners pass to every test.

use std::path::PathBuf;

/// How hard to try.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// So many times a node is killed.
    pub(crate) kills: u32,
    /// So many times a leader is frozen and replaced.
    pub(crate) zombies: u32,
    /// So many times all nodes are restarted as planned, one after the other.
    pub(crate) rolling: u32,
    /// So many times the bus dies and comes back.
    pub(crate) bus_restarts: u32,
    /// So many times the database dies and comes back.
    pub(crate) database_restarts: u32,
    /// Games at a time.
    pub(crate) games: u32,
    /// Decides when what happens, and what is played.
    pub(crate) seed: u64,
    /// A binary of the version before, by which all nodes begin.
    pub(crate) upgrade_from: Option<PathBuf>,
    /// Whether nothing was asked for, so that a little of everything is done.
    pub(crate) is_short: bool,
}

impl Arguments {
    /// Reads the command line; `None` if a test runner asks for other tests only, or for a list.
    ///
    /// # Panics
    ///
    /// Panics if a value is missing or no number.
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mut arguments = Self {
            kills: 0,
            zombies: 0,
            rolling: 0,
            bus_restarts: 0,
            database_restarts: 0,
            games: 20,
            seed: 1,
            upgrade_from: None,
            is_short: false,
        };
        while let Some(word) = words.next() {
            if word == "--upgrade-from" {
                arguments.upgrade_from = Some(words.next().expect("--upgrade-from needs a binary").into());
                continue;
            }
            let mut number = || -> u64 {
                let value = words.next().unwrap_or_else(|| panic!("{word} needs a number"));
                value.parse().unwrap_or_else(|_| panic!("{word} needs a number, not {value}"))
            };
            let small = |number: u64| u32::try_from(number).expect("a number below four billion");
            match word.as_str() {
                "--kills" => arguments.kills = small(number()),
                "--zombies" => arguments.zombies = small(number()),
                "--rolling" => arguments.rolling = small(number()),
                "--bus-restart" => arguments.bus_restarts = small(number()),
                "--database-restart" => arguments.database_restarts = small(number()),
                "--games" => arguments.games = small(number()).max(1),
                "--seed" => arguments.seed = number(),
                "--list" => return None,
                flag if flag.starts_with('-') => {} // of a test runner: --nocapture, --quiet
                filter if "cluster".contains(filter) => {}
                _ => return None,
            }
        }
        let Self { kills, zombies, rolling, bus_restarts, database_restarts, .. } = &mut arguments;
        if *kills + *zombies + *rolling + *bus_restarts + *database_restarts == 0 {
            (*kills, *zombies, *rolling, *bus_restarts, *database_restarts) = (3, 1, 1, 1, 1);
            arguments.is_short = true;
        }
        Some(arguments)
    }
}
