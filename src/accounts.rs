//! Who somebody is: accounts with a name and a password, bots with a token, guests with a signed cookie.
//!
//! This service reads the store, writes through the [`Writer`] and knows nothing of HTTP or sockets. What it owns
//! beside that is in memory and small: the queue for password hashes.

pub(crate) mod blocks;
mod counters;
mod error;
mod follows;
mod guest;
mod idle_guests;
mod lifecycle;
mod mail;
mod moderation;
mod names;
pub(crate) mod operators;
mod password;
mod portraits;
mod rating_reset;
pub(crate) mod reporting;
mod stored_guests;
pub(crate) mod token;
mod vacations;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast;
use tracing::{debug, info};

pub use self::error::{AccountError, TieError};
pub(crate) use self::guest::{GUEST_LIFETIME_MS, is_guest};

use self::blocks::Blocks;
use self::counters::Counters;
use self::idle_guests::IdleGuestRows;
pub(crate) use self::names::NameRules;
use self::operators::Proofs;
use self::password::Passwords;
use self::stored_guests::StoredGuests;
use crate::model::device::Device;
use crate::model::ids::{PlayerId, PlayerName, TokenId};
use crate::model::invitation::InvitationCode;
use crate::model::player::Identity;
use crate::model::player::PlayerKind;
use crate::model::portrait::Portrait;
use crate::model::secret::Secret;
use crate::model::signing::Signer;
use crate::storage::moderation::{Because, Measure, MeasureKind};
use crate::storage::record::{BotProfile, StoredPlayer, StoredToken, TokenKind, TokenScope};

use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::store::{Refused, StoreError, Teaching, Write, Written};
use crate::storage::writer::WriteError;
use crate::storage::{Store, Writer};
use crate::system::shares::{Payer, Share, Shares};
use crate::system::supervision::Supervision;

/// How long somebody stays signed in: 30 days.
pub(crate) const SESSION_LIFETIME_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// How long before its end a guest's cookie is renewed by a visit: two thirds of its life are left unrenewed, so that
/// most pages set no cookie.
const GUEST_RENEWAL_MS: i64 = GUEST_LIFETIME_MS / 3;

/// Bots of one account. More are no experiment any more but a flood.
const BOTS_MAX: u32 = 100;

/// Tokens of one bot: for each machine that it runs on, and some that were forgotten.
const TOKENS_MAX: u32 = 20;

/// Sessions of one person that are stored. Whoever signs in on one device more is signed out on that of longest ago.
const SESSIONS_MAX: u32 = 20;

/// How long a use of a session is not noted again: who looks for a stranger's session sees enough by it, and whoever is
/// at the pages all day costs six writes an hour.
const USE_NOTED_EVERY: Duration = Duration::from_mins(10);

/// Names that are tried for a guest, or for somebody who left, before giving up; already the second is hardly ever
/// needed.
const NAME_ATTEMPTS: u8 = 8;

/// Revocations that a receiver may lag behind before it must ask the store about each of its tokens.
const REVOCATIONS_MAX: usize = 1_024;

/// Somebody who proved who they are with a stored credential.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Authenticated {
    pub(crate) identity: Identity,
    /// The credential, whose revocation ends this.
    pub(crate) token: TokenId,
    /// What it may be used for.
    pub(crate) scope: TokenScope,
}

/// What a new token of a bot is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TokenWish {
    /// After how long it ends by itself; never if left out.
    pub(crate) lasts: Option<Duration>,
    pub(crate) scope: TokenScope,
}

/// A password that nobody guesses, for people who change it later.
pub(crate) fn draw_password() -> Secret {
    password::draw()
}

/// An invitation by which somebody registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invited {
    pub(crate) code: InvitationCode,
    /// People who may register by it in all.
    pub(crate) uses: u32,
}

/// A fresh credential. This is the only time its secret is seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Issued {
    pub(crate) identity: Identity,
    pub(crate) token: TokenId,
    pub secret: Secret,
}

/// A guest and the cookie that proves it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Guest {
    pub(crate) identity: Identity,
    /// A new cookie, when there was none or the old one is getting old.
    pub(crate) cookie: Option<Secret>,
}

