//! Where people have their mail, in memory.

use async_trait::async_trait;

use super::{MemoryStore, MemoryTables};
use crate::model::ids::PlayerId;
use crate::model::mail::MailAddress;
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::storage::mails::{LinkPurpose, MailLink, MailStore, StoredMail};
use crate::storage::store::{Refused, StoreError, Written};

impl MemoryTables {
    pub(super) fn set_mail(&mut self, mail: &StoredMail) -> Result<Written, Refused> {
        let owner = self.players.get(&mail.owner).filter(|owner| owner.kind == PlayerKind::Human);
        owner.ok_or(Refused::NoSuchPlayer)?;
        self.forget_mail(&mail.owner);
        self.mails.push(StoredMail { verified_at: None, ..mail.clone() });
        Ok(Written::Done)
    }

    pub(super) fn remove_mail(&mut self, owner: &PlayerId) -> Result<Written, Refused> {
        self.mail_of(owner)?;
        self.forget_mail(owner);
        Ok(Written::Done)
    }

    pub(super) fn forget_mail(&mut self, owner: &PlayerId) {
        self.mails.retain(|mail| mail.owner != *owner);
        self.mail_links.retain(|link| link.owner != *owner);
    }

    pub(super) fn set_notices(&mut self, owner: &PlayerId, notices: bool) -> Result<Written, Refused> {
        self.mail_of(owner)?.notices = notices;
        Ok(Written::Done)
    }

    pub(super) fn add_mail_link(&mut self, link: &MailLink) -> Result<Written, Refused> {
        self.mail_of(&link.owner)?;
        self.mail_links.retain(|other| (&other.owner, other.purpose) != (&link.owner, link.purpose));
        self.mail_links.push(link.clone());
        Ok(Written::Done)
    }

    pub(super) fn verify_mail(&mut self, digest: &[u8; 32], at: UnixMillis) -> Result<Written, Refused> {
        let owner = self.use_link(digest, LinkPurpose::Verify, at)?;
        self.mail_of(&owner)?.verified_at = Some(at);
        Ok(Written::Done)
    }

    pub(super) fn reset_password(
        &mut self,
        digest: &[u8; 32],
        password: &str,
        at: UnixMillis,
    ) -> Result<Written, Refused> {
        let owner = self.use_link(digest, LinkPurpose::Reset, at)?;
        self.set_password(&owner, password, None)
    }

    /// A link to a new password is worth nothing once there is one.
    pub(super) fn drop_reset_link(&mut self, owner: &PlayerId) {
        self.mail_links.retain(|link| link.owner != *owner || link.purpose != LinkPurpose::Reset);
    }

    /// Whose link this is, which is gone then.
    fn use_link(
        &mut self,
        digest: &[u8; 32],
        purpose: LinkPurpose,
        at: UnixMillis,
    ) -> Result<PlayerId, Refused> {
        let is_it =
            |link: &MailLink| link.digest == *digest && link.purpose == purpose && link.expires_at > at;
        let place = self.mail_links.iter().position(is_it).ok_or(Refused::NoMailLink)?;
        Ok(self.mail_links.remove(place).owner)
    }

    fn mail_of(&mut self, owner: &PlayerId) -> Result<&mut StoredMail, Refused> {
        self.mails.iter_mut().find(|mail| mail.owner == *owner).ok_or(Refused::NoMail)
    }
}

#[async_trait]
impl MailStore for MemoryStore {
    async fn mail(&self, owner: &PlayerId) -> Result<Option<StoredMail>, StoreError> {
        Ok(self.tables().mails.iter().find(|mail| mail.owner == *owner).cloned())
    }

    async fn mails_at(&self, address: &MailAddress, limit: u32) -> Result<Vec<StoredMail>, StoreError> {
        let folded = address.folded();
        let mut mails = self.tables().mails.clone();
        mails.retain(|mail| mail.verified_at.is_some() && mail.address.folded() == folded);
        mails.sort_by(|a, b| (a.since, &a.owner).cmp(&(b.since, &b.owner)));
        mails.truncate(limit as usize);
        Ok(mails)
    }
}
