//! Duels under way: how they stand, and whether they are decided.

use std::collections::{BTreeMap, HashSet};

use fourfold_arena::stats::pairs::{PairCounts, Repeats};
use fourfold_arena::stats::sprt::{Hypothesis, Sprt};
use fourfold_engine::{BySide, Side, SideResult, Variant, WinDrawLoss};
use tracing::warn;

use super::next_game::NextGame;
use super::{GameOffer, Host, Origin};
use crate::model::clock::TimeControl;
use crate::model::duel::{DuelRule, DuelTest};
use crate::model::ids::PlayerId;
use crate::model::opening::OpeningKind;
use crate::model::pace::BotPace;
use crate::model::player::Identity;
use crate::model::result::GameResult;
use crate::play::series;
use crate::storage::record::{GamePair, OpeningSource, StoredGame};

/// Until so many pairs are played, each is looked at: a clear duel ends early.
const LOOK_AT_EACH: u32 = 40;

/// Later every so many pairs, for all games of the duel are read each time.
const LOOK_EVERY: u32 = 5;

/// How a duel stands for the side that asked for it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct DuelStanding {
    /// Games with a result.
    pub(crate) score: WinDrawLoss,
    /// Whole pairs by what they brought.
    pub(crate) pairs: PairCounts,
}

impl DuelStanding {
    /// Of all games of a series, in any order. A pair with a game that came to nothing does not count.
    pub(crate) fn of(games: &[StoredGame], challenger: &PlayerId) -> Self {
        let mut standing = Self::default();
        let mut pairs: BTreeMap<u32, Vec<(u8, String)>> = BTreeMap::new();
        for game in games {
            let side = if game.spec.players.first == *challenger { Side::First } else { Side::Second };
            let Some(pair) = &game.spec.pair else { continue };
            let Some(ending) = game.ending().filter(|ending| ending.result != GameResult::Void) else {
                continue;
            };
            let result = SideResult::of(side, ending.result.winner());
            standing.score.count(result);
            let half_points = match result {
                SideResult::Win => 2,
                SideResult::Draw => 1,
                SideResult::Loss => 0,
            };
            pairs.entry(pair.leg.div_ceil(2)).or_default().push((half_points, game.moves()));
        }
        let mut known = HashSet::new();
        for games in pairs.into_values().filter(|games| games.len() == 2) {
            let half_points: u8 = games.iter().map(|(half_points, _)| half_points).sum();
            let moves: Vec<String> = games.into_iter().map(|(_, moves)| moves).collect();
            let repeats = if known.insert(moves) { Repeats::Nothing } else { Repeats::AnEarlierPair };
            standing.pairs.add(half_points, repeats);
        }
        standing
    }

    /// What the test has decided, if anything yet.
    pub(crate) fn verdict(&self, test: DuelTest) -> Option<Hypothesis> {
        sprt(test).verdict(&self.pairs)
    }
}

/// The test with the usual error of 5 %.
pub(crate) fn sprt(DuelTest { elo0, elo1 }: DuelTest) -> Sprt {
    Sprt::logistic(elo0.into(), elo1.into())
}

/// The first game of a duel: casual, from a balanced opening. The others follow as those of any series.
pub(crate) fn first_game(players: BySide<Identity>, time: TimeControl, pair: GamePair) -> GameOffer {
    GameOffer {
        players,
        variant: Variant::STANDARD,
        time,
        rated: false,
        opening: OpeningSource { kind: OpeningKind::Balanced, moves: String::new() },
        pair: Some(pair),
        origin: Origin::Players,
        pace: BotPace::default(),
    }
}

impl Host {
    /// Whether a duel, or a series of which the better wins, is decided before its next game. What cannot be read is
    /// not.
    pub(super) async fn is_decided(&self, next: &NextGame) -> bool {
        let Some(pair) = &next.pair else { return false };
        if pair.is_best_of() {
            return self.is_series_over(pair).await;
        }
        let Some(DuelRule { test: Some(test) }) = DuelRule::of(&pair.id) else { return false };
        let played = pair.leg / 2;
        let is_due = pair.leg % 2 == 1 && (played <= LOOK_AT_EACH || played.is_multiple_of(LOOK_EVERY));
        if !is_due {
            return false;
        }
        match self.inner.deps.store.games_of_series(&pair.id).await {
            // An odd leg has the sides of the first one.
            Ok(games) => DuelStanding::of(&games, &next.players.first).verdict(test).is_some(),
            Err(error) => {
                warn!(duel = %pair.id, error = %error, "how a duel stands cannot be read");
                false
            }
        }
    }

    async fn is_series_over(&self, pair: &GamePair) -> bool {
        match self.inner.deps.store.games_of_series(&pair.id).await {
            Ok(games) => series::is_over(pair, &games),
            Err(error) => {
                warn!(series = %pair.id, error = %error, "how a series stands cannot be read");
                false
            }
        }
    }
}
