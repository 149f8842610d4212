//! What the daemon counts, in a registry of its own: several daemons in one test process share nothing.

mod cluster;

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use self::cluster::ClusterMetrics;
use super::part::Part;
use super::pulse::Pulse;
use crate::model::result::EndReason;
use crate::model::time::UnixMillis;

/// Histogram of waits: from half a millisecond, doubling, to 16 seconds.
fn waits() -> Histogram {
    Histogram::new(exponential_buckets(0.000_5, 2.0, 16))
}

/// How a game ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct ReasonLabel {
    reason: &'static str,
}

/// An HTTP request and what it came to. `route` is the pattern, not the path, so that strangers cannot make up labels.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct RequestLabel {
    method: &'static str,
    route: String,
    status: u16,
}

/// Which part of the daemon.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct PartLabel {
    part: &'static str,
}

/// Who learnt.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct LearnerLabel {
    learner: String,
}

/// Why a request was refused: one of the codes of the interface.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct RefusalLabel {
    code: String,
}

/// Why a client of the socket was refused.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct SocketRefusalLabel {
    code: &'static str,
}

/// What was refused because somebody's share of it was used up.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct ShareLabel {
    share: &'static str,
}

/// What became of a message to the owner of bots.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

/// What results look like.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct HabitLabel {
    habit: &'static str,
}

/// All counters, gauges and histograms.
pub(crate) struct Metrics {
    registry: Registry,
    games_started: Counter,
    games_finished: Family<ReasonLabel, Counter>,
    /// Of all reasons, for a look; whoever reads the text adds them up.
    all_finished: Counter,
    moves: Counter,
    live_games: Gauge,
    sessions: Gauge,
    writer_queue: Gauge,
    commits: Counter,
    commit_seconds: Histogram,
    move_seconds: Histogram,
    lessons: Family<LearnerLabel, Counter>,
    practice_games: Counter,
    games_judged: Counter,
    games_unjudged: Gauge,
    cluster: ClusterMetrics,
    ladder_calm: Gauge,
    games_quarantined: Gauge,
    store_findings: Gauge,
    rating_alarms: Family<HabitLabel, Counter>,
    password_hashes: Counter,
    panics: Family<PartLabel, Counter<u64, AtomicU64>>,
    set_aside: Family<PartLabel, Counter<u64, AtomicU64>>,
    http_requests: Family<RequestLabel, Counter>,
    refusals: Family<RefusalLabel, Counter>,
    socket_refusals: Family<SocketRefusalLabel, Counter>,
    shares_refused: Family<ShareLabel, Counter>,
    webhook_messages: Family<OutcomeLabel, Counter>,
    mails: Family<OutcomeLabel, Counter>,
    push_notices: Family<OutcomeLabel, Counter>,
    failed_writes: Counter,
    backups: Counter,
    backup_failures: Counter,
    /// When the last copy was made, in seconds since 1970; 0 for none.
    backup_made: Gauge,
    machine: MachineGauges,
    /// When counting began, for whoever asks how long the daemon runs.
    started: UnixMillis,
}

/// Which version runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct BuildLabel {
    version: &'static str,
}

/// What the machine gives and the daemon takes of it, at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Machine {
    pub(crate) connections: usize,
    pub(crate) connections_max: usize,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) data_bytes: u64,
    pub(crate) disk_free_bytes: Option<u64>,
}

/// The figures of [`Machine`] as they were last.
#[derive(Debug, Default)]
struct MachineGauges {
    connections: Gauge,
    connections_max: Gauge,
    memory: Gauge,
    data: Gauge,
    disk_free: Gauge,
}

