//! What happens in a class: who is in it, who meets whom, and how that came out. Pure: who is there and what time it is
//! come as arguments.

use std::collections::{HashMap, HashSet};

use fourfold_engine::{BySide, Side};
use thiserror::Error;

use crate::competition::arena_score::ArenaScore;
use crate::model::clock::TimeControl;
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::player::Identity;
use crate::model::result::GameResult;
use crate::model::time::UnixMillis;
use crate::play::room::Standstill;

/// Pupils of one class: two school classes together.
pub(crate) const PUPILS_MAX: usize = 64;

/// How long a class stays without its teacher, in milliseconds: a school day.
const LIFETIME_MS: i64 = 12 * 3_600 * 1_000;

/// At so many looks a game may be gone before its end is given up: it is told a moment after the game is gone.
const LOOKS_GONE_MAX: u8 = 3;

/// Time of the games unless the teacher says: unhurried, and over within a lesson.
pub(crate) const TIME: TimeControl =
    TimeControl { bank_ms: Some(300_000), increment_ms: 3_000, move_ms: None };

/// Somebody in a class.
#[derive(Clone, Debug)]
pub(crate) struct ClassMember {
    pub(crate) identity: Identity,
    /// What their games came to since the standings began.
    pub(crate) score: ArenaScore,
    /// Whether a page of theirs is open.
    pub(crate) is_there: bool,
    /// Games in which they moved first.
    begun: u32,
    /// Whom they met last.
    last_met: Option<PlayerId>,
}

impl ClassMember {
    fn new(identity: Identity) -> Self {
        Self { identity, score: ArenaScore::default(), is_there: true, begun: 0, last_met: None }
    }
}

/// What a class does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// Nothing in common: they wait, or play a round to its end.
    Waiting,
    /// Whoever is free is paired anew, until then.
    Arena { until: UnixMillis },
    /// A lesson, by its name in the address.
    Lesson(String),
}

/// Why somebody cannot join.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum JoinError {
    #[error("the class is full: it has {PUPILS_MAX} pupils")]
    Full,
    #[error("you are the teacher of this class")]
    IsTeacher,
}

/// A game of a class.
#[derive(Clone, Debug)]
struct ClassGame {
    players: BySide<PlayerId>,
    /// Whether it was told to stand still.
    is_still: bool,
    /// At how many looks in a row it was none any more.
    looks_gone: u8,
}

/// A class.
#[derive(Clone, Debug)]
pub(crate) struct Classroom {
    pub(crate) teacher: Identity,
    pub(crate) activity: Activity,
    /// Whether pupils are to look up: nothing begins, their boards are covered, and their games stand still.
    pub(crate) is_held: bool,
    /// Since when, while an arena goes on: it lasts longer by that.
    held_since: Option<UnixMillis>,
    /// Whether pupils who join get their names by lot.
    pub(crate) names_are_drawn: bool,
    /// The tag of the language in which the desk speaks, and names are drawn; that of pages without one if empty.
    pub(crate) language: String,
    /// How much time each side has in games to come.
    pub(crate) time: TimeControl,
    pupils: Vec<ClassMember>,
    /// Whether all that are free are to be paired once.
    is_round_due: bool,
    /// Its games under way.
    games: HashMap<GameId, ClassGame>,
    /// How often two met.
    meetings: HashMap<[PlayerId; 2], u32>,
    /// When its teacher was seen last.
    used_at: UnixMillis,
}

impl Classroom {
    pub(crate) fn new(teacher: Identity, now: UnixMillis) -> Self {
        Self {
            teacher,
            activity: Activity::Waiting,
            is_held: false,
            held_since: None,
            names_are_drawn: false,
            language: String::new(),
            time: TIME,
            pupils: Vec::new(),
            is_round_due: false,
            games: HashMap::new(),
            meetings: HashMap::new(),
            used_at: now,
        }
    }

    /// Takes somebody in, who may be in it already, under another name perhaps.
    ///
    /// # Errors
    ///
    /// There is no room, or it is the teacher.
    pub(crate) fn join(&mut self, who: Identity) -> Result<(), JoinError> {
        if who.id == self.teacher.id {
            return Err(JoinError::IsTeacher);
        }
        if let Some(pupil) = self.pupils.iter_mut().find(|pupil| pupil.identity.id == who.id) {
            pupil.identity = who;
            return Ok(());
        }
        if self.pupils.len() >= PUPILS_MAX {
            return Err(JoinError::Full);
        }
        self.pupils.push(ClassMember::new(who));
        Ok(())
    }

