//! The lane of a node: one commit at a time, of all that waits. One whose answer is lost is sent again as it was.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::super::words::{Call, Entry, Message, Outcome, Stored};
use super::Node;
use crate::cluster::Incarnation;
use crate::cluster::places::{Place, Role};
use crate::model::ids::GameId;

/// After so long a commit is sent again.
const COMMIT_AGAIN_AFTER: Duration = Duration::from_secs(3);

/// A commit that takes longer stops the flags.
const STALLED_AFTER: Duration = Duration::from_millis(500);

/// What is to be written, and who is told.
#[derive(Clone, Debug)]
struct Job {
    place: Place,
    write: Stored,
    asker: Option<Incarnation>,
}

#[derive(Debug)]
struct Flight {
    number: u64,
    jobs: Vec<Job>,
    batch: Vec<Entry>,
    began: Instant,
    sent: Instant,
}

#[derive(Debug, Default)]
pub(in crate::cluster::simulation) struct Lane {
    waiting: VecDeque<Job>,
    flight: Option<Flight>,
    commits: u64,
}

impl Lane {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.flight.is_none()
    }

    /// Whether something of a place is yet to be stored.
    pub(super) fn is_about(&self, place: Place) -> bool {
        let flying = self.flight.iter().flat_map(|flight| &flight.jobs);
        self.waiting.iter().chain(flying).any(|job| job.place == place)
    }

    pub(super) fn is_stalled(&self, now: Instant) -> bool {
        let waits = |flight: &Flight| now.saturating_duration_since(flight.began) >= STALLED_AFTER;
        self.flight.as_ref().is_some_and(waits)
    }

    fn is_starting(&self, game: &GameId) -> bool {
        let flying = self.flight.iter().flat_map(|flight| &flight.jobs);
        self.waiting
            .iter()
            .chain(flying)
            .any(|job| matches!(&job.write, Stored::Start { spec, .. } if spec.id == *game))
    }
}

impl Node {
    /// Queues a write to a game.
    pub(super) fn store(&mut self, write: Stored, asker: Option<Incarnation>) {
        let place = match &write {
            Stored::Start { spec, .. } => Place::of(&spec.id),
            Stored::Append { game, .. } | Stored::Finish { game, .. } => Place::of(game),
            Stored::Settle { .. } | Stored::HandOver => Place::of_role(Role::Registrar),
        };
        self.store_at(place, write, asker);
    }

    pub(super) fn store_at(&mut self, place: Place, write: Stored, asker: Option<Incarnation>) {
        self.lane.waiting.push_back(Job { place, write, asker });
    }

    /// Sends what waits, or once more what was not answered.
    pub(super) fn lane_tick(&mut self, now: Instant) {
        if let Some(flight) = &mut self.lane.flight {
            if now.saturating_duration_since(flight.sent) >= COMMIT_AGAIN_AFTER {
                flight.sent = now;
                let (number, batch) = (flight.number, flight.batch.clone());
                self.call(Call::Commit { number, batch });
            }
            return;
        }
        if self.lane.waiting.is_empty() || self.lease.is_frozen(now) {
            return;
        }
        self.lane.commits += 1;
        let number = self.lane.commits;
        let jobs: Vec<Job> = self.lane.waiting.drain(..).collect();
        let entry = |Job { place, write, .. }: &Job| Entry {
            place: *place,
            term: self.places.tenure(*place).map_or(0, |tenure| tenure.term),
            write: write.clone(),
        };
        let batch: Vec<Entry> = jobs.iter().map(entry).collect();
        self.lane.flight = Some(Flight { number, jobs, batch: batch.clone(), began: now, sent: now });
        self.call(Call::Commit { number, batch });
    }

    /// A commit was answered.
    pub(super) fn committed(&mut self, number: u64, outcomes: &[Outcome], now: Instant) {
        let Some(flight) = self.lane.flight.take_if(|flight| flight.number == number) else { return };
        for (job, outcome) in flight.jobs.into_iter().zip(outcomes) {
            self.job_done(job, *outcome, now);
        }
        if outcomes.iter().any(|outcome| matches!(outcome, Outcome::GivenTo(_))) {
            self.send_all(&Message::PlacesChanged, now);
        }
        self.lane_tick(now);
    }

    fn job_done(&mut self, Job { place, write, asker }: Job, outcome: Outcome, now: Instant) {
        match (write, outcome) {
            (Stored::Start { spec, .. }, _) => {
                let game = spec.id.clone();
                if outcome == Outcome::Done {
                    self.begin(*spec, now);
                }
                if let Some(desk) = asker {
                    self.send(desk, Message::Started { game }, now);
                }
            }
            (Stored::Append { game, .. }, Outcome::Done | Outcome::GivenTo(_)) => {
                self.stored(&game, None, now);
            }
            (Stored::Finish { game, .. }, Outcome::Done | Outcome::GivenTo(_)) => self.finished(&game),
            (Stored::Append { .. } | Stored::Finish { .. }, Outcome::Refused) => self.reopen(place, now),
            (Stored::Settle { game }, _) => {
                self.settling.remove(&game);
            }
            (Stored::HandOver, _) => {
                self.leaving.remove(&place);
                // Whoever has it now, the table says so; until it does nothing is done for it.
                self.serving.remove(&place);
                self.rooms.retain(|game, _| Place::of(game) != place);
                if place == Place::of_role(Role::Desk) {
                    self.desk = None;
                }
                match outcome {
                    Outcome::GivenTo(to) => {
                        self.places.given(place, to);
                        self.sit_again(|_, changed| changed == place, now);
                    }
                    Outcome::Done => self.reopen(place, now), // nobody wants it any more
                    Outcome::Refused => {}
                }
            }
        }
    }

    /// The registrar numbers what has ended.
    pub(super) fn number(&mut self, games: Vec<GameId>) {
        let place = Place::of_role(Role::Registrar);
        if self.places.owner(place) != Some(self.me) || self.leaving.contains(&place) {
            return;
        }
        for game in games {
            if self.settling.insert(game.clone()) {
                self.store(Stored::Settle { game }, None);
            }
        }
    }

    /// The desk has a game begun here.
    pub(super) fn take_start(
        &mut self,
        from: Incarnation,
        spec: crate::storage::GameSpec,
        desk_term: u32,
        now: Instant,
    ) {
        let place = Place::of(&spec.id);
        let is_open = self.serving.contains(&place) && !self.leaving.contains(&place);
        if !is_open || self.lease.is_frozen(now) || self.lane.is_starting(&spec.id) {
            return; // it is repeated
        }
        if self.rooms.contains_key(&spec.id) {
            self.send(from, Message::Started { game: spec.id }, now);
            return;
        }
        self.store(Stored::Start { spec: Box::new(spec), desk_term }, Some(from));
    }
}
