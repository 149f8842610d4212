//! Rated games summed up, and fitted: pure.
//!
//! A game costs a constant amount of work when it comes; a fit depends on the number of players and of pairs of players
//! that have met, not on the number of games.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use fourfold_arena::stats::fit::{DRAW, LOSS, WIN};
use fourfold_arena::stats::ledger::{Booking, Ledger};
use fourfold_engine::{Side, SideResult, Variant};

use super::standings::{Entrant, Member, Scale, Standings};
use super::{FitSnapshot, Fits};
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::model::population::Population;
use crate::model::result::GameResult;
use crate::storage::StoredPlayer;
use crate::storage::published::{Publication, PublishedRating, RatedGame};
use crate::storage::record::RatingRow;
use crate::storage::resets::Resets;

/// The bot of the house whose rating is 0.
const ANCHOR: &str = "random";

/// The bot of the house that never errs.
const CEILING: &str = "perfect";

/// Players in one fit at most, those with the most games: a fit of 400 takes a second or so, and its time grows with
/// the third power.
const FIELD_MAX: usize = 400;

/// All rated games so far.
#[derive(Debug, Default)]
pub(crate) struct RatingSums {
    /// Number of the last game that was booked; 0 before the first.
    up_to: u64,
    by_variant: HashMap<Variant, VariantSums>,
    /// Behind which games ratings have begun anew.
    resets: Resets,
    people_and_bots: HashMap<PlayerId, Listed>,
}

/// The games of one variant.
#[derive(Debug, Default)]
struct VariantSums {
    ledger: Ledger,
    /// Numbers in the ledger by ids and eras: the order of every sum.
    numbers: BTreeMap<Entrant, usize>,
    live: HashMap<Entrant, RatingRow>,
    /// Whether games have come since the last fit.
    is_new: bool,
    fits: Option<Arc<Fits>>,
}

/// On which lists a player stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Listed {
    Person,
    Bot,
    /// A bot of the house with a place of its own on the scale.
    Anchor,
    Ceiling,
    /// Whoever has left: its games count no more.
    Nowhere,
}

impl Listed {
    fn of(player: &StoredPlayer) -> Self {
        match player.kind {
            PlayerKind::Guest => Self::Nowhere,
            PlayerKind::Human => Self::Person,
            PlayerKind::Bot if player.house && player.name.key() == ANCHOR => Self::Anchor,
            PlayerKind::Bot if player.house && player.name.key() == CEILING => Self::Ceiling,
            PlayerKind::Bot => Self::Bot,
        }
    }

    fn is_in(self, population: Population) -> bool {
        match self {
            Self::Nowhere => false,
            Self::Person => population.includes(PlayerKind::Human),
            Self::Bot | Self::Anchor | Self::Ceiling => population.includes(PlayerKind::Bot),
        }
    }
}

impl RatingSums {
    /// Of no games yet, behind which these ratings begin anew.
    pub(crate) fn new(resets: Resets) -> Self {
        Self { resets, ..Self::default() }
    }

    /// Number of the last game that was booked; 0 before the first.
    pub(crate) fn up_to(&self) -> u64 {
        self.up_to
    }

    /// Whether games have come since the last fit.
    pub(crate) fn is_new(&self) -> bool {
        self.by_variant.values().any(|book| book.is_new)
    }

    /// Books a game, each only once. For the fit they may come in any order; the live rating is that after the last.
    pub(crate) fn book(&mut self, game: &RatedGame) {
        let ending = match game.result {
            GameResult::First => WIN,
            GameResult::Draw => DRAW,
            GameResult::Second => LOSS,
            GameResult::Void => return,
        };
        self.up_to = self.up_to.max(game.number);
        let book = self.by_variant.entry(game.variant).or_default();
        book.is_new = true;
        let entrant = |side: Side| {
            let player = game.players[side].clone();
            Entrant { era: self.resets.era(&player, game.number), player }
        };
        let [first, second] = Side::BOTH.map(|side| book.number(&entrant(side)));
        let pair = game.pair.as_ref().map(|pair| (pair.id.as_str(), pair.leg));
        if first != second {
            book.ledger.book(Booking { first, second, ending, moves: &game.moves, pair });
        }
        for side in Side::BOTH {
            let row = book.live.entry(entrant(side)).or_default();
            *row = row.after(game.ratings[side], SideResult::of(side, game.result.winner()));
        }
    }

    /// Who has played, and is not known yet.
    pub(crate) fn strangers(&self) -> Vec<PlayerId> {
        let players =
            self.by_variant.values().flat_map(|book| book.numbers.keys().map(|entrant| &entrant.player));
        let unknown: BTreeSet<&PlayerId> =
            players.filter(|id| !self.people_and_bots.contains_key(*id)).collect();
        unknown.into_iter().cloned().collect()
    }

