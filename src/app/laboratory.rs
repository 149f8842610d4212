//! Work without a daemon: bots trained, matched, rated and measured on one machine, and the opening book made.

pub(in crate::app) mod bench;
pub(in crate::app) mod book;
pub(in crate::app) mod classic;
pub(in crate::app) mod contest;
pub(in crate::app) mod engine_cmd;
pub(in crate::app) mod log_cmd;
pub(in crate::app) mod match_cmd;
pub(in crate::app) mod measure;
pub(in crate::app) mod rate;
pub(in crate::app) mod tournament;
pub(in crate::app) mod train;