/// The accounts service; cheap to clone.
#[derive(Clone, Debug)]
pub struct Accounts {
    inner: Arc<AccountsInner>,
}

#[derive(Debug)]
struct AccountsInner {
    store: Arc<dyn Store>,
    writer: Writer,
    signer: Signer,
    passwords: Passwords,
    counters: Counters,
    names: NameRules,
    shares: Shares,
    idle_guests: IdleGuestRows,
    stored_guests: StoredGuests,
    proofs: Proofs,
    blocks: Blocks,
    revoked: broadcast::Sender<Revoked>,
}

/// Somebody who has given the right password.
struct Proven {
    player: StoredPlayer,
    /// PHC string of it, as it was stored then.
    password: String,
}

/// What proves nothing any more. Connections that rest on it are closed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Revoked {
    /// A credential.
    Token(TokenId),
    /// Being this guest: there is an account now.
    Guest(PlayerId),
    /// The right of this player to be here.
    Player(PlayerId),
    /// The right of this player to ask others.
    Voice(PlayerId),
    /// The name of this player.
    Name(PlayerId),
}

impl Accounts {
    /// Makes the service. `signer` has the secret key of the data directory.
    pub(crate) fn new(store: Arc<dyn Store>, writer: Writer, signer: Signer, shares: Shares) -> Self {
        let (revoked, _) = broadcast::channel(REVOCATIONS_MAX);
        let counters = Counters::new(Arc::clone(&store), signer.clone());
        let inner = AccountsInner {
            store,
            writer,
            signer,
            passwords: Passwords::new(&shares, Supervision::default()),
            counters,
            names: NameRules::default(),
            shares,
            idle_guests: IdleGuestRows::default(),
            stored_guests: StoredGuests::default(),
            proofs: Proofs::default(),
            blocks: Blocks::default(),
            revoked,
        };
        Self { inner: Arc::new(inner) }
    }

