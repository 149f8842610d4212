//! Opens and resumes sessions.

use std::sync::Arc;

use async_trait::async_trait;
use rand::rng;
use tracing::{debug, error, info};

use super::client_session::ClientSession;
use super::handle::{NewSession, Session, is_single};
use super::outbox::{Attachment, Outbox};
use super::port::{Caller, Credential, Gateway, Opened, Refused, Unauthorized};
use super::registry::Settings;
use super::services::Services;
use super::ticket::Ticket;
use crate::accounts::AccountError;
use crate::fourfold_version;
use crate::ids::{PlayerId, SessionId, TokenId};
use crate::protocol::client::{Hello, Resume};
use crate::protocol::server::{Identity, Limits, ServerInfo, ServerMessage, Synced, Welcome};
use crate::protocol::terms::PlayerKind;
use crate::protocol::{
    CLIENT_FRAME_BYTES_MAX, CloseCode, ErrorCode, Frame, PROTOCOL_VERSION, REACTIONS, WireError,
};
use crate::rating::elo::Standing;
use crate::room::{Connection, Recipient};
use crate::secret::Secret;
use crate::storage::record::{BotProfile, UnixMillis};
use crate::storage::store::{StoreError, Write};

/// Longest text that a bot says about itself.
const PROFILE_CHARS_MAX: usize = 140;

/// Opens sessions over the daemon's services.
#[derive(Clone, Debug)]
pub struct SessionGateway {
    services: Arc<Services>,
}

/// Who is at the other end.
struct Proven {
    identity: Identity,
    credential: Option<TokenId>,
}

#[async_trait]
impl Gateway for SessionGateway {
    async fn check_token(&self, token: &Secret) -> Result<(), Unauthorized> {
        self.services.accounts.authenticate(token).await.map(|_| ()).map_err(|_| Unauthorized)
    }

    async fn open(&self, hello: Hello, id: Option<String>, caller: Caller) -> Result<Opened, Refused> {
        let ticket = hello.resume.as_ref().and_then(|resume| self.read_ticket(resume));
        let proven = self.prove(&hello, &caller, ticket.as_ref()).await?;
        let profile = profile_of(&hello)?;
        if let (Some(resume), Some(ticket)) = (&hello.resume, ticket)
            && ticket.player == proven.identity.id
            && let Some(opened) = self.resume(resume, &ticket, &proven, &hello, id.as_deref()).await?
        {
            return Ok(opened);
        }
        self.open_fresh(proven, &hello, profile, id.as_deref()).await
    }
}

impl SessionGateway {
    /// A gateway over these services.
    #[must_use]
    pub fn new(services: Arc<Services>) -> Self {
        Self { services }
    }

    /// What the secret of a session says, if we wrote it for this session.
    fn read_ticket(&self, resume: &Resume) -> Option<Ticket> {
        let ticket = Ticket::read(&self.services.signer, &resume.secret)?;
        (ticket.session.as_str() == resume.session).then_some(ticket)
    }

