//! One learner at work: taken up from the store, led through the records, kept in step with what is stored.

mod remaking;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use fourfold_bots::Knowledge;
use tracing::warn;

use self::remaking::{Remaking, restored};
use super::LearnerPlan;
use super::deps::{LearningDeps, LearningError};
use super::fold::{LearnerFold, TeachingGame};
use super::lesson::{SHARE_WINDOW, Teacher, TeacherShare, plays_well_enough, records};
use super::practice::WRITES_REST;
use super::view::{LearnerVersion, LearnerView};
use crate::analysis::background::{MoreWork, Worker, WorkerError};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::player::Identity;
use crate::model::player::PlayerKind;
use crate::play::house::{BotSource, HouseBot, HouseBots, LearnerKnowledge};
use crate::storage::StoreError;
use crate::storage::finished::FinishedGame;
use crate::storage::lessons::{CurvePoint, LearnerPlace, LearnerStep, Lesson, StepKind, StoredVersion};
use crate::storage::record::StoredGame;

use crate::model::time::UnixMillis;
use crate::model::world::on_thread;
use crate::storage::store::{Refused, Teaching, Write};
use crate::storage::writer::WriteError;
use crate::system::part::Part;

/// Lessons that wait to be stored; no more are learnt while moves wait for the writer. With so many a state is stored
/// even if its bytes are not due: moves wait for the transaction, and a network that catches up is written once a
/// second of learning.
const PENDING_MAX: usize = 1_000;

/// Games that are learnt at a time on the thread, so that it never works for long at a stretch.
const CHUNK: usize = 16;

/// Bytes of state that a learner stores in a second on average: a large one is stored less often than it learns, and
/// what was not stored is learnt again after a crash. A pattern memory could be stored every second, a network of four
/// megabytes every two minutes, which loses some hundred lessons of a millisecond or two.
const STATE_BYTES_PER_SECOND: u64 = 32 << 10;

/// A learner stores nothing for so many times as long as its last step took to store. There are four, so of the moves
/// of others no more than one in two hundred finds a step before it, and the slowest in a hundred are not those.
const STEP_REST: u32 = 4 * WRITES_REST;

/// But no longer than this, however slow the disk is: what was learnt since is learnt again after a crash.
const STEP_REST_MAX: Duration = Duration::from_mins(2);

/// Points of a curve lie some five percent apart.
const POINTS_PER_DOUBLING: f64 = 14.0;

/// How all learners play, in one word.
const STYLE: &str = "learning";

/// What all learners ask of the records, which is read once for all of them: every question is a trip to a thread of
/// the store, and moves wait behind it for the processor.
#[derive(Debug, Default)]
pub(super) struct RoundCache {
    /// Who players are, as far as learning is concerned; this never changes.
    teachers: HashMap<PlayerId, Teacher>,
    /// Whether accounts keep their games out, as of this round.
    teaching: HashMap<PlayerId, Teaching>,
    /// Whether somebody had to do without the writer in this round, as moves wait for it.
    was_without_room: bool,
}

/// A learner at work.
#[derive(Debug)]
pub(super) struct LearnerTask {
    pub(super) plan: LearnerPlan,
    pub(super) live: Identity,
    /// Away while it learns on the thread.
    fold: Option<LearnerFold>,
    pub(super) place: LearnerPlace,
    /// Looked at, learnt and not stored yet.
    pending: Option<Pending>,
    /// When its state may be stored again.
    save_not_before: Option<tokio::time::Instant>,
    /// Whether the stored state is to be made again from its lessons.
    stale: bool,
    /// That, on its way.
    remaking: Option<Remaking>,
    /// Whether the judge, whose word the operator wants, has not come to the next game.
    waits: bool,
    resting_until: Option<tokio::time::Instant>,
    pub(super) choking: Choking,
    /// Whether the store has it at all.
    is_stored: bool,
    share: TeacherShare,
    knowledge: LearnerKnowledge,
    pub(super) versions: Vec<LearnerVersion>,
    /// Lessons after which the live version was measured last, and what it came to.
    pub(super) measured: Option<(u64, u16)>,
}

