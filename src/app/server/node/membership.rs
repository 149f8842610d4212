//! The thread that keeps a node in the list: it beats, looks at the others, and ends a leader that stands still.
//!
//! It has a runtime and a connection of its own, so that neither busy rooms nor a slow commit cost the node its lease.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::{info, warn};

use super::turn::{self, Own, Seen, Turn, View};
use crate::cluster::distance::Distance;
use crate::cluster::hints::{Hint, Hints};
use crate::cluster::lease::{LEASE, Lease};
use crate::cluster::succession;
use crate::http::relay::Upstream;
use crate::model::time::UnixMillis;
use crate::storage::members::{Roll, Standing};
use crate::storage::postgres::Members;
use crate::system::pulse::Pulse;

/// Between two looks at the list. A hint over the bus comes sooner.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Hints that come closer together than this are one.
const LOOK_PAUSE: Duration = Duration::from_millis(20);

/// A node's place in the list. It leaves when this is told to stop.
#[derive(Debug)]
pub(super) struct Membership {
    /// What it sees, again whenever that has changed.
    pub(super) view: watch::Receiver<View>,
    /// Where connections go, if somebody leads.
    pub(super) upstream: watch::Receiver<Option<Upstream>>,
    /// Who leads, by what was said over the bus: the latest one.
    said_to_lead: watch::Receiver<Option<i64>>,
    /// How it lives, for the figures.
    pub(super) pulse: Pulse,
    standing: watch::Sender<Standing>,
    stop: CancellationToken,
}

/// What the thread works with.
struct Watch {
    members: Members,
    hints: Hints,
    key: i64,
    lease: Lease,
    distance: Distance,
    view: watch::Sender<View>,
    upstream: watch::Sender<Option<Upstream>>,
    said_to_lead: watch::Sender<Option<i64>>,
    pulse: Pulse,
    standing: watch::Receiver<Standing>,
    /// What the others know of it.
    told: Standing,
}

