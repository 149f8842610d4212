//! Whoever commands: over the socket of a daemon, or in this process where none runs.

use std::io;
use std::path::{Path, PathBuf};

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, Response, header};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as HttpBody, Incoming};
use hyper::client::conn::http1::handshake;
use hyper::service::Service as _;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use thiserror::Error;
use tokio::net::UnixStream;

use super::address::Address;
use super::bots::{BotToken, NewBot, RevokedTokensOf};
use super::daemon::{DaemonStatus, StartTournament, StartedTournament};
use super::fair_play::FairPlayReport;
use super::games::{ImportGames, ImportedGames, VoidedGame, VoidedGamesOf};
use super::invitations::{EndInvitation, GiveInvitation, ListedInvitation};
use super::learners::{LearnerFile, LearnerShown, NO_LEARNER};
use super::mail::{TriedMail, TryMail};
use super::nodes::ListedNode;
use super::operators::{ListedOperator, NewOperator};
use super::orders::{AnnounceText, BanAddresses, DrainArena, ListedNetwork, OrdersShown};
use super::overview::ListedFault;
use super::players::{BanPlayer, Done, ListedPlayer, ListedSession, LogEntry, Reason, RenamePlayer};
use super::ratings::RatingOf;
use super::reports::{HandledReport, ListedReport};
use super::storage::{CheckReport, MadeBackup, MakeBackup};
use super::studies::RemovedStudy;
use super::{Control, NO_COMMAND, control_router};
use crate::http::answer::List;
use crate::http::api::accounts::SignedInView;
use crate::http::api::learning::MoveReasons;
use crate::http::error::{ApiCode, ApiError};
use crate::model::ids::{GameId, StudyId, TournamentId};
use crate::model::secret::Secret;
use crate::operations::verify::VerifyReport;
use crate::storage::records::Record;
use crate::study::learning::verify::LearnerReport;

/// All that RFC 3986 does not leave unreserved.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Why a command is not done.
#[derive(Debug, Error)]
pub(crate) enum ControlError {
    /// The daemon cannot be reached, or went away.
    #[error("the daemon does not answer on its control socket")]
    Lost(#[source] io::Error),
    /// It speaks another version.
    #[error("the daemon's answer cannot be read: is it of another version?")]
    Unreadable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// It is of a version without this command.
    #[error("the daemon does not know this command: is it of another version?")]
    Unknown,
    /// What it answers cannot be given on.
    #[error("what the daemon answers cannot be written")]
    Unwritten(#[source] io::Error),
    /// It refuses.
    #[error("{}", .0.message)]
    Refused(ApiError),
}

impl ControlError {
    /// Whether the arena has no learner of the name that was asked for.
    pub(crate) fn is_no_learner(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.field.as_deref() == Some(NO_LEARNER))
    }
}

type Answer<T> = Result<T, ControlError>;

/// A way to whatever carries commands out.
#[derive(Clone, Debug)]
enum Road {
    /// The socket of a daemon.
    Socket(PathBuf),
    /// This process, which has the data directory.
    Here(Router),
}

/// Sends commands, each of which waits for what comes of it, however long that takes.
#[derive(Clone, Debug)]
pub(crate) struct ControlClient {
    road: Road,
}

/// The commands, in the order of `commands`.
impl ControlClient {
    pub(crate) async fn create_account(&self, name: &str, password: &Secret) -> Answer<SignedInView> {
        // The secret is on its way to its owner's daemon.
        let account = json!({ "name": name, "password": password.expose() });
        self.send(post(["accounts"]).body(&account)).await
    }

    pub(crate) async fn create_bot(&self, name: &str, owner: &str) -> Answer<BotToken> {
        self.send(post(["bots"]).body(&NewBot { name: name.into(), owner: owner.into() })).await
    }

    pub(crate) async fn create_token(&self, bot: &str) -> Answer<BotToken> {
        self.send(post(["bots", bot, "tokens"])).await
    }

    pub(crate) async fn revoke_tokens(&self, bot: &str) -> Answer<RevokedTokensOf> {
        self.send(delete(["bots", bot, "tokens"])).await
    }

    /// In the order of the names.
    pub(crate) async fn ratings(&self, names: &[&str]) -> Answer<Vec<RatingOf>> {
        self.list(get(["ratings"]).query("names", &names.join(","))).await
    }

