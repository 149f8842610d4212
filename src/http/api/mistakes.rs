//! What a bot threw away in its last games, by the exact solver: as JSON for programs, as a file to test against.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use fourfold_engine::{Game, Side};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::Instant;

use super::CURSOR;
use super::names::Names;
use super::own_bots::{MYSELF, ThoughtView, thoughts_for};
use super::review::MistakeWord;
use crate::analysis::mistakes::{self, CostlyMove, CostlyMoves, ScoredGame};
use crate::analysis::values::Asker;
use crate::http::auth::Viewer;
use crate::http::endpoint::{Content, Endpoint, Operation, Parameter, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::payer::Paying;
use crate::http::request::{PathPart, QueryParameters};
use crate::http::state::AppState;
use crate::model::bounded::Bounded;
use crate::model::ids::{GameId, PlayerName};
use crate::model::player::PlayerKind;
use crate::protocol::client::MoveInfo;
use crate::protocol::terms::{WireSide, WireVariant};
use crate::storage::games::Notes;
use crate::storage::record::{StoredGame, StoredPlayer};
use crate::storage::store::{GameQuery, StoreError};
use crate::system::shares::Payer;

/// Games of one answer: as many as of any other list of games.
const GAMES_MAX: u32 = 200;

/// Games of one answer if the asker does not say: mostly solved within a second or two.
const GAMES_DEFAULT: u32 = 20;

/// After this no further game is begun, so that an answer comes before proxies give up; the cursor goes on with it.
const TIME_MAX: Duration = Duration::from_secs(6);

/// How many games somebody wants to have looked at.
type GameNumber = Bounded<1, GAMES_MAX>;

pub(super) const GAMES: Parameter = Parameter {
    name: "games",
    about: "How many of its last finished games to look at; 20 if left out",
    schema: schema_of::<GameNumber>,
};

/// A move that threw a win or a draw away.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "CostlyMove")]
pub(in crate::http) struct MistakeView {
    /// The newest game in which it was made.
    pub(in crate::http) game: GameId,
    /// Who the opponent was there.
    pub(in crate::http) opponent: Option<PlayerName>,
    /// Board size.
    pub(in crate::http) variant: WireVariant,
    /// Which move of the game, from 1.
    pub(in crate::http) ply: usize,
    /// Which side the bot was.
    pub(in crate::http) side: WireSide,
    /// The moves before it.
    pub(in crate::http) moves: String,
    /// What it played, from 1.
    pub(in crate::http) chosen: u8,
    /// The best columns.
    pub(in crate::http) best: Vec<u8>,
    /// What each column is worth to it, from the left, as `GET /api/v1/positions/MOVES` has it; null for full ones.
    values: Vec<Option<i32>>,
    /// What was to be had.
    before: i32,
    /// What the move was worth.
    pub(in crate::http) after: i32,
    /// What was thrown away.
    mistake: MistakeWord,
    /// In how many of the games.
    pub(in crate::http) times: u32,
    /// What it said to the move; null if it said nothing, or whoever asks does not own it.
    pub(in crate::http) info: Option<MoveInfo>,
}

/// What was thrown away in some of a bot's games.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct MistakeList {
    /// The costliest first, each position and column once.
    pub(in crate::http) items: Vec<MistakeView>,
    /// How many games were looked at.
    pub(in crate::http) games: usize,
    /// Goes into the next request as `cursor`, for the games before these; null at the end. Fewer games than asked for
    /// were looked at if time or the asker's share of the solver ran out.
    pub(in crate::http) cursor: Option<String>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    const REFUSALS: &[ApiCode] = &[ApiCode::RateLimited, ApiCode::Busy, ApiCode::Unauthorized];
    let list = Operation::get(
        "/api/v1/bots/{name}/mistakes",
        "Lists the moves by which a bot threw a win or a draw away in its last games, the costliest first",
        Content::Json(schema_of::<MistakeList>),
    )
    .parameters(&[GAMES, CURSOR])
    .refusals(REFUSALS);
    let file = Operation::get(
        "/api/v1/bots/{name}/mistakes.tsv",
        "The same as a file, a move a line with tabs between the fields: a list of openings for `fourfold match`",
        Content::Table,
    )
    .parameters(&[GAMES, CURSOR])
    .refusals(REFUSALS);
    vec![
        Endpoint::new("/api/v1/bots/{name}/mistakes", get(list_mistakes), [list]),
        Endpoint::new("/api/v1/bots/{name}/mistakes.tsv", get(mistakes_file), [file]),
    ]
}

