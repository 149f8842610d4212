//! All sessions, by id and by player, and what connected players have declared.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::session::{Session, is_single};
use crate::model::ids::{PlayerId, PlayerName, SessionId, TokenId};
use crate::model::player::Identity;
use crate::play::room::directory::GamesTaken;
use crate::protocol::client::Settings as Declared;
use crate::protocol::terms::Accepts;

use crate::model::player::{OpponentKind, PlayerKind};
use crate::storage::record::BotProfile;
use crate::system::shares::Payer;

/// What a connected player has declared.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PlayerSettings {
    /// What it is willing to play.
    pub(crate) accepts: Accepts,
    /// Whether a bot stands on the ladder and in the directory.
    pub(crate) open: bool,
    /// Games at the same time.
    pub(crate) max_games: u32,
    /// How many of these only people may take.
    pub(crate) reserve_for_humans: u32,
    /// Whether it takes no new games.
    pub(crate) draining: bool,
    /// Whether its first illegal move loses a game.
    pub(crate) strict: bool,
}

impl PlayerSettings {
    /// What counts until the player declares something else.
    pub(crate) fn new(max_games: u32) -> Self {
        Self {
            accepts: Accepts::default(),
            open: false,
            max_games,
            reserve_for_humans: 0,
            draining: false,
            strict: false,
        }
    }

    /// Takes over what the player says about itself; what it leaves out stays as it is.
    pub(crate) fn declare(&mut self, declared: Declared, games_max: u32) {
        if let Some(accepts) = declared.accepts {
            self.accepts = accepts;
        }
        if let Some(open) = declared.open {
            self.open = open;
        }
        if let Some(max_games) = declared.max_games {
            self.max_games = max_games.number().min(games_max);
        }
        if let Some(reserve) = declared.reserve_for_humans {
            self.reserve_for_humans = reserve.number();
        }
        if let Some(strict) = declared.strict {
            self.strict = strict;
        }
    }

    /// Whether one more game may be taken up, against such an opponent, by somebody who has `taken` so many.
    pub(crate) fn has_place(&self, taken: GamesTaken, opponent: OpponentKind) -> bool {
        let for_bots = self.max_games.saturating_sub(self.reserve_for_humans);
        let fits = match opponent {
            OpponentKind::Human => true,
            OpponentKind::Bot => taken.with_bots < for_bots as usize,
        };
        fits && !self.draining && taken.all < self.max_games as usize
    }
}

/// What became of a session that was to be struck out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Removed {
    /// Somebody else did it before.
    WasNotThere,
    /// Its player has others.
    One,
    /// It was its player's last one.
    Last,
}

/// A connected player.
#[derive(Clone, Debug)]
pub struct Present {
    pub(crate) identity: Identity,
    /// What it has declared.
    pub(crate) settings: PlayerSettings,
    /// What a bot says about itself.
    pub(crate) profile: BotProfile,
}

#[derive(Debug)]
struct PresentPlayer {
    present: Present,
    sessions: Vec<Arc<Session>>,
}

impl PresentPlayer {
    /// Changes what the player has declared, and lets all its sessions know what each move asks for.
    fn declare(&mut self, change: impl FnOnce(&mut PlayerSettings)) {
        change(&mut self.present.settings);
        for session in &self.sessions {
            session.set_strict(self.present.settings.strict);
        }
    }
}

#[derive(Debug, Default)]
struct RegistryInner {
    by_id: BTreeMap<SessionId, Arc<Session>>,
    players: BTreeMap<PlayerId, PresentPlayer>,
    /// The same by name, without regard to case.
    by_name: HashMap<String, PlayerId>,
}

/// All sessions of this process. Cloning gives another view of the same.
#[derive(Clone, Debug)]
pub struct Sessions {
    /// A lock, for sessions come and go while lobby, hosts and pages look who is there. It is held for one look, in
    /// which outboxes may say whether they have a socket; they know nothing of what is in here.
    inner: Arc<Mutex<RegistryInner>>,
    games_max: u32,
}

impl Sessions {
    /// No sessions yet; a player may have at most `games_max` games at the same time.
    pub(crate) fn new(games_max: u32) -> Self {
        Self { inner: Arc::default(), games_max }
    }