    /// All finished games behind the cursor that the parameters of `chosen` want, as text, given on piece by piece.
    pub(crate) async fn export_games(
        &self,
        format: &str,
        cursor: Option<&str>,
        chosen: &[(&str, String)],
        take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Answer<()> {
        let command = get(["export", "games"]).query("format", format).queries(chosen);
        self.pour(command.query("cursor", cursor.unwrap_or_default()), take).await
    }

    /// Some finished games behind the cursor, of them those that the parameters of `chosen` want.
    pub(crate) async fn games(
        &self,
        cursor: Option<&str>,
        chosen: &[(&str, String)],
    ) -> Answer<List<Record>> {
        self.send(get(["games"]).queries(chosen).query("cursor", cursor.unwrap_or_default())).await
    }

    /// Takes records in, one a line, of which each was checked. Some hundred KiB are not too many.
    pub(crate) async fn import_games(&self, records: String) -> Answer<ImportedGames> {
        self.send(post(["import", "games"]).body(&ImportGames { records })).await
    }

    /// A game, live or finished.
    pub(crate) async fn game(&self, id: &GameId) -> Answer<Record> {
        self.send(get(["games", id.as_str()])).await
    }

    pub(crate) async fn reasons(&self, bot: &str, game: &GameId) -> Answer<Vec<MoveReasons>> {
        self.list(get(["games", game.as_str(), "reasons"]).query("bot", bot)).await
    }

    pub(crate) async fn void_game(&self, id: &GameId, because: &Reason) -> Answer<VoidedGame> {
        self.send(post(["games", id.as_str(), "void"]).body(because)).await
    }

    pub(crate) async fn remove_study(&self, id: &StudyId, because: &Reason) -> Answer<RemovedStudy> {
        self.send(post(["studies", id.as_str(), "remove"]).body(because)).await
    }

    pub(crate) async fn void_player(&self, player: &str, because: &Reason) -> Answer<VoidedGamesOf> {
        self.send(post(["players", player, "void"]).body(because)).await
    }

    pub(crate) async fn ban(&self, player: &str, days: Option<u32>, because: Reason) -> Answer<Done> {
        let Reason { reason, by } = because;
        self.send(post(["players", player, "ban"]).body(&BanPlayer { reason, by, days })).await
    }

    pub(crate) async fn unban(&self, player: &str, because: &Reason) -> Answer<Done> {
        self.send(post(["players", player, "unban"]).body(because)).await
    }

    pub(crate) async fn mute(&self, player: &str, days: Option<u32>, because: Reason) -> Answer<Done> {
        let Reason { reason, by } = because;
        self.send(post(["players", player, "mute"]).body(&BanPlayer { reason, by, days })).await
    }

    pub(crate) async fn unmute(&self, player: &str, because: &Reason) -> Answer<Done> {
        self.send(post(["players", player, "unmute"]).body(because)).await
    }

    pub(crate) async fn clear_profile(&self, player: &str, because: &Reason) -> Answer<Done> {
        self.send(post(["players", player, "clear-profile"]).body(because)).await
    }

    pub(crate) async fn delete_player(&self, player: &str, because: &Reason) -> Answer<Done> {
        self.send(delete(["players", player]).body(because)).await
    }

    pub(crate) async fn pause(&self, because: &Reason) -> Answer<OrdersShown> {
        self.send(post(["arena", "pause"]).body(because)).await
    }

    pub(crate) async fn resume(&self, because: &Reason) -> Answer<OrdersShown> {
        self.send(post(["arena", "resume"]).body(because)).await
    }

    pub(crate) async fn drain(&self, seconds: Option<u32>, because: Reason) -> Answer<OrdersShown> {
        let Reason { reason, by } = because;
        self.send(post(["arena", "drain"]).body(&DrainArena { reason, by, seconds })).await
    }

    /// Says something on every page; nothing any more if the text is empty.
    pub(crate) async fn announce(
        &self,
        text: &str,
        hours: Option<u32>,
        because: Reason,
    ) -> Answer<OrdersShown> {
        let Reason { reason, by } = because;
        let said = AnnounceText { reason, by, text: text.into(), hours };
        self.send(post(["arena", "announcement"]).body(&said)).await
    }

    /// Invitations that have not ended.
    pub(crate) async fn invitations(&self) -> Answer<Vec<ListedInvitation>> {
        self.list(get(["invitations"])).await
    }

    /// Gives one out, for so many people and days; without a code one is drawn.
    pub(crate) async fn invite(
        &self,
        code: Option<String>,
        uses: Option<u32>,
        days: Option<u32>,
        because: Reason,
    ) -> Answer<ListedInvitation> {
        let Reason { reason, by } = because;
        self.send(post(["invitations"]).body(&GiveInvitation { reason, by, code, uses, days })).await
    }

    pub(crate) async fn uninvite(&self, code: &str, because: Reason) -> Answer<ListedInvitation> {
        let Reason { reason, by } = because;
        let code = code.into();
        self.send(post(["invitations", "end"]).body(&EndInvitation { reason, by, code })).await
    }

    /// Those with which there is something to do, or all of them.
    pub(crate) async fn reports(&self, all: bool) -> Answer<Vec<ListedReport>> {
        self.list(get(["reports"]).query("all", if all { "true" } else { "false" })).await
    }

    /// How people's decisions stand, or those of one player.
    pub(crate) async fn fair_play(&self, player: Option<&str>) -> Answer<FairPlayReport> {
        let path = get(["fair-play"]);
        self.send(match player {
            Some(player) => path.query("player", player),
            None => path,
        })
        .await
    }

    pub(crate) async fn handle_report(
        &self,
        number: u64,
        step: &str,
        because: &Reason,
    ) -> Answer<HandledReport> {
        self.send(post(["reports", &number.to_string(), step]).body(because)).await
    }

    /// None where one is alone.
    pub(crate) async fn nodes(&self) -> Answer<Vec<ListedNode>> {
        self.list(get(["nodes"])).await
    }

    pub(crate) async fn drain_node(&self, node: &str, because: &Reason) -> Answer<Vec<ListedNode>> {
        self.list(post(["nodes", node, "drain"]).body(because)).await
    }

    pub(crate) async fn balance_nodes(&self, because: &Reason) -> Answer<Vec<ListedNode>> {
        self.list(post(["nodes", "balance"]).body(because)).await
    }

    pub(crate) async fn operators(&self) -> Answer<Vec<ListedOperator>> {
        self.list(get(["operators"])).await
    }

    pub(crate) async fn appoint_operator(&self, account: &str, because: &Reason) -> Answer<NewOperator> {
        self.send(post(["operators", account]).body(because)).await
    }

    pub(crate) async fn dismiss_operator(&self, account: &str, because: &Reason) -> Answer<ListedOperator> {
        self.send(delete(["operators", account]).body(because)).await
    }

    /// Accounts and remote bots, those made last first.
    pub(crate) async fn newcomers(&self) -> Answer<Vec<ListedPlayer>> {
        self.list(get(["newcomers"])).await
    }

    /// Those who are banned or muted.
    pub(crate) async fn restricted(&self) -> Answer<Vec<ListedPlayer>> {
        self.list(get(["restricted"])).await
    }

    /// What remote bots did wrong, the newest first.
    pub(crate) async fn faults(&self) -> Answer<Vec<ListedFault>> {
        self.list(get(["faults"])).await
    }

    /// Networks from which nobody comes in.
    pub(crate) async fn networks(&self) -> Answer<Vec<ListedNetwork>> {
        self.list(get(["networks"])).await
    }

    pub(crate) async fn ban_network(
        &self,
        network: &str,
        days: Option<u32>,
        because: Reason,
    ) -> Answer<ListedNetwork> {
        let Reason { reason, by } = because;
        let ban = BanAddresses { reason, by, network: network.into(), days };
        self.send(post(["networks", "ban"]).body(&ban)).await
    }

    pub(crate) async fn unban_network(&self, network: &str, because: Reason) -> Answer<ListedNetwork> {
        let Reason { reason, by } = because;
        let unban = BanAddresses { reason, by, network: network.into(), days: None };
        self.send(post(["networks", "unban"]).body(&unban)).await
    }

    pub(crate) async fn rename(&self, player: &str, name: &str, because: Reason) -> Answer<Done> {
        let Reason { reason, by } = because;
        let rename = RenamePlayer { reason, by, name: name.into() };
        self.send(post(["players", player, "rename"]).body(&rename)).await
    }

    pub(crate) async fn reset_password(&self, player: &str, because: &Reason) -> Answer<Done> {
        self.send(post(["players", player, "password"]).body(because)).await
    }

    pub(crate) async fn sessions(&self, player: &str) -> Answer<Vec<ListedSession>> {
        self.list(get(["players", player, "sessions"])).await
    }

    /// Ends all sessions of a person, or all tokens of a bot.
    pub(crate) async fn sign_out(&self, player: &str, because: &Reason) -> Answer<Done> {
        self.send(delete(["players", player, "sessions"]).body(because)).await
    }

    /// Some accounts (`human`) or remote bots (`bot`) behind the cursor, by name.
    pub(crate) async fn players(&self, kind: &str, cursor: Option<&str>) -> Answer<List<ListedPlayer>> {
        self.send(get(["players"]).query("kind", kind).query("cursor", cursor.unwrap_or_default())).await
    }

    /// The newest entries of the log.
    pub(crate) async fn audit_log(&self, limit: u32) -> Answer<Vec<LogEntry>> {
        self.list(get(["audit"]).query("limit", &limit.to_string())).await
    }

    pub(crate) async fn verify_games(&self) -> Answer<VerifyReport> {
        self.send(post(["verify", "games"])).await
    }

    pub(crate) async fn check(&self) -> Answer<CheckReport> {
        self.send(post(["check"])).await
    }

    /// `path` as whoever carries it out finds it.
    pub(crate) async fn back_up(&self, path: &str, force: bool) -> Answer<MadeBackup> {
        self.send(post(["backup"]).body(&MakeBackup { path: path.into(), force })).await
    }

    pub(crate) async fn verify_learners(&self) -> Answer<Vec<LearnerReport>> {
        self.list(post(["verify", "learners"])).await
    }

    pub(crate) async fn repair_learners(&self) -> Answer<Vec<LearnerReport>> {
        self.list(post(["repair", "learners"])).await
    }

    pub(crate) async fn learner(&self, name: &str) -> Answer<LearnerShown> {
        self.send(get(["learners", name])).await
    }

    pub(crate) async fn learner_file(&self, name: &str) -> Answer<LearnerFile> {
        let answer = self.exchange(get(["learners", name, "file"])).await?;
        LearnerFile::from_answer(answer).ok_or_else(|| ControlError::Unreadable("no such file".into()))
    }

    /// What the daemon does.
    ///
    /// # Errors
    ///
    /// None runs on this data directory.
    pub(crate) async fn status(&self) -> Answer<DaemonStatus> {
        self.send(get(["status"])).await
    }

    pub(crate) async fn try_mail(&self, address: &str) -> Answer<TriedMail> {
        self.send(post(["mail", "test"]).body(&TryMail { address: address.into() })).await
    }

    pub(crate) async fn start_tournament(&self, name: &str) -> Answer<StartedTournament> {
        self.send(post(["tournaments"]).body(&StartTournament { name: name.into() })).await
    }

    pub(crate) async fn cancel_tournament(
        &self,
        id: &TournamentId,
        because: &Reason,
    ) -> Answer<StartedTournament> {
        self.send(post(["tournaments", id.as_str(), "cancel"]).body(because)).await
    }
}

impl ControlClient {
    /// Commands the daemon that listens on the socket at `path`.
    ///
    /// # Errors
    ///
    /// There is no socket, nobody listens, or it belongs to somebody else.
    pub(crate) async fn connect(path: &Path) -> io::Result<Self> {
        connect(path).await?;
        Ok(Self { road: Road::Socket(path.to_owned()) })
    }

