//! Waiting players: who joins, who is paired, what the lobby's feed shows.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::info;

use super::{LobbyActor, LobbyAnswer, need_account, offer_of, ok};
use crate::lobby::challenge::check_terms;
use crate::lobby::handle::{LobbyCommand, Unpaired};
use crate::lobby::pairing::Waiting;
use crate::model::clock::{is_beyond_a_day, now};
use crate::model::player::{OpponentKind, PlayerKind};
use crate::play::feeds::SEEKS_MAX;
use crate::play::presence::Session;
use crate::play::presence::registry::PlayerSettings;
use crate::play::room::MemberId;
use crate::play::room::handle::ReplyTo;
use crate::play::share;
use crate::protocol::WireError;
use crate::protocol::client::Seek;
use crate::protocol::server::{SeekEntry, ServerMessage};
use crate::protocol::terms::WirePlayer;

use crate::model::opening::SideChoice;

use crate::model::rating::elo::ShownRating;
use crate::protocol::terms::{SeriesLength, Terms};
use crate::system::shares::{Held, Refusal, Share};

/// The least time between two lists of seeks: people do not read faster, and each costs its making.
const SHOW_EVERY: Duration = Duration::from_millis(250);

/// Seeks that are held against what their players accept now, with each tick. Whoever waits among more than so many
/// waits a few ticks longer until a change counts; whoever is chosen as a partner is looked at anyway.
const REFRESHED_AT_ONCE: usize = 256;

/// Partners that a seek tries one after the other, if they accept it no more: the next tick goes on.
const PARTNERS_TRIED_MAX: usize = 8;

pub(super) struct Seeker {
    pub(super) session: Arc<Session>,
    pub(super) waiting: Waiting,
    /// Its place in its network's share.
    _place: Held,
}

/// When the list of seeks was last shown, and whether it has changed since.
#[derive(Debug, Default)]
pub(super) struct Published {
    shown_at: Option<Instant>,
    is_outdated: bool,
}

impl Published {
    /// When the list is to be shown, if it is outdated: at once, unless it was shown just now.
    pub(super) fn due(&self) -> Option<Instant> {
        self.is_outdated.then(|| self.shown_at.map_or_else(now, |at| at + SHOW_EVERY))
    }
}

/// People who are to be offered a house bot when they have waited long, in the order in which they came, each with the
/// time of its seek.
#[derive(Debug, Default)]
pub(super) struct OfferedBots(VecDeque<(MemberId, Instant)>);

impl OfferedBots {
    /// Takes out those who have waited since then.
    pub(super) fn take_before(&mut self, then: Option<Instant>) -> Vec<(MemberId, Instant)> {
        let Some(then) = then else { return Vec::new() };
        let count = self.0.iter().take_while(|(_, since)| *since <= then).count();
        self.0.drain(..count).collect()
    }
}

impl LobbyActor {
    pub(super) fn seek(
        &mut self,
        session: &Arc<Session>,
        seek: Seek,
        elo: Option<i32>,
        reply: &ReplyTo,
    ) -> LobbyAnswer {
        let identity = session.identity();
        if seek.rated {
            need_account(identity)?;
        }
        if is_beyond_a_day(seek.time.control()) {
            let message = "time.move_ms of more than a day is for challenges and links: nobody waits so long";
            return Err(WireError::bad_field("time.move_ms", message));
        }
        self.need_free(identity)?;
        let place = self.seek_place(session)?;
        let waiting = Waiting {
            player: identity.id.clone(),
            kind: identity.kind,
            owner: identity.owner.clone(),
            elo,
            seek,
            blocked: self.deps.host.blocks().of(&identity.id),
            since: now(),
        };
        ok(reply)?;
        if OpponentKind::from(identity.kind) == OpponentKind::Human {
            self.offered_bots.0.push_back((session.member(), waiting.since));
        }
        self.enter(Arc::clone(session), waiting, place);
        Ok(())
    }

    /// Takes one search out of the network's share, and a place there. An earlier seek of the same connection gives
    /// its place to this one.
    fn seek_place(&mut self, session: &Session) -> Result<Held, WireError> {
        let payer = session.payer();
        let refused = |refusal: Refusal| share::refusal(&refusal);
        self.deps.shares.spend(Share::Seek, &payer).map_err(refused)?;
        self.unseek(session.member());
        self.deps.shares.hold(Share::Seek, &payer).map_err(refused)
    }

    /// Lets a seek wait, or pairs it at once.
    fn enter(&mut self, session: Arc<Session>, waiting: Waiting, place: Held) {
        let member = session.member();
        self.pool.insert(member, self.as_of_now(&waiting));
        self.seekers.insert(member, Seeker { session, waiting, _place: place });
        self.published.is_outdated = true;
        self.pair(member, now());
    }

    pub(super) fn unseek(&mut self, member: MemberId) {
        self.take_out(member);
    }

    fn take_out(&mut self, member: MemberId) -> Option<Seeker> {
        self.pool.remove(member);
        let seeker = self.seekers.remove(&member)?;
        self.published.is_outdated = true;
        Some(seeker)
    }

    /// Looks at those again for whom something may have changed: a window has widened, or a player accepts others now.
    pub(super) fn pair_due(&mut self, now: Instant) {
        for member in self.pool.take_due(now) {
            self.pair(member, now);
        }
        for member in self.pool.next_to_refresh(REFRESHED_AT_ONCE) {
            if self.refresh(member) == Refreshed::Changed {
                self.pair(member, now);
            }
        }
    }

