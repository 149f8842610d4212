//! Who comes next where only some fit at a time: pure book-keeping of a line in which networks take turns.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use super::ShareSettings;

/// How many there may be. Of one network, so many for each of its shares; this machine may be free of that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LineRule {
    /// At work at the same time.
    pub(crate) at_work: usize,
    /// Of them, of one network.
    pub(crate) at_work_of_network: usize,
    /// Waiting. When all places are taken, a network that waits with several gives its last one to a network that waits
    /// with none.
    pub(crate) waiting: usize,
    /// Of them, of one network.
    pub(crate) waiting_of_network: usize,
}

/// What becomes of somebody who comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entered {
    /// It is their turn.
    Begins,
    /// They wait.
    Waits,
    /// They wait, in the place of this one, who must go.
    Displaces(u64),
    /// There is no place for them.
    Full,
}

/// Those at work and those who wait. Whoever waits has a number of the caller's choice.
#[derive(Debug)]
pub(super) struct Line {
    rule: LineRule,
    settings: ShareSettings,
    at_work: HashMap<IpAddr, usize>,
    waiting: HashMap<IpAddr, VecDeque<u64>>,
    /// How many that are.
    waiting_in_all: usize,
    /// The networks that wait, the next one first. A network that had its turn goes to the end.
    order: VecDeque<IpAddr>,
}

impl Line {
    pub(super) fn new(rule: LineRule, settings: ShareSettings) -> Self {
        let (at_work, waiting) = (HashMap::new(), HashMap::new());
        Self { rule, settings, at_work, waiting, waiting_in_all: 0, order: VecDeque::new() }
    }

    pub(super) fn enter(&mut self, network: IpAddr, number: u64) -> Entered {
        let waits = self.waiting.get(&network).map_or(0, VecDeque::len);
        if waits == 0 && self.may_begin(network) {
            *self.at_work.entry(network).or_default() += 1;
            return Entered::Begins;
        }
        if waits >= self.settings.part_of(network, self.rule.waiting_of_network) {
            return Entered::Full;
        }
        let displaced = if self.waiting_in_all < self.rule.waiting {
            None
        } else {
            match self.displace(waits) {
                None => return Entered::Full,
                some => some,
            }
        };
        if waits == 0 {
            self.order.push_back(network);
        }
        self.waiting.entry(network).or_default().push_back(number);
        self.waiting_in_all += 1;
        displaced.map_or(Entered::Waits, Entered::Displaces)
    }

