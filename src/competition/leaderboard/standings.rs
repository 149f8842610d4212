//! The ratings of a field of players, with how sure each is and each difference.

use std::collections::HashMap;

use fourfold_arena::stats::fit::{Fit, FitMeeting, Warning, warnings};
use fourfold_arena::stats::ledger::RatingFit;

use crate::model::ids::PlayerId;
use crate::model::rating::elo::{MilliElo, ShownRating};
use crate::storage::record::RatingRow;

/// One player of a field.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FittedPlayer {
    pub(crate) player: PlayerId,
    /// The rating, in Elo points.
    pub(crate) elo: f64,
    /// Its standard error, in Elo points.
    pub(crate) error: f64,
    /// Half the width of the interval that holds 95 %, in Elo points.
    pub(crate) pm95: f64,
    /// Games of this fit that count: repeated ones once, halves of pairs not at all.
    pub(crate) games: u64,
    pub(crate) pairs: u64,
    /// How many opponents they were against.
    pub(crate) opponents: usize,
    /// The live rating, and all rated games on this board.
    pub(crate) live: RatingRow,
}

impl FittedPlayer {
    /// The rating as it is stored.
    pub(crate) fn elo_milli(&self) -> MilliElo {
        MilliElo(milli(self.elo))
    }

    /// The standard error in thousandths of a point.
    pub(crate) fn error_milli(&self) -> u64 {
        milli(self.error).unsigned_abs()
    }

    /// The rating in whole points.
    pub(crate) fn whole_elo(&self) -> i32 {
        self.elo_milli().to_elo()
    }

    /// The rating as others see it.
    pub(crate) fn shown(&self) -> ShownRating {
        ShownRating::fitted(self.whole_elo(), self.whole_pm95(), self.live.standing.games)
    }

    /// Half the width of the interval in whole points; never nothing.
    pub(crate) fn whole_pm95(&self) -> u32 {
        whole_points(self.pm95)
    }
}

/// Never nothing, for nothing is known for certain.
fn whole_points(width: f64) -> u32 {
    u32::try_from(MilliElo(milli(width)).to_elo()).unwrap_or_default().max(1)
}

/// Games, pairs and opponents of each place.
fn counts(places: usize, meetings: &[FitMeeting]) -> Vec<(u64, u64, usize)> {
    let mut counts = vec![(0, 0, 0); places];
    for meeting in meetings.iter().filter(|meeting| meeting.games() > 0) {
        for place in [meeting.a, meeting.b] {
            let (games, pairs, opponents) = &mut counts[place];
            *games += meeting.games();
            *pairs += meeting.pairs();
            *opponents += 1;
        }
    }
    counts
}

/// The ratings behind those of `members`.
fn past_ratings(
    members: usize,
    past: Vec<Entrant>,
    fit: &Fit,
    counts: &[(u64, u64, usize)],
) -> Vec<PastRating> {
    let rating = |(place, Entrant { player, era }): (usize, Entrant)| PastRating {
        player,
        era,
        elo: MilliElo(milli(fit.elo[place])).to_elo(),
        pm95: whole_points(fit.pm95(place)),
        games: counts[place].0,
    };
    (members..).zip(past).map(rating).collect()
}

/// What is said of the first players, which are those that are shown.
fn about(shown: usize, warnings: Vec<Warning>) -> Vec<Warning> {
    let kept = |mut places: Vec<usize>| {
        places.retain(|place| *place < shown);
        Some(places).filter(|places| !places.is_empty())
    };
    let warning = |warning| match warning {
        Warning::Disconnected(groups) => {
            let groups: Vec<Vec<usize>> = groups.into_iter().filter_map(kept).collect();
            (groups.len() > 1).then_some(Warning::Disconnected(groups))
        }
        Warning::OnlyWins(players) => kept(players).map(Warning::OnlyWins),
        Warning::OnlyLosses(players) => kept(players).map(Warning::OnlyLosses),
    };
    warnings.into_iter().filter_map(warning).collect()
}

/// The nearest thousandth. Ratings are a few thousand points at most.
#[expect(clippy::cast_possible_truncation, reason = "far inside the range, and a cast saturates")]
fn milli(points: f64) -> i64 {
    (points * 1_000.0).round() as i64
}

/// A player as far as the fit tells it apart: whose rating has begun anew is another one from then on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Entrant {
    pub(super) player: PlayerId,
    /// How often its rating has begun anew.
    pub(super) era: u32,
}

/// What a player was worth before its rating began anew.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PastRating {
    pub(crate) player: PlayerId,
    /// How often its rating had begun anew before.
    pub(crate) era: u32,
    /// On the scale of the field, in whole points.
    pub(crate) elo: i32,
    /// Half the width of the interval that holds 95 %, in whole points.
    pub(crate) pm95: u32,
    pub(crate) games: u64,
}