    /// The pupil of this name, without regard to case.
    pub(crate) fn called(&self, name: &PlayerName) -> Option<PlayerId> {
        let pupil = self.pupils.iter().find(|pupil| pupil.identity.name.key() == name.key());
        pupil.map(|pupil| pupil.identity.id.clone())
    }

    /// Takes somebody out. False if they are not in it.
    pub(crate) fn remove(&mut self, id: &PlayerId) -> bool {
        let before = self.pupils.len();
        self.pupils.retain(|pupil| pupil.identity.id != *id);
        self.pupils.len() < before
    }

    /// Somebody in it is called otherwise by now.
    pub(crate) fn renamed(&mut self, who: &Identity) {
        let pupils = self.pupils.iter_mut().map(|pupil| &mut pupil.identity);
        let known = std::iter::once(&mut self.teacher).chain(pupils);
        known.filter(|known| known.id == who.id).for_each(|known| *known = who.clone());
    }

    pub(crate) fn pupil(&self, id: &PlayerId) -> Option<&ClassMember> {
        self.pupils.iter().find(|pupil| pupil.identity.id == *id)
    }

    /// The game in which somebody sits.
    pub(crate) fn game_of(&self, id: &PlayerId) -> Option<&GameId> {
        let sits = |game: &ClassGame| Side::BOTH.iter().any(|side| game.players[*side] == *id);
        self.games.iter().find(|(_, game)| sits(game)).map(|(id, _)| id)
    }

    /// Whether a game is one of this class, and under way.
    pub(crate) fn has_game(&self, game: &GameId) -> bool {
        self.games.contains_key(game)
    }

    /// All pupils, the most points first, then the most wins, then by name.
    pub(crate) fn standings(&self) -> Vec<&ClassMember> {
        let mut standings: Vec<&ClassMember> = self.pupils.iter().collect();
        standings.sort_by(|one, other| {
            let strength = |pupil: &ClassMember| (pupil.score.points, pupil.score.games.wins);
            let names = || one.identity.name.key().cmp(&other.identity.name.key());
            strength(other).cmp(&strength(one)).then_with(names)
        });
        standings
    }

    /// Notes that its teacher is there.
    pub(crate) fn seen(&mut self, now: UnixMillis) {
        self.used_at = now;
    }

    /// Whether its teacher has been away for too long.
    pub(crate) fn is_deserted(&self, now: UnixMillis) -> bool {
        now.0 - self.used_at.0 > LIFETIME_MS
    }

    /// Lets all look up, or go on. An arena lasts as much longer.
    pub(crate) fn hold(&mut self, held: bool, now: UnixMillis) {
        if held == self.is_held {
            return;
        }
        self.is_held = held;
        let since = std::mem::replace(&mut self.held_since, held.then_some(now));
        if let (Activity::Arena { until }, Some(since)) = (&mut self.activity, since) {
            until.0 += (now.0 - since.0).max(0);
        }
    }

    /// Games that do not know yet whether they are to stand still.
    pub(crate) fn untold(&mut self) -> Vec<(GameId, Standstill)> {
        let (is_held, mut untold) = (self.is_held, Vec::new());
        for (id, game) in &mut self.games {
            if game.is_still != is_held {
                game.is_still = is_held;
                untold.push((id.clone(), if is_held { Standstill::Begins } else { Standstill::Ends }));
            }
        }
        untold
    }

    /// Games that stand still, when the class is over.
    pub(crate) fn into_still(self) -> impl Iterator<Item = GameId> {
        self.games.into_iter().filter(|(_, game)| game.is_still).map(|(id, _)| id)
    }

    /// Whether all who are free are to be paired now, and no lesson is held any more.
    pub(crate) fn begin_round(&mut self, time: TimeControl) {
        self.time = time;
        self.activity = Activity::Waiting;
        self.is_round_due = true;
        (self.is_held, self.held_since) = (false, None);
    }

    /// Begins an arena, and the standings anew.
    pub(crate) fn begin_arena(&mut self, until: UnixMillis, time: TimeControl) {
        self.begin_round(time);
        self.is_round_due = false;
        self.activity = Activity::Arena { until };
        for pupil in &mut self.pupils {
            *pupil = ClassMember { begun: pupil.begun, ..ClassMember::new(pupil.identity.clone()) };
        }
    }

