//! What operators have ordered for the whole arena, as it holds now: whether games may begin, what every page says,
//! from where nobody comes in, and by which invitations people register.
//!
//! The log of orders is the truth; [`StandingOrders`] is what follows from it, and [`Orders`] shows that to all parts.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::watch;

use crate::model::invitation::InvitationCode;
use crate::model::time::UnixMillis;
use crate::storage::moderation::{AuditAction, AuditEntry, Because, Order, OrderKind};
use crate::storage::store::{Store, StoreError, Write};
use crate::storage::writer::{WriteError, Writer};
use crate::system::config::IpNetwork;

/// What holds now.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct StandingOrders {
    pause: Option<Because>,
    /// When the daemon stops at the latest, if it is to.
    drain: Option<UnixMillis>,
    announcement: Option<Announcement>,
    networks: Vec<BannedNetwork>,
    invitations: Vec<Invitation>,
}

/// By which people may register where not everybody may.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Invitation {
    pub(crate) code: InvitationCode,
    /// People who may register by it in all.
    pub(crate) uses: u32,
    /// Why and since when.
    pub(crate) because: Because,
    /// When it ends by itself.
    pub(crate) until: Option<UnixMillis>,
}

/// What every page says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Announcement {
    /// One line, never empty.
    pub(crate) text: String,
    /// When it ends by itself.
    pub(crate) until: Option<UnixMillis>,
}

/// Addresses from which nobody comes in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BannedNetwork {
    pub(crate) network: IpNetwork,
    /// Why and since when.
    pub(crate) because: Because,
    /// When it ends by itself.
    pub(crate) until: Option<UnixMillis>,
}

/// What whoever comes from there is told.
impl fmt::Display for BannedNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let until = self.until.map(|until| format!(" until {until}")).unwrap_or_default();
        write!(f, "nobody from your network is let in{until}: {}", self.because.reason)
    }
}

fn holds(until: Option<UnixMillis>, now: UnixMillis) -> bool {
    until.is_none_or(|until| now < until)
}

impl StandingOrders {
    /// What follows from the orders of the log, the oldest first. What an earlier daemon was told for itself, to stop,
    /// has been done.
    pub(crate) fn of_log(entries: Vec<AuditEntry>) -> Self {
        let mut standing = Self::default();
        for entry in entries {
            if entry.action != AuditAction::Drain
                && let Some(order) = read(entry)
            {
                standing.take(order);
            }
        }
        standing
    }

    /// One more order; it takes the place of the one before of its kind.
    fn take(&mut self, Order { kind, because }: Order) {
        match kind {
            OrderKind::Pause => self.pause = Some(because),
            OrderKind::Resume => (self.pause, self.drain) = (None, None),
            OrderKind::Drain { until } => self.drain = Some(until),
            OrderKind::Announce { text, until } => {
                self.announcement = Some(Announcement { text, until }).filter(|said| !said.text.is_empty());
            }
            OrderKind::BanNetwork { network, until } => {
                self.networks.retain(|other| other.network != network);
                self.networks.push(BannedNetwork { network, because, until });
            }
            OrderKind::UnbanNetwork { network } => self.networks.retain(|other| other.network != network),
            OrderKind::Invite { code, uses, until } => {
                self.invitations.retain(|other| other.code != code);
                self.invitations.push(Invitation { code, uses, because, until });
            }
            OrderKind::Uninvite { code } => self.invitations.retain(|other| other.code != code),
            // Of this the list of nodes keeps what holds.
            OrderKind::DrainNode { .. } | OrderKind::UndoDrains => {}
        }
    }

    /// Whether games may begin.
    pub(crate) fn games_begin(&self) -> bool {
        self.pause.is_none() && self.drain.is_none()
    }

    /// Why none may, if an operator has paused the arena.
    pub(crate) fn pause(&self) -> Option<&Because> {
        self.pause.as_ref()
    }

    /// When the daemon stops at the latest, if it is to.
    pub(crate) fn drain(&self) -> Option<UnixMillis> {
        self.drain
    }

