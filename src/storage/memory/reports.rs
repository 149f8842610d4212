//! What people report about others, in memory.

use async_trait::async_trait;

use super::{MemoryStore, MemoryTables};
use crate::model::ids::PlayerId;
use crate::storage::reports::{
    NewReport, REPORTS_MAX, ReportQuery, ReportState, ReportStore, ReportVerdict, StoredReport,
};
use crate::storage::store::{Refused, StoreError, Written};

impl MemoryTables {
    pub(super) fn add_report(&mut self, report: &NewReport) -> Result<Written, Refused> {
        self.check_player(&report.reporter)?;
        self.check_player(&report.player)?;
        let NewReport { reporter, player, game, reason, note, at } = report.clone();
        let is_same = |other: &StoredReport| {
            other.state.is_open() && other.player == player && other.reporter.as_ref() == Some(&reporter)
        };
        if self.reports.iter().any(is_same) {
            return Err(Refused::ReportedAlready);
        }
        if self.reports.len() >= REPORTS_MAX as usize {
            let oldest = self.reports.iter().position(|other| !other.state.is_open());
            self.reports.remove(oldest.ok_or(Refused::TooMany)?);
        }
        let number = self.reports.last().map_or(1, |last| last.number + 1);
        self.reports.push(StoredReport {
            number,
            reporter: Some(reporter),
            player,
            game,
            reason,
            note,
            at,
            state: ReportState::Open,
            handled_by: None,
        });
        Ok(Written::Done)
    }

    pub(super) fn handle_report(&mut self, verdict: &ReportVerdict) -> Result<Written, Refused> {
        let ReportVerdict { number, step, because } = verdict;
        let report = self.reports.iter_mut().find(|report| report.number == *number);
        let report = report.ok_or(Refused::NoSuchReport)?;
        if !report.state.is_open() {
            return Err(Refused::ReportClosed);
        }
        report.state = step.state();
        report.handled_by = Some(because.by.clone());
        let entry = step.entry(*number, &report.player);
        self.note(entry, because);
        Ok(Written::Done)
    }

    pub(super) fn forget_notes(&mut self, reporter: &PlayerId) {
        for report in self.reports.iter_mut().filter(|report| report.reporter.as_ref() == Some(reporter)) {
            report.note.clear();
        }
    }

    pub(super) fn forget_reporting_guest(&mut self, guest: &PlayerId) {
        self.reports.retain(|report| report.player != *guest);
        for report in self.reports.iter_mut().filter(|report| report.reporter.as_ref() == Some(guest)) {
            report.reporter = None;
        }
    }
}

#[async_trait]
impl ReportStore for MemoryStore {
    async fn reports(&self, query: ReportQuery, limit: u32) -> Result<Vec<StoredReport>, StoreError> {
        let tables = self.tables();
        let limit = limit as usize;
        Ok(match query {
            ReportQuery::Open => {
                tables.reports.iter().filter(|report| report.state.is_open()).take(limit).cloned().collect()
            }
            ReportQuery::All => tables.reports.iter().rev().take(limit).cloned().collect(),
        })
    }

    async fn reports_by(&self, reporter: &PlayerId) -> Result<Vec<StoredReport>, StoreError> {
        let tables = self.tables();
        let is_by = |report: &&StoredReport| report.reporter.as_ref() == Some(reporter);
        Ok(tables.reports.iter().rev().filter(is_by).cloned().collect())
    }
}
