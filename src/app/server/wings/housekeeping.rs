//! What keeps the store small, copied and readable by others.

use std::sync::Arc;

use futures::FutureExt as _;

use super::{Ground, KeptParts};
use crate::operations::backups::{BackupKeeper, BackupPlan};
use crate::operations::dumps::{DumpKeeper, DumpPlan};
use crate::operations::forgetting::{Forgetter, KeptDays};
use crate::operations::packing::Packer;
use crate::system::part::Part;
use crate::system::supervision::remade;

/// Keeps what leaves out what old games have beside their moves.
pub(super) fn keep_forgetting(parts: &mut KeptParts, ground: &Ground) {
    let settings = &ground.config.storage;
    let (lessons, notes) = (settings.keep_lessons_days.number(), settings.keep_notes_days.number());
    let forgetter = Forgetter {
        store: Arc::clone(&ground.store),
        writer: ground.writer.clone(),
        days: KeptDays { lessons, notes },
    };
    parts.keep(remade(Part::Forgetting, move |stop| forgetter.clone().run(stop).map(Ok)));
}

/// Keeps what packs the logs of finished games.
pub(super) fn keep_packing(parts: &mut KeptParts, ground: &Ground) {
    let packer = Packer { store: Arc::clone(&ground.store), writer: ground.writer.clone() };
    parts.keep(remade(Part::Packing, move |stop| packer.clone().run(stop).map(Ok)));
}

/// Keeps what copies the store by the schedule, if there is one.
pub(super) fn keep_backups(parts: &mut KeptParts, ground: &Ground) {
    let settings = &ground.config.backup;
    let Some(schedule) = settings.at.0.clone() else { return };
    let keeper = BackupKeeper {
        store: Arc::clone(&ground.store),
        metrics: Arc::clone(&ground.metrics),
        backups: ground.backups.clone(),
        plan: BackupPlan { schedule, directory: settings.directory.clone(), keep: settings.keep.count() },
    };
    parts.keep(remade(Part::Backups, move |stop| keeper.clone().run(stop).map(Ok)));
}

/// Keeps what writes all games into files by the schedule, if there is one.
pub(super) fn keep_dumps(parts: &mut KeptParts, ground: &Ground) {
    let settings = &ground.config.dump;
    let Some(schedule) = settings.at.0.clone() else { return };
    let plan = DumpPlan { schedule, directory: settings.directory.clone(), keep: settings.keep.count() };
    let keeper = DumpKeeper { store: Arc::clone(&ground.store), plan };
    parts.keep(remade(Part::Dumps, move |stop| keeper.clone().run(stop).map(Ok)));
}
