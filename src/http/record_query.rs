//! Which finished games a request wants, by the same parameters for everybody and for operators.

use super::endpoint::{Parameter, schema_of};
use super::error::ApiError;
use super::request::{Cursor, QueryParameters};
use crate::model::bounded::Bounded;
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::result::GameOutcome;
use crate::model::time::UnixMillis;
use crate::protocol::terms::WireVariant;
use crate::storage::Store;
use crate::storage::filter::{
    Meeting, OpeningWanted, OutcomeOf, PliesWanted, RecordFilter, ResultWanted, TimeWanted,
};
use crate::storage::store::{GameQuery, GamesWanted};

pub(super) const PLAYER: Parameter =
    Parameter { name: "player", about: "Only games of this player", schema: schema_of::<PlayerName> };

pub(super) const SINCE: Parameter = Parameter {
    name: "since",
    about: "Only games that ended at or after this time, RFC 3339, or after the beginning of this day in UTC",
    schema: schema_of::<String>,
};

pub(super) const OPPONENT: Parameter = Parameter {
    name: "opponent",
    about: "Only games in which this player plays too",
    schema: schema_of::<PlayerName>,
};

pub(super) const PLAYERS: Parameter = Parameter {
    name: "players",
    about: "Only games of `people` (guests among them), of `bots`, or `mixed` ones",
    schema: schema_of::<String>,
};

pub(super) const VARIANT: Parameter =
    Parameter { name: "variant", about: "Only games on this board", schema: schema_of::<WireVariant> };

pub(super) const RATED: Parameter =
    Parameter { name: "rated", about: "Only games that count, or that do not", schema: schema_of::<bool> };

pub(super) const UNTIL: Parameter = Parameter {
    name: "until",
    about: "Only games that ended before this time or day",
    schema: schema_of::<String>,
};

pub(super) const RESULT: Parameter = Parameter {
    name: "result",
    about: "Only games that ended so: `first`, `second`, `draw` or `void`",
    schema: schema_of::<String>,
};

pub(super) const OUTCOME: Parameter = Parameter {
    name: "outcome",
    about: "Only games that the player `won`, drew (`drawn`) or `lost`, or that came to nothing (`void`); goes with `player`",
    schema: schema_of::<GameOutcome>,
};

pub(super) const PLIES_MIN: Parameter = Parameter {
    name: "plies_min",
    about: "Only games of so many moves or more, those of both sides and of the opening counted",
    schema: schema_of::<PliesWanted>,
};

pub(super) const PLIES_MAX: Parameter = Parameter {
    name: "plies_max",
    about: "Only games of so many moves or fewer",
    schema: schema_of::<PliesWanted>,
};

pub(super) const OPENING: Parameter = Parameter {
    name: "opening",
    about: "Only games that begin with these moves, such as 4453",
    schema: schema_of::<String>,
};

pub(super) const CURSOR: Parameter = Parameter {
    name: "cursor",
    about: "Only games with a higher number in the order in which they finished",
    schema: schema_of::<Cursor>,
};

/// Games of which an answer looks at no more, so that a filter that takes hardly any cannot have the store go through
/// all there are: some ten milliseconds.
pub(super) const LOOK_AT_MAX: u32 = 5_000;

/// What is asked for, the newest first.
///
/// # Errors
///
/// As [`read`].
pub(super) async fn newest(
    store: &dyn Store,
    parameters: &QueryParameters,
    player: Option<PlayerId>,
) -> Result<GamesWanted, ApiError> {
    let filter = filter(store, parameters, player.as_ref()).await?;
    Ok(GamesWanted {
        player,
        since: time(parameters, "since")?,
        before: parameters.cursor()?,
        filter,
        limit: parameters.limit()?,
        look_at: LOOK_AT_MAX,
        ..GamesWanted::default()
    })
}

/// What is asked for, the oldest first, at most `limit` games, private ones among them.
///
/// # Errors
///
/// 400 names the parameter that makes no sense and says what would; 404 names a player who is not there: an empty
/// answer would hide the misspelling.
pub(super) async fn read(
    store: &dyn Store,
    parameters: &QueryParameters,
    limit: u32,
) -> Result<(GameQuery, RecordFilter), ApiError> {
    let player = player(store, parameters, "player").await?;
    let filter = filter(store, parameters, player.as_ref()).await?;
    let query = GameQuery {
        player,
        since: time(parameters, "since")?,
        after: parameters.cursor()?,
        newest_first: false,
        limit,
        ..GameQuery::default()
    };
    Ok((query, filter))
}

/// Which of the games that are read are wanted.
///
/// # Errors
///
/// As [`read`].
pub(super) async fn filter(
    store: &dyn Store,
    parameters: &QueryParameters,
    of: Option<&PlayerId>,
) -> Result<RecordFilter, ApiError> {
    let plies = |name| parameters.optional::<PliesWanted>(name).map(|plies| plies.map(Bounded::number));
    let (plies_min, plies_max) = (plies("plies_min")?, plies("plies_max")?);
    if plies_min.zip(plies_max).is_some_and(|(min, max)| min > max) {
        return Err(ApiError::bad_parameter("plies_max", "plies_max is not below plies_min"));
    }
    let outcome = match (parameters.optional::<GameOutcome>("outcome")?, of) {
        (None, _) => None,
        (Some(outcome), Some(player)) => Some(OutcomeOf { player: player.clone(), outcome }),
        (Some(_), None) => {
            return Err(ApiError::bad_parameter("outcome", "whose outcome? say the player too"));
        }
    };
    Ok(RecordFilter {
        opponent: player(store, parameters, "opponent").await?,
        meeting: parameters.optional::<Meeting>("players")?,
        variant: parameters.optional("variant")?,
        rated: parameters.optional("rated")?,
        until: time(parameters, "until")?,
        result: parameters.optional("result")?.map(|ResultWanted(result)| result),
        outcome,
        plies_min,
        plies_max,
        opening: parameters.optional::<OpeningWanted>("opening")?,
    })
}

/// A moment by the name of its parameter.
///
/// # Errors
///
/// 400 naming it.
pub(super) fn time(parameters: &QueryParameters, name: &str) -> Result<Option<UnixMillis>, ApiError> {
    Ok(parameters.optional(name)?.map(|TimeWanted(at)| at))
}

/// The player by whom games are chosen.
///
/// # Errors
///
/// 400 or 404 naming the parameter.
pub(super) async fn player(
    store: &dyn Store,
    parameters: &QueryParameters,
    name: &str,
) -> Result<Option<PlayerId>, ApiError> {
    let Some(wanted) = parameters.optional::<PlayerName>(name)? else { return Ok(None) };
    let player = store.player_by_name(&wanted).await?;
    let unknown = || ApiError {
        field: Some(name.to_owned()),
        message: format!("{name}: there is no player `{wanted}`"),
        ..ApiError::not_found("player")
    };
    player.map(|player| Some(player.id)).ok_or_else(unknown)
}
