//! Plays two casual games and two last moves with a bot and looks at what it does.

use std::sync::Arc;
use std::time::Duration;

use fourfold_arena::admission::{Check, CheckVerdict, Report};
use fourfold_engine::{BySide, Side, Variant};
use thiserror::Error;
use tokio::time::{Instant, sleep};

use crate::model::clock::TimeControl;
use crate::model::ids::GameId;
use crate::model::result::EndReason;
use crate::play::host::{GameOffer, Host, Origin, StartError};
use crate::play::presence::{Session, Sessions};
use crate::play::room::MemberId;

use crate::model::opening::OpeningKind;
use crate::model::pace::BotPace;
use crate::model::player::Identity;
use crate::storage::bot_versions::{FAULTS_MAX, FaultKind};
use crate::storage::record::{EventKind, OpeningSource, StoredGame};
use crate::storage::records::self_test::TestReport;

use crate::model::time::UnixMillis;
use crate::storage::{Store, StoreError};

/// How long a move of the test may take, in milliseconds: it is about rules, not about speed.
const MOVE_MS: u32 = 10_000;

/// How long a bot may stay away after its connection was cut.
const RETURN_WITHIN: Duration = Duration::from_secs(20);

/// How long a game may take: all of the bot's moves at their limit, and a while away.
const GAME_WITHIN: Duration = Duration::from_mins(5);

/// How often the store is asked how a game stands.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The bot of the house that plays against it, if it is there; else the first.
const OPPONENT: &str = "random";

/// Four columns are full and nobody has four, so that a bot that looks for the fullest, the middle or the first column
/// without looking whether it is full is found out. The second side is to move.
const NARROW: &str = "77377466667511714661141444553";

/// One cell is left, for the second side, and nobody gets four.
const LAST_CELL: &str = "15677373141347653447237352226442215616556";

/// One column is open, and the first side's stone in it makes four.
const LAST_WIN: &str = "343416531553136565425646316211222244";

