//! Where people have their mail, and the links that are sent there.

use async_trait::async_trait;

use super::PostgresStore;
use super::credentials;
use super::db::{self, Connection};
use super::players::{WriteOutcome, done_if, forget_mail};
use crate::model::ids::PlayerId;
use crate::model::mail::MailAddress;
use crate::model::time::UnixMillis;
use crate::storage::mails::{LinkPurpose, MailLink, MailStore, StoredMail};
use crate::storage::rows::mails::{MailRow, decode_mails};
use crate::storage::rows::parsed;
use crate::storage::store::{Refused, StoreError};
use crate::storage::words::Word as _;

#[async_trait]
impl MailStore for PostgresStore {
    async fn mail(&self, owner: &PlayerId) -> Result<Option<StoredMail>, StoreError> {
        mail(&*self.reader().await?, owner).await
    }

    async fn mails_at(&self, address: &MailAddress, limit: u32) -> Result<Vec<StoredMail>, StoreError> {
        mails_at(&*self.reader().await?, address, limit).await
    }
}

async fn mail(connection: &Connection, owner: &PlayerId) -> Result<Option<StoredMail>, StoreError> {
    let sql = "SELECT p.id AS owner, m.address, m.language, m.notices, m.since, m.verified_at \
               FROM mail m JOIN player p ON p.key = m.owner WHERE p.id = $1";
    let row: Option<MailRow> = db::query_as(sql).bind(owner.as_str()).fetch_optional(connection).await?;
    Ok(row.map(MailRow::decode).transpose()?)
}

async fn mails_at(
    connection: &Connection,
    address: &MailAddress,
    limit: u32,
) -> Result<Vec<StoredMail>, StoreError> {
    let sql = "SELECT p.id AS owner, m.address, m.language, m.notices, m.since, m.verified_at \
               FROM mail m JOIN player p ON p.key = m.owner \
               WHERE lower(m.address) = $1 AND m.verified_at IS NOT NULL ORDER BY m.since, p.id LIMIT $2";
    let rows = db::query_as(sql).bind(address.folded()).bind(limit).fetch_all(connection).await?;
    Ok(decode_mails(rows)?)
}

/// Puts one in the place of the one before, whose links are worth nothing any more.
pub(super) async fn set(connection: &Connection, mail: &StoredMail) -> WriteOutcome {
    forget_mail(connection, &mail.owner).await?;
    let sql = "INSERT INTO mail (owner, address, language, notices, since) \
               SELECT key, $1::text, $2::text, $3::boolean, $4::bigint FROM player WHERE id = $5 AND kind = 'human'";
    let query = db::query(sql).bind(mail.address.as_str()).bind(mail.language.as_str()).bind(mail.notices);
    let query = query.bind(mail.since.0).bind(mail.owner.as_str());
    Ok(done_if(query.execute(connection).await?, Refused::NoSuchPlayer))
}

pub(super) async fn remove(connection: &Connection, owner: &PlayerId) -> WriteOutcome {
    Ok(done_if(forget_mail(connection, owner).await?, Refused::NoMail))
}

pub(super) async fn set_notices(connection: &Connection, owner: &PlayerId, notices: bool) -> WriteOutcome {
    let sql = "UPDATE mail SET notices = $1 WHERE owner = (SELECT key FROM player WHERE id = $2)";
    let query = db::query(sql).bind(notices).bind(owner.as_str());
    Ok(done_if(query.execute(connection).await?, Refused::NoMail))
}

/// Puts a link in the place of the one before.
pub(super) async fn add_link(connection: &Connection, link: &MailLink) -> WriteOutcome {
    drop_links(connection, &link.owner, link.purpose).await?;
    let sql = "INSERT INTO mail_link (owner, purpose, digest, expires_at) \
               SELECT m.owner, $1::text, $2::bytea, $3::bigint FROM mail m JOIN player p ON p.key = m.owner \
               WHERE p.id = $4";
    let query = db::query(sql).bind(link.purpose.word()).bind(link.digest.as_slice()).bind(link.expires_at.0);
    let query = query.bind(link.owner.as_str());
    Ok(done_if(query.execute(connection).await?, Refused::NoMail))
}

async fn drop_links(
    connection: &Connection,
    owner: &PlayerId,
    purpose: LinkPurpose,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM mail_link WHERE owner = (SELECT key FROM player WHERE id = $1) AND purpose = $2";
    db::query(sql).bind(owner.as_str()).bind(purpose.word()).execute(connection).await?;
    Ok(())
}

pub(super) async fn verify(connection: &Connection, digest: &[u8; 32], at: UnixMillis) -> WriteOutcome {
    let Some(owner) = use_link(connection, digest, LinkPurpose::Verify, at).await? else {
        return Ok(Err(Refused::NoMailLink));
    };
    let sql = "UPDATE mail SET verified_at = $1 WHERE owner = (SELECT key FROM player WHERE id = $2)";
    let query = db::query(sql).bind(at.0).bind(owner.as_str());
    Ok(done_if(query.execute(connection).await?, Refused::NoMail))
}

pub(super) async fn reset(
    connection: &Connection,
    digest: &[u8; 32],
    password: &str,
    at: UnixMillis,
) -> WriteOutcome {
    match use_link(connection, digest, LinkPurpose::Reset, at).await? {
        Some(owner) => credentials::set_password(connection, &owner, password, None).await,
        None => Ok(Err(Refused::NoMailLink)),
    }
}

/// Whose link this is, which is gone then.
async fn use_link(
    connection: &Connection,
    digest: &[u8; 32],
    purpose: LinkPurpose,
    at: UnixMillis,
) -> Result<Option<PlayerId>, StoreError> {
    let sql = "DELETE FROM mail_link WHERE digest = $1 AND purpose = $2 AND expires_at > $3 \
               RETURNING (SELECT id FROM player WHERE key = mail_link.owner)";
    let query = db::query_scalar(sql).bind(digest.as_slice()).bind(purpose.word()).bind(at.0);
    let owner: Option<String> = query.fetch_optional(connection).await?;
    Ok(owner.map(|owner| parsed("mail_link.owner", &owner)).transpose()?)
}