/// A player of a field, before it is rated.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) id: PlayerId,
    pub(super) live: RatingRow,
}

/// Where the scale of a field is fixed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scale {
    /// The bot of the house that plays at random has 0.
    Random,
    /// It has not played: the mean is 0.
    Mean,
}

/// The ratings of all players of a field.
#[derive(Clone, Debug)]
pub(crate) struct Standings {
    /// By the order of the fit.
    rows: Vec<FittedPlayer>,
    places: HashMap<PlayerId, usize>,
    /// Places, the strongest first.
    ranking: Vec<usize>,
    fit: Fit,
    /// What fixes the scale.
    pub(crate) scale: Scale,
    /// The bot of the house that never errs, if it has played: nobody plays better moves.
    pub(crate) ceiling: Option<PlayerId>,
    /// Elo points that the first move is worth.
    pub(crate) first_move_advantage: f64,
    pub(crate) games: u64,
    pub(crate) pairs: u64,
    /// Why not to trust the ratings; players by their places in [`Self::rows`].
    pub(crate) warnings: Vec<Warning>,
    /// Of eras that are over, in the order of players and eras. Their games are fitted with the others.
    past: Vec<PastRating>,
}

impl Standings {
    /// The fit has `members` first, then `past`.
    pub(super) fn new(
        members: Vec<Member>,
        past: Vec<Entrant>,
        fitted: RatingFit,
        scale: Scale,
        ceiling: Option<PlayerId>,
    ) -> Self {
        let RatingFit { players: _, fit, meetings } = fitted;
        let counts = counts(members.len() + past.len(), &meetings);
        let row = |(place, member): (usize, Member)| {
            let (games, pairs, opponents) = counts[place];
            FittedPlayer {
                player: member.id,
                elo: fit.elo[place],
                error: fit.error(place),
                pm95: fit.pm95(place),
                games,
                pairs,
                opponents,
                live: member.live,
            }
        };
        let rows: Vec<FittedPlayer> = members.into_iter().enumerate().map(row).collect();
        let past = past_ratings(rows.len(), past, &fit, &counts);
        let mut ranking: Vec<usize> = (0..rows.len()).collect();
        ranking.sort_by(|&one, &other| rows[other].elo.total_cmp(&rows[one].elo));
        Self {
            places: rows.iter().enumerate().map(|(place, row)| (row.player.clone(), place)).collect(),
            ranking,
            scale,
            ceiling,
            first_move_advantage: fit.first_move_advantage,
            games: meetings.iter().map(FitMeeting::games).sum(),
            pairs: meetings.iter().map(FitMeeting::pairs).sum(),
            warnings: about(rows.len(), warnings(rows.len() + past.len(), &meetings)),
            rows,
            past,
            fit,
        }
    }

    /// What a player was worth before its rating began anew: the oldest era first, those without a fit left out.
    pub(crate) fn past(&self, player: &PlayerId) -> impl Iterator<Item = &PastRating> {
        self.past.iter().filter(move |past| past.player == *player)
    }

    /// All players, in the order of their ids.
    pub(crate) fn rows(&self) -> &[FittedPlayer] {
        &self.rows
    }

    /// All players, the strongest first; equals in the order of their ids.
    pub(crate) fn ranking(&self) -> impl ExactSizeIterator<Item = &FittedPlayer> {
        self.ranking.iter().map(|&place| &self.rows[place])
    }

    /// A player's rating, if it is in the field.
    pub(crate) fn get(&self, player: &PlayerId) -> Option<&FittedPlayer> {
        self.places.get(player).map(|&place| &self.rows[place])
    }

    fn both(&self, a: &PlayerId, b: &PlayerId) -> Option<(usize, usize)> {
        Some((*self.places.get(a)?, *self.places.get(b)?))
    }

    /// Covariance of two ratings, in squared points; `None` unless both are in the field.
    #[cfg(test)]
    pub(crate) fn covariance(&self, a: &PlayerId, b: &PlayerId) -> Option<f64> {
        let (a, b) = self.both(a, b)?;
        Some(self.fit.covariance(a, b))
    }

    /// Standard error of the difference of two ratings, in points; `None` unless both are in the field.
    pub(crate) fn error_between(&self, a: &PlayerId, b: &PlayerId) -> Option<f64> {
        let (a, b) = self.both(a, b)?;
        Some(self.fit.error_between(a, b))
    }

    /// How probable it is that `a` is stronger than `b`; `None` unless both are in the field.
    pub(crate) fn los(&self, a: &PlayerId, b: &PlayerId) -> Option<f64> {
        let (a, b) = self.both(a, b)?;
        Some(self.fit.los(a, b))
    }
}
