//! One tournament's course as its stored games tell it: what to play next, and how it stands. Pure.

use std::collections::{BTreeMap, HashMap, VecDeque};

use fourfold_arena::course::{Consequence, Course};
use fourfold_arena::format::Format;
use fourfold_arena::log::Why;
use fourfold_arena::plan::{Plan, PlannedGame};
use fourfold_arena::report::RatingTable;
use fourfold_arena::results::GameOutcome;
use fourfold_arena::suite::{OpeningKind, Orientation, Suite, SuiteError};
use fourfold_engine::{BySide, Side, Variant};

use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::result::GameResult;
use crate::storage::record::{Ending, StoredGame};
use crate::storage::tournaments::{Attendance, EndedBecause, StoredTournament, Walkover};

/// Faults in a row after which an entrant plays no more.
const FAULTS_MAX: u32 = 3;

/// How often a game that ended without a result and without anybody's fault is played again; then it is a draw, so that
/// no tournament goes on for ever.
const REPLAYS_MAX: usize = 3;

/// How a game of the schedule came out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Decided {
    /// `None` for a draw.
    pub(crate) winner: Option<Side>,
    /// Who broke it off.
    pub(crate) at_fault: Option<Side>,
    /// Whether both sides moved after the opening.
    pub(crate) both_moved: bool,
    pub(crate) moves: String,
}

impl Decided {
    /// How a game ended, `None` if it must be played again. One that was broken off before it began in earnest is lost
    /// by whoever did that.
    pub(crate) fn by(ending: Ending, opening: &str, moves: &str) -> Option<Self> {
        let winner = match (ending.result, ending.by) {
            (GameResult::Void, Some(by)) => Some(by.opponent()),
            (GameResult::Void, None) => return None,
            (result, _) => result.winner(),
        };
        // Who resigns breaks nothing off.
        let is_fault = crate::model::fault::Fault::of(ending.reason).is_some();
        let both_moved = moves.len() >= opening.len() + 2;
        let at_fault = ending.by.filter(|_| is_fault);
        Some(Self { winner, at_fault, both_moved, moves: moves.to_owned() })
    }

    /// The same of a stored game that has ended.
    pub(super) fn of(game: &StoredGame) -> Option<Self> {
        Self::by(*game.ending()?, &game.spec.opening.moves, &game.moves())
    }

    /// Somebody was not there.
    fn walkover(absent: Side) -> Self {
        let winner = Some(absent.opponent());
        Self { winner, at_fault: Some(absent), both_moved: false, moves: String::new() }
    }

    fn draw() -> Self {
        Self { winner: None, at_fault: None, both_moved: false, moves: String::new() }
    }
}

/// A game of the schedule as it is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleLine {
    /// In the order of the schedule, from 0; games 2k and 2k + 1 are pair k.
    pub(crate) number: u64,
    /// Places among the entrants.
    pub(crate) seats: BySide<usize>,
    /// Its record; a walkover has none.
    pub game: Option<GameId>,
    /// How it came out; `None` while it goes on.
    pub(crate) outcome: Option<ShownOutcome>,
}

/// An outcome as it is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ShownOutcome {
    /// `None` for a draw.
    pub(crate) winner: Option<Side>,
    /// Whether somebody broke it off.
    pub(crate) is_fault: bool,
}

impl From<&Decided> for ShownOutcome {
    fn from(decided: &Decided) -> Self {
        Self { winner: decided.winner, is_fault: decided.at_fault.is_some() }
    }
}

/// A tournament under way, or one that is over.
#[derive(Debug)]
pub(crate) struct TournamentProgress {
    tournament: StoredTournament,
    names: Vec<PlayerName>,
    /// Who has withdrawn, by place.
    has_left: Vec<bool>,
    course: Course,
    suite: Suite,
    /// Games that go on.
    live: HashMap<u64, GameId>,
    /// Games that are over before it was their turn to be booked.
    decided: BTreeMap<u64, Decided>,
    /// Games that could not begin yet.
    postponed: VecDeque<PlannedGame>,
    lines: BTreeMap<u64, ScheduleLine>,
}

