//! Players as they are written.

use super::db::{self, Connection};
use super::{bot_versions, published, resets};
use crate::model::ids::{GONE_PREFIX, PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::model::portrait::{Flag, Picture, Portrait, ProfileLine};
use crate::storage::record::{BotProfile, StoredPlayer};
use crate::storage::rows::players::{decode_players, decode_starts};
use crate::storage::starts::Starts;
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::words::Word as _;

/// Selects the columns of a `PlayerRow`.
macro_rules! select_players {
    ($rest:literal) => {
        concat!(
            "SELECT p.id, p.name, p.kind, p.house, o.id AS owner, p.version, p.about, p.url, p.language, p.created_at, \
             p.banned_because, p.banned_until, p.muted_because, p.muted_until, p.start, p.picture, p.flag, p.line ",
            "FROM player p LEFT JOIN player o ON o.key = p.owner ",
            $rest
        )
    };
}
pub(super) use select_players;

/// Selects the columns of a `TokenRow`.
macro_rules! select_tokens {
    ($rest:literal) => {
        concat!(
            "SELECT t.id, p.id AS player, t.kind, t.digest, t.created_at, t.expires_at, t.device, t.used_at, t.scope ",
            "FROM token t JOIN player p ON p.key = t.player ",
            $rest
        )
    };
}
pub(super) use select_tokens;

/// What a write came to.
pub(super) type WriteOutcome = Result<Result<Written, Refused>, StoreError>;

pub(super) fn done_if(rows_affected: u64, otherwise: Refused) -> Result<Written, Refused> {
    if rows_affected > 0 { Ok(Written::Done) } else { Err(otherwise) }
}

/// With what those begin who do not as newcomers.
pub(super) async fn starts(connection: &Connection) -> Result<Starts, StoreError> {
    let sql = "SELECT id, start FROM player WHERE start IS NOT NULL";
    Ok(decode_starts(db::query_as(sql).fetch_all(connection).await?)?)
}

pub(super) async fn registered(
    connection: &Connection,
    kind: PlayerKind,
    after: Option<&PlayerName>,
    limit: u32,
) -> Result<Vec<StoredPlayer>, StoreError> {
    let sql = select_players!(
        "WHERE p.kind = $1 AND NOT p.house AND lower(p.name) > lower($2) ORDER BY lower(p.name) LIMIT $3"
    );
    let query = db::query_as(sql).bind(kind.word()).bind(after.map_or("", PlayerName::as_str)).bind(limit);
    decode_players(query.fetch_all(connection).await?)
}

pub(super) async fn newest_registered(
    connection: &Connection,
    limit: u32,
) -> Result<Vec<StoredPlayer>, StoreError> {
    let sql = select_players!(
        "WHERE p.kind <> 'guest' AND NOT p.house ORDER BY p.created_at DESC, lower(p.name) LIMIT $1"
    );
    decode_players(db::query_as(sql).bind(limit).fetch_all(connection).await?)
}

pub(super) async fn restricted(connection: &Connection, limit: u32) -> Result<Vec<StoredPlayer>, StoreError> {
    let sql = select_players!(
        "WHERE p.banned_because IS NOT NULL OR p.muted_because IS NOT NULL ORDER BY lower(p.name) LIMIT $1"
    );
    decode_players(db::query_as(sql).bind(limit).fetch_all(connection).await?)
}

pub(super) async fn key_of(connection: &Connection, id: &PlayerId) -> Result<Option<i64>, StoreError> {
    db::query_scalar("SELECT key FROM player WHERE id = $1")
        .bind(id.as_str())
        .fetch_optional(connection)
        .await
}

/// The keys of players in their order, if all are known: in one question, for moves wait for the answer.
pub(super) async fn keys_of_all(
    connection: &Connection,
    players: &[PlayerId],
) -> Result<Option<Vec<i64>>, StoreError> {
    let sql = "SELECT p.key FROM unnest($1::text[]) WITH ORDINALITY AS wanted (id, nth) \
               JOIN player p ON p.id = wanted.id ORDER BY wanted.nth";
    let ids: Vec<&str> = players.iter().map(PlayerId::as_str).collect();
    let keys: Vec<i64> = db::query_scalar(sql).bind(ids).fetch_all(connection).await?;
    Ok((keys.len() == players.len()).then_some(keys))
}

pub(super) async fn name_is_taken(connection: &Connection, name: &PlayerName) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM player WHERE lower(name) = lower($1)";
    db::query(sql).bind(name.as_str()).has_row(connection).await
}

