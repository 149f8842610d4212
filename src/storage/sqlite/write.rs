//! The one writing connection: a batch of writes becomes one transaction.

use std::collections::{BTreeSet, HashMap};

use tracing::error;

use super::db::{self, Connection};
use super::disk_space::DiskSpace;
use super::error::is_contradiction;
use super::events;
use super::games;
use super::open;
use super::{
    bot_versions, credentials, follows, forgetting, guests, judgements, learners, links, mails, moderation,
    operators, packing, players, published, pushes, puzzles, refit, reports, resets, settlement, studies,
    tournaments, vacations, voiding, webhooks,
};
use crate::model::ids::GameId;
use crate::storage::live::UnfinishedGame;
use crate::storage::record::{GameSpec, StoredEvent};
use crate::storage::rows::games::GameKeys;
use crate::storage::settle::Referee;
use crate::storage::store::{Refused, StoreError, TestOutcome, Write, Written};

/// Most writes of a batch that are left out because the database does not take them: more of them are no accident, and
/// each costs the batch another attempt.
const LEFT_OUT_MAX: usize = 16;

/// What each write of a batch came to.
type Answers = Vec<Result<Written, Refused>>;

/// A game that goes on: what it looks like, and its rows' keys.
#[derive(Clone, Debug)]
struct KnownGame {
    keys: GameKeys,
    game: UnfinishedGame,
}

/// The writing connection with what it knows of the games that go on.
#[derive(Debug)]
pub(super) struct WriteConnection {
    connection: Connection,
    live: HashMap<GameId, KnownGame>,
    space: DiskSpace,
    /// Which write of the batch is being applied, to know which one failed.
    applying: usize,
    /// Set while a commit is under way. If it stays set, nobody knows what the database holds.
    in_doubt: bool,
}

impl WriteConnection {
    /// Takes up the games that go on. Damaged ones stay as they are: nothing can be appended to them.
    pub(super) fn new(connection: Connection, space: DiskSpace) -> Result<Self, StoreError> {
        let keys = games::live_keys(&connection)?;
        let mut keys: HashMap<i64, GameKeys> = keys.into_iter().map(|keys| (keys.key, keys)).collect();
        let mut live = HashMap::new();
        for (key, loaded) in games::live(&connection)? {
            if let (Ok(game), Some(keys)) = (loaded, keys.remove(&key)) {
                live.insert(game.spec.id.clone(), KnownGame { keys, game: UnfinishedGame::restore(&game) });
            }
        }
        Ok(Self { connection, live, space, applying: 0, in_doubt: false })
    }

    #[cfg(test)]
    pub(super) fn try_execute(&mut self, sql: &'static str) -> db::Result<()> {
        db::execute_all(&self.connection, sql)
    }

    /// For what is no commit of an arena: while one is moved here from elsewhere.
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(super) fn into_connection(self) -> Connection {
        self.connection
    }

    /// Writes a batch in one transaction.
    ///
    /// After an error other than [`StoreError::Full`] and [`StoreError::Locked`] every later commit fails too.
    pub(super) fn commit(&mut self, batch: &[Write]) -> Result<Answers, StoreError> {
        self.enter_doubt()?;
        if self.space.is_short() {
            self.make_space();
        }
        let mut result = self.transact_what_is_right(batch);
        if matches!(result, Err(StoreError::Full(_))) && self.roll_back() && self.make_space() {
            result = self.transact_what_is_right(batch);
        }
        self.leave_doubt(&result);
        result
    }

    /// Finds out whether anything can be written again, by writing what changes nothing.
    pub(super) fn probe(&mut self) -> Result<(), StoreError> {
        self.enter_doubt()?;
        self.make_space();
        let result = open::touch(&self.connection).map_err(StoreError::from);
        self.leave_doubt(&result);
        result
    }

    fn enter_doubt(&mut self) -> Result<(), StoreError> {
        if self.in_doubt {
            return Err(StoreError::Failed("the outcome of an earlier commit is unknown".into()));
        }
        self.in_doubt = true;
        Ok(())
    }

    fn leave_doubt<T>(&mut self, result: &Result<T, StoreError>) {
        match result {
            Ok(_) => self.in_doubt = false,
            Err(StoreError::Full(_) | StoreError::Locked(_)) => self.in_doubt = !self.roll_back(),
            Err(_) => {}
        }
    }