    fn lock(&self) -> MutexGuard<'_, RegistryInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Games that any player may have at the same time.
    pub(crate) fn games_max(&self) -> u32 {
        self.games_max
    }

    /// Enters a session. `change` adapts what the player has declared so far, which is nothing for a bot: what its
    /// older connections declared goes with them. Returns the oldest connections, which have to give way because only
    /// so many may stay `beside` the new one.
    ///
    /// # Errors
    ///
    /// A session of this id is there already: two sockets resume the same session at once.
    pub(crate) fn insert(
        &self,
        session: &Arc<Session>,
        beside: usize,
        profile: Option<BotProfile>,
        change: impl FnOnce(&mut PlayerSettings),
    ) -> Result<Vec<Arc<Session>>, Arc<Session>> {
        let mut inner = self.lock();
        let RegistryInner { by_id, players, by_name } = &mut *inner;
        match by_id.entry(session.id().clone()) {
            Entry::Occupied(there) => return Err(Arc::clone(there.get())),
            Entry::Vacant(place) => place.insert(Arc::clone(session)),
        };
        by_name.insert(session.identity().name.key(), session.player().clone());
        let fresh = || Present {
            identity: session.identity().clone(),
            settings: PlayerSettings::new(self.games_max),
            profile: BotProfile::default(),
        };
        let player = players
            .entry(session.player().clone())
            .or_insert_with(|| PresentPlayer { present: fresh(), sessions: Vec::new() });
        if is_single(session.identity().kind) {
            player.present = fresh();
        }
        let surplus = player.sessions.len().saturating_sub(beside);
        let older = player.sessions[..surplus].to_vec();
        if let Some(profile) = profile {
            player.present.profile = profile;
        }
        player.sessions.push(Arc::clone(session));
        player.declare(change);
        Ok(older)
    }

    /// Strikes a session out.
    pub(crate) fn remove(&self, session: &Session) -> Removed {
        let is_it = |other: &Arc<Session>| other.member() == session.member();
        let mut inner = self.lock();
        if !inner.by_id.get(session.id()).is_some_and(is_it) {
            return Removed::WasNotThere;
        }
        inner.by_id.remove(session.id());
        let Some(player) = inner.players.get_mut(session.player()) else { return Removed::Last };
        player.sessions.retain(|other| !is_it(other));
        if !player.sessions.is_empty() {
            return Removed::One;
        }
        inner.players.remove(session.player());
        let name = session.identity().name.key();
        if inner.by_name.get(&name) == Some(session.player()) {
            inner.by_name.remove(&name);
        }
        Removed::Last
    }

    /// Whether this very session is entered.
    pub(crate) fn contains(&self, session: &Session) -> bool {
        self.get(session.id()).is_some_and(|other| other.member() == session.member())
    }

    /// The session of this id.
    pub fn get(&self, id: &SessionId) -> Option<Arc<Session>> {
        self.lock().by_id.get(id).cloned()
    }

    /// A connected player of this name, without regard to case.
    pub(crate) fn by_name(&self, name: &PlayerName) -> Option<Identity> {
        let inner = self.lock();
        let player = inner.players.get(inner.by_name.get(&name.key())?)?;
        Some(player.present.identity.clone())
    }

    /// Whose shares a player uses up, by the newest connection; nobody's without one.
    pub(crate) fn payer(&self, player: &PlayerId) -> Option<Payer> {
        Some(self.lock().players.get(player)?.sessions.last()?.payer())
    }

    /// All sessions of a player.
    pub(crate) fn of(&self, player: &PlayerId) -> Vec<Arc<Session>> {
        self.lock().players.get(player).map(|player| player.sessions.clone()).unwrap_or_default()
    }

    /// All sessions.
    pub fn all(&self) -> Vec<Arc<Session>> {
        self.lock().by_id.values().cloned().collect()
    }

    /// The sessions that rest on this credential.
    pub(crate) fn by_credential(&self, token: &TokenId) -> Vec<Arc<Session>> {
        self.lock().by_id.values().filter(|session| session.credential() == Some(token)).cloned().collect()
    }