    /// Takes all to a lesson; to nothing if none is named.
    pub(crate) fn hold_lesson(&mut self, lesson: Option<String>) {
        self.activity = lesson.map_or(Activity::Waiting, Activity::Lesson);
        self.is_round_due = false;
        (self.is_held, self.held_since) = (false, None);
    }

    /// Brings it up to date: an arena ends, games that are none any more are forgotten.
    pub(crate) fn look(
        &mut self,
        now: UnixMillis,
        is_there: impl Fn(&PlayerId) -> bool,
        is_live: impl Fn(&GameId) -> bool,
    ) {
        if !self.is_held && matches!(self.activity, Activity::Arena { until } if until <= now) {
            self.activity = Activity::Waiting;
        }
        self.games.retain(|id, game| {
            game.looks_gone = if is_live(id) { 0 } else { game.looks_gone + 1 };
            game.looks_gone < LOOKS_GONE_MAX
        });
        for pupil in &mut self.pupils {
            pupil.is_there = is_there(&pupil.identity.id);
        }
    }

    /// Who is to meet whom now; whoever has to rest has played most.
    ///
    /// Of those with about as many points it takes those who met least. Whoever has moved first more often moves
    /// second.
    pub(crate) fn pairs(&mut self, is_free: impl Fn(&PlayerId) -> bool) -> Vec<BySide<Identity>> {
        let is_round = std::mem::take(&mut self.is_round_due);
        if self.is_held || !(is_round || matches!(self.activity, Activity::Arena { .. })) {
            return Vec::new();
        }
        let present = self.pupils.iter().filter(|pupil| pupil.is_there).count();
        let mut waiting: Vec<&ClassMember> = self.standings();
        waiting.retain(|pupil| is_free(&pupil.identity.id));
        if waiting.len() % 2 == 1 {
            let most = waiting.iter().enumerate().max_by_key(|(_, pupil)| pupil.score.games.games());
            if let Some((place, _)) = most {
                waiting.remove(place);
            }
        }
        // In an arena somebody else will be free soon, so nobody meets the same one at once.
        let may_meet = |one: &ClassMember, other: &ClassMember| {
            is_round || present <= 2 || one.last_met.as_ref() != Some(&other.identity.id)
        };
        let mut pairs = Vec::new();
        let mut taken: HashSet<&PlayerId> = HashSet::new();
        for (place, one) in waiting.iter().enumerate() {
            if taken.contains(&one.identity.id) {
                continue;
            }
            let others = waiting[place + 1..].iter().enumerate();
            let others =
                others.filter(|(_, other)| !taken.contains(&other.identity.id) && may_meet(one, other));
            let met = |other: &ClassMember| {
                self.meetings.get(&meeting(&one.identity.id, &other.identity.id)).copied().unwrap_or(0)
            };
            let Some((_, other)) = others.min_by_key(|(distance, other)| (met(other), *distance)) else {
                continue;
            };
            taken.extend([&one.identity.id, &other.identity.id]);
            let (first, second) = if one.begun <= other.begun { (one, other) } else { (other, one) };
            pairs.push(BySide { first: first.identity.clone(), second: second.identity.clone() });
        }
        pairs
    }

    /// A game of two pupils has begun.
    pub(crate) fn started(&mut self, game: GameId, players: BySide<PlayerId>) {
        *self.meetings.entry(meeting(&players.first, &players.second)).or_default() += 1;
        for side in Side::BOTH {
            let opponent = &players[side.opponent()];
            if let Some(pupil) = self.pupils.iter_mut().find(|pupil| pupil.identity.id == players[side]) {
                pupil.last_met = Some(opponent.clone());
                pupil.begun += u32::from(side == Side::First);
            }
        }
        self.games.insert(game, ClassGame { players, is_still: false, looks_gone: 0 });
    }

    /// A game has ended, with this class if it is one of its own.
    pub(crate) fn ended(&mut self, game: &GameId, result: GameResult) {
        let Some(ClassGame { players, .. }) = self.games.remove(game) else { return };
        for side in Side::BOTH {
            let pupil = self.pupils.iter_mut().find(|pupil| pupil.identity.id == players[side]);
            if let (Some(pupil), Some(result)) = (pupil, result.seen_by(side)) {
                pupil.score.count(result);
            }
        }
    }
}

/// A key of two, whoever is named first.
fn meeting(one: &PlayerId, other: &PlayerId) -> [PlayerId; 2] {
    let mut pair = [one.clone(), other.clone()];
    pair.sort_unstable();
    pair
}

#[cfg(test)]
mod tests;
