//! The finished games of a player, page by page, all or those that somebody chooses: a form that works without script,
//! by the words of the API.

use askama::Template;
use askama::filters::HtmlSafe;
use fourfold_engine::{Game, Side, SideResult};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::wire;
use crate::http::error::ApiError;
use crate::http::opening_names;
use crate::http::pages::drawing::{DiscIcon, Drawing, MiniBoard};
use crate::http::pages::error::PageError;
use crate::http::pages::moment::Moment;
use crate::http::pages::parts::PlayerTag;
use crate::http::pages::words::{self, BoardChoice};
use crate::http::record_query::{LOOK_AT_MAX, filter};
use crate::http::request::{Cursor, QueryParameters};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::ids::PlayerId;
use crate::model::rating::elo::MilliElo;
use crate::model::result::GameOutcome;
use crate::storage::StoreError;
use crate::storage::games::SeenBy;
use crate::storage::record::{StoredGame, StoredPlayer};
use crate::storage::store::{ChosenGames, GamesWanted};

/// Finished games on one page.
const GAMES_PER_PAGE: u32 = 20;

/// Characters of a value that stand in the form again; longer ones are none that anybody wants.
const SHOWN_MAX: usize = 64;

/// One finished game in the list.
struct PlayerGameRow {
    id: String,
    board: MiniBoard,
    disc: DiscIcon,
    opponent: PlayerTag,
    /// The game in words.
    label: String,
    /// Key of the word for the result, and how to show it.
    result: (&'static str, &'static str),
    reason: String,
    /// What its opening is called.
    opening: Option<&'static str>,
    plies: usize,
    delta: Option<i32>,
    ended: Option<Moment>,
}

/// A field of the form to type into.
struct ChoiceField {
    name: &'static str,
    label: &'static str,
    value: String,
    is_wrong: bool,
}

/// A field of the form with some values to take one of; the first is any.
struct ChoiceList {
    name: &'static str,
    label: &'static str,
    /// Each with its words, and whether it is the one.
    options: Vec<(String, String, bool)>,
}

/// The list with its form.
#[derive(Template)]
#[template(path = "parts/player-games.html")]
pub(super) struct GamesSection {
    lang: Language,
    name: String,
    rows: Vec<PlayerGameRow>,
    fields: Vec<ChoiceField>,
    lists: Vec<ChoiceList>,
    /// Whether anything is chosen.
    is_chosen: bool,
    /// What is wrong with what was typed.
    problem: Option<String>,
    /// What is said where there are no rows.
    none: String,
    /// Address of the games before these.
    older: Option<String>,
}

impl HtmlSafe for GamesSection {}

/// What the address chooses, as it stands there.
struct Chosen<'a>(&'a QueryParameters);

impl Chosen<'_> {
    /// The names of the form's fields, in the order in which an address has them.
    const FIELDS: [&'static str; 7] =
        ["opponent", "outcome", "rated", "variant", "plies_min", "plies_max", "opening"];

    fn text(&self, name: &str) -> String {
        let value: Option<String> = self.0.optional(name).ok().flatten();
        value.unwrap_or_default().chars().take(SHOWN_MAX).collect()
    }

    fn is_any(&self) -> bool {
        Self::FIELDS.into_iter().all(|name| self.text(name).is_empty())
    }

    /// The address of the games before one.
    fn before(&self, player: &str, number: u64) -> String {
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let mut url = format!("/player/{}?before={number}", encode(player));
        for name in Self::FIELDS {
            let value = self.text(name);
            if !value.is_empty() {
                url.extend(["&", name, "=", &encode(&value)]);
            }
        }
        url + "#games"
    }
}

impl GamesSection {
    /// What the address asks for.
    pub(super) async fn read(
        state: &AppState,
        lang: Language,
        player: &StoredPlayer,
        parameters: &QueryParameters,
        seen_by: SeenBy,
    ) -> Result<Self, PageError> {
        let chosen = Chosen(parameters);
        let (found, wrong) = match found(state, player, parameters, seen_by).await? {
            Ok(found) => (found, None),
            Err(field) => (ChosenGames::default(), Some(field)),
        };
        let mut rows = Vec::with_capacity(found.games.len());
        for game in &found.games {
            rows.push(game_row(state, lang, &player.id, game).await?);
        }
        let goes_on = found.goes_on_before;
        let none = match (chosen.is_any(), goes_on) {
            (true, _) => lang.text("player.none_finished").to_owned(),
            (false, None) => lang.text("profile.none_fit").to_owned(),
            (false, Some(_)) => {
                lang.fill("profile.none_fit_yet", &[("n", lang.number(u64::from(LOOK_AT_MAX)))])
            }
        };
        Ok(Self {
            lang,
            name: player.name.to_string(),
            rows,
            fields: fields(lang, &chosen, wrong.as_deref()),
            lists: lists(lang, &chosen),
            is_chosen: !chosen.is_any(),
            problem: wrong.map(|field| problem(lang, &field)),
            none,
            older: goes_on.map(|number| chosen.before(player.name.as_str(), number)),
        })
    }
}