/// Why no verdict is possible.
#[derive(Debug, Error)]
enum TestTrouble {
    #[error("the game could not begin: {0}")]
    Start(#[from] StartError),
    #[error("the store failed")]
    Store(#[from] StoreError),
    #[error("no bot of the house is there to play against")]
    NoOpponent,
    #[error("the game {0} is not there any more")]
    Gone(GameId),
}

/// One test.
pub(super) struct TestObserver {
    host: Host,
    sessions: Sessions,
    store: Arc<dyn Store>,
    bot: Identity,
    began: UnixMillis,
    checks: Vec<Check>,
    games: Vec<GameId>,
    spent: Vec<Duration>,
}

impl TestObserver {
    pub(super) fn new(host: Host, sessions: Sessions, store: Arc<dyn Store>, bot: Identity) -> Self {
        let (checks, games, spent) = Default::default();
        Self { host, sessions, store, bot, began: UnixMillis::now(), checks, games, spent }
    }

    /// Makes all checks. After a failure that leaves nothing to see, later ones are missing.
    pub(super) async fn examine(mut self, version: &str) -> TestReport {
        let note = if version.is_empty() {
            "connected, without a version".to_owned()
        } else {
            format!("connected as version {version}")
        };
        self.check("handshake", Ok(note));
        if let Err(trouble) = self.play().await {
            self.check("games", Err(trouble.to_string()));
        }
        let limit = Duration::from_millis(MOVE_MS.into());
        let report = Report::new(self.bot.name.as_str(), limit, self.checks, self.spent);
        TestReport::new(report, self.games)
    }

    fn check(&mut self, name: &'static str, result: Result<String, String>) {
        let (verdict, note) = match result {
            Ok(note) => (CheckVerdict::Passed, note),
            Err(note) => (CheckVerdict::Failed, note),
        };
        self.checks.push(Check { name, verdict, note });
    }

    async fn play(&mut self) -> Result<(), TestTrouble> {
        let first = self.start(Side::First, "").await?;
        let asked = self.until_moves(&first, 1, Duration::from_millis(MOVE_MS.into())).await?;
        let is_alive = asked.own_moves > 0;
        self.check(
            "turn",
            if is_alive {
                Ok(format!("answered its first turn in game {first}"))
            } else {
                Err(format!("did not answer its first turn: {}", asked.words()))
            },
        );
        if !is_alive {
            return self.count(&first).await;
        }
        self.cut(&first).await?;
        let whole = self.until_over(&first).await?;
        self.check("long_game", whole.verdict(&first));
        self.count(&first).await?;

        let second = self.start(Side::Second, NARROW).await?;
        let narrow = self.until_over(&second).await?;
        self.check("full_column", narrow.verdict(&second));
        self.check(
            "both_sides",
            whole.verdict(&first).and(narrow.verdict(&second)).map(|_| "a pair".to_owned()),
        );
        self.count(&second).await?;
        self.last_move("full_board", Side::Second, LAST_CELL).await?;
        self.last_move("win", Side::First, LAST_WIN).await?;
        self.look_for_illegal_moves().await
    }

    /// A game in which the bot has one move to choose from, which ends it.
    async fn last_move(&mut self, name: &'static str, side: Side, opening: &str) -> Result<(), TestTrouble> {
        let game = self.start(side, opening).await?;
        let played = self.until_over(&game).await?;
        self.check(name, played.verdict(&game));
        self.count(&game).await
    }

    /// Starts a casual game against the house.
    async fn start(&mut self, side: Side, opening: &str) -> Result<GameId, TestTrouble> {
        let house = self.host.house();
        let named = OPPONENT.parse().ok().and_then(|name| house.by_name(&name));
        let opponent = named.or_else(|| house.all().first().cloned()).ok_or(TestTrouble::NoOpponent)?;
        let (bot, opponent) = (self.bot.clone(), opponent.identity.clone());
        let players = match side {
            Side::First => BySide { first: bot, second: opponent },
            Side::Second => BySide { first: opponent, second: bot },
        };
        let kind = if opening.is_empty() { OpeningKind::None } else { OpeningKind::Given };
        let game = self
            .host
            .start(GameOffer {
                players,
                variant: Variant::STANDARD,
                time: TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(MOVE_MS) },
                rated: false,
                opening: OpeningSource { kind, moves: opening.to_owned() },
                pair: None,
                origin: Origin::Players,
                pace: BotPace::default(),
            })
            .await?;
        self.games.push(game.clone());
        Ok(game)
    }

    /// Cuts the bot's connection in the middle of its game and waits for its next move.
    async fn cut(&mut self, game: &GameId) -> Result<(), TestTrouble> {
        if self.host.games_taken(&self.bot.id).all > 1 {
            let note = "it plays other games, which are not to be disturbed".to_owned();
            self.checks.push(Check { name: "drop_and_resume", verdict: CheckVerdict::Skipped, note });
            return Ok(());
        }
        let before = self.look(game).await?.own_moves;
        let sessions = self.sessions.of(&self.bot.id);
        let known: Vec<(MemberId, u64)> = sessions.iter().map(|session| arrivals(session)).collect();
        for session in &sessions {
            session.cut();
        }
        let cut = Instant::now();
        let is_back = self.until_back(&known).await;
        let after = self.until_moves(game, before + 1, RETURN_WITHIN).await?;
        let result = if is_back && (after.own_moves > before || after.is_sound()) {
            Ok(format!("went on {} ms after its connection was cut", cut.elapsed().as_millis()))
        } else {
            Err(format!("did not go on after its connection was cut: {}", after.words()))
        };
        self.check("drop_and_resume", result);
        Ok(())
    }

    /// Waits until the bot has a connection that was not known before.
    async fn until_back(&self, known: &[(MemberId, u64)]) -> bool {
        let is_new = |session: &Arc<Session>| session.is_attached() && !known.contains(&arrivals(session));
        let deadline = Instant::now() + RETURN_WITHIN;
        while !self.sessions.of(&self.bot.id).iter().any(is_new) {
            if Instant::now() >= deadline {
                return false;
            }
            sleep(LOOK_EVERY).await;
        }
        true
    }

    async fn look(&self, game: &GameId) -> Result<TestedGame, TestTrouble> {
        let stored = self.store.game(game).await?.ok_or_else(|| TestTrouble::Gone(game.clone()))?;
        Ok(TestedGame::of(&stored, &self.bot))
    }

    /// Waits until the bot has made so many moves, the game is over, or the time is up.
    async fn until_moves(
        &self,
        game: &GameId,
        moves: usize,
        within: Duration,
    ) -> Result<TestedGame, TestTrouble> {
        let deadline = Instant::now() + within;
        loop {
            let course = self.look(game).await?;
            if course.own_moves >= moves || course.end.is_some() || Instant::now() >= deadline {
                return Ok(course);
            }
            sleep(LOOK_EVERY).await;
        }
    }

    async fn until_over(&self, game: &GameId) -> Result<TestedGame, TestTrouble> {
        self.until_moves(game, usize::MAX, GAME_WITHIN).await
    }

    /// Books how long the bot took for the moves of a game.
    async fn count(&mut self, game: &GameId) -> Result<(), TestTrouble> {
        self.spent.extend(self.look(game).await?.spent);
        Ok(())
    }

    async fn look_for_illegal_moves(&mut self) -> Result<(), TestTrouble> {
        let faults = self.store.bot_faults(&self.bot.id, FAULTS_MAX).await?;
        // The first of them says best what went wrong; the list begins with the newest.
        let illegal = faults.iter().rev().find(|fault| {
            fault.at >= self.began
                && matches!(fault.kind, FaultKind::IllegalMove | FaultKind::Illegal)
                && fault.game.as_ref().is_some_and(|game| self.games.contains(game))
        });
        let result = match illegal {
            None => Ok(format!("{} moves, all of them legal", self.spent.len())),
            Some(fault) => Err(fault.note.clone()),
        };
        self.check("legal_moves", result);
        Ok(())
    }
}

/// A session, and how often a client has come to it.
fn arrivals(session: &Session) -> (MemberId, u64) {
    (session.member(), session.outbox().attachments())
}

/// How a game stands, seen from the bot's side.
struct TestedGame {
    own_moves: usize,
    spent: Vec<Duration>,
    /// Once it is over: why, and whether the bot was at fault.
    end: Option<(EndReason, bool)>,
}

impl TestedGame {
    fn of(game: &StoredGame, bot: &Identity) -> Self {
        let side = if game.spec.players.first == bot.id { Side::First } else { Side::Second };
        let mut to_move =
            if game.spec.opening.moves.len().is_multiple_of(2) { Side::First } else { Side::Second };
        let mut spent = Vec::new();
        for event in &game.events {
            if let EventKind::Move(played) = &event.kind {
                if to_move == side {
                    spent.push(Duration::from_millis(played.spent_ms));
                }
                to_move = to_move.opponent();
            }
        }
        let end = game.ending().map(|ending| (ending.reason, ending.by == Some(side)));
        Self { own_moves: spent.len(), spent, end }
    }

