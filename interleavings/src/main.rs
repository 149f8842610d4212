//! Tries orders in which threads may go on, on the pieces of the daemon that wait and share by rules of their own.
//!
//! ```text
//! cargo run --release -- [NAME] [--schedules N]
//! ```
//!
//! Each piece is tried as it is, which must hold, and with a mistake in the order of its steps, which must be found.

#![expect(dead_code, reason = "of each piece the model uses what it is about")]

mod stand_ins;

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, FailurePersistence, Runner};

pub(crate) use stand_ins::{ShareSettings, model, protocol};

/// Schedules that are tried of each piece unless one says how many.
const SCHEDULES: usize = 20_000;

/// In half of the schedules one thread goes on until it cannot, but for so many changes: most faults of order show
/// with very few.
const CHANGES: usize = 3;

/// A piece as `build.rs` has taken it out, with its model.
macro_rules! piece {
    ($name:ident, $file:literal, $model:literal $(, { $($beside:item)* })?) => {
        mod $name {
            $($($beside)*)?
            mod piece {
                include!(concat!(env!("OUT_DIR"), "/", $file, ".rs"));
                include!(concat!("models/", $model, ".rs"));
            }
            pub(crate) use piece::model;
        }
    };
}

/// What the turns are taken by, which is the same in both forms.
macro_rules! line {
    () => {
        mod line {
            include!(concat!(env!("OUT_DIR"), "/line.rs"));
        }
        mod network {
            include!(concat!(env!("OUT_DIR"), "/network.rs"));
        }
    };
}

/// What both kinds of buckets of the solver's table are.
macro_rules! bucket {
    () => {
        mod bucket {
            include!(concat!(env!("OUT_DIR"), "/bucket.rs"));
        }
    };
}

piece!(outbox, "outbox", "outbox");
piece!(outbox_spoilt, "outbox_spoilt", "outbox");
piece!(ask, "ask", "ask");
piece!(ask_spoilt, "ask_spoilt", "ask");
piece!(precedence, "precedence", "precedence");
piece!(precedence_spoilt, "precedence_spoilt", "precedence");
piece!(plain_bucket, "plain_bucket", "plain_bucket", {
    bucket!();
});
piece!(plain_bucket_spoilt, "plain_bucket_spoilt", "plain_bucket", {
    bucket!();
});
piece!(turns, "turns", "turns", {
    use crate::ShareSettings;
    line!();
});
piece!(turns_spoilt, "turns_spoilt", "turns", {
    use crate::ShareSettings;
    line!();
});
piece!(versioned_bucket, "versioned_bucket", "versioned_bucket", {
    bucket!();
});
piece!(versioned_bucket_spoilt, "versioned_bucket_spoilt", "versioned_bucket", {
    bucket!();
});

/// Name, model, model of the spoilt form.
type Trial = (&'static str, fn(), fn());

const TRIALS: &[Trial] = &[
    ("ask", ask::model, ask_spoilt::model),
    ("outbox", outbox::model, outbox_spoilt::model),
    ("precedence", precedence::model, precedence_spoilt::model),
    ("plain_bucket", plain_bucket::model, plain_bucket_spoilt::model),
    ("turns", turns::model, turns_spoilt::model),
    ("versioned_bucket", versioned_bucket::model, versioned_bucket_spoilt::model),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mut only, mut schedules) = (None, SCHEDULES);
    while let Some(argument) = arguments.next() {
        if argument != "--schedules" {
            only = Some(argument);
        } else if let Some(number) = arguments.next().and_then(|number| number.parse().ok()) {
            schedules = number;
        } else {
            eprintln!("--schedules takes a number");
            return ExitCode::from(2);
        }
    }
    let mut trials =
        TRIALS.iter().filter(|(name, ..)| only.as_deref().is_none_or(|only| only == *name)).peekable();
    if trials.peek().is_none() {
        eprintln!("the pieces are {:?}", TRIALS.iter().map(|(name, ..)| name).collect::<Vec<_>>());
        return ExitCode::from(2);
    }
    let mut holds = true;
    for (name, model, spoilt) in trials {
        let sound = holds_in(*model, schedules, Tells::Faults);
        let found = !holds_in(*spoilt, schedules, Tells::Nothing);
        let word = |good: bool, yes, no| if good { yes } else { no };
        println!(
            "{name}: {} in {schedules} schedules; the mistake is {}",
            word(sound, "holds", "FAILS"),
            word(found, "found", "NOT FOUND"),
        );
        holds &= sound && found;
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether a fault is printed, with the schedule that repeats it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tells {
    Faults,
    Nothing,
}

/// Whether a model holds in half of the schedules with few changes and in half of them with many.
fn holds_in(model: fn(), schedules: usize, tells: Tells) -> bool {
    let mut config = Config::new();
    // The table is read and written word by word, and asks nothing of the order of other words.
    config.silence_warnings = true;
    if tells == Tells::Nothing {
        config.failure_persistence = FailurePersistence::None;
        panic::set_hook(Box::new(|_| ()));
    }
    let half = schedules.div_ceil(2);
    let few = PctScheduler::new_from_seed(1, CHANGES, half);
    let many = RandomScheduler::new_from_seed(2, half);
    let tried = panic::catch_unwind(AssertUnwindSafe(|| {
        Runner::new(few, config.clone()).run(model);
        Runner::new(many, config).run(model);
    }));
    drop(panic::take_hook());
    tried.is_ok()
}
