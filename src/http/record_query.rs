//! Which finished games a request wants, by the same parameters for everybody and for operators.

use super::endpoint::{Parameter, schema_of};
use super::error::ApiError;
use super::request::{Cursor, QueryParameters};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::time::UnixMillis;
use crate::protocol::terms::WireVariant;
use crate::storage::Store;
use crate::storage::records::filter::{Meeting, OpeningWanted, RecordFilter, ResultWanted, TimeWanted};
use crate::storage::store::GameQuery;

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
    let query = GameQuery {
        player: player(store, parameters, "player").await?,
        since: time(parameters, "since")?,
        after: parameters.cursor()?,
        newest_first: false,
        limit,
        ..GameQuery::default()
    };
    let filter = RecordFilter {
        opponent: player(store, parameters, "opponent").await?,
        meeting: parameters.optional::<Meeting>("players")?,
        variant: parameters.optional("variant")?,
        rated: parameters.optional("rated")?,
        until: time(parameters, "until")?,
        result: parameters.optional("result")?.map(|ResultWanted(result)| result),
        opening: parameters.optional::<OpeningWanted>("opening")?,
    };
    Ok((query, filter))
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
