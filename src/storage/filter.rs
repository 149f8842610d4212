//! Which finished games somebody wants. Pure.

use std::fmt;
use std::str::FromStr;

use fourfold_engine::{BySide, Side, Variant, notation};
use thiserror::Error;

use super::record::StoredGame;
use super::words::Word;
use crate::model::bounded::Bounded;
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::model::result::{GameOutcome, GameResult};
use crate::model::time::UnixMillis;

/// Stones that a game can have: boards have no more cells than this has bits.
const PLIES_MAX: u32 = 64;

/// How many moves games have at least, or at most, those of their opening among them.
pub(crate) type PliesWanted = Bounded<0, PLIES_MAX>;

/// Games by who meets whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meeting {
    /// People alone, guests among them.
    People,
    /// Bots alone.
    Bots,
    /// A person and a bot.
    Mixed,
}

super::words::words!(Meeting { People: "people", Bots: "bots", Mixed: "mixed" });

impl Meeting {
    fn of(kinds: BySide<PlayerKind>) -> Self {
        let is_bot = |kind: PlayerKind| kind == PlayerKind::Bot;
        match (is_bot(kinds.first), is_bot(kinds.second)) {
            (false, false) => Self::People,
            (true, true) => Self::Bots,
            (true, false) | (false, true) => Self::Mixed,
        }
    }
}

/// What names no choice.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadFilter {
    #[error("`{0}` is not one of people, bots and mixed")]
    Meeting(String),
    #[error("`{0}` is not one of first, second, draw and void")]
    Result(String),
    #[error("`{0}` is no beginning of a game: moves are columns, one base-36 digit each, such as 4453")]
    Opening(String),
    #[error("`{0}` is no time of RFC 3339 such as 2026-01-31T12:00:00Z, and no day such as 2026-01-31")]
    Time(String),
}

impl FromStr for Meeting {
    type Err = BadFilter;

    fn from_str(text: &str) -> Result<Self, BadFilter> {
        Self::from_word(text).ok_or_else(|| BadFilter::Meeting(text.to_owned()))
    }
}

/// How games ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ResultWanted(pub(crate) GameResult);

impl FromStr for ResultWanted {
    type Err = BadFilter;

    fn from_str(text: &str) -> Result<Self, BadFilter> {
        GameResult::from_word(text).map(Self).ok_or_else(|| BadFilter::Result(text.to_owned()))
    }
}

/// The moves with which games begin, those of their opening among them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpeningWanted(String);

impl FromStr for OpeningWanted {
    type Err = BadFilter;

    fn from_str(text: &str) -> Result<Self, BadFilter> {
        let moves = notation::parse_moves(text).map_err(|_| BadFilter::Opening(text.to_owned()))?;
        Ok(Self(notation::print_moves(&moves)))
    }
}

impl OpeningWanted {
    /// The moves in notation.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A moment, or the beginning of a day in UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TimeWanted(pub(crate) UnixMillis);

impl FromStr for TimeWanted {
    type Err = BadFilter;

    fn from_str(text: &str) -> Result<Self, BadFilter> {
        let moment = text.parse::<jiff::Timestamp>().or_else(|_| {
            // A date alone: the parser would pass over a time behind it.
            let day = jiff::civil::Date::strptime("%Y-%m-%d", text)?;
            day.to_zoned(jiff::tz::TimeZone::UTC).map(|begins| begins.timestamp())
        });
        let moment = moment.map_err(|_| BadFilter::Time(text.to_owned()))?;
        Ok(Self(UnixMillis(moment.as_millisecond())))
    }
}

impl fmt::Display for Meeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for ResultWanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.word())
    }
}

impl fmt::Display for OpeningWanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for TimeWanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What games came to for one of their players.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutcomeOf {
    pub(crate) player: PlayerId,
    pub(crate) outcome: GameOutcome,
}