    /// What every page says.
    pub(crate) fn announcement(&self, now: UnixMillis) -> Option<&Announcement> {
        self.announcement.as_ref().filter(|said| holds(said.until, now))
    }

    /// What keeps this address out.
    pub(crate) fn keeps_out(&self, address: IpAddr, now: UnixMillis) -> Option<&BannedNetwork> {
        self.networks.iter().find(|banned| holds(banned.until, now) && banned.network.contains(address))
    }

    /// All invitations that have not ended; some may be used up.
    pub(crate) fn invitations(&self, now: UnixMillis) -> impl Iterator<Item = &Invitation> {
        self.invitations.iter().filter(move |invitation| holds(invitation.until, now))
    }

    /// All networks that are kept out.
    pub(crate) fn networks(&self, now: UnixMillis) -> impl Iterator<Item = &BannedNetwork> {
        self.networks.iter().filter(move |banned| holds(banned.until, now))
    }
}

/// An entry of the log as the order that it keeps; `None` of what no program of this version has written.
fn read(entry: AuditEntry) -> Option<Order> {
    let AuditEntry { action, subject, detail, until, reason, by, at, .. } = entry;
    let network = || subject.parse::<IpNetwork>().ok();
    let code = || subject.parse::<InvitationCode>().ok();
    let kind = match action {
        AuditAction::Pause => OrderKind::Pause,
        AuditAction::Resume => OrderKind::Resume,
        AuditAction::Drain => OrderKind::Drain { until: until? },
        AuditAction::Announce => OrderKind::Announce { text: detail.unwrap_or_default(), until },
        AuditAction::BanNetwork => OrderKind::BanNetwork { network: network()?, until },
        AuditAction::UnbanNetwork => OrderKind::UnbanNetwork { network: network()? },
        AuditAction::Invite => OrderKind::Invite { code: code()?, uses: detail?.parse().ok()?, until },
        AuditAction::Uninvite => OrderKind::Uninvite { code: code()? },
        AuditAction::DrainNode => OrderKind::DrainNode { node: subject },
        AuditAction::UndoDrains => OrderKind::UndoDrains,
        AuditAction::Void
        | AuditAction::CancelTournament
        | AuditAction::RemoveStudy
        | AuditAction::Ban
        | AuditAction::Unban
        | AuditAction::Rename
        | AuditAction::ClearProfile
        | AuditAction::ResetPassword
        | AuditAction::SignOut
        | AuditAction::Mute
        | AuditAction::Unmute
        | AuditAction::Delete
        | AuditAction::Admit
        | AuditAction::Appoint
        | AuditAction::Dismiss
        | AuditAction::TakeReport
        | AuditAction::DismissReport
        | AuditAction::ResolveReport => return None,
    };
    Some(Order { kind, because: Because { reason, by: by.unwrap_or_default(), at } })
}

/// What holds now, for all parts of the daemon. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    standing: Arc<watch::Sender<StandingOrders>>,
}

impl Default for Orders {
    /// Nothing was ordered.
    fn default() -> Self {
        Self { standing: Arc::new(watch::Sender::new(StandingOrders::default())) }
    }
}

