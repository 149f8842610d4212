//! Mistakes that can be planted: each must be found, or the simulation shows nothing.

/// A mistake in the rules of the cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Defect {
    /// The database takes commits of nodes that were replaced.
    FenceLeftOut,
    /// Whoever misses packets asks for nothing.
    GapIgnored,
    /// A repeated order is taken for a new one.
    OrderTwice,
    /// When the owner of a game changes, gateways do not seat their players there again.
    SeatLost,
    /// A move is told before it is stored.
    ToldEarly,
    /// Orders are sent once.
    NotRepeated,
    /// The registrar numbers a game whenever it is asked.
    NumberedTwice,
}

impl Defect {
    pub(super) const ALL: [Self; 7] = [
        Self::FenceLeftOut,
        Self::GapIgnored,
        Self::OrderTwice,
        Self::SeatLost,
        Self::ToldEarly,
        Self::NotRepeated,
        Self::NumberedTwice,
    ];
}
