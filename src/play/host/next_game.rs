//! Which game follows a game between the same players: the next of a series, or a rematch.

use fourfold_engine::{BySide, Variant};

use super::{GameOffer, Origin};
use crate::model::clock::TimeControl;
use crate::model::ids::PlayerId;
use crate::model::opening::OpeningKind;
use crate::model::pace::BotPace;
use crate::model::player::Identity;
use crate::storage::record::{GamePair, GameSpec, OpeningSource, UnratedReason};

/// A game that follows another one between the same players.
#[derive(Clone, Debug)]
pub(super) struct NextGame {
    pub(super) players: BySide<PlayerId>,
    pub(super) pair: Option<GamePair>,
    variant: Variant,
    time: TimeControl,
    rated: bool,
    opening: OpeningSource,
    origin: Origin,
    pace: BotPace,
}

impl NextGame {
    /// The next game of a series, if there is one. Legs 2k-1 and 2k share an opening. The games of tournaments are
    /// begun by those alone, so that none is begun twice.
    pub(super) fn leg_after(spec: &GameSpec) -> Option<Self> {
        let pair =
            spec.pair.as_ref().filter(|pair| pair.leg < pair.of && pair.id.of_tournament().is_none())?;
        let leg = pair.leg + 1;
        let opening = if leg % 2 == 1 { drawn_anew(&spec.opening) } else { spec.opening.clone() };
        Some(Self { opening, pair: Some(GamePair { leg, ..pair.clone() }), ..Self::swapped(spec) })
    }

    pub(super) fn rematch(spec: &GameSpec, pace: BotPace) -> Self {
        let opening = drawn_anew(&spec.opening);
        let origin = match spec.unrated_because {
            Some(UnratedReason::Load) => Origin::Load,
            Some(UnratedReason::Private) => Origin::Private,
            _ => Origin::Players,
        };
        Self { opening, pair: None, origin, pace, ..Self::swapped(spec) }
    }

    fn swapped(spec: &GameSpec) -> Self {
        Self {
            players: BySide { first: spec.players.second.clone(), second: spec.players.first.clone() },
            variant: spec.variant,
            time: spec.time,
            rated: spec.rated || spec.unrated_because.is_some(),
            opening: spec.opening.clone(),
            pair: spec.pair.clone(),
            origin: Origin::Series { unrated_because: spec.unrated_because },
            pace: BotPace::default(),
        }
    }

    /// Whether it is one of a series that ends when it is decided.
    pub(super) fn is_best_of(&self) -> bool {
        self.pair.as_ref().is_some_and(GamePair::is_best_of)
    }

    /// What the host is asked to start, once its players are read.
    pub(super) fn offer(self, players: BySide<Identity>) -> GameOffer {
        let Self { players: _, pair, variant, time, rated, opening, origin, pace } = self;
        GameOffer { players, variant, time, rated, opening, pair, origin, pace }
    }
}

/// An opening of the book is drawn again, one that was given stays.
fn drawn_anew(opening: &OpeningSource) -> OpeningSource {
    match opening.kind {
        OpeningKind::Balanced => OpeningSource { kind: OpeningKind::Balanced, moves: String::new() },
        OpeningKind::None | OpeningKind::Given => opening.clone(),
    }
}
