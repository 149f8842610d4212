//! The ratings, computed again from the first game on.

use std::collections::{HashMap, HashSet};

use fourfold_engine::{BySide, Game, Side, SideResult, Variant, WinDrawLoss, notation};

use super::VerifyReport;
use crate::model::ids::{GameId, PlayerId};
use crate::model::rating::eligibility::{GameFingerprint, REMEMBERED_GAMES};
use crate::model::rating::elo::RatingEntry;
use crate::model::rating::newcomers::Gains;
use crate::model::time::UnixMillis;
use crate::storage::record::{GameSpec, RatingRow, Settlement, StoredGame, UnratedReason};
use crate::storage::resets::{Resets, ResetsAhead};
use crate::storage::settle::{OpponentStanding, Precedents, RatingVerdict, Referee};
use crate::storage::starts::Starts;

type Rated = (PlayerId, Variant);

/// Both players' ids in their order, and the variant.
type RatedPairing = (PlayerId, PlayerId, Variant);

/// All ratings as they follow from the games so far.
#[derive(Debug, Default)]
pub(super) struct RatingFold {
    rows: HashMap<Rated, RatingRow>,
    /// With what those begin who have no row yet.
    starts: Starts,
    remembered: HashMap<RatedPairing, Vec<GameFingerprint>>,
    /// What each player has gained from newcomers.
    gains: HashMap<Rated, Gains>,
    /// Games that an operator took out and that were not met yet.
    voided: HashSet<GameId>,
    /// Whose ratings begin anew, and behind which games.
    resets: ResetsAhead,
    /// Variants whose ratings are owed.
    forgotten: HashSet<Variant>,
}

impl RatingFold {
    /// No games yet, of which these were taken out.
    pub(super) fn new(voided: HashSet<GameId>, starts: Starts, resets: &Resets) -> Self {
        Self { starts, voided, resets: resets.ahead(), ..Self::default() }
    }

    /// Comes to the game with this number: forgets the ratings that begin anew before it.
    pub(super) fn reach(&mut self, number: u64) {
        for player in self.resets.before(number) {
            self.rows.retain(|(of, _), _| *of != player);
        }
    }

    /// How a player of a game stands before it.
    fn row(&self, spec: &GameSpec, side: Side) -> RatingRow {
        let (player, variant) = (&spec.players[side], spec.variant);
        let row = self.rows.get(&(player.clone(), variant)).copied();
        row.unwrap_or_else(|| self.starts.row(player, variant))
    }

    /// Settles a game again and compares.
    pub(super) fn add(
        &mut self,
        report: &mut VerifyReport,
        game: &StoredGame,
        settlement: &Settlement,
        replayed: &Game,
    ) {
        let Some(ending) = game.ending().copied() else {
            report.find(&game.spec.id, "is listed as finished, but its log has no end");
            return;
        };
        let spec = &game.spec;
        if self.voided.remove(&spec.id) {
            check_voided(report, game, settlement);
            return;
        }
        let moves = notation::print_moves(replayed.moves());
        let referee = Referee { spec, moves: &moves, ending };
        let key = |side: Side| (spec.players[side].clone(), spec.variant);
        let mut rows = BySide::from_fn(|side| self.row(spec, side));
        take_over(report, game, settlement, &mut rows);
        let gained = self.gained(game);
        let remembered = self.remembered.entry(pairing(game)).or_default();
        match referee.judge(Precedents { rows, remembered, gained }) {
            RatingVerdict::Unrated(reason) => {
                let due = Settlement { ratings: None, unrated_because: reason, ..settlement.clone() };
                if *settlement != due {
                    let what = format!("should be {}, but is {}", judged(&due), judged(settlement));
                    report.find(&spec.id, what);
                    self.adopt(game, settlement);
                }
            }
            RatingVerdict::Rated(changes) => {
                let Some(stored) = &settlement.ratings else {
                    report.find(&spec.id, format!("should be rated, but is {}", judged(settlement)));
                    return;
                };
                report.rated += 1;
                remember(remembered, referee.course());
                for side in Side::BOTH {
                    self.rows.insert(key(side), changes[side].row);
                    self.note_gain(game, side, changes[side].opponent, stored[side].delta);
                    compare_entry(report, game, side, stored[side], changes[side].entry);
                }
            }
        }
    }

    /// Takes note of a game whose ratings are owed.
    pub(super) fn met(&mut self, report: &mut VerifyReport, game: &StoredGame) {
        if self.voided.remove(&game.spec.id) {
            report.voided += 1;
        }
    }

    /// Leaves a variant out, whose ratings are owed.
    pub(super) fn forget(&mut self, variant: Variant) {
        self.forgotten.insert(variant);
    }

    /// Believes what is stored about a game that is wrong, so that it is not found again in all later ones.
    pub(super) fn adopt(&mut self, game: &StoredGame, settlement: &Settlement) {
        let (Some(ratings), Some(ending)) = (settlement.ratings, game.ending()) else { return };
        let moves = game.moves();
        let referee = Referee { spec: &game.spec, moves: &moves, ending: *ending };
        remember(self.remembered.entry(pairing(game)).or_default(), referee.course());
        let key = |side: Side| (game.spec.players[side].clone(), game.spec.variant);
        let rows = BySide::from_fn(|side| self.row(&game.spec, side));
        let opponents = referee.opponents(&rows);
        for side in Side::BOTH {
            self.note_gain(game, side, opponents[side], ratings[side].delta);
            let row = rows[side].after(ratings[side], SideResult::of(side, ending.result.winner()));
            self.rows.insert(key(side), row);
        }
    }

