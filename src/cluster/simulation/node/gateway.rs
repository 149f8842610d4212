//! The sessions of a node: whatever their players do goes to the owner of the game as an order.

use std::time::Instant;

use fourfold_engine::{BySide, Column, Side};

use super::super::defect::Defect;
use super::super::words::{Answer, Call, Deed, Frame, Message, Order, Output, Over, SessionNumber};
use super::Node;
use crate::cluster::orders::OrderNumber;
use crate::cluster::places::{Place, Places};
use crate::model::ids::{GameId, PlayerId};
use crate::storage::record::StoredGame;

/// One connection of a client.
#[derive(Debug)]
pub(in crate::cluster::simulation) struct Session {
    player: PlayerId,
    pub(super) game: Option<GameId>,
    /// Whether the database has said, since something was missing, which game the player has.
    pub(super) asked: bool,
}

impl Node {
    /// A client connects.
    pub(in crate::cluster::simulation) fn hello(
        &mut self,
        session: SessionNumber,
        player: &PlayerId,
        now: Instant,
    ) {
        self.sessions.insert(session, Session { player: player.clone(), game: None, asked: false });
        let change = self.own.came(player);
        self.tell_roster(change, now);
        self.ask_missing_seats();
    }

    /// A client's connection is gone.
    pub(in crate::cluster::simulation) fn bye(&mut self, session: SessionNumber, now: Instant) {
        let Some(Session { player, .. }) = self.sessions.remove(&session) else { return };
        let change = self.own.went(&player);
        self.tell_roster(change, now);
    }

    /// A client plays.
    pub(in crate::cluster::simulation) fn play(
        &mut self,
        session: SessionNumber,
        game: GameId,
        (ply, column): (u32, Column),
        now: Instant,
    ) {
        let Some(Session { player, .. }) = self.sessions.get(&session) else { return };
        let order = Order { game, player: player.clone(), session, deed: Deed::Play { ply, column } };
        self.give(order, now);
    }

    /// A client that has come back says which game it was in: it may be over by now.
    pub(in crate::cluster::simulation) fn resume(
        &mut self,
        number: SessionNumber,
        game: GameId,
        now: Instant,
    ) {
        if let Some(session) = self.sessions.get_mut(&number) {
            session.game = Some(game);
        }
        self.sit(number, now);
    }

    /// A client has missed something of its game.
    pub(in crate::cluster::simulation) fn sync(&mut self, session: SessionNumber, now: Instant) {
        if let Some(session) = self.sessions.get_mut(&session).filter(|session| session.game.is_none()) {
            session.asked = false;
        }
        self.sit(session, now);
    }

    fn tell_roster(&mut self, change: Option<(u64, crate::cluster::roster::Change)>, now: Instant) {
        let Some((version, change)) = change else { return };
        let message = Message::Roster { version, change };
        self.send(self.me, message.clone(), now);
        self.send_all(&message, now);
    }

    /// The players' games of whom nothing is known.
    pub(super) fn ask_missing_seats(&mut self) {
        let unknown = self.sessions.iter().filter(|(_, session)| session.game.is_none() && !session.asked);
        let calls: Vec<Call> = unknown
            .map(|(session, Session { player, .. })| Call::Seat { session: *session, player: player.clone() })
            .collect();
        for call in calls {
            self.call(call);
        }
    }

