//! Learners in memory.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use crate::model::ids::PlayerName;
use crate::model::time::UnixMillis;
use crate::storage::lessons::{
    CurvePoint, LearnerPlace, LearnerStep, Lesson, StepKind, StoredLearner, StoredVersion,
};
use crate::storage::store::{Refused, Written};

/// All learners, by the key of their names.
#[derive(Debug, Default)]
pub(super) struct Learners(HashMap<String, LearnerRows>);

/// What belongs to one learner.
#[derive(Debug)]
struct LearnerRows {
    learner: StoredLearner,
    lessons: BTreeMap<u64, String>,
    versions: BTreeMap<u64, StoredVersion>,
    curve: BTreeMap<u64, CurvePoint>,
}

impl Learners {
    fn rows(&self, name: &PlayerName) -> Option<&LearnerRows> {
        self.0.get(&name.key())
    }

    pub(super) fn learner(&self, name: &PlayerName) -> Option<StoredLearner> {
        self.rows(name).map(|rows| rows.learner.clone())
    }

    pub(super) fn versions(&self, name: &PlayerName) -> Vec<StoredVersion> {
        self.rows(name).map(|rows| rows.versions.values().cloned().collect()).unwrap_or_default()
    }

    pub(super) fn lessons(&self, name: &PlayerName, after: u64, limit: u32) -> Vec<Lesson> {
        let Some(rows) = self.rows(name) else { return Vec::new() };
        rows.lessons.range(after + 1..).take(limit as usize).map(lesson).collect()
    }

    pub(super) fn lessons_of_game(&self, number: u64) -> Vec<(PlayerName, String)> {
        let of = |rows: &LearnerRows| Some((rows.learner.name.clone(), rows.lessons.get(&number)?.clone()));
        self.0.values().filter_map(of).collect()
    }

    pub(super) fn lesson_count(&self, name: &PlayerName, up_to: u64) -> u64 {
        self.rows(name).map_or(0, |rows| rows.lessons.range(..=up_to).count() as u64)
    }

    pub(super) fn last_lessons(&self, name: &PlayerName, limit: u32) -> Vec<Lesson> {
        let Some(rows) = self.rows(name) else { return Vec::new() };
        rows.lessons.iter().rev().take(limit as usize).map(lesson).collect()
    }

    /// Lessons of games with these numbers have no texts any more.
    pub(super) fn forget_texts(&mut self, numbers: RangeInclusive<u64>) {
        if numbers.is_empty() {
            return;
        }
        for rows in self.0.values_mut() {
            rows.lessons.range_mut(numbers.clone()).for_each(|(_, changes)| changes.clear());
        }
    }

    pub(super) fn curve(&self, name: &PlayerName) -> Vec<CurvePoint> {
        self.rows(name).map(|rows| rows.curve.values().copied().collect()).unwrap_or_default()
    }

    pub(super) fn step(&mut self, step: &LearnerStep) -> Result<Written, Refused> {
        let rows = match self.0.get_mut(&step.name.key()) {
            Some(rows) => rows,
            None if step.from == LearnerPlace::default() => {
                self.0.entry(step.name.key()).or_insert(LearnerRows::of(step))
            }
            None => return Err(Refused::LearnerElsewhere),
        };
        if rows.learner.place != step.from {
            return Err(Refused::LearnerElsewhere);
        }
        if let StepKind::Follow(lessons) = &step.kind {
            if rows.learner.stale || lessons.iter().any(|lesson| rows.lessons.contains_key(&lesson.number)) {
                return Err(Refused::LearnerElsewhere);
            }
            rows.lessons.extend(lessons.iter().map(|lesson| (lesson.number, lesson.changes.clone())));
        }
        let place = LearnerPlace { covered: step.covered, revision: step.from.revision };
        rows.learner = StoredLearner { place, ..LearnerRows::of(step).learner };
        match step.kind {
            StepKind::Refold => rows.curve.retain(|games, _| *games <= step.games),
            StepKind::Follow(_) => {}
        }
        for version in &step.versions {
            let frozen_at = rows.versions.get(&version.mark).map_or(version.frozen_at, |old| old.frozen_at);
            rows.versions.insert(version.mark, StoredVersion { frozen_at, ..version.clone() });
        }
        if let Some(point) = step.point {
            let decision = rows.curve.get(&point.games).and_then(|old| old.decision).or(point.decision);
            rows.curve.insert(point.games, CurvePoint { decision, ..point });
        }
        Ok(Written::Done)
    }

    pub(super) fn measure(
        &mut self,
        name: &PlayerName,
        mark: u64,
        decision: u16,
    ) -> Result<Written, Refused> {
        let rows = self.0.get_mut(&name.key()).ok_or(Refused::NoSuchVersion)?;
        rows.versions.get_mut(&mark).ok_or(Refused::NoSuchVersion)?.decision = Some(decision);
        Ok(Written::Done)
    }

    pub(super) fn measure_point(
        &mut self,
        name: &PlayerName,
        games: u64,
        decision: u16,
        at: UnixMillis,
    ) -> Result<Written, Refused> {
        let rows = self.0.get_mut(&name.key()).ok_or(Refused::NoSuchVersion)?;
        let unrated = CurvePoint { games, rating: None, decision: None, at };
        rows.curve.entry(games).or_insert(unrated).decision = Some(decision);
        Ok(Written::Done)
    }

    pub(super) fn remake(&mut self, name: &PlayerName, revision: u64) -> Result<Written, Refused> {
        let rows = self.0.get_mut(&name.key()).ok_or(Refused::NoSuchVersion)?;
        if rows.learner.place.revision != revision {
            return Err(Refused::LearnerElsewhere);
        }
        rows.learner.stale = true;
        rows.learner.place.revision += 1;
        Ok(Written::Done)
    }

    pub(super) fn withdraw(&mut self, goes: impl Fn(u64) -> bool) {
        for rows in self.0.values_mut() {
            let before = rows.lessons.len();
            rows.lessons.retain(|number, _| !goes(*number));
            rows.learner.stale |= rows.lessons.len() < before;
            rows.learner.place.revision += 1;
        }
    }
}

impl LearnerRows {
    fn of(step: &LearnerStep) -> Self {
        let LearnerStep { name, spec, from, games, state, .. } = step;
        let learner = StoredLearner {
            name: name.clone(),
            spec: spec.clone(),
            place: *from,
            games: *games,
            stale: false,
            state: state.clone(),
        };
        Self { learner, lessons: BTreeMap::new(), versions: BTreeMap::new(), curve: BTreeMap::new() }
    }
}

fn lesson((number, changes): (&u64, &String)) -> Lesson {
    Lesson { number: *number, changes: changes.clone() }
}
