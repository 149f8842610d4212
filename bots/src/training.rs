//! Training and what it is measured by: what needs the registry, as teachers and opponents are bots too.
//!
//! `fourfold train` takes the steps of a [`TrainingRun`], shows progress, measures now and then ([`probe`],
//! [`decisions`]), saves, and stops between two steps when told to. [`evolution`] is of `c4ai`, [`optimiser`] of
//! `lines69`, [`teachers`] of the pattern memories; the network trains itself, with [`crate::ntuple::Trainer`].

pub mod decisions;
pub mod evolution;
pub mod optimiser;
pub mod probe;
pub mod teachers;

pub use crate::training_run::{Notes, TrainingError, TrainingRun};
