//! What did not arrive. A node numbers what it sends to each other node; whoever receives sees by the numbers that
//! something is missing, and asks for the whole again. Nothing is sent twice by this, and nothing is kept.

use std::collections::BTreeMap;

use super::Incarnation;

/// The numbers of a node's packets, apart for each node that it knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    sent: BTreeMap<Incarnation, u64>,
    heard: BTreeMap<Incarnation, u64>,
}

/// What a number says about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Receipt {
    /// The next one.
    InOrder,
    /// It is good, but something before it is missing.
    AfterAHole,
    /// It came before, or was overtaken: it must have no effect.
    Old,
}

impl Links {
    /// The number of the next packet to a node.
    pub(crate) fn number(&mut self, to: Incarnation) -> u64 {
        let sent = self.sent.entry(to).or_default();
        *sent += 1;
        *sent
    }

    /// The number of the last packet to a node, which it is told now and then: else the loss of the last one would be
    /// noticed by nobody.
    pub(crate) fn last(&self, to: Incarnation) -> u64 {
        self.sent.get(&to).copied().unwrap_or_default()
    }

    /// A packet has come.
    #[must_use = "what is old must have no effect"]
    pub(crate) fn receive(&mut self, from: Incarnation, number: u64) -> Receipt {
        let heard = self.heard.entry(from).or_default();
        if number <= *heard {
            return Receipt::Old;
        }
        let is_next = number == *heard + 1;
        *heard = number;
        if is_next { Receipt::InOrder } else { Receipt::AfterAHole }
    }

    /// A node says what it has sent last; whether something of it is missing.
    #[must_use = "what is missing must be asked for"]
    pub(crate) fn told(&mut self, from: Incarnation, last: u64) -> bool {
        let heard = self.heard.entry(from).or_default();
        let is_missing = last > *heard;
        *heard = last.max(*heard);
        is_missing
    }

    /// A node is gone and will say nothing more that counts.
    #[cfg(test)]
    pub(crate) fn forget(&mut self, node: Incarnation) {
        self.sent.remove(&node);
        self.heard.remove(&node);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const A: Incarnation = Incarnation(1);
    const B: Incarnation = Incarnation(2);

    #[test]
    fn each_pair_has_numbers_of_its_own() {
        let mut links = Links::default();
        assert_eq!([links.number(A), links.number(B), links.number(A)], [1, 1, 2]);
        assert_eq!((links.last(A), links.last(B), links.last(Incarnation(3))), (2, 1, 0));
        assert_eq!(links.receive(A, 1), Receipt::InOrder);
        assert_eq!(links.receive(B, 3), Receipt::AfterAHole);
        assert_eq!(links.receive(A, 1), Receipt::Old);
        assert!(!links.told(A, 1) && links.told(A, 4) && !links.told(A, 4));
        links.forget(A);
        assert_eq!(links.number(A), 1);
    }

    proptest! {
        /// Whatever is lost, doubled or overtaken: nothing counts twice, and every loss is noticed at the latest when
        /// the sender says its last number.
        #[test]
        fn nothing_counts_twice_and_no_loss_goes_unnoticed(arriving in prop::collection::vec(1..20_u64, 0..40)) {
            let mut links = Links::default();
            let mut counted = Vec::new();
            let mut is_noticed = false;
            for number in arriving {
                match links.receive(A, number) {
                    Receipt::InOrder => counted.push(number),
                    Receipt::AfterAHole => {
                        is_noticed = true;
                        counted.push(number);
                    }
                    Receipt::Old => {}
                }
            }
            is_noticed |= links.told(A, 20);
            prop_assert!(counted.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(is_noticed, "the twentieth never came");
        }
    }
}
