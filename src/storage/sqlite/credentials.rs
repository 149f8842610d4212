//! What proves who somebody is: passwords, sessions and tokens, as they are written.

use super::db::{self, Connection};
use super::players::{self, WriteOutcome, done_if, key_of};
use crate::model::ids::{PlayerId, TokenId};
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::storage::mails::LinkPurpose;
use crate::storage::record::{StoredPlayer, StoredToken, TokenKind, TokenScope};
use crate::storage::rows::{Damage, parsed};
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::words::Word as _;

/// Adds a bot and its first token. All that could refuse it is looked at before anything is written.
pub(super) fn add_bot(
    connection: &Connection,
    bot: &StoredPlayer,
    token: &StoredToken,
    at_most: u32,
) -> WriteOutcome {
    let sql = "SELECT count(*) FROM player WHERE owner = (SELECT key FROM player WHERE id = ?)";
    let owner = bot.owner.as_ref().map(PlayerId::as_str);
    if owner.is_some() && !is_of_kind(connection, owner, PlayerKind::Human)? {
        return Ok(Err(Refused::NoSuchPlayer));
    }
    let bots: i64 = db::query_scalar(sql).bind(owner).fetch_one(connection)?;
    if bots >= i64::from(at_most) {
        return Ok(Err(Refused::TooMany));
    }
    if is_taken(connection, token)? {
        return Ok(Err(Refused::IdTaken));
    }
    if let Err(refused) = players::add(connection, bot, None)? {
        return Ok(Err(refused));
    }
    let Some(player) = key_of(connection, &bot.id)? else { return Ok(Err(Refused::NoSuchPlayer)) };
    insert(connection, player, token)?;
    Ok(Ok(Written::Done))
}

/// Sets a password and ends all sessions but one.
pub(super) fn set_password(
    connection: &Connection,
    player: &PlayerId,
    password: &str,
    keeps: Option<&TokenId>,
) -> WriteOutcome {
    let sql = "UPDATE player SET password = ? WHERE id = ? AND kind = 'human'";
    let updated = db::query(sql).bind(password).bind(player.as_str()).execute(connection)?;
    if let Err(refused) = done_if(updated, Refused::NoSuchPlayer) {
        return Ok(Err(refused));
    }
    drop_reset_link(connection, player)?;
    let sql = "DELETE FROM token WHERE player = (SELECT key FROM player WHERE id = ?1) AND kind = ?2 \
               AND id IS NOT ?3 RETURNING id";
    let query = db::query_scalar(sql).bind(player.as_str()).bind(TokenKind::Session.word());
    let ended: Vec<String> = query.bind(keeps.map(TokenId::as_str)).fetch_all(connection)?;
    revoked(&ended)
}

/// A link to a new password is worth nothing once there is one.
fn drop_reset_link(connection: &Connection, owner: &PlayerId) -> Result<(), StoreError> {
    let sql = "DELETE FROM mail_link WHERE owner = (SELECT key FROM player WHERE id = ?1) AND purpose = ?2";
    let query = db::query(sql).bind(owner.as_str()).bind(LinkPurpose::Reset.word());
    query.execute(connection)?;
    Ok(())
}

/// Adds a credential, and clears away the player's expired ones and surplus sessions so that they do not pile up.
pub(super) fn add_token(
    connection: &Connection,
    token: &StoredToken,
    at_most: u32,
    password: Option<&str>,
) -> WriteOutcome {
    let Some(player) = key_of(connection, &token.player)? else {
        return Ok(Err(Refused::NoSuchPlayer));
    };
    if let Err(refused) = has_use_for(connection, token, password)? {
        return Ok(Err(refused));
    }
    if is_taken(connection, token)? {
        return Ok(Err(Refused::IdTaken));
    }
    let clear = "DELETE FROM token WHERE player = ? AND expires_at <= ?";
    match token.kind {
        TokenKind::Session => {}
        TokenKind::Bot => {
            let sql = "SELECT count(*) FROM token WHERE player = ? AND kind = ?";
            let query = db::query_scalar(sql).bind(player).bind(token.kind.word());
            let tokens: i64 = query.fetch_one(connection)?;
            if tokens >= i64::from(at_most) {
                return Ok(Err(Refused::TooMany));
            }
        }
    }
    db::query(clear).bind(player).bind(token.created_at.0).execute(connection)?;
    insert(connection, player, token)?;
    let sql = "DELETE FROM token WHERE player = ?1 AND kind = ?2 AND id <> ?3 AND key NOT IN \
               (SELECT key FROM token WHERE player = ?1 AND kind = ?2 AND id <> ?3 \
               ORDER BY created_at DESC, id DESC LIMIT ?4) RETURNING id";
    let query = db::query_scalar(sql).bind(player).bind(token.kind.word()).bind(token.id.as_str());
    let ended: Vec<String> = query.bind(at_most.saturating_sub(1)).fetch_all(connection)?;
    revoked(&ended)
}