    /// Carries commands out in this process.
    pub(crate) fn here(control: Control) -> Self {
        Self { road: Road::Here(control_router(control)) }
    }

    async fn send<T: DeserializeOwned>(&self, command: Sent) -> Answer<T> {
        let answer = self.exchange(command).await?;
        serde_json::from_slice(answer.body()).map_err(|error| ControlError::Unreadable(error.into()))
    }

    /// As [`Self::send`], for lists that come in one piece.
    async fn list<T: DeserializeOwned>(&self, command: Sent) -> Answer<Vec<T>> {
        Ok(self.send::<List<T>>(command).await?.items)
    }

    async fn exchange(&self, command: Sent) -> Answer<Response<Bytes>> {
        let request = command.request()?;
        let answer = match &self.road {
            Road::Socket(path) => over_socket(path, request, whole).await?,
            Road::Here(router) => {
                let (head, body) = in_process(router.clone(), request).await.into_parts();
                let body =
                    body.collect().await.map_err(|error| ControlError::Lost(io::Error::other(error)))?;
                Response::from_parts(head, body.to_bytes())
            }
        };
        if answer.status().is_success() { Ok(answer) } else { Err(refusal(answer.body())) }
    }

    /// As [`Self::exchange`], for answers that are too long for memory.
    async fn pour(&self, command: Sent, take: impl FnMut(&[u8]) -> io::Result<()>) -> Answer<()> {
        let request = command.request()?;
        match &self.road {
            Road::Socket(path) => {
                over_socket(path, request, async |answer| pour_body(answer, take).await).await
            }
            Road::Here(router) => pour_body(in_process(router.clone(), request).await, take).await,
        }
    }
}

/// Gives an answer on as it comes, so that none of it is kept; what is no success is read whole.
async fn pour_body<B>(answer: Response<B>, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> Answer<()>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let lost = |error: B::Error| ControlError::Lost(io::Error::other(error));
    let (head, mut body) = answer.into_parts();
    if !head.status.is_success() {
        return Err(refusal(&body.collect().await.map_err(lost)?.to_bytes()));
    }
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(lost)?.into_data() {
            take(&data).map_err(ControlError::Unwritten)?;
        }
    }
    Ok(())
}

/// One request on a connection of its own: between two of them as much time may pass as it likes.
async fn over_socket<T>(
    path: &Path,
    request: Request<Full<Bytes>>,
    read: impl AsyncFnOnce(Response<Incoming>) -> Answer<T>,
) -> Answer<T> {
    let stream = connect(path).await.map_err(ControlError::Lost)?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(broken)?;
    let exchange = async move { read(sender.send_request(request).await.map_err(broken)?).await };
    // The connection moves as long as somebody waits for it, and ends when nobody can send on it any more.
    let (answer, _) = futures::future::join(exchange, connection).await;
    answer
}

/// An answer as a whole.
async fn whole(answer: Response<Incoming>) -> Answer<Response<Bytes>> {
    let (head, body) = answer.into_parts();
    Ok(Response::from_parts(head, body.collect().await.map_err(broken)?.to_bytes()))
}

async fn connect(path: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(Address::of(path)?.path()).await
}

fn broken(error: hyper::Error) -> ControlError {
    if error.is_parse() {
        ControlError::Unreadable(error.into())
    } else {
        ControlError::Lost(io::Error::other(error))
    }
}

async fn in_process(router: Router, request: Request<Full<Bytes>>) -> Response<Body> {
    let Ok(answer) = TowerToHyperService::new(router).call(request.map(Body::new)).await;
    answer
}

fn refusal(body: &[u8]) -> ControlError {
    match serde_json::from_slice::<ApiError>(body) {
        Ok(ApiError { code: ApiCode::MethodNotAllowed, .. }) => ControlError::Unknown,
        Ok(ApiError { code: ApiCode::NotFound, field: Some(field), .. }) if field == NO_COMMAND => {
            ControlError::Unknown
        }
        Ok(refusal) => ControlError::Refused(refusal),
        Err(error) => ControlError::Unreadable(error.into()),
    }
}

/// A command on its way.
struct Sent {
    method: Method,
    path: String,
    body: Option<serde_json::Result<Vec<u8>>>,
}

fn get<const N: usize>(path: [&str; N]) -> Sent {
    Sent::new(Method::GET, path)
}

fn post<const N: usize>(path: [&str; N]) -> Sent {
    Sent::new(Method::POST, path)
}

fn delete<const N: usize>(path: [&str; N]) -> Sent {
    Sent::new(Method::DELETE, path)
}

impl Sent {
    fn new<const N: usize>(method: Method, path: [&str; N]) -> Self {
        let path = format!("/control/v1/{}", path.map(escaped).join("/"));
        Self { method, path, body: None }
    }