    /// Moves the log into the database, so that its space is free; says whether that went well. If not, the commit that
    /// comes next says why.
    fn make_space(&mut self) -> bool {
        self.space.empty_log(&self.connection)
    }

    /// Writes a batch, but for those of its writes that contradict what is stored. That none does is checked before,
    /// write by write; one that does all the same is a fault of ours, and must cost no more than what it is about.
    fn transact_what_is_right(&mut self, batch: &[Write]) -> Result<Answers, StoreError> {
        let mut left_out = BTreeSet::new();
        loop {
            match self.transact(batch, &left_out) {
                Err(failure)
                    if is_contradiction(&failure)
                        && self.applying < batch.len()
                        && left_out.len() < LEFT_OUT_MAX
                        && self.roll_back() =>
                {
                    error!(error = ?failure, "the database does not take a write, it is left out");
                    left_out.insert(self.applying);
                }
                result => return result,
            }
        }
    }

    /// Writes a batch in one transaction, without the writes that are `left_out`.
    fn transact(&mut self, batch: &[Write], left_out: &BTreeSet<usize>) -> Result<Answers, StoreError> {
        self.applying = batch.len();
        db::query("BEGIN IMMEDIATE").execute(&self.connection)?;
        let mut transaction =
            Transaction { connection: &self.connection, live: &self.live, changed: HashMap::new() };
        let mut answers = Vec::with_capacity(batch.len());
        for (index, write) in batch.iter().enumerate() {
            if left_out.contains(&index) {
                answers.push(Err(Refused::Contradiction));
                continue;
            }
            self.applying = index;
            answers.push(transaction.apply(write)?);
        }
        self.applying = batch.len();
        let Transaction { changed, .. } = transaction;
        db::query("COMMIT").execute(&self.connection)?;
        for (id, known) in changed {
            match (known, self.live.get_mut(id)) {
                (Some(known), Some(before)) => *before = known,
                (Some(known), None) => drop(self.live.insert(id.clone(), known)),
                (None, _) => drop(self.live.remove(id)),
            }
        }
        Ok(answers)
    }

    /// Gives up a transaction. SQLite may have done so by itself already, which makes this fail without harm: the check
    /// is whether a new transaction can begin.
    fn roll_back(&mut self) -> bool {
        let _ = db::execute_all(&self.connection, "ROLLBACK");
        db::execute_all(&self.connection, "BEGIN; ROLLBACK").is_ok()
    }
}

/// One transaction under way.
struct Transaction<'batch, 'held> {
    connection: &'held Connection,
    /// As of the last commit.
    live: &'held HashMap<GameId, KnownGame>,
    /// What this transaction makes of it: `None` for games that end.
    changed: HashMap<&'batch GameId, Option<KnownGame>>,
}

