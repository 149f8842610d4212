//! What players and watchers ask of a room.

use std::sync::Arc;
use std::time::Instant;

use fourfold_engine::{BySide, Side};

use super::RoomActor;
use crate::model::clock::now;
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::play::room::handle::{Action, MemberId, Recipient, ReplyTo, TakenSeat};
use crate::play::room::refusal::RoomRefusal;
use crate::play::room::state::{Effect, Play};
use crate::protocol::server::{Done, Frame, Reaction, Urgency};
use crate::protocol::{REACTIONS, ServerMessage};
use crate::storage::bot_versions::{BotFault, FaultKind, fault_note};
use crate::storage::store::Write;

impl RoomActor {
    pub(super) async fn play(&mut self, player: &PlayerId, play: &Play, reply: ReplyTo) {
        let Some(side) = self.side_of(player) else {
            self.refuse_move(&reply, &RoomRefusal::NotAPlayer);
            return;
        };
        let (verdict, effects) = self.state.play(side, play, UnixMillis::now());
        match verdict {
            Ok(Some(repeated)) => {
                reply.send(&Frame::new(ServerMessage::Moved(self.state.moved(&repeated))));
            }
            Ok(None) => {}
            Err(refusal) => {
                self.note_illegal(side, &refusal, play.said.as_deref());
                self.refuse_move(&reply, &refusal);
            }
        }
        self.carry_out(effects, Some(reply)).await;
    }

    /// Stores that a side has made an illegal move, so that a restart forgives no more of them, and books that of a
    /// bot for its owner, with the frame. Nobody waits for it: whatever the game acknowledges next is stored after it.
    fn note_illegal(&self, side: Side, refusal: &RoomRefusal, said: Option<&str>) {
        let is_counted = match refusal {
            RoomRefusal::Illegal { .. } => true,
            RoomRefusal::Malformed { retries_left, .. } => retries_left.is_some(),
            _ => false,
        };
        if !is_counted {
            return;
        }
        let (game, count) = (self.state.spec().id.clone(), self.state.illegal_moves(side));
        self.deps.writer.submit(Write::CountIllegal { game, side, count }, |_| {});
        let player = &self.public.players[side].identity;
        if player.kind != PlayerKind::Bot {
            return;
        }
        let wrong = format!("{refusal} (after {} moves)", self.state.game().ply());
        let fault = BotFault {
            bot: player.id.clone(),
            game: Some(self.state.spec().id.clone()),
            kind: FaultKind::IllegalMove,
            note: said.map_or_else(|| wrong.clone(), |frame| fault_note(&wrong, frame)),
            at: UnixMillis::now(),
        };
        self.deps.writer.submit(Write::AddFault(fault), |_| {});
    }

    pub(super) async fn act(&mut self, player: &PlayerId, action: Action, reply: ReplyTo) {
        let Some(side) = self.side_of(player) else {
            self.refuse(&reply, &RoomRefusal::NotAPlayer);
            return;
        };
        self.take_seat(side, &reply).await;
        let (now, at) = (now(), UnixMillis::now());
        let verdict = match action {
            Action::Resign => self.state.resign(side, now, at),
            Action::Abort => self.state.abort(side, now, at),
            Action::Claim => self.state.claim(side, now, at),
            Action::Rematch if self.is_apart() => {
                Err(RoomRefusal::NotAllowed("your opponent plays no other game against you"))
            }
            Action::Takeback if self.is_apart() => {
                Err(RoomRefusal::NoTakeback("your opponent gives no moves back"))
            }
            Action::Rematch => {
                self.look_around(now);
                self.state.ask_rematch(side)
            }
            Action::Takeback => self.state.ask_takeback(side),
            Action::TakebackAnswer { yes } => self.state.answer_takeback(side, yes, now, at),
            Action::React { emoji } => {
                self.react(side, emoji, &reply).await;
                return;
            }
        };
        match verdict {
            Err(refusal) => self.refuse(&reply, &refusal),
            Ok(effects) => {
                let is_news_for_others =
                    |effect: &Effect| matches!(effect, Effect::RematchAgreed | Effect::TakebackRefused(_));
                let answers_itself = effects.iter().any(|effect| !is_news_for_others(effect));
                if !answers_itself {
                    reply.send(&Frame::new(ServerMessage::Ok(Done {})));
                }
                self.carry_out(effects, Some(reply)).await;
            }
        }
    }

