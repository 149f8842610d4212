//! How many positions of which kind are wanted.

use std::collections::BTreeMap;

use clap::ValueEnum;
use fourfold_arena::measure::classes::PositionClass;
use fourfold_engine::solver::Value;

use super::draw::{Candidate, PlyRange};
use super::label::Label;

/// Of what there are as many as of any other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Balance {
    /// As they come.
    None,
    /// Won, drawn and lost for the side to move.
    Value,
    /// The classes asked for, or all that the plies reach.
    Class,
    /// Numbers of stones.
    Ply,
}

/// A kind of positions that is counted apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Any,
    Value(Value),
    Class(PositionClass),
    Ply(u32),
}

impl Kind {
    fn words(self) -> String {
        match self {
            Self::Any => "any value".to_owned(),
            Self::Value(value) => format!("value {value}"),
            Self::Class(class) => format!("class {class}"),
            Self::Ply(ply) => format!("{ply} stones"),
        }
    }
}

/// What is still wanted.
pub(super) struct Quotas {
    balance: Balance,
    classes: Vec<PositionClass>,
    left: BTreeMap<Kind, u64>,
}

impl Quotas {
    pub(super) fn new(balance: Balance, positions: u32, plies: PlyRange, classes: &[PositionClass]) -> Self {
        let kinds: Vec<Kind> = match balance {
            Balance::None => vec![Kind::Any],
            Balance::Value => [Value::Win, Value::Draw, Value::Loss].map(Kind::Value).to_vec(),
            Balance::Class => {
                let wanted = |class: &PositionClass| {
                    plies.reaches(*class) && (classes.is_empty() || classes.contains(class))
                };
                PositionClass::ALL.into_iter().filter(wanted).map(Kind::Class).collect()
            }
            Balance::Ply => (plies.from..=plies.to).map(Kind::Ply).collect(),
        };
        // What does not divide evenly goes to the first kinds.
        let (each, more) =
            (u64::from(positions) / kinds.len() as u64, u64::from(positions) % kinds.len() as u64);
        let left = (0..).zip(kinds).map(|(place, kind)| (kind, each + u64::from(place < more)));
        Self { balance, classes: classes.to_vec(), left: left.collect() }
    }

    pub(super) fn are_full(&self) -> bool {
        self.left.values().all(|&left| left == 0)
    }

    /// The kind of which the most is missing, in words.
    pub(super) fn missing(&self) -> String {
        let most = self.left.iter().max_by_key(|&(_, &left)| left);
        most.map(|(kind, _)| kind.words()).unwrap_or_default()
    }

    /// Whether a position may be wanted once it is solved, as far as that can be told before.
    pub(super) fn may_want(&self, candidate: &Candidate) -> bool {
        let ply = candidate.game.ply();
        let has_class = |class: &PositionClass| {
            let (from, to) = class.stones();
            (from..=to).contains(&ply)
        };
        let in_classes = self.classes.is_empty() || self.classes.iter().any(has_class);
        in_classes
            && match self.balance {
                Balance::None | Balance::Value => true,
                Balance::Ply => self.left.get(&Kind::Ply(ply)).is_some_and(|&left| left > 0),
                Balance::Class => self
                    .left
                    .iter()
                    .any(|(kind, &left)| left > 0 && matches!(kind, Kind::Class(class) if has_class(class))),
            }
    }

    /// Takes a position if it is wanted.
    pub(super) fn take(&mut self, label: &Label) -> bool {
        let kind = match self.balance {
            Balance::None => Kind::Any,
            Balance::Value => Kind::Value(label.value),
            Balance::Class => Kind::Class(label.class),
            Balance::Ply => Kind::Ply(label.ply),
        };
        let is_of_a_class = self.classes.is_empty() || self.classes.contains(&label.class);
        match self.left.get_mut(&kind) {
            Some(left) if *left > 0 && is_of_a_class => {
                *left -= 1;
                true
            }
            Some(_) | None => false,
        }
    }
}
