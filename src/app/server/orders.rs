//! Does what operators order for the whole arena: tells everybody, ends the connections from banned networks, and stops
//! a daemon that drains once its games are over.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::model::time::UnixMillis;
use crate::play::orders::StandingOrders;
use crate::protocol::server::{Notice, NoticeCode, ServerMessage};
use crate::session::Services;
use crate::session::port::RefusedHello;
use crate::system::part::Part;
use crate::system::supervision::{BoxedError, Kept};

/// How often to look whether the last game is over.
const LOOK: Duration = Duration::from_millis(250);

/// Follows the orders.
pub(super) struct OrderKeeper {
    services: Arc<Services>,
    changes: watch::Receiver<StandingOrders>,
    /// What everybody was told last.
    told: StandingOrders,
    /// Asks the daemon to stop.
    leave: CancellationToken,
}

impl OrderKeeper {
    /// Follows all from now on; cancels `leave` when the daemon is to stop.
    pub(super) fn new(services: Arc<Services>, leave: CancellationToken) -> Self {
        let orders = services.host.orders();
        let (changes, told) = (orders.changes(), orders.now().clone());
        Self { services, changes, told, leave }
    }

    async fn follow(&mut self) {
        loop {
            let draining = self.told.drain();
            let changed = tokio::select! {
                changed = self.changes.changed() => changed,
                () = last_game_or(&self.services, draining), if draining.is_some() => {
                    info!("drained: the daemon stops");
                    self.leave.cancel();
                    return;
                }
            };
            if changed.is_err() {
                return;
            }
            self.obey().await;
        }
    }

    /// Tells everybody what is new.
    async fn obey(&mut self) {
        let orders = self.changes.borrow_and_update().clone();
        let now = UnixMillis::now();
        if orders.drain() != self.told.drain() {
            self.tell_all(&match orders.drain() {
                Some(until) => Notice::due(NoticeCode::Draining, until.after(now)),
                None => Notice::due(NoticeCode::Resumed, Duration::ZERO),
            });
        }
        if orders.announcement(now) != self.told.announcement(now) {
            let text = orders.announcement(now).map(|said| said.text.clone());
            self.tell_all(&Notice::announcement(text.unwrap_or_default()));
        }
        for session in self.services.sessions.all() {
            if let Some(banned) = orders.keeps_out(session.payer().address, now) {
                self.services.turn_out(&session, RefusedHello::kept_out(banned)).await;
            }
        }
        self.told = orders;
    }

    fn tell_all(&self, notice: &Notice) {
        for session in self.services.sessions.all() {
            session.tell(ServerMessage::Notice(notice.clone()));
        }
    }
}

/// Until the last game is over, or it is time.
async fn last_game_or(services: &Services, until: Option<UnixMillis>) {
    let is_time = || until.is_none_or(|until| until <= UnixMillis::now());
    while !is_time() && !services.directory.live().is_empty() {
        tokio::time::sleep(LOOK).await;
    }
}

impl Kept for OrderKeeper {
    fn part(&self) -> Part {
        Part::Orders
    }

    async fn run(&mut self, stop: &CancellationToken) -> Result<(), BoxedError> {
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = self.follow() => {}
        }
        Ok(())
    }

    /// What was not told is told at once.
    async fn renew(&mut self) -> Result<(), BoxedError> {
        self.obey().await;
        Ok(())
    }
}
