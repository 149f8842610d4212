//! The n-tuple learner: a pattern memory with values.
//!
//! A [`Network`] remembers, for some hundred groups of eight cells each, how games went in which they looked as they
//! look now, and adds up what they say. It learns from games against itself ([`Trainer`]) and from games of others
//! ([`NetworkLearner`]), on one core and in seconds; nobody tells it what is right. [`NTuple`] plays by what was
//! learnt, rounded to [`Weights`], at first sight or with a search on top.
//!
//! After Thill, Koch and Konen, "Reinforcement Learning with N-tuples on the Game Connect-4" (2012), and their later
//! work on eligibility traces (2014). What is ours, and what each part is worth in measured strength, is in
//! `docs/ntuple.md`.

mod average;
mod codec;
mod configured_learner;
mod layout;
mod learner;
mod member;
mod network;
mod openings;
mod percent;
mod plan;
mod player;
mod restarts;
mod self_play;
mod shape;
mod trace;
mod trainer;
mod walk;
mod weights;

use std::sync::{Arc, OnceLock};

pub use self::codec::CodecError;
pub(crate) use self::configured_learner::{learner, recall};
pub use self::learner::NetworkLearner;
pub use self::network::Network;
pub use self::openings::Openings;
pub use self::percent::{Percent, PercentError};
pub use self::plan::{Method, Tables, TablesError, TrainingPlan};
pub use self::player::{Look, NTuple};
pub use self::shape::NetworkShape;
pub use self::trainer::Trainer;
pub use self::weights::Weights;

/// The network that ships with the program. `bots/data/README.md` says how it was made.
static SHIPPED: &[u8] = include_bytes!("../data/ntuple-7x6.bin");

/// The network that ships with the program, read when it is first asked for; all bots share it.
///
/// # Panics
///
/// Panics if the program was built with a broken file, which a test rules out.
pub fn shipped() -> Arc<Weights> {
    static WEIGHTS: OnceLock<Arc<Weights>> = OnceLock::new();
    let read =
        || Arc::new(Weights::from_bytes(SHIPPED).expect("the file is part of the program and was tested"));
    Arc::clone(WEIGHTS.get_or_init(read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_network_is_read_and_small() {
        assert!(shipped().used() > 100_000);
        assert!(SHIPPED.len() <= 8 << 20, "{} bytes", SHIPPED.len());
        assert_eq!(shipped().to_bytes(), SHIPPED, "written by this version");
    }
}
