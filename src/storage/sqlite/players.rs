//! Players and their credentials.

use super::bot_versions;
use super::convert::id_list;
use super::db::{self, Connection};
use super::{published, resets};
use crate::model::ids::{GONE_PREFIX, PlayerId, PlayerName, TokenId};
use crate::model::lookalike::Outline;
use crate::model::player::PlayerKind;
use crate::model::portrait::{Flag, Picture, Portrait, ProfileLine};
use crate::model::time::UnixMillis;
use crate::storage::record::{BotProfile, StoredPlayer, StoredToken};
use crate::storage::rows::players::{PlayerRow, TokenRow, decode_players, decode_starts, decode_tokens};
use crate::storage::starts::Starts;
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::words::Word;

/// Selects the columns of a [`PlayerRow`].
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

/// Selects the columns of a [`TokenRow`].
macro_rules! select_tokens {
    ($rest:literal) => {
        concat!(
            "SELECT t.id, p.id AS player, t.kind, t.digest, t.created_at, t.expires_at, t.device, t.used_at, t.scope ",
            "FROM token t JOIN player p ON p.key = t.player ",
            $rest
        )
    };
}

pub(super) fn by_id(connection: &Connection, id: &PlayerId) -> Result<Option<StoredPlayer>, StoreError> {
    let sql = select_players!("WHERE p.id = ?");
    let row: Option<PlayerRow> = db::query_as(sql).bind(id.as_str()).fetch_optional(connection)?;
    Ok(row.map(PlayerRow::decode).transpose()?)
}

pub(super) fn by_name(
    connection: &Connection,
    name: &PlayerName,
) -> Result<Option<StoredPlayer>, StoreError> {
    let sql = select_players!("WHERE p.name = ?");
    let row: Option<PlayerRow> = db::query_as(sql).bind(name.as_str()).fetch_optional(connection)?;
    Ok(row.map(PlayerRow::decode).transpose()?)
}

pub(super) fn lookalikes(
    connection: &Connection,
    outline: &Outline,
) -> Result<Vec<StoredPlayer>, StoreError> {
    let sql = select_players!(
        "WHERE replace(replace(replace(replace(lower(p.name), '1', 'l'), 'i', 'l'), '0', 'o'), '_', '-') = ?"
    );
    decode_players(db::query_as(sql).bind(outline.as_str()).fetch_all(connection)?)
}

pub(super) fn by_ids(connection: &Connection, ids: &[PlayerId]) -> Result<Vec<StoredPlayer>, StoreError> {
    let sql = select_players!("WHERE p.id IN (SELECT value FROM json_each(?))");
    decode_players(db::query_as(sql).bind(id_list(ids)).fetch_all(connection)?)
}

pub(super) fn house_bots(connection: &Connection) -> Result<Vec<StoredPlayer>, StoreError> {
    let sql = select_players!("WHERE p.house = 1 ORDER BY p.name");
    decode_players(db::query_as(sql).fetch_all(connection)?)
}

/// With what those begin who do not as newcomers.
pub(super) fn starts(connection: &Connection) -> Result<Starts, StoreError> {
    let sql = "SELECT id, start FROM player WHERE start IS NOT NULL";
    Ok(decode_starts(db::query_as(sql).fetch_all(connection)?)?)
}

pub(super) fn bots_of(connection: &Connection, owner: &PlayerId) -> Result<Vec<StoredPlayer>, StoreError> {
    let sql = select_players!("WHERE p.owner = (SELECT key FROM player WHERE id = ?) ORDER BY p.name");
    decode_players(db::query_as(sql).bind(owner.as_str()).fetch_all(connection)?)
}

pub(super) fn registered(
    connection: &Connection,
    kind: PlayerKind,
    after: Option<&PlayerName>,
    limit: u32,
) -> Result<Vec<StoredPlayer>, StoreError> {
    let sql = select_players!("WHERE p.kind = ? AND p.house = 0 AND p.name > ? ORDER BY p.name LIMIT ?");
    let query = db::query_as(sql).bind(kind.word()).bind(after.map_or("", PlayerName::as_str)).bind(limit);
    decode_players(query.fetch_all(connection)?)
}

pub(super) fn newest_registered(
    connection: &Connection,
    limit: u32,
) -> Result<Vec<StoredPlayer>, StoreError> {
    let sql =
        select_players!("WHERE p.kind <> 'guest' AND p.house = 0 ORDER BY p.created_at DESC, p.name LIMIT ?");
    decode_players(db::query_as(sql).bind(limit).fetch_all(connection)?)
}

pub(super) fn restricted(connection: &Connection, limit: u32) -> Result<Vec<StoredPlayer>, StoreError> {
    let sql = select_players!(
        "WHERE p.banned_because IS NOT NULL OR p.muted_because IS NOT NULL ORDER BY p.name LIMIT ?"
    );
    decode_players(db::query_as(sql).bind(limit).fetch_all(connection)?)
}