    /// A connected player.
    pub fn present(&self, player: &PlayerId) -> Option<Present> {
        self.lock().players.get(player).map(|player| player.present.clone())
    }

    /// Changes what a player has declared.
    pub(crate) fn declare(&self, player: &PlayerId, change: impl FnOnce(&mut PlayerSettings)) {
        if let Some(player) = self.lock().players.get_mut(player) {
            player.declare(change);
        }
    }

    /// Whether a player has a place for one more game. Who is not connected has declared nothing.
    pub(crate) fn has_place(&self, player: &PlayerId, taken: GamesTaken, opponent: OpponentKind) -> bool {
        match self.lock().players.get(player) {
            Some(player) => player.present.settings.has_place(taken, opponent),
            None => PlayerSettings::new(self.games_max).has_place(taken, opponent),
        }
    }

    /// Whether a player said `bye` with `drain`.
    pub(crate) fn is_draining(&self, player: &PlayerId) -> bool {
        self.lock().players.get(player).is_some_and(|player| player.present.settings.draining)
    }

    /// Whether a player has a session and did not say `bye`.
    pub(crate) fn is_staying(&self, player: &PlayerId) -> bool {
        self.lock().players.get(player).is_some_and(|player| !player.present.settings.draining)
    }

    /// The version that a connected bot gives itself.
    pub(crate) fn version_of(&self, player: &PlayerId) -> Option<String> {
        self.lock().players.get(player)?.present.profile.version.clone()
    }

    /// Connected bots that are open to all.
    pub(crate) fn open_bots(&self) -> Vec<Present> {
        let inner = self.lock();
        let open = inner.players.values().filter(|player| {
            player.present.settings.open
                && !player.present.settings.draining
                && player.present.identity.kind == PlayerKind::Bot
                && player.sessions.iter().any(|session| session.is_attached())
        });
        open.map(|player| player.present.clone()).collect()
    }

    /// Sessions, those among them that wait for their client to come back.
    pub(crate) fn count(&self) -> usize {
        self.lock().by_id.len()
    }

    /// Players with at least one attached socket.
    pub(crate) fn online(&self) -> usize {
        let inner = self.lock();
        inner.players.values().filter(|p| p.sessions.iter().any(|session| session.is_attached())).count()
    }

    /// Whether a player has an attached socket.
    pub(crate) fn is_online(&self, player: &PlayerId) -> bool {
        let inner = self.lock();
        inner.players.get(player).is_some_and(|p| p.sessions.iter().any(|session| session.is_attached()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::client::GameCount;

    fn declared() -> Declared {
        Declared { open: None, accepts: None, max_games: None, reserve_for_humans: None, strict: None }
    }

    #[test]
    fn what_is_left_out_stays_and_nobody_takes_more_games_than_anybody_may() {
        let mut settings = PlayerSettings::new(4);
        settings.declare(Declared { open: Some(true), max_games: Some(GameCount::new(9)), ..declared() }, 4);
        assert_eq!((settings.open, settings.max_games), (true, 4));
        let (max_games, reserve_for_humans) = (Some(GameCount::new(2)), Some(GameCount::new(1)));
        settings.declare(Declared { max_games, reserve_for_humans, ..declared() }, 4);
        assert_eq!((settings.open, settings.max_games, settings.reserve_for_humans), (true, 2, 1));
    }

    #[track_caller]
    fn check_place(all: usize, with_bots: usize, opponent: OpponentKind, expected: bool) {
        let settings = PlayerSettings { max_games: 3, reserve_for_humans: 1, ..PlayerSettings::new(3) };
        assert_eq!(settings.has_place(GamesTaken { all, with_bots }, opponent), expected);
        let draining = PlayerSettings { draining: true, ..settings };
        assert!(!draining.has_place(GamesTaken { all, with_bots }, opponent));
    }

    #[test]
    fn places_are_kept_for_people() {
        check_place(2, 2, OpponentKind::Human, true);
        check_place(2, 2, OpponentKind::Bot, false);
        check_place(2, 1, OpponentKind::Bot, true);
        check_place(3, 0, OpponentKind::Human, false);
    }
}
