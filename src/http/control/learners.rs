//! The learners of the house: what each knows and how it came there, as a file too, and whether that is what its
//! lessons teach.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{Response, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use bytes::Bytes;
use fourfold_bots::{Knowledge, KnownPattern};
use fourfold_engine::{BySide, Variant};
use serde::{Deserialize, Serialize};

use super::ratings::published;
use super::refusal::Refusal;
use super::{Control, Route};
use crate::http::answer::List;
use crate::http::api::learning::ChangedMoveJson;
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::PathPart;
use crate::model::ids::{GameId, PlayerName};
use crate::model::rating::elo::MilliElo;
use crate::model::result::GameResult;
use crate::protocol::terms::WireRating;
use crate::storage::StoreError;
use crate::storage::lessons::CurvePoint;
use crate::storage::published::Publication;
use crate::storage::store::Write;
use crate::study::learning::lesson_history::{LessonsWanted, PastLesson, last_lessons};
use crate::study::learning::verify::{LearnerReport, Remedy};
use crate::study::learning::{self, LearnerPlan};
use crate::system::causes::with_causes;

/// The field of a refusal that says that the arena has no learner of this name.
pub(super) const NO_LEARNER: &str = "learner";

/// What a pattern memory's file is.
const XML: &str = "application/xml";

/// What a network's file is.
const NETWORK: &str = "application/octet-stream";

/// What is in the file of a learner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileForm {
    /// A pattern memory as the XML of 2004, for `memory:file=` and `memory-windows:file=`.
    Xml,
    /// A network, for `ntuple:file=`.
    Network,
}

/// What a learner knows, as a file that bots of its kind play by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LearnerFile {
    pub(crate) form: FileForm,
    pub(crate) bytes: Bytes,
}

impl LearnerFile {
    /// The file in an answer, if it is one.
    pub(super) fn from_answer(answer: Response<Bytes>) -> Option<Self> {
        let form = match answer.headers().get(header::CONTENT_TYPE)?.to_str().ok()? {
            XML => FileForm::Xml,
            NETWORK => FileForm::Network,
            _ => return None,
        };
        Some(Self { form, bytes: answer.into_body() })
    }
}

/// What a learner knows, and how it came there: what its page shows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct LearnerShown {
    pub(crate) name: PlayerName,
    pub(crate) games: u64,
    /// Its frozen versions by what they had learnt, then the live one; of a frozen version that alone.
    pub(crate) versions: Vec<VersionShown>,
    /// How strong the live one was on the way, by games learnt; empty of a frozen version.
    pub(crate) curve: Vec<PointShown>,
    /// The last lessons, the newest first; empty of a frozen version.
    pub(crate) lessons: Vec<LessonShown>,
    /// Whether it keeps how often it saw its patterns, not only what they weigh.
    pub(crate) keeps_counts: bool,
    /// How many patterns it knows.
    pub(crate) pattern_count: usize,
    /// Its patterns, the most often seen first, or the weightiest if how often is not kept, of which there may be more.
    pub(crate) patterns: Vec<PatternShown>,
}

/// A learner at one age.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct VersionShown {
    pub(crate) name: PlayerName,
    pub(crate) games: u64,
    /// Its published rating on the standard board, as pages show it; null until the fit knows it.
    pub(crate) published: Option<WireRating>,
    /// Rated games on that board.
    pub(crate) rated_games: u64,
    /// Share, from 0 to 1, of the solved positions that can be spoilt in which it keeps the result; null until
    /// measured.
    pub(crate) decision: Option<f64>,
}

/// How strong a learner was.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct PointShown {
    pub(crate) games: u64,
    /// Its live rating then, in Elo points; null if it was not known well enough, or not looked up.
    pub(crate) live_elo: Option<i32>,
    /// Its share of right decisions then, as above; null if it was not measured.
    pub(crate) decision: Option<f64>,
}

/// A game that was learnt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct LessonShown {
    /// Its number among all finished games.
    pub(crate) number: u64,
    /// The last part of its link; null if the game is damaged.
    pub(crate) game: Option<GameId>,
    /// Who played, first and second; null if the game is damaged.
    pub(crate) players: Option<[PlayerName; 2]>,
    /// How it ended; null if the game is damaged.
    pub(crate) result: Option<GameResult>,
    /// Patterns that were new.
    pub(crate) new: Vec<String>,
    /// How many patterns that were known before were seen again.
    pub(crate) again: usize,
    /// Moves of the game at which it chose otherwise right after it; null if that was not noted yet.
    #[serde(default)]
    pub(crate) rethought: Option<Vec<ChangedMoveJson>>,
}