/// Whether a player has credentials, and has the password yet that was given for this one.
fn has_use_for(
    connection: &Connection,
    token: &StoredToken,
    password: Option<&str>,
) -> Result<Result<(), Refused>, StoreError> {
    let player = token.player.as_str();
    if is_of_kind(connection, Some(player), PlayerKind::Guest)? {
        return Ok(Err(Refused::NoSuchPlayer));
    }
    let Some(password) = password else { return Ok(Ok(())) };
    let sql = "SELECT 1 FROM player WHERE id = ? AND password = ?";
    let has_it = db::query(sql).bind(player).bind(password).has_row(connection)?;
    Ok(if has_it { Ok(()) } else { Err(Refused::PasswordChanged) })
}

fn is_of_kind(connection: &Connection, player: Option<&str>, kind: PlayerKind) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM player WHERE id = ? AND kind = ?";
    Ok(db::query(sql).bind(player).bind(kind.word()).has_row(connection)?)
}

/// Puts a token of a bot in the place of one.
pub(super) fn rotate(connection: &Connection, old: &TokenId, new: &StoredToken) -> WriteOutcome {
    let Some(player) = key_of(connection, &new.player)? else {
        return Ok(Err(Refused::NoSuchPlayer));
    };
    if is_taken(connection, new)? {
        return Ok(Err(Refused::IdTaken));
    }
    let sql = "DELETE FROM token WHERE player = ? AND kind = ? AND id = ? RETURNING id";
    let query = db::query_scalar(sql).bind(player).bind(TokenKind::Bot.word()).bind(old.as_str());
    let ended: Vec<String> = query.fetch_all(connection)?;
    if ended.is_empty() {
        return Ok(Err(Refused::NoSuchToken));
    }
    insert(connection, player, new)?;
    revoked(&ended)
}

/// Ends one credential, or all of them.
pub(super) fn revoke(connection: &Connection, player: &PlayerId, only: Option<&TokenId>) -> WriteOutcome {
    let Some(player) = key_of(connection, player)? else {
        return Ok(Err(Refused::NoSuchPlayer));
    };
    let sql = "DELETE FROM token WHERE player = ?1 AND (?2 IS NULL OR id = ?2) RETURNING id";
    let query = db::query_scalar(sql).bind(player).bind(only.map(TokenId::as_str));
    let ended: Vec<String> = query.fetch_all(connection)?;
    revoked(&ended)
}

fn is_taken(connection: &Connection, token: &StoredToken) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM token WHERE id = ? OR digest = ?";
    let query = db::query(sql).bind(token.id.as_str()).bind(token.digest.as_slice());
    Ok(query.has_row(connection)?)
}

fn insert(connection: &Connection, player: i64, token: &StoredToken) -> Result<(), StoreError> {
    let sql = "INSERT INTO token (id, player, kind, digest, created_at, expires_at, device, used_at, scope) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
    db::query(sql)
        .bind(token.id.as_str())
        .bind(player)
        .bind(token.kind.word())
        .bind(token.digest.as_slice())
        .bind(token.created_at.0)
        .bind(token.expires_at.map(|end| end.0))
        .bind(token.device.map(|device| device.to_string()))
        .bind(token.used_at.map(|at| at.0))
        .bind((token.scope != TokenScope::Manage).then(|| token.scope.word()))
        .execute(connection)?;
    Ok(())
}

/// Notes when a credential was used last. If it has ended meanwhile, there is nothing to note.
pub(super) fn note_use(connection: &Connection, token: &TokenId, at: UnixMillis) -> WriteOutcome {
    let sql = "UPDATE token SET used_at = ? WHERE id = ?";
    db::query(sql).bind(at.0).bind(token.as_str()).execute(connection)?;
    Ok(Ok(Written::Done))
}

fn revoked(ids: &[String]) -> WriteOutcome {
    let revoked: Result<Vec<TokenId>, Damage> = ids.iter().map(|id| parsed("token.id", id)).collect();
    let mut revoked = revoked?;
    revoked.sort();
    Ok(Ok(Written::Revoked(revoked)))
}