/// Where to look: how many games, from which on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::http) struct GamesWanted {
    games: u32,
    cursor: Option<u64>,
}

impl GamesWanted {
    /// As the query says.
    pub(in crate::http) fn read(parameters: &QueryParameters) -> Result<Self, ApiError> {
        let games = parameters.optional::<GameNumber>("games")?.map_or(GAMES_DEFAULT, GameNumber::number);
        Ok(Self { games, cursor: parameters.cursor()? })
    }

    /// So many of the last games, as a page shows them.
    pub(in crate::http) fn last(games: u32) -> Self {
        Self { games, cursor: None }
    }

    /// A bot's games, the newest first, and the cursor to those before them; none at the end.
    pub(super) async fn fetch(
        self,
        state: &AppState,
        bot: &StoredPlayer,
    ) -> Result<(Vec<StoredGame>, Option<String>), StoreError> {
        let Self { games, cursor } = self;
        // One more than asked for shows whether the list goes on.
        let player = Some(bot.id.clone());
        let query = GameQuery {
            player,
            after: cursor,
            newest_first: true,
            limit: games + 1,
            notes: Notes::Read,
            ..GameQuery::default()
        };
        let mut stored = state.store.finished_games(&query).await?;
        let goes_on = stored.len() > games as usize;
        stored.truncate(games as usize);
        let cursor = stored.last().filter(|_| goes_on).and_then(number_of);
        Ok((stored, cursor))
    }
}

/// Where a finished game stands among all, for a cursor.
fn number_of(game: &StoredGame) -> Option<String> {
    game.settlement.as_ref().map(|settlement| settlement.number.to_string())
}

async fn list_mistakes(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    Paying(payer): Paying,
    name: PathPart,
    parameters: QueryParameters,
) -> Result<impl IntoResponse, ApiError> {
    let bot = bot_named(&state, viewer.as_ref(), &name).await?;
    let list = mistakes_of(&state, viewer.as_ref(), payer, &bot, GamesWanted::read(&parameters)?).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(list)))
}