/// The games that are asked for, or the field that cannot be read.
async fn found(
    state: &AppState,
    player: &StoredPlayer,
    parameters: &QueryParameters,
    seen_by: SeenBy,
) -> Result<Result<ChosenGames, String>, PageError> {
    let filter = match filter(&*state.store, parameters, Some(&player.id)).await {
        Ok(filter) => filter,
        Err(ApiError { field: Some(field), .. }) => return Ok(Err(field)),
        Err(ApiError { message, .. }) => return Err(PageError::Read(message)),
    };
    let before = parameters.optional::<Cursor>("before").ok().flatten();
    let wanted = GamesWanted {
        player: Some(player.id.clone()),
        since: None,
        before: before.map(Cursor::number),
        filter,
        limit: GAMES_PER_PAGE,
        seen_by,
        look_at: LOOK_AT_MAX,
    };
    Ok(Ok(state.store.chosen_games(&wanted).await?))
}

fn problem(lang: Language, field: &str) -> String {
    match field {
        "opponent" => lang.text("profile.bad_opponent").to_owned(),
        "plies_min" | "plies_max" => lang.text("profile.bad_plies").to_owned(),
        "opening" => lang.text("profile.bad_moves").to_owned(),
        other => lang.fill("profile.bad_choice", &[("field", other)]),
    }
}

fn fields(lang: Language, chosen: &Chosen<'_>, wrong: Option<&str>) -> Vec<ChoiceField> {
    let field = |(name, label): (&'static str, &'static str)| {
        let (value, is_wrong) = (chosen.text(name), wrong == Some(name));
        ChoiceField { name, label, value, is_wrong }
    };
    let all = [
        ("opponent", lang.text("player.opponent")),
        ("plies_min", lang.text("profile.plies_min")),
        ("plies_max", lang.text("profile.plies_max")),
        ("opening", lang.text("profile.first_moves")),
    ];
    all.map(field).into()
}

fn lists(lang: Language, chosen: &Chosen<'_>) -> Vec<ChoiceList> {
    let list = |name: &'static str, label: &'static str, values: Vec<(&'static str, String)>| {
        let now = chosen.text(name);
        let any = [("", lang.text("profile.any").to_owned())];
        let known: Vec<_> = any.into_iter().chain(values).collect();
        // What somebody has typed into the address beside these.
        let other = known.iter().all(|(value, _)| *value != now).then(|| (now.clone(), now.clone(), true));
        let options = known.into_iter().map(|(value, words)| (value.to_owned(), words, value == now));
        let options = options.chain(other).collect();
        ChoiceList { name, label, options }
    };
    let outcomes = [
        (GameOutcome::Won, "game.won"),
        (GameOutcome::Lost, "game.lost"),
        (GameOutcome::Drawn, "game.drawn"),
        (GameOutcome::Void, "game.void"),
    ];
    let outcomes = outcomes.map(|(outcome, key)| (outcome.word(), lang.text(key).to_owned()));
    let rated = [("true", "game.rated"), ("false", "game.casual")];
    let rated = rated.map(|(value, key)| (value, lang.text(key).to_owned()));
    let boards = words::boards(lang).into_iter().map(|BoardChoice { value, name }| (value, name));
    vec![
        list("outcome", lang.text("player.result"), outcomes.into()),
        list("rated", lang.text("player.rating"), rated.into()),
        list("variant", lang.text("ranking.board"), boards.collect()),
    ]
}

async fn game_row(
    state: &AppState,
    lang: Language,
    player: &PlayerId,
    game: &StoredGame,
) -> Result<PlayerGameRow, StoreError> {
    let side = if game.spec.players.first == *player { Side::First } else { Side::Second };
    let opponent_id = &game.spec.players[side.opponent()];
    let missing = || StoreError::Corrupt(format!("game {} has a player who is not there", game.spec.id));
    let opponent = state.store.player(opponent_id).await?.ok_or_else(missing)?;
    let ending =
        game.ending().ok_or_else(|| StoreError::Corrupt(format!("game {} has no end", game.spec.id)))?;
    let entry = game.settlement.as_ref().and_then(|settled| settled.ratings).map(|ratings| ratings[side]);
    let elo = |milli: MilliElo| milli.to_elo();
    let moves = game.moves();
    let result = result_words(ending.result.seen_by(side));
    Ok(PlayerGameRow {
        id: game.spec.id.to_string(),
        board: MiniBoard { drawing: Drawing::new(game.spec.variant, &moves) },
        disc: DiscIcon::new(side.into()),
        opponent: PlayerTag::new(lang, &wire(&opponent, None)),
        label: lang.fill(
            "player.game_against",
            &[("name", opponent.name.as_str()), ("result", lang.text(result.0))],
        ),
        result,
        reason: words::reason(lang, ending.reason, game.spec.variant.connect()),
        opening: Game::from_moves(game.spec.variant, &moves)
            .ok()
            .and_then(|game| opening_names::of_game(lang, &game)),
        plies: moves.len(),
        delta: entry.map(|entry| elo(entry.after) - elo(entry.before)),
        ended: game.events.last().map(|event| Moment::new(lang, event.at)),
    })
}

fn result_words(result: Option<SideResult>) -> (&'static str, &'static str) {
    match result {
        Some(SideResult::Win) => ("game.won", "won"),
        Some(SideResult::Loss) => ("game.lost", "lost"),
        Some(SideResult::Draw) => ("game.drawn", "soft"),
        None => ("game.void", "soft"),
    }
}
