//! A store in memory, for tests: the plainest form of the contract, and faults on demand. No daemon has it.
//!
//! Unit tests use it as it is; the simulation of a whole arena gives it a [`Disk`], which decides when and whether what
//! is committed is kept.

mod bot_versions;
mod credentials;
#[cfg(test)]
mod demand;
mod follows;
mod forgetting;
mod games;
mod judgements;
mod learners;
mod left_sessions;
mod links;
mod live;
mod mails;
mod moderation;
mod operators;
mod pushes;
mod puzzles;
mod ratings;
mod refit;
mod reports;
mod resets;
mod studies;
mod tournaments;
mod vacations;
mod webhooks;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::Debug;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use fourfold_engine::{BySide, Side, SideResult, Variant, WinDrawLoss};

use self::bot_versions::MemoryBotVersions;
use self::judgements::Judgements;
use self::learners::Learners;
use self::puzzles::MemoryPuzzles;
use self::tournaments::MemoryTournaments;
use super::attempts::{AttemptStore, RecentAttempts};
use super::audit::AuditStore;
use super::backup::{Backup, BackupError, Overwrite};
use super::bot_versions::{BotFault, BotVersion, BotVersionStore};
use super::chain;
use super::follows::Tie;
use super::forgetting::Forgotten;
use super::games::GameStore as _;
use super::left_sessions::LeftSession;
use super::lessons::{CurvePoint, LearnerStore, Lesson, StoredLearner, StoredVersion};
use super::links::StoredLink;
use super::live::UnfinishedGame;
use super::mails::{MailLink, StoredMail};
use super::moderation::AuditEntry;
use super::operators::StoredOperator;
use super::people::PeopleStore;
use super::published::{Against, Publication, RatedGame, VoidedGame};
use super::pushes::StoredPush;
use super::record::{
    BotProfile, DamagedGame, GameSpec, RatingRow, Settlement, StoredEvent, StoredGame, StoredPlayer,
    StoredToken,
};
use super::reports::StoredReport;
use super::resets::RatingReset;
use super::settle::{OpponentStanding, Precedents, RatingVerdict, Referee};
use super::store::{IdleGuests, Refused, Store, StoreError, Teaching, TestOutcome, Write, Written};
use super::studies::{DamagedStudy, StoredStudy};
use super::webhooks::StoredWebhook;
use crate::model::chain_hash::ChainHash;
use crate::model::conditional::ConditionalMoves;
use crate::model::ids::{GameId, PairId, PlayerId, PlayerName, TokenId};
use crate::model::lookalike::Outline;
use crate::model::player::PlayerKind;
use crate::model::portrait::Portrait;
use crate::model::rating::eligibility::{GameFingerprint, REMEMBERED_GAMES};
use crate::model::rating::newcomers::Gains;
use crate::model::time::UnixMillis;
use crate::model::vacation::Vacation;

/// What happens to the next commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommitFault {
    /// The disk is full: nothing is written.
    Full,
    /// Another program holds the database: nothing is written.
    Locked,
    /// The disk fails: nothing is written, but nobody knows.
    Failed,
    /// The server goes out of reach at this moment of the commit: whoever writes again must find out which it was.
    Unreachable(Parting),
    /// It is written after that long.
    Slow(Duration),
}

/// When a server goes out of reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parting {
    /// Before it has written anything.
    BeforeCommit,
    /// When it has written everything, and could not say so.
    AfterCommit,
}

/// What the writes of a batch came to.
pub type Answers = Vec<Result<Written, Refused>>;

/// Decides what becomes of commits.
#[async_trait]
pub trait Disk: Send + Sync + Debug {
    /// Commits a batch. `apply` makes it part of the store, in one step.
    ///
    /// # Errors
    ///
    /// As [`Store::commit`].
    async fn commit(
        &self,
        batch: &[Write],
        apply: &(dyn Fn() -> Answers + Sync),
    ) -> Result<Answers, StoreError>;

    /// Finds what is asked for. Those reads wait for it on which players wait.
    ///
    /// # Errors
    ///
    /// The disk cannot be read.
    async fn read(&self) -> Result<(), StoreError>;
}

/// Keeps everything in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Mutex<MemoryTables>,
    disk: Option<Arc<dyn Disk>>,
    attempts: RecentAttempts,
}

