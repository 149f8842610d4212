//! An arena's course as its stored games tell it: who has how many points, who plays, who is free. Pure.
//!
//! Each takes one game at a time, so that for everybody the order in which games began is the order in which they
//! ended, and the points follow from the records alone. A game counts if it began before the end, whenever it ends.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use fourfold_arena::report::{RatedPlayer, RatingTable, TournamentPlace};
use fourfold_arena::suite::{Orientation, Suite, SuiteError};
use fourfold_engine::{BySide, Side, SideResult, Variant};

use super::pairing::Waiting;
use super::progress::{Decided, ScheduleLine, ShownOutcome};
use crate::competition::arena_score::ArenaScore;
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::time::UnixMillis;
use crate::storage::record::StoredGame;
use crate::storage::tournaments::{Attendance, EndedBecause, StoredTournament};

/// Games broken off in a row after which somebody is not paired again before they say so: they are not there, and the
/// others want to play.
const FAULTS_MAX: u32 = 2;

/// One who takes part.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct ArenaEntrant {
    score: ArenaScore,
    /// How many games they won on each side.
    wins: BySide<u64>,
    /// Games that they broke off.
    faults: u64,
    faults_in_a_row: u32,
    /// From which game on they take part, without a break.
    came: u64,
    /// Whether they have withdrawn.
    has_left: bool,
    /// Whom they met last, by place.
    last_met: Option<usize>,
    /// Games that they began more often than the opponent did.
    begun_more: i64,
}

/// An arena under way, or one that is over.
#[derive(Debug)]
pub(crate) struct ArenaProgress {
    tournament: StoredTournament,
    ends_at: UnixMillis,
    names: Vec<PlayerName>,
    entrants: Vec<ArenaEntrant>,
    suite: Suite,
    /// Games that go on.
    live: HashMap<u64, GameId>,
    /// The number of the next game.
    next: u64,
    /// Games that are over and count.
    games: u64,
    lines: BTreeMap<u64, ScheduleLine>,
}

impl ArenaProgress {
    /// An arena of so many minutes with what is stored of it, `games` in the order in which they began.
    ///
    /// # Errors
    ///
    /// There are no openings.
    pub(crate) fn replay(
        tournament: StoredTournament,
        minutes: u32,
        names: Vec<PlayerName>,
        attendance: &[Attendance],
        games: &[StoredGame],
    ) -> Result<Self, SuiteError> {
        let entrant = |place: usize| {
            let Attendance { came, went } = attendance.get(place).copied().unwrap_or_default();
            ArenaEntrant { came, has_left: went.is_some(), ..ArenaEntrant::default() }
        };
        let mut arena = Self {
            ends_at: UnixMillis(tournament.started_at.0 + i64::from(minutes) * 60_000),
            entrants: (0..names.len()).map(entrant).collect(),
            suite: Suite::balanced(Variant::STANDARD)?,
            tournament,
            names,
            live: HashMap::new(),
            next: 0,
            games: 0,
            lines: BTreeMap::new(),
        };
        for game in games {
            let Some((number, seats)) = arena.place_of(game) else { continue };
            arena.started(number, seats, game.spec.id.clone());
            if game.ending().is_some() {
                arena.finished(number, Decided::of(game));
            }
        }
        Ok(arena)
    }

    /// The number of a game, and who has which seat.
    fn place_of(&self, game: &StoredGame) -> Option<(u64, BySide<usize>)> {
        let (tournament, number) = game.spec.pair.as_ref()?.id.of_tournament()?;
        let place = |side: Side| self.place(&game.spec.players[side]);
        let seats = BySide { first: place(Side::First)?, second: place(Side::Second)? };
        (tournament == self.tournament.id).then_some((number, seats))
    }

    /// The place of somebody who takes part, or did.
    fn place(&self, player: &PlayerId) -> Option<usize> {
        self.tournament.entrants.iter().position(|entrant| entrant == player)
    }

    /// What is fixed.
    pub(crate) fn tournament(&self) -> &StoredTournament {
        &self.tournament
    }

    /// The entrants' names, in their order.
    pub(crate) fn names(&self) -> &[PlayerName] {
        &self.names
    }

    /// When nothing begins any more.
    pub(crate) fn ends_at(&self) -> UnixMillis {
        self.ends_at
    }

    /// Games that go on.
    pub(crate) fn live(&self) -> &HashMap<u64, GameId> {
        &self.live
    }