    /// The same, whose panics are counted. For a service that nobody has a copy of yet.
    pub(crate) fn supervised(mut self, supervision: Supervision) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.passwords = Passwords::new(&inner.shares, supervision);
        }
        self
    }

    /// The same, where names keep to these rules. For a service that nobody has a copy of yet.
    pub(crate) fn naming(mut self, names: NameRules) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.names = names;
        }
        self
    }

    /// What is revoked, as it happens. Whoever keeps a connection open by right of it closes it then; whoever lags asks
    /// [`token_by_id`](crate::storage::people::PeopleStore::token_by_id) about each token and [`is_guest`] about each
    /// guest instead.
    pub(crate) fn revocations(&self) -> broadcast::Receiver<Revoked> {
        self.inner.revoked.subscribe()
    }

    // ---- people ----

    /// Makes an account for a person who connects from `from`.
    ///
    /// # Errors
    ///
    /// The name or password breaks its rule, the name is taken, the invitation is used up, too many accounts come from
    /// there, or too many passwords wait to be hashed.
    pub(crate) async fn register(
        &self,
        from: IpAddr,
        name: &str,
        password: Secret,
        invitation: Option<&Invited>,
    ) -> Result<Identity, AccountError> {
        let (name, phc) = self.prepare(from, name, password, invitation).await?;
        let player = new_player(name, PlayerKind::Human, None);
        let identity = identity_of(&player);
        self.admit_by(invitation, &identity.id, &identity.name).await?;
        self.write(Write::AddPlayer { player, password: Some(phc) }).await?;
        self.take_from_guest(&identity.name).await?;
        info!(player = %identity.id, name = %identity.name, "account created");
        Ok(identity)
    }

    /// Uses an invitation for a player, of whom the log says so. If the account then cannot be made after all, as
    /// somebody took the name in that moment, the use is gone: what operators read in the log is always enough, never
    /// too little.
    async fn admit_by(
        &self,
        invitation: Option<&Invited>,
        player: &PlayerId,
        name: &PlayerName,
    ) -> Result<(), AccountError> {
        let Some(Invited { code, uses }) = invitation.cloned() else { return Ok(()) };
        let reason = "has registered by an invitation".to_owned();
        let because = Because { reason, by: name.to_string(), at: UnixMillis::now() };
        let kind = MeasureKind::Admit { code, uses };
        self.write(Write::TakeMeasure(Measure { player: player.clone(), kind, because })).await?;
        Ok(())
    }

    /// Somebody says the code of an invitation. The right one counts as a wrong one does, or one could guess on and on.
    ///
    /// # Errors
    ///
    /// Too many came from there.
    pub(crate) fn note_invitation(&self, from: IpAddr) -> Result<(), AccountError> {
        Ok(self.inner.shares.spend(Share::Invitation, &Payer::stranger(from))?)
    }

    /// Whether an invitation lets somebody in, before a password is hashed for nothing.
    async fn check_invitation(&self, Invited { code, uses }: &Invited) -> Result<(), AccountError> {
        let admitted = self.inner.store.admitted(code).await?;
        if admitted < *uses { Ok(()) } else { Err(AccountError::InvitationUsedUp) }
    }

    /// Checks what an account is to be made of, and hashes its password. Without an invitation, it is one of those
    /// that may come from there.
    async fn prepare(
        &self,
        from: IpAddr,
        name: &str,
        password: Secret,
        invitation: Option<&Invited>,
    ) -> Result<(PlayerName, String), AccountError> {
        let name = PlayerName::register(name)?;
        password::check_rule(&password)?;
        if self.inner.store.player_by_name(&name).await?.is_some() {
            return Err(AccountError::NameTaken);
        }
        match invitation {
            Some(invited) => self.check_invitation(invited).await?,
            None => self.inner.shares.spend(Share::Registration, &Payer::stranger(from))?,
        }
        self.check_name(&name, None).await?;
        Ok((name, self.inner.passwords.hash(from, password).await?))
    }

    /// Signs a person in who connects from `from`.
    ///
    /// # Errors
    ///
    /// [`AccountError::BadCredentials`] alike for a wrong password and an unknown name, after the same time; or too
    /// many wrong passwords came for this account or from there, or too many wait to be checked.
    pub(crate) async fn sign_in(
        &self,
        from: IpAddr,
        name: &str,
        password: Secret,
        device: Device,
    ) -> Result<Issued, AccountError> {
        let Proven { player, password } = self.prove(from, name, password).await?;
        self.begin_session(&player, device, Some(password)).await
    }

    /// Whose name and password these are. All attempts draw on a share of the network; wrong ones are counted besides.
    async fn prove(&self, from: IpAddr, name: &str, password: Secret) -> Result<Proven, AccountError> {
        self.inner.shares.spend(Share::SignIn, &Payer::stranger(from))?;
        let network = self.inner.shares.counted(from);
        let attempt = self.inner.counters.begin_sign_in(name, network).await?;
        let checked = self.check_password(from, name, password).await;
        match &checked {
            Ok(_) => self.inner.counters.was_right(&attempt).await,
            // Counted when it began.
            Err(AccountError::BadCredentials) => {}
            Err(_) => self.inner.counters.withdraw(&attempt).await,
        }
        checked
    }

    /// Opens a session for somebody who has just registered.
    ///
    /// # Errors
    ///
    /// Nobody has that id, or the store failed.
    pub async fn open_session(&self, player: &PlayerId, device: Device) -> Result<Issued, AccountError> {
        let player = self.inner.store.player(player).await?.ok_or(AccountError::BadCredentials)?;
        self.begin_session(&player, device, None).await
    }

    /// Ends one session.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn sign_out(&self, session: &Authenticated) -> Result<(), AccountError> {
        self.revoke(&session.identity.id, Some(session.token.clone())).await?;
        Ok(())
    }

    /// Whose session cookie this is.
    ///
    /// # Errors
    ///
    /// [`AccountError::Unauthorized`] if it is unknown, expired or revoked.
    pub(crate) async fn session(&self, cookie: &Secret) -> Result<Authenticated, AccountError> {
        self.by_secret(TokenKind::Session, cookie).await
    }

    /// Allows bots of the house to learn from a person's games and those of its bots, or keeps them out.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn set_teaching(
        &self,
        player: &PlayerId,
        teaching: Teaching,
    ) -> Result<(), AccountError> {
        self.write(Write::SetTeaching { player: player.clone(), teaching }).await?;
        info!(player = %player, ?teaching, "learning from a player's games");
        Ok(())
    }

    async fn check_password(
        &self,
        from: IpAddr,
        name: &str,
        password: Secret,
    ) -> Result<Proven, AccountError> {
        let player = match name.parse::<PlayerName>() {
            Ok(name) => self.inner.store.player_by_name(&name).await?,
            Err(_) => None,
        };
        let stored = match &player {
            Some(player) => self.inner.store.password(&player.id).await?,
            None => None,
        };
        let is_right = self.inner.passwords.verify(from, password, stored.clone()).await?;
        let proven = player.zip(stored).filter(|_| is_right);
        let (player, password) = proven.ok_or(AccountError::BadCredentials)?;
        self.admit(&player).await?;
        Ok(Proven { player, password })
    }

    // ---- bots ----

    /// Makes a bot with its first token.
    ///
    /// # Errors
    ///
    /// The owner is no person with an account or has `BOTS_MAX` bots; or the name breaks its rule or is taken.
    pub async fn create_bot(&self, owner: &Identity, name: &str) -> Result<Issued, AccountError> {
        match owner.kind {
            PlayerKind::Human => {}
            PlayerKind::Bot | PlayerKind::Guest => return Err(AccountError::NoAccount),
        }
        let name = PlayerName::register(name)?;
        self.check_name(&name, None).await?;
        let bot = new_player(name, PlayerKind::Bot, Some(owner.id.clone()));
        let (token, secret) = draw_token(&bot.id, TokenKind::Bot);
        let issued = Issued { identity: identity_of(&bot), token: token.id.clone(), secret };
        // How many there are is looked at where they are written: requests that race must not slip through together.
        let added = self.write(Write::AddBot { bot, token, at_most: BOTS_MAX }).await;
        added.map_err(|error| match error {
            // It has ended since it was asked who that is.
            AccountError::Unexpected(Refused::NoSuchPlayer) => AccountError::NoAccount,
            error => error.if_too_many(AccountError::TooManyBots { max: BOTS_MAX }),
        })?;
        let Identity { id, name, .. } = &issued.identity;
        self.take_from_guest(name).await?;
        info!(player = %id, %name, owner = %owner.id, "bot created");
        Ok(issued)
    }

    /// The bot of that name, if `owner` owns it.
    ///
    /// # Errors
    ///
    /// [`AccountError::NoSuchBot`] if there is none, [`AccountError::NotYours`] if it is somebody else's.
    pub(crate) async fn bot_of(&self, owner: &Identity, name: &PlayerName) -> Result<PlayerId, AccountError> {
        let bot = self.inner.store.player_by_name(name).await?;
        let bot = bot.filter(|player| player.kind == PlayerKind::Bot).ok_or(AccountError::NoSuchBot)?;
        if bot.owner.as_ref() == Some(&owner.id) { Ok(bot.id) } else { Err(AccountError::NotYours) }
    }

    /// Makes one more token for a bot. Those before it stay valid.
    ///
    /// # Errors
    ///
    /// [`AccountError::NoSuchBot`] if there is none, or it is a bot of the house, which needs no token;
    /// [`AccountError::TooManyTokens`] if it has `TOKENS_MAX`.
    pub(crate) async fn new_token(&self, bot: &PlayerId) -> Result<Issued, AccountError> {
        self.new_token_as(bot, TokenWish::default()).await
    }

    /// The same as somebody wishes.
    ///
    /// # Errors
    ///
    /// As of [`Self::new_token`].
    pub(crate) async fn new_token_as(&self, bot: &PlayerId, wish: TokenWish) -> Result<Issued, AccountError> {
        let (token, secret) = draw_token(bot, TokenKind::Bot);
        let TokenWish { lasts, scope } = wish;
        let expires_at = lasts.map(|lasts| UnixMillis(token.created_at.0.saturating_add(whole_ms(lasts))));
        self.issue(&self.remote_bot(bot).await?, StoredToken { expires_at, scope, ..token }, secret, None)
            .await
    }

    async fn remote_bot(&self, bot: &PlayerId) -> Result<StoredPlayer, AccountError> {
        let player = self.inner.store.player(bot).await?;
        let is_remote = |player: &StoredPlayer| player.kind == PlayerKind::Bot && !player.house;
        player.filter(is_remote).ok_or(AccountError::NoSuchBot)
    }

    /// Revokes all tokens of a bot, or all sessions of a person, and says how many there were.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn revoke_tokens(&self, player: &PlayerId) -> Result<usize, AccountError> {
        let count = self.revoke(player, None).await?;
        info!(player = %player, count, "tokens revoked");
        Ok(count)
    }

    /// A bot's tokens, the newest first.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn bot_tokens(&self, bot: &PlayerId) -> Result<Vec<StoredToken>, StoreError> {
        let mut tokens = self.inner.store.tokens_of(bot, UnixMillis::now()).await?;
        tokens.retain(|token| token.kind == TokenKind::Bot);
        Ok(tokens)
    }

    /// Revokes one token of a bot.
    ///
    /// # Errors
    ///
    /// [`AccountError::NoSuchToken`] if the bot has no such token (any more).
    pub(crate) async fn revoke_token(&self, bot: &PlayerId, token: &TokenId) -> Result<(), AccountError> {
        match self.revoke(bot, Some(token.clone())).await? {
            0 => Err(AccountError::NoSuchToken),
            _ => Ok(()),
        }
    }

    /// Puts a new token in the place of one, which ends.
    ///
    /// # Errors
    ///
    /// As of [`Self::revoke_token`], and then there is no new one either.
    pub(crate) async fn rotate_token(&self, bot: &PlayerId, token: &TokenId) -> Result<Issued, AccountError> {
        let identity = identity_of(&self.remote_bot(bot).await?);
        let before = self.inner.store.token_by_id(token, UnixMillis::now()).await?;
        let scope = before.map_or_else(TokenScope::default, |before| before.scope);
        let (new, secret) = draw_token(bot, TokenKind::Bot);
        let new = StoredToken { scope, ..new };
        let issued = Issued { identity, token: new.id.clone(), secret };
        self.write(Write::RotateToken { old: token.clone(), new }).await?;
        Ok(issued)
    }

    /// Whose bearer token this is.
    ///
    /// # Errors
    ///
    /// [`AccountError::Unauthorized`] if it is unknown or revoked.
    pub(crate) async fn authenticate(&self, token: &Secret) -> Result<Authenticated, AccountError> {
        self.by_secret(TokenKind::Bot, token).await
    }

    // ---- guests ----

    /// Makes somebody up. Nothing is stored.
    pub(crate) fn new_guest(&self) -> Guest {
        let id = PlayerId::random(&mut chance());
        let cookie = Some(self.sign_guest(&id, UnixMillis::now()));
        Guest { identity: guest::identity(id, 0), cookie }
    }

    /// The guest whose cookie this is, or nobody if it is not ours or has expired.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn guest(&self, cookie: &Secret) -> Result<Option<Guest>, AccountError> {
        let now = UnixMillis::now();
        let Some((id, expires_at)) = guest::verify(&self.inner.signer, cookie, now) else {
            return Ok(None);
        };
        let is_ageing = expires_at.0.saturating_sub(now.0) < GUEST_RENEWAL_MS;
        let cookie = is_ageing.then(|| self.sign_guest(&id, now));
        // Somebody who has played is stored, perhaps under another name than the first that the id gives.
        let identity = match self.inner.store.player(&id).await? {
            None => guest::identity(id, 0),
            Some(player) if is_guest(&player) => identity_of(&player),
            // The guest has an account now, or had one: only its password opens that.
            Some(_) => return Ok(None),
        };
        Ok(Some(Guest { identity, cookie }))
    }

    /// Stores a guest who is about to play; for anybody else, and a second time, it does nothing. The identity that
    /// comes back has another name if somebody else had the first one.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn ensure_guest_stored(&self, who: &Identity) -> Result<Identity, AccountError> {
        match who.kind {
            PlayerKind::Guest => {}
            PlayerKind::Human | PlayerKind::Bot => return Ok(who.clone()),
        }
        if let Some(known) = self.inner.stored_guests.get(&who.id) {
            return Ok(known);
        }
        let identity = self.store_once(who).await?;
        if identity.kind == PlayerKind::Guest {
            self.inner.stored_guests.remember(&identity);
        }
        Ok(identity)
    }

    async fn store_once(&self, who: &Identity) -> Result<Identity, AccountError> {
        for attempt in 0..NAME_ATTEMPTS {
            if let Some(player) = self.inner.store.player(&who.id).await? {
                return Ok(identity_of(&player));
            }
            let identity = guest::identity(who.id.clone(), attempt);
            let player = StoredPlayer {
                id: identity.id.clone(),
                ..new_player(identity.name.clone(), PlayerKind::Guest, None)
            };
            match self.store_guest(player).await {
                Ok(()) => return Ok(identity),
                Err(AccountError::NameTaken) => {}
                Err(other) => return Err(other),
            }
        }
        Err(AccountError::NameTaken)
    }

    /// Stores a guest, in the place of one whom nobody comes back to if there is one.
    async fn store_guest(&self, player: StoredPlayer) -> Result<(), AccountError> {
        if let Some((old, idle)) = self.inner.idle_guests.take() {
            self.inner.stored_guests.forget(&old);
            let replaced = self.write(Write::ReplaceGuest { old, new: player.clone(), idle }).await;
            match replaced {
                // Somebody has come back meanwhile.
                Err(AccountError::Unexpected(Refused::NoSuchPlayer)) => {}
                other => return other.map(|_| ()),
            }
        }
        self.write(Write::AddPlayer { player, password: None }).await.map(|_| ())
    }

    fn sign_guest(&self, id: &PlayerId, now: UnixMillis) -> Secret {
        guest::sign(&self.inner.signer, id, UnixMillis(now.0 + GUEST_LIFETIME_MS))
    }

    // ---- credentials ----

    /// A session for somebody who has given the password of this PHC string: it may be another one by the time that
    /// the session is stored, and then there is none.
    async fn begin_session(
        &self,
        player: &StoredPlayer,
        device: Device,
        password: Option<String>,
    ) -> Result<Issued, AccountError> {
        let (token, secret) = draw_token(&player.id, TokenKind::Session);
        let token = StoredToken { device: Some(device), ..token };
        self.issue(player, token, secret, password).await
    }

    async fn issue(
        &self,
        player: &StoredPlayer,
        token: StoredToken,
        secret: Secret,
        password: Option<String>,
    ) -> Result<Issued, AccountError> {
        let issued = Issued { identity: identity_of(player), token: token.id.clone(), secret };
        let at_most = match token.kind {
            TokenKind::Bot => TOKENS_MAX,
            TokenKind::Session => SESSIONS_MAX,
        };
        let added = self.write(Write::AddToken { token, at_most, password }).await;
        added.map_err(|error| match error {
            // The account or bot has ended since it was asked who that is.
            AccountError::Unexpected(Refused::NoSuchPlayer) => AccountError::BadCredentials,
            error => error.if_too_many(AccountError::TooManyTokens { max: at_most }),
        })?;
        Ok(issued)
    }

    async fn by_secret(&self, kind: TokenKind, secret: &Secret) -> Result<Authenticated, AccountError> {
        if !token::has_form(kind, secret) {
            return Err(AccountError::Unauthorized);
        }
        let digest = token::digest(secret);
        let found = self.inner.store.token(&digest, UnixMillis::now()).await?;
        let found =
            found.filter(|stored| token::matches(stored, kind, &digest)).ok_or(AccountError::Unauthorized)?;
        let player = self.inner.store.player(&found.player).await?.ok_or(AccountError::Unauthorized)?;
        let has_such = match kind {
            TokenKind::Session => player.kind == PlayerKind::Human,
            TokenKind::Bot => player.kind == PlayerKind::Bot,
        };
        if !has_such {
            return Err(AccountError::Unauthorized);
        }
        self.admit(&player).await?;
        if kind == TokenKind::Session {
            self.note_use(&found);
        }
        Ok(Authenticated { identity: identity_of(&player), token: found.id, scope: found.scope })
    }

    /// Notes that a session is used, unless that was noted just now. Nobody waits for it, and little is lost if it
    /// cannot be stored: the next use is noted again.
    fn note_use(&self, session: &StoredToken) {
        let at = UnixMillis::now();
        if at.after(session.used_at.unwrap_or(session.created_at)) < USE_NOTED_EVERY {
            return;
        }
        let (writer, token) = (self.inner.writer.clone(), session.id.clone());
        tokio::spawn(async move {
            if let Err(error) = writer.write(Write::NoteUse { token, at }).await {
                debug!(error = %error, "the use of a session is not noted");
            }
        });
    }

    async fn revoke(&self, player: &PlayerId, only: Option<TokenId>) -> Result<usize, AccountError> {
        match self.write(Write::RevokeTokens { player: player.clone(), only }).await? {
            Written::Revoked(tokens) => Ok(tokens.len()),
            Written::Done | Written::Settled(_) => Ok(0),
        }
    }

    /// Writes, and tells of what is revoked by it. A task does so: whoever asked may hang up in between, and what is
    /// revoked is revoked all the same.
    async fn write(&self, write: Write) -> Result<Written, AccountError> {
        let accounts = Arc::clone(&self.inner);
        let writing = tokio::spawn(async move {
            let written = accounts.writer.write(write).await;
            if let Ok(Written::Revoked(tokens)) = &written {
                for token in tokens {
                    // Nobody listens when no session is open.
                    let _ = accounts.revoked.send(Revoked::Token(token.clone()));
                }
            }
            written
        });
        let written = writing.await.map_err(|_| AccountError::Write(Arc::new(StoreError::Closed)))?;
        written.map_err(refused)
    }
}

