//! Where people have their mail, and the way back to an account whose password is forgotten.

use std::net::IpAddr;
use std::time::Duration;

use tracing::info;

use super::{AccountError, Accounts, Authenticated, password, token};
use crate::model::ids::PlayerId;
use crate::model::mail::MailAddress;
use crate::model::secret::Secret;
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::StoreError;
use crate::storage::mails::{LinkPurpose, MailLink, StoredMail};
use crate::storage::store::Write;
use crate::system::shares::{Payer, Share};

/// Accounts of one address that are written to: a family, or a teacher with some.
const ACCOUNTS_OF_ADDRESS: u32 = 5;

/// How long the link that verifies an address is good: people read their mail within a day.
const VERIFY_LIFETIME: Duration = Duration::from_hours(24);

/// How long a link to a new password is good: whoever asked for it waits for it.
const RESET_LIFETIME: Duration = Duration::from_hours(1);

impl Accounts {
    /// The mail address of an account, if it has one.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn mail(&self, owner: &PlayerId) -> Result<Option<StoredMail>, StoreError> {
        self.inner.store.mail(owner).await
    }

    /// Sets the mail address of an account, which is nobody's for sure until the link that goes there is opened. It
    /// takes the password, for from there on a new one can be had: a session that was left open must not be enough.
    ///
    /// # Errors
    ///
    /// [`AccountError::BadCredentials`] if the password is wrong; or too many wrong ones came, or too many wait to be
    /// checked.
    pub(crate) async fn set_mail(
        &self,
        from: IpAddr,
        session: &Authenticated,
        password: Secret,
        address: MailAddress,
        language: &str,
    ) -> Result<StoredMail, AccountError> {
        self.confirm(from, &session.identity, password).await?;
        let mail = StoredMail {
            owner: session.identity.id.clone(),
            address,
            language: language.to_owned(),
            notices: false,
            since: UnixMillis::now(),
            verified_at: None,
        };
        self.write(Write::SetMail(mail.clone())).await?;
        info!(player = %mail.owner, "mail address set");
        Ok(mail)
    }

    /// Forgets the mail address of an account.
    ///
    /// # Errors
    ///
    /// [`AccountError::NoMail`] if there is none.
    pub(crate) async fn remove_mail(&self, owner: &PlayerId) -> Result<(), AccountError> {
        self.write(Write::RemoveMail { owner: owner.clone() }).await?;
        info!(player = %owner, "mail address removed");
        Ok(())
    }

    /// Says whether somebody is told of bots that are paused.
    ///
    /// # Errors
    ///
    /// [`AccountError::NoMail`] if there is no address.
    pub(crate) async fn set_notices(&self, owner: &PlayerId, notices: bool) -> Result<(), AccountError> {
        self.write(Write::SetNotices { owner: owner.clone(), notices }).await.map(|_| ())
    }

    /// Somebody asks for a link by mail, or comes with one, known or unknown.
    ///
    /// # Errors
    ///
    /// Too many came from there.
    pub(crate) fn note_mail_link(&self, from: IpAddr) -> Result<(), AccountError> {
        Ok(self.inner.shares.spend(Share::MailLink, &Payer::stranger(from))?)
    }

    /// Makes the secret of a link that verifies the address of an account, in the place of the one before.
    ///
    /// # Errors
    ///
    /// [`AccountError::NoMail`] if there is no address.
    pub(crate) async fn verifying_link(&self, owner: &PlayerId) -> Result<Secret, AccountError> {
        self.mail_link(owner, LinkPurpose::Verify, VERIFY_LIFETIME).await
    }

    /// Makes the secret of a link to a new password, in the place of the one before.
    ///
    /// # Errors
    ///
    /// As of [`Self::verifying_link`].
    pub(crate) async fn reset_link(&self, owner: &PlayerId) -> Result<Secret, AccountError> {
        self.mail_link(owner, LinkPurpose::Reset, RESET_LIFETIME).await
    }

    async fn mail_link(
        &self,
        owner: &PlayerId,
        purpose: LinkPurpose,
        lasts: Duration,
    ) -> Result<Secret, AccountError> {
        let secret = token::draw_link(&mut chance());
        let (digest, expires_at) = (token::digest(&secret), UnixMillis::now().later(lasts));
        self.write(Write::AddMailLink(MailLink { owner: owner.clone(), purpose, digest, expires_at }))
            .await?;
        Ok(secret)
    }

    /// Some accounts to which an address belongs for sure.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn accounts_at(&self, address: &MailAddress) -> Result<Vec<StoredMail>, StoreError> {
        self.inner.store.mails_at(address, ACCOUNTS_OF_ADDRESS).await
    }

    /// Whoever has the link that was sent to an address reads the mail there.
    ///
    /// # Errors
    ///
    /// [`AccountError::LinkUsed`] if it is none (any more).
    pub(crate) async fn verify_mail(&self, link: &Secret) -> Result<(), AccountError> {
        let digest = digest_of(link)?;
        self.write(Write::VerifyMail { digest, at: UnixMillis::now() }).await?;
        info!("mail address verified");
        Ok(())
    }

    /// Sets a new password for whoever has the link that was sent to the address of the account, and ends all its
    /// sessions.
    ///
    /// # Errors
    ///
    /// [`AccountError::LinkUsed`] if it is none (any more); the password breaks its rule; or too many came from there,
    /// or too many wait to be hashed.
    pub(crate) async fn reset_password_by(
        &self,
        from: IpAddr,
        link: &Secret,
        new: Secret,
    ) -> Result<(), AccountError> {
        password::check_rule(&new)?;
        let digest = digest_of(link)?;
        self.inner.shares.spend(Share::SignIn, &Payer::stranger(from))?;
        let password = self.inner.passwords.hash(from, new).await?;
        self.write(Write::ResetPassword { digest, password, at: UnixMillis::now() }).await?;
        info!("password set by a link");
        Ok(())
    }
}

fn digest_of(link: &Secret) -> Result<[u8; 32], AccountError> {
    if token::is_link(link) { Ok(token::digest(link)) } else { Err(AccountError::LinkUsed) }
}
