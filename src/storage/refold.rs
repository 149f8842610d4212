//! All live ratings of one variant computed again, after a game was taken out.

use std::collections::HashMap;

use fourfold_engine::{BySide, Side};

use super::record::{RatingRow, UnratedReason};
use super::resets::{Resets, ResetsAhead};
use super::settle::{OpponentStanding, Precedents, RatingVerdict, Referee};
use super::starts::Starts;
use crate::model::ids::PlayerId;
use crate::model::rating::eligibility::{GameFingerprint, REMEMBERED_GAMES};
use crate::model::rating::newcomers::Gains;
use crate::model::time::UnixMillis;

/// The ratings of one variant, game by game from the first one on.
#[derive(Debug, Default)]
pub(crate) struct Refold {
    pub(super) rows: HashMap<PlayerId, RatingRow>,
    /// Whose ratings begin anew, and behind which games.
    resets: ResetsAhead,
    /// With what those begin who have no row yet.
    pub(super) starts: Starts,
    /// The last rated games of two players, the newest first; by their ids, the lower one first.
    pub(super) remembered: HashMap<(PlayerId, PlayerId), Vec<GameFingerprint>>,
    /// What each player has gained from newcomers.
    pub(super) gains: HashMap<PlayerId, Gains>,
}

/// Whether an operator has taken a game out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Voided {
    Yes,
    No,
}

impl Refold {
    /// Before the first game.
    pub(crate) fn new(starts: Starts, resets: &Resets) -> Self {
        Self { starts, resets: resets.ahead(), ..Self::default() }
    }

    /// How all ratings stand now. Whoever's has begun anew and who has not played since has none.
    pub(crate) fn standing(&self) -> impl Iterator<Item = (PlayerId, RatingRow)> {
        let rows = self.rows.iter().filter(|(player, _)| !self.resets.has(player));
        rows.map(|(player, row)| (player.clone(), *row))
    }

    /// Settles the next game, with its number among all finished ones. One that was taken out is as if it had never
    /// been rated: it moves nothing, and no later game repeats it.
    pub(crate) fn settle(
        &mut self,
        number: u64,
        referee: &Referee<'_>,
        ended_at: UnixMillis,
        voided: Voided,
    ) -> RatingVerdict {
        for player in self.resets.before(number) {
            self.rows.remove(&player);
        }
        if voided == Voided::Yes {
            return RatingVerdict::Unrated(Some(UnratedReason::Voided));
        }
        let BySide { first, second } = &referee.spec.players;
        let pair = if first <= second { (first, second) } else { (second, first) };
        let remembered = self.remembered.entry((pair.0.clone(), pair.1.clone())).or_default();
        let row = |side: Side| {
            let player = &referee.spec.players[side];
            self.rows.get(player).copied().unwrap_or_else(|| self.starts.row(player, referee.spec.variant))
        };
        let gained = |side: Side| {
            self.gains.get(&referee.spec.players[side]).map_or(0, |gains| gains.before(ended_at))
        };
        let (rows, gained) = (BySide::from_fn(row), BySide::from_fn(gained));
        let verdict = referee.judge(Precedents { rows, remembered, gained });
        if let RatingVerdict::Rated(changes) = verdict {
            remembered.insert(0, referee.course());
            remembered.truncate(REMEMBERED_GAMES as usize);
            for side in Side::BOTH {
                let (player, change) = (&referee.spec.players[side], &changes[side]);
                self.rows.insert(player.clone(), change.row);
                if change.opponent == OpponentStanding::New {
                    self.gains.entry(player.clone()).or_default().note(ended_at, change.entry.delta);
                }
            }
        }
        verdict
    }
}