pub(super) fn password(connection: &Connection, player: &PlayerId) -> Result<Option<String>, StoreError> {
    let sql = "SELECT password FROM player WHERE id = ?";
    let password: Option<Option<String>> =
        db::query_scalar(sql).bind(player.as_str()).fetch_optional(connection)?;
    Ok(password.flatten())
}

pub(super) fn token_by_digest(
    connection: &Connection,
    digest: &[u8; 32],
    now: UnixMillis,
) -> Result<Option<StoredToken>, StoreError> {
    let sql = select_tokens!("WHERE t.digest = ? AND (t.expires_at IS NULL OR t.expires_at > ?)");
    let row: Option<TokenRow> =
        db::query_as(sql).bind(digest.as_slice()).bind(now.0).fetch_optional(connection)?;
    Ok(row.map(TokenRow::decode).transpose()?)
}

pub(super) fn token_by_id(
    connection: &Connection,
    id: &TokenId,
    now: UnixMillis,
) -> Result<Option<StoredToken>, StoreError> {
    let sql = select_tokens!("WHERE t.id = ? AND (t.expires_at IS NULL OR t.expires_at > ?)");
    let row: Option<TokenRow> = db::query_as(sql).bind(id.as_str()).bind(now.0).fetch_optional(connection)?;
    Ok(row.map(TokenRow::decode).transpose()?)
}

pub(super) fn tokens_of(
    connection: &Connection,
    player: &PlayerId,
    now: UnixMillis,
) -> Result<Vec<StoredToken>, StoreError> {
    let sql = select_tokens!(
        "WHERE p.id = ? AND (t.expires_at IS NULL OR t.expires_at > ?) ORDER BY t.created_at DESC, t.id DESC"
    );
    decode_tokens(db::query_as(sql).bind(player.as_str()).bind(now.0).fetch_all(connection)?)
}

pub(super) type WriteOutcome = Result<Result<Written, Refused>, StoreError>;

pub(super) fn done_if(rows_affected: u64, otherwise: Refused) -> Result<Written, Refused> {
    if rows_affected > 0 { Ok(Written::Done) } else { Err(otherwise) }
}

pub(super) fn key_of(connection: &Connection, id: &PlayerId) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT key FROM player WHERE id = ?";
    Ok(db::query_scalar(sql).bind(id.as_str()).fetch_optional(connection)?)
}

pub(super) fn name_is_taken(connection: &Connection, name: &PlayerName) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM player WHERE name = ?";
    Ok(db::query(sql).bind(name.as_str()).has_row(connection)?)
}

pub(super) fn add(connection: &Connection, player: &StoredPlayer, password: Option<&str>) -> WriteOutcome {
    let owner = match &player.owner {
        None => None,
        Some(id) => match key_of(connection, id)? {
            None => return Ok(Err(Refused::NoSuchPlayer)),
            key => key,
        },
    };
    if name_is_taken(connection, &player.name)? {
        return Ok(Err(Refused::NameTaken));
    }
    let sql = "INSERT INTO player (id, name, kind, house, owner, password, version, about, url, created_at, \
               start, language) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
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
        .execute(connection)?;
    Ok(done_if(inserted, Refused::IdTaken))
}

pub(super) fn promote(
    connection: &Connection,
    player: &PlayerId,
    name: &PlayerName,
    password: &str,
) -> WriteOutcome {
    if name_is_taken(connection, name)? {
        return Ok(Err(Refused::NameTaken));
    }
    // Who has left is kept as guests are, and comes back as nobody.
    let sql =
        "UPDATE player SET kind = ?, name = ?, password = ? WHERE id = ? AND kind = ? AND name NOT LIKE ?";
    let query = db::query(sql).bind(PlayerKind::Human.word()).bind(name.as_str()).bind(password);
    let query = query.bind(player.as_str()).bind(PlayerKind::Guest.word()).bind(format!("{GONE_PREFIX}%"));
    let updated = query.execute(connection)?;
    Ok(done_if(updated, Refused::NoSuchPlayer))
}

pub(super) fn name_guest(connection: &Connection, player: &PlayerId, name: &PlayerName) -> WriteOutcome {
    if name_is_anothers(connection, player, name)? {
        return Ok(Err(Refused::NameTaken));
    }
    let sql = "UPDATE player SET name = ? WHERE id = ? AND kind = ?";
    let query = db::query(sql).bind(name.as_str()).bind(player.as_str()).bind(PlayerKind::Guest.word());
    Ok(done_if(query.execute(connection)?, Refused::NoSuchPlayer))
}

/// Whether somebody else has the name.
pub(super) fn name_is_anothers(
    connection: &Connection,
    player: &PlayerId,
    name: &PlayerName,
) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM player WHERE name = ? AND id <> ?";
    Ok(db::query(sql).bind(name.as_str()).bind(player.as_str()).has_row(connection)?)
}

