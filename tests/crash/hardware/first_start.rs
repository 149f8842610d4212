//! The power is cut while the very first command makes the database: the next one makes it, or finds it, whole.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use super::shim::{self, Counted, Failure, Fault};
use super::{Bench, Outcome};
use crate::below;
use crate::daemon::data;

/// Calls of the first command, and some more: those at which it is over already count as points too.
const CALLS: u32 = 430;

/// For so many power cuts elsewhere, one here.
const CUTS_PER_POINT: u32 = 16;

pub(super) fn run(bench: &Bench, cuts: u32) -> Outcome {
    let points = cuts.div_ceil(CUTS_PER_POINT).clamp(1, CALLS);
    let step = CALLS / points;
    let first = u32::try_from(bench.seed % u64::from(step)).unwrap_or(0) + 1;
    let (mut faults, mut unreached) = (Vec::new(), 0);
    for at in (0..points).map(|index| first + index * step) {
        let directory = below(&bench.directory, &format!("first-{at}"));
        let fault =
            Fault { failure: Failure::PowerCut, counted: Counted::Any, at, seed: bench.seed ^ u64::from(at) };
        let cut = create_account(bench.shim.fourfold(&directory, Some(&fault)), &directory, "ada");
        match shim::strike(&directory) {
            None => unreached += 1,
            Some(_) if cut.0.signal().is_some() => {}
            Some(strike) => faults.push(format!("first start, {strike:?}: it lived on, {}", cut.0)),
        }
        let (next, said) = create_account(crate::daemon::fourfold(), &directory, "bob");
        if !next.success() {
            faults.push(format!("first start, cut at call {at} ({}): then {next}: {said}", cut.0));
        }
    }
    let figures = format!(
        "first start: the power was cut at {} of the calls that make a database, each time the next start was well",
        points - unreached
    );
    if points == unreached {
        faults.push("the first start was never cut: nothing was tested".to_owned());
    }
    Outcome { figures, faults }
}

fn create_account(mut fourfold: Command, directory: &Path, name: &str) -> (ExitStatus, String) {
    fourfold.args(["account", "create", name, "--data"]).arg(data(directory));
    let output = fourfold.env("FOURFOLD_PASSWORD", "tea and biscuits").stdin(Stdio::null()).output();
    let output = output.expect("the binary starts");
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
}