    /// Says who they are. What a player is does not change, but by leaving.
    pub(crate) fn introduce(&mut self, players: &[StoredPlayer]) {
        self.people_and_bots.extend(players.iter().map(|player| (player.id.clone(), Listed::of(player))));
    }

    /// Fits the variants in which games have come. Players who were not introduced are left out.
    pub(crate) fn fit(&mut self) -> FitSnapshot {
        for book in self.by_variant.values_mut().filter(|book| book.is_new) {
            let field = |population| book.field(population, &self.people_and_bots, &self.resets);
            book.fits = Some(Arc::new(Fits { bots: field(Population::Bots), all: field(Population::All) }));
            book.is_new = false;
        }
        let fits = |(variant, book): (&Variant, &VariantSums)| Some((*variant, book.fits.clone()?));
        let fits = self.by_variant.iter().filter_map(fits).collect();
        FitSnapshot { up_to: self.up_to, fits, seasons: Vec::new() }
    }
}

impl VariantSums {
    fn number(&mut self, entrant: &Entrant) -> usize {
        if let Some(number) = self.numbers.get(entrant) {
            return *number;
        }
        let number = self.ledger.add_player();
        self.numbers.insert(entrant.clone(), number);
        number
    }

    fn field(
        &self,
        population: Population,
        listed: &HashMap<PlayerId, Listed>,
        resets: &Resets,
    ) -> Standings {
        let is = |id: &PlayerId, what: Listed| listed.get(id) == Some(&what);
        let is_in = |id: &PlayerId| listed.get(id).is_some_and(|listed| listed.is_in(population));
        let candidates: Vec<usize> = self
            .numbers
            .iter()
            .filter(|(entrant, _)| is_in(&entrant.player))
            .map(|(_, number)| *number)
            .collect();
        let players: HashSet<usize> = self.most_games(self.ledger.who_met(&candidates)).into_iter().collect();
        let mut chosen: Vec<(&Entrant, usize)> = self
            .numbers
            .iter()
            .filter(|(_, number)| players.contains(number))
            .map(|(entrant, number)| (entrant, *number))
            .collect();
        let is_past = |entrant: &Entrant| entrant.era < resets.current(&entrant.player);
        // Stable: both parts stay in their order.
        chosen.sort_by_key(|(entrant, _)| is_past(entrant));
        let find = |what| chosen.iter().find(|(entrant, _)| is(&entrant.player, what));
        let anchor = find(Listed::Anchor).map(|(_, number)| (*number, 0.0));
        let ceiling = find(Listed::Ceiling).map(|(entrant, _)| entrant.player.clone());
        let numbers: Vec<usize> = chosen.iter().map(|(_, number)| *number).collect();
        let member = |entrant: &Entrant| {
            let live = self.live.get(entrant).copied().unwrap_or_default();
            Member { id: entrant.player.clone(), live }
        };
        let (past, current): (Vec<&Entrant>, Vec<&Entrant>) =
            chosen.iter().map(|(entrant, _)| *entrant).partition(|entrant| is_past(entrant));
        let members = current.into_iter().map(member).collect();
        let past = past.into_iter().cloned().collect();
        let scale = if anchor.is_some() { Scale::Random } else { Scale::Mean };
        Standings::new(members, past, self.ledger.fit(&numbers, anchor), scale, ceiling)
    }

    /// The players with the most games, if there are too many; those with as many in the order of their ids.
    fn most_games(&self, mut players: Vec<usize>) -> Vec<usize> {
        if players.len() > FIELD_MAX {
            players.sort_by_key(|player| std::cmp::Reverse(self.ledger.score(*player).games()));
            players.truncate(FIELD_MAX);
        }
        players
    }
}

impl FitSnapshot {
    /// The ratings as they are stored.
    pub(crate) fn publication(&self, revision: u64) -> Publication {
        let mut ratings = Vec::new();
        for (variant, fits) in &self.fits {
            for (population, field) in [(Population::All, &fits.all), (Population::Bots, &fits.bots)] {
                ratings.extend(field.rows().iter().map(|row| PublishedRating {
                    variant: *variant,
                    population,
                    player: row.player.clone(),
                    elo: row.elo_milli(),
                    error: row.error_milli(),
                    games: row.games,
                }));
            }
        }
        let mut publication = Publication { revision, up_to: Some(self.up_to), ratings };
        publication.sort();
        publication
    }
}
