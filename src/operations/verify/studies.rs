//! Studies: each must be a line that can be played, with comments on it, of an account that may have so many.

use std::collections::BTreeMap;

use super::{PAGE, VerifyReport};
use crate::model::ids::PlayerId;
use crate::storage::studies::STUDIES_MAX;
use crate::storage::{Store, StoreError};

/// Reads all studies, page by page.
pub(super) async fn check(report: &mut VerifyReport, store: &dyn Store) -> Result<(), StoreError> {
    let mut of: BTreeMap<PlayerId, usize> = BTreeMap::new();
    let mut after = 0;
    loop {
        let page = store.audit_studies(after, PAGE).await?;
        let is_last = page.len() < PAGE as usize;
        report.studies += page.len() as u64;
        for loaded in page {
            match loaded {
                Ok(study) => {
                    after = study.number;
                    *of.entry(study.owner).or_default() += 1;
                }
                Err(damaged) => {
                    after = damaged.number;
                    report.findings.push(format!("study {}: {}", damaged.id, damaged.what));
                }
            }
        }
        if is_last {
            break;
        }
    }
    let too_many = of.into_iter().filter(|(_, count)| *count > STUDIES_MAX);
    let finding = |(owner, count)| {
        format!("account {owner} has {count} studies, and nobody may have over {STUDIES_MAX}")
    };
    report.findings.extend(too_many.map(finding));
    Ok(())
}
