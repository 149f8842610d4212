//! What commands tell of the learners of the house: what each knows, how it came there, and why it moved as it did.

use std::sync::Arc;

use fourfold_arena::stats::normal::Z95;
use fourfold_bots::{Knowledge, KnownPattern};
use fourfold_engine::{BySide, Column, Variant};

use super::execute::{Control, no_game, player, with_causes};
use super::request::{
    ChangedMoveShown, ControlAnswer, ControlRefusal, FileForm, LearnerShown, LearnerVerified, LessonShown,
    MoveShown, PatternShown, PointShown, ReasonShown, RefusalKind, VersionShown,
};
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::population::Population;
use crate::study::learning;
use crate::study::learning::changes::ChangedMove;
use crate::study::learning::lesson_history::{LessonsWanted, PastLesson, last_lessons, said_in};
use crate::study::learning::verify::{LearnerReport, Remedy};

use crate::model::rating::elo::MilliElo;
use crate::protocol::terms::WireRating;
use crate::storage::StoreError;
use crate::storage::lessons::CurvePoint;
use crate::storage::published::Publication;
use crate::storage::store::Write;
use crate::study::learning::LearnerPlan;

pub(super) async fn verify(control: &Control) -> Result<ControlAnswer, ControlRefusal> {
    let reports = learning::verify::verify(control.store.as_ref()).await?;
    Ok(ControlAnswer::LearnersVerified(reports.into_iter().map(LearnerVerified::from).collect()))
}

/// Checks all learners; those that can be made again are marked for it.
pub(super) async fn repair(control: &Control) -> Result<ControlAnswer, ControlRefusal> {
    let mut verified = Vec::new();
    let mut is_marked = false;
    for mut report in learning::verify::verify(control.store.as_ref()).await? {
        if report.remedy == Remedy::Repair {
            let (learner, revision) = (report.name.clone(), report.revision);
            match control.writer.write(Write::RemakeLearner { learner, revision }).await {
                Ok(_) => {
                    tracing::info!(learner = %report.name, "a learner is made again from its lessons");
                    report.remedy = Remedy::Daemon;
                    is_marked = true;
                }
                // The others count all the same, and one may ask again.
                Err(error) => report.findings.push(format!("not marked: {}", with_causes(&error))),
            }
        }
        verified.push(LearnerVerified::from(report));
    }
    // All learners then look at the store again, and learn again what they had not stored.
    if is_marked {
        control.learning.lessons_withdrawn();
    }
    Ok(ControlAnswer::LearnersVerified(verified))
}

impl From<LearnerReport> for LearnerVerified {
    fn from(report: LearnerReport) -> Self {
        let LearnerReport { name, games, versions, findings, remedy, revision: _ } = report;
        Self { name, games, versions, findings, remedy }
    }
}

fn unknown(name: &str) -> ControlRefusal {
    let names: Vec<String> = learning::plans().iter().map(|plan| plan.name.to_string()).collect();
    let message = format!(
        "no learner of the house is called `{name}`: there are {}, and versions that are frozen, such as memory@300",
        names.join(", ")
    );
    ControlRefusal::new(RefusalKind::NoSuchLearner, message)
}

/// The learner or version of this name: games learnt, and what it knows.
async fn learner(
    control: &Control,
    name: &str,
) -> Result<(PlayerName, u64, Arc<dyn Knowledge>), ControlRefusal> {
    let parsed: PlayerName = name.parse().map_err(|_| unknown(name))?;
    let (games, knowledge) =
        learning::known(control.store.as_ref(), &parsed).await?.ok_or_else(|| unknown(name))?;
    Ok((parsed, games, knowledge))
}

pub(super) async fn export(control: &Control, name: &str) -> Result<ControlAnswer, ControlRefusal> {
    let (_, _, knowledge) = learner(control, name).await?;
    let form = if knowledge.player(0).knowledge().is_some() { FileForm::Xml } else { FileForm::Network };
    Ok(ControlAnswer::LearnerFile { form, bytes: knowledge.file() })
}

pub(super) async fn show(control: &Control, name: &str) -> Result<ControlAnswer, ControlRefusal> {
    let (name, games, knowledge) = learner(control, name).await?;
    let live = learning::plans().into_iter().find(|plan| plan.name.key() == name.key());
    let pattern = |pattern: KnownPattern| PatternShown {
        pattern: pattern.name,
        seen: pattern.counts.seen,
        won: pattern.counts.won,
        lost: pattern.counts.lost,
        weighting: pattern.weight,
    };
    let patterns = learning::patterns(&knowledge).await?.into_iter().map(pattern).collect();
    let (versions, curve, lessons) = match &live {
        Some(plan) => (
            ages(control, plan, games).await?,
            control.store.learner_curve(&plan.name).await?.into_iter().map(PointShown::from).collect(),
            lessons(control, &plan.name).await?,
        ),
        None => (version(control, &name).await?, Vec::new(), Vec::new()),
    };
    Ok(ControlAnswer::Learner(LearnerShown {
        name: live.map_or(name, |plan| plan.name),
        games,
        versions,
        curve,
        lessons,
        keeps_counts: knowledge.keeps_counts(),
        pattern_count: knowledge.pattern_count(),
        patterns,
    }))
}