pub(super) fn retire(connection: &Connection, player: &PlayerId, name: &PlayerName) -> WriteOutcome {
    if name_is_taken(connection, name)? {
        return Ok(Err(Refused::NameTaken));
    }
    let sql = "UPDATE player SET kind = ?, name = ?, owner = NULL, password = NULL, version = NULL, about = NULL, \
               url = NULL, language = NULL, picture = NULL, flag = NULL, line = NULL, \
               banned_because = NULL, banned_until = NULL, muted_because = NULL, \
               muted_until = NULL WHERE id = ? AND house = 0";
    let query = db::query(sql).bind(PlayerKind::Guest.word()).bind(name.as_str()).bind(player.as_str());
    let updated = query.execute(connection)?;
    if updated > 0 {
        published::unpublish(connection)?;
        bot_versions::forget(connection, player)?;
        forget_notes(connection, player)?;
        forget_operator(connection, player)?;
        forget_webhook(connection, player)?;
        resets::forget(connection, player)?;
        forget_mail(connection, player)?;
        forget_vacations(connection, player)?;
        forget_pushes(connection, player)?;
        forget_ties(connection, player)?;
        forget_studies(connection, player)?;
    }
    Ok(done_if(updated, Refused::NoSuchPlayer))
}

/// Forgets what somebody wrote who leaves for good; that they reported somebody stays.
fn forget_notes(connection: &Connection, reporter: &PlayerId) -> Result<(), StoreError> {
    let sql = "UPDATE report SET note = '' WHERE reporter = (SELECT key FROM player WHERE id = ?)";
    db::query(sql).bind(reporter.as_str()).execute(connection)?;
    Ok(())
}

/// Forgets that somebody was an operator who leaves for good.
fn forget_operator(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    let sql = "DELETE FROM operator WHERE player = (SELECT key FROM player WHERE id = ?)";
    db::query(sql).bind(player.as_str()).execute(connection)?;
    Ok(())
}

/// Forgets where somebody had it told what happens to their bots.
fn forget_webhook(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    let sql = "DELETE FROM webhook WHERE owner = (SELECT key FROM player WHERE id = ?)";
    db::query(sql).bind(player.as_str()).execute(connection)?;
    Ok(())
}

/// Forgets whom somebody followed and blocked, and who followed and blocked them.
pub(super) fn forget_ties(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    for sql in [
        "DELETE FROM follow WHERE player = (SELECT key FROM player WHERE id = ?1)",
        "DELETE FROM follow WHERE followed = (SELECT key FROM player WHERE id = ?1)",
        "DELETE FROM block WHERE player = (SELECT key FROM player WHERE id = ?1)",
        "DELETE FROM block WHERE blocked = (SELECT key FROM player WHERE id = ?1)",
    ] {
        db::query(sql).bind(player.as_str()).execute(connection)?;
    }
    Ok(())
}

/// Forgets the browsers that showed somebody notices.
fn forget_pushes(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    let sql = "DELETE FROM push_subscription WHERE owner = (SELECT key FROM player WHERE id = ?)";
    db::query(sql).bind(player.as_str()).execute(connection)?;
    Ok(())
}

/// Forgets the studies of somebody who leaves for good.
fn forget_studies(connection: &Connection, owner: &PlayerId) -> Result<(), StoreError> {
    let sql = "DELETE FROM study WHERE owner = (SELECT key FROM player WHERE id = ?)";
    db::query(sql).bind(owner.as_str()).execute(connection)?;
    Ok(())
}

/// Forgets when somebody was away.
fn forget_vacations(connection: &Connection, player: &PlayerId) -> Result<(), StoreError> {
    let sql = "DELETE FROM vacation WHERE player = (SELECT key FROM player WHERE id = ?)";
    db::query(sql).bind(player.as_str()).execute(connection)?;
    Ok(())
}

/// Forgets where somebody has their mail, and says whether anybody knew.
pub(super) fn forget_mail(connection: &Connection, player: &PlayerId) -> Result<u64, StoreError> {
    let sql = "DELETE FROM mail_link WHERE owner = (SELECT key FROM player WHERE id = ?)";
    db::query(sql).bind(player.as_str()).execute(connection)?;
    let sql = "DELETE FROM mail WHERE owner = (SELECT key FROM player WHERE id = ?)";
    Ok(db::query(sql).bind(player.as_str()).execute(connection)?)
}

pub(super) fn set_profile(connection: &Connection, player: &PlayerId, profile: &BotProfile) -> WriteOutcome {
    let sql = "UPDATE player SET version = ?, about = ?, url = ?, language = ? WHERE id = ?";
    let query = db::query(sql).bind(&profile.version).bind(&profile.about).bind(&profile.url);
    let query = query.bind(&profile.language);
    let updated = query.bind(player.as_str()).execute(connection)?;
    Ok(done_if(updated, Refused::NoSuchPlayer))
}

pub(super) fn set_portrait(connection: &Connection, player: &PlayerId, portrait: &Portrait) -> WriteOutcome {
    let sql = "UPDATE player SET picture = ?, flag = ?, line = ? WHERE id = ? AND kind = 'human'";
    let query =
        db::query(sql).bind(portrait.picture.map(Picture::as_str)).bind(portrait.flag.map(Flag::as_str));
    let query = query.bind(portrait.line.as_ref().map(ProfileLine::as_str)).bind(player.as_str());
    Ok(done_if(query.execute(connection)?, Refused::NoSuchPlayer))
}
