//! `--kills N --zombies N --rolling N --bus-restart N --database-restart N --cut database|bus --one-way --rounds N
//! --resume N --sockets N --namespaces N --games N --seed S --upgrade-from BINARY`, and what test runners pass to every
//! test.

use std::path::PathBuf;
use std::time::Duration;

use crate::nodes::Far;
use crate::storm;

/// Cuts of a line, unless `--rounds` says how many.
const CUTS: u32 = 20;

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
    /// So many times a node loses its line to the database, then one its line to the bus.
    pub(crate) database_cuts: u32,
    pub(crate) bus_cuts: u32,
    /// Whether a line that is cut lets one direction through.
    pub(crate) is_one_way: bool,
    /// So many clients change nodes, again and again.
    pub(crate) resumes: u32,
    /// So many clients of a node that dies come back by the others.
    pub(crate) sockets: u32,
    /// So many times something happens to the line of a machine, in a network of the test's own.
    pub(crate) namespaces: u32,
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
            database_cuts: 0,
            bus_cuts: 0,
            is_one_way: false,
            resumes: 0,
            sockets: 0,
            namespaces: 0,
            games: 20,
            seed: 1,
            upgrade_from: None,
            is_short: false,
        };
        let (mut cut, mut rounds) = (None, CUTS);
        while let Some(word) = words.next() {
            if word == "--cut" {
                cut = Some(match words.next().as_deref() {
                    Some("database") => Far::Database,
                    Some("bus") => Far::Bus,
                    other => panic!("--cut takes database or bus, not {other:?}"),
                });
                continue;
            }
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
                "--resume" => arguments.resumes = small(number()),
                "--sockets" => arguments.sockets = small(number()),
                "--namespaces" => arguments.namespaces = small(number()),
                "--rounds" => rounds = small(number()),
                "--one-way" => arguments.is_one_way = true,
                "--games" => arguments.games = small(number()).max(1),
                "--seed" => arguments.seed = number(),
                "--list" => return None,
                flag if flag.starts_with('-') => {} // of a test runner: --nocapture, --quiet
                filter if "cluster".contains(filter) => {}
                _ => return None,
            }
        }
        match cut {
            Some(Far::Database) => arguments.database_cuts = rounds,
            Some(Far::Bus) => arguments.bus_cuts = rounds,
            None => {}
        }
        if arguments.asks_for_nothing() {
            arguments.be_short();
        }
        Some(arguments)
    }

    /// How long everybody thinks: not at all, but where it matters how fast moves of others are.
    pub(crate) fn think(&self) -> Duration {
        if self.sockets > 0 && !self.is_short { storm::THINK } else { Duration::ZERO }
    }

    fn asks_for_nothing(&self) -> bool {
        let Self { kills, zombies, rolling, bus_restarts, database_restarts, .. } = self;
        let Self { database_cuts, bus_cuts, resumes, sockets, namespaces, .. } = self;
        [kills, zombies, rolling, bus_restarts, database_restarts].into_iter().all(|times| *times == 0)
            && [database_cuts, bus_cuts, resumes, sockets, namespaces].into_iter().all(|times| *times == 0)
    }

    /// A little of everything.
    fn be_short(&mut self) {
        (self.kills, self.zombies, self.rolling) = (3, 1, 1);
        (self.bus_restarts, self.database_restarts) = (1, 1);
        (self.database_cuts, self.bus_cuts) = (1, 1);
        (self.resumes, self.sockets) = (30, 100);
        self.is_short = true;
    }
}
