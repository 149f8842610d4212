//! Choosing finished games: a filter as arguments of a statement, and what comes of its rows.

use fourfold_engine::Side;

use super::games::{Loaded, number_of, sound};
use crate::model::ids::PlayerId;
use crate::storage::filter::{Meeting, OpeningWanted, RecordFilter};
use crate::storage::games::{ChosenGames, GamesWanted};
use crate::storage::words::Word;

/// A filter for a statement. What is none takes any.
#[derive(Debug)]
pub(crate) struct ChosenArguments<'a> {
    pub(crate) opponent: Option<&'a str>,
    /// How many of the two players are bots.
    pub(crate) bots: Option<i64>,
    pub(crate) variant: Option<String>,
    pub(crate) rated: Option<bool>,
    /// They ended before that.
    pub(crate) until: i64,
    pub(crate) result: Option<&'static str>,
    /// Whose outcome is wanted: the results that it is if they are first, and if they are second.
    pub(crate) player: Option<&'a str>,
    pub(crate) if_first: Option<&'static str>,
    pub(crate) if_second: Option<&'static str>,
    pub(crate) plies_min: i64,
    pub(crate) plies_max: i64,
    /// Every game begins with no moves.
    pub(crate) opening: &'a str,
}

impl<'a> ChosenArguments<'a> {
    pub(crate) fn of(filter: &'a RecordFilter) -> Self {
        let bots = |meeting: Meeting| match meeting {
            Meeting::People => 0,
            Meeting::Mixed => 1,
            Meeting::Bots => 2,
        };
        let outcome = filter.outcome.as_ref();
        let result = |side: Side| outcome.map(|wanted| wanted.result(side).word());
        Self {
            opponent: filter.opponent.as_ref().map(PlayerId::as_str),
            bots: filter.meeting.map(bots),
            variant: filter.variant.map(|variant| variant.to_string()),
            rated: filter.rated,
            until: filter.until.map_or(i64::MAX, |until| until.0),
            result: filter.result.map(Word::word),
            player: outcome.map(|wanted| wanted.player.as_str()),
            if_first: result(Side::First),
            if_second: result(Side::Second),
            plies_min: filter.plies_min.unwrap_or(0).into(),
            plies_max: filter.plies_max.unwrap_or(u32::MAX).into(),
            opening: filter.opening.as_ref().map_or("", OpeningWanted::as_str),
        }
    }
}

/// Which games were looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    pub(crate) lowest: u64,
    pub(crate) looked_at: u64,
}

impl Reach {
    /// What comes of the games that the filter took, at most one more than wanted, the damaged ones left out.
    pub(crate) fn chosen(self, wanted: &GamesWanted, mut loaded: Vec<Loaded>) -> ChosenGames {
        let numbers: Vec<Option<u64>> = loaded.iter().map(number_of).collect();
        loaded.truncate(wanted.limit as usize);
        ChosenGames {
            games: sound(loaded),
            goes_on_before: wanted.goes_on_before(&numbers, self.looked_at, self.lowest),
        }
    }
}