impl<'batch> Transaction<'batch, '_> {
    /// Applies one write, or finds why it must be refused before anything of it is written.
    fn apply(&mut self, write: &'batch Write) -> Result<Result<Written, Refused>, StoreError> {
        match write {
            Write::AddPlayer { player, password } => {
                players::add(self.connection, player, password.as_deref())
            }
            Write::AddBot { bot, token, at_most } => {
                credentials::add_bot(self.connection, bot, token, *at_most)
            }
            Write::ReplaceGuest { old, new, idle } => guests::replace(self.connection, old, new, *idle),
            Write::SetPassword { player, password, keeps } => {
                credentials::set_password(self.connection, player, password, keeps.as_ref())
            }
            Write::Promote { player, name, password } => {
                players::promote(self.connection, player, name, password)
            }
            Write::NameGuest { player, name } => players::name_guest(self.connection, player, name),
            Write::Retire { player, name } => {
                let outcome = players::retire(self.connection, player, name)?;
                if outcome.is_ok() {
                    puzzles::forget(self.connection, player)?;
                    links::forget(self.connection, player)?;
                    tournaments::forget(self.connection, player)?;
                }
                Ok(outcome)
            }
            Write::SetPortrait { player, portrait } => {
                players::set_portrait(self.connection, player, portrait)
            }
            Write::SetProfile { player, profile } => players::set_profile(self.connection, player, profile),
            Write::AddToken { token, at_most } => credentials::add_token(self.connection, token, *at_most),
            Write::RotateToken { old, new } => credentials::rotate(self.connection, old, new),
            Write::RevokeTokens { player, only } => {
                credentials::revoke(self.connection, player, only.as_ref())
            }
            Write::NoteUse { token, at } => credentials::note_use(self.connection, token, *at),
            Write::StartGame(spec) => self.start(spec),
            Write::Append { game, events } => self.append(game, events),
            Write::Finish { game, events } => self.finish(game, events),
            Write::CountIllegal { game, side, count } => {
                games::count_illegal(self.connection, game, *side, *count)
            }
            Write::SetConditional { game, side, moves } => {
                games::set_conditional(self.connection, game, *side, moves.as_ref())
            }
            Write::OpenLink(link) => links::open(self.connection, link),
            Write::CloseLink(id) => links::close(self.connection, id),
            Write::StepLearner(step) => learners::step(self.connection, step),
            Write::MeasureVersion { learner, mark, decision } => {
                learners::measure(self.connection, learner, *mark, *decision)
            }
            Write::MeasurePoint { learner, games, decision, at } => {
                learners::measure_point(self.connection, learner, *games, *decision, *at)
            }
            Write::SetTeaching { player, teaching } => {
                learners::set_teaching(self.connection, player, *teaching)
            }
            Write::WithdrawLesson { game } => learners::withdraw_game(self.connection, game),
            Write::RemakeLearner { learner, revision } => {
                learners::remake(self.connection, learner, *revision)
            }
            Write::PlanTournament(plan) => tournaments::plan(self.connection, plan),
            Write::EnterPlan { plan, player } => tournaments::enter(self.connection, plan, player),
            Write::LeavePlan { plan, player } => tournaments::leave(self.connection, plan, player),
            Write::DropPlan(plan) => tournaments::drop_plan(self.connection, plan),
            Write::AddTournament(tournament) => tournaments::add(self.connection, tournament),
            Write::JoinTournament { tournament, player, came } => {
                tournaments::join(self.connection, tournament, player, *came)
            }
            Write::QuitTournament { tournament, player, went } => {
                tournaments::quit(self.connection, tournament, player, *went)
            }
            Write::WalkOver { tournament, walkover } => {
                tournaments::walk_over(self.connection, tournament, *walkover)
            }
            Write::CancelTournament { tournament, because } => {
                tournaments::cancel(self.connection, tournament, because.as_ref())
            }
            Write::EndTournament { tournament, end } => tournaments::end(self.connection, tournament, end),
            Write::VoidGame { game, because } => voiding::void(self.connection, game, because),
            Write::VoidGames { games, because } => refit::void_all(self.connection, games, because),
            Write::Refit(step) => refit::refit(self.connection, step),
            Write::ResetRating(reset) => resets::add(self.connection, reset),
            Write::TakeMeasure(measure) => moderation::take(self.connection, measure),
            Write::GiveOrder(order) => moderation::order(self.connection, order),
            Write::SetWebhook(webhook) => webhooks::set(self.connection, webhook),
            Write::RemoveWebhook { owner } => webhooks::remove(self.connection, owner),
            Write::NoteDelivery(note) => webhooks::note(self.connection, note),
            Write::SetMail(mail) => mails::set(self.connection, mail),
            Write::RemoveMail { owner } => mails::remove(self.connection, owner),
            Write::SetNotices { owner, notices } => mails::set_notices(self.connection, owner, *notices),
            Write::AddPush(push) => pushes::add(self.connection, push),
            Write::RemovePush { owner, endpoint } => pushes::remove(self.connection, owner, endpoint),
            Write::Follow(follow) => follows::follow(self.connection, follow),
            Write::Unfollow { player, followed } => follows::unfollow(self.connection, player, followed),
            Write::Block(block) => follows::block(self.connection, block),
            Write::Unblock { player, blocked } => follows::unblock(self.connection, player, blocked),
            Write::TakeVacation { player, vacation } => vacations::take(self.connection, player, *vacation),
            Write::EndVacation { player, at } => vacations::end(self.connection, player, *at),
            Write::AddMailLink(link) => mails::add_link(self.connection, link),
            Write::VerifyMail { digest, at } => mails::verify(self.connection, digest, *at),
            Write::ResetPassword { digest, password, at } => {
                mails::reset(self.connection, digest, password, *at)
            }
            Write::UseFactor { player, used } => operators::use_factor(self.connection, player, used),
            Write::AddReport(report) => reports::add(self.connection, report),
            Write::HandleReport(verdict) => reports::handle(self.connection, verdict),
            Write::Publish(publication) => published::publish(self.connection, publication),
            Write::StepJudging(step) => judgements::step(self.connection, step),
            Write::Forget(forgetting) => forgetting::forget(self.connection, forgetting),
            Write::Pack { games } => packing::pack(self.connection, *games),
            Write::AddPuzzles(harvest) => {
                puzzles::add(self.connection, harvest)?;
                Ok(Ok(Written::Done))
            }
            Write::TryPuzzle(attempt) => puzzles::attempt(self.connection, attempt),
            Write::SolveDaily { player, day } => puzzles::solve_daily(self.connection, player, *day),
            Write::NoteRush(result) => puzzles::note_rush(self.connection, result),
            Write::AddStudy(new) => studies::add(self.connection, new),
            Write::ChangeStudy(change) => studies::change(self.connection, change),
            Write::DropStudy { study, owner } => studies::drop(self.connection, study, owner),
            Write::RemoveStudy { study, because } => studies::remove(self.connection, study, because),
            Write::SeeVersion { bot, version, at } => {
                bot_versions::see_version(self.connection, bot, version, *at)
            }
            Write::SaveTest { bot, version, test, outcome } => {
                let passed = *outcome == TestOutcome::Passed;
                bot_versions::save_test(self.connection, bot, version, test, passed)
            }
            Write::AddFault(fault) => bot_versions::add_fault(self.connection, fault),
        }
    }

    fn start(&mut self, spec: &'batch GameSpec) -> Result<Result<Written, Refused>, StoreError> {
        let keys = match games::start(self.connection, spec)? {
            Ok(keys) => keys,
            Err(refused) => return Ok(Err(refused)),
        };
        let known = KnownGame { keys, game: UnfinishedGame::new(spec.clone()) };
        self.changed.insert(&spec.id, Some(known));
        Ok(Ok(Written::Done))
    }

    fn append(
        &mut self,
        id: &'batch GameId,
        events: &[StoredEvent],
    ) -> Result<Result<Written, Refused>, StoreError> {
        let known = match self.known(id) {
            Ok(known) => known,
            Err(refused) => return Ok(Err(refused)),
        };
        if let Err(refused) = known.game.check_append(events) {
            return Ok(Err(refused));
        }
        known.game.apply(events);
        let key = known.keys.key;
        events::insert(self.connection, key, events)?;
        Ok(Ok(Written::Done))
    }

    fn finish(
        &mut self,
        id: &'batch GameId,
        events: &'batch [StoredEvent],
    ) -> Result<Result<Written, Refused>, StoreError> {
        let ending = match self.known(id).and_then(|known| known.game.check_finish(events)) {
            Ok(ending) => ending,
            Err(refused) => return Ok(Err(refused)),
        };
        let Some(Some(KnownGame { keys, mut game })) = self.changed.insert(id, None) else {
            return Ok(Err(Refused::NoSuchGame));
        };
        game.apply(events);
        events::insert(self.connection, keys.key, events)?;
        let moves = game.moves();
        let referee = Referee { spec: game.spec(), moves: &moves, ending };
        let ended_at = events.last().map_or(game.spec().started_at, |event| event.at);
        let settlement = settlement::settle(self.connection, keys, &referee, ended_at)?;
        Ok(Ok(Written::Settled(settlement)))
    }

    /// A live game, to be changed in this transaction.
    fn known(&mut self, id: &'batch GameId) -> Result<&mut KnownGame, Refused> {
        let known = self.changed.entry(id).or_insert_with(|| self.live.get(id).cloned());
        known.as_mut().ok_or(Refused::NoSuchGame)
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Variant;

    use super::super::SqliteStore;
    use super::*;
    use crate::model::durability::Durability;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::{
        FIRST_WINS, add, add_players, moves, player, player_id, spec, whole_game,
    };
    use crate::storage::games::GameStore;
    use crate::storage::ratings::RatingStore;
    use crate::storage::record::StoredGame;
    use crate::storage::store::Store;

    async fn store() -> (tempfile::TempDir, SqliteStore) {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("test.db"), Durability::Relaxed).await.unwrap();
        add_players(&store, &["Ada", "Bob"]).await;
        (directory, store)
    }

    #[tokio::test]
    async fn a_full_disk_writes_nothing_and_the_same_batch_works_later() {
        let (_directory, store) = store().await;
        let game = spec("g1", "Ada", "Bob");
        store.commit(&[Write::StartGame(game.clone())]).await.unwrap();
        // A hundred long names need new pages, which there are none of.
        store.execute("PRAGMA max_page_count = 1").await;
        let events = whole_game(FIRST_WINS, GameResult::First, EndReason::Four);
        let mut batch = vec![Write::Finish { game: game.id.clone(), events }];
        batch.extend(
            (0..200).map(|n| {
                add(player(&format!("a-rather-long-n-{n}"), crate::model::player::PlayerKind::Human))
            }),
        );
        for _ in 0..2 {
            let error = store.commit(&batch).await.unwrap_err();
            assert!(matches!(error, StoreError::Full(_)), "{error:?}");
        }
        let untouched = StoredGame { spec: game.clone(), events: vec![], settlement: None };
        assert_eq!(store.live_games().await.unwrap(), [untouched]);
        assert_eq!(store.rating(&player_id("Ada"), Variant::STANDARD).await.unwrap(), None);

        store.execute("PRAGMA max_page_count = 100000").await;
        let answers = store.commit(&batch).await.unwrap();
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        assert_eq!(store.live_games().await.unwrap(), []);
    }

    #[tokio::test]
    async fn a_write_that_the_database_does_not_take_is_refused_alone() {
        let (_directory, store) = store().await;
        let games = ["g1", "g2", "g3"].map(|id| spec(id, "Ada", "Bob"));
        store.commit(&games.clone().map(Write::StartGame)).await.unwrap();
        store
            .execute(
                "CREATE TRIGGER broken BEFORE INSERT ON event WHEN NEW.game = 2 \
                 BEGIN SELECT RAISE(ABORT, 'no'); END",
            )
            .await;
        let append = |moves_played: &str| {
            let events = moves(moves_played);
            games.clone().map(|game| Write::Append { game: game.id, events: events.clone() })
        };
        let answers = store.commit(&append("4")).await.unwrap();
        assert_eq!(answers, [Ok(Written::Done), Err(Refused::Contradiction), Ok(Written::Done)]);
        let played = |games: Vec<StoredGame>| games.iter().map(StoredGame::moves).collect::<Vec<_>>();
        assert_eq!(played(store.live_games().await.unwrap()), ["4", "", "4"]);
        // The refused one left no trace in what the writer knows of the game either.
        store.execute("DROP TRIGGER broken").await;
        let [_, second, _] = append("4");
        assert_eq!(store.commit(&[second]).await.unwrap(), [Ok(Written::Done)]);
        assert_eq!(played(store.live_games().await.unwrap()), ["4", "4", "4"]);
    }

    #[tokio::test]
    async fn a_database_that_another_program_holds_is_waited_for() {
        let (directory, store) = store().await;
        store.execute("PRAGMA busy_timeout = 1").await;
        let other = Connection::open(directory.path().join("test.db")).unwrap();
        db::execute_all(&other, "BEGIN IMMEDIATE").unwrap();
        let batch = [Write::StartGame(spec("g1", "Ada", "Bob"))];
        for _ in 0..2 {
            let error = store.commit(&batch).await.unwrap_err();
            assert!(matches!(error, StoreError::Locked(_)), "{error:?}");
        }
        assert!(matches!(store.probe().await, Err(StoreError::Locked(_))));
        db::execute_all(&other, "ROLLBACK").unwrap();
        store.probe().await.unwrap();
        assert_eq!(store.commit(&batch).await.unwrap(), [Ok(Written::Done)]);
    }

    #[tokio::test]
    async fn after_a_failure_nothing_is_written_any_more() {
        let (_directory, store) = store().await;
        let game = spec("g1", "Ada", "Bob");
        store.execute("DROP TABLE event").await;
        let append = Write::Append { game: game.id.clone(), events: moves("4") };
        let error = store.commit(&[Write::StartGame(game), append]).await.unwrap_err();
        assert!(matches!(error, StoreError::Failed(_)), "{error:?}");
        // As if SQLite had ended the transaction by itself, as after some failures: it would take the next one.
        store.execute("ROLLBACK").await;
        let error = store.commit(&[]).await.unwrap_err();
        assert!(matches!(error, StoreError::Failed(_)), "{error:?}");
    }
}