/// What was learnt since the last step that was stored.
#[derive(Debug, Default)]
struct Pending {
    covered: u64,
    lessons: Vec<Lesson>,
    versions: Vec<StoredVersion>,
}

/// What makes a learner panic. A game that is left out is no lesson, so what is stored stays what its lessons come to.
#[derive(Debug, Default)]
pub(super) struct Choking {
    /// Up to this finished game it learns them one by one.
    careful_up_to: u64,
    /// These it leaves out.
    set_aside: BTreeSet<u64>,
    /// A game that makes it panic.
    #[cfg(test)]
    pub(super) chokes_on: Option<u64>,
}

impl LearnerTask {
    /// Takes a learner up as it is stored, with its accounts in the line-up. `None` if its name belongs to a player.
    pub(super) async fn take_up(
        plan: LearnerPlan,
        deps: &LearningDeps,
    ) -> Result<Option<Self>, LearningError> {
        let store = deps.store.as_ref();
        let Some(live) = HouseBots::account(&plan.name, plan.about, None, store, &deps.writer).await? else {
            return Ok(None);
        };
        let stored = store.learner(&plan.name).await?;
        let (fold, stale) = restored(&plan, stored.as_ref())?;
        let knowledge = LearnerKnowledge::new(fold.knowledge());
        let place = stored.as_ref().map(|stored| stored.place).unwrap_or_default();
        let mut task = Self {
            plan,
            live,
            fold: Some(fold),
            place,
            pending: None,
            save_not_before: None,
            stale,
            remaking: None,
            waits: false,
            resting_until: None,
            choking: Choking::default(),
            is_stored: stored.is_some(),
            share: TeacherShare::default(),
            knowledge,
            versions: Vec::new(),
            measured: None,
        };
        task.measured = task.last_measured(deps).await?;
        let versions = store.learner_versions(&task.plan.name).await?;
        task.join_live(deps);
        for version in &versions {
            task.join_version(version, deps).await?;
        }
        // A point may have been added to the settings.
        let frozen = versions.iter().map(|version| (version.mark, version.games));
        let open = open_marks(&deps.settings.marks, frozen);
        task.stale |= stored.is_some() && open.first().is_some_and(|mark| *mark <= task.games());
        task.show(deps);
        Ok(Some(task))
    }

    /// Lessons learnt.
    pub(super) fn games(&self) -> u64 {
        self.fold.as_ref().map_or(0, |fold| fold.games)
    }

    /// Whether it knows something; not while it is made again.
    pub(super) fn has_fold(&self) -> bool {
        self.fold.is_some() && !self.stale
    }

    /// Whether it is on its way from its first lesson on.
    pub(super) fn is_being_made_again(&self) -> bool {
        self.remaking.is_some()
    }

    /// Whether it waits for the judge.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// Account and knowledge of all frozen versions.
    pub(super) fn versions(&self) -> &[LearnerVersion] {
        &self.versions
    }

    /// What it knows now.
    pub(super) fn knowledge(&self) -> Arc<dyn Knowledge> {
        self.knowledge.now()
    }

    /// Whether the store has it at all.
    pub(super) fn is_stored(&self) -> bool {
        self.is_stored
    }

    /// How far it has come, stored or not.
    fn covered(&self) -> u64 {
        self.pending.as_ref().map_or(self.place.covered, |pending| pending.covered)
    }

    /// Looks at the next finished games, learns the lessons among them, and stores how far it came.
    pub(super) async fn go_on(
        &mut self,
        deps: &LearningDeps,
        worker: &Worker,
        cache: &mut RoundCache,
    ) -> Result<MoreWork, LearningError> {
        if !self.has_fold() {
            self.make_again(deps, worker, cache).await?;
            if !self.has_fold() {
                return Ok(MoreWork::Perhaps);
            }
        }
        if self.is_pending_full() && !cache.has_room(deps) {
            return Ok(MoreWork::No);
        }
        // When it has caught up, there is time for other things.
        let games = deps.writer.finished().page(self.covered()).await?;
        let look = self.look_at(&games, deps, cache).await?;
        self.waits = look.waits;
        if look.covered == self.covered() && self.is_stored {
            return if self.is_save_due(deps, cache) {
                self.save(deps, worker).await
            } else {
                Ok(MoreWork::No)
            };
        }
        let is_behind = games.is_behind && !look.waits;
        self.learn(look.taught, look.covered, deps, worker).await?;
        if self.is_save_due(deps, cache) {
            self.save(deps, worker).await?;
        }
        self.show(deps);
        let is_lost = !self.has_fold();
        Ok(if is_behind || is_lost { MoreWork::Perhaps } else { MoreWork::No })
    }