    /// Pairs a seek if there is a partner for it.
    fn pair(&mut self, member: MemberId, now: Instant) {
        if self.deps.host.obstacle().is_some() {
            // Their game could not begin: they wait on until it can.
            self.pool.look_again(member, now);
            return;
        }
        for _ in 0..PARTNERS_TRIED_MAX {
            let Some(partner) = self.pool.partner(member, now) else { return };
            let is_same = self.refresh(member) == Refreshed::Same;
            if self.refresh(partner) == Refreshed::Changed {
                self.pool.look_again(partner, now);
                continue;
            }
            if !is_same {
                continue;
            }
            if let (Some(a), Some(b)) = (self.take_out(member), self.take_out(partner)) {
                self.start_pairing(a, b);
            }
            return;
        }
        self.pool.look_again(member, now);
    }

    /// Holds a seek against what its player accepts now.
    fn refresh(&mut self, member: MemberId) -> Refreshed {
        let Some(seeker) = self.seekers.get(&member) else { return Refreshed::Same };
        let waiting = self.as_of_now(&seeker.waiting);
        let is_same = self.pool.get(member).is_some_and(|known| known.is_as(&waiting));
        if is_same {
            return Refreshed::Same;
        }
        self.pool.insert(member, waiting);
        Refreshed::Changed
    }

    /// A seek with whom its player blocks and what they accept where it says nothing itself, and without the sorts of
    /// opponents for whom the player has no game left. Those wait until one has ended.
    fn as_of_now(&self, waiting: &Waiting) -> Waiting {
        let mut waiting = waiting.clone();
        waiting.blocked = self.deps.host.blocks().of(&waiting.player);
        let Some(present) = self.deps.sessions.present(&waiting.player) else { return waiting };
        let taken = self.deps.host.games_taken(&waiting.player);
        let PlayerSettings { accepts, .. } = &present.settings;
        let mut opponents = waiting.seek.opponents.take().unwrap_or_else(|| accepts.opponents.clone());
        opponents.retain(|kind| present.settings.has_place(taken, *kind));
        waiting.seek.opponents = Some(opponents);
        waiting.seek.rating = waiting.seek.rating.or(accepts.rating);
        waiting
    }

    /// Starts the game of two seeks in a task of its own.
    fn start_pairing(&self, a: Seeker, b: Seeker) {
        let (a_id, b_id) = (a.session.identity().clone(), b.session.identity().clone());
        let both_bots = a_id.kind == PlayerKind::Bot && b_id.kind == PlayerKind::Bot;
        let terms = Terms {
            time: a.waiting.seek.time,
            rated: a.waiting.seek.rated,
            variant: a.waiting.seek.variant,
            opening: None,
            games: SeriesLength::default(),
            side: SideChoice::Random,
            load: false,
            private: false,
        };
        let terms = if both_bots { check_terms(&terms, &a_id, Some(&b_id)).unwrap_or(terms) } else { terms };
        let offer = offer_of(a_id, b_id, &terms);
        let (host, lobby) = (self.deps.host.clone(), self.own.clone());
        let seeks = [a, b].map(|seeker| (seeker.session, seeker.waiting));
        self.deps.tasks.spawn(async move {
            let Err(error) = host.start(offer).await else { return };
            info!(error = %error, "two seeks could not be paired");
            if let Some(lobby) = lobby.upgrade() {
                // A lobby that has stopped has no seeks.
                let _ = lobby.send(LobbyCommand::Unpaired(Box::new(Unpaired { seeks, error }))).await;
            }
        });
    }

    /// Two seeks became no game: whoever is why is told; the other did nothing wrong and waits on, as long as before.
    /// So do both while nothing can be stored.
    pub(super) fn seek_again(&mut self, unpaired: Unpaired) {
        let Unpaired { seeks, error } = unpaired;
        let both_wait = error.is_passing() && self.deps.host.obstacle().is_some();
        let is_about_one = seeks.iter().any(|(session, _)| error.is_about(session.identity()));
        for (session, waiting) in seeks {
            if !both_wait && (!is_about_one || error.is_about(session.identity())) {
                session.tell(ServerMessage::Error(Box::new(error.to_wire())));
                continue;
            }
            let has_newer_seek = self.seekers.contains_key(&session.member());
            let is_here = session.is_attached() && self.deps.sessions.contains(&session);
            let place = self.deps.shares.hold(Share::Seek, &session.payer());
            if is_here
                && !has_newer_seek
                && let Ok(place) = place
            {
                self.enter(session, waiting, place);
            }
        }
    }

    /// Shows the seeks that have waited longest.
    pub(super) fn show_seeks(&mut self) {
        let seekers = self.pool.oldest().filter_map(|member| self.seekers.get(&member));
        let entries = seekers.map(|seeker| SeekEntry {
            player: WirePlayer::new(seeker.session.identity(), seeker.waiting.elo.map(rough_rating), None),
            time: seeker.waiting.seek.time.control(),
            rated: seeker.waiting.seek.rated,
            variant: seeker.waiting.seek.variant,
        });
        self.deps.feeds.set_seeks(entries.take(SEEKS_MAX).collect());
        self.published = Published { shown_at: Some(now()), is_outdated: false };
    }
}

/// Whether a seek has been changed by a look at its player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Refreshed {
    Same,
    Changed,
}

/// A seek shows the points only; how sure they are matters less in a list.
fn rough_rating(elo: i32) -> ShownRating {
    ShownRating { elo, pm95: 0, provisional: false }
}