/// The frozen versions of a learner by what they had learnt, then the live one.
async fn ages(control: &Control, plan: &LearnerPlan, games: u64) -> Result<Vec<VersionShown>, StoreError> {
    let publication = control.store.publication().await?;
    let curve = control.store.learner_curve(&plan.name).await?;
    let measured = curve.iter().rev().find_map(|point| point.decision);
    let versions = control.store.learner_versions(&plan.name).await?;
    let frozen = versions.iter().map(|it| (plan.name.version(it.mark), it.mark, it.decision));
    let mut ages = Vec::new();
    for (name, games, decision) in frozen.chain([(plan.name.clone(), games, measured)]) {
        ages.push(age(control, &publication, name, games, decision).await?);
    }
    Ok(ages)
}

/// The frozen version of this name.
async fn version(control: &Control, name: &PlayerName) -> Result<Vec<VersionShown>, StoreError> {
    let publication = control.store.publication().await?;
    for plan in learning::plans() {
        for version in control.store.learner_versions(&plan.name).await? {
            let own = plan.name.version(version.mark);
            if own.key() == name.key() {
                return Ok(vec![age(control, &publication, own, version.mark, version.decision).await?]);
            }
        }
    }
    Ok(Vec::new())
}

async fn age(
    control: &Control,
    publication: &Publication,
    name: PlayerName,
    games: u64,
    decision: Option<u16>,
) -> Result<VersionShown, StoreError> {
    let row = match control.store.player_by_name(&name).await? {
        Some(player) => {
            control.store.rating(&player.id, Variant::STANDARD).await?.map(|row| (player.id, row))
        }
        None => None,
    };
    let published = row.as_ref().and_then(|(player, row)| {
        let (elo, pm95) = published(publication, player)?;
        Some(WireRating { elo, pm95, provisional: row.standing.is_provisional() })
    });
    let rated_games = row.map_or(0, |(_, row)| row.standing.games);
    Ok(VersionShown { name, games, published, rated_games, decision: decision.map(share) })
}

/// A bot's rating by the fit between bots, or where it has met none by that of all, and half the width of the interval
/// that holds 95 %.
fn published(publication: &Publication, player: &PlayerId) -> Option<(i32, u32)> {
    let of_list = |population: Population| {
        let mut ratings = publication.ratings.iter();
        ratings
            .find(|it| it.variant == Variant::STANDARD && it.population == population && it.player == *player)
    };
    let rating = of_list(Population::Bots).or_else(|| of_list(Population::All))?;
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "some hundred points")]
    let pm95 = MilliElo((Z95 * rating.error as f64).round() as i64).to_elo();
    Some((rating.elo.to_elo(), u32::try_from(pm95).unwrap_or_default().max(1)))
}

async fn lessons(control: &Control, name: &PlayerName) -> Result<Vec<LessonShown>, StoreError> {
    let lessons = last_lessons(control.store.as_ref(), name, LessonsWanted::SHOWN).await?;
    Ok(lessons.into_iter().map(LessonShown::from).collect())
}

impl From<PastLesson> for LessonShown {
    fn from(taught: PastLesson) -> Self {
        let PastLesson { number, game, changes } = taught;
        let again = changes.changed - changes.new;
        let new = changes.named.into_iter().filter(|change| change.before.is_none());
        let new = new.map(|change| change.pattern).collect();
        let players = game.as_ref().map(|game| {
            let BySide { first, second } = &game.players;
            [first.clone(), second.clone()]
        });
        let result = game.as_ref().map(|game| game.result);
        let changed_moves = changes.changed_moves;
        let rethought = changed_moves.map(|turns| turns.into_iter().map(ChangedMoveShown::from).collect());
        Self { number, game: game.map(|game| game.id), players, result, new, again, rethought }
    }
}

impl From<ChangedMove> for ChangedMoveShown {
    fn from(ChangedMove { ply, before, after }: ChangedMove) -> Self {
        let numbers = |columns: Vec<Column>| columns.into_iter().map(Column::number).collect();
        Self { ply, before: numbers(before), after: numbers(after) }
    }
}

impl From<CurvePoint> for PointShown {
    fn from(point: CurvePoint) -> Self {
        let CurvePoint { games, rating, decision, at: _ } = point;
        Self { games, live_elo: rating.map(MilliElo::to_elo), decision: decision.map(share) }
    }
}

fn share(thousandths: u16) -> f64 {
    f64::from(thousandths) / 1_000.0
}

pub(super) async fn reasons(
    control: &Control,
    name: &str,
    game: &GameId,
) -> Result<ControlAnswer, ControlRefusal> {
    let bot = player(control, name, "bot").await?;
    let game = control.store.game(game).await?.ok_or_else(|| no_game(game))?;
    let BySide { first, second } = &game.spec.players;
    if bot.id != *first && bot.id != *second {
        let message = format!("{} did not play game {}", bot.name, game.spec.id);
        return Err(ControlRefusal::new(RefusalKind::Conflict, message));
    }
    if !bot.house {
        let message = format!("{} is no bot of the house: what it thinks is its owner's own", bot.name);
        return Err(ControlRefusal::new(RefusalKind::Conflict, message));
    }
    let said = said_in(control.store.as_ref(), &game, BySide { first: false, second: false }).await?;
    let own = said.into_iter().filter(|said| game.spec.players[said.side] == bot.id);
    let shown = own.map(|said| MoveShown {
        ply: said.ply,
        column: said.column.number(),
        reasons: said.reasons.into_iter().map(ReasonShown::from).collect(),
    });
    Ok(ControlAnswer::MoveReasons(shown.collect()))
}