/// A pattern that a learner knows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct PatternShown {
    /// Whose stones, and on which cells.
    pub(crate) pattern: String,
    /// How often it was seen.
    pub(crate) seen: u32,
    /// How many of those games were won.
    pub(crate) won: u32,
    /// How many were lost.
    pub(crate) lost: u32,
    /// How much it weighs, in the learner's own unit.
    pub(crate) weighting: i64,
}

pub(super) fn commands() -> Vec<Route> {
    vec![
        ("/control/v1/verify/learners", post(verify)),
        ("/control/v1/repair/learners", post(repair)),
        ("/control/v1/learners/{name}", get(show)),
        ("/control/v1/learners/{name}/file", get(file)),
    ]
}

/// Each learner made again from its lessons.
async fn verify(State(control): State<Control>) -> Result<Json<List<LearnerReport>>, Refusal> {
    Ok(Json(List::whole(learning::verify::verify(&*control.store).await?)))
}

/// The same; those that differ from what their lessons teach and can be made again are marked for it.
async fn repair(State(control): State<Control>) -> Result<Json<List<LearnerReport>>, Refusal> {
    let mut reports = learning::verify::verify(&*control.store).await?;
    let mut is_marked = false;
    for report in reports.iter_mut().filter(|report| report.remedy == Remedy::Repair) {
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
    // All learners then look at the store again, and learn again what they had not stored.
    if is_marked {
        control.learning.lessons_withdrawn();
    }
    Ok(Json(List::whole(reports)))
}

fn unknown(name: &str) -> Refusal {
    if learning::plans().iter().any(|plan| plan.name.as_str().eq_ignore_ascii_case(name)) {
        let message = format!(
            "the learner `{name}` is not here yet: a daemon makes it at its first start, where learning.enabled is true"
        );
        return Refusal(ApiError {
            field: Some(NO_LEARNER.into()),
            ..ApiError::new(ApiCode::NotFound, message)
        });
    }
    let names: Vec<String> = learning::plans().iter().map(|plan| plan.name.to_string()).collect();
    let message = format!(
        "no learner of the house is called `{name}`: there are {}, and versions that are frozen, such as memory@300",
        names.join(", ")
    );
    Refusal(ApiError { field: Some(NO_LEARNER.into()), ..ApiError::new(ApiCode::NotFound, message) })
}

/// The learner or version of this name: games learnt, and what it knows.
async fn learner(control: &Control, name: &str) -> Result<(PlayerName, u64, Arc<dyn Knowledge>), Refusal> {
    let parsed: PlayerName = name.parse().map_err(|_| unknown(name))?;
    let (games, knowledge) =
        learning::known(control.store.as_ref(), &parsed).await?.ok_or_else(|| unknown(name))?;
    Ok((parsed, games, knowledge))
}

async fn file(
    State(control): State<Control>,
    PathPart(name): PathPart,
) -> Result<impl IntoResponse, Refusal> {
    let (_, _, knowledge) = learner(&control, &name).await?;
    let form = if knowledge.player(0).knowledge().is_some() { XML } else { NETWORK };
    Ok(([(header::CONTENT_TYPE, form)], knowledge.file()))
}

async fn show(
    State(control): State<Control>,
    PathPart(name): PathPart,
) -> Result<Json<LearnerShown>, Refusal> {
    let (name, games, knowledge) = learner(&control, &name).await?;
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
            ages(&control, plan, games).await?,
            control.store.learner_curve(&plan.name).await?.into_iter().map(PointShown::from).collect(),
            lessons(&control, &plan.name).await?,
        ),
        None => (version(&control, &name).await?, Vec::new(), Vec::new()),
    };
    Ok(Json(LearnerShown {
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
    let published = row
        .as_ref()
        .and_then(|(player, row)| Some(published(publication, player, row.standing.games)?.into()));
    let rated_games = row.map_or(0, |(_, row)| row.standing.games);
    Ok(VersionShown { name, games, published, rated_games, decision: decision.map(share) })
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
        let rethought = changed_moves.map(|turns| turns.into_iter().map(ChangedMoveJson::from).collect());
        Self { number, game: game.map(|game| game.id), players, result, new, again, rethought }
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