/// What a refusal of the writer means here.
fn refused(error: WriteError) -> AccountError {
    match error {
        WriteError::Refused(Refused::NameTaken) => AccountError::NameTaken,
        WriteError::Refused(Refused::NoSuchToken) => AccountError::NoSuchToken,
        WriteError::Refused(Refused::PasswordChanged) => AccountError::BadCredentials,
        WriteError::Refused(Refused::NotBanned) => AccountError::NotBanned,
        WriteError::Refused(Refused::NotMuted) => AccountError::NotMuted,
        WriteError::Refused(Refused::NoMail) => AccountError::NoMail,
        WriteError::Refused(Refused::NoMailLink) => AccountError::LinkUsed,
        WriteError::Refused(Refused::UsedUp) => AccountError::InvitationUsedUp,
        WriteError::Refused(Refused::OperatorAlready) => AccountError::OperatorAlready,
        WriteError::Refused(Refused::NoOperator) => AccountError::NoOperator,
        WriteError::Refused(Refused::FactorUsed) => AccountError::WrongCode,
        WriteError::Refused(Refused::ReportedAlready) => AccountError::ReportedAlready,
        WriteError::Refused(other) => AccountError::Unexpected(other),
        WriteError::Busy => AccountError::Busy,
        WriteError::Obstructed(obstacle) => AccountError::Obstructed(obstacle),
        WriteError::Store(error) => AccountError::Write(error),
    }
}

