//! The parts of the daemon, as figures and operators call them.

/// Something that can fail for itself. Its word is a label of figures, so the set is closed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Part {
    /// One live game.
    Room,
    /// A bot of the house at a table.
    Seat,
    /// A job on the threads that think.
    Compute,
    /// A client's session, and what goes on in its name.
    Session,
    /// A connection of the listener.
    Connection,
    /// An HTTP request.
    Request,
    /// An operator's command.
    Control,
    /// Accepts connections of operators.
    ControlListener,
    /// Hashes of passwords.
    Passwords,
    Lobby,
    /// Starts games that follow from games.
    Host,
    Feeds,
    /// Chooses the game on TV.
    Tv,
    /// Ends sessions whose credential was revoked.
    Revocations,
    /// Does what operators order for the whole arena.
    Orders,
    /// Looks for guests whom nobody comes back to.
    IdleGuests,
    /// Leaves out what old games have beside their moves.
    Forgetting,
    /// Packs the logs of finished games.
    Packing,
    /// Makes copies of the store by the schedule.
    Backups,
    /// Writes all games into files for everybody.
    Dumps,
    /// Reads the gauges.
    Gauges,
    Learners,
    Judge,
    Matchmaker,
    Leaderboard,
    Tournaments,
    /// Looks for points that are given away.
    FairPlay,
    /// Looks for people who decide better than they can.
    Evidence,
    SelfTests,
    /// Begins duels as their turns come.
    Duels,
    /// Begins the games of classes.
    Classes,
    /// Tells owners of bots what happens to them.
    Webhooks,
    /// Sends mails.
    Mail,
    /// Has browsers show people something who are away.
    Push,
    /// Accepts connections.
    Listener,
    /// Accepts connections that other nodes pass on.
    NodeListener,
    /// Accepts connections of whoever reads the figures.
    MetricsListener,
}

impl Part {
    /// All of them.
    pub(crate) const ALL: [Self; 37] = [
        Self::Room,
        Self::Seat,
        Self::Compute,
        Self::Session,
        Self::Connection,
        Self::Request,
        Self::Control,
        Self::ControlListener,
        Self::Passwords,
        Self::Lobby,
        Self::Host,
        Self::Feeds,
        Self::Tv,
        Self::Revocations,
        Self::Orders,
        Self::IdleGuests,
        Self::Forgetting,
        Self::Packing,
        Self::Backups,
        Self::Dumps,
        Self::Gauges,
        Self::Learners,
        Self::Judge,
        Self::Matchmaker,
        Self::Leaderboard,
        Self::Tournaments,
        Self::FairPlay,
        Self::Evidence,
        Self::SelfTests,
        Self::Duels,
        Self::Classes,
        Self::Webhooks,
        Self::Mail,
        Self::Push,
        Self::Listener,
        Self::NodeListener,
        Self::MetricsListener,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Room => "room",
            Self::Seat => "seat",
            Self::Compute => "compute",
            Self::Session => "session",
            Self::Connection => "connection",
            Self::Request => "request",
            Self::Control => "control",
            Self::ControlListener => "control_listener",
            Self::Passwords => "passwords",
            Self::Lobby => "lobby",
            Self::Host => "host",
            Self::Feeds => "feeds",
            Self::Tv => "tv",
            Self::Revocations => "revocations",
            Self::Orders => "orders",
            Self::IdleGuests => "idle_guests",
            Self::Forgetting => "forgetting",
            Self::Packing => "packing",
            Self::Backups => "backups",
            Self::Dumps => "dumps",
            Self::Gauges => "gauges",
            Self::Learners => "learners",
            Self::Judge => "judge",
            Self::Matchmaker => "matchmaker",
            Self::Leaderboard => "leaderboard",
            Self::Tournaments => "tournaments",
            Self::FairPlay => "fair_play",
            Self::Evidence => "evidence",
            Self::SelfTests => "self_tests",
            Self::Duels => "duels",
            Self::Classes => "classes",
            Self::Webhooks => "webhooks",
            Self::Mail => "mail",
            Self::Push => "push",
            Self::Listener => "listener",
            Self::NodeListener => "node_listener",
            Self::MetricsListener => "metrics_listener",
        }
    }
}