/// What was counted, for a look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MetricTotals {
    pub(crate) games_finished: u64,
    pub(crate) moves: u64,
    pub(crate) commits: u64,
    /// Writes that wait now.
    pub(crate) writer_queue: u64,
    /// Games that the judge has not looked at yet.
    pub(crate) unjudged: u64,
    /// Nodes of the cluster that live; 0 for an arena of one machine.
    pub(crate) nodes: u64,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Everything at zero.
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("fourfold"),
            games_started: Counter::default(),
            games_finished: Family::default(),
            all_finished: Counter::default(),
            moves: Counter::default(),
            live_games: Gauge::default(),
            sessions: Gauge::default(),
            writer_queue: Gauge::default(),
            commits: Counter::default(),
            commit_seconds: waits(),
            move_seconds: waits(),
            lessons: Family::default(),
            practice_games: Counter::default(),
            games_judged: Counter::default(),
            games_unjudged: Gauge::default(),
            cluster: ClusterMetrics::default(),
            ladder_calm: Gauge::default(),
            games_quarantined: Gauge::default(),
            store_findings: Gauge::default(),
            rating_alarms: Family::default(),
            password_hashes: Counter::default(),
            panics: Family::default(),
            set_aside: Family::default(),
            http_requests: Family::default(),
            refusals: Family::default(),
            socket_refusals: Family::default(),
            shares_refused: Family::default(),
            webhook_messages: Family::default(),
            mails: Family::default(),
            push_notices: Family::default(),
            failed_writes: Counter::default(),
            backups: Counter::default(),
            backup_failures: Counter::default(),
            backup_made: Gauge::default(),
            machine: MachineGauges::default(),
            started: UnixMillis::now(),
        };
        metrics.register();
        metrics.count_no_panics();
        metrics
    }

    /// An alarm can tell a part that never failed from one that nobody counts.
    fn count_no_panics(&self) {
        for part in Part::ALL {
            drop(self.panics.get_or_create(&PartLabel { part: part.as_str() }));
        }
    }

    /// Names and explains each; counters get `_total` when they are printed.
    fn register(&mut self) {
        self.register_refusals();
        self.register_machine();
        self.cluster.register(&mut self.registry);
        let registry = &mut self.registry;
        registry.register("games_started", "Games that began", self.games_started.clone());
        registry.register("games_finished", "Games that ended, by reason", self.games_finished.clone());
        registry.register("moves", "Moves that were stored", self.moves.clone());
        registry.register("live_games", "Games in progress", self.live_games.clone());
        registry.register("sessions", "Open sessions", self.sessions.clone());
        registry.register("writer_queue", "Writes that wait for a commit", self.writer_queue.clone());
        registry.register("commits", "Commits, each of all that waited", self.commits.clone());
        let commit = self.commit_seconds.clone();
        registry.register_with_unit("commit", "Time that a commit took", Unit::Seconds, commit);
        let moves = self.move_seconds.clone();
        let help = "Time from the receipt of a move to its acknowledgement";
        registry.register_with_unit("move", help, Unit::Seconds, moves);
        registry.register("lessons", "Lessons that were stored, by learner", self.lessons.clone());
        let practice = self.practice_games.clone();
        registry.register("practice_games", "Games that learners played to learn", practice);
        registry.register(
            "games_judged",
            "Finished games that the judge has looked at",
            self.games_judged.clone(),
        );
        let behind = self.games_unjudged.clone();
        registry.register("games_unjudged", "Finished games that it has not looked at yet", behind);
        let calm = self.ladder_calm.clone();
        let help = "1 if the order of the house's bots is known and one pair of them at a time goes on";
        registry.register("ladder_calm", help, calm);
        let quarantined = self.games_quarantined.clone();
        let help = "Games that went on and could not be taken up at the start; must stay 0";
        registry.register("games_quarantined", help, quarantined);
        let findings = self.store_findings.clone();
        let help = "What the last look through the database found, after a crash; must stay 0";
        registry.register("store_findings", help, findings);
        let alarms = self.rating_alarms.clone();
        registry.register("rating_alarms", "Players whose rated games look given away, by habit", alarms);
        registry.register("panics", "Panics by part of the daemon; must stay 0", self.panics.clone());
        let help = "Things that a part leaves out for good, for they made it panic; must stay 0";
        registry.register("set_aside", help, self.set_aside.clone());
        let requests = self.http_requests.clone();
        registry.register("http_requests", "HTTP requests by method, route and status", requests);
    }

    fn register_machine(&mut self) {
        let (registry, machine) = (&mut self.registry, &self.machine);
        let build = Family::<BuildLabel, Gauge>::default();
        build.get_or_create(&BuildLabel { version: env!("CARGO_PKG_VERSION") }).set(1);
        registry.register("build_info", "1, with the version that runs", build);
        let started = Gauge::<i64>::default();
        started.set(self.started.0 / 1_000);
        registry.register("start_time_seconds", "When the daemon started, in seconds since 1970", started);
        registry.register("connections", "Connections that are open", machine.connections.clone());
        let help = "Connections that may be open at the same time";
        registry.register("connections_max", help, machine.connections_max.clone());
        registry.register("memory_bytes", "Resident memory of the daemon", machine.memory.clone());
        registry.register("database_bytes", "Files of the data directory", machine.data.clone());
        registry.register("disk_free_bytes", "Room on the disk under it", machine.disk_free.clone());
        let help = "Attempts to write that failed; must stay 0";
        registry.register("failed_writes", help, self.failed_writes.clone());
        registry.register("backups", "Copies that the schedule made", self.backups.clone());
        let help = "Attempts at a copy by the schedule that failed; must stay 0";
        registry.register("backup_failures", help, self.backup_failures.clone());
        let help = "When the last of these copies was made, in seconds since 1970; 0 if there is none";
        registry.register("backup_made_seconds", help, self.backup_made.clone());
    }

    fn register_refusals(&mut self) {
        let registry = &mut self.registry;
        let hashes = self.password_hashes.clone();
        registry.register("password_hashes", "Passwords hashed, each some 50 ms of a core", hashes);
        registry.register("refusals", "HTTP requests that were refused, by code", self.refusals.clone());
        let refusals = self.socket_refusals.clone();
        let help = "Errors that were sent to clients of the socket, by code";
        registry.register("socket_refusals", help, refusals);
        let shares = self.shares_refused.clone();
        registry.register("shares_refused", "What was refused because a share of it was used up", shares);
        let help = "Messages to owners of bots, by what became of each attempt";
        registry.register("webhook_messages", help, self.webhook_messages.clone());
        let help = "Mails, by what became of each attempt, and those given up";
        registry.register("mails", help, self.mails.clone());
        let help = "Notices to browsers, by what became of each attempt, and those given up";
        registry.register("push_notices", help, self.push_notices.clone());
    }

    pub(crate) fn game_started(&self) {
        self.games_started.inc();
        self.live_games.inc();
    }

    /// A game that was live when the daemon started goes on.
    pub(crate) fn game_resumed(&self) {
        self.live_games.inc();
    }

    /// A live game ended.
    pub(crate) fn game_finished(&self, reason: EndReason) {
        self.games_finished.get_or_create(&ReasonLabel { reason: reason_word(reason) }).inc();
        self.all_finished.inc();
        self.live_games.dec();
    }

    /// A move was acknowledged so long after its receipt.
    pub(crate) fn moved(&self, latency: Duration) {
        self.moves.inc();
        self.move_seconds.observe(latency.as_secs_f64());
    }

    /// So many lessons of a learner of the house were stored.
    pub(crate) fn learnt(&self, learner: &str, games: usize) {
        self.lessons.get_or_create(&LearnerLabel { learner: learner.to_owned() }).inc_by(games as u64);
    }

    /// A learner played a game to learn.
    pub(crate) fn practised(&self) {
        self.practice_games.inc();
    }

    /// The judge has looked at so many games, and so many are left.
    pub(crate) fn judged(&self, games: usize, behind: u64) {
        self.games_judged.inc_by(games as u64);
        self.games_unjudged.set(i64::try_from(behind).unwrap_or(i64::MAX));
    }

    /// Whether there is little left to learn of the bots of the house.
    pub(crate) fn ladder_is_calm(&self, is_calm: bool) {
        self.ladder_calm.set(i64::from(is_calm));
    }

    /// So many games that went on were set aside at the start.
    pub(crate) fn quarantined(&self, games: usize) {
        self.games_quarantined.set(i64::try_from(games).unwrap_or(i64::MAX));
    }

    /// So much is wrong with the pages of the database.
    pub(crate) fn store_findings(&self, findings: usize) {
        self.store_findings.set(i64::try_from(findings).unwrap_or(i64::MAX));
    }

    /// So many sessions are open.
    pub(crate) fn sessions(&self, open: usize) {
        self.sessions.set(i64::try_from(open).unwrap_or(i64::MAX));
    }

    /// So many writes wait.
    pub(crate) fn writer_queue(&self, waiting: usize) {
        self.writer_queue.set(i64::try_from(waiting).unwrap_or(i64::MAX));
    }

    /// A commit took so long.
    pub(crate) fn committed(&self, took: Duration) {
        self.commits.inc();
        self.commit_seconds.observe(took.as_secs_f64());
    }

    /// Somebody's rated games look as if they were given away.
    pub(crate) fn rating_alarm(&self, habit: &'static str) {
        self.rating_alarms.get_or_create(&HabitLabel { habit }).inc();
    }

    /// A password was hashed, to be stored or to be compared.
    pub(crate) fn password_hashed(&self) {
        self.password_hashes.inc();
    }

    #[cfg(test)]
    pub(crate) fn password_hashes(&self) -> u64 {
        self.password_hashes.get()
    }

    pub(crate) fn panicked(&self, part: Part) {
        self.panics.get_or_create(&PartLabel { part: part.as_str() }).inc();
    }

    /// How often a part panicked.
    #[cfg(test)]
    pub(crate) fn panics_of(&self, part: Part) -> u64 {
        self.panics.get_or_create(&PartLabel { part: part.as_str() }).get()
    }

    /// A part leaves something out for good.
    pub(crate) fn set_aside(&self, part: Part) {
        self.set_aside.get_or_create(&PartLabel { part: part.as_str() }).inc();
    }

    /// An HTTP request was answered.
    pub(crate) fn http_request(&self, method: &'static str, route: &str, status: u16) {
        let label = RequestLabel { method, route: route.to_owned(), status };
        self.http_requests.get_or_create(&label).inc();
    }

    /// How long it has counted.
    pub(crate) fn uptime(&self) -> Duration {
        UnixMillis::now().after(self.started)
    }

    /// An attempt to write failed.
    pub(crate) fn write_failed(&self) {
        self.failed_writes.inc();
    }

    /// The schedule made a copy.
    pub(crate) fn backed_up(&self) {
        self.backups.inc();
    }

    /// The last copy of the schedule is of that time.
    pub(crate) fn last_backup(&self, at: UnixMillis) {
        self.backup_made.set(at.0 / 1_000);
    }

    /// The schedule could not make a copy.
    pub(crate) fn backup_failed(&self) {
        self.backup_failures.inc();
    }

    /// So it is with the machine.
    pub(crate) fn looked(&self, machine: Machine) {
        let set = |gauge: &Gauge, value: u64| gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        set(&self.machine.connections, machine.connections as u64);
        set(&self.machine.connections_max, machine.connections_max as u64);
        set(&self.machine.memory, machine.memory_bytes.unwrap_or(0));
        set(&self.machine.data, machine.data_bytes);
        set(&self.machine.disk_free, machine.disk_free_bytes.unwrap_or(0));
    }

    /// A request was refused with this code.
    pub(crate) fn refused(&self, code: String) {
        self.refusals.get_or_create(&RefusalLabel { code }).inc();
    }

    /// A client of the socket may be sent these errors, each of which has a counter from the start.
    pub(crate) fn errors_of_socket(&self, codes: impl IntoIterator<Item = &'static str>) {
        for code in codes {
            drop(self.socket_refusals.get_or_create(&SocketRefusalLabel { code }));
        }
    }

    /// A client of the socket was sent an error; `code` is one of a fixed list.
    pub(crate) fn refused_on_socket(&self, code: &'static str) {
        self.socket_refusals.get_or_create(&SocketRefusalLabel { code }).inc();
    }

    /// A share of this was used up. `share` is one of a fixed list.
    pub(crate) fn share_refused(&self, share: &'static str) {
        self.shares_refused.get_or_create(&ShareLabel { share }).inc();
    }

    /// So many messages to owners of bots came to this; `outcome` is one of a fixed list.
    pub(crate) fn webhook_message(&self, outcome: &'static str, messages: u64) {
        self.webhook_messages.get_or_create(&OutcomeLabel { outcome }).inc_by(messages);
    }

    /// So many nodes of the cluster live, and whether this one leads.
    pub(crate) fn nodes(&self, living: usize, leads: bool) {
        self.cluster.nodes.set(i64::try_from(living).unwrap_or(i64::MAX));
        self.cluster.leads.set(i64::from(leads));
    }

    /// Tells from now on how this node of a cluster lives.
    pub(crate) fn follow(&self, pulse: Pulse) {
        self.cluster.follow(pulse);
    }

    /// Another machine was asked for a move of the house, and this became of it.
    pub(crate) fn thought_elsewhere(&self, outcome: &'static str) {
        self.cluster.thoughts.get_or_create(&OutcomeLabel { outcome }).inc();
    }

    /// A notice to a browser came to this; `outcome` is one of a fixed list.
    pub(crate) fn push_notice(&self, outcome: &'static str) {
        self.push_notices.get_or_create(&OutcomeLabel { outcome }).inc();
    }

    /// A mail came to this; `outcome` is one of a fixed list.
    pub(crate) fn mail(&self, outcome: &'static str) {
        self.mails.get_or_create(&OutcomeLabel { outcome }).inc();
    }

    /// Some of it for a look.
    pub(crate) fn totals(&self) -> MetricTotals {
        let gauge = |gauge: &Gauge| u64::try_from(gauge.get()).unwrap_or(0);
        MetricTotals {
            games_finished: self.all_finished.get(),
            moves: self.moves.get(),
            commits: self.commits.get(),
            writer_queue: gauge(&self.writer_queue),
            unjudged: gauge(&self.games_unjudged),
            nodes: gauge(&self.cluster.nodes),
        }
    }

    /// All of it in the text format that Prometheus reads.
    ///
    /// # Panics
    ///
    /// Never: writing into a `String` cannot fail.
    pub(crate) fn text(&self) -> String {
        self.cluster.look();
        let mut text = String::new();
        text::encode(&mut text, &self.registry).expect("a String takes everything");
        text
    }
}

