//! The one writing connection: a batch of writes becomes one transaction.

use std::collections::{BTreeSet, HashMap, HashSet};

use tracing::error;

use super::db::{self, Connection};
use super::disk_space::DiskSpace;
use super::error::is_contradiction;
use super::events;
use super::games;
use super::in_place::InPlace;
use super::journal::{self, Journal};
use super::known::{Change, KnownGame};
use super::open;
use super::{
    bot_versions, credentials, follows, forgetting, guests, judgements, learners, leaving, left_sessions,
    links, mails, moderation, operators, packing, players, published, pushes, puzzles, refit, reports,
    resets, settlement, studies, tournaments, vacations, voiding, webhooks,
};
use crate::model::ids::GameId;
use crate::storage::live::UnfinishedGame;
use crate::storage::record::{Ending, GameSpec, StoredEvent};
use crate::storage::rows::games::GameKeys;
use crate::storage::rows::journal::JournalRow;
use crate::storage::rows::packed::GrowingLog;
use crate::storage::settle::Referee;
use crate::storage::store::{Refused, StoreError, TestOutcome, Write, Written};

/// Most writes of a batch that are left out because the database does not take them: more of them are no accident, and
/// each costs the batch another attempt.
const LEFT_OUT_MAX: usize = 16;

/// What each write of a batch came to.
type Answers = Vec<Result<Written, Refused>>;

/// The writing connection with what it knows of the games that go on.
#[derive(Debug)]
pub(super) struct WriteConnection {
    connection: Connection,
    live: HashMap<GameId, KnownGame>,
    /// The keys of games that go on and are damaged.
    damaged: HashSet<i64>,
    journal: Journal,
    space: DiskSpace,
    files: InPlace,
    /// Which write of the batch is being applied, to know which one failed.
    applying: usize,
    /// Set while a commit is under way. If it stays set, nobody knows what the database holds.
    in_doubt: bool,
}

impl WriteConnection {
    /// Takes up the games that go on. Damaged ones stay as they are: nothing can be appended to them.
    pub(super) fn new(connection: Connection, space: DiskSpace, files: InPlace) -> Result<Self, StoreError> {
        let keys = games::live_keys(&connection)?;
        let mut keys: HashMap<i64, GameKeys> = keys.into_iter().map(|keys| (keys.key, keys)).collect();
        let rows = journal::rows_of_live(&connection)?;
        let (mut live, mut ids, mut damaged) = (HashMap::new(), HashMap::new(), HashSet::new());
        for (key, loaded) in games::live(&connection)? {
            if loaded.is_err() {
                damaged.insert(key);
            }
            if let (Ok(game), Some(keys)) = (loaded, keys.remove(&key)) {
                let mut known = KnownGame::new(keys, UnfinishedGame::restore(&game));
                known.log = GrowingLog::of(&game.events);
                known.rows = rows.get(&key).copied().unwrap_or_default();
                ids.insert(key, game.spec.id.clone());
                live.insert(game.spec.id, known);
            }
        }
        let journal = Journal::load(&connection, |row, key, seq| {
            let id = ids.get(&key)?;
            let known = live.get_mut(id)?;
            let is_first = seq > known.rows && known.journaled_since.is_none();
            is_first.then(|| {
                known.journaled_since = Some(row);
                id.clone()
            })
        })?;
        Ok(Self { connection, live, damaged, journal, space, files, applying: 0, in_doubt: false })
    }

    #[cfg(test)]
    pub(super) fn try_execute(&mut self, sql: &'static str) -> db::Result<()> {
        db::execute_all(&self.connection, sql)
    }