/// Milliseconds as times are counted; the end of time for what lasts longer.
fn whole_ms(lasts: Duration) -> i64 {
    i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX)
}

/// A fresh credential as it is stored, and its secret, which is not.
fn draw_token(player: &PlayerId, kind: TokenKind) -> (StoredToken, Secret) {
    let mut rng = chance();
    let secret = token::draw(kind, &mut rng);
    let now = UnixMillis::now();
    let expires_at = match kind {
        TokenKind::Bot => None,
        TokenKind::Session => Some(UnixMillis(now.0 + SESSION_LIFETIME_MS)),
    };
    let token = StoredToken {
        id: TokenId::random(&mut rng),
        player: player.clone(),
        kind,
        digest: token::digest(&secret),
        created_at: now,
        expires_at,
        device: None,
        used_at: None,
        scope: TokenScope::Manage,
    };
    (token, secret)
}

fn new_player(name: PlayerName, kind: PlayerKind, owner: Option<PlayerId>) -> StoredPlayer {
    StoredPlayer {
        id: PlayerId::random(&mut chance()),
        name,
        kind,
        house: false,
        owner,
        profile: BotProfile::default(),
        portrait: Portrait::default(),
        created_at: UnixMillis::now(),
        ban: None,
        mute: None,
        start: None,
    }
}

/// A stored player as sessions and rooms carry it.
pub fn identity_of(player: &StoredPlayer) -> Identity {
    Identity {
        id: player.id.clone(),
        name: player.name.clone(),
        kind: player.kind,
        owner: player.owner.clone(),
    }
}