    /// Which of these games are lessons.
    async fn look_at(
        &mut self,
        games: &[FinishedGame],
        deps: &LearningDeps,
        cache: &mut RoundCache,
    ) -> Result<NextLessons, StoreError> {
        let mut look = NextLessons { taught: Vec::new(), covered: self.covered(), waits: false };
        for loaded in games {
            let game = match loaded {
                Ok(game) => game,
                Err(damaged) => {
                    look.covered = damaged.number.unwrap_or(look.covered);
                    continue;
                }
            };
            let number = game.settlement.as_ref().map_or(look.covered, |settled| settled.number);
            let records = records(game, self.plan.watches, &self.live.id);
            if !records.is_empty() && !self.choking.set_aside.contains(&number) {
                let teachers = cache.teachers(game, deps).await?;
                match admits(game, &teachers, deps).await? {
                    None => {
                        look.waits = true;
                        break;
                    }
                    Some(true) if self.share.allows(&teachers) && !cache.keeps_out(game, deps).await? => {
                        self.share.add(teachers);
                        look.taught.push((number, records));
                    }
                    Some(_) => {}
                }
            }
            look.covered = number;
        }
        Ok(look)
    }

    async fn learn(
        &mut self,
        taught: Vec<TeachingGame>,
        covered: u64,
        deps: &LearningDeps,
        worker: &Worker,
    ) -> Result<(), LearningError> {
        let mut pending = self.pending.take().unwrap_or_default();
        let frozen = self.versions.iter().map(|version| (version.mark, version.games));
        let mut marks = open_marks(&deps.settings.marks, frozen);
        for version in &pending.versions {
            marks.remove(&version.mark);
        }
        let now = UnixMillis::now();
        let size = if self.place.covered < self.choking.careful_up_to { 1 } else { CHUNK };
        let mut chunks = taught.chunks(size).map(<[TeachingGame]>::to_vec).peekable();
        let mut is_first = true;
        while chunks.peek().is_some() || is_first {
            is_first = false;
            let chunk = chunks.next().unwrap_or_default();
            let Some(mut fold) = self.fold.take() else { break };
            let due = marks.clone();
            let numbers: Vec<u64> = chunk.iter().map(|(number, _)| *number).collect();
            #[cfg(test)]
            let chokes_on = self.choking.chokes_on;
            let job = move || {
                #[cfg(test)]
                assert!(chunk.iter().all(|(number, _)| Some(*number) != chokes_on), "broken on purpose");
                let learnt = fold.learn(&chunk, &due, now);
                let knowledge = fold.knowledge();
                (fold, learnt, knowledge)
            };
            let (fold, learnt, knowledge) =
                worker.run(job).await.inspect_err(|error| self.choked(*error, &numbers, deps))?;
            self.fold = Some(fold);
            self.knowledge.replace(knowledge);
            pending.lessons.extend(learnt.lessons);
            pending.versions.extend(learnt.versions);
        }
        pending.covered = covered;
        self.pending = Some(pending);
        Ok(())
    }

    /// Notes that learning from these games came to nothing. If one of them made it panic, it is found by learning them
    /// one by one after the state is taken up again, and left out.
    fn choked(&mut self, error: WorkerError, numbers: &[u64], deps: &LearningDeps) {
        match error {
            WorkerError::Gone => return,
            WorkerError::Panicked => deps.supervision.panicked(Part::Learners),
        }
        match numbers {
            [number] => {
                self.choking.set_aside.insert(*number);
                let what = format!("{} leaves out the finished game number {number}", self.plan.name);
                deps.supervision.set_aside(Part::Learners, &what);
            }
            several => self.choking.careful_up_to = several.last().copied().unwrap_or_default(),
        }
    }