#[derive(Debug, Default)]
struct MemoryTables {
    players: HashMap<PlayerId, StoredPlayer>,
    passwords: HashMap<PlayerId, String>,
    tokens: BTreeMap<TokenId, StoredToken>,
    games: HashMap<GameId, StoredGame>,
    /// All of them in the order in which they began.
    begun: Vec<GameId>,
    /// In the order in which they began.
    live: Vec<(GameId, UnfinishedGame)>,
    /// In the order in which they finished: number 1 first.
    finished: Vec<GameId>,
    ratings: HashMap<(PlayerId, Variant), RatingRow>,
    gains: HashMap<(PlayerId, Variant), Gains>,
    learners: Learners,
    tournaments: MemoryTournaments,
    judgements: Judgements,
    forgotten: Forgotten,
    puzzles: MemoryPuzzles,
    bot_versions: MemoryBotVersions,
    kept_out: HashSet<PlayerId>,
    voided: Vec<VoidedGame>,
    /// Ratings that are owed, and the last game before them.
    owed: BTreeMap<String, u64>,
    /// In the order of their times.
    resets: Vec<RatingReset>,
    audit: Vec<AuditEntry>,
    reports: Vec<StoredReport>,
    operators: Vec<StoredOperator>,
    webhooks: HashMap<PlayerId, StoredWebhook>,
    links: Vec<StoredLink>,
    mails: Vec<StoredMail>,
    mail_links: Vec<MailLink>,
    vacations: Vec<(PlayerId, Vacation)>,
    left_sessions: Vec<LeftSession>,
    /// Of all accounts, the oldest first.
    pushes: Vec<StoredPush>,
    follows: Vec<Tie>,
    /// Of all accounts, the oldest first.
    studies: Vec<StoredStudy>,
    blocks: Vec<Tie>,
    /// Illegal moves in games that go on.
    illegal: HashMap<GameId, BySide<u8>>,
    conditional: HashMap<GameId, BySide<Option<ConditionalMoves>>>,
    publication: Publication,
    faults: VecDeque<CommitFault>,
    /// A batch that is written and of which nobody heard: written again, it comes to the same.
    unheard: Option<(Vec<Write>, Answers)>,
    commits: Vec<usize>,
    /// Questions for finished games that are yet to fail.
    failing_looks: u32,
    /// What the next question for finds the database out of reach.
    out_of_reach: Vec<&'static str>,
    looks: Vec<(u64, u32)>,
}

impl MemoryStore {
    /// Lets a commit go as if the server went away in it.
    fn part(&self, batch: &[Write], parting: Parting) -> StoreError {
        if parting == Parting::AfterCommit {
            let known = self.tables().unheard.take().filter(|(written, _)| written == batch);
            let answers = known.map_or_else(|| self.apply(batch), |(_, answers)| answers);
            self.tables().unheard = Some((batch.to_vec(), answers));
        }
        StoreError::Unreachable(injected())
    }

    /// A store whose commits a disk decides about.
    pub fn on(disk: Arc<dyn Disk>) -> Self {
        Self { disk: Some(disk), ..Self::default() }
    }

    /// Writes a batch at once, past the disk.
    pub fn apply(&self, batch: &[Write]) -> Answers {
        let mut tables = self.tables();
        tables.commits.push(batch.len());
        batch.iter().map(|write| tables.apply(write)).collect()
    }

    async fn seek(&self) -> Result<(), StoreError> {
        match &self.disk {
            Some(disk) => disk.read().await,
            None => Ok(()),
        }
    }

    fn tables(&self) -> MutexGuard<'_, MemoryTables> {
        // A panic elsewhere leaves the tables as they were: every write checks first and then only inserts.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryTables {
    /// Games of such series, in the order in which they began.
    fn games_of_pairs(&self, is_wanted: impl Fn(&PairId) -> bool) -> Vec<StoredGame> {
        let begun = self.begun.iter().filter_map(|id| self.games.get(id));
        let wanted = begun.filter(|game| game.spec.pair.as_ref().is_some_and(|pair| is_wanted(&pair.id)));
        wanted.cloned().collect()
    }

    fn reach(&mut self, question: &'static str) -> Result<(), StoreError> {
        let Some(lost) = self.out_of_reach.iter().position(|lost| *lost == question) else { return Ok(()) };
        self.out_of_reach.swap_remove(lost);
        Err(StoreError::Unreachable("it was asked to be".into()))
    }

