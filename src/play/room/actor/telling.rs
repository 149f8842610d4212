//! Who hears what: players before watchers, and the host.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fourfold_engine::Side;

use super::{RoomActor, RoomNews};
use crate::model::clock::now;
use crate::model::player::PlayerKind;
use crate::play::room::directory::shown_crowd;
use crate::play::room::handle::ReplyTo;
use crate::play::room::state::{Effect, millis};
use crate::protocol::ServerMessage;
use crate::protocol::server::{Crowd, Frame, Offered, OpponentGone, Snapshot, Urgency};

/// How long a room outlives its game if people play in it: time to agree on a rematch.
pub(super) const LINGER_PEOPLE: Duration = Duration::from_mins(1);
/// The same between bots: time for a late repetition of the last move.
pub(super) const LINGER_BOTS: Duration = Duration::from_secs(5);
/// At most one `crowd` in this time.
pub(super) const CROWD_EVERY: Duration = Duration::from_secs(1);

impl RoomActor {
    /// Carries out effects: first everything for the players, then the same for the watchers.
    pub(super) async fn carry_out(&mut self, effects: Vec<Effect>, asker: Option<ReplyTo>) {
        let mut crowd = Vec::new();
        let mut is_other_position = false;
        let mut first = Side::First;
        for effect in effects {
            match effect {
                Effect::Store(request) => self.store(request, asker.clone()),
                Effect::Moved(played) => {
                    is_other_position = true;
                    first = played.by;
                    let frame = Frame::new(ServerMessage::Moved(self.state.moved(&played)));
                    self.members.tell_players(played.by, &frame, asker.as_ref());
                    self.list_board();
                    crowd.push(frame);
                }
                Effect::Prompt(side) => {
                    let turn = self.state.turn(self.members.round_trip(side), now());
                    let frame = Frame::new(ServerMessage::Turn(Box::new(turn)));
                    self.members.tell_side(side, &frame, None);
                }
                Effect::Resnapshot => {
                    is_other_position = true;
                    for side in [Side::First, Side::Second] {
                        let frame = self.snapshot_frame(Some(side), None);
                        self.members.tell_side(side, &frame, asker.as_ref());
                    }
                    self.list_board();
                    crowd.push(Frame::new(ServerMessage::Game(Box::new(self.snapshot(None)))));
                }
                Effect::GivenBack(time) => self.tell_given_back(time),
                Effect::Ended => {
                    is_other_position = true;
                    // Boxed, as all that is rare: its memory would be held as long as the room.
                    crowd.extend(Box::pin(self.ended(asker.as_ref())).await);
                }
                Effect::Presence { side, here, claim_in } => {
                    let frame = self.presence_frame(side, here, claim_in);
                    self.members.tell_side(side.opponent(), &frame, None);
                    crowd.push(frame);
                }
                Effect::RematchOffered(side) => {
                    self.tell_offer(side, ServerMessage::RematchOffer, asker.as_ref());
                }
                Effect::RematchAgreed => {
                    let spec = self.state.spec().clone();
                    Box::pin(self.tell_host(RoomNews::RematchAgreed { spec })).await;
                }
                Effect::TakebackOffered(side) => {
                    self.tell_offer(side, ServerMessage::TakebackOffer, asker.as_ref());
                }
                // Whoever refused is answered `ok`; its other connections hear it here.
                Effect::TakebackRefused(side) => self.tell_offer(side, ServerMessage::TakebackRefused, None),
            }
        }
        self.members.flush(first);
        self.tell_watchers(crowd).await;
        if is_other_position && self.screen.is_none() {
            self.value.forget();
            self.seek_value();
        }
    }

    /// Has lists show the board, unless they show it late.
    fn list_board(&self) {
        if self.screen.is_none() {
            self.public.set_board(self.state.game().notation(), false);
        }
    }

    /// Tells both players what one of them offers, or has refused.
    fn tell_offer(&self, by: Side, kind: fn(Offered) -> ServerMessage, asker: Option<&ReplyTo>) {
        let offered = Offered { game: self.state.spec().id.clone(), by: by.into() };
        self.members.tell_players(by, &Frame::new(kind(offered)), asker);
    }

