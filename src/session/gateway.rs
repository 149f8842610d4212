//! Opens and resumes sessions.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tracing::{info, warn};

use super::client_session::ClientSession;
use super::doors::Comer;
use super::port::{Caller, Credential, Gateway, Opened, RESUME_WITHIN, RefusedHello};
use super::resume_token::ResumeToken;
use super::services::{Offers, Services, Unheard};
use super::session_task::SessionTask;
use crate::accounts::{AccountError, is_guest};
use crate::model::ids::{PlayerId, SessionId, TokenId};
use crate::model::player::Identity;
use crate::model::secret::Secret;
use crate::model::text::{Lines, check_text, rule_against};
use crate::play::incident::failure;
use crate::play::presence::outbox::{Attachment, Outbox};
use crate::play::presence::session::{
    NewSession, NotResumed, Returning, Session, SessionCommand, SessionEnding, SessionInbox, is_single,
};
use crate::play::room::{Connection, Recipient};
use crate::play::share;
use crate::protocol::client::{Hello, Resume, Settings as Declared};

use crate::model::player::PlayerKind;
use crate::protocol::server::{Notice, NoticeCode};
use crate::protocol::{CloseCode, ErrorCode, Frame, NEEDS_MAX, PROTOCOL_VERSION, ServerMessage, WireError};
use crate::storage::record::{BotProfile, TokenScope};

use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::store::Write;
use crate::system::config::SiteOrigin;
use crate::system::shares::{Busy, Payer, Refusal, Share};

/// Longest text that a bot says about itself.
const PROFILE_CHARS_MAX: usize = 140;

/// When to try again if a session could not be opened because of us. A store that is away is back within seconds, and
/// a daemon whose disk has failed starts anew.
const RETRY_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Opens sessions over the daemon's services.
#[derive(Clone, Debug)]
pub struct SessionGateway {
    services: Arc<Services>,
}

/// A `hello` whose sender is known.
struct KnownHello {
    hello: Hello,
    profile: Option<BotProfile>,
    proven: Proven,
    address: IpAddr,
    site: Option<SiteOrigin>,
}

/// A session that is being opened. What is asked of it meanwhile waits in the inbox.
///
/// Dropped before its task owns it, as after a panic, it is struck out: nobody else would ever end it.
struct OwnedSession {
    session: Arc<Session>,
    services: Arc<Services>,
    /// `None` once its task has it.
    inbox: Option<SessionInbox>,
}

impl Drop for OwnedSession {
    fn drop(&mut self) {
        let unowned = self.inbox.take();
        // Without a runtime everything ends.
        if unowned.is_some() && Handle::try_current().is_ok() {
            let (session, services) = (Arc::clone(&self.session), Arc::clone(&self.services));
            self.services.tasks.spawn(async move {
                services
                    .strike_out(&session, SessionEnding::silent(Connection::Lost, CloseCode::Restart))
                    .await;
            });
        }
    }
}

/// Older sessions of a player whose session is opened.
struct Olders {
    /// Those that give way.
    sessions: Vec<Arc<Session>>,
    /// Ends of games that were told to one of them, or to nobody.
    unheard: Unheard,
}

/// What became of a wish to go on.
enum Resumed {
    Yes(Opened),
    /// A fresh session begins.
    No(Unheard),
}

/// Who is at the other end.
struct Proven {
    identity: Identity,
    credential: Option<TokenId>,
}