    fn apply(&mut self, write: &Write) -> Result<Written, Refused> {
        match write {
            Write::AddPlayer { player, password } => self.add_player(player, password.as_ref()),
            Write::AddBot { bot, token, at_most } => self.add_bot(bot, token, *at_most),
            Write::ReplaceGuest { old, new, idle } => self.replace_guest(old, new, *idle),
            Write::SetPassword { player, password, keeps } => {
                self.set_password(player, password, keeps.as_ref())
            }
            Write::Promote { player, name, password } => self.promote(player, name, password),
            Write::NameGuest { player, name } => self.name_guest(player, name),
            Write::Retire { player, name } => self.leave(player, name),
            Write::SetPortrait { player, portrait } => self.set_portrait(player, portrait),
            Write::SetProfile { player, profile } => {
                let player = self.players.get_mut(player).ok_or(Refused::NoSuchPlayer)?;
                player.profile = profile.clone();
                Ok(Written::Done)
            }
            Write::AddToken { token, at_most, password } => {
                self.add_token(token, *at_most, password.as_ref())
            }
            Write::RotateToken { old, new } => self.rotate(old, new),
            Write::RevokeTokens { player, only } => self.revoke(player, only.as_ref()),
            Write::NoteUse { token, at } => {
                if let Some(token) = self.tokens.get_mut(token) {
                    token.used_at = Some(*at);
                }
                Ok(Written::Done)
            }
            Write::StartGame(spec) => self.start(spec),
            Write::Append { game, events } => self.append(game, events),
            Write::Finish { game, events } => self.finish(game, events).map(Written::Settled),
            Write::CountIllegal { game, side, count } => self.count_illegal(game, *side, *count),
            Write::SetConditional { game, side, moves } => self.set_conditional(game, *side, moves.clone()),
            Write::OpenLink(link) => self.open_link(link),
            Write::CloseLink(id) => self.close_link(id),
            Write::StepLearner(step) => self.learners.step(step),
            Write::MeasureVersion { learner, mark, decision } => {
                self.learners.measure(learner, *mark, *decision)
            }
            Write::MeasurePoint { learner, games, decision, at } => {
                self.learners.measure_point(learner, *games, *decision, *at)
            }
            Write::SetTeaching { player, teaching } => self.set_teaching(player, *teaching),
            Write::WithdrawLesson { game } => {
                let place = self.finished.iter().position(|id| id == game).ok_or(Refused::NoSuchGame)?;
                self.learners.withdraw(|number| number == place as u64 + 1);
                Ok(Written::Done)
            }
            Write::RemakeLearner { learner, revision } => self.learners.remake(learner, *revision),
            Write::PlanTournament(_)
            | Write::EnterPlan { .. }
            | Write::LeavePlan { .. }
            | Write::DropPlan(_)
            | Write::AddTournament(_)
            | Write::JoinTournament { .. }
            | Write::QuitTournament { .. }
            | Write::WalkOver { .. }
            | Write::CancelTournament { .. }
            | Write::EndTournament { .. } => self.write_of_tournament(write),
            Write::VoidGame { game, because } => self.void(game, because),
            Write::VoidGames { games, because } => Ok(self.void_all(games, because)),
            Write::Refit(step) => self.refit(step),
            Write::ResetRating(reset) => self.reset_rating(reset),
            Write::TakeMeasure(measure) => self.take(measure),
            Write::SetWebhook(webhook) => self.set_webhook(webhook),
            Write::RemoveWebhook { owner } => self.remove_webhook(owner),
            Write::NoteDelivery(note) => self.note_delivery(note),
            Write::SetMail(mail) => self.set_mail(mail),
            Write::RemoveMail { owner } => self.remove_mail(owner),
            Write::SetNotices { owner, notices } => self.set_notices(owner, *notices),
            Write::AddPush(push) => self.add_push(push),
            Write::RemovePush { owner, endpoint } => self.remove_push(owner, endpoint),
            Write::Follow(follow) => self.follow(follow),
            Write::Unfollow { player, followed } => Ok(self.unfollow(player, followed)),
            Write::Block(block) => self.block(block),
            Write::Unblock { player, blocked } => Ok(self.unblock(player, blocked)),
            Write::TakeVacation { player, vacation } => self.take_vacation(player, *vacation),
            Write::EndVacation { player, at } => {
                self.end_vacation(player, *at);
                Ok(Written::Done)
            }
            Write::SetLeftSessions(sessions) => {
                self.left_sessions.clone_from(sessions);
                Ok(Written::Done)
            }
            Write::AddMailLink(link) => self.add_mail_link(link),
            Write::VerifyMail { digest, at } => self.verify_mail(digest, *at),
            Write::ResetPassword { digest, password, at } => self.reset_password(digest, password, *at),
            Write::UseFactor { player, used } => self.use_factor(player, used),
            Write::AddReport(report) => self.add_report(report),
            Write::HandleReport(verdict) => self.handle_report(verdict),
            Write::GiveOrder(order) => {
                self.note(order.kind.entry(), &order.because);
                Ok(Written::Done)
            }
            Write::Publish(publication) => {
                if publication.revision != self.publication.revision {
                    return Err(Refused::Outdated);
                }
                self.publication = publication.as_ref().clone();
                self.publication.sort();
                Ok(Written::Done)
            }
            Write::StepJudging(step) => self.step_judging(step),
            Write::Forget(forgetting) => Ok(self.forget(forgetting)),
            // It has no rows that take room.
            Write::Pack(_) => Ok(Written::Done),
            Write::AddPuzzles(harvest) => {
                self.puzzles.add(harvest);
                Ok(Written::Done)
            }
            Write::TryPuzzle(attempt) => {
                self.check_player(&attempt.player)?;
                let player = self.players.get(&attempt.player).ok_or(Refused::NoSuchPlayer)?;
                self.puzzles.attempt(attempt, player.kind)
            }
            Write::SolveDaily { player, day } => {
                self.check_player(player)?;
                self.puzzles.solve_daily(player, *day);
                Ok(Written::Done)
            }
            Write::NoteRush(result) => {
                let player = self.players.get(&result.player).ok_or(Refused::NoSuchPlayer)?;
                self.puzzles.note_rush(result, player.kind)
            }
            Write::AddStudy(new) => self.add_study(new),
            Write::ChangeStudy(change) => self.change_study(change),
            Write::DropStudy { study, owner } => self.drop_study(study, owner),
            Write::RemoveStudy { study, because } => self.remove_study(study, because),
            Write::SeeVersion { bot, version, at } => {
                self.check_player(bot)?;
                self.bot_versions.see(bot, version, *at);
                Ok(Written::Done)
            }
            Write::SaveTest { bot, version, test, outcome } => {
                self.check_player(bot)?;
                self.bot_versions.save_test(bot, version, test, *outcome == TestOutcome::Passed);
                Ok(Written::Done)
            }
            Write::AddFault(fault) => {
                self.check_player(&fault.bot)?;
                self.bot_versions.add_fault(fault);
                Ok(Written::Done)
            }
        }
    }