impl Orders {
    /// What holds according to the store.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn read(store: &dyn Store) -> Result<Self, StoreError> {
        let standing = StandingOrders::of_log(store.orders().await?);
        Ok(Self { standing: Arc::new(watch::Sender::new(standing)) })
    }

    /// What holds now. Whoever reads keeps others from giving orders, so it is not to be held.
    pub(crate) fn now(&self) -> watch::Ref<'_, StandingOrders> {
        self.standing.borrow()
    }

    /// Every change from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<StandingOrders> {
        self.standing.subscribe()
    }

    /// Keeps an order, after which it holds.
    ///
    /// # Errors
    ///
    /// It could not be stored, and does not hold.
    pub(crate) async fn give(&self, writer: &Writer, order: Order) -> Result<(), WriteError> {
        writer.write(Write::GiveOrder(order.clone())).await?;
        self.standing.send_modify(|standing| standing.take(order));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn because(reason: &str) -> Because {
        Because { reason: reason.to_owned(), by: "ops".to_owned(), at: UnixMillis(0) }
    }

    fn entry(number: u64, kind: &OrderKind, reason: &str) -> AuditEntry {
        let crate::storage::moderation::AuditNote { action, subject, detail, until } = kind.entry();
        let Because { reason, by, at } = because(reason);
        AuditEntry { number, action, subject, detail, until, reason, by: Some(by), at }
    }

    fn standing(kinds: &[OrderKind]) -> StandingOrders {
        let entries = kinds.iter().zip(1..).map(|(kind, number)| entry(number, kind, "why"));
        StandingOrders::of_log(entries.collect())
    }

    fn network(text: &str) -> IpNetwork {
        text.parse().unwrap()
    }

    #[test]
    fn what_was_said_last_holds() {
        assert!(StandingOrders::default().games_begin());
        assert!(!standing(&[OrderKind::Resume, OrderKind::Pause]).games_begin());
        assert!(standing(&[OrderKind::Pause, OrderKind::Resume]).games_begin());
        assert_eq!(standing(&[OrderKind::Pause]).pause(), Some(&because("why")));
    }

    #[test]
    fn a_daemon_is_told_to_stop_once() {
        let drain = OrderKind::Drain { until: UnixMillis(5) };
        assert!(standing(std::slice::from_ref(&drain)).games_begin(), "an earlier daemon has done so");
        let mut now = StandingOrders::default();
        now.take(Order { kind: drain, because: because("why") });
        assert_eq!((now.games_begin(), now.drain()), (false, Some(UnixMillis(5))));
        now.take(Order { kind: OrderKind::Resume, because: because("after all") });
        assert_eq!((now.games_begin(), now.drain()), (true, None));
    }

    #[test]
    fn an_announcement_ends_by_itself_or_by_an_empty_one() {
        let say = |text: &str, until| OrderKind::Announce { text: text.to_owned(), until };
        let said = standing(&[say("maintenance at noon", Some(UnixMillis(10)))]);
        assert_eq!(said.announcement(UnixMillis(9)).unwrap().text, "maintenance at noon");
        assert_eq!(said.announcement(UnixMillis(10)), None);
        assert_eq!(standing(&[say("a", None), say("", None)]).announcement(UnixMillis(0)), None);
    }

    #[test]
    fn networks_are_kept_out_until_they_are_let_in() {
        let ban = |text: &str, until| OrderKind::BanNetwork { network: network(text), until };
        let kept_out = |orders: &StandingOrders, address: &str, at| {
            orders.keeps_out(address.parse().unwrap(), UnixMillis(at)).is_some()
        };
        let orders = standing(&[ban("10.0.0.0/8", None), ban("2001:db8::/32", Some(UnixMillis(100)))]);
        assert!(kept_out(&orders, "10.200.1.1", 0) && kept_out(&orders, "::ffff:10.0.0.1", 0));
        assert!(!kept_out(&orders, "11.0.0.1", 0));
        assert!(kept_out(&orders, "2001:db8:7::1", 99) && !kept_out(&orders, "2001:db8:7::1", 100));
        let unban = OrderKind::UnbanNetwork { network: network("10.0.0.0/8") };
        let orders = standing(&[ban("10.0.0.0/8", None), unban, ban("12.0.0.0/8", None)]);
        assert!(!kept_out(&orders, "10.200.1.1", 0) && kept_out(&orders, "12.0.0.1", 0));
        assert_eq!(orders.networks(UnixMillis(0)).count(), 1);
    }

    #[test]
    fn all_orders_come_back_from_the_log_as_they_were_given() {
        let until = Some(UnixMillis(7));
        for kind in [
            OrderKind::Pause,
            OrderKind::Resume,
            OrderKind::Drain { until: UnixMillis(7) },
            OrderKind::Announce { text: "hello".to_owned(), until },
            OrderKind::Announce { text: String::new(), until: None },
            OrderKind::BanNetwork { network: network("10.0.0.0/8"), until },
            OrderKind::UnbanNetwork { network: network("fd00::/8") },
        ] {
            assert_eq!(read(entry(1, &kind, "why")), Some(Order { kind, because: because("why") }));
        }
    }
}
