//! Classes: a teacher shows a code, pupils join with it without accounts, and are paired, taught and let go together.
//!
//! Classes live in memory: a lesson lasts an hour, and a restart of the daemon ends it. Its games are stored as any
//! others. [`Classes`] is what pages see and change, [`ClassKeeper`] begins their games.

pub(crate) mod classroom;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fourfold_engine::{BySide, Variant};
use thiserror::Error;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info};

use self::classroom::Classroom;
use crate::model::class_code::ClassCode;
use crate::model::clock::TimeControl;
use crate::model::ids::{GameId, PlayerId};
use crate::model::opening::OpeningKind;
use crate::model::pace::BotPace;
use crate::model::player::Identity;
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::play::host::{GameOffer, GameOver, Host, Origin, Tempo};
use crate::play::presence::Sessions;
use crate::play::room::{Directory, Standstill};
use crate::storage::record::OpeningSource;
use crate::system::shares::Held;

/// Classes at the same time: more than one machine's rooms could hold. Each teacher has one.
const CLASSES_MAX: usize = 200;

/// How often to look who is free, and who is there.
const LOOK: Duration = Duration::from_secs(1);

/// Why a class cannot be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum ClassError {
    #[error("there are {CLASSES_MAX} classes at the moment, which is all there can be")]
    Full,
    #[error("there is no such class, or it is over")]
    Unknown,
    #[error("only its teacher may do that")]
    NotYours,
}

/// All classes. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    inner: Arc<ClassesInner>,
}

#[derive(Debug, Default)]
struct ClassesInner {
    /// Held for one look or change.
    rooms: Mutex<HashMap<ClassCode, Classroom>>,
    /// What they take of the shares of networks. Held for one entry, and by whoever holds the lock above after that.
    places: Mutex<HashMap<ClassCode, Held>>,
    /// There is something to begin.
    changed: Notify,
    /// Games that stand still, of classes that are over. Held for one entry.
    let_go: Mutex<Vec<GameId>>,
}

impl Classes {
    fn rooms(&self) -> MutexGuard<'_, HashMap<ClassCode, Classroom>> {
        self.inner.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a class, or finds the one that this teacher has.
    ///
    /// It takes this place, as long as it goes on.
    ///
    /// # Errors
    ///
    /// [`ClassError::Full`].
    pub(crate) fn open(
        &self,
        teacher: Identity,
        place: Held,
        now: UnixMillis,
    ) -> Result<ClassCode, ClassError> {
        let mut rooms = self.rooms();
        if let Some(code) = of_teacher(&rooms, &teacher.id) {
            return Ok(code);
        }
        if rooms.len() >= CLASSES_MAX {
            return Err(ClassError::Full);
        }
        let code = loop {
            let code = ClassCode::random(&mut chance());
            if !rooms.contains_key(&code) {
                break code;
            }
        };
        info!(class = %code, teacher = %teacher.name, "a class begins");
        rooms.insert(code.clone(), Classroom::new(teacher, now));
        self.places().insert(code.clone(), place);
        Ok(code)
    }

    /// The class that somebody teaches.
    pub(crate) fn of_teacher(&self, teacher: &PlayerId) -> Option<ClassCode> {
        of_teacher(&self.rooms(), teacher)
    }

    /// A class as it stands.
    pub(crate) fn get(&self, code: &ClassCode) -> Option<Classroom> {
        self.rooms().get(code).cloned()
    }

    /// The desk of a class speaks a language.
    pub(crate) fn speaks(&self, code: &ClassCode, language: &str) {
        if let Some(class) = self.rooms().get_mut(code)
            && class.language != language
        {
            language.clone_into(&mut class.language);
        }
    }

    /// Its teacher has looked at a class, if there is one. Nothing follows from that, so nobody is woken.
    pub(crate) fn teacher_seen(&self, code: &ClassCode, now: UnixMillis) {
        if let Some(class) = self.rooms().get_mut(code) {
            class.seen(now);
        }
    }

    /// Changes a class in somebody's name, whoever it is.
    ///
    /// # Errors
    ///
    /// [`ClassError::Unknown`].
    pub(crate) fn change<T>(
        &self,
        code: &ClassCode,
        change: impl FnOnce(&mut Classroom) -> T,
    ) -> Result<T, ClassError> {
        let changed = self.rooms().get_mut(code).map(change).ok_or(ClassError::Unknown)?;
        self.inner.changed.notify_one();
        Ok(changed)
    }

    /// Changes a class in its teacher's name.
    ///
    /// # Errors
    ///
    /// [`ClassError::Unknown`], or it is somebody else's.
    pub(crate) fn direct<T>(
        &self,
        code: &ClassCode,
        teacher: &PlayerId,
        change: impl FnOnce(&mut Classroom) -> T,
    ) -> Result<T, ClassError> {
        self.change(code, |class| {
            let is_theirs = class.teacher.id == *teacher;
            is_theirs.then(|| change(class)).ok_or(ClassError::NotYours)
        })?
    }

    /// Somebody is here no more: the class that they teach is over, and they are in no other.
    pub(crate) fn gone(&self, player: &PlayerId) {
        if let Some(code) = self.of_teacher(player) {
            self.remove(&code);
            info!(class = %code, "a class is over, for its teacher is gone");
        }
        for class in self.rooms().values_mut() {
            class.remove(player);
        }
    }