impl OutcomeOf {
    /// The result that it is for a player on this side.
    pub(super) fn result(&self, side: Side) -> GameResult {
        match (self.outcome, side) {
            (GameOutcome::Won, Side::First) | (GameOutcome::Lost, Side::Second) => GameResult::First,
            (GameOutcome::Won, Side::Second) | (GameOutcome::Lost, Side::First) => GameResult::Second,
            (GameOutcome::Drawn, Side::First | Side::Second) => GameResult::Draw,
            (GameOutcome::Void, Side::First | Side::Second) => GameResult::Void,
        }
    }

    fn takes(&self, players: &BySide<PlayerId>, result: GameResult) -> bool {
        Side::BOTH.into_iter().any(|side| players[side] == self.player && self.result(side) == result)
    }
}

/// Which of the games that are read are wanted. What is left out is any.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordFilter {
    /// Who plays in it too.
    pub(crate) opponent: Option<PlayerId>,
    pub(crate) meeting: Option<Meeting>,
    pub(crate) variant: Option<Variant>,
    /// Whether it counted for ratings.
    pub(crate) rated: Option<bool>,
    /// It ended before that.
    pub(crate) until: Option<UnixMillis>,
    pub(crate) result: Option<GameResult>,
    pub(crate) outcome: Option<OutcomeOf>,
    /// Moves at least, those of the opening among them.
    pub(crate) plies_min: Option<u32>,
    /// Moves at most, the same ones counted.
    pub(crate) plies_max: Option<u32>,
    pub(crate) opening: Option<OpeningWanted>,
}

impl RecordFilter {
    /// Whether every game is wanted.
    pub(crate) fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// As far as the game itself says.
    pub(super) fn takes(&self, game: &StoredGame) -> bool {
        let BySide { first, second } = &game.spec.players;
        let result = game.ending().map(|ending| ending.result);
        let moves = game.moves();
        let plies = u32::try_from(moves.len()).unwrap_or(u32::MAX);
        self.opponent.as_ref().is_none_or(|id| first == id || second == id)
            && self.variant.is_none_or(|variant| variant == game.spec.variant)
            && self.rated.is_none_or(|rated| rated == game.is_rated())
            && self.until.is_none_or(|until| game.last_change() < until)
            && self.result.is_none_or(|wanted| result == Some(wanted))
            && self
                .outcome
                .as_ref()
                .is_none_or(|wanted| result.is_some_and(|result| wanted.takes(&game.spec.players, result)))
            && self.plies_min.is_none_or(|least| plies >= least)
            && self.plies_max.is_none_or(|most| plies <= most)
            && self.opening.as_ref().is_none_or(|OpeningWanted(wanted)| moves.starts_with(wanted))
    }

    /// As far as its players say.
    pub(super) fn takes_players(&self, kinds: BySide<PlayerKind>) -> bool {
        self.meeting.is_none_or(|meeting| meeting == Meeting::of(kinds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_choice_says_what_is() {
        assert_eq!("mixed".parse(), Ok(Meeting::Mixed));
        assert_eq!("human".parse::<Meeting>(), Err(BadFilter::Meeting("human".into())));
        assert_eq!("draw".parse(), Ok(ResultWanted(GameResult::Draw)));
        assert!(
            "won".parse::<ResultWanted>().unwrap_err().to_string().contains("first, second, draw and void")
        );
        assert_eq!("44a".parse(), Ok(OpeningWanted("44a".into())));
        for wrong in ["4d", "d3", "4 4", "0"] {
            assert!(wrong.parse::<OpeningWanted>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_day_begins_in_utc_and_what_is_no_time_is_said() {
        let at = |text: &str| text.parse::<TimeWanted>().map(|TimeWanted(at)| at.to_string());
        assert_eq!(at("2026-01-31").unwrap(), "2026-01-31T00:00:00.000Z");
        assert_eq!(at("2026-01-31T12:00:00+02:00").unwrap(), "2026-01-31T10:00:00.000Z");
        for wrong in ["2026-02-30", "yesterday", "2026-01-31T12:00", "99999-01-01", "-1"] {
            assert!(at(wrong).unwrap_err().to_string().contains("2026-01-31"), "{wrong}");
        }
    }
}