    /// Books who is still at the table after the game: news of connections come to live games only.
    pub(super) fn look_around(&mut self, now: Instant) {
        if self.state.end().is_some() {
            for side in Side::BOTH {
                // What it changes concerns rematches alone, so there is nothing to tell.
                let _none = self.state.presence_changed(side, self.members.is_here(side), false, now);
            }
        }
    }

    pub(super) async fn react(&mut self, side: Side, emoji: String, reply: &ReplyTo) {
        if !REACTIONS.contains(&emoji.as_str()) {
            let error = crate::protocol::WireError::bad_field("emoji", "emoji is one of the list in welcome");
            reply.send(&error.in_game(&self.state.spec().id).into());
            return;
        }
        let game = self.state.spec().id.clone();
        let frame = Frame::new(ServerMessage::Reaction(Reaction { game, by: side.into(), emoji }));
        self.members.tell_side(side, &frame, Some(reply));
        if self.is_apart() {
            // Whoever reacts is not told that nobody sees it.
            self.members.flush(side);
            return;
        }
        self.members.tell_side(side.opponent(), &frame, None);
        self.members.flush(side);
        self.members.tell_watchers(&frame, Urgency::Droppable).await;
    }

    pub(super) fn refuse(&self, reply: &ReplyTo, refusal: &RoomRefusal) {
        reply.send(&refusal.to_wire(&self.state.spec().id).into());
    }

    pub(super) fn refuse_move(&self, reply: &ReplyTo, refusal: &RoomRefusal) {
        reply.refuse_move(refusal.to_wire(&self.state.spec().id));
    }

    pub(super) async fn sit(
        &mut self,
        player: &PlayerId,
        member: MemberId,
        recipient: Arc<dyn Recipient>,
    ) -> Option<TakenSeat> {
        let side = self.side_of(player)?;
        if self.members.unwatch(member) {
            self.crowd_changed();
        }
        self.members.sit(side, member, Arc::clone(&recipient));
        recipient.deliver(&self.snapshot_frame(Some(side), None), None, Urgency::Must);
        let live = self.state.end().is_none();
        let your_turn = live && self.state.side_to_move() == side;
        // The session asks for its prompt itself, after it has said which games wait.
        let here = self.members.is_here(side);
        let mut effects = self.state.presence_changed(side, here, false, now());
        effects.retain(|effect| !matches!(effect, Effect::Prompt(_)));
        self.carry_out(effects, None).await;
        Some(TakenSeat { your_turn, live })
    }

    pub(super) fn prompt(&self, member: MemberId) {
        let Some(side) = self.members.side_of(member) else { return };
        let waits = self.state.end().is_none() && !self.state.is_storing();
        if waits && self.state.side_to_move() == side {
            let turn = self.state.turn(self.members.round_trip(side), now());
            self.members.tell_member(member, &Frame::new(ServerMessage::Turn(Box::new(turn))), Urgency::Must);
        }
    }

    pub(super) async fn presence_changed(&mut self, side: Side, on_purpose: bool) {
        let here = self.members.is_here(side);
        let effects = self.state.presence_changed(side, here, on_purpose, now());
        self.carry_out(effects, None).await;
    }

    pub(super) async fn leave(&mut self, member: MemberId) {
        let side = self.members.side_of(member);
        if self.members.leave(member) {
            self.crowd_changed();
        }
        if let Some(side) = side {
            self.presence_changed(side, false).await;
        }
    }

    pub(super) async fn watch(&mut self, player: &PlayerId, reply: ReplyTo) {
        let side = self.side_of(player);
        reply.send(&self.snapshot_frame(side, None));
        if let Some(side) = side {
            self.take_seat(side, &reply).await;
        } else {
            self.repeat_value(&*reply.recipient);
            self.members.watch(reply.member, reply.recipient);
            self.crowd_changed();
            self.seek_value();
        }
    }

    /// Seats a connection of a player that came after the game had ended, so that it hears of a rematch. Before the
    /// end all connections have their seats anyway.
    pub(super) async fn take_seat(&mut self, side: Side, reply: &ReplyTo) {
        if self.members.side_of(reply.member).is_none() {
            self.members.sit(side, reply.member, Arc::clone(&reply.recipient));
            self.presence_changed(side, false).await;
        }
    }

    /// Whether one player blocks the other: they finish the game, and ask nothing more of each other.
    fn is_apart(&self) -> bool {
        let BySide { first, second } = &self.public.players;
        self.deps.blocks.part(&first.identity, &second.identity)
    }

    pub(super) fn side_of(&self, player: &PlayerId) -> Option<Side> {
        let spec = self.state.spec();
        [Side::First, Side::Second].into_iter().find(|side| spec.players[*side] == *player)
    }
}
