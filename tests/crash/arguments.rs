//! `--cycles N --games N --cuts N --seed S --store postgres --restart-database N`, and what test runners pass to every
//! test.

/// Kills on one data directory: with more, what is measured is how long a large database takes to be checked.
const ROUND_CYCLES_MAX: u32 = 50;

/// How hard to try.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// So many times the daemon is killed; no kill test without it.
    pub(crate) cycles: Option<u32>,
    /// So many times a disk or the power fails; no hardware tests without it.
    pub(crate) cuts: Option<u32>,
    /// Games at a time, in the kill test.
    pub(crate) games: u32,
    /// Decides when to kill and what to play.
    pub(crate) seed: u64,
    /// Where the arena of the kill test is kept.
    pub(crate) place: Place,
    /// So many times the database server is stopped at once while the daemon lives, in each round.
    pub(crate) restarts: u32,
    /// Nothing was asked for: a little of everything.
    pub(crate) is_short: bool,
}

/// Where an arena is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    File,
    /// A database server, which is killed too.
    Server,
}

/// Kills of one daemon on one data directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// So many times it is killed.
    pub(crate) cycles: u32,
    /// Games at a time.
    pub(crate) games: u32,
    /// So many times, after that, the database server alone dies.
    pub(crate) restarts: u32,
    /// Decides when to kill and what to play.
    pub(crate) seed: u64,
}

impl Round {
    /// So many times the daemon is killed while it learns: half of the others, which are about more.
    pub(crate) fn learner_cycles(&self) -> u32 {
        self.cycles.div_ceil(2)
    }
}

impl Place {
    fn named(word: &str) -> Self {
        match word {
            "sqlite" => Self::File,
            "postgres" => Self::Server,
            other => panic!("--store is sqlite or postgres, not {other}"),
        }
    }
}

impl Arguments {
    /// Reads the command line; `None` if a test runner asks for other tests only, or for a list.
    ///
    /// Who asks for one of the tests gets that one, everybody else both in their short forms.
    ///
    /// # Panics
    ///
    /// Panics if a value is missing, or is none of those that are known; or if a database server is to be restarted
    /// that nobody asked for.
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mut arguments = Self {
            cycles: None,
            cuts: None,
            games: 20,
            seed: 1,
            place: Place::File,
            restarts: 0,
            is_short: false,
        };
        while let Some(word) = words.next() {
            if word == "--store" {
                arguments.place = Place::named(&words.next().unwrap_or_default());
                continue;
            }
            let mut number = || -> u64 {
                let value = words.next().unwrap_or_else(|| panic!("{word} needs a number"));
                value.parse().unwrap_or_else(|_| panic!("{word} needs a number, not {value}"))
            };
            let small = |number: u64| u32::try_from(number).expect("a number below four billion");
            match word.as_str() {
                "--cycles" => arguments.cycles = Some(small(number())),
                "--cuts" => arguments.cuts = Some(small(number())),
                "--games" => arguments.games = small(number()).max(1),
                "--restart-database" => arguments.restarts = small(number()),
                "--seed" => arguments.seed = number(),
                "--list" => return None,
                flag if flag.starts_with('-') => {} // of a test runner: --nocapture, --quiet
                filter if "crash".contains(filter) => {}
                _ => return None,
            }
        }
        let has_server = arguments.place == Place::Server;
        assert!(has_server || arguments.restarts == 0, "--restart-database needs --store postgres");
        if arguments.cycles.is_none() && arguments.cuts.is_none() {
            (arguments.cycles, arguments.cuts, arguments.is_short) = (Some(3), Some(200), true);
            arguments.restarts = 1;
        }
        Some(arguments)
    }

    /// The kills, shared out over as many data directories as need be.
    pub(crate) fn rounds(&self) -> impl Iterator<Item = Round> {
        let rounds = self.cycles.map_or(0, |cycles| cycles.div_ceil(ROUND_CYCLES_MAX).max(1));
        (0..rounds).map(move |index| Round {
            cycles: (self.cycles.unwrap_or(0) - index * ROUND_CYCLES_MAX).min(ROUND_CYCLES_MAX),
            games: self.games,
            restarts: self.restarts,
            seed: self.seed.wrapping_add(index.into()),
        })
    }
}