    /// What was fitted rests on games that count no more.
    fn unpublish(&mut self) {
        self.publication = Publication { revision: self.publication.revision + 1, ..Publication::default() };
    }

    /// Games that moved ratings, in the order of their numbers.
    fn rated_games(&self) -> impl DoubleEndedIterator<Item = RatedGame> {
        self.finished_games().filter_map(|(_, game)| RatedGame::of(game))
    }

    fn crosstable(&self, player: &PlayerId, variant: Variant) -> Vec<Against> {
        let mut rows: BTreeMap<PlayerId, BySide<WinDrawLoss>> = BTreeMap::new();
        for game in self.rated_games().filter(|game| game.variant == variant) {
            let Some(side) = Side::BOTH.into_iter().find(|side| game.players[*side] == *player) else {
                continue;
            };
            let score = &mut rows.entry(game.players[side.opponent()].clone()).or_default()[side];
            score.count(SideResult::of(side, game.result.winner()));
        }
        let mut rows: Vec<Against> =
            rows.into_iter().map(|(opponent, score)| Against { opponent, score }).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.score.sum().games()));
        rows
    }

    fn set_teaching(&mut self, player: &PlayerId, teaching: Teaching) -> Result<Written, Refused> {
        self.check_player(player)?;
        let bots = self.players_where(|bot| bot.owner.as_ref() == Some(player));
        let family: HashSet<PlayerId> = bots.into_iter().map(|bot| bot.id).chain([player.clone()]).collect();
        match teaching {
            Teaching::Allowed => self.kept_out.retain(|player| !family.contains(player)),
            Teaching::KeptOut => {
                self.kept_out.extend(family.iter().cloned());
                let of_family = |(_, game): &(u64, &StoredGame)| {
                    Side::BOTH.into_iter().any(|side| family.contains(&game.spec.players[side]))
                };
                let numbers: HashSet<u64> =
                    self.finished_games().filter(of_family).map(|(number, _)| number).collect();
                self.learners.withdraw(|number| numbers.contains(&number));
            }
        }
        Ok(Written::Done)
    }

    fn check_player(&self, id: &PlayerId) -> Result<(), Refused> {
        if self.players.contains_key(id) { Ok(()) } else { Err(Refused::NoSuchPlayer) }
    }

    fn player_by_name(&self, name: &PlayerName) -> Option<&StoredPlayer> {
        self.players.values().find(|player| player.name.key() == name.key())
    }

    fn add_player(&mut self, player: &StoredPlayer, password: Option<&String>) -> Result<Written, Refused> {
        if let Some(owner) = &player.owner {
            self.check_player(owner)?;
        }
        if self.player_by_name(&player.name).is_some() {
            return Err(Refused::NameTaken);
        }
        if self.players.contains_key(&player.id) {
            return Err(Refused::IdTaken);
        }
        self.players.insert(player.id.clone(), player.clone());
        if let Some(password) = password {
            self.passwords.insert(player.id.clone(), password.clone());
        }
        Ok(Written::Done)
    }

    fn name_guest(&mut self, id: &PlayerId, name: &PlayerName) -> Result<Written, Refused> {
        if self.player_by_name(name).is_some_and(|other| other.id != *id) {
            return Err(Refused::NameTaken);
        }
        let guest = self.players.get_mut(id).filter(|player| player.kind == PlayerKind::Guest);
        guest.ok_or(Refused::NoSuchPlayer)?.name = name.clone();
        Ok(Written::Done)
    }

    fn leave(&mut self, id: &PlayerId, name: &PlayerName) -> Result<Written, Refused> {
        if self.players.values().any(|bot| bot.owner.as_ref() == Some(id)) {
            return Err(Refused::OwnsBots);
        }
        let player = self.free_to_rename(id, name, |player| !player.house)?;
        let (id, created_at) = (player.id.clone(), player.created_at);
        *player = StoredPlayer {
            id: id.clone(),
            name: name.clone(),
            kind: PlayerKind::Guest,
            house: false,
            owner: None,
            profile: BotProfile::default(),
            portrait: Portrait::default(),
            created_at,
            ban: None,
            mute: None,
            start: None,
        };
        self.passwords.remove(&id);
        self.puzzles.forget(&id);
        self.links.retain(|link| link.maker != id && link.to.as_ref() != Some(&id));
        self.unpublish();
        self.forget_own(&id);
        self.revoke(&id, None)
    }

    /// A player of the wanted sort, if nobody has the name.
    fn free_to_rename(
        &mut self,
        id: &PlayerId,
        name: &PlayerName,
        is_wanted: impl Fn(&StoredPlayer) -> bool,
    ) -> Result<&mut StoredPlayer, Refused> {
        if self.player_by_name(name).is_some() {
            return Err(Refused::NameTaken);
        }
        self.players.get_mut(id).filter(|player| is_wanted(player)).ok_or(Refused::NoSuchPlayer)
    }

    fn start(&mut self, spec: &GameSpec) -> Result<Written, Refused> {
        self.check_player(&spec.players.first)?;
        self.check_player(&spec.players.second)?;
        if self.games.contains_key(&spec.id) {
            return Err(Refused::IdTaken);
        }
        let game = StoredGame { spec: spec.clone(), events: Vec::new(), settlement: None };
        self.games.insert(spec.id.clone(), game);
        self.begun.push(spec.id.clone());
        self.live.push((spec.id.clone(), UnfinishedGame::new(spec.clone())));
        Ok(Written::Done)
    }

    fn append(&mut self, id: &GameId, events: &[StoredEvent]) -> Result<Written, Refused> {
        let (_, live) = self.live.iter_mut().find(|(live, _)| live == id).ok_or(Refused::NoSuchGame)?;
        live.check_append(events)?;
        live.apply(events);
        let game = self.games.get_mut(id).expect("a live game is a game");
        game.events.extend_from_slice(events);
        Ok(Written::Done)
    }

    fn finish(&mut self, id: &GameId, events: &[StoredEvent]) -> Result<Settlement, Refused> {
        let place = self.live.iter().position(|(live, _)| live == id).ok_or(Refused::NoSuchGame)?;
        let ending = self.live[place].1.check_finish(events)?;
        let (_, mut live) = self.live.remove(place);
        self.illegal.remove(id);
        self.conditional.remove(id);
        live.apply(events);
        let moves = live.moves();
        let ended_at = events.last().map_or(live.spec().started_at, |event| event.at);
        let settlement = self.settle(&Referee { spec: live.spec(), moves: &moves, ending }, ended_at);
        self.finished.push(id.clone());
        let game = self.games.get_mut(id).expect("a live game is a game");
        game.events.extend_from_slice(events);
        game.settlement = Some(settlement.clone());
        Ok(settlement)
    }

    fn settle(&mut self, referee: &Referee<'_>, ended_at: UnixMillis) -> Settlement {
        let number = self.finished.len() as u64 + 1;
        let Referee { spec, moves, ending } = *referee;
        let hash = Some(chain::then(&self.head(), &chain::content(number, spec, moves, ending, ended_at)));
        let players = &referee.spec.players;
        let key = |side: Side| (players[side].clone(), referee.spec.variant);
        let start = |side: Side| self.players.get(&players[side]).and_then(|player| player.start);
        let beginning = |side: Side| RatingRow::beginning(start(side), referee.spec.variant);
        let rows =
            BySide::from_fn(|side| self.ratings.get(&key(side)).copied().unwrap_or_else(|| beginning(side)));
        let remembered = self.last_rated_games(referee.spec);
        let gained =
            BySide::from_fn(|side| self.gains.get(&key(side)).map_or(0, |gains| gains.before(ended_at)));
        match referee.judge(Precedents { rows, remembered: &remembered, gained }) {
            RatingVerdict::Unrated(unrated_because) => {
                Settlement { number, ratings: None, unrated_because, hash }
            }
            RatingVerdict::Rated(changes) => {
                for side in Side::BOTH {
                    self.ratings.insert(key(side), changes[side].row);
                    if changes[side].opponent == OpponentStanding::New {
                        self.gains.entry(key(side)).or_default().note(ended_at, changes[side].entry.delta);
                    }
                }
                let ratings = Some(changes.map(|change| change.entry));
                Settlement { number, ratings, unrated_because: None, hash }
            }
        }
    }

    /// The hash of the last finished game.
    fn head(&self) -> ChainHash {
        let last = self.finished.last().and_then(|id| self.games.get(id)?.settlement.as_ref());
        last.and_then(|settlement| settlement.hash.clone()).unwrap_or_default()
    }

    fn last_rated_games(&self, spec: &GameSpec) -> Vec<GameFingerprint> {
        let newest_first = self.finished.iter().rev().map(|id| &self.games[id]);
        newest_first
            .filter(|game| is_rated(game) && is_between(&game.spec, &spec.players))
            .filter(|game| game.spec.variant == spec.variant)
            .filter_map(|game| {
                let ending = *game.ending()?;
                Some(Referee { spec: &game.spec, moves: &game.moves(), ending }.course())
            })
            .take(REMEMBERED_GAMES as usize)
            .collect()
    }

    fn finished_games(&self) -> impl DoubleEndedIterator<Item = (u64, &StoredGame)> + ExactSizeIterator {
        self.finished.iter().enumerate().map(|(index, id)| (index as u64 + 1, &self.games[id]))
    }

    fn valid_tokens(&self, now: UnixMillis) -> impl Iterator<Item = &StoredToken> {
        self.tokens.values().filter(move |token| token.expires_at.is_none_or(|end| now < end))
    }

    fn players_where(&self, test: impl Fn(&StoredPlayer) -> bool) -> Vec<StoredPlayer> {
        let mut players: Vec<StoredPlayer> =
            self.players.values().filter(|player| test(player)).cloned().collect();
        players.sort_by_key(|player| player.name.key());
        players
    }
}

