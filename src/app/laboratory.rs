//! Work without a daemon: bots trained, matched, rated and measured on one machine, and the opening book made.

pub(in crate::app) mod bench;
pub(in crate::app) mod book;
pub(in crate::app) mod classic;
pub(in crate::app) mod contest;
pub(in crate::app) mod crew;
pub(in crate::app) mod dataset;
pub(in crate::app) mod engine_cmd;
pub(in crate::app) mod fair_play;
pub(in crate::app) mod labels;
pub(in crate::app) mod log_cmd;
pub(in crate::app) mod match_cmd;
pub(in crate::app) mod measure;
mod paper;
pub(in crate::app) mod rate;
pub(in crate::app) mod report;
pub(in crate::app) mod tournament;
pub(in crate::app) mod train;
