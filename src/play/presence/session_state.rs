//! What the server keeps in mind about one client between its messages: plain data, which [`super::Session`] guards.

use std::collections::HashSet;
use std::net::IpAddr;

use crate::model::ids::GameId;
use crate::protocol::client::Feed;
use crate::protocol::server::{GameStatus, ServerMessage};
use crate::protocol::{ErrorCode, WireError};
use crate::system::config::SiteOrigin;

/// Moves that answer nothing, without a turn between them, before the connection is closed.
const USELESS_MOVES_MAX: u32 = 10;

/// Games that one connection may watch: a wall of boards has twelve.
pub(crate) const WATCHED_MAX: usize = 64;

/// A turn that waits for a move.
#[derive(Clone, Copy, Debug)]
struct OpenTurn {
    ply: u32,
    /// A move came, and the room has not said yet what became of it.
    answered: bool,
}

/// What is kept in mind about one client.
#[derive(Debug)]
pub(super) struct SessionState {
    /// Where its client was when it came last.
    pub(super) address: IpAddr,
    /// By which address it had found the site then.
    pub(super) site: Option<SiteOrigin>,
    /// The turn of each game where this client was asked for a move and none of its moves was played yet: few, mostly
    /// one.
    open_turns: Vec<(GameId, OpenTurn)>,
    useless_moves: u32,
    watched: HashSet<GameId>,
    feeds: HashSet<Feed>,
    /// The client has said `bye` with `drain`: the connection ends with the last game.
    pub(super) is_draining: bool,
    /// The next loss of the socket is the server's own doing.
    pub(super) is_cut: bool,
}

impl SessionState {
    /// Nothing, but where its client is.
    pub(super) fn at(address: IpAddr, site: Option<SiteOrigin>) -> Self {
        Self {
            address,
            site,
            open_turns: Vec::new(),
            useless_moves: 0,
            watched: HashSet::new(),
            feeds: HashSet::new(),
            is_draining: false,
            is_cut: false,
        }
    }

    pub(super) fn has_open_turn(&self, game: &GameId, ply: u32) -> bool {
        let open = self.open_turns.iter().find(|(of, _)| of == game);
        open.is_some_and(|(_, turn)| turn.ply == ply && !turn.answered)
    }

    fn open_turn(&mut self, game: &GameId) -> Option<&mut OpenTurn> {
        self.open_turns.iter_mut().find(|(of, _)| of == game).map(|(_, turn)| turn)
    }

    fn close_turn(&mut self, game: &GameId) {
        self.open_turns.retain(|(of, _)| of != game);
    }

    pub(super) fn turn_answered(&mut self, game: &GameId) {
        if let Some(turn) = self.open_turn(game) {
            turn.answered = true;
        }
    }

    /// Counts a move that answered nothing. True if that is one too many.
    pub(super) fn useless_move(&mut self) -> bool {
        self.useless_moves += 1;
        self.useless_moves >= USELESS_MOVES_MAX
    }

    /// False if too many games are watched.
    pub(super) fn watch(&mut self, game: &GameId) -> bool {
        self.watched.contains(game) || (self.watched.len() < WATCHED_MAX && self.watched.insert(game.clone()))
    }

    pub(super) fn unwatch(&mut self, game: &GameId) {
        self.watched.remove(game);
    }

    pub(super) fn watched_games(&self) -> Vec<GameId> {
        self.watched.iter().cloned().collect()
    }

    /// Whether a game or a feed is watched.
    pub(super) fn watches(&self) -> bool {
        !self.watched.is_empty() || !self.feeds.is_empty()
    }

    pub(super) fn follow(&mut self, feed: Feed) {
        self.feeds.insert(feed);
    }

    pub(super) fn unfollow(&mut self, feed: Feed) {
        self.feeds.remove(&feed);
    }

    pub(super) fn followed_feeds(&self) -> Vec<Feed> {
        self.feeds.iter().copied().collect()
    }

    /// Keeps account of turns and games before a message is queued.
    pub(super) fn note(&mut self, message: &ServerMessage) {
        match message {
            ServerMessage::Turn(turn) => {
                let open = OpenTurn { ply: turn.ply, answered: false };
                match self.open_turn(&turn.game) {
                    Some(before) => *before = open,
                    None => self.open_turns.push((turn.game.clone(), open)),
                }
                self.useless_moves = 0;
            }
            ServerMessage::GameEnd(end) => {
                self.close_turn(&end.game);
                self.watched.remove(&end.game);
            }
            // Whoever asked for a game that is over has seen it all.
            ServerMessage::Game(snapshot) if snapshot.status == GameStatus::Over => {
                self.watched.remove(&snapshot.game);
            }
            ServerMessage::Moved(moved) => {
                self.close_turn(&moved.game);
            }
            ServerMessage::Error(error) => self.reopen_turn(error),
            _ => {}
        }
    }

    /// An answer that was refused, but may be corrected, leaves the turn open.
    fn reopen_turn(&mut self, error: &WireError) {
        let may_correct = error.retries_left.is_some_and(|left| left > 0) || error.code == ErrorCode::Busy;
        if may_correct
            && let Some(game) = &error.game
            && let Some(turn) = self.open_turn(game)
        {
            turn.answered = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::server::Offered;
    use crate::protocol::terms::WireSide;

    fn fresh() -> SessionState {
        SessionState::at(IpAddr::from([192, 0, 2, 1]), None)
    }

    fn game(number: usize) -> GameId {
        format!("g{number}").parse().unwrap()
    }

    #[test]
    fn a_tenth_useless_move_is_too_many() {
        let mut state = fresh();
        let useless: Vec<bool> = (0..10).map(|_| state.useless_move()).collect();
        assert_eq!(useless, [false, false, false, false, false, false, false, false, false, true]);
    }

    #[test]
    fn so_many_games_are_watched_and_no_more() {
        let mut state = fresh();
        assert!((0..WATCHED_MAX).all(|number| state.watch(&game(number))));
        assert!(!state.watch(&game(WATCHED_MAX)));
        assert!(state.watch(&game(0)), "it is watched already");
        state.unwatch(&game(0));
        assert!(state.watch(&game(WATCHED_MAX)));
        assert_eq!(state.watched_games().len(), WATCHED_MAX);
    }

    #[test]
    fn a_refused_answer_leaves_the_turn_open_if_it_may_be_corrected() {
        let mut state = fresh();
        state.open_turns.push((game(1), OpenTurn { ply: 4, answered: false }));
        assert!(state.has_open_turn(&game(1), 4) && !state.has_open_turn(&game(1), 5));
        state.turn_answered(&game(1));
        assert!(!state.has_open_turn(&game(1), 4));
        let refused = |code| WireError::new(code, "no").in_game(&game(1));
        state.note(&ServerMessage::Error(Box::new(refused(ErrorCode::NotYourTurn))));
        assert!(!state.has_open_turn(&game(1), 4));
        state.note(&ServerMessage::Error(Box::new(refused(ErrorCode::Busy))));
        assert!(state.has_open_turn(&game(1), 4));
        let offered = Offered { game: game(1), by: WireSide::First };
        state.note(&ServerMessage::RematchOffer(offered));
        assert!(state.has_open_turn(&game(1), 4), "that is about something else");
    }
}
