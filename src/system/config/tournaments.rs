//! `[[tournaments]]`: what the daemon holds by itself, and when.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use fourfold_arena::format::Format;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::value::serde_as_text;
use crate::model::bounded::Bounded;
use crate::model::clock::{self, TimeControl};
use crate::model::cron::{Cron, InvalidCron};
use crate::model::ids::PlayerName;
use crate::model::text::{Lines, check_text};
use crate::model::tournament::TournamentFormat;

/// Longest name of a tournament, in characters: what fits a table and a heading.
const NAME_MAX: usize = 60;

/// Whether a tournament may be called so.
///
/// # Errors
///
/// What is wrong with it, in words.
pub(crate) fn check_tournament_name(name: &str) -> Result<(), String> {
    if name.trim().is_empty() {
        return Err(format!("a name has 1 to {NAME_MAX} printable characters, `{name}` has not"));
    }
    check_text(name, NAME_MAX, Lines::One).map_err(|bad| format!("the name `{name}` {bad}"))
}

/// All tournaments of the configuration.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TournamentConfigs(pub Vec<TournamentConfig>);

/// A tournament that is held again and again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own in the file")]
pub struct TournamentConfig {
    /// What it is called; no two share a name.
    pub(crate) name: String,
    pub(crate) at: TournamentStart,
    pub(crate) format: FormatName,
    /// Bots by name, the strongest first where the format cares.
    #[serde(default)]
    pub(crate) entrants: Vec<PlayerName>,
    /// Whether all remote bots that are open when it begins take part too.
    #[serde(default)]
    pub(crate) open_bots: bool,
    /// Whether people with an account may enter it by its page until it begins.
    #[serde(default)]
    pub(crate) open_people: bool,
    /// Games of a meeting; on the ladder of the whole tournament.
    #[serde(default)]
    pub(crate) games: Option<Bounded<2, 1_000_000>>,
    /// Rounds of a Swiss tournament.
    #[serde(default)]
    pub(crate) rounds: Option<Bounded<1, 1_000>>,
    /// How long an arena goes on.
    #[serde(default = "arena_minutes")]
    pub(crate) minutes: Bounded<1, 360>,
    /// How many of the first entrants play the gauntlet.
    #[serde(default = "one")]
    pub(crate) seeds: Bounded<1, 1_000>,
    /// Each side's time for the whole game, in milliseconds.
    #[serde(default = "bank")]
    pub(crate) bank_ms: Bounded<1_000, 3_600_000>,
    /// Added to it after each move, in milliseconds.
    #[serde(default = "increment")]
    pub(crate) increment_ms: Bounded<0, 60_000>,
    /// Whether its games count.
    #[serde(default = "yes")]
    pub(crate) rated: bool,
    /// Games at the same time.
    #[serde(default = "two")]
    pub(crate) concurrency: Bounded<1, 1_000>,
    /// Whether bots of the house take their time, so that people can follow.
    #[serde(default = "yes")]
    pub(crate) watchable: bool,
    /// Of openings and pairings; drawn if left out.
    #[serde(default)]
    pub(crate) seed: Option<u32>,
}

fn one() -> Bounded<1, 1_000> {
    Bounded::new(1)
}

/// How long an arena goes on unless somebody says.
pub(crate) const ARENA_MINUTES: Bounded<1, 360> = Bounded::new(30);

fn arena_minutes() -> Bounded<1, 360> {
    ARENA_MINUTES
}

fn two() -> Bounded<1, 1_000> {
    Bounded::new(2)
}

fn bank() -> Bounded<1_000, 3_600_000> {
    Bounded::new(60_000)
}

fn increment() -> Bounded<0, 60_000> {
    Bounded::new(500)
}

fn yes() -> bool {
    true
}

/// When a tournament begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TournamentStart {
    /// Whenever the daemon starts, unless the last one still goes on.
    Daemon,
    /// By command only.
    Command,
    /// At these moments.
    Cron(Cron),
}

impl FromStr for TournamentStart {
    type Err = InvalidCron;

    fn from_str(text: &str) -> Result<Self, InvalidCron> {
        match text {
            "start" => Ok(Self::Daemon),
            "never" => Ok(Self::Command),
            cron => cron.parse().map(Self::Cron),
        }
    }
}

impl fmt::Display for TournamentStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Daemon => f.write_str("start"),
            Self::Command => f.write_str("never"),
            Self::Cron(cron) => cron.fmt(f),
        }
    }
}

serde_as_text!(TournamentStart);

/// Who meets whom, in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FormatName {
    /// Everybody against everybody.
    RoundRobin,
    /// The first entrants against all others.
    Gauntlet,
    /// Rounds against whoever has as many points.
    Swiss,
    /// Who loses a meeting is out.
    Knockout,
    /// Always the pairs that tell most about the order.
    Ladder,
    /// For some time, whoever is free is paired again at once.
    Arena,
}

/// Games of a meeting if none are named: one opening with both colours.
const GAMES: u32 = 2;

/// Games on the ladder for each entrant if their number is not given.
const LADDER_GAMES: u32 = 20;

impl TournamentConfig {
    /// The format for so many entrants.
    pub(crate) fn format(&self, entrants: usize) -> TournamentFormat {
        let format = match self.format {
            FormatName::Arena => return TournamentFormat::Arena { minutes: self.minutes.number() },
            FormatName::RoundRobin => Format::RoundRobin,
            FormatName::Gauntlet => Format::Gauntlet { seeds: self.seeds.number() },
            FormatName::Swiss => {
                // Halving the field until one is left.
                let enough = entrants.next_power_of_two().trailing_zeros();
                Format::Swiss { rounds: self.rounds.map_or(enough, Bounded::number) }
            }
            FormatName::Knockout => Format::Knockout,
            FormatName::Ladder => Format::Ladder,
        };
        format.into()
    }