    /// Adds a parameter.
    fn query(mut self, name: &str, value: &str) -> Self {
        let mark = if self.path.contains('?') { '&' } else { '?' };
        self.path = format!("{}{mark}{name}={}", self.path, escaped(value));
        self
    }

    fn queries(self, pairs: &[(&str, String)]) -> Self {
        pairs.iter().fold(self, |command, (name, value)| command.query(name, value))
    }

    fn body(self, body: &impl Serialize) -> Self {
        Self { body: Some(serde_json::to_vec(body)), ..self }
    }

    fn request(self) -> Answer<Request<Full<Bytes>>> {
        let body = self.body.transpose().map_err(|error| ControlError::Unreadable(error.into()))?;
        let mut request = Request::builder().method(self.method).uri(self.path);
        request = request.header(header::HOST, "localhost");
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let request = request.body(Full::from(body.unwrap_or_default()));
        request.map_err(|error| ControlError::Unreadable(error.into()))
    }
}

/// A text as a part of a path or query may have it.
fn escaped(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_lead_elsewhere() {
        let path = |name: &str| post(["bots", name, "tokens"]).path;
        assert_eq!(path("six"), "/control/v1/bots/six/tokens");
        assert_eq!(path("../x?y#z é"), "/control/v1/bots/..%2Fx%3Fy%23z%20%C3%A9/tokens");
        assert_eq!(
            get(["games"]).query("cursor", "7").query("limit", "").path,
            "/control/v1/games?cursor=7&limit="
        );
    }
}
