//! How far the database is from a node: after how long it answers.

use std::collections::VecDeque;
use std::time::Duration;

/// So many answers are looked at. A node asks some four times a second where the database is near, and once where it is
/// far, so that a line that has gone bad is known after a few seconds, and four lost packets are none yet.
const ANSWERS: usize = 9;

/// A database that answers later than this is far: a commit of other things than moves asks it three times and more, so
/// that moves begin to wait for half a second. What is written on one continent is answered sooner.
const FAR: Duration = Duration::from_millis(150);

/// Only if it answers another node so many times sooner is that one nearer: where the database itself is slow, nobody
/// is.
const NEARER: u32 = 4;

/// The last answers of the database to one node.
#[derive(Clone, Default, Debug)]
pub(crate) struct Distance {
    last: VecDeque<Duration>,
}

impl Distance {
    /// The database has answered after so long.
    pub(crate) fn answered(&mut self, after: Duration) {
        if self.last.len() == ANSWERS {
            self.last.pop_front();
        }
        self.last.push_back(after);
    }

    /// The median of the last answers; nothing until there are enough.
    pub(crate) fn median(&self) -> Option<Duration> {
        let mut sorted: Vec<Duration> = self.last.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(ANSWERS / 2).copied().filter(|_| sorted.len() == ANSWERS)
    }
}

/// Whether a node is far from the database and another one is not, by their medians.
pub(crate) fn is_farther(own: Option<Duration>, nearest_other: Option<Duration>) -> bool {
    let (Some(own), Some(other)) = (own, nearest_other) else { return false };
    own >= FAR && own >= other * NEARER
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn median(answers: impl IntoIterator<Item = u64>) -> Option<Duration> {
        let mut distance = Distance::default();
        answers.into_iter().for_each(|after| distance.answered(ms(after)));
        distance.median()
    }

    #[test]
    fn a_few_late_answers_are_no_distance() {
        assert_eq!(median([1; 8]), None, "too few to tell");
        assert_eq!(median([1, 1, 1, 1, 1, 900, 900, 900, 900]), Some(ms(1)));
        assert_eq!(median([1, 1, 1, 1, 200, 201, 202, 203, 204]), Some(ms(200)));
        assert_eq!(median([1; 100].into_iter().chain([200; 5])), Some(ms(200)), "the last ones count");
        assert_eq!(median([200; 100].into_iter().chain([1; 5])), Some(ms(1)), "it is near again");
    }

    #[test]
    fn a_node_is_far_only_where_another_one_is_near() {
        let check = |own, other, expected| {
            assert_eq!(is_farther(own, other), expected, "{own:?}, {other:?}");
        };
        check(Some(ms(200)), Some(ms(1)), true);
        check(Some(ms(200)), Some(ms(50)), true);
        check(Some(ms(200)), Some(ms(51)), false); // the database is slow for everybody
        check(Some(ms(149)), Some(ms(1)), false); // slow, and good enough
        check(Some(ms(150)), Some(ms(1)), true);
        check(Some(ms(200)), None, false); // nobody else can lead, or says how far it is
        check(None, Some(ms(1)), false);
        check(Some(Duration::MAX), Some(ms(1)), true);
    }
}