impl TournamentProgress {
    /// A tournament of which nothing is played. `names` are those of its entrants, in their order.
    ///
    /// # Errors
    ///
    /// There are no openings.
    pub(crate) fn new(
        tournament: StoredTournament,
        format: Format,
        names: Vec<PlayerName>,
        attendance: &[Attendance],
    ) -> Result<Self, SuiteError> {
        let suite = Suite::balanced(Variant::STANDARD)?;
        let came_at = |place: usize| attendance.get(place).map_or(0, |entrant| entrant.came);
        let at_first = (0..names.len()).take_while(|place| came_at(*place) == 0).count();
        let mut course = Course::new(plan(&tournament, format, &names[..at_first], &suite));
        for (place, name) in names.iter().enumerate().skip(at_first) {
            course.come(name.to_string(), came_at(place));
        }
        let has_left: Vec<bool> = (0..names.len())
            .map(|place| attendance.get(place).is_some_and(|one| one.went.is_some()))
            .collect();
        for (place, went) in attendance.iter().enumerate().filter_map(|(place, one)| Some((place, one.went?)))
        {
            course.go(place, went);
        }
        Ok(Self {
            tournament,
            names,
            has_left,
            course,
            suite,
            live: HashMap::new(),
            decided: BTreeMap::new(),
            postponed: VecDeque::new(),
            lines: BTreeMap::new(),
        })
    }

    /// The same with what is stored of its games, in the order in which they began.
    ///
    /// # Errors
    ///
    /// There are no openings.
    pub(crate) fn replay(
        tournament: StoredTournament,
        format: Format,
        names: Vec<PlayerName>,
        games: &[StoredGame],
        walkovers: &[Walkover],
        attendance: &[Attendance],
    ) -> Result<Self, SuiteError> {
        let mut progress = Self::new(tournament, format, names, attendance)?;
        for walkover in walkovers {
            progress.decided.insert(walkover.number, Decided::walkover(walkover.absent));
        }
        let mut voids: HashMap<u64, usize> = HashMap::new();
        for game in games {
            let Some((number, seats)) = progress.place_of(game) else { continue };
            let decided = match game.ending() {
                None => {
                    progress.live.insert(number, game.spec.id.clone());
                    None
                }
                Some(_) => Decided::of(game).or_else(|| {
                    let voids = voids.entry(number).or_default();
                    *voids += 1;
                    (*voids > REPLAYS_MAX).then(Decided::draw)
                }),
            };
            let outcome = decided.as_ref().map(ShownOutcome::from);
            let line = ScheduleLine { number, seats, game: Some(game.spec.id.clone()), outcome };
            progress.lines.insert(number, line);
            if let Some(decided) = decided {
                progress.decided.insert(number, decided);
            }
        }
        progress.book();
        Ok(progress)
    }

    /// Where a game stands in the schedule, and who has which seat.
    fn place_of(&self, game: &StoredGame) -> Option<(u64, BySide<usize>)> {
        let pair = game.spec.pair.as_ref()?;
        let (tournament, number) = pair.id.of_tournament()?;
        let leg = u64::from(pair.leg.checked_sub(1)?);
        let place = |side: Side| {
            self.tournament.entrants.iter().position(|entrant| *entrant == game.spec.players[side])
        };
        let seats = BySide { first: place(Side::First)?, second: place(Side::Second)? };
        (tournament == self.tournament.id && leg < 2).then_some((number * 2 + leg, seats))
    }

    /// What is fixed.
    pub(crate) fn tournament(&self) -> &StoredTournament {
        &self.tournament
    }

    /// The entrants' names, in their order.
    pub(crate) fn names(&self) -> &[PlayerName] {
        &self.names
    }

    /// Games that go on, by their place in the schedule.
    pub(crate) fn live(&self) -> &HashMap<u64, GameId> {
        &self.live
    }

