//! What happens in a run, as it follows from its seed: who takes part, and what befalls them when.
//!
//! A plan is a list, so that a failing one can be made shorter. What a deed leaves open (which game, which column) is
//! drawn when it is done, by a number of its own, so that leaving out one deed changes no other.

use fourfold::storage::memory::Parting;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use crate::disk::Death;
use crate::net::Weather;

/// Who a client is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Guest,
    /// With an account.
    Person,
    /// A remote bot with an owner of its own.
    Bot,
}

/// How a client behaves by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Habits {
    pub(crate) kind: Kind,
    /// Answers its turns after so long; otherwise only when it is told to.
    pub(crate) answers_after_ms: Option<u64>,
    /// Another client that is the same player, at another machine.
    pub(crate) same_as: Option<usize>,
}

/// A move that a client makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MoveSort {
    Legal,
    /// In a column that is full or none.
    Illegal,
    /// The last one again, as after a lost answer.
    Repeated,
    /// The last ply again in another column.
    Changed,
    /// For a ply that is not due yet.
    Early,
}

/// What a client says about one of its games.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    Resign,
    Abort,
    Rematch,
    Claim,
    Sync,
    Takeback,
    Agree,
    Disagree,
    React,
}

/// Something that one client does, or that happens to its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    /// Goes on with its session, if it has one.
    Connect(Weather),
    /// Begins another session.
    ConnectAfresh,
    Cut,
    Bye,
    /// No new games, and away when the last one has ended.
    Drain,
    Weather(Weather),
    Move(MoveSort),
    Say(Word),
    Seek,
    SeekRated,
    Unseek,
    Challenge,
    ChallengeRated,
    ChallengePair,
    Accept,
    Decline,
    Cancel,
    PlayBot,
    Watch,
    Unwatch,
    Flood,
    Garbage,
}

/// Something that happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Deed {
    Client {
        client: usize,
        act: Act,
    },
    SlowDisk {
        ms: u64,
    },
    FullDisk {
        commits: usize,
    },
    FailingDisk,
    /// The server of the database goes away in the next commits.
    ServerAway {
        parting: Parting,
        commits: usize,
    },
    UnreadableDisk {
        reads: u32,
    },
    /// The process is killed now.
    Kill {
        down_ms: u64,
    },
    /// It is killed at its next commit.
    KillAt {
        death: Death,
        down_ms: u64,
    },
    /// It stops as planned.
    Restart {
        down_ms: u64,
    },
    /// It stands still, as a machine that is moved.
    Standstill {
        ms: u64,
    },
    /// The clock on the wall is set.
    Wall {
        by_ms: i64,
    },
}

/// A deed and when it is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Op {
    /// Its place in the whole plan.
    pub(crate) number: usize,
    /// From the start of the run.
    pub(crate) at_ms: u64,
    /// Decides what the deed leaves open.
    pub(crate) draw: u64,
    pub(crate) deed: Deed,
}

/// All that follows from a seed.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) clients: Vec<Habits>,
    pub(crate) ops: Vec<Op>,
}

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let mut clients: Vec<Habits> = (0..chance.random_range(2..=6)).map(|_| habits(&mut chance)).collect();
        // Some players are there twice.
        for number in 1..clients.len() {
            let other = chance.random_range(0..number);
            if chance.random_bool(0.2)
                && clients[other].kind != Kind::Guest
                && clients[other].same_as.is_none()
            {
                clients[number] =
                    Habits { same_as: Some(other), kind: clients[other].kind, ..clients[number] };
            }
        }
        // Some runs are quiet, so that games come to their ends; some have faults at every turn.
        let trouble = *[0.0, 0.02, 0.06, 0.15].choose(&mut chance).expect("there are four");
        let count = chance.random_range(30..=140);
        let mut at_ms = 0;
        let mut ops: Vec<Op> = Vec::new();
        for client in 0..clients.len() {
            ops.push(Op { number: 0, at_ms, draw: 0, deed: connect(client) });
        }
        for _ in 0..count {
            at_ms += gap_ms(&mut chance);
            let deed = if chance.random_bool(trouble) {
                disaster(&mut chance)
            } else {
                Deed::Client { client: chance.random_range(0..clients.len()), act: act(&mut chance) }
            };
            ops.push(Op { number: 0, at_ms, draw: chance.random(), deed });
        }
        ops.iter_mut().zip(0..).for_each(|(op, number)| op.number = number);
        Self { seed, clients, ops }
    }

    /// The same with these deeds only.
    pub(crate) fn keeping(&self, kept: &[usize]) -> Self {
        let ops = self.ops.iter().filter(|op| kept.contains(&op.number)).copied().collect();
        Self { ops, ..self.clone() }
    }
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, client) in self.clients.iter().enumerate() {
            writeln!(f, "  client {number}: {client:?}")?;
        }
        for Op { number, at_ms, deed, .. } in &self.ops {
            writeln!(f, "  {at_ms:>7} ms  #{number} {deed:?}")?;
        }
        Ok(())
    }
}