    /// Has all logs stand as earlier versions left them: none packed, all their events as rows.
    #[cfg(test)]
    pub(super) fn unpack(&mut self) -> Result<(), StoreError> {
        use crate::storage::rows::{events::EventsOfGames, packed::PackedRow, packed::select_packed};

        self.empty_journal()?;
        let (mut events, mut keys) = (EventsOfGames::default(), Vec::new());
        db::query_as(select_packed!("> 0", "NULL").0).fetch_each(&self.connection, |row: PackedRow| {
            keys.push(row.game);
            events.add_packed(row);
        })?;
        let guard =
            db::query_scalar("SELECT sql FROM sqlite_schema WHERE name = 'packed_log_is_not_deleted'");
        let guard: String = guard.fetch_one(&self.connection)?;
        db::execute_all(&self.connection, "DROP TRIGGER packed_log_is_not_deleted; DELETE FROM packed_log")?;
        db::execute_all(&self.connection, &guard)?;
        for key in keys {
            events::insert(&self.connection, key, &events.take(key)?)?;
        }
        Ok(())
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
        let result = result.and_then(|answers| self.files.check().map(|()| answers));
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

    /// Has all events stand in the logs of their games, and none in the journal: for whoever reads the tables.
    pub(super) fn empty_journal(&mut self) -> Result<(), StoreError> {
        self.enter_doubt()?;
        let result = self.transact_with(self.journal.len(), |_, _| Ok(()));
        self.leave_doubt(&result);
        result
    }

    /// Writes a batch in one transaction, without the writes that are `left_out`.
    fn transact(&mut self, batch: &[Write], left_out: &BTreeSet<usize>) -> Result<Answers, StoreError> {
        self.applying = batch.len();
        self.transact_with(self.journal.surplus(), |transaction, applying| {
            let mut answers = Vec::with_capacity(batch.len());
            for (index, write) in batch.iter().enumerate() {
                if left_out.contains(&index) {
                    answers.push(Err(Refused::Contradiction));
                    continue;
                }
                *applying = index;
                answers.push(transaction.apply(write)?);
            }
            *applying = batch.len();
            Ok(answers)
        })
    }

    /// Does something in a transaction from which the oldest rows of the journal go. If it fails, all that is known is
    /// as before.
    fn transact_with<T>(
        &mut self,
        oldest: usize,
        work: impl FnOnce(&mut Transaction<'_>, &mut usize) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        db::query("BEGIN IMMEDIATE").execute(&self.connection)?;
        let mut transaction = Transaction {
            connection: &self.connection,
            live: &mut self.live,
            damaged: &self.damaged,
            journal: &self.journal,
            row: JournalRow::default(),
            changes: Vec::new(),
        };
        let attempt = || {
            transaction.move_to_logs(oldest)?;
            let result = work(&mut transaction, &mut self.applying)?;
            transaction.write_journal()?;
            db::query("COMMIT").execute(&self.connection)?;
            Ok(result)
        };
        match attempt() {
            Ok(result) => {
                let (added, alone) = transaction.keep();
                self.journal.committed(oldest, added, alone);
                Ok(result)
            }
            Err(failure) => {
                transaction.undo()?;
                Err(failure)
            }
        }
    }

    /// Gives up a transaction. SQLite may have done so by itself already, which makes this fail without harm: the check
    /// is whether a new transaction can begin.
    fn roll_back(&mut self) -> bool {
        let _ = db::execute_all(&self.connection, "ROLLBACK");
        db::execute_all(&self.connection, "BEGIN; ROLLBACK").is_ok()
    }
}

/// One transaction under way.
struct Transaction<'held> {
    connection: &'held Connection,
    /// As of this transaction.
    live: &'held mut HashMap<GameId, KnownGame>,
    damaged: &'held HashSet<i64>,
    /// As of the last commit.
    journal: &'held Journal,
    /// What it is going to add to it.
    row: JournalRow,
    /// What has changed in `live`, in order.
    changes: Vec<(GameId, Change)>,
}

impl Transaction<'_> {
    /// Applies one write, or finds why it must be refused before anything of it is written.
    fn apply(&mut self, write: &Write) -> Result<Result<Written, Refused>, StoreError> {
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
            Write::Retire { player, name } => leaving::leave(self.connection, player, name),
            Write::SetPortrait { player, portrait } => {
                players::set_portrait(self.connection, player, portrait)
            }
            Write::SetProfile { player, profile } => players::set_profile(self.connection, player, profile),
            Write::AddToken { token, at_most, password } => {
                credentials::add_token(self.connection, token, *at_most, password.as_deref())
            }
            Write::RotateToken { old, new } => credentials::rotate(self.connection, old, new),
            Write::RevokeTokens { player, only } => {
                credentials::revoke(self.connection, player, only.as_ref())
            }
            Write::NoteUse { token, at } => credentials::note_use(self.connection, token, *at),
            Write::StartGame(spec) => self.start(spec),
            Write::Append { game, events } => Ok(self.append(game, events)),
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
            Write::SetLeftSessions(sessions) => left_sessions::set(self.connection, sessions),
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
            Write::Pack(packing) => packing::pack(self.connection, packing),
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

    fn start(&mut self, spec: &GameSpec) -> Result<Result<Written, Refused>, StoreError> {
        let keys = match games::start(self.connection, spec)? {
            Ok(keys) => keys,
            Err(refused) => return Ok(Err(refused)),
        };
        self.live.insert(spec.id.clone(), KnownGame::new(keys, UnfinishedGame::new(spec.clone())));
        self.changes.push((spec.id.clone(), Change::Started));
        Ok(Ok(Written::Done))
    }

    fn append(&mut self, id: &GameId, events: &[StoredEvent]) -> Result<Written, Refused> {
        let known = known(self.live, id).ok_or(Refused::NoSuchGame)?;
        known.game.check_append(events)?;
        let change = Change::Grown { log: known.log.mark(), journaled_since: known.journaled_since };
        self.changes.push((id.clone(), change));
        known.game.apply(events);
        for event in events {
            known.log.push(event);
            self.row.push(known.keys.key, event);
        }
        if !events.is_empty() {
            known.journaled_since.get_or_insert(self.journal.next());
        }
        Ok(Written::Done)
    }

    fn finish(
        &mut self,
        id: &GameId,
        events: &[StoredEvent],
    ) -> Result<Result<Written, Refused>, StoreError> {
        let Some(known) = known(self.live, id) else { return Ok(Err(Refused::NoSuchGame)) };
        let ending = match known.game.check_finish(events) {
            Ok(ending) => ending,
            Err(refused) => return Ok(Err(refused)),
        };
        let change = Change::Grown { log: known.log.mark(), journaled_since: known.journaled_since };
        self.changes.push((id.clone(), change));
        known.has_ended = true;
        known.game.apply(events);
        for event in events {
            known.log.push(event);
        }
        keep_log(self.connection, known, ending)?;
        let moves = known.game.moves();
        let referee = Referee { spec: known.game.spec(), moves: &moves, ending };
        let ended_at = events.last().map_or(known.game.spec().started_at, |event| event.at);
        let settlement = settlement::settle(self.connection, known.keys, &referee, ended_at)?;
        Ok(Ok(Written::Settled(settlement)))
    }

    /// Has the oldest rows of the journal go. The games of which they alone have events get them, and all that came
    /// after, as rows of their logs.
    fn move_to_logs(&mut self, oldest: usize) -> Result<(), StoreError> {
        if oldest == 0 {
            return Ok(());
        }
        for (row, id) in self.journal.alone_in(oldest) {
            let Some(known) = self.live.get_mut(id) else { continue };
            if known.journaled_since != Some(*row) {
                continue;
            }
            let events = known.log.read(None)?;
            let alone = events.get(known.rows as usize..).unwrap_or_default();
            events::insert(self.connection, known.keys.key, alone)?;
            let change = Change::Moved { rows: known.rows, journaled_since: known.journaled_since };
            self.changes.push((id.clone(), change));
            known.rows = events.last().map_or(known.rows, |last| last.seq);
            known.journaled_since = None;
        }
        // What is damaged stays, for whoever repairs it.
        if !self.damaged.is_empty() {
            journal::spare(self.connection, oldest, self.damaged)?;
        }
        self.journal.delete(self.connection, oldest)
    }

    fn write_journal(&self) -> Result<(), StoreError> {
        if self.row.events() > 0 { self.journal.insert(self.connection, &self.row) } else { Ok(()) }
    }

    /// It is committed: how many events its row of the journal has, and of which games it has the first that stand
    /// nowhere else.
    fn keep(self) -> (u32, Vec<GameId>) {
        let row = self.journal.next();
        let mut alone = Vec::new();
        for (id, change) in self.changes {
            let Some(known) = self.live.get(&id) else { continue };
            if known.has_ended {
                self.live.remove(&id);
            } else if known.journaled_since == Some(row)
                && let Change::Grown { journaled_since: None, .. } = change
            {
                alone.push(id);
            }
        }
        (self.row.events(), alone)
    }

    /// It failed: what is known is what was known before.
    fn undo(self) -> Result<(), StoreError> {
        for (id, change) in self.changes.into_iter().rev() {
            if matches!(change, Change::Started) {
                self.live.remove(&id);
            } else if let Some(known) = self.live.get_mut(&id) {
                known.undo(&change)?;
            }
        }
        Ok(())
    }
}

/// A game that goes on, to be changed in this transaction.
fn known<'l>(live: &'l mut HashMap<GameId, KnownGame>, id: &GameId) -> Option<&'l mut KnownGame> {
    live.get_mut(id).filter(|known| !known.has_ended)
}