    /// Whether it is over as a game should be.
    fn is_sound(&self) -> bool {
        matches!(self.end, Some((EndReason::Four | EndReason::Full, _)))
    }

    fn words(&self) -> String {
        match self.end {
            None => format!("the game has not ended, {} moves were made", self.own_moves),
            Some((reason, true)) => format!("the game was lost by {reason:?}").to_lowercase(),
            Some((reason, false)) => format!("the game ended by {reason:?}").to_lowercase(),
        }
    }

    fn verdict(&self, game: &GameId) -> Result<String, String> {
        if self.is_sound() {
            Ok(format!("game {game} was played to its end"))
        } else {
            Err(format!("game {game}: {}", self.words()))
        }
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Outcome};

    use super::*;

    #[track_caller]
    fn check_last(opening: &str, mover: Side, is_end: impl Fn(&Outcome) -> bool) {
        let game = Game::from_moves(Variant::STANDARD, opening).unwrap();
        let columns: Vec<_> = game.position().legal_columns().collect();
        assert_eq!((game.position().side_to_move(), columns.len()), (mover, 1), "{opening}");
        let over = Game::from_moves(Variant::STANDARD, &format!("{opening}{}", columns[0])).unwrap();
        assert!(over.outcome().is_some_and(|outcome| is_end(&outcome)), "{opening}");
    }

    #[test]
    fn the_last_moves_are_what_they_are_said_to_be() {
        check_last(LAST_CELL, Side::Second, |outcome| matches!(outcome, Outcome::Draw));
        check_last(LAST_WIN, Side::First, |outcome| matches!(outcome, Outcome::Win { by: Side::First, .. }));
    }
}