    /// Somebody is called otherwise by now.
    pub(crate) fn renamed(&self, who: &Identity) {
        self.rooms().values_mut().for_each(|class| class.renamed(who));
    }

    /// Forgets a class; its games go on.
    fn remove(&self, code: &ClassCode) {
        let removed = self.rooms().remove(code);
        self.places().remove(code);
        self.let_go().extend(removed.into_iter().flat_map(Classroom::into_still));
        self.inner.changed.notify_one();
    }

    fn places(&self) -> MutexGuard<'_, HashMap<ClassCode, Held>> {
        self.inner.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn let_go(&self) -> MutexGuard<'_, Vec<GameId>> {
        self.inner.let_go.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a class.
    ///
    /// # Errors
    ///
    /// [`ClassError::Unknown`], or it is somebody else's.
    pub(crate) fn end(&self, code: &ClassCode, teacher: &PlayerId) -> Result<(), ClassError> {
        self.direct(code, teacher, |_| ())?;
        self.remove(code);
        info!(class = %code, "a class is over");
        Ok(())
    }
}

fn of_teacher(rooms: &HashMap<ClassCode, Classroom>, teacher: &PlayerId) -> Option<ClassCode> {
    rooms.iter().find(|(_, class)| class.teacher.id == *teacher).map(|(code, _)| code.clone())
}

/// Begins the games of classes, and hears how they end.
#[derive(Clone, Debug)]
pub(crate) struct ClassKeeper {
    pub(crate) classes: Classes,
    pub(crate) host: Host,
    pub(crate) directory: Directory,
    pub(crate) sessions: Sessions,
}

impl ClassKeeper {
    /// Keeps all classes until the daemon stops.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut ends = self.host.ends();
        let mut tick = tokio::time::interval(LOOK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                over = ends.recv() => match over {
                    Ok(over) => self.game_over(&over),
                    // What was missed is found gone at the next look, and counts for nothing.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                },
                () = self.classes.inner.changed.notified() => self.look(&mut ends).await,
                _ = tick.tick() => self.look(&mut ends).await,
            }
        }
    }

    fn game_over(&self, over: &GameOver) {
        let game = &over.public.spec.id;
        for class in self.classes.rooms().values_mut() {
            class.ended(game, over.end.result);
        }
    }

    /// Brings all classes up to date, and begins what can begin.
    async fn look(&self, ends: &mut broadcast::Receiver<GameOver>) {
        // Games whose end waits to be heard are not live any more, and must not be taken for lost.
        while let Ok(over) = ends.try_recv() {
            self.game_over(&over);
        }
        for code in self.deserted(UnixMillis::now()) {
            self.classes.remove(&code);
        }
        self.tell_games().await;
        for (code, players, time) in self.due(UnixMillis::now()) {
            self.begin(&code, players, time).await;
        }
    }

    fn deserted(&self, now: UnixMillis) -> Vec<ClassCode> {
        let rooms = self.classes.rooms();
        rooms.iter().filter(|(_, class)| class.is_deserted(now)).map(|(code, _)| code.clone()).collect()
    }

    /// Lets games stand still, or go on, as their teachers want it.
    async fn tell_games(&self) {
        let mut untold: Vec<_> = self.classes.rooms().values_mut().flat_map(Classroom::untold).collect();
        untold.extend(self.classes.let_go().drain(..).map(|game| (game, Standstill::Ends)));
        for (game, standstill) in untold {
            if let Some(room) = self.directory.room(&game) {
                room.stand_still(standstill).await;
            }
        }
    }

    /// The games that are to begin.
    fn due(&self, now: UnixMillis) -> Vec<(ClassCode, BySide<Identity>, TimeControl)> {
        let is_there = |id: &PlayerId| self.sessions.is_online(id);
        let is_live = |game: &GameId| self.directory.public(game).is_some();
        let is_free = |id: &PlayerId| is_there(id) && self.host.games_taken(id).all == 0;
        let mut rooms = self.classes.rooms();
        let mut due = Vec::new();
        for (code, class) in rooms.iter_mut() {
            class.look(now, is_there, is_live);
            let time = class.time;
            due.extend(class.pairs(is_free).into_iter().map(|pair| (code.clone(), pair, time)));
        }
        due
    }

    async fn begin(&self, code: &ClassCode, players: BySide<Identity>, time: TimeControl) {
        let ids = players.as_ref().map(|player| player.id.clone());
        let offer = GameOffer {
            players,
            variant: Variant::STANDARD,
            time,
            rated: false,
            opening: OpeningSource { kind: OpeningKind::None, moves: String::new() },
            pair: None,
            // The shares of a network are for whoever asks by themselves; here one teacher asks for a whole class.
            origin: Origin::Tournament(Tempo::Watchable),
            pace: BotPace::default(),
        };
        match self.host.start(offer).await {
            // A class that has ended meanwhile has no use for it, but whoever sits there may play on.
            Ok(game) => drop(self.classes.change(code, |class| class.started(game, ids))),
            // In an arena they are tried again at the next look, else by the teacher.
            Err(error) => debug!(class = %code, error = %error, "a game of a class did not begin"),
        }
    }
}

#[cfg(test)]
mod tests;