    /// Finds out who calls: by token, by cookie, or by the session that is to go on.
    async fn prove(
        &self,
        hello: &Hello,
        caller: &Caller,
        ticket: Option<&Ticket>,
    ) -> Result<Proven, Refused> {
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
                    Err(other) => return Err(internal(&other)),
                }
                match accounts.guest(cookie).await.map_err(|error| internal(&error))? {
                    Some(guest) => Ok(Proven { identity: guest.identity, credential: None }),
                    None => self.prove_ticket(ticket).await,
                }
            }
            Credential::None => self.prove_ticket(ticket).await,
        }
    }

    async fn prove_token(&self, token: &Secret) -> Result<Proven, Refused> {
        match self.services.accounts.authenticate(token).await {
            Ok(known) => Ok(Proven { identity: known.identity, credential: Some(known.token) }),
            Err(AccountError::Unauthorized) => Err(Refused {
                error: WireError::new(ErrorCode::Unauthorized, "the token is unknown or revoked").fatal(),
                code: CloseCode::Credentials,
            }),
            Err(other) => Err(internal(&other)),
        }
    }

    /// Whoever holds the secret of a session is its player, as long as the credential behind it is valid.
    async fn prove_ticket(&self, ticket: Option<&Ticket>) -> Result<Proven, Refused> {
        let Some(ticket) = ticket else { return Ok(self.new_guest()) };
        let store = &self.services.store;
        if let Some(token) = &ticket.credential {
            let valid =
                store.token_by_id(token, UnixMillis::now()).await.map_err(|error| internal(&error))?;
            if valid.is_none() {
                return Ok(self.new_guest());
            }
        }
        match store.player(&ticket.player).await.map_err(|error| internal(&error))? {
            Some(player) => {
                let identity = crate::accounts::identity_of(&player);
                Ok(Proven { identity, credential: ticket.credential.clone() })
            }
            None => Ok(Proven { identity: ticket.identity(), credential: None }),
        }
    }

    fn new_guest(&self) -> Proven {
        Proven { identity: self.services.accounts.new_guest().identity, credential: None }
    }

    /// Goes on with a session: with what was missed if it is still there, or with snapshots after a restart.
    ///
    /// `None` if it cannot go on: its player keeps the identity, and a fresh session begins.
    async fn resume(
        &self,
        resume: &Resume,
        ticket: &Ticket,
        proven: &Proven,
        hello: &Hello,
        re: Option<&str>,
    ) -> Result<Option<Opened>, Refused> {
        let live = self.services.sessions.get(&ticket.session);
        let is_of_earlier_process = ticket.issued_at < self.services.started_at;
        let (session, is_new) = match live {
            Some(session) => (session, false),
            None if is_of_earlier_process => {
                let outbox = Outbox::starting_at(resume.seq);
                let session = self.make(ticket.session.clone(), &resume.secret, proven, outbox);
                (session, true)
            }
            None => return Ok(None),
        };
        let welcome = self.welcome(&session, true).await?;
        let Ok(attachment) = session.outbox().attach(Some(resume.seq), &welcome, re) else {
            session.outbox().take_over(CloseCode::Replaced);
            self.services.end_session(&session, Connection::Lost).await;
            return Ok(None);
        };
        debug!(session = %session.id(), player = %session.identity().name, seq = resume.seq, "session resumed");
        if is_new {
            self.enter(&session, hello, profile_of(hello)?).await;
            self.services.lobby.tell_open(&session).await;
            self.catch_up(&session).await;
        } else {
            self.services
                .sessions
                .declare(session.player(), |settings| declare(settings, hello, self.games_max()));
            self.back(&session).await;
        }
        Ok(Some(self.opened(session, attachment)))
    }

    async fn open_fresh(
        &self,
        proven: Proven,
        hello: &Hello,
        profile: Option<BotProfile>,
        re: Option<&str>,
    ) -> Result<Opened, Refused> {
        let id = SessionId::random(&mut rng());
        let ticket = Ticket::new(&id, &proven.identity, proven.credential.clone(), UnixMillis::now());
        let secret = ticket.write(&self.services.signer);
        let session = self.make(id, &secret, &proven, Outbox::new());
        let welcome = self.welcome(&session, false).await?;
        let attachment = session
            .outbox()
            .attach(None, &welcome, re)
            .unwrap_or_else(|gap| unreachable!("a fresh outbox has no gap: {gap}"));
        self.enter(&session, hello, profile).await;
        self.services.lobby.tell_open(&session).await;
        self.catch_up(&session).await;
        info!(session = %session.id(), player = %session.identity().name, client = %clean(&hello.client.name),
            "session opened");
        Ok(self.opened(session, attachment))
    }

    fn make(&self, id: SessionId, secret: &str, proven: &Proven, outbox: Outbox) -> Arc<Session> {
        Arc::new(Session::new(NewSession {
            id,
            secret: secret.to_owned(),
            identity: proven.identity.clone(),
            credential: proven.credential.clone(),
            outbox,
            directory: self.services.directory.clone(),
        }))
    }

    fn opened(&self, session: Arc<Session>, attachment: Attachment) -> Opened {
        let session = Arc::new(ClientSession::new(session, Arc::clone(&self.services)));
        Opened { session, attachment }
    }

    fn games_max(&self) -> u32 {
        self.services.sessions.games_max()
    }

    /// The sessions that give way to a new one: a bot's only one, or the oldest of a person with too many.
    fn replaced_by(&self, session: &Session) -> Vec<Arc<Session>> {
        let kept =
            if is_single(session.identity().kind) { 0 } else { self.services.connections_per_account - 1 };
        let mut present = self.services.sessions.of(session.player());
        present.truncate(present.len().saturating_sub(kept));
        present
    }

    /// Enters the session in the registry. Older connections give way where there may not be so many.
    async fn enter(&self, session: &Arc<Session>, hello: &Hello, profile: Option<BotProfile>) {
        let replaced = self.replaced_by(session);
        let games_max = self.games_max();
        if let Some(profile) = &profile {
            self.keep_profile(session.player(), profile).await;
        }
        self.services.sessions.insert(session, profile, |settings| {
            if is_single(session.identity().kind) {
                // What an earlier connection declared went with it.
                *settings = Settings::new(games_max);
            }
            declare(settings, hello, games_max);
        });
        for room in self.services.directory.rooms_of(session.player()) {
            // Seated before the older session leaves, so that the player never seems to be away.
            room.sit(session.player().clone(), session.member(), Arc::clone(session) as Arc<dyn Recipient>)
                .await;
        }
        for old in replaced {
            old.outbox().take_over(CloseCode::Replaced);
            self.services.end_session(&old, Connection::Lost).await;
        }
        self.services.feeds.lobby_changed();
    }

    async fn keep_profile(&self, bot: &PlayerId, profile: &BotProfile) {
        let write = Write::SetProfile { player: bot.clone(), profile: profile.clone() };
        if let Err(error) = self.services.writer.write(write).await {
            error!(bot = %bot, error = %error, "what a bot says about itself could not be stored");
        }
    }

    /// Says what waits: `synced`, and the turns. The games themselves came when the seats were taken.
    async fn catch_up(&self, session: &Arc<Session>) {
        let mut live = 0;
        let mut your_turn = Vec::new();
        let rooms = self.services.directory.rooms_of(session.player());
        for room in &rooms {
            if let Some(snapshot) = room.look().await
                && let Some(to_move) = snapshot.to_move
            {
                live += 1;
                let side = match to_move {
                    crate::protocol::terms::WireSide::First => &snapshot.players.first,
                    crate::protocol::terms::WireSide::Second => &snapshot.players.second,
                };
                if side.id == *session.player() {
                    your_turn.push(room.clone());
                }
            }
        }
        let games = your_turn.iter().map(|room| room.game().clone()).collect();
        session.tell(ServerMessage::Synced(Synced { games: live, your_turn: games }));
        for room in your_turn {
            room.prompt(session.member()).await;
        }
    }

    /// The client of a live session is back: its seats are no longer away, and what it watched is shown again.
    async fn back(&self, session: &Arc<Session>) {
        for room in self.services.directory.rooms_of(session.player()) {
            room.connected(session.member(), Connection::Up).await;
        }
        for game in session.watched_games() {
            if let Some(room) = self.services.directory.room(&game) {
                room.watch(session.player().clone(), self.services.reply_to(session, None));
            }
        }
        for feed in session.followed_feeds() {
            let recipient = Arc::clone(session) as Arc<dyn Recipient>;
            self.services.feeds.subscribe(feed, session.member(), recipient);
        }
        self.catch_up(session).await;
        self.services.feeds.lobby_changed();
    }

    async fn welcome(&self, session: &Session, resumed: bool) -> Result<Frame, Refused> {
        let identity = session.identity();
        let rating = match identity.kind {
            PlayerKind::Guest => None,
            PlayerKind::Human | PlayerKind::Bot => {
                let row = self.services.store.rating(&identity.id, fourfold_engine::Variant::STANDARD).await;
                let row = row.map_err(|error: StoreError| internal(&error))?;
                Some(row.map_or(Standing::START, |row| row.standing).to_wire())
            }
        };
        Ok(Frame::new(ServerMessage::Welcome(Box::new(Welcome {
            protocol: PROTOCOL_VERSION,
            session: session.id().clone(),
            secret: session.secret().to_owned(),
            resumed,
            server: ServerInfo { name: "fourfold".into(), version: fourfold_version().into() },
            you: identity.to_wire(rating, None),
            limits: Limits {
                frame_bytes: CLIENT_FRAME_BYTES_MAX,
                messages_per_20s: self.services.messages_per_20s,
                games: self.games_max(),
            },
            heartbeat_ms: u64::try_from(self.services.heartbeat.as_millis()).unwrap_or(u64::MAX),
            reactions: REACTIONS.iter().map(|emoji| (*emoji).to_owned()).collect(),
            durability: self.services.durability.to_owned(),
        }))))
    }
}

