//! How a node of a cluster lives: its membership notes it, whoever reads the figures sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use crate::model::time::UnixMillis;

/// Shared by all its copies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pulse(Arc<Noted>);

#[derive(Debug, Default)]
struct Noted {
    /// Milliseconds since 1970; 0 before the first.
    beat_at: AtomicI64,
    has_bus: AtomicBool,
    replaced: AtomicU64,
    lead_took_ms: AtomicU64,
    /// 0 before it is known.
    answered_after_us: AtomicU64,
}

/// How a node lives, at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reading {
    /// When the database has taken a beat of it for the last time.
    pub(crate) beat_at: UnixMillis,
    /// Whether it is connected to the bus.
    pub(crate) has_bus: bool,
    /// Leaders that it has ended because they were silent.
    pub(crate) replaced: u64,
    /// How long it took to lead after it could, the last time; zero if it never did.
    pub(crate) lead_took: Duration,
    /// After how long the database answers, to the microsecond; zero before that is known.
    pub(crate) answered_after: Duration,
}

impl Pulse {
    /// The database has taken a beat.
    pub(crate) fn beats(&self, at: UnixMillis) {
        self.0.beat_at.store(at.0, Ordering::Relaxed);
    }

    /// The bus is there, or not.
    pub(crate) fn has_bus(&self, has_bus: bool) {
        self.0.has_bus.store(has_bus, Ordering::Relaxed);
    }

    /// A silent leader was ended.
    pub(crate) fn replaces(&self) {
        self.0.replaced.fetch_add(1, Ordering::Relaxed);
    }

    /// The node leads, so long after it could.
    pub(crate) fn leads_after(&self, took: Duration) {
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.0.lead_took_ms.store(ms, Ordering::Relaxed);
    }

    /// After how long the database answers, if that is known.
    pub(crate) fn answered(&self, after: Option<Duration>) {
        let us = u64::try_from(after.unwrap_or_default().as_micros()).unwrap_or(u64::MAX);
        self.0.answered_after_us.store(us, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Reading {
        Reading {
            beat_at: UnixMillis(self.0.beat_at.load(Ordering::Relaxed)),
            has_bus: self.0.has_bus.load(Ordering::Relaxed),
            replaced: self.0.replaced.load(Ordering::Relaxed),
            lead_took: Duration::from_millis(self.0.lead_took_ms.load(Ordering::Relaxed)),
            answered_after: Duration::from_micros(self.0.answered_after_us.load(Ordering::Relaxed)),
        }
    }
}
