//! Runs that failed once, made short, each with what was wrong. They are carried out with all others.
//!
//! They are written as the command prints them, so they stay what they are when the drawing of plans changes.

#![expect(clippy::enum_glob_use, reason = "deeds are written as they are printed")]

use crate::disk::Death::*;
use crate::net::Weather::*;
use crate::plan::Act::*;
use crate::plan::Deed::{self, *};
use crate::plan::Kind::*;
use crate::plan::{Habits, Op, Plan};

/// A run that failed.
#[derive(Debug)]
pub(crate) struct KeptRun {
    /// What went wrong then, in the words of the judge.
    pub(crate) found: &'static str,
    seed: u64,
    clients: &'static [Habits],
    /// When, what decides the rest, and what is done.
    ops: &'static [(u64, u64, Deed)],
}

impl KeptRun {
    pub(crate) fn plan(&self) -> Plan {
        let op = |(number, (at_ms, draw, deed)): (usize, &(u64, u64, Deed))| Op {
            number,
            at_ms: *at_ms,
            draw: *draw,
            deed: *deed,
        };
        Plan {
            seed: self.seed,
            clients: self.clients.to_vec(),
            ops: self.ops.iter().enumerate().map(op).collect(),
        }
    }
}

/// A plan as it stands in the list below.
pub(crate) fn printed(plan: &Plan, found: &str) -> String {
    let Plan { seed, clients, ops } = plan;
    let op = |Op { at_ms, draw, deed, .. }: &Op| format!("            ({at_ms}, {draw}, {deed:?}),");
    let ops = ops.iter().map(op).collect::<Vec<_>>().join("\n");
    let head = format!(
        "    KeptRun {{\n        found: {found:?},\n        seed: {seed},\n        clients: &{clients:?},"
    );
    format!("{head}\n        ops: &[\n{ops}\n        ],\n    }},")
}

pub(crate) const KEPT: &[KeptRun] = &[
    KeptRun {
        found: "a bot of the house has moved, and its opponent knows nothing of the game",
        seed: 536,
        clients: &[Habits { kind: Person, answers_after_ms: None, same_as: None }],
        ops: &[
            (0, 0, Client { client: 0, act: Connect(Quick) }),
            (10_642, 0, KillAt { death: AfterCommit, down_ms: 2_823 }),
            (36_319, 0, Client { client: 0, act: PlayBot }),
            (212_606, 0, Client { client: 0, act: PlayBot }),
        ],
    },
    KeptRun {
        found: "a game ended after a kill, before its player was back",
        seed: 31,
        clients: &[Habits { kind: Bot, answers_after_ms: None, same_as: None }],
        ops: &[
            (0, 0, Client { client: 0, act: Connect(Quick) }),
            (3_000, 0, Client { client: 0, act: PlayBot }),
            (3_400, 0, Kill { down_ms: 2_651 }),
            (131_000, 0, Client { client: 0, act: Connect(Quick) }),
        ],
    },
    KeptRun {
        found: "a turn was told before a standstill and heard after it",
        seed: 4_985,
        clients: &[Habits { kind: Bot, answers_after_ms: Some(139), same_as: None }],
        ops: &[
            (294, 0, Client { client: 0, act: Connect(Quick) }),
            (2_747, 0, Client { client: 0, act: PlayBot }),
            (2_800, 0, Standstill { ms: 2_617 }),
        ],
    },
    KeptRun {
        found: "a planned stop charges the time until it, and no more",
        seed: 4_100,
        clients: &[Habits { kind: Bot, answers_after_ms: None, same_as: None }],
        ops: &[
            (0, 0, Client { client: 0, act: Connect(Quick) }),
            (3_000, 0, Client { client: 0, act: PlayBot }),
            (3_800, 0, Restart { down_ms: 60_012 }),
        ],
    },
];