    /// Pairs of games of each meeting, on the ladder of all, for so many entrants.
    pub(crate) fn pairs(&self, entrants: usize) -> u64 {
        let entrants = u32::try_from(entrants).unwrap_or(u32::MAX);
        let usual = match self.format {
            FormatName::Ladder => LADDER_GAMES.saturating_mul(entrants),
            FormatName::RoundRobin | FormatName::Gauntlet | FormatName::Swiss | FormatName::Knockout => GAMES,
            // Its games are none of a pair.
            FormatName::Arena => return 1,
        };
        u64::from(self.games.map_or(usual, Bounded::number) / 2)
    }

    /// How much time each side has.
    pub(crate) fn time(&self) -> TimeControl {
        TimeControl {
            bank_ms: Some(self.bank_ms.number()),
            increment_ms: self.increment_ms.number(),
            move_ms: None,
        }
    }

    fn check(&self) -> Result<(), String> {
        check_tournament_name(&self.name)?;
        let refused = |message: String| Err(format!("`{}`: {message}", self.name));
        let mut names = BTreeSet::new();
        if let Some(twice) = self.entrants.iter().find(|name| !names.insert(name.key())) {
            return refused(format!("`{twice}` is entered twice"));
        }
        let is_open = self.open_bots || self.open_people;
        if !is_open && self.entrants.len() < 2 {
            let needed = "a tournament takes two entrants or more, or open_bots or open_people = true";
            return refused(needed.to_owned());
        }
        if self.games.is_some_and(|games| games.number() % 2 == 1) {
            return refused("games are played in pairs: give an even number".to_owned());
        }
        if self.format == FormatName::Arena && (self.games.is_some() || self.rounds.is_some()) {
            return refused("an arena has a number of minutes, and neither games nor rounds".to_owned());
        }
        let seeds = self.seeds.count();
        if self.format == FormatName::Gauntlet && !is_open && seeds >= self.entrants.len() {
            return refused(format!("seeds = {seeds} leaves nobody to play the gauntlet against"));
        }
        if let Err(error) = clock::validate(self.time()) {
            return refused(format!("increment_ms and bank_ms: {error}"));
        }
        Ok(())
    }
}

impl TournamentConfigs {
    /// Checks what no single value can tell.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        for tournament in &self.0 {
            tournament.check()?;
            if !names.insert(tournament.name.as_str()) {
                return Err(format!("the name `{}` is given twice", tournament.name));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(keys: &str) -> Result<TournamentConfigs, String> {
        #[derive(Deserialize)]
        struct File {
            tournaments: TournamentConfigs,
        }
        let text = format!("[[tournaments]]\nname = \"T\"\nat = \"start\"\n{keys}");
        let file: File = toml::from_str(&text).map_err(|error| error.message().to_owned())?;
        file.tournaments.check().map(|()| file.tournaments)
    }

    /// What is said of a moment that cannot be.
    fn refusal_of(at: &str) -> String {
        at.parse::<TournamentStart>().unwrap_err().to_string()
    }

    #[test]
    fn what_is_left_out_follows_from_the_format() {
        let one = |keys: &str| read(keys).unwrap().0.remove(0);
        let swiss = one("format = \"swiss\"\nentrants = [\"aa\", \"bb\"]");
        assert_eq!((swiss.format(9), swiss.pairs(9)), (Format::Swiss { rounds: 4 }.into(), 1));
        let ladder = one("format = \"ladder\"\nopen_bots = true");
        assert_eq!((ladder.format(3), ladder.pairs(3)), (Format::Ladder.into(), 30));
        let long = one("format = \"knockout\"\nentrants = [\"aa\", \"bb\"]\ngames = 10");
        assert_eq!((long.format(2), long.pairs(2)), (Format::Knockout.into(), 5));
        let arena = one("format = \"arena\"\nopen_people = true");
        assert_eq!((arena.format(2), arena.pairs(2)), (TournamentFormat::Arena { minutes: 30 }, 1));
    }

    #[test]
    fn mistakes_are_named() {
        let two = "entrants = [\"aa\", \"bb\"]\nformat = ";
        for (keys, expected) in [
            (format!("{two}\"swiss\"\ngames = 3"), "even"),
            (format!("{two}\"gauntlet\"\nseeds = 2"), "nobody to play"),
            ("entrants = [\"aa\"]\nformat = \"swiss\"".to_owned(), "two entrants"),
            ("entrants = [\"aa\", \"AA\"]\nformat = \"swiss\"".to_owned(), "entered twice"),
            (format!("{two}\"arena\"\ngames = 4"), "number of minutes"),
            (format!("{two}\"arena\"\nminutes = 0"), "from 1 to 360"),
            (format!("{two}\"league\""), "unknown variant"),
            (format!("{two}\"swiss\"\nbank_ms = 1000\nincrement_ms = 2000"), "increment_ms"),
            (format!("{two}\"swiss\"\nround = 2"), "unknown field"),
        ] {
            let error = read(&keys).unwrap_err();
            assert!(error.contains(expected), "{keys}: {error}");
        }
        let twice = read(&format!(
            "{two}\"swiss\"\n[[tournaments]]\nname = \"T\"\nat = \"0 18 * * *\"\n{two}\"swiss\""
        ));
        assert_eq!(twice.unwrap_err(), "the name `T` is given twice");
        let never = refusal_of("61 * * * *");
        assert!(never.contains("minute"), "{never}");
    }
}