impl Membership {
    /// Keeps the node with this key in the list from now on.
    ///
    /// # Errors
    ///
    /// The system has no thread for it.
    pub(super) fn keep(members: Members, hints: Hints, key: i64) -> io::Result<Self> {
        let (standing, stood) = watch::channel(Standing::default());
        let (view, seen) = watch::channel(View::default());
        let (upstream, led_to) = watch::channel(None);
        let (said_to_lead, leads) = watch::channel(None);
        let pulse = Pulse::default();
        let stop = CancellationToken::new();
        let watch = Watch {
            members,
            hints,
            key,
            lease: Lease::joined(Instant::now()),
            distance: Distance::default(),
            view,
            upstream,
            said_to_lead,
            pulse: pulse.clone(),
            standing: stood,
            told: Standing::default(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let until = stop.clone();
        let membership = thread::Builder::new().name("membership".to_owned());
        membership.spawn(move || runtime.block_on(watch.run(&until)))?;
        Ok(Self { view: seen, upstream: led_to, said_to_lead: leads, pulse, standing, stop })
    }

    /// Tells the others what this node does from now on.
    pub(super) fn stand(&self, standing: Standing) {
        self.standing.send_replace(standing);
    }

    /// Whether it has told them that games are played here.
    pub(super) fn serves(&self) -> bool {
        self.standing.borrow().serves
    }

    /// Ends when a leader is to give up by what it hears, or its thread is gone.
    pub(super) async fn deposed(&self, incarnation: i64) {
        let (mut view, mut said_to_lead) = (self.view.clone(), self.said_to_lead.clone());
        loop {
            let (is_cut_off, leads) =
                (view.borrow_and_update().is_cut_off, *said_to_lead.borrow_and_update());
            if succession::gives_up(incarnation, is_cut_off, leads) {
                return;
            }
            let changed = tokio::select! {
                changed = view.changed() => changed,
                changed = said_to_lead.changed() => changed,
            };
            if changed.is_err() {
                return;
            }
        }
    }

    /// Takes the node from the list, so that nobody waits for it.
    pub(super) async fn leave(mut self) {
        self.stop.cancel();
        // Its thread ends within the time that the database has for an answer.
        while self.view.changed().await.is_ok() {}
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Watch {
    async fn run(mut self, stop: &CancellationToken) {
        let (changed, _hearing) = self.listen();
        // The first beat says so long it lives; joining alone does not.
        let mut is_beat_due = true;
        loop {
            if is_beat_due || self.lease.is_beat_due(Instant::now()) {
                self.beat().await;
            }
            self.look().await;
            if self.view.borrow().turn == Turn::Replaced {
                return;
            }
            is_beat_due = tokio::select! {
                biased;
                () = stop.cancelled() => return self.leave().await,
                changed = self.standing.changed() => changed.is_ok(),
                () = sleep(LOOK_EVERY) => false,
                () = changed.notified() => {
                    sleep(LOOK_PAUSE).await;
                    false
                }
            };
        }
    }

    /// Listens to the bus, also while the database is asked; says when it is time to look.
    fn listen(&self) -> (Arc<Notify>, AbortOnDropHandle<()>) {
        let changed = Arc::new(Notify::new());
        let (hints, leads, told) = (self.hints.clone(), self.said_to_lead.clone(), Arc::clone(&changed));
        let hearing = async move {
            let hear = |hint| {
                let is_news = match hint {
                    Hint::Changed => true,
                    Hint::Leads(incarnation) => leads.send_if_modified(|last| {
                        let is_later = last.is_none_or(|last| incarnation > last);
                        *last = if is_later { Some(incarnation) } else { *last };
                        is_later
                    }),
                };
                if is_news {
                    told.notify_one();
                }
            };
            hints.hear(hear).await;
        };
        (changed, AbortOnDropHandle::new(tokio::spawn(hearing)))
    }

    async fn beat(&mut self) {
        let sent = Instant::now();
        self.lease.beat_sent(sent);
        self.pulse.has_bus(self.hints.is_connected());
        let standing = *self.standing.borrow_and_update();
        match self.members.beat(self.key, LEASE, standing, self.distance.median()).await {
            Ok(true) => {
                self.lease.renewed(sent);
                self.pulse.beats(UnixMillis::now());
                if std::mem::replace(&mut self.told, standing) != standing {
                    self.hints.tell(Hint::Changed).await;
                }
                // Again with each beat: whoever cannot ask the database may have the bus back only now.
                if let Some(incarnation) = standing.writes_as.filter(|_| standing.serves) {
                    self.hints.tell(Hint::Leads(incarnation)).await;
                }
            }
            Ok(false) => {
                warn!("another process has this node's name: give each a `cluster.node` of its own");
                self.view.send_modify(|view| view.turn = Turn::Replaced);
            }
            Err(error) => self.note_cut_off(&error),
        }
    }

    async fn look(&mut self) {
        let (roll, answered_after) = match self.members.look_in_time().await {
            Ok(seen) => seen,
            Err(error) => return self.note_cut_off(&error),
        };
        self.distance.answered(answered_after);
        let answers_after = self.distance.median();
        self.pulse.answered(answers_after);
        if self.members.has_lost_one() {
            self.lease.shaken(Instant::now());
        }
        if self.view.borrow().is_cut_off {
            info!("the list of nodes is reached again");
        }
        let own = Own {
            key: self.key,
            standing: *self.standing.borrow(),
            is_steady: self.lease.may_take_over(Instant::now()),
            answers_after,
        };
        let seen = turn::judge(&own, &roll);
        if let Some(incarnation) = seen.replaces {
            warn!(incarnation, "the leader has stopped answering, another one takes its place");
            match self.members.end_writer(incarnation).await {
                Ok(()) => self.pulse.replaces(),
                Err(error) => self.note_cut_off(&error),
            }
            self.hints.tell(Hint::Changed).await;
        }
        if seen.view.turn == Turn::MakeWay && self.view.borrow().turn != Turn::MakeWay {
            note_making_way(&own, &seen);
        }
        set(&self.upstream, upstream_of(&roll));
        // Who is replaced stays so.
        if self.view.borrow().turn != Turn::Replaced {
            set(&self.view, seen.view);
        }
    }

    async fn leave(mut self) {
        // Otherwise its time runs out.
        let _ = self.members.leave(self.key).await;
        self.hints.tell(Hint::Changed).await;
    }

    fn note_cut_off(&mut self, error: &dyn std::error::Error) {
        self.lease.shaken(Instant::now());
        let is_new = self.view.send_if_modified(|view| !std::mem::replace(&mut view.is_cut_off, true));
        if is_new {
            warn!(%error, "the list of nodes cannot be reached");
        }
    }
}

/// Says why this node leads no more.
fn note_making_way(own: &Own, seen: &Seen) {
    if let (true, Some(answers_after)) = (seen.is_farther, own.answers_after) {
        let answers_ms = answers_after.as_millis();
        warn!(
            answers_ms,
            "the database is far from this node and answers another one much sooner: that one leads from now on"
        );
    } else {
        info!("this node is drained: another one leads from now on");
    }
}

/// Where connections go, if somebody leads and serves.
fn upstream_of(roll: &Roll) -> Option<Upstream> {
    let leader = roll.leader().filter(|leader| leader.standing.serves)?;
    Some(Upstream { address: leader.address.clone(), incarnation: leader.standing.writes_as? })
}

/// Tells what is known now to those who wait for a change, if it is one.
fn set<T: PartialEq>(known: &watch::Sender<T>, now: T) {
    known.send_if_modified(|known| {
        let changes = *known != now;
        *known = now;
        changes
    });
}
