//! What watchers hear about the value of the game. Players hear nothing, and in rated games between people nobody does.

use fourfold_engine::Side;
use tokio_util::task::AbortOnDropHandle;

use super::RoomActor;
use crate::analysis::live_value::LiveValue;
use crate::model::player::PlayerKind;
use crate::play::room::handle::Recipient;
use crate::protocol::ServerMessage;
use crate::protocol::server::{Frame, Truth, Urgency};

/// The value of the position on the board, as far as anybody asked for it.
#[derive(Default)]
pub(super) struct WatchedValue {
    /// The computation; dropped, it ends.
    asked: Option<AbortOnDropHandle<Option<LiveValue>>>,
    /// What the watchers were told.
    told: Option<Frame>,
}

impl WatchedValue {
    /// Another position is on the board.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Waits for the answer; for ever if nobody asked. A wait that is given up loses nothing.
    pub(super) async fn answer(&mut self) -> Option<LiveValue> {
        match &mut self.asked {
            Some(task) => {
                let answer = task.await;
                self.asked = None;
                // A computation that failed is logged by the pool, and there is nothing to tell.
                answer.ok().flatten()
            }
            None => std::future::pending().await,
        }
    }
}

impl RoomActor {
    /// Asks for the value of the position if somebody who may hear it watches.
    pub(super) fn seek_value(&mut self) {
        let is_known = self.value.asked.is_some() || self.value.told.is_some();
        let (position, _) = self.watched_position();
        let is_over = self.state.end().is_some() || position.outcome().is_some();
        if is_known || is_over || self.members.watching() == 0 || !self.may_be_told() {
            return;
        }
        let live_values = self.deps.live_values.clone();
        let task = tokio::spawn(async move { live_values.of(position).await });
        self.value.asked = Some(AbortOnDropHandle::new(task));
    }

    /// Whether watchers may know more than the players: not where people play for their ratings, whose friends watch.
    fn may_be_told(&self) -> bool {
        let people =
            Side::BOTH.iter().all(|side| self.public.players[*side].identity.kind != PlayerKind::Bot);
        self.deps.live_values.is_told() && !(self.state.spec().rated && people)
    }

    pub(super) async fn tell_value(&mut self, value: Option<LiveValue>) {
        let Some(value) = value else { return };
        let frame = Frame::new(ServerMessage::Truth(Truth {
            game: self.state.spec().id.clone(),
            ply: self.watched_position().1,
            winner: value.winner.map(Into::into),
            plies: value.plies,
        }));
        self.value.told = Some(frame.clone());
        self.members.tell_watchers(&frame, Urgency::Droppable).await;
    }

    /// Tells one watcher what the others were told.
    pub(super) fn repeat_value(&self, recipient: &dyn Recipient) {
        if let Some(frame) = &self.value.told {
            recipient.deliver(frame, None, Urgency::Droppable);
        }
    }
}