    /// Somebody of this network is ready.
    pub(super) fn leave(&mut self, network: IpAddr) {
        if let Some(count) = self.at_work.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                self.at_work.remove(&network);
            }
        }
    }

    /// Somebody does not want to wait any longer.
    pub(super) fn give_up(&mut self, network: IpAddr, number: u64) {
        if let Some(line) = self.waiting.get_mut(&network) {
            let before = line.len();
            line.retain(|each| *each != number);
            self.waiting_in_all -= before - line.len();
            self.forget_if_empty(network);
        }
    }

    /// Whose turn it is now, if anybody's; they are at work then.
    pub(super) fn next(&mut self) -> Option<(IpAddr, u64)> {
        let at = self.order.iter().position(|network| self.may_begin(*network))?;
        let network = self.order.remove(at)?;
        let line = self.waiting.get_mut(&network)?;
        let number = line.pop_front()?;
        self.waiting_in_all -= 1;
        if line.is_empty() {
            self.waiting.remove(&network);
        } else {
            self.order.push_back(network);
        }
        *self.at_work.entry(network).or_default() += 1;
        Some((network, number))
    }

    fn may_begin(&self, network: IpAddr) -> bool {
        self.at_work.values().sum::<usize>() < self.rule.at_work
            && self.at_work.get(&network).copied().unwrap_or_default()
                < self.settings.part_of(network, self.rule.at_work_of_network)
    }

    /// Takes the last one of the longest line out, if it is longer by two than the newcomer's own.
    fn displace(&mut self, own: usize) -> Option<u64> {
        let (&network, line) = self.waiting.iter_mut().max_by_key(|(_, line)| line.len())?;
        if line.len() < own + 2 {
            return None;
        }
        let number = line.pop_back();
        self.waiting_in_all -= usize::from(number.is_some());
        self.forget_if_empty(network);
        number
    }

    fn forget_if_empty(&mut self, network: IpAddr) {
        if self.waiting.get(&network).is_some_and(VecDeque::is_empty) {
            self.waiting.remove(&network);
            self.order.retain(|each| *each != network);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: LineRule =
        LineRule { at_work: 2, at_work_of_network: 1, waiting: 70, waiting_of_network: 60 };

    fn network(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn line(rule: LineRule) -> Line {
        Line::new(rule, ShareSettings::default())
    }

    #[test]
    fn this_machine_may_be_free_and_takes_turns_all_the_same() {
        let local = IpAddr::from([127, 0, 0, 1]);
        let mut free =
            line(LineRule { at_work: 2, at_work_of_network: 1, waiting: 4, waiting_of_network: 1 });
        let entered = [0, 1, 2, 3].map(|number| free.enter(local, number));
        assert_eq!(entered, [Entered::Begins, Entered::Begins, Entered::Waits, Entered::Waits]);
        assert_eq!(free.enter(network(1), 4), Entered::Waits);
        free.leave(local);
        assert_eq!(free.next(), Some((local, 2)));
        free.leave(local);
        assert_eq!(free.next(), Some((network(1), 4)));
    }

    #[test]
    fn a_network_has_so_many_places_for_each_of_its_shares() {
        let settings = ShareSettings { per_network: 2, counts_loopback: true };
        let rule = LineRule { at_work: 9, at_work_of_network: 1, waiting: 9, waiting_of_network: 1 };
        let mut two = Line::new(rule, settings);
        let local = IpAddr::from([127, 0, 0, 1]);
        let entered = [0, 1, 2, 3, 4].map(|number| two.enter(local, number));
        let (begins, waits) = (Entered::Begins, Entered::Waits);
        assert_eq!(entered, [begins, begins, waits, waits, Entered::Full]);
    }

    #[test]
    fn a_network_with_sixty_waiting_delays_anothers_first_by_one_job_at_most() {
        let mut line = line(LineRule { at_work: 1, ..RULE });
        assert_eq!(line.enter(network(1), 0), Entered::Begins);
        for number in 1..=60 {
            assert_eq!(line.enter(network(1), number), Entered::Waits);
        }
        assert_eq!(line.enter(network(1), 61), Entered::Full);
        assert_eq!(line.enter(network(2), 100), Entered::Waits);
        assert_eq!(line.enter(network(2), 101), Entered::Waits);
        let mut begun = Vec::new();
        let mut working = network(1);
        for _ in 0..4 {
            line.leave(working);
            let (network, number) = line.next().unwrap();
            working = network;
            begun.push(number);
        }
        assert_eq!(begun, [1, 100, 2, 101]);
    }

    #[test]
    fn a_network_has_its_part_of_those_at_work_however_many_places_are_free() {
        let mut line = line(RULE);
        assert_eq!(line.enter(network(1), 0), Entered::Begins);
        assert_eq!(line.enter(network(1), 1), Entered::Waits);
        assert_eq!(line.next(), None);
        assert_eq!(line.enter(network(2), 2), Entered::Begins);
        line.leave(network(1));
        assert_eq!(line.next(), Some((network(1), 1)));
    }

    #[test]
    fn a_full_line_takes_a_place_from_the_network_that_has_most() {
        let mut line =
            line(LineRule { at_work: 1, at_work_of_network: 1, waiting: 3, waiting_of_network: 3 });
        for number in 0..4 {
            line.enter(network(1), number);
        }
        assert_eq!(line.enter(network(2), 10), Entered::Displaces(3));
        assert_eq!(line.enter(network(3), 20), Entered::Displaces(2));
        assert_eq!(line.enter(network(4), 30), Entered::Full, "nobody has more than a newcomer would");
        assert_eq!(line.waiting_in_all, 3);
        assert_eq!(line.enter(network(2), 11), Entered::Full);
    }

    #[test]
    fn who_gives_up_leaves_nothing_behind() {
        let mut line = line(RULE);
        for last in 1..=4 {
            line.enter(network(last), u64::from(last));
        }
        line.give_up(network(3), 3);
        line.leave(network(1));
        assert_eq!(line.next(), Some((network(4), 4)));
        line.leave(network(2));
        line.leave(network(4));
        assert_eq!(line.next(), None);
        assert!(line.at_work.is_empty() && line.waiting.is_empty() && line.order.is_empty());
        assert_eq!(line.waiting_in_all, 0);
    }
}