/// Keeps the whole log of a game that has ended: packed, or as rows if it has more notes than that takes.
fn keep_log(connection: &Connection, known: &KnownGame, ending: Ending) -> Result<(), StoreError> {
    let key = known.keys.key;
    let Some(packed) = known.log.packed(ending) else {
        let events = known.log.read(Some(ending))?;
        return events::insert(connection, key, events.get(known.rows as usize..).unwrap_or_default());
    };
    packing::insert(connection, key, &packed)?;
    if known.rows > 0 {
        packing::delete_rows(connection, key)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Variant;

    use super::super::SqliteStore;
    use super::*;
    use crate::model::durability::Durability;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::{
        FIRST_WINS, add, add_players, event, moves, player, player_id, spec, whole_game,
    };
    use crate::storage::games::GameStore;
    use crate::storage::ratings::RatingStore;
    use crate::storage::record::{EventKind, StoredGame};
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
                "CREATE TRIGGER broken BEFORE INSERT ON settlement WHEN NEW.game = 2 \
                 BEGIN SELECT RAISE(ABORT, 'no'); END",
            )
            .await;
        let whole = whole_game(FIRST_WINS, GameResult::First, EndReason::Four);
        let [first, second, third] = games.map(|game| game.id);
        let append = |game: &GameId| Write::Append { game: game.clone(), events: whole[..1].to_vec() };
        let finish = |game: &GameId| Write::Finish { game: game.clone(), events: whole[1..].to_vec() };
        let batch = [append(&first), append(&second), append(&third), finish(&second), finish(&third)];
        let answers = store.commit(&batch).await.unwrap();
        let done = |index: usize| matches!(answers[index], Ok(Written::Done | Written::Settled(_)));
        assert!(
            [0, 1, 2, 4].into_iter().all(done) && answers[3] == Err(Refused::Contradiction),
            "{answers:?}"
        );
        let played = |games: Vec<StoredGame>| games.iter().map(StoredGame::moves).collect::<Vec<_>>();
        assert_eq!(played(store.live_games().await.unwrap()), ["1", "1"]);
        // The refused one left no trace in what the writer knows of the game either.
        store.execute("DROP TRIGGER broken").await;
        let answers = store.commit(&[finish(&second), finish(&third)]).await.unwrap();
        assert!(matches!(answers[..], [Ok(Written::Settled(_)), Err(Refused::NoSuchGame)]), "{answers:?}");
        assert_eq!(played(store.live_games().await.unwrap()), ["1"]);
        assert_eq!(store.game(&second).await.unwrap().unwrap().events, whole);
    }

    #[tokio::test]
    async fn what_the_journal_has_no_room_for_becomes_rows_of_games_that_go_on() {
        let (directory, store) = store().await;
        let ids = ["g1", "g2", "g3"];
        store.commit(&ids.map(|id| Write::StartGame(spec(id, "Ada", "Bob")))).await.unwrap();
        let whole = moves(&"1234567".repeat(2));
        let append = |id: &str, events: &[StoredEvent]| {
            let events = events.to_vec();
            Write::Append { game: id.parse().unwrap(), events }
        };
        let counts = async |store: &SqliteStore| {
            let lock = store.write_connection.lock().await;
            let sql = "SELECT (SELECT count(*) FROM journal), (SELECT count(*) FROM event), \
                       (SELECT count(*) FROM packed_log)";
            let counts: (i64, i64, i64) = db::query_as(sql).fetch_one(lock.connection()).unwrap();
            counts
        };
        let empty = async |store: &SqliteStore| store.write_connection.lock().await.empty_journal().unwrap();
        for event in &whole[..4] {
            let batch = ["g1", "g2"].map(|id| append(id, std::slice::from_ref(event)));
            store.commit(&batch).await.unwrap();
        }
        assert_eq!(counts(&store).await, (4, 0, 0));
        let lengths = |games: Vec<StoredGame>| games.iter().map(|game| game.events.len()).collect::<Vec<_>>();
        // With its oldest row all that they have there become rows, some of which it still has, too.
        store.write_connection.lock().await.transact_with(1, |_, _| Ok(())).unwrap();
        assert_eq!(counts(&store).await, (3, 8, 0));
        assert_eq!(lengths(store.live_games().await.unwrap()), [4, 4, 0]);
        empty(&store).await;
        assert_eq!(counts(&store).await, (0, 8, 0));
        let all = [append("g1", &whole[4..6]), append("g3", &whole[..2])];
        store.commit(&all).await.unwrap();
        // A game goes on from its rows and the journal, and so does what is known of it after a restart.
        let path = directory.path().join("test.db");
        store.close().await.unwrap();
        let store = SqliteStore::open(&path, Durability::Relaxed).await.unwrap();
        assert_eq!(lengths(store.live_games().await.unwrap()), [6, 4, 2]);
        assert_eq!(store.game(&"g1".parse().unwrap()).await.unwrap().unwrap().events, whole[..6]);
        let ending = Ending { result: GameResult::Void, reason: EndReason::Stopped, by: None };
        let events = vec![event(7, EventKind::Finished(ending))];
        let finish = Write::Finish { game: "g1".parse().unwrap(), events };
        store.commit(&[finish, append("g2", &whole[4..5])]).await.unwrap();
        assert_eq!(counts(&store).await, (2, 4, 1), "its rows are gone with its end");
        empty(&store).await;
        assert_eq!(counts(&store).await, (0, 7, 1));
        assert_eq!(lengths(store.live_games().await.unwrap()), [5, 2]);
        assert_eq!(store.game(&"g1".parse().unwrap()).await.unwrap().unwrap().events.len(), 7);
    }

    #[tokio::test]
    async fn moves_of_a_damaged_game_outlive_the_journal() {
        let (directory, store) = store().await;
        let append = |id: &str| Write::Append { game: id.parse().unwrap(), events: moves("445") };
        let starts = ["g1", "g2"].map(|id| Write::StartGame(spec(id, "Ada", "Bob")));
        store.commit(&starts).await.unwrap();
        store.commit(&[append("g1"), append("g2")]).await.unwrap();
        store.execute("UPDATE game SET variant = '99x99' WHERE key = 1").await;
        let path = directory.path().join("test.db");
        store.close().await.unwrap();
        let store = SqliteStore::open(&path, Durability::Relaxed).await.unwrap();
        assert_eq!(store.live_games().await.unwrap().len(), 1);
        store.write_connection.lock().await.empty_journal().unwrap();
        store.execute("UPDATE game SET variant = '7x6' WHERE key = 1").await;
        let repaired = store.game(&"g1".parse().unwrap()).await.unwrap().unwrap();
        assert_eq!(repaired.events, moves("445"));
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
        store.execute("DROP TABLE journal").await;
        let append = Write::Append { game: game.id.clone(), events: moves("4") };
        let error = store.commit(&[Write::StartGame(game), append]).await.unwrap_err();
        assert!(matches!(error, StoreError::Failed(_)), "{error:?}");
        // As if SQLite had ended the transaction by itself, as after some failures: it would take the next one.
        store.execute("ROLLBACK").await;
        let error = store.commit(&[]).await.unwrap_err();
        assert!(matches!(error, StoreError::Failed(_)), "{error:?}");
    }
}