    /// All games, in the order in which they began.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &ScheduleLine> {
        self.lines.values()
    }

    /// Games that are over, and games that have begun.
    pub(crate) fn games(&self) -> (u64, u64) {
        (self.games, self.games + self.live.len() as u64)
    }

    /// Whether an entrant has withdrawn.
    pub(crate) fn has_left(&self, place: usize) -> bool {
        self.entrants[place].has_left
    }

    /// Whether the next game of an entrant counts double.
    pub(crate) fn is_on_streak(&self, place: usize) -> bool {
        self.entrants[place].score.is_on_streak()
    }

    /// Whether the time is up and the last game is over.
    pub(crate) fn over(&self, now: UnixMillis) -> Option<EndedBecause> {
        (now >= self.ends_at && self.live.is_empty()).then_some(EndedBecause::Complete)
    }

    /// Who came first; nobody if nothing was played.
    pub(crate) fn winner(&self) -> Option<usize> {
        let first = *self.ranking().first()?;
        (self.entrants[first].score.games.games() > 0).then_some(first)
    }

    /// By points, then wins, then fewer games, then the order of entry.
    fn ranking(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.entrants.len()).collect();
        order.sort_by_key(|place| {
            let ArenaScore { points, games, .. } = self.entrants[*place].score;
            (Reverse(points), Reverse(games.wins), games.games())
        });
        order
    }

    /// The standings. Nothing is said of ratings: whom one meets depends on who is free.
    pub(crate) fn table(&self) -> RatingTable {
        let row = |(rank, place): (usize, usize)| {
            let ArenaEntrant { score, wins, faults, .. } = self.entrants[place];
            let standing = TournamentPlace {
                rank,
                score: score.points,
                rests: 0,
                buchholz: None,
                wins_first: wins.first,
                wins_second: wins.second,
                faults,
                suspended: false,
            };
            RatedPlayer {
                name: self.names[place].to_string(),
                elo: 0.0,
                pm95: 0.0,
                games: score.games.games(),
                wins: score.games.wins,
                draws: score.games.draws,
                losses: score.games.losses,
                los_next: None,
                standing: Some(standing),
            }
        };
        RatingTable {
            first_move_advantage: 0.0,
            players: (1..).zip(self.ranking()).map(row).collect(),
            games: self.games,
            pairs: 0,
            tournament: None,
            matrix: None,
            warnings: Vec::new(),
        }
    }

    // ---- what happens ----

    /// The number of the game that begins next.
    pub(crate) fn due(&self) -> u64 {
        self.next
    }

    /// The number of the game that begins next, and the moves of its opening.
    pub(crate) fn next_game(&self) -> (u64, String) {
        let opening = self.suite.draw(self.tournament.seed, Orientation::Drawn, self.next);
        (self.next, opening.notation())
    }

    /// Who takes part and does not play.
    pub(crate) fn idle(&self) -> Vec<usize> {
        let playing = self.live.keys().filter_map(|number| self.lines.get(number));
        let playing: Vec<usize> = playing.flat_map(|line| [line.seats.first, line.seats.second]).collect();
        (0..self.entrants.len())
            .filter(|place| !self.entrants[*place].has_left && !playing.contains(place))
            .collect()
    }

    /// Those of the idle who are there, each free since a moment.
    pub(super) fn waiting(&self, free: &[(usize, UnixMillis)]) -> Vec<Waiting> {
        let points = |place: usize| self.entrants[place].score.points;
        let taking_part: Vec<usize> =
            (0..self.entrants.len()).filter(|place| !self.entrants[*place].has_left).collect();
        let waits = |&(place, since): &(usize, UnixMillis)| {
            let ahead = taking_part.iter().filter(|other| points(**other) > points(place)).count();
            let ArenaEntrant { last_met, begun_more, .. } = self.entrants[place];
            Waiting { place, rank: ahead as u64, since, last_met, begun_more }
        };
        free.iter().map(waits).collect()
    }

    /// A game has begun.
    pub(crate) fn started(&mut self, number: u64, seats: BySide<usize>, game: GameId) {
        for side in Side::BOTH {
            let entrant = &mut self.entrants[seats[side]];
            entrant.last_met = Some(seats[side.opponent()]);
            entrant.begun_more += if side == Side::First { 1 } else { -1 };
        }
        self.lines.insert(number, ScheduleLine { number, seats, game: Some(game.clone()), outcome: None });
        self.live.insert(number, game);
        self.next = self.next.max(number + 1);
    }

    /// A game has ended, without a result and anybody's fault if nothing is said: then it counts for nothing. Gives
    /// whoever has broken off so many in a row that they are to be paired no more.
    pub(crate) fn finished(&mut self, number: u64, decided: Option<Decided>) -> Option<usize> {
        self.live.remove(&number)?;
        let Some(decided) = decided else {
            self.lines.remove(&number);
            return None;
        };
        let line = self.lines.get_mut(&number)?;
        line.outcome = Some(ShownOutcome::from(&decided));
        let seats = line.seats;
        self.games += 1;
        for side in Side::BOTH {
            let entrant = &mut self.entrants[seats[side]];
            entrant.score.count(SideResult::of(side, decided.winner));
            entrant.wins[side] += u64::from(decided.winner == Some(side));
            let is_at_fault = decided.at_fault == Some(side);
            entrant.faults += u64::from(is_at_fault);
            let counts = is_at_fault && number >= entrant.came;
            entrant.faults_in_a_row = if counts { entrant.faults_in_a_row + 1 } else { 0 };
        }
        let culprit = seats[decided.at_fault?];
        (self.entrants[culprit].faults_in_a_row >= FAULTS_MAX).then_some(culprit)
    }

    /// Somebody comes, or comes back.
    pub(crate) fn join(&mut self, player: PlayerId, name: PlayerName) {
        if let Some(place) = self.place(&player) {
            let entrant = &mut self.entrants[place];
            (entrant.came, entrant.has_left, entrant.faults_in_a_row) = (self.next, false, 0);
            return;
        }
        self.tournament.entrants.push(player);
        self.names.push(name);
        self.entrants.push(ArenaEntrant { came: self.next, ..ArenaEntrant::default() });
    }

    /// Somebody takes part no more; a game that they play goes on, and counts.
    pub(crate) fn quit(&mut self, place: usize) {
        self.entrants[place].has_left = true;
    }
}

#[cfg(test)]
mod tests;
