//! Whether what learners know is what their lessons teach, byte for byte.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::fold::{RefoldError, refold};
use super::{LearnerPlan, plans};
use crate::analysis::background::Worker;
use crate::model::ids::PlayerName;
use crate::storage::{Store, StoreError};

/// How often a check is begun again because the learner went on meanwhile in a way that matters.
const ATTEMPTS: u8 = 5;

/// What the check of one learner came to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct LearnerReport {
    pub(crate) name: PlayerName,
    pub(crate) games: u64,
    /// Frozen versions that were made again.
    pub(crate) versions: usize,
    /// All that is not as it should be, one line each.
    pub(crate) findings: Vec<String>,
    /// What helps against that.
    pub(crate) remedy: Remedy,
    /// The revision of what was checked.
    #[serde(skip)]
    pub(crate) revision: u64,
}

/// What helps a learner that is not as it should be.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Remedy {
    /// Nothing that is here, or nothing is wrong.
    #[default]
    None,
    /// Its lessons are all there and can be learnt: it is to be made again from them, once somebody says so
    /// ([`crate::storage::store::Write::RemakeLearner`]).
    Repair,
    /// That was said: the daemon makes it again, now or when it runs next with learning on.
    Daemon,
}

impl fmt::Display for LearnerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{}: {finding}", self.name)?;
        }
        let Self { name, games, versions, findings, remedy: _, revision: _ } = self;
        write!(f, "{name}: {games} games, {versions} frozen versions: {} disagreements", findings.len())
    }
}

/// Makes all learners and versions again from their lessons and compares.
///
/// # Errors
///
/// The store cannot be read. Whatever is wrong with what was read is in the reports.
pub(crate) async fn verify(store: &dyn Store) -> Result<Vec<LearnerReport>, StoreError> {
    let worker = Worker::start("learning", 100, None).map_err(|error| StoreError::Failed(Box::new(error)))?;
    let mut reports = Vec::new();
    for plan in plans() {
        for attempt in 1..=ATTEMPTS {
            if let Some(report) = verify_one(store, &worker, &plan, attempt == ATTEMPTS).await? {
                reports.extend(report);
                break;
            }
        }
    }
    Ok(reports)
}

/// `None` if the learner went on meanwhile; `Some(None)` if there is none.
async fn verify_one(
    store: &dyn Store,
    worker: &Worker,
    plan: &LearnerPlan,
    is_last_attempt: bool,
) -> Result<Option<Option<LearnerReport>>, StoreError> {
    let name = &plan.name;
    let player = store.player_by_name(name).await?;
    let (Some(stored), Some(player)) = (store.learner(name).await?, player) else { return Ok(Some(None)) };
    let versions = store.learner_versions(name).await?;
    let versions: Vec<_> =
        versions.into_iter().filter(|version| version.covered <= stored.place.covered).collect();
    let marks: BTreeSet<u64> = versions.iter().map(|version| version.mark).collect();
    let plan = LearnerPlan { spec: stored.spec.parse().unwrap_or(plan.spec.clone()), ..plan.clone() };
    let folded = refold(store, worker, &plan, &player.id, &marks, stored.place.covered).await;
    let now = store.learner(name).await?;
    let has_changed =
        now.is_none_or(|now| (now.place.revision, now.stale) != (stored.place.revision, stored.stale));
    if has_changed && !is_last_attempt {
        return Ok(None);
    }
    let mut report = LearnerReport {
        name: name.clone(),
        games: stored.games,
        versions: versions.len(),
        findings: Vec::new(),
        remedy: Remedy::None,
        revision: stored.place.revision,
    };
    let findings = &mut report.findings;
    if stored.stale {
        findings.push("it is to be made again from the lessons that are left: the daemon does so".to_owned());
        report.remedy = Remedy::Daemon;
    }
    match folded {
        Err(RefoldError::Store(error)) => return Err(error),
        Err(error @ (RefoldError::Bot(_) | RefoldError::NoLesson { .. } | RefoldError::Worker(_))) => {
            report.findings.push(error.to_string());
            report.remedy = Remedy::None;
        }
        Ok(_) if stored.stale => {}
        Ok((fold, again)) => {
            if fold.games != stored.games {
                findings.push(format!("it says {} games, its lessons are {}", stored.games, fold.games));
            }
            if fold.state() != stored.state {
                findings.push("its state is not what its lessons teach".to_owned());
            }
            for version in &versions {
                let made = again.iter().find(|made| made.mark == version.mark);
                if made.is_none_or(|made| made.state != version.state) {
                    findings.push(format!("version {} is not what its lessons teach", version.mark));
                }
            }
            // A lesson that is missing would be lost for good.
            if !findings.is_empty() && fold.games == stored.games {
                report.remedy = Remedy::Repair;
            }
        }
    }
    Ok(Some(Some(report)))
}