    /// Whether as much was learnt as may wait to be stored.
    fn is_pending_full(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.lessons.len() >= PENDING_MAX)
    }

    /// When it can go on after a failure, or what it has learnt is to be stored. That may be over: then it waits for
    /// room.
    pub(super) fn wakes_at(&self) -> Option<tokio::time::Instant> {
        self.resting_until.max(self.save_not_before.filter(|_| self.pending.is_some()))
    }

    /// Whether there is something to store, and it is very much or the last time is long enough ago for so large a
    /// state. Versions are stored as soon as they are frozen, nothing while games wait for the writer.
    fn is_save_due(&self, deps: &LearningDeps, cache: &mut RoundCache) -> bool {
        let Some(pending) = &self.pending else { return false };
        if !cache.has_room(deps) {
            return false;
        }
        let is_affordable = self.save_not_before.is_none_or(|at| tokio::time::Instant::now() >= at);
        is_affordable || self.is_pending_full() || !pending.versions.is_empty()
    }

    /// Stores what was learnt since the last time, in one transaction.
    pub(super) async fn save(
        &mut self,
        deps: &LearningDeps,
        worker: &Worker,
    ) -> Result<MoreWork, LearningError> {
        if self.pending.is_none() {
            return Ok(MoreWork::No);
        }
        let Some(fold) = self.fold.take() else { return Ok(MoreWork::No) };
        let (fold, state) = worker
            .run(move || {
                let state = fold.state();
                (fold, state)
            })
            .await?;
        let games = fold.games;
        self.fold = Some(fold);
        let Some(pending) = &self.pending else { return Ok(MoreWork::No) };
        let bytes = state.len();
        let point = self.point(games, pending.lessons.len() as u64, deps).await?;
        let versions = pending.versions.clone();
        let learnt = pending.lessons.len();
        let step = LearnerStep {
            name: self.plan.name.clone(),
            spec: self.plan.spec.to_string(),
            from: self.place,
            kind: StepKind::Follow(pending.lessons.clone()),
            covered: pending.covered,
            games,
            state,
            versions: versions.clone(),
            point,
        };
        let place = LearnerPlace { covered: step.covered, ..self.place };
        let asked = tokio::time::Instant::now();
        if !self.store_step(step, deps).await? {
            return Ok(MoreWork::Perhaps);
        }
        let rest = (asked.elapsed() * STEP_REST).min(STEP_REST_MAX);
        deps.metrics.learnt(self.plan.name.as_str(), learnt);
        self.place = place;
        self.pending = None;
        let paced = Duration::from_millis(bytes as u64 * 1_000 / STATE_BYTES_PER_SECOND);
        self.save_not_before = Some(tokio::time::Instant::now() + paced.max(rest));
        self.publish(&versions, deps).await?;
        Ok(MoreWork::Perhaps)
    }

    /// Whether the step was stored; if not, the learner is to be taken up again from the store.
    async fn store_step(&mut self, step: LearnerStep, deps: &LearningDeps) -> Result<bool, LearningError> {
        match deps.writer.write(Write::StepLearner(Box::new(step))).await {
            Ok(_) => {
                self.is_stored = true;
                Ok(true)
            }
            Err(WriteError::Refused(Refused::LearnerElsewhere)) => {
                self.fold = None;
                self.pending = None;
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A point of the curve, when the number of lessons has grown by some percent since the last one.
    async fn point(
        &self,
        games: u64,
        new: u64,
        deps: &LearningDeps,
    ) -> Result<Option<CurvePoint>, StoreError> {
        let stage = |games| stage(games, POINTS_PER_DOUBLING);
        if stage(games) == stage(games - new.min(games)) {
            return Ok(None);
        }
        let row = deps.store.rating(&self.live.id, fourfold_engine::Variant::STANDARD).await?;
        let standing = row.map(|row| row.standing).filter(|standing| !standing.is_provisional());
        let rating = standing.map(|standing| standing.rating);
        Ok(Some(CurvePoint { games, rating, decision: None, at: UnixMillis::now() }))
    }

    /// Whether it learns from the next game: it knows what it knew, and nothing failed.
    pub(super) fn is_well(&self, now: tokio::time::Instant) -> bool {
        self.has_fold() && !self.is_resting(now)
    }

    /// Whether it is left alone for now.
    pub(super) fn is_resting(&self, now: tokio::time::Instant) -> bool {
        self.resting_until.is_some_and(|at| now < at)
    }

    /// Leaves it alone until then.
    pub(super) fn rest_until(&mut self, at: tokio::time::Instant) {
        self.resting_until = Some(at);
    }

    /// Fills the look back on teachers from the lessons that are stored.
    pub(super) async fn look_back(
        &mut self,
        deps: &LearningDeps,
        cache: &mut RoundCache,
    ) -> Result<(), StoreError> {
        self.share = TeacherShare::default();
        let window = u32::try_from(SHARE_WINDOW).unwrap_or(u32::MAX);
        let lessons = deps.store.last_lessons(&self.plan.name, window).await?;
        for lesson in lessons.iter().rev() {
            let games = deps.store.audit_finished(lesson.number.saturating_sub(1), 1).await?;
            if let Some(Ok(game)) = games.first() {
                self.share.add(cache.teachers(game, deps).await?);
            }
        }
        Ok(())
    }

    // ---- what others see ----

    async fn publish(&mut self, frozen: &[StoredVersion], deps: &LearningDeps) -> Result<(), LearningError> {
        for version in frozen {
            self.join_version(version, deps).await?;
        }
        self.show(deps);
        Ok(())
    }

    fn join_live(&self, deps: &LearningDeps) {
        let knowledge = self.knowledge.clone();
        deps.house.join(self.member(self.live.clone(), self.plan.about.to_owned(), knowledge));
    }

    /// The learner as a bot of the house that plays by this knowledge.
    fn member(&self, identity: Identity, about: String, knowledge: LearnerKnowledge) -> HouseBot {
        HouseBot {
            identity,
            source: BotSource::Learner(self.plan.spec.clone(), knowledge),
            style: STYLE,
            strength: None,
            level: None,
            elo: None,
            about,
        }
    }

    /// Gives a frozen version its account and its place in the line-up; if it has them, its new knowledge.
    async fn join_version(
        &mut self,
        version: &StoredVersion,
        deps: &LearningDeps,
    ) -> Result<(), LearningError> {
        let (plan, state) = (self.plan.clone(), version.state.clone());
        let recalled = on_thread(move || LearnerFold::recall(&plan, &state)).await;
        let recalled = match recalled.map_err(|_| WorkerError::Panicked)? {
            Ok(known) => known,
            Err(error) => {
                // It is made again from its lessons.
                warn!(learner = %self.plan.name, mark = version.mark, error = %error, "a version cannot be read");
                self.stale = true;
                return Ok(());
            }
        };
        if let Some(known) = self.versions.iter_mut().find(|known| known.mark == version.mark) {
            known.knowledge.replace(recalled);
            known.games = version.games;
            known.decision = version.decision;
            return Ok(());
        }
        let name: PlayerName = self.plan.name.version(version.mark);
        let about = format!("{} after {} games, frozen", self.plan.name, version.mark);
        let account = HouseBots::account(&name, &about, None, deps.store.as_ref(), &deps.writer).await?;
        let Some(identity) = account else { return Ok(()) };
        let knowledge = LearnerKnowledge::new(recalled);
        self.versions.push(LearnerVersion {
            mark: version.mark,
            games: version.games,
            name,
            player: identity.id.clone(),
            decision: version.decision,
            knowledge: knowledge.clone(),
        });
        self.versions.sort_by_key(|version| version.mark);
        deps.house.join(self.member(identity, about, knowledge));
        Ok(())
    }

    pub(super) fn show(&self, deps: &LearningDeps) {
        deps.learning.show(LearnerView {
            name: self.plan.name.clone(),
            player: self.live.id.clone(),
            about: self.plan.about,
            watches: self.plan.watches,
            games: self.games(),
            is_remade: self.stale && self.games() == 0,
            decision: self.measured.map(|(_, decision)| decision),
            covered: self.covered(),
            stored: self.place.covered,
            knowledge: self.knowledge.clone(),
            versions: self.versions.clone(),
        });
    }
}

/// Numbers of lessons after which a version is to be frozen: those that are wanted and not there yet, and those of
/// versions that hold fewer lessons since some were withdrawn. Frozen versions are given with mark and lessons.
fn open_marks(wanted: &BTreeSet<u64>, frozen: impl Iterator<Item = (u64, u64)>) -> BTreeSet<u64> {
    let mut open = wanted.clone();
    for (mark, games) in frozen {
        if games < mark {
            open.insert(mark);
        } else {
            open.remove(&mark);
        }
    }
    open
}

/// What a learner finds in the next finished games.
struct NextLessons {
    taught: Vec<TeachingGame>,
    /// The number of the last game that was looked at.
    covered: u64,
    /// The game after that is not judged yet.
    waits: bool,
}

/// Whether a game's players decide well enough to teach. `None` if the judge, whose word the operator wants, has not
/// come to it.
async fn admits(
    game: &StoredGame,
    teachers: &[Teacher],
    deps: &LearningDeps,
) -> Result<Option<bool>, StoreError> {
    let accuracy_min = deps.settings.accuracy_min;
    if accuracy_min == 0 || teachers.iter().all(|teacher| *teacher == Teacher::House) {
        return Ok(Some(true));
    }
    let judgement = deps.store.judgement(&game.spec.id).await?;
    Ok(judgement.map(|judgement| plays_well_enough(judgement, teachers, accuracy_min)))
}

/// Grows by one so often while games double: for points that lie evenly on a logarithmic axis.
pub(super) fn stage(games: u64, per_doubling: f64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few hundred at most"
    )]
    let stage = ((games as f64 + 1.0).log2() * per_doubling) as u64;
    stage
}