pub(super) async fn add(
    connection: &Connection,
    player: &StoredPlayer,
    password: Option<&str>,
) -> WriteOutcome {
    let owner = match &player.owner {
        None => None,
        Some(id) => match key_of(connection, id).await? {
            None => return Ok(Err(Refused::NoSuchPlayer)),
            key => key,
        },
    };
    if name_is_taken(connection, &player.name).await? {
        return Ok(Err(Refused::NameTaken));
    }
    let sql = "INSERT INTO player (id, name, kind, house, owner, password, version, about, url, created_at, \
               start, language) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING";
    let inserted = db::query(sql)
        .bind(player.id.as_str())
        .bind(player.name.as_str())
        .bind(player.kind.word())
        .bind(player.house)
        .bind(owner)
        .bind(password)
        .bind(&player.profile.version)
        .bind(&player.profile.about)
        .bind(&player.profile.url)
        .bind(player.created_at.0)
        .bind(player.start.map(|start| start.0))
        .bind(&player.profile.language)
        .execute(connection)
        .await?;
    Ok(done_if(inserted, Refused::IdTaken))
}

pub(super) async fn promote(
    connection: &Connection,
    player: &PlayerId,
    name: &PlayerName,
    password: &str,
) -> WriteOutcome {
    if name_is_taken(connection, name).await? {
        return Ok(Err(Refused::NameTaken));
    }
    // Who has left is kept as guests are, and comes back as nobody.
    let sql = "UPDATE player SET kind = $1, name = $2, password = $3 \
               WHERE id = $4 AND kind = $5 AND lower(name) NOT LIKE $6";
    let query = db::query(sql).bind(PlayerKind::Human.word()).bind(name.as_str()).bind(password);
    let query = query.bind(player.as_str()).bind(PlayerKind::Guest.word()).bind(format!("{GONE_PREFIX}%"));
    let updated = query.execute(connection).await?;
    Ok(done_if(updated, Refused::NoSuchPlayer))
}

pub(super) async fn name_guest(
    connection: &Connection,
    player: &PlayerId,
    name: &PlayerName,
) -> WriteOutcome {
    if name_is_anothers(connection, player, name).await? {
        return Ok(Err(Refused::NameTaken));
    }
    let sql = "UPDATE player SET name = $1 WHERE id = $2 AND kind = $3";
    let query = db::query(sql).bind(name.as_str()).bind(player.as_str()).bind(PlayerKind::Guest.word());
    Ok(done_if(query.execute(connection).await?, Refused::NoSuchPlayer))
}

/// Whether somebody else has the name.
pub(super) async fn name_is_anothers(
    connection: &Connection,
    player: &PlayerId,
    name: &PlayerName,
) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM player WHERE lower(name) = lower($1) AND id <> $2";
    db::query(sql).bind(name.as_str()).bind(player.as_str()).has_row(connection).await
}

pub(super) async fn retire(connection: &Connection, player: &PlayerId, name: &PlayerName) -> WriteOutcome {
    if name_is_taken(connection, name).await? {
        return Ok(Err(Refused::NameTaken));
    }
    let sql = "UPDATE player SET kind = $1, name = $2, owner = NULL, password = NULL, version = NULL, \
               about = NULL, url = NULL, language = NULL, picture = NULL, flag = NULL, line = NULL, \
               banned_because = NULL, \
               banned_until = NULL, muted_because = NULL, muted_until = NULL WHERE id = $3 AND NOT house";
    let query = db::query(sql).bind(PlayerKind::Guest.word()).bind(name.as_str()).bind(player.as_str());
    let updated = query.execute(connection).await?;
    if updated > 0 {
        published::unpublish(connection).await?;
        bot_versions::forget(connection, player).await?;
        forget_notes(connection, player).await?;
        forget_operator(connection, player).await?;
        forget_webhook(connection, player).await?;
        resets::forget(connection, player).await?;
        forget_mail(connection, player).await?;
        forget_vacations(connection, player).await?;
        forget_pushes(connection, player).await?;
        forget_ties(connection, player).await?;
        forget_studies(connection, player).await?;
    }
    Ok(done_if(updated, Refused::NoSuchPlayer))
}