fn is_rated(game: &StoredGame) -> bool {
    game.settlement.as_ref().is_some_and(|settlement| settlement.ratings.is_some())
}

fn is_between(spec: &GameSpec, players: &BySide<PlayerId>) -> bool {
    let swapped = BySide { first: &players.second, second: &players.first };
    spec.players == *players || spec.players.as_ref() == swapped
}

fn ended_at(game: &StoredGame) -> UnixMillis {
    game.events.last().map_or(game.spec.started_at, |event| event.at)
}

/// What stands behind a store's error here: a fault that was asked for.
fn injected() -> Box<dyn std::error::Error + Send + Sync> {
    "injected fault".into()
}

#[async_trait]
impl Store for MemoryStore {
    fn attempts(&self) -> &dyn AttemptStore {
        &self.attempts
    }

    async fn commit(&self, batch: &[Write]) -> Result<Answers, StoreError> {
        let fault = self.tables().faults.pop_front();
        match fault {
            Some(CommitFault::Full) => return Err(StoreError::Full(injected())),
            Some(CommitFault::Locked) => return Err(StoreError::Locked(injected())),
            Some(CommitFault::Failed) => return Err(StoreError::Failed(injected())),
            Some(CommitFault::Unreachable(parting)) => return Err(self.part(batch, parting)),
            Some(CommitFault::Slow(delay)) => tokio::time::sleep(delay).await,
            None => {}
        }
        let unheard = self.tables().unheard.take();
        if let Some((written, answers)) = unheard
            && written == batch
        {
            return Ok(answers);
        }
        match &self.disk {
            Some(disk) => disk.commit(batch, &|| self.apply(batch)).await,
            None => Ok(self.apply(batch)),
        }
    }

