//! What nobody has answered. An order changes something at another node, or asks it; it is repeated until it is
//! answered or given up. That a repeated one does nothing twice is the receiver's part: it names what it is about.

use std::collections::BTreeMap;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// After so long an order is sent again.
const REPEAT_AFTER: Duration = Duration::from_secs(1);

/// After so long whoever asked is told that nobody answers.
const GIVE_UP_AFTER: Duration = Duration::from_secs(5);

/// An order that was under way for so long is dropped: whoever gave it has long given it up.
pub(crate) const TOO_OLD_AFTER: Duration = Duration::from_secs(10);

/// Names an order of one node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct OrderNumber(u64);

impl OrderNumber {
    /// The first one.
    pub(crate) const FIRST: Self = Self(1);

    pub(crate) fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for OrderNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for OrderNumber {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}

#[derive(Clone, Debug)]
struct Waiting<O> {
    order: O,
    given: Instant,
    /// None if it is to be sent at once.
    sent: Option<Instant>,
}

/// The orders of a node that wait for an answer.
#[derive(Clone, Debug)]
pub(crate) struct Unanswered<O> {
    next: u64,
    waiting: BTreeMap<OrderNumber, Waiting<O>>,
}

impl<O> Default for Unanswered<O> {
    fn default() -> Self {
        Self { next: 0, waiting: BTreeMap::new() }
    }
}

impl<O: Clone> Unanswered<O> {
    /// Takes note of an order that is to be sent.
    pub(crate) fn add(&mut self, order: O, now: Instant) -> OrderNumber {
        self.next += 1;
        let number = OrderNumber(self.next);
        self.waiting.insert(number, Waiting { order, given: now, sent: Some(now) });
        number
    }

    /// The order that was answered, if it still waits: a second answer is none.
    pub(crate) fn answered(&mut self, number: OrderNumber) -> Option<O> {
        self.waiting.remove(&number).map(|waiting| waiting.order)
    }

    /// Has orders sent again at once: the owner of what they are about has changed.
    pub(crate) fn hurry(&mut self, is_meant: impl Fn(&O) -> bool) {
        for waiting in self.waiting.values_mut().filter(|waiting| is_meant(&waiting.order)) {
            waiting.sent = None;
        }
    }

    /// Orders to be sent again now.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<(OrderNumber, O)> {
        let is_due = |waiting: &Waiting<O>| {
            waiting.sent.is_none_or(|sent| now.saturating_duration_since(sent) >= REPEAT_AFTER)
        };
        let due = self.waiting.iter_mut().filter(|(_, waiting)| is_due(waiting));
        due.map(|(number, waiting)| {
            waiting.sent = Some(now);
            (*number, waiting.order.clone())
        })
        .collect()
    }

    /// Takes out the orders that nobody will answer.
    pub(crate) fn given_up(&mut self, now: Instant) -> Vec<(OrderNumber, O)> {
        let is_over = |waiting: &Waiting<O>| now.saturating_duration_since(waiting.given) >= GIVE_UP_AFTER;
        let over = self.waiting.extract_if(.., |_, waiting| is_over(waiting));
        over.map(|(number, waiting)| (number, waiting.order)).collect()
    }

    /// The lowest number that may still be sent: of those before it nobody waits for an answer.
    pub(crate) fn oldest(&self) -> OrderNumber {
        let next = OrderNumber(self.next).next();
        self.waiting.first_key_value().map_or(next, |(number, _)| *number)
    }

    /// Whether an order like this waits.
    #[cfg(test)]
    pub(crate) fn any(&self, is_meant: impl Fn(&O) -> bool) -> bool {
        self.waiting.values().any(|waiting| is_meant(&waiting.order))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_repeated_until_it_is_answered_once() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut orders = Unanswered::default();
        let (first, second) = (orders.add("first", start), orders.add("second", start));
        assert_eq!(orders.due(at(999)), []);
        assert_eq!(orders.due(at(1_000)), [(first, "first"), (second, "second")]);
        assert_eq!(orders.due(at(1_999)), []);
        assert_eq!(orders.answered(first), Some("first"));
        assert_eq!(orders.answered(first), None);
        orders.hurry(|order| *order == "second");
        assert!(orders.any(|order| *order == "second") && !orders.any(|order| *order == "first"));
        assert_eq!(orders.due(at(1_500)), [(second, "second")]);
        assert_eq!(orders.due(at(2_499)), []);
        assert_eq!(orders.given_up(at(4_999)), []);
        assert_eq!(orders.oldest(), second);
        assert_eq!(orders.given_up(at(5_000)), [(second, "second")]);
        assert!(orders.is_empty());
        assert_eq!(orders.oldest(), second.next());
        assert_ne!(orders.add("third", at(6_000)), second, "numbers do not come back");
        assert!(GIVE_UP_AFTER < TOO_OLD_AFTER);
    }
}