    /// Games of the schedule that are known so far, in its order.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &ScheduleLine> {
        self.lines.values()
    }

    /// Games that are booked, and games of the schedule as far as it is known.
    pub(crate) fn games(&self) -> (u64, u64) {
        (self.course.results().games(), self.course.games_known())
    }

    /// Whether an entrant has withdrawn: games that are due to them are lost.
    pub(crate) fn has_left(&self, place: usize) -> bool {
        self.has_left[place]
    }

    /// The first game of somebody who comes now; none if nobody comes any more.
    pub(crate) fn comes_at(&self) -> Option<u64> {
        self.course.is_open().then(|| self.course.comes_at())
    }

    /// Somebody comes, and plays from that game on.
    pub(crate) fn join(&mut self, player: PlayerId, name: PlayerName, came: u64) {
        self.course.come(name.to_string(), came);
        self.tournament.entrants.push(player);
        self.names.push(name);
        self.has_left.push(false);
    }

    /// The game from which on somebody plays no more who withdraws now. In a knockout they lose what is due to them
    /// instead, which is nothing that the course need know.
    pub(crate) fn goes_at(&self) -> u64 {
        self.course.goes_at().unwrap_or(u64::from(u32::MAX))
    }

    /// Somebody withdraws, and plays no more from that game on.
    pub(crate) fn quit(&mut self, place: usize, went: u64) {
        self.has_left[place] = true;
        self.course.go(place, went);
        self.book();
    }

    /// Standings, crosstable and ratings.
    pub(crate) fn table(&self) -> RatingTable {
        RatingTable::of_tournament(&self.course)
    }

    /// Why nothing more is to be played, if so.
    pub(crate) fn over(&self) -> Option<EndedBecause> {
        self.course.over().map(|why| match why {
            Why::Complete | Why::Decided => EndedBecause::Complete,
            Why::Suspended => EndedBecause::Suspended,
        })
    }

    /// Who came first; nobody if nothing was played.
    pub(crate) fn winner(&self) -> Option<usize> {
        let table = self.table();
        let first = table.players.first().filter(|player| player.games > 0)?;
        self.names.iter().position(|name| name.as_str() == first.name)
    }

    /// The next game to begin, `None` if others must end first. It must be either [`Self::started`], or
    /// [`Self::postpone`]d.
    pub(crate) fn next_game(&mut self) -> Option<PlannedGame> {
        while let Some(slot) = self.postponed.pop_front() {
            if self.is_wanted(slot) {
                return Some(slot);
            }
        }
        loop {
            let slot = self.course.hand_out()?;
            if !self.live.contains_key(&slot.number) && !self.decided.contains_key(&slot.number) {
                return Some(slot);
            }
        }
    }

    fn is_wanted(&self, slot: PlannedGame) -> bool {
        let active = self.course.active();
        self.course.over().is_none() && active[slot.pairing.a] && active[slot.pairing.b]
    }

    /// The moves of the opening of a game.
    pub(crate) fn opening(&self, slot: PlannedGame) -> String {
        self.suite.draw(self.tournament.seed, Orientation::Drawn, slot.pairing.opening).notation()
    }

    /// A game has begun.
    pub(crate) fn started(&mut self, slot: PlannedGame, game: GameId) {
        let (number, seats) = (slot.number, slot.seats());
        self.lines.insert(number, ScheduleLine { number, seats, game: Some(game.clone()), outcome: None });
        self.live.insert(number, game);
    }

    /// A game could not begin and is tried again after the others that wait.
    pub(crate) fn postpone(&mut self, slot: PlannedGame) {
        self.postponed.push_back(slot);
    }

    /// A game has ended. Gives the entrants that are suspended by it.
    pub(crate) fn finished(&mut self, number: u64, decided: Decided) -> Vec<usize> {
        if self.live.remove(&number).is_none() {
            return Vec::new(); // what is stored of it has been booked
        }
        if let Some(line) = self.lines.get_mut(&number) {
            line.outcome = Some(ShownOutcome::from(&decided));
        }
        self.decided.insert(number, decided);
        self.book()
    }

    /// Somebody was not there for a game.
    pub(crate) fn walked_over(&mut self, slot: PlannedGame, absent: Side) -> Vec<usize> {
        let (number, decided) = (slot.number, Decided::walkover(absent));
        let outcome = Some(ShownOutcome::from(&decided));
        self.lines.insert(number, ScheduleLine { number, seats: slot.seats(), game: None, outcome });
        self.decided.insert(number, decided);
        self.book()
    }

    /// Books what is over as far as it is in the order of the schedule. Gives the entrants that are suspended by it.
    fn book(&mut self) -> Vec<usize> {
        let mut suspended = Vec::new();
        while let Some(slot) = self.course.due() {
            let Some(decided) = self.decided.remove(&slot.number) else { break };
            let outcome = Some(ShownOutcome::from(&decided));
            let Decided { winner, at_fault, both_moved, moves } = &decided;
            let (winner, at_fault, both_moved) = (*winner, *at_fault, *both_moved);
            let Consequence { suspended: out, over: _ } =
                self.course.book(&GameOutcome { winner, at_fault, fault: None, both_moved, moves });
            suspended.extend(out);
            let line = ScheduleLine { number: slot.number, seats: slot.seats(), game: None, outcome };
            self.lines.entry(slot.number).or_insert(line);
        }
        suspended
    }
}