    fn tell_given_back(&self, time: Duration) {
        for side in Side::BOTH {
            let snapshot = Snapshot { given_back_ms: Some(millis(time)), ..self.snapshot(Some(side)) };
            let frame = Frame::new(ServerMessage::Game(Box::new(snapshot)));
            self.members.tell_side(side, &frame, None);
        }
    }

    /// Shows news to the watchers, to a large crowd not each of many moves.
    pub(super) async fn show(&mut self, frames: Vec<Frame>) {
        for frame in frames {
            if matches!(frame.message(), ServerMessage::Moved(_)) {
                if !self.pace.tells_move(self.members.watching(), now()) {
                    continue;
                }
            } else {
                self.catch_watchers_up().await;
            }
            self.members.tell_watchers(&frame, Urgency::Droppable).await;
        }
    }

    /// Makes up for the moves that the watchers were not told of.
    pub(super) async fn catch_watchers_up(&mut self) {
        if let Some(skipped) = self.pace.catch_up(now()) {
            let frame = self.snapshot_frame(None, Some(skipped));
            self.members.tell_watchers(&frame, Urgency::Droppable).await;
        }
    }

    fn presence_frame(&self, side: Side, here: bool, claim_in: Option<Duration>) -> Frame {
        Frame::new(ServerMessage::OpponentGone(OpponentGone {
            game: self.state.spec().id.clone(),
            by: side.into(),
            gone: !here,
            claim_ms: claim_in.map(millis),
        }))
    }

    /// The game is over: frees the players, tells everybody, and lets the room linger.
    async fn ended(&mut self, asker: Option<&ReplyTo>) -> Option<Frame> {
        let end = self.state.game_end(now())?;
        let people = self.public.players.as_ref().map(|player| player.identity.kind != PlayerKind::Bot);
        self.public.set_board(end.moves.clone(), true);
        let are_many = self.deps.directory.lingers();
        let wait = if (people.first || people.second) && !are_many { LINGER_PEOPLE } else { LINGER_BOTS };
        self.closes_at = Some(now() + wait);
        self.deps.directory.release_players(&self.public);
        let frame = Frame::new(ServerMessage::GameEnd(Box::new(end.clone())));
        self.members.tell_players(Side::First, &frame, asker);
        self.tell_host(RoomNews::Finished { public: Arc::clone(&self.public), end }).await;
        Some(frame)
    }

    async fn tell_host(&self, news: RoomNews) {
        self.members.flush(Side::First);
        // The host is gone only while the daemon stops.
        let _ = self.deps.news.send(news).await;
    }

    pub(super) fn crowd_changed(&mut self) {
        self.public.set_watching(self.members.watching());
        if self.crowd_due.is_none() {
            let earliest = self.crowd_told.map_or_else(now, |told| told + CROWD_EVERY);
            self.crowd_due = Some(earliest.max(now()));
        }
    }

    pub(super) async fn tell_crowd(&mut self, now: Instant) {
        self.crowd_due = None;
        self.crowd_told = Some(now);
        let watching = shown_crowd(self.members.watching());
        let crowd = Crowd { game: self.state.spec().id.clone(), watching };
        let frame = Frame::new(ServerMessage::Crowd(crowd));
        for side in [Side::First, Side::Second] {
            self.members.tell_side(side, &frame, None);
        }
        self.members.flush(Side::First);
        self.members.tell_watchers(&frame, Urgency::Droppable).await;
    }

    pub(super) fn snapshot(&self, you: Option<Side>) -> Snapshot {
        self.state.snapshot(you, &self.public.players, shown_crowd(self.members.watching()), now())
    }

    /// The game as the player of a side sees it, or a watcher.
    pub(super) fn seen_by(&self, you: Option<Side>) -> Snapshot {
        match you {
            Some(side) => self.snapshot(Some(side)),
            None => self.watched_snapshot(),
        }
    }

    pub(super) fn snapshot_frame(&self, you: Option<Side>, skipped: Option<u64>) -> Frame {
        let snapshot = Snapshot { skipped, ..self.seen_by(you) };
        Frame::new(ServerMessage::Game(Box::new(snapshot)))
    }
}