fn reason_word(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Four => "four",
        EndReason::Full => "full",
        EndReason::Resign => "resign",
        EndReason::Time => "time",
        EndReason::Illegal => "illegal",
        EndReason::Left => "left",
        EndReason::Aborted => "aborted",
        EndReason::Stopped => "stopped",
        EndReason::BotFailed => "bot_failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_line(text: &str, line: &str) {
        assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
    }

    #[test]
    fn what_happened_is_in_the_text() {
        let metrics = Metrics::new();
        metrics.game_started();
        metrics.game_started();
        metrics.game_finished(EndReason::BotFailed);
        metrics.moved(Duration::from_millis(3));
        metrics.sessions(2);
        metrics.http_request("GET", "/api/v1/games/{id}", 404);
        let text = metrics.text();
        check_line(&text, "fourfold_games_started_total 2");
        check_line(&text, "fourfold_live_games 1");
        check_line(&text, "fourfold_games_finished_total{reason=\"bot_failed\"} 1");
        check_line(&text, "fourfold_sessions 2");
        check_line(&text, "fourfold_move_seconds_count 1");
        check_line(&text, "fourfold_move_seconds_bucket{le=\"0.004\"} 1");
        check_line(&text, "fourfold_panics_total{part=\"lobby\"} 0");
        check_line(
            &text,
            "fourfold_http_requests_total{method=\"GET\",route=\"/api/v1/games/{id}\",status=\"404\"} 1",
        );
    }

    #[test]
    fn a_node_of_a_cluster_tells_how_it_lives() {
        let (metrics, pulse) = (Metrics::new(), Pulse::default());
        check_line(&metrics.text(), "fourfold_bus_connected 0");
        metrics.follow(pulse.clone());
        pulse.beats(UnixMillis(1_795_000_000_500));
        pulse.has_bus(true);
        pulse.replaces();
        pulse.leads_after(Duration::from_millis(1_250));
        pulse.answered(Some(Duration::from_micros(212_500)));
        let text = metrics.text();
        check_line(&text, "fourfold_beat_seconds 1795000000.5");
        check_line(&text, "fourfold_bus_connected 1");
        check_line(&text, "fourfold_leaders_replaced_total 1");
        check_line(&text, "fourfold_lead_took_seconds 1.25");
        check_line(&text, "fourfold_database_answer_seconds 0.2125");
    }

    #[test]
    fn two_registries_share_nothing() {
        let (one, other) = (Metrics::new(), Metrics::new());
        one.panicked(Part::Room);
        check_line(&one.text(), "fourfold_panics_total{part=\"room\"} 1");
        check_line(&other.text(), "fourfold_panics_total{part=\"room\"} 0");
    }
}
