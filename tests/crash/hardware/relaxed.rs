//! The test can fail: with `durability = "relaxed"`, which does not promise to survive a power cut, one must be seen to
//! take acknowledged moves away. `kill -9` alone cannot tell the two apart.

use fourfold::model::durability::Durability;

use super::lane::{Lane, LanePlan, check_store};
use super::shim::{Counted, Failure, Fault};
use super::{Bench, Outcome};
use crate::players::TIME;

/// One in five power cuts leaves everything by chance; that so many in a row do is as good as impossible.
const CUTS_MAX: u32 = 20;

/// Writes before a cut: some ten moves.
const WRITES: u32 = 80;

pub(super) async fn run(bench: &Bench) -> Outcome {
    let plan = LanePlan { name: "relaxed".to_owned(), durability: Durability::Relaxed, time: TIME };
    let mut lane = Lane::open(bench, &plan).await;
    for cut in 1..=CUTS_MAX {
        let seed = bench.seed.wrapping_add(cut.into());
        let fault = Fault { failure: Failure::PowerCut, counted: Counted::Writes, at: WRITES, seed };
        if lane.restart(Some(&fault)).is_ok() && lane.ended().await.is_none() {
            break;
        }
        let found = check_store(&lane.directory, &lane.history).await;
        let lost = found.iter().filter(|fault| fault.contains("was acknowledged, stored is")).count();
        if lost > 0 {
            let figures = format!(
                "relaxed: power cut {cut} took acknowledged moves away, as it may, and the check found {lost}"
            );
            return Outcome { figures, faults: Vec::new() };
        }
    }
    let fault = format!("{CUTS_MAX} power cuts with relaxed durability lost nothing: the test cannot fail");
    Outcome { figures: "relaxed: no loss was found".to_owned(), faults: vec![fault] }
}