#[async_trait]
impl Gateway for SessionGateway {
    async fn check_token(&self, token: &Secret) -> Result<(), AccountError> {
        let checked = self.services.accounts.authenticate(token).await.map(drop);
        match checked {
            // The socket tells: with the reason, and a code that says not to come back.
            Ok(()) | Err(AccountError::Banned(_)) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Opens in a task of its own, which a socket that gives up cannot stop half way: what was attached must be let go.
    async fn open(&self, hello: Hello, id: Option<String>, caller: Caller) -> Result<Opened, RefusedHello> {
        let (answer, opened) = oneshot::channel();
        let gateway = self.clone();
        self.services.tasks.spawn(async move {
            let has_given_up = || answer.is_closed();
            let address = caller.address;
            let resume_token = hello.resume.as_ref().and_then(|resume| gateway.read_resume_token(resume));
            let comer = gateway.comer(resume_token.as_ref());
            // Boxed, for it is large and handed on.
            let opening =
                Box::pin(gateway.find_or_open(hello, id.as_deref(), caller, resume_token, has_given_up));
            let came = gateway.services.doors.come(comer, address, opening).await;
            let result = came.unwrap_or_else(|Busy| Err(crowded()));
            // Whoever gave up does not take it: it is let go where it is dropped, here or on the way.
            let _ = answer.send(result);
        });
        opened.await.unwrap_or_else(|panicked| Err(refuse(&panicked)))
    }

    fn refused(&self, code: ErrorCode) {
        self.services.metrics.refused_on_socket(code.as_str());
    }
}

impl SessionGateway {
    /// A gateway over these services.
    pub fn new(services: Arc<Services>) -> Self {
        services.metrics.errors_of_socket(ErrorCode::ALL.map(ErrorCode::as_str));
        Self { services }
    }

    /// Refuses whoever comes from where operators let nobody in.
    fn keep_out(&self, address: IpAddr) -> Result<(), RefusedHello> {
        let orders = self.services.host.orders().now();
        match orders.keeps_out(address, UnixMillis::now()) {
            None => Ok(()),
            Some(banned) => Err(RefusedHello::kept_out(banned)),
        }
    }

    /// Refuses a client that needs what is not spoken here.
    fn check_needs(&self, needs: &[String]) -> Result<(), RefusedHello> {
        if needs.len() > NEEDS_MAX {
            let message = format!("needs has at most {NEEDS_MAX} names, this one has {}", needs.len());
            return Err(RefusedHello {
                error: WireError::bad_field("needs", message).fatal(),
                code: CloseCode::Bye,
            });
        }
        let features = &self.services.features;
        let Some(missing) = needs.iter().find(|need| !features.contains(&need.as_str())) else {
            return Ok(());
        };
        let message = format!("{:?} is not spoken here; there are {}", clean(missing), features.join(", "));
        let error = WireError {
            field: Some("needs".to_owned()),
            supported: Some(vec![PROTOCOL_VERSION]),
            ..WireError::new(ErrorCode::BadVersion, message)
        };
        Err(RefusedHello { error: error.fatal(), code: CloseCode::Version })
    }

    async fn find_or_open(
        &self,
        hello: Hello,
        re: Option<&str>,
        caller: Caller,
        resume_token: Option<ResumeToken>,
        has_given_up: impl Fn() -> bool,
    ) -> Result<Opened, RefusedHello> {
        // Nor is anything asked of the store for whoever has gone while others had their turn.
        if has_given_up() {
            return Err(given_up());
        }
        self.keep_out(caller.address)?;
        self.check_needs(&hello.needs)?;
        let proven = self.prove(&hello, &caller, resume_token.as_ref()).await?;
        // What took its time is done. The client may be back by another socket, which must not give way to this one.
        if has_given_up() {
            return Err(given_up());
        }
        let profile = profile_of(&hello)?;
        let request = KnownHello { hello, profile, proven, address: caller.address, site: caller.site };
        let Some(resume_token) =
            resume_token.filter(|resume_token| resume_token.player == request.proven.identity.id)
        else {
            return self.open_fresh(&request, Unheard::Nothing, re).await;
        };
        match self.resume(&request, &resume_token, re).await? {
            Resumed::Yes(opened) => Ok(opened),
            // All sessions end with this process, to go on at the next one: none is replaced by another meanwhile.
            Resumed::No(_) if self.services.sockets_stop.is_cancelled() => Err(stopping()),
            Resumed::No(unheard) => self.open_fresh(&request, unheard, re).await,
        }
    }

    /// As whom somebody comes who holds this secret.
    fn comer(&self, resume_token: Option<&ResumeToken>) -> Comer {
        let is_here = |token: &ResumeToken| self.services.sessions.get(&token.session).is_some();
        match resume_token {
            Some(token) if !is_here(token) && self.is_of_earlier_process(token) => Comer::OfEarlierProcess,
            Some(_) | None => Comer::Any,
        }
    }

    /// Whether a session that is not here was opened by an earlier process, and has not ended in this one.
    fn is_of_earlier_process(&self, resume_token: &ResumeToken) -> bool {
        // From the future: the clock was set back before this process began, or since; then it has ended here.
        let is_from_elsewhen =
            resume_token.issued_at < self.services.started_at || resume_token.issued_at > UnixMillis::now();
        is_from_elsewhen && self.services.departed.of(&resume_token.session).is_none()
    }

    /// What the secret of a session says, if we wrote it for this session.
    fn read_resume_token(&self, resume: &Resume) -> Option<ResumeToken> {
        let resume_token = ResumeToken::read(&self.services.signer, &resume.secret)?;
        (resume_token.session.as_str() == resume.session).then_some(resume_token)
    }

    /// Finds out who calls: by token, by cookie, or by the session that is to go on.
    async fn prove(
        &self,
        hello: &Hello,
        caller: &Caller,
        resume_token: Option<&ResumeToken>,
    ) -> Result<Proven, RefusedHello> {
        let accounts = &self.services.accounts;
        if let Some(token) = &hello.token {
            return self.prove_token(&Secret::new(token.as_str())).await;
        }
        match &caller.credential {
            Credential::Token(token) => self.prove_token(token).await,
            Credential::Cookie(cookie) => {
                match accounts.session(cookie).await {
                    Ok(known) => {
                        return Ok(Proven { identity: known.identity, credential: Some(known.token) });
                    }
                    Err(AccountError::Unauthorized) => {}
                    Err(other) => return Err(refuse_account(&other)),
                }
                match accounts.guest(cookie).await.map_err(|error| refuse(&error))? {
                    Some(guest) => Ok(Proven { identity: guest.identity, credential: None }),
                    None => self.prove_resume_token(resume_token).await,
                }
            }
            Credential::None => self.prove_resume_token(resume_token).await,
        }
    }

    async fn prove_token(&self, token: &Secret) -> Result<Proven, RefusedHello> {
        match self.services.accounts.authenticate(token).await {
            Ok(known) if known.scope == TokenScope::Read => Err(RefusedHello {
                error: WireError::new(ErrorCode::Forbidden, "the token is for reading alone").fatal(),
                code: CloseCode::Credentials,
            }),
            Ok(known) => Ok(Proven { identity: known.identity, credential: Some(known.token) }),
            Err(AccountError::Unauthorized) => Err(RefusedHello {
                error: WireError::new(ErrorCode::Unauthorized, "the token is unknown or revoked").fatal(),
                code: CloseCode::Credentials,
            }),
            Err(other) => Err(refuse_account(&other)),
        }
    }

    /// Whoever holds the secret of a session is its player, as long as the credential behind it is valid. Without a
    /// credential that is a guest: a secret from before the guest made an account does not open the account.
    async fn prove_resume_token(&self, resume_token: Option<&ResumeToken>) -> Result<Proven, RefusedHello> {
        let Some(resume_token) = resume_token else { return Ok(self.new_guest()) };
        let store = &self.services.store;
        if let Some(token) = &resume_token.credential {
            let valid = store.token_by_id(token, UnixMillis::now()).await.map_err(|error| refuse(&error))?;
            if valid.is_none() {
                return Ok(self.new_guest());
            }
        } else if resume_token.has_expired(UnixMillis::now())
            && self.services.sessions.get(&resume_token.session).is_none()
        {
            return Ok(self.new_guest());
        }
        match store.player(&resume_token.player).await.map_err(|error| refuse(&error))? {
            Some(player) if resume_token.credential.is_none() && !is_guest(&player) => Ok(self.new_guest()),
            Some(player) => {
                let ban = self.services.accounts.ban_of(&player).await.map_err(|error| refuse(&error))?;
                if let Some(ban) = ban {
                    return Err(refuse_account(&AccountError::Banned(ban)));
                }
                let identity = crate::accounts::identity_of(&player);
                Ok(Proven { identity, credential: resume_token.credential.clone() })
            }
            None => Ok(Proven { identity: resume_token.identity(), credential: None }),
        }
    }

    fn new_guest(&self) -> Proven {
        Proven { identity: self.services.accounts.new_guest().identity, credential: None }
    }

    /// Goes on with a session: with what was missed if it is still there, or with snapshots after a restart.
    ///
    /// If it cannot go on, its player keeps the identity, and a fresh session begins.
    async fn resume(
        &self,
        request: &KnownHello,
        resume_token: &ResumeToken,
        re: Option<&str>,
    ) -> Result<Resumed, RefusedHello> {
        let Some(resume) = &request.hello.resume else { return Ok(Resumed::No(Unheard::Nothing)) };
        let session = match self.services.sessions.get(&resume_token.session) {
            Some(session) => session,
            None if self.is_of_earlier_process(resume_token) => {
                let outbox = Outbox::starting_at(resume.seq.number());
                let owned = self.make(resume_token.session.clone(), &resume.secret, request, outbox);
                // What may fail comes before the session is entered: one that has been here and is gone never goes on.
                let welcome = self.services.welcome(&owned.session, true).await;
                let welcome = welcome.map_err(|cause| refuse(&cause))?;
                match self.enter(&owned.session, request) {
                    Ok(older) => {
                        let unheard = self.unheard_of(resume_token, resume.seq.number());
                        let older = Olders { sessions: older, unheard };
                        return Ok(self.revive(owned, resume, &welcome, older, re).await);
                    }
                    // Another socket has done the same just now.
                    Err(there) => there,
                }
            }
            None => return Ok(Resumed::No(self.unheard_of(resume_token, resume.seq.number()))),
        };
        match self.go_on(&session, request, resume, re).await? {
            Some(resumed) => Ok(resumed),
            // It has ended just now.
            None => Ok(Resumed::No(self.unheard_of(resume_token, resume.seq.number()))),
        }
    }

    /// The ends of games that the client of a session has not heard which has ended, or was of an earlier process.
    ///
    /// A process that was stopped as planned has said how it left its sessions. How another one ended nobody knows. A
    /// client may have lost it two minutes before its end and still have had the right to hear everything: so ends
    /// since then are told, perhaps again.
    fn unheard_of(&self, resume_token: &ResumeToken, seen: u64) -> Unheard {
        let Services { departed, started_at, .. } = &*self.services;
        let session = &resume_token.session;
        let departure = departed.of(session).or_else(|| departed.left_to_us(session, seen, *started_at));
        let mut otherwise = resume_token.issued_at;
        if resume_token.issued_at < self.services.started_at {
            let within = i64::try_from(RESUME_WITHIN.as_millis()).unwrap_or(i64::MAX);
            otherwise = otherwise.max(UnixMillis(self.services.last_stored.0.saturating_sub(within)));
        }
        Unheard::of_departed(departure, seen, otherwise)
    }

    /// Goes on with a session of an earlier process, which has just been entered.
    async fn revive(
        &self,
        owned: OwnedSession,
        resume: &Resume,
        welcome: &Frame,
        older: Olders,
        re: Option<&str>,
    ) -> Resumed {
        let session = &owned.session;
        let Olders { sessions, unheard } = older;
        let Ok(attachment) = session.outbox().attach(Some(resume.seq.number()), welcome, re) else {
            self.services
                .strike_out(session, SessionEnding::silent(Connection::Lost, CloseCode::Replaced))
                .await;
            return Resumed::No(unheard);
        };
        self.take_seats(session, sessions).await;
        self.services.catch_up(session, Offers::Tell, unheard).await;
        info!(session = %session.id(), player = %session.identity().name, "session of an earlier process resumed");
        Resumed::Yes(self.leave_to_task(owned, attachment))
    }

    /// Goes on with a session that is still known; `None` if it has ended meanwhile.
    async fn go_on(
        &self,
        session: &Arc<Session>,
        request: &KnownHello,
        resume: &Resume,
        re: Option<&str>,
    ) -> Result<Option<Resumed>, RefusedHello> {
        let returning = Box::new(Returning {
            seen: resume.seq.number(),
            declared: declared_by(&request.hello),
            address: request.address,
            site: request.site.clone(),
            re: re.map(ToOwned::to_owned),
        });
        match session.ask(|attached| SessionCommand::Resume { returning, attached }).await {
            Some(Ok(attachment)) => Ok(Some(Resumed::Yes(self.opened(session, attachment)))),
            Some(Err(NotResumed::Gap)) => Ok(Some(Resumed::No(Unheard::After {
                session: Arc::clone(session),
                seen: resume.seq.number(),
            }))),
            Some(Err(NotResumed::Store(cause))) => Err(refuse(&cause)),
            None => Ok(None),
        }
    }

    /// Opens a new session, perhaps instead of one that cannot go on, from which something is left unheard.
    async fn open_fresh(
        &self,
        request: &KnownHello,
        unheard: Unheard,
        re: Option<&str>,
    ) -> Result<Opened, RefusedHello> {
        let payer = Payer::stranger(request.address);
        self.services.shares.spend(Share::Session, &payer).map_err(|refusal| used_up(&refusal))?;
        let proven = &request.proven;
        let id = SessionId::random(&mut chance());
        let resume_token =
            ResumeToken::new(&id, &proven.identity, proven.credential.clone(), UnixMillis::now());
        let secret = resume_token.write(&self.services.signer);
        let owned = self.make(id, &secret, request, Outbox::new());
        let session = &owned.session;
        let welcome = self.services.welcome(session, false).await.map_err(|cause| refuse(&cause))?;
        let attachment = session.outbox().attach(None, &welcome, re).map_err(|gap| refuse(&gap))?;
        let mut older = self.enter(session, request).unwrap_or_default();
        if let Unheard::After { session, .. } = &unheard {
            older.push(Arc::clone(session));
        }
        self.take_seats(session, older).await;
        self.services.catch_up(session, Offers::Tell, unheard).await;
        info!(session = %session.id(), player = %session.identity().name,
            client = %clean(&request.hello.client.name), "session opened");
        Ok(self.leave_to_task(owned, attachment))
    }

    fn make(&self, id: SessionId, secret: &str, request: &KnownHello, outbox: Outbox) -> OwnedSession {
        let proven = &request.proven;
        let (session, inbox) = Session::new(NewSession {
            id,
            secret: secret.to_owned(),
            identity: proven.identity.clone(),
            credential: proven.credential.clone(),
            address: request.address,
            site: request.site.clone(),
            outbox,
            directory: self.services.directory.clone(),
        });
        OwnedSession { session, services: Arc::clone(&self.services), inbox: Some(inbox) }
    }

    /// From here on its task owns the session.
    fn leave_to_task(&self, mut owned: OwnedSession, attachment: Attachment) -> Opened {
        let session = Arc::clone(&owned.session);
        let opened = self.opened(&session, attachment);
        if let Some(inbox) = owned.inbox.take() {
            let task = SessionTask::new(session, Arc::clone(&self.services), inbox);
            self.services.tasks.spawn(task.run());
        }
        opened
    }

    fn opened(&self, session: &Arc<Session>, attachment: Attachment) -> Opened {
        if let Some(until) = self.services.host.orders().now().drain() {
            let notice = Notice::due(NoticeCode::Draining, until.after(UnixMillis::now()));
            session.tell(ServerMessage::Notice(notice));
        }
        let session = Arc::new(ClientSession::new(Arc::clone(session), Arc::clone(&self.services)));
        Opened::new(session, attachment)
    }

    fn games_max(&self) -> u32 {
        self.services.sessions.games_max()
    }

    /// Enters the session in the registry. Older connections have to give way where there may not be so many: a bot's
    /// only one, or the oldest of a person with too many.
    fn enter(&self, session: &Arc<Session>, request: &KnownHello) -> Result<Vec<Arc<Session>>, Arc<Session>> {
        let games_max = self.games_max();
        let beside =
            if is_single(session.identity().kind) { 0 } else { self.services.connections_per_account - 1 };
        let older = self.services.sessions.insert(session, beside, request.profile.clone(), |settings| {
            settings.declare(declared_by(&request.hello), games_max);
            settings.draining = false;
        })?;
        if let Some(profile) = &request.profile {
            self.keep_profile(session.player(), profile);
        }
        if session.identity().kind == PlayerKind::Bot {
            self.see_version(session.player(), request.profile.as_ref());
        }
        Ok(older)
    }

    /// Takes the player's seats, and ends the sessions that give way. All of these are in the registry for longer, so
    /// that of two sessions at most one waits for the other.
    async fn take_seats(&self, session: &Arc<Session>, older: Vec<Arc<Session>>) {
        self.services.host.count_games_taken_up(&session.payer());
        for room in self.services.directory.rooms_of(session.player()) {
            // Seated before an older session leaves, so that the player never seems to be away.
            room.sit(session.player().clone(), session.member(), Arc::clone(session) as Arc<dyn Recipient>)
                .await;
        }
        for old in older {
            self.services.end_session(&old, Connection::Lost, CloseCode::Replaced).await;
        }
        self.services.feeds.lobby_changed();
    }

    /// Stores what a bot says about itself. Nothing depends on it, so nobody waits.
    fn keep_profile(&self, bot: &PlayerId, profile: &BotProfile) {
        let write = Write::SetProfile { player: bot.clone(), profile: profile.clone() };
        self.store_for(bot, write);
    }

    /// Notes for its owner that a bot has connected, and with which version.
    fn see_version(&self, bot: &PlayerId, profile: Option<&BotProfile>) {
        let version = profile.and_then(|profile| profile.version.clone()).unwrap_or_default();
        self.store_for(bot, Write::SeeVersion { bot: bot.clone(), version, at: UnixMillis::now() });
    }

    fn store_for(&self, bot: &PlayerId, write: Write) {
        let bot = bot.clone();
        self.services.writer.submit(write, move |result| {
            if let Err(error) = result {
                warn!(bot = %bot, error = %error, "what a bot says about itself could not be stored");
            }
        });
    }
}

/// What `hello` declares.
fn declared_by(hello: &Hello) -> Declared {
    Declared {
        open: hello.open,
        accepts: hello.accepts.clone(),
        max_games: hello.max_games,
        reserve_for_humans: None,
        strict: hello.strict,
    }
}

/// What a bot says about itself, if it fits.
fn profile_of(hello: &Hello) -> Result<Option<BotProfile>, RefusedHello> {
    let Some(bot) = &hello.bot else { return Ok(None) };
    let texts = [
        ("bot.version", Some(&bot.version)),
        ("bot.about", bot.about.as_ref()),
        ("bot.url", bot.url.as_ref()),
        ("bot.language", bot.language.as_ref()),
    ];
    for (field, text) in texts {
        if let Some(text) = text
            && let Err(bad) = check_text(text, PROFILE_CHARS_MAX, Lines::One)
        {
            let error = WireError::bad_field(field, format!("{field} {bad}")).fatal();
            return Err(RefusedHello { error, code: CloseCode::Bye });
        }
    }
    let url = bot.url.clone().filter(|url| url.starts_with("https://") || url.starts_with("http://"));
    let (about, language) = (bot.about.clone(), bot.language.clone());
    Ok(Some(BotProfile { version: Some(bot.version.clone()), about, url, language }))
}

/// A client's name for the log: short, and without anything that a terminal would obey.
fn clean(text: &str) -> String {
    text.chars().filter(|c| rule_against(*c).is_none()).take(40).collect()
}

/// So many new sessions have come from there that more must wait; to go on with one costs nothing.
fn used_up(refusal: &Refusal) -> RefusedHello {
    RefusedHello { error: share::refusal(refusal).fatal(), code: CloseCode::Flooding }
}

/// The process ends: whoever comes back later goes on with the session that it had.
fn stopping() -> RefusedHello {
    let error = WireError::new(ErrorCode::Busy, "the server restarts").retry_in(RETRY_AFTER_FAILURE);
    RefusedHello { error: error.fatal(), code: CloseCode::Restart }
}

/// More wait for a session than there can be.
fn crowded() -> RefusedHello {
    let error = WireError::new(ErrorCode::Busy, "too many connect at once").retry_in(RETRY_AFTER_FAILURE);
    RefusedHello { error: error.fatal(), code: CloseCode::Restart }
}

/// Said to nobody: the socket is gone.
fn given_up() -> RefusedHello {
    let error = WireError::new(ErrorCode::Busy, "nobody waits for this any more");
    RefusedHello { error: error.fatal(), code: CloseCode::Restart }
}

fn refuse_account(error: &AccountError) -> RefusedHello {
    match error {
        AccountError::Banned(_) => RefusedHello::kept_out(error),
        other => refuse(other),
    }
}

fn refuse(cause: &(dyn std::error::Error + 'static)) -> RefusedHello {
    let error = failure("the session could not be opened", cause).retry_in(RETRY_AFTER_FAILURE).fatal();
    RefusedHello { error, code: CloseCode::Restart }
}

#[cfg(test)]
mod tests;
