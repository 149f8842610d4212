//! Learners, their versions and lessons.

use super::{Damage, number, parsed};
use crate::model::time::UnixMillis;
use crate::storage::error::StoreError;
use crate::storage::lessons::{LearnerPlace, Lesson, StoredLearner, StoredVersion};

row! {
    #[derive(Debug)]
    pub(crate) struct LearnerRow {
        name: String,
        spec: String,
        covered: i64,
        games: i64,
        revision: i64,
        stale: bool,
        state: Vec<u8>,
    }
}

impl LearnerRow {
    pub(crate) fn decode(self) -> Result<StoredLearner, Damage> {
        let place = LearnerPlace {
            covered: number("learner.covered", self.covered)?,
            revision: number("learner.revision", self.revision)?,
        };
        Ok(StoredLearner {
            name: parsed("learner.name", &self.name)?,
            spec: self.spec,
            place,
            games: number("learner.games", self.games)?,
            stale: self.stale,
            state: self.state,
        })
    }
}

row! {
    #[derive(Debug)]
    pub(crate) struct LearnerVersionRow {
        mark: i64,
        games: i64,
        covered: i64,
        state: Vec<u8>,
        frozen_at: i64,
        decision: Option<i64>,
    }
}

impl LearnerVersionRow {
    pub(crate) fn decode(self) -> Result<StoredVersion, Damage> {
        Ok(StoredVersion {
            mark: number("learner_version.mark", self.mark)?,
            games: number("learner_version.games", self.games)?,
            covered: number("learner_version.covered", self.covered)?,
            state: self.state,
            frozen_at: UnixMillis(self.frozen_at),
            decision: self
                .decision
                .map(|decision| number("learner_version.decision", decision))
                .transpose()?,
        })
    }
}

pub(crate) fn decode_lessons(rows: Vec<(i64, String)>) -> Result<Vec<Lesson>, StoreError> {
    rows.into_iter()
        .map(|(row, changes)| Ok(Lesson { number: number("lesson.number", row)?, changes }))
        .collect()
}
