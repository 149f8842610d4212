//! The one writing connection: a batch of writes becomes one transaction.

use std::collections::HashMap;

use sqlx::SqliteConnection;

use super::events::{self, NewEvent};
use super::games::{self, GameKeys};
use super::{players, settlement};
use crate::ids::GameId;
use crate::storage::live::LiveGame;
use crate::storage::record::{GameSpec, StoredEvent};
use crate::storage::settle::Referee;
use crate::storage::store::{Refused, StoreError, Write, Written};

/// A game that goes on: what it looks like, and its rows' keys.
#[derive(Clone, Debug)]
struct Known {
    keys: GameKeys,
    game: LiveGame,
}

/// The writing connection with what it knows of the games that go on.
#[derive(Debug)]
pub(super) struct Hand {
    connection: SqliteConnection,
    live: HashMap<GameId, Known>,
    /// Set while a commit is under way. If it stays set, nobody knows what the database holds.
    in_doubt: bool,
}

impl Hand {
    /// Takes up the games that go on. Damaged ones stay as they are: nothing can be appended to them.
    pub(super) async fn new(mut connection: SqliteConnection) -> Result<Self, StoreError> {
        let keys = games::live_keys(&mut connection).await?;
        let mut keys: HashMap<i64, GameKeys> = keys.into_iter().map(|keys| (keys.key, keys)).collect();
        let mut live = HashMap::new();
        for (key, loaded) in games::live(&mut connection).await? {
            if let (Ok(game), Some(keys)) = (loaded, keys.remove(&key)) {
                live.insert(game.spec.id.clone(), Known { keys, game: LiveGame::restore(&game) });
            }
        }
        Ok(Self { connection, live, in_doubt: false })
    }

    pub(super) fn into_connection(self) -> SqliteConnection {
        self.connection
    }

    /// Writes a batch in one transaction.
    ///
    /// After an error other than [`StoreError::Full`], or if the caller gives up waiting, every later commit fails too.
    pub(super) async fn commit(
        &mut self,
        batch: &[Write],
    ) -> Result<Vec<Result<Written, Refused>>, StoreError> {
        if self.in_doubt {
            return Err(StoreError::Failed("the outcome of an earlier commit is unknown".into()));
        }
        self.in_doubt = true;
        let result = self.transact(batch).await;
        match &result {
            Ok(_) => self.in_doubt = false,
            Err(StoreError::Full(_)) => self.in_doubt = !self.roll_back().await,
            Err(_) => {}
        }
        result
    }

    async fn transact(&mut self, batch: &[Write]) -> Result<Vec<Result<Written, Refused>>, StoreError> {
        sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut self.connection).await?;
        let mut transaction = Transaction {
            connection: &mut self.connection,
            live: &self.live,
            changed: HashMap::new(),
            events: Vec::new(),
        };
        let mut answers = Vec::with_capacity(batch.len());
        for write in batch {
            answers.push(transaction.apply(write).await?);
        }
        let Transaction { changed, events, .. } = transaction;
        events::insert(&mut self.connection, &events).await?;
        sqlx::raw_sql("COMMIT").execute(&mut self.connection).await?;
        for (id, known) in changed {
            match known {
                Some(known) => self.live.insert(id.clone(), known),
                None => self.live.remove(id),
            };
        }
        Ok(answers)
    }

    /// Gives up a transaction. SQLite may have done so by itself already, which makes this fail without harm: the check
    /// is whether a new transaction can begin.
    async fn roll_back(&mut self) -> bool {
        let _ = sqlx::raw_sql("ROLLBACK").execute(&mut self.connection).await;
        sqlx::raw_sql("BEGIN; ROLLBACK").execute(&mut self.connection).await.is_ok()
    }
}

/// One transaction under way.
struct Transaction<'batch, 'hand> {
    connection: &'hand mut SqliteConnection,
    /// As of the last commit.
    live: &'hand HashMap<GameId, Known>,
    /// What this transaction makes of it: `None` for games that end.
    changed: HashMap<&'batch GameId, Option<Known>>,
    /// Inserted together at the end: nothing before reads them.
    events: Vec<NewEvent<'batch>>,
}

impl<'batch> Transaction<'batch, '_> {
    /// Applies one write, or finds why it must be refused before anything of it is written.
    async fn apply(&mut self, write: &'batch Write) -> Result<Result<Written, Refused>, StoreError> {
        match write {
            Write::AddPlayer { player, password } => {
                players::add(self.connection, player, password.as_deref()).await
            }
            Write::SetPassword { player, password } => {
                players::set_password(self.connection, player, password).await
            }
            Write::SetProfile { player, profile } => {
                players::set_profile(self.connection, player, profile).await
            }
            Write::AddToken(token) => players::add_token(self.connection, token).await,
            Write::RevokeTokens { player, only } => {
                players::revoke_tokens(self.connection, player, only.as_ref()).await
            }
            Write::StartGame(spec) => self.start(spec).await,
            Write::Append { game, events } => Ok(self.append(game, events)),
            Write::Finish { game, events } => self.finish(game, events).await,
        }
    }

    async fn start(&mut self, spec: &'batch GameSpec) -> Result<Result<Written, Refused>, StoreError> {
        let keys = match games::start(self.connection, spec).await? {
            Ok(keys) => keys,
            Err(refused) => return Ok(Err(refused)),
        };
        let known = Known { keys, game: LiveGame::new(spec.clone()) };
        self.changed.insert(&spec.id, Some(known));
        Ok(Ok(Written::Done))
    }

    fn append(&mut self, id: &'batch GameId, events: &'batch [StoredEvent]) -> Result<Written, Refused> {
        let known = self.known(id)?;
        known.game.check_append(events)?;
        known.game.apply(events);
        let key = known.keys.key;
        self.events.extend(events.iter().map(|event| (key, event)));
        Ok(Written::Done)
    }

    async fn finish(
        &mut self,
        id: &'batch GameId,
        events: &'batch [StoredEvent],
    ) -> Result<Result<Written, Refused>, StoreError> {
        let ending = match self.known(id).and_then(|known| known.game.check_finish(events)) {
            Ok(ending) => ending,
            Err(refused) => return Ok(Err(refused)),
        };
        let Some(Some(Known { keys, mut game })) = self.changed.insert(id, None) else {
            return Ok(Err(Refused::NoSuchGame));
        };
        game.apply(events);
        self.events.extend(events.iter().map(|event| (keys.key, event)));
        let moves = game.moves();
        let referee = Referee { spec: game.spec(), moves: &moves, ending };
        let ended_at = events.last().map_or(game.spec().started_at, |event| event.at);
        let settlement = settlement::settle(self.connection, keys, &referee, ended_at).await?;
        Ok(Ok(Written::Settled(settlement)))
    }

    /// A live game, to be changed in this transaction.
    fn known(&mut self, id: &'batch GameId) -> Result<&mut Known, Refused> {
        let known = self.changed.entry(id).or_insert_with(|| self.live.get(id).cloned());
        known.as_mut().ok_or(Refused::NoSuchGame)
    }
}