impl RoundCache {
    /// Forgets what may have changed since the last round. A step that was made of something older is refused by the
    /// store: every withdrawal gives all learners a new revision.
    pub(super) fn begin_round(&mut self) {
        self.teaching.clear();
        self.was_without_room = false;
    }

    /// Whether the writer has room for what nobody waits for. If not, it is to be asked again: nobody tells when it
    /// has.
    pub(super) fn has_room(&mut self, deps: &LearningDeps) -> bool {
        let has_room = !deps.writer.is_congested();
        self.was_without_room |= !has_room;
        has_room
    }

    /// Whether somebody was told in this round that the writer has no room.
    pub(super) fn was_without_room(&self) -> bool {
        self.was_without_room
    }

    /// Who teaches by this game.
    async fn teachers(&mut self, game: &StoredGame, deps: &LearningDeps) -> Result<Vec<Teacher>, StoreError> {
        let players = &game.spec.players;
        let mut teachers = Vec::new();
        for id in [&players.first, &players.second] {
            if !self.teachers.contains_key(id) {
                let player = deps.store.player(id).await?;
                let missing = || StoreError::Corrupt(format!("there is no player {id}"));
                let player = player.ok_or_else(missing)?;
                let teacher = match player.kind {
                    _ if player.house => Teacher::House,
                    PlayerKind::Guest => Teacher::Guests,
                    PlayerKind::Human | PlayerKind::Bot => Teacher::Family(player.owner.unwrap_or(player.id)),
                };
                // Guests are many and seen once.
                if teacher == Teacher::Guests {
                    teachers.push(teacher);
                    continue;
                }
                self.teachers.insert(id.clone(), teacher);
            }
            teachers.extend(self.teachers.get(id).cloned());
        }
        Ok(teachers)
    }

    /// Whether one of the players keeps games out. An account speaks for its bots, whenever they came.
    async fn keeps_out(&mut self, game: &StoredGame, deps: &LearningDeps) -> Result<bool, StoreError> {
        let players = &game.spec.players;
        for id in [&players.first, &players.second] {
            let account = match self.teachers.get(id) {
                Some(Teacher::House) => continue,
                Some(Teacher::Family(account)) => account,
                Some(Teacher::Guests) | None => id,
            };
            let teaching = if let Some(teaching) = self.teaching.get(account) {
                *teaching
            } else {
                let teaching = deps.store.teaching(account).await?;
                self.teaching.insert(account.clone(), teaching);
                teaching
            };
            if teaching == Teaching::KeptOut {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