    pub(super) fn seat_known(&mut self, number: SessionNumber, game: Option<GameId>, now: Instant) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        session.asked = true;
        if session.game.is_none() && game.is_some() {
            session.game = game;
            self.sit(number, now);
        }
    }

    pub(super) fn seated(&mut self, game: &GameId, players: &BySide<PlayerId>, now: Instant) {
        let is_theirs =
            |session: &Session| session.player == players.first || session.player == players.second;
        let news = self.sessions.iter_mut().filter(|(_, session)| is_theirs(session));
        let news = news.filter(|(_, session)| session.game.as_ref() != Some(game));
        let numbers: Vec<SessionNumber> = news
            .map(|(number, session)| {
                session.game = Some(game.clone());
                *number
            })
            .collect();
        for number in numbers {
            self.sit(number, now);
        }
    }

    /// Takes the seats anew of all whose game's place is meant.
    pub(super) fn sit_again(&mut self, is_meant: impl Fn(&Places, Place) -> bool, now: Instant) {
        let places = &self.places;
        self.orders.hurry(|order| is_meant(places, Place::of(&order.game)));
        let is_meant =
            |session: &Session| session.game.as_ref().is_some_and(|game| is_meant(places, Place::of(game)));
        let meant = self.sessions.iter().filter(|(_, session)| is_meant(session));
        let numbers: Vec<SessionNumber> = meant.map(|(number, _)| *number).collect();
        for number in numbers {
            self.sit(number, now);
        }
    }

    fn sit(&mut self, number: SessionNumber, now: Instant) {
        let Some(session) = self.sessions.get(&number) else { return };
        let Some(game) = session.game.clone() else { return };
        let is_same =
            |order: &Order| order.session == number && order.deed == Deed::Sit && order.game == game;
        if self.orders.any(is_same) {
            self.orders.hurry(is_same);
            return;
        }
        let order = Order { game, player: session.player.clone(), session: number, deed: Deed::Sit };
        self.give(order, now);
    }

    fn give(&mut self, order: Order, now: Instant) {
        let number = self.orders.add(order.clone(), now);
        self.send_order(number, order, now);
    }

    fn send_order(&mut self, number: OrderNumber, order: Order, now: Instant) {
        if let Some(owner) = self.places.owner(Place::of(&order.game)) {
            self.send(owner, Message::Order { number, order }, now);
        }
    }

    /// Sends again what nobody has answered, and gives up what nobody will.
    pub(super) fn repeat_orders(&mut self, now: Instant) {
        let due = self.orders.due(now);
        if !self.has(Defect::NotRepeated) {
            for (number, order) in due {
                self.send_order(number, order, now);
            }
        }
        for (_, order) in self.orders.given_up(now) {
            let is_open = self.sessions.get(&order.session).is_some_and(|session| session.game.is_some());
            match order.deed {
                Deed::Sit if is_open && !self.has(Defect::NotRepeated) => self.give(order, now),
                Deed::Sit => {}
                Deed::Play { .. } => {
                    let (session, frame) = (order.session, Frame::Busy { game: order.game });
                    self.out.push(Output::Tell { session, frame });
                }
            }
        }
    }

    pub(super) fn take_answer(&mut self, number: OrderNumber, answer: Answer, now: Instant) {
        if answer == Answer::NotHere {
            self.call(Call::Places);
            return; // it is repeated
        }
        let Some(Order { game, session, .. }) = self.orders.answered(number) else { return };
        match answer {
            Answer::Done | Answer::NotHere => {}
            Answer::Refused => self.sit(session, now),
            Answer::Over => self.call(Call::Game { session, game }),
        }
    }

    /// A frame for a player: told to sessions that are in that game. What is late is of a game before.
    pub(super) fn deliver(&mut self, to: &PlayerId, frame: &Frame) {
        let is_over = matches!(frame, Frame::Snapshot { over: Over::Yes, .. });
        for (number, session) in &mut self.sessions {
            if session.player == *to && session.game.as_ref() == Some(frame.game()) {
                self.out.push(Output::Tell { session: *number, frame: frame.clone() });
                if is_over {
                    session.game = None;
                }
            }
        }
    }

    /// A game that has no room: its end is told as it is stored.
    pub(super) fn game_read(&mut self, number: SessionNumber, game: Option<StoredGame>, now: Instant) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        let Some(game) = game.filter(|game| session.game.as_ref() == Some(&game.spec.id)) else { return };
        if game.ending().is_none() {
            self.sit(number, now); // it has a room by now
            return;
        }
        session.game = None;
        session.asked = false;
        let side = if game.spec.players.first == session.player { Side::First } else { Side::Second };
        let columns = fourfold_engine::Game::from_moves(game.spec.variant, &game.moves());
        let moves = columns.expect("a stored game is legal").moves().to_vec();
        let frame = Frame::Snapshot { game: game.spec.id, side, moves, over: Over::Yes };
        self.out.push(Output::Tell { session: number, frame });
    }
}