fn plan(tournament: &StoredTournament, format: Format, names: &[PlayerName], suite: &Suite) -> Plan {
    Plan {
        format,
        entrants: names.iter().map(ToString::to_string).collect(),
        variant: Variant::STANDARD.to_string(),
        openings: OpeningKind::Balanced,
        openings_crc: suite.checksum(),
        orientation: Orientation::Drawn,
        time: tournament.time.into(),
        margin_ms: 0,
        pairs: tournament.pairs,
        seed: tournament.seed,
        faults_max: FAULTS_MAX,
        sprt: None,
        shard: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::PairId;
    use crate::model::result::EndReason;
    use crate::storage::conformance::{event, player_id, spec};
    use crate::storage::conformance_of_tournaments::tournament;
    use crate::storage::record::{EventKind, GamePair, GameSpec};

    const FORMAT: Format = Format::RoundRobin;
    const NAMES: [&str; 3] = ["Ada", "Bob", "Carl"];
    /// The same with one who comes late.
    const ALL: [&str; 4] = ["Ada", "Bob", "Carl", "Dora"];

    fn round_robin(pairs: u64) -> (StoredTournament, Vec<PlayerName>) {
        let entrants = NAMES.map(player_id).to_vec();
        let stored = StoredTournament { format: FORMAT.into(), entrants, pairs, ..tournament("T1", 0) };
        (stored, NAMES.map(|name| name.parse().unwrap()).to_vec())
    }

    fn new(pairs: u64) -> TournamentProgress {
        let (stored, names) = round_robin(pairs);
        TournamentProgress::new(stored, FORMAT, names, &[]).unwrap()
    }

    /// A game of the schedule as it is stored.
    fn stored(slot: PlannedGame, ending: Option<Ending>) -> StoredGame {
        let id = PairId::in_tournament(&"T1".parse().unwrap(), slot.pair());
        let seats = slot.seats();
        let spec = GameSpec {
            pair: Some(GamePair { id, leg: slot.leg().number().into(), of: 2 }),
            ..spec(&format!("g{}", slot.number), ALL[seats.first], ALL[seats.second])
        };
        let events = ending.map(|ending| event(1, EventKind::Finished(ending))).into_iter().collect();
        StoredGame { spec, events, settlement: None }
    }

    fn won(by: Side) -> Ending {
        let result = if by == Side::First { GameResult::First } else { GameResult::Second };
        Ending { result, reason: EndReason::Four, by: None }
    }

    /// Plays everything, whoever entered earlier winning, and stops after so many games.
    fn play(progress: &mut TournamentProgress, games_max: usize) -> Vec<StoredGame> {
        let mut games = Vec::new();
        while games.len() < games_max {
            let Some(slot) = progress.next_game() else { break };
            let seats = slot.seats();
            let ending = won(if seats.first < seats.second { Side::First } else { Side::Second });
            let game = stored(slot, Some(ending));
            progress.started(slot, game.spec.id.clone());
            progress.finished(slot.number, Decided::of(&game).unwrap());
            games.push(game);
        }
        games
    }

    #[test]
    fn a_round_robin_is_played_to_its_end() {
        let mut progress = new(2);
        assert_eq!(play(&mut progress, usize::MAX).len(), 12);
        assert_eq!((progress.over(), progress.winner()), (Some(EndedBecause::Complete), Some(0)));
        assert_eq!(progress.games(), (12, 12));
        let table = progress.table();
        assert_eq!(table.players[0].standing.unwrap().score, 24);
        assert_eq!(table.tournament.unwrap().crosstable[0][2], Some([8, 4]));
    }

    #[test]
    fn a_replay_stands_where_the_tournament_stood_after_every_game() {
        for stop in 0..=12 {
            let mut straight = new(2);
            let mut games = play(&mut straight, stop);
            // One more has begun when the daemon is killed.
            if let Some(slot) = straight.next_game() {
                games.push(stored(slot, None));
                straight.started(slot, games[stop].spec.id.clone());
            }
            let (stored, names) = round_robin(2);
            let mut replayed = TournamentProgress::replay(stored, FORMAT, names, &games, &[], &[]).unwrap();
            assert_eq!(replayed.table(), straight.table(), "{stop}");
            assert_eq!(replayed.live(), straight.live(), "{stop}");
            assert_eq!(replayed.next_game(), straight.next_game(), "{stop}");
            assert!(replayed.lines().eq(straight.lines()), "{stop}");
        }
    }

    #[test]
    fn games_that_end_early_wait_for_their_turn() {
        let mut progress = new(1);
        let slots: Vec<PlannedGame> = std::iter::from_fn(|| progress.next_game()).collect();
        assert_eq!(slots.len(), 6);
        let mut games = vec![stored(slots[5], Some(won(Side::First))), stored(slots[2], None)];
        progress.started(slots[5], games[0].spec.id.clone());
        progress.finished(5, Decided::of(&games[0]).unwrap());
        assert_eq!(progress.games(), (0, 6));
        games.push(stored(slots[0], Some(won(Side::First))));
        let (tournament, names) = round_robin(1);
        let mut replayed = TournamentProgress::replay(tournament, FORMAT, names, &games, &[], &[]).unwrap();
        assert_eq!(replayed.games(), (1, 6));
        let left: Vec<u64> = std::iter::from_fn(|| replayed.next_game()).map(|slot| slot.number).collect();
        assert_eq!(left, [1, 3, 4]);
    }

    #[test]
    fn whoever_is_never_there_is_taken_out() {
        let mut progress = new(3);
        let mut walkovers = Vec::new();
        while let Some(slot) = progress.next_game() {
            let seats = slot.seats();
            let absent = Side::BOTH.into_iter().find(|side| seats[*side] == 1);
            let Some(absent) = absent else {
                let game = stored(slot, Some(won(Side::First)));
                progress.started(slot, game.spec.id.clone());
                progress.finished(slot.number, Decided::of(&game).unwrap());
                continue;
            };
            walkovers.push(Walkover { number: slot.number, absent });
            let out = progress.walked_over(slot, absent);
            assert_eq!(out, if walkovers.len() == 3 { vec![1] } else { vec![] });
        }
        assert_eq!((walkovers.len(), progress.over()), (3, Some(EndedBecause::Complete)));
        let (tournament, names) = round_robin(3);
        let replayed = TournamentProgress::replay(tournament, FORMAT, names, &[], &walkovers, &[]).unwrap();
        assert!(replayed.lines().all(|line| line.game.is_none() && line.outcome.is_some()));
    }

    #[test]
    fn games_without_a_result_are_played_again_and_then_drawn() {
        let (tournament, names) = round_robin(1);
        let slot = new(1).next_game().unwrap();
        let void =
            |by| stored(slot, Some(Ending { result: GameResult::Void, reason: EndReason::Stopped, by }));
        let replay = |games: &[StoredGame]| {
            TournamentProgress::replay(tournament.clone(), FORMAT, names.clone(), games, &[], &[]).unwrap()
        };
        let mut voids = vec![void(None); REPLAYS_MAX];
        assert_eq!(replay(&voids).next_game(), Some(slot));
        voids.push(void(None));
        assert_eq!(replay(&voids).games().0, 1);
        let aborted = Ending { result: GameResult::Void, reason: EndReason::Aborted, by: Some(Side::First) };
        let lost = replay(&[stored(slot, Some(aborted))]);
        assert_eq!(
            lost.lines().next().unwrap().outcome,
            Some(ShownOutcome { winner: Some(Side::Second), is_fault: true })
        );
    }

    #[test]
    fn who_came_and_went_follows_from_what_is_stored() {
        let (stored, names) = round_robin(1);
        let swiss = Format::Swiss { rounds: 3 };
        let new = || TournamentProgress::new(stored.clone(), swiss, names.clone(), &[]).unwrap();
        let mut straight = new();
        let mut games = play(&mut straight, 1);
        let came = straight.comes_at().expect("one round of three has begun");
        straight.join(player_id("Dora"), "Dora".parse().unwrap(), came);
        let went = straight.goes_at();
        straight.quit(0, went);
        assert!(straight.has_left(0));
        games.extend(play(&mut straight, 3));
        let attendance = [
            Attendance { came: 0, went: Some(went) },
            Attendance::default(),
            Attendance::default(),
            Attendance { came, went: None },
        ];
        let late = StoredTournament { entrants: straight.tournament().entrants.clone(), ..stored.clone() };
        let all = straight.names().to_vec();
        let replayed = TournamentProgress::replay(late, swiss, all, &games, &[], &attendance).unwrap();
        assert_eq!(replayed.table(), straight.table());
        assert!(replayed.lines().eq(straight.lines()));
        assert!(replayed.lines().any(|line| line.seats.first == 3 || line.seats.second == 3), "Dora plays");
    }

    #[test]
    fn what_is_postponed_comes_after_what_waits() {
        let mut progress = new(1);
        let first = progress.next_game().unwrap();
        let second = progress.next_game().unwrap();
        progress.postpone(first);
        progress.postpone(second);
        assert_eq!(progress.next_game(), Some(first));
        assert!(!progress.opening(first).is_empty());
    }
}
