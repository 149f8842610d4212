//! Makes a failing plan short: leaves out deeds as long as it fails all the same.

use crate::defect::Defect;
use crate::plan::Plan;
use crate::run::run;

/// Most attempts: each takes a tenth of a second.
const ATTEMPTS_MAX: u32 = 400;

/// The numbers of the deeds that are left of a plan that fails: without any of them it does not, or nobody has tried.
pub(crate) fn shrink(plan: &Plan, defect: Option<Defect>) -> Vec<usize> {
    let mut kept: Vec<usize> = plan.ops.iter().map(|op| op.number).collect();
    let mut attempts = 0;
    let mut size = kept.len().div_ceil(2);
    while size > 0 {
        let mut start = 0;
        while start < kept.len() && attempts < ATTEMPTS_MAX {
            let end = kept.len().min(start + size);
            let rest: Vec<usize> = kept[..start].iter().chain(&kept[end..]).copied().collect();
            attempts += 1;
            if run(&plan.keeping(&rest), defect).faults.is_empty() {
                start = end;
            } else {
                kept = rest;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    kept
}
