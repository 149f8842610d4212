//! Waiting players: who joins, who is paired, what the lobby's feed shows.

use std::sync::Arc;
use std::time::Instant;

use tracing::info;

use super::{LobbyActor, LobbyAnswer, need_account, offer_of, ok};
use crate::lobby::challenge::check_terms;
use crate::lobby::pairing::{Waiting, pair};
use crate::model::clock::{self, now};
use crate::model::player::PlayerKind;
use crate::play::feeds::SEEKS_MAX;
use crate::play::presence::Session;
use crate::play::presence::registry::PlayerSettings;
use crate::play::room::MemberId;
use crate::play::room::handle::ReplyTo;
use crate::protocol::WireError;
use crate::protocol::client::Seek;
use crate::protocol::server::{SeekEntry, ServerMessage};
use crate::protocol::terms::WirePlayer;

use crate::model::opening::SideChoice;

use crate::model::rating::elo::ShownRating;
use crate::protocol::terms::Terms;

pub(super) struct Seeker {
    pub(super) session: Arc<Session>,
    pub(super) waiting: Waiting,
    pub(super) offered_bot: bool,
}

impl LobbyActor {
    pub(super) fn seek(
        &mut self,
        session: &Arc<Session>,
        seek: Seek,
        elo: Option<i32>,
        reply: &ReplyTo,
    ) -> LobbyAnswer {
        clock::validate(seek.time).map_err(|error| WireError::bad_field(error.field(), error.to_string()))?;
        let identity = session.identity();
        if seek.rated {
            need_account(identity)?;
        }
        self.need_free(identity)?;
        let waiting = Waiting {
            player: identity.id.clone(),
            kind: identity.kind,
            owner: identity.owner.clone(),
            elo,
            seek,
            since: now(),
        };
        ok(reply)?;
        let seeker = Seeker { session: Arc::clone(session), waiting, offered_bot: false };
        self.seekers.insert(session.member(), seeker);
        self.pair_seekers(now());
        self.show_seeks();
        Ok(())
    }

    pub(super) fn unseek(&mut self, member: MemberId) {
        if self.seekers.remove(&member).is_some() {
            self.show_seeks();
        }
    }

    pub(super) fn pair_seekers(&mut self, now: Instant) {
        let (members, waiting): (Vec<MemberId>, Vec<Waiting>) =
            self.seekers.iter().map(|(member, seeker)| (*member, self.as_of_now(seeker))).unzip();
        let pairs = pair(&waiting, now);
        if pairs.is_empty() {
            return;
        }
        for (a, b) in pairs {
            let (Some(a), Some(b)) = (self.seekers.remove(&members[a]), self.seekers.remove(&members[b]))
            else {
                continue;
            };
            self.start_pairing(&a, &b);
        }
        self.show_seeks();
    }

    /// A seek with what its player accepts where it says nothing itself, and without the sorts of opponents for whom
    /// the player has no game left. Those wait until one has ended.
    fn as_of_now(&self, seeker: &Seeker) -> Waiting {
        let mut waiting = seeker.waiting.clone();
        let Some(present) = self.deps.sessions.present(&waiting.player) else { return waiting };
        let taken = self.deps.host.games_taken(&waiting.player);
        let PlayerSettings { accepts, .. } = &present.settings;
        let mut opponents = waiting.seek.opponents.take().unwrap_or_else(|| accepts.opponents.clone());
        opponents.retain(|kind| present.settings.has_place(taken, *kind));
        waiting.seek.opponents = Some(opponents);
        waiting.seek.rating = waiting.seek.rating.or(accepts.rating);
        waiting
    }

    fn start_pairing(&self, a: &Seeker, b: &Seeker) {
        let (a_id, b_id) = (a.session.identity().clone(), b.session.identity().clone());
        let both_bots = a_id.kind == PlayerKind::Bot && b_id.kind == PlayerKind::Bot;
        let terms = Terms {
            time: a.waiting.seek.time,
            rated: a.waiting.seek.rated,
            variant: a.waiting.seek.variant,
            opening: None,
            games: 1,
            side: SideChoice::Random,
        };
        let terms = if both_bots { check_terms(&terms, &a_id, Some(&b_id)).unwrap_or(terms) } else { terms };
        let offer = offer_of(a_id, b_id, &terms);
        let (host, tasks) = (self.deps.host.clone(), self.deps.tasks.clone());
        let sessions = [Arc::clone(&a.session), Arc::clone(&b.session)];
        tasks.spawn(async move {
            if let Err(error) = host.start(offer).await {
                info!(error = %error, "two seeks could not be paired");
                for session in sessions {
                    session.tell(ServerMessage::Error(Box::new(error.to_wire())));
                }
            }
        });
    }

    fn show_seeks(&self) {
        let mut seekers: Vec<&Seeker> = self.seekers.values().collect();
        seekers.sort_by_key(|seeker| seeker.waiting.since);
        let entries = seekers.into_iter().map(|seeker| SeekEntry {
            player: WirePlayer::new(seeker.session.identity(), seeker.waiting.elo.map(rough_rating), None),
            time: seeker.waiting.seek.time,
            rated: seeker.waiting.seek.rated,
            variant: seeker.waiting.seek.variant,
        });
        self.deps.feeds.set_seeks(entries.take(SEEKS_MAX).collect());
    }
}

/// A seek shows the points only; how sure they are matters less in a list.
fn rough_rating(elo: i32) -> ShownRating {
    ShownRating { elo, pm95: 0, provisional: false }
}