/// Forgets what somebody wrote who leaves for good; that they reported somebody stays.
async fn forget_notes(connection: &Connection, reporter: &PlayerId) -> Result<(), StoreError> {
    let sql = "UPDATE report SET note = '' WHERE reporter = (SELECT key FROM player WHERE id = $1)";
    db::query(sql).bind(reporter.as_str()).execute(connection).await?;
    Ok(())
}

/// Forgets that somebody was an operator who leaves for good.
async fn forget_operator(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    let sql = "DELETE FROM operator WHERE player = (SELECT key FROM player WHERE id = $1)";
    db::query(sql).bind(player.as_str()).execute(connection).await?;
    Ok(())
}

/// Forgets where somebody had it told what happens to their bots.
async fn forget_webhook(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    let sql = "DELETE FROM webhook WHERE owner = (SELECT key FROM player WHERE id = $1)";
    db::query(sql).bind(player.as_str()).execute(connection).await?;
    Ok(())
}

/// Forgets whom somebody followed and blocked, and who followed and blocked them.
pub(super) async fn forget_ties(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM follow WHERE player = (SELECT key FROM player WHERE id = $1)",
        "DELETE FROM follow WHERE followed = (SELECT key FROM player WHERE id = $1)",
        "DELETE FROM block WHERE player = (SELECT key FROM player WHERE id = $1)",
        "DELETE FROM block WHERE blocked = (SELECT key FROM player WHERE id = $1)",
    ] {
        db::query(sql).bind(player.as_str()).execute(connection).await?;
    }
    Ok(())
}

/// Forgets the browsers that showed somebody notices.
async fn forget_pushes(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    let sql = "DELETE FROM push_subscription WHERE owner = (SELECT key FROM player WHERE id = $1)";
    db::query(sql).bind(player.as_str()).execute(connection).await?;
    Ok(())
}

/// Forgets the studies of somebody who leaves for good.
async fn forget_studies(connection: &Connection, owner: &PlayerId) -> Result<(), StoreError> {
    let sql = "DELETE FROM study WHERE owner = (SELECT key FROM player WHERE id = $1)";
    db::query(sql).bind(owner.as_str()).execute(connection).await?;
    Ok(())
}

/// Forgets when somebody was away.
async fn forget_vacations(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    let sql = "DELETE FROM vacation WHERE player = (SELECT key FROM player WHERE id = $1)";
    db::query(sql).bind(player.as_str()).execute(connection).await?;
    Ok(())
}

/// Forgets where somebody has their mail, and says whether anybody knew.
pub(super) async fn forget_mail(connection: &Connection, player: &PlayerId) -> Result<u64, StoreError> {
    let sql = "DELETE FROM mail_link WHERE owner = (SELECT key FROM player WHERE id = $1)";
    db::query(sql).bind(player.as_str()).execute(connection).await?;
    let sql = "DELETE FROM mail WHERE owner = (SELECT key FROM player WHERE id = $1)";
    db::query(sql).bind(player.as_str()).execute(connection).await
}

pub(super) async fn set_profile(
    connection: &Connection,
    player: &PlayerId,
    profile: &BotProfile,
) -> WriteOutcome {
    let sql = "UPDATE player SET version = $1, about = $2, url = $3, language = $4 WHERE id = $5";
    let query = db::query(sql).bind(&profile.version).bind(&profile.about).bind(&profile.url);
    let query = query.bind(&profile.language);
    let updated = query.bind(player.as_str()).execute(connection).await?;
    Ok(done_if(updated, Refused::NoSuchPlayer))
}

pub(super) async fn set_portrait(
    connection: &Connection,
    player: &PlayerId,
    portrait: &Portrait,
) -> WriteOutcome {
    let sql = "UPDATE player SET picture = $1, flag = $2, line = $3 WHERE id = $4 AND kind = 'human'";
    let query =
        db::query(sql).bind(portrait.picture.map(Picture::as_str)).bind(portrait.flag.map(Flag::as_str));
    let query = query.bind(portrait.line.as_ref().map(ProfileLine::as_str)).bind(player.as_str());
    Ok(done_if(query.execute(connection).await?, Refused::NoSuchPlayer))
}
