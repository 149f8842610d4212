//! What is counted of an arena of several machines.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::OutcomeLabel;
use crate::system::pulse::Pulse;

#[derive(Debug, Default)]
pub(super) struct ClusterMetrics {
    pub(super) nodes: Gauge,
    pub(super) leads: Gauge,
    pub(super) thoughts: Family<OutcomeLabel, Counter>,
    /// Seconds since 1970; 0 for none.
    beat: Gauge<f64, AtomicU64>,
    bus: Gauge,
    replaced: Counter,
    lead_took: Gauge<f64, AtomicU64>,
    answer: Gauge<f64, AtomicU64>,
    /// Of a node of a cluster: where these five come from when somebody asks.
    pulse: OnceLock<Pulse>,
}

impl ClusterMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Nodes of the cluster that live, this one too; 0 for an arena of one machine";
        registry.register("nodes", help, self.nodes.clone());
        let help = "1 at the node of the cluster that plays all games, 0 at one that stands by";
        registry.register("leads", help, self.leads.clone());
        let help = "Moves of the house that other machines were asked for, by what became of it";
        registry.register("thoughts_elsewhere", help, self.thoughts.clone());
        let help =
            "When the database took a beat of this node for the last time, in seconds since 1970; 0 if never";
        registry.register("beat_seconds", help, self.beat.clone());
        let help = "1 if this node is connected to the bus of its cluster, 0 if it is not or there is none";
        registry.register("bus_connected", help, self.bus.clone());
        let help = "Leaders that this node has ended because they were silent";
        registry.register("leaders_replaced", help, self.replaced.clone());
        let help =
            "How long this node took to play games once it was its turn, the last time; 0 if it never was";
        registry.register("lead_took_seconds", help, self.lead_took.clone());
        let help = "After how long the database answers this node, in the middle of the last nine times; 0 before that";
        registry.register("database_answer_seconds", help, self.answer.clone());
    }

    /// Tells from now on how this node lives.
    pub(super) fn follow(&self, pulse: Pulse) {
        // The first one stays: a node has but one.
        let _ = self.pulse.set(pulse);
    }

    /// Somebody asks for the figures.
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 stay below 2^52 for long")]
    pub(super) fn look(&self) {
        let Some(pulse) = self.pulse.get() else { return };
        let now = pulse.read();
        self.beat.set(now.beat_at.0 as f64 / 1_000.0);
        self.bus.set(i64::from(now.has_bus));
        self.replaced.inner().store(now.replaced, Ordering::Relaxed);
        self.lead_took.set(now.lead_took.as_secs_f64());
        self.answer.set(now.answered_after.as_secs_f64());
    }
}