fn habits(chance: &mut ChaCha8Rng) -> Habits {
    let kind = *[Kind::Guest, Kind::Person, Kind::Person, Kind::Bot].choose(chance).expect("there are four");
    let answers_after_ms = chance.random_bool(0.6).then(|| chance.random_range(0..400));
    Habits { kind, answers_after_ms, same_as: None }
}

fn connect(client: usize) -> Deed {
    Deed::Client { client, act: Act::Connect(Weather::Quick) }
}

/// Mostly so short that deeds overlap, sometimes so long that somebody's patience ends.
fn gap_ms(chance: &mut ChaCha8Rng) -> u64 {
    match chance.random_range(0..100) {
        0..70 => chance.random_range(0..150),
        70..92 => chance.random_range(150..2_000),
        92..99 => chance.random_range(2_000..12_000),
        _ => chance.random_range(12_000..130_000),
    }
}

fn disaster(chance: &mut ChaCha8Rng) -> Deed {
    let down_ms = if chance.random_bool(0.8) {
        chance.random_range(50..3_000)
    } else {
        chance.random_range(3_000..150_000)
    };
    match chance.random_range(0..12) {
        0 => Deed::SlowDisk { ms: chance.random_range(20..3_000) },
        1 => Deed::FullDisk { commits: chance.random_range(1..4) },
        2 => Deed::FailingDisk,
        3 => Deed::Kill { down_ms },
        4 => Deed::KillAt { death: Death::BeforeCommit, down_ms },
        5 => Deed::KillAt { death: Death::AfterCommit, down_ms },
        6 => Deed::Restart { down_ms },
        7 => Deed::UnreadableDisk { reads: chance.random_range(1..5) },
        9 => Deed::ServerAway { parting: Parting::BeforeCommit, commits: chance.random_range(1..4) },
        10 => Deed::ServerAway { parting: Parting::AfterCommit, commits: chance.random_range(1..4) },
        8 => Deed::Standstill { ms: chance.random_range(100..40_000) },
        _ => Deed::Wall { by_ms: chance.random_range(-7_200_000..7_200_000) },
    }
}

/// What clients do, each as often as it is named a weight.
const ACTS: &[(u32, Act)] = &[
    (8, Act::Connect(Weather::Quick)),
    (2, Act::Connect(Weather::Slow)),
    (1, Act::ConnectAfresh),
    (4, Act::Cut),
    (1, Act::Bye),
    (1, Act::Drain),
    (2, Act::Weather(Weather::Slow)),
    (2, Act::Weather(Weather::Quick)),
    (1, Act::Weather(Weather::Hole)),
    (2, Act::Weather(Weather::Tearing)),
    (24, Act::Move(MoveSort::Legal)),
    (2, Act::Move(MoveSort::Illegal)),
    (4, Act::Move(MoveSort::Repeated)),
    (2, Act::Move(MoveSort::Changed)),
    (1, Act::Move(MoveSort::Early)),
    (2, Act::Say(Word::Resign)),
    (1, Act::Say(Word::Abort)),
    (3, Act::Say(Word::Rematch)),
    (2, Act::Say(Word::Claim)),
    (2, Act::Say(Word::Sync)),
    (2, Act::Say(Word::Takeback)),
    (2, Act::Say(Word::Agree)),
    (1, Act::Say(Word::Disagree)),
    (1, Act::Say(Word::React)),
    (5, Act::Seek),
    (5, Act::SeekRated),
    (1, Act::Unseek),
    (3, Act::Challenge),
    (3, Act::ChallengeRated),
    (1, Act::ChallengePair),
    (6, Act::Accept),
    (1, Act::Decline),
    (1, Act::Cancel),
    (3, Act::PlayBot),
    (3, Act::Watch),
    (1, Act::Unwatch),
    (1, Act::Flood),
    (1, Act::Garbage),
];

fn act(chance: &mut ChaCha8Rng) -> Act {
    ACTS.choose_weighted(chance, |(weight, _)| *weight).expect("weights above zero").1
}