async fn mistakes_file(
    State(state): State<AppState>,
    viewer: Option<Viewer>,
    Paying(payer): Paying,
    name: PathPart,
    parameters: QueryParameters,
) -> Result<Response, ApiError> {
    let bot = bot_named(&state, viewer.as_ref(), &name).await?;
    let found =
        LookedThrough::of(&state, Asker::Visitor(payer), &bot, GamesWanted::read(&parameters)?).await?;
    let mut text = mistakes::tsv(&found.costly.sorted());
    if let Some(cursor) = found.cursor {
        // Writing to a string never fails.
        let _ = writeln!(text, "# {} games; those before: cursor={cursor}", found.games.len());
    }
    let name = format!("attachment; filename=\"{}-mistakes.tsv\"", bot.name);
    let headers = [
        (header::CONTENT_TYPE, "text/tab-separated-values; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, name),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, text).into_response())
}

/// Any bot, for its games are everybody's to see; the one that asks as `@me`.
async fn bot_named(
    state: &AppState,
    viewer: Option<&Viewer>,
    name: &PathPart,
) -> Result<StoredPlayer, ApiError> {
    let found = match viewer.map(|viewer| &viewer.identity) {
        Some(bot) if name.0 == MYSELF && bot.kind == PlayerKind::Bot => state.store.player(&bot.id).await?,
        Some(_) | None => state.store.player_by_name(&name.parse("bot")?).await?,
    };
    found.filter(|player| player.kind == PlayerKind::Bot).ok_or_else(|| ApiError::not_found("bot"))
}

/// Games that were looked through.
struct LookedThrough {
    /// Those, the newest first.
    games: Vec<StoredGame>,
    costly: CostlyMoves,
    /// To those before them.
    cursor: Option<String>,
}

impl LookedThrough {
    async fn of(
        state: &AppState,
        asker: Asker,
        bot: &StoredPlayer,
        wanted: GamesWanted,
    ) -> Result<Self, ApiError> {
        let until = Instant::now() + TIME_MAX;
        let (stored, cursor) = wanted.fetch(state, bot).await?;
        let mut found = Self { games: Vec::new(), costly: CostlyMoves::default(), cursor };
        for game in stored {
            let is_late = Instant::now() >= until && !found.games.is_empty();
            let added = if is_late { Ok(false) } else { found.add(state, &asker, bot, &game).await };
            match added {
                Ok(true) => found.games.push(game),
                Err(error) if found.games.is_empty() => return Err(error),
                // What was found until here is an answer; the next request goes on.
                Ok(false) | Err(_) => {
                    found.cursor = found.games.last().and_then(number_of);
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Adds what the bot threw away in a game: true when that is done.
    async fn add(
        &mut self,
        state: &AppState,
        asker: &Asker,
        bot: &StoredPlayer,
        stored: &StoredGame,
    ) -> Result<bool, ApiError> {
        let game = Game::from_moves(stored.spec.variant, &stored.moves());
        let game = game.map_err(|error| ApiError::internal(&error))?;
        let opening = u32::try_from(stored.spec.opening.moves.len()).unwrap_or(u32::MAX).min(game.ply());
        let reviewed = state.analysis.review(asker, &game, opening).await?;
        let id = stored.spec.id.as_str();
        let judged = ScoredGame { id, game: &game, from_ply: reviewed.from_ply, scores: &reviewed.scores };
        for side in Side::BOTH {
            if stored.spec.players[side] == bot.id {
                self.costly.add(&judged, side, bot.name.as_str());
            }
        }
        Ok(true)
    }
}

/// What a bot threw away in its games; what it thought is for its owner and itself.
pub(in crate::http) async fn mistakes_of(
    state: &AppState,
    viewer: Option<&Viewer>,
    payer: Payer,
    bot: &StoredPlayer,
    wanted: GamesWanted,
) -> Result<MistakeList, ApiError> {
    let found = LookedThrough::of(state, Asker::Visitor(payer), bot, wanted).await?;
    let LookedThrough { games, costly, cursor } = found;
    let by_id: HashMap<&str, &StoredGame> = games.iter().map(|game| (game.spec.id.as_str(), game)).collect();
    let who = viewer.filter(|viewer| viewer.is_signed_in()).map(|viewer| &viewer.identity.id);
    let is_owner = who.is_some_and(|who| *who == bot.id || bot.owner.as_ref() == Some(who));
    let mut names = Names::default();
    let mut items = Vec::new();
    for costly in costly.sorted() {
        let Some(game) = by_id.get(costly.game.as_str()) else { continue };
        let thoughts = match who.filter(|_| is_owner) {
            Some(who) => thoughts_for(state, who, game).await?.unwrap_or_default(),
            None => Vec::new(),
        };
        let opponent = names.of(state, &game.spec.players[side_of(&costly).opponent()]).await?;
        items.push(MistakeView::new(&costly, game, opponent, thoughts));
    }
    Ok(MistakeList { items, games: games.len(), cursor })
}

fn side_of(costly: &CostlyMove) -> Side {
    Side::to_move_at(u32::try_from(costly.before.len()).unwrap_or_default())
}

impl MistakeView {
    fn new(
        costly: &CostlyMove,
        game: &StoredGame,
        opponent: Option<PlayerName>,
        thoughts: Vec<ThoughtView>,
    ) -> Self {
        let (before, after) = costly.scores();
        let thought = thoughts.into_iter().find(|thought| thought.ply == costly.ply());
        Self {
            game: game.spec.id.clone(),
            opponent,
            variant: WireVariant(costly.variant),
            ply: costly.ply(),
            side: side_of(costly).into(),
            moves: costly.moves(),
            chosen: costly.chosen.number(),
            best: costly.columns.best_columns().map(fourfold_engine::Column::number).collect(),
            values: costly.values(),
            before,
            after,
            mistake: costly.mistake.into(),
            times: costly.times,
            info: thought.and_then(|thought| thought.info),
        }
    }

    /// Key of the word for what was thrown away.
    pub(in crate::http) fn key(&self) -> &'static str {
        match self.mistake {
            MistakeWord::WinToLoss => "review.win_to_loss",
            MistakeWord::WinToDraw => "review.win_to_draw",
            MistakeWord::DrawToLoss => "review.draw_to_loss",
            MistakeWord::SlowerWin => "review.slower_win",
            MistakeWord::FasterLoss => "review.faster_loss",
        }
    }

    /// Where its position is analysed.
    pub(in crate::http) fn analysis(&self) -> String {
        let moves = if self.moves.is_empty() { "-" } else { &self.moves };
        if self.variant == WireVariant::default() {
            format!("/analysis/{moves}")
        } else {
            format!("/analysis/{moves}?variant={}", self.variant.0)
        }
    }
}