    async fn probe(&self) -> Result<(), StoreError> {
        let faults = &mut self.tables().faults;
        match faults.pop_front_if(|fault| matches!(fault, CommitFault::Full | CommitFault::Locked)) {
            Some(CommitFault::Locked) => Err(StoreError::Locked(injected())),
            Some(_) => Err(StoreError::Full(injected())),
            None => Ok(()),
        }
    }

    async fn back_up(&self, _: &Path, _: Overwrite) -> Result<Backup, BackupError> {
        Err(StoreError::Unusable("a store in memory has no file".into()).into())
    }

    async fn ping(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

#[async_trait]
impl PeopleStore for MemoryStore {
    async fn player(&self, id: &PlayerId) -> Result<Option<StoredPlayer>, StoreError> {
        self.seek().await?;
        Ok(self.tables().players.get(id).cloned())
    }

    async fn player_by_name(&self, name: &PlayerName) -> Result<Option<StoredPlayer>, StoreError> {
        self.seek().await?;
        Ok(self.tables().player_by_name(name).cloned())
    }

    async fn lookalikes(&self, outline: &Outline) -> Result<Vec<StoredPlayer>, StoreError> {
        Ok(self.tables().players_where(|player| Outline::of(player.name.as_str()) == *outline))
    }

    async fn house_bots(&self) -> Result<Vec<StoredPlayer>, StoreError> {
        Ok(self.tables().players_where(|player| player.house))
    }

    async fn bots_of(&self, owner: &PlayerId) -> Result<Vec<StoredPlayer>, StoreError> {
        Ok(self.tables().players_where(|player| player.owner.as_ref() == Some(owner)))
    }

    async fn idle_guests(&self, idle: IdleGuests, limit: u32) -> Result<Vec<PlayerId>, StoreError> {
        let tables = self.tables();
        let guests = tables.players.values().filter(|player| tables.is_idle(player, idle));
        let mut guests: Vec<(UnixMillis, PlayerId)> =
            guests.map(|player| (player.created_at, player.id.clone())).collect();
        guests.sort();
        Ok(guests.into_iter().take(limit as usize).map(|(_, id)| id).collect())
    }

    async fn password(&self, player: &PlayerId) -> Result<Option<String>, StoreError> {
        Ok(self.tables().passwords.get(player).cloned())
    }

    async fn token(&self, digest: &[u8; 32], now: UnixMillis) -> Result<Option<StoredToken>, StoreError> {
        self.seek().await?;
        let mut tables = self.tables();
        tables.reach("token")?;
        Ok(tables.valid_tokens(now).find(|token| token.digest == *digest).cloned())
    }

    async fn token_by_id(&self, id: &TokenId, now: UnixMillis) -> Result<Option<StoredToken>, StoreError> {
        self.seek().await?;
        Ok(self.tables().valid_tokens(now).find(|token| token.id == *id).cloned())
    }

    async fn tokens_of(&self, player: &PlayerId, now: UnixMillis) -> Result<Vec<StoredToken>, StoreError> {
        let tables = self.tables();
        let mut tokens: Vec<StoredToken> =
            tables.valid_tokens(now).filter(|token| token.player == *player).cloned().collect();
        tokens.sort_by(|a, b| (b.created_at, &b.id).cmp(&(a.created_at, &a.id)));
        Ok(tokens)
    }

    async fn players(&self, ids: &[PlayerId]) -> Result<Vec<StoredPlayer>, StoreError> {
        self.seek().await?;
        let tables = self.tables();
        Ok(ids.iter().filter_map(|id| tables.players.get(id).cloned()).collect())
    }
}

#[async_trait]
impl LearnerStore for MemoryStore {
    async fn learner(&self, name: &PlayerName) -> Result<Option<StoredLearner>, StoreError> {
        Ok(self.tables().learners.learner(name))
    }

    async fn learner_versions(&self, name: &PlayerName) -> Result<Vec<StoredVersion>, StoreError> {
        Ok(self.tables().learners.versions(name))
    }

    async fn lessons(&self, name: &PlayerName, after: u64, limit: u32) -> Result<Vec<Lesson>, StoreError> {
        Ok(self.tables().learners.lessons(name, after, limit))
    }

    async fn lessons_of_game(&self, number: u64) -> Result<Vec<(PlayerName, String)>, StoreError> {
        Ok(self.tables().learners.lessons_of_game(number))
    }

    async fn lesson_count(&self, name: &PlayerName, up_to: u64) -> Result<u64, StoreError> {
        Ok(self.tables().learners.lesson_count(name, up_to))
    }

    async fn last_lessons(&self, name: &PlayerName, limit: u32) -> Result<Vec<Lesson>, StoreError> {
        Ok(self.tables().learners.last_lessons(name, limit))
    }

    async fn learner_curve(&self, name: &PlayerName) -> Result<Vec<CurvePoint>, StoreError> {
        Ok(self.tables().learners.curve(name))
    }

    async fn teaching(&self, player: &PlayerId) -> Result<Teaching, StoreError> {
        let is_kept_out = self.tables().kept_out.contains(player);
        Ok(if is_kept_out { Teaching::KeptOut } else { Teaching::Allowed })
    }
}

#[async_trait]
impl BotVersionStore for MemoryStore {
    async fn bot_versions(&self, bot: &PlayerId) -> Result<Vec<BotVersion>, StoreError> {
        Ok(self.tables().bot_versions.versions(bot))
    }

    async fn bot_version(&self, bot: &PlayerId, version: &str) -> Result<Option<BotVersion>, StoreError> {
        self.seek().await?;
        let versions = self.tables().bot_versions.versions(bot);
        Ok(versions.into_iter().find(|known| known.version == version))
    }

    async fn bot_faults(&self, bot: &PlayerId, limit: u32) -> Result<Vec<BotFault>, StoreError> {
        Ok(self.tables().bot_versions.faults(bot, limit))
    }

    async fn newest_faults(&self, limit: u32) -> Result<Vec<BotFault>, StoreError> {
        Ok(self.tables().bot_versions.newest_faults(limit))
    }
}

#[async_trait]
impl AuditStore for MemoryStore {
    async fn audit_finished(
        &self,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Result<StoredGame, DamagedGame>>, StoreError> {
        self.seek().await?;
        let mut tables = self.tables();
        tables.looks.push((after, limit));
        if tables.failing_looks > 0 {
            tables.failing_looks -= 1;
            return Err(StoreError::Failed(injected()));
        }
        let wanted = tables.finished_games().filter(|(number, _)| *number > after);
        Ok(wanted.take(limit as usize).map(|(_, game)| Ok(game.clone())).collect())
    }

    async fn audit_live(&self) -> Result<Vec<Result<StoredGame, DamagedGame>>, StoreError> {
        self.unfinished_games().await
    }

    async fn audit_ratings(&self) -> Result<Vec<(PlayerId, Variant, RatingRow)>, StoreError> {
        let tables = self.tables();
        Ok(tables.ratings.iter().map(|((id, variant), row)| (id.clone(), *variant, *row)).collect())
    }

    async fn audit_studies(
        &self,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Result<StoredStudy, DamagedStudy>>, StoreError> {
        let tables = self.tables();
        let wanted = tables.studies.iter().filter(|study| study.number > after);
        Ok(wanted.take(limit as usize).cloned().map(Ok).collect())
    }

    async fn audit_pages(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::conformance::{Fixture, conformance};

    struct InMemory(std::sync::Arc<MemoryStore>);

    impl Fixture for InMemory {
        async fn create() -> Self {
            Self(std::sync::Arc::new(MemoryStore::new()))
        }

        fn store(&self) -> std::sync::Arc<dyn Store> {
            self.0.clone()
        }

        async fn reopen(self) -> Self {
            self
        }
    }

    conformance!(InMemory);
}