    /// What each side had gained from newcomers in the day before the game ended.
    fn gained(&self, game: &StoredGame) -> BySide<i64> {
        BySide::from_fn(|side: Side| {
            let gains = self.gains.get(&(game.spec.players[side].clone(), game.spec.variant));
            gains.map_or(0, |gains| gains.before(ended_at(game)))
        })
    }

    fn note_gain(&mut self, game: &StoredGame, side: Side, opponent: OpponentStanding, delta: i64) {
        if opponent == OpponentStanding::New {
            let key = (game.spec.players[side].clone(), game.spec.variant);
            self.gains.entry(key).or_default().note(ended_at(game), delta);
        }
    }

    /// Compares the rows that players are listed by with the fold of all games.
    pub(super) fn compare(mut self, report: &mut VerifyReport, stored: Vec<(PlayerId, Variant, RatingRow)>) {
        self.reach(u64::MAX);
        let mut unknown: Vec<_> = self.voided.iter().collect();
        unknown.sort();
        for game in unknown {
            report.find(game, "was voided, but is not among the finished games");
        }
        let mut differing = Vec::new();
        for (player, variant, row) in stored {
            report.ratings += 1;
            if self.forgotten.contains(&variant) {
                continue;
            }
            let found = match self.rows.remove(&(player.clone(), variant)) {
                Some(computed) if computed == row => continue,
                Some(computed) => format!("is {}, computed {}", shown(&row), shown(&computed)),
                None => format!("is {}, but no game moved it", shown(&row)),
            };
            differing.push(format!("rating of {player} in {variant} {found}"));
        }
        differing.extend(self.rows.into_iter().map(|((player, variant), row)| {
            format!("rating of {player} in {variant} is missing, computed {}", shown(&row))
        }));
        // Back ends give them in orders of their own.
        differing.sort();
        report.findings.extend(differing);
    }
}

/// When a finished game ended: what its settlement repeats.
fn ended_at(game: &StoredGame) -> UnixMillis {
    game.events.last().map_or(game.spec.started_at, |event| event.at)
}

fn pairing(game: &StoredGame) -> RatedPairing {
    let BySide { first, second } = game.spec.players.clone();
    let variant = game.spec.variant;
    if first <= second { (first, second, variant) } else { (second, first, variant) }
}

/// Goes on from what is stored if that does not follow from the games before, so that one defect is one finding.
fn take_over(
    report: &mut VerifyReport,
    game: &StoredGame,
    settlement: &Settlement,
    rows: &mut BySide<RatingRow>,
) {
    let Some(ratings) = &settlement.ratings else { return };
    for side in Side::BOTH {
        let (stored, computed) = (ratings[side].before, rows[side].standing.rating);
        if stored != computed {
            let player = &game.spec.players[side];
            let what = format!("rating of {player} before it is {}, computed {}", stored.0, computed.0);
            report.find(&game.spec.id, what);
            rows[side].standing.rating = stored;
        }
    }
}

/// A game that an operator took out is unrated, and for that reason.
fn check_voided(report: &mut VerifyReport, game: &StoredGame, settlement: &Settlement) {
    report.voided += 1;
    let unrated_because = Some(UnratedReason::Voided);
    let due = Settlement { ratings: None, unrated_because, ..settlement.clone() };
    if *settlement != due {
        report.find(&game.spec.id, format!("should be {}, but is {}", judged(&due), judged(settlement)));
    }
}

/// Keeps the last courses, the newest first.
fn remember(courses: &mut Vec<GameFingerprint>, course: GameFingerprint) {
    courses.insert(0, course);
    courses.truncate(REMEMBERED_GAMES as usize);
}

fn compare_entry(
    report: &mut VerifyReport,
    game: &StoredGame,
    side: Side,
    stored: RatingEntry,
    computed: RatingEntry,
) {
    if stored != computed {
        let (stored, computed) = (entry(stored), entry(computed));
        let what = format!("rating entry of the {side} side is {stored}, computed {computed}");
        report.find(&game.spec.id, what);
    }
}

fn judged(settlement: &Settlement) -> String {
    match (settlement.ratings, settlement.unrated_because) {
        (Some(_), _) => "rated".into(),
        (None, None) => "casual".into(),
        (None, Some(reason)) => format!("unrated ({})", UnratedReason::as_str(reason)),
    }
}

fn entry(entry: RatingEntry) -> String {
    format!("{} {:+} = {}", entry.before.0, entry.delta, entry.after.0)
}

fn shown(row: &RatingRow) -> String {
    let RatingRow { standing, score: WinDrawLoss { wins, draws, losses } } = row;
    format!("{} after {} games (+{wins} ={draws} -{losses})", standing.rating.0, standing.games)
}