/// Takes over what `hello` declares.
fn declare(settings: &mut Settings, hello: &Hello, games_max: u32) {
    if let Some(accepts) = &hello.accepts {
        settings.accepts = accepts.clone();
    }
    if let Some(open) = hello.open {
        settings.open = open;
    }
    if let Some(max_games) = hello.max_games {
        settings.max_games = max_games.min(games_max);
    }
    settings.draining = false;
}

/// What a bot says about itself, if it fits.
fn profile_of(hello: &Hello) -> Result<Option<BotProfile>, Refused> {
    let Some(bot) = &hello.bot else { return Ok(None) };
    let texts = [
        ("bot.version", Some(&bot.version)),
        ("bot.about", bot.about.as_ref()),
        ("bot.url", bot.url.as_ref()),
    ];
    for (field, text) in texts {
        if text.is_some_and(|text| {
            text.chars().count() > PROFILE_CHARS_MAX || text.chars().any(char::is_control)
        }) {
            let message =
                format!("{field} has at most {PROFILE_CHARS_MAX} characters and no control characters");
            let error = WireError::bad_field(field, message).fatal();
            return Err(Refused { error, code: CloseCode::Bye });
        }
    }
    let url = bot.url.clone().filter(|url| url.starts_with("https://") || url.starts_with("http://"));
    Ok(Some(BotProfile { version: Some(bot.version.clone()), about: bot.about.clone(), url }))
}

/// A client's name for the log: short, and without anything that a terminal would obey.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}

fn internal(cause: &dyn std::error::Error) -> Refused {
    let incident = SessionId::random(&mut rng()).to_string();
    error!(incident, error = %cause, "a session could not be opened");
    let error = WireError::new(ErrorCode::Internal, "the session could not be opened").fatal();
    Refused { error: WireError { incident: Some(incident), ..error }, code: CloseCode::Restart }
}
