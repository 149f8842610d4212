//! The operator's commands, as HTTP over a Unix socket: accounts, bots and their tokens, records, learners, the daemon.
//!
//! `commands` is the table of all of them, and the router made of it the one place where they are carried out: in the
//! daemon behind `control.sock` in its data directory ([`ControlServer`]), or, while no daemon holds the directory, in
//! the process of the command itself. A [`ControlClient`] takes either road. What the interface for everybody answers
//! with too has its shape from there; so have refusals. Whoever can open the socket may command: that is the user who
//! runs the daemon.

mod accounts;
mod address;
mod bots;
mod client;
mod daemon;
mod fair_play;
pub(in crate::http) mod footprint;
mod games;
mod invitations;
mod learners;
mod mail;
mod nodes;
mod operators;
mod orders;
mod overview;
mod players;
mod ratings;
mod refusal;
mod reports;
mod server;
mod storage;
mod studies;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Uri;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use futures::FutureExt as _;
use tracing::{debug, error, info};

pub(crate) use self::bots::{BotToken, RevokedTokensOf};
pub(crate) use self::client::{ControlClient, ControlError};
pub(crate) use self::daemon::{BackupsShown, DaemonStatus, MailsShown, RatingAlarmView, StartedTournament};
pub(crate) use self::fair_play::FairPlayReport;
pub(crate) use self::games::{VoidedGame, VoidedGamesOf};
pub(crate) use self::invitations::ListedInvitation;
pub(crate) use self::learners::{
    FileForm, LearnerFile, LearnerShown, LessonShown, PatternShown, PointShown, VersionShown,
};
pub(crate) use self::mail::TriedMail;
pub(crate) use self::nodes::ListedNode;
pub(crate) use self::operators::{ListedOperator, NewOperator};
pub(crate) use self::orders::{ListedNetwork, OrdersShown};
pub(crate) use self::overview::ListedFault;
pub(crate) use self::players::{Done, ListedPlayer, ListedSession, LogEntry, Reason};
pub(crate) use self::reports::{HandledReport, ListedReport};
pub(crate) use self::server::ControlServer;
pub(crate) use self::storage::MadeBackup;
pub(crate) use self::studies::RemovedStudy;
use super::error::{ApiCode, ApiError};
use super::{layers, router};
use crate::accounts::Accounts;
use crate::competition::fair_play::{EvidenceReader, RatingAlarms};
use crate::competition::tournament::Tournaments;
use crate::operations::backups::Backups;
use crate::operations::mail::Mailer;
use crate::session::Services;
use crate::storage::members::NodeList;
use crate::storage::{Store, Writer};
use crate::study::explorer::Explorer;
use crate::study::learning::Learning;
use crate::system::part::Part;
use crate::system::supervision::Supervision;

pub(crate) use super::api::accounts::SignedInView;
pub(crate) use super::api::learning::{ChangedMoveJson, WhyReason};

/// Where commands come from, as the limits for strangers see it: they do not hold for the operator.
const OPERATOR: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// The field of a refusal that names a path where nothing is: the command is of another version.
const NO_COMMAND: &str = "path";

/// What commands act on.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    pub(crate) accounts: Accounts,
    pub(crate) store: Arc<dyn Store>,
    /// Writes what concerns no account.
    pub(crate) writer: Writer,
    /// Learners, who are told when they have to forget.
    pub(crate) learning: Learning,
    /// What only a running daemon has.
    pub(crate) daemon: Option<RunningDaemon>,
    /// The nodes of a cluster; none where one is alone.
    pub(crate) nodes: Option<Arc<dyn NodeList>>,
}

/// The live parts, for commands that make no sense without a daemon: their handlers ask for them.
#[derive(Clone, Debug)]
pub(crate) struct RunningDaemon {
    pub(crate) services: Arc<Services>,
    pub(crate) tournaments: Tournaments,
    pub(crate) rating_alarms: RatingAlarms,
    /// Who decides better than people of their rating; none where games are not judged.
    pub(crate) evidence: Option<EvidenceReader>,
    /// Knows which parts pause, and what was set aside.
    pub(crate) supervision: Supervision,
    pub(crate) backups: Backups,
    /// What writes mails, where it does.
    pub(crate) mailer: Option<Mailer>,
    /// Counts the games that were played, and begins anew when some are taken out.
    pub(crate) explorer: Arc<Explorer>,
    pub(crate) data: PathBuf,
}

impl Control {
    /// Tells those who keep what games have said that some were taken out.
    fn games_withdrawn(&self) {
        self.learning.lessons_withdrawn();
        if let Some(daemon) = &self.daemon {
            daemon.explorer.games_withdrawn();
        }
    }

    /// What counts panics; of a process that serves nobody, nobody asks for them.
    fn supervision(&self) -> Supervision {
        self.daemon.as_ref().map_or_else(Supervision::default, |daemon| daemon.supervision.clone())
    }
}

/// A path and what is done there.
type Route = (&'static str, MethodRouter<Control>);

/// All commands.
fn commands() -> Vec<Route> {
    [
        accounts::commands(),
        bots::commands(),
        players::commands(),
        invitations::commands(),
        orders::commands(),
        operators::commands(),
        overview::commands(),
        reports::commands(),
        fair_play::commands(),
        ratings::commands(),
        games::commands(),
        studies::commands(),
        learners::commands(),
        mail::commands(),
        nodes::commands(),
        storage::commands(),
        daemon::commands(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The router of all of them. A command may take minutes, so there is no limit of time.
fn control_router(control: Control) -> Router {
    let all = commands().into_iter();
    all.fold(Router::new(), |router, (path, handlers)| router.route(path, handlers))
        .method_not_allowed_fallback(router::method_not_allowed)
        .fallback(no_command)
        .layer(from_fn(layers::check_request))
        .layer(from_fn_with_state(control.clone(), carry_out))
        .with_state(control)
}

async fn no_command(uri: Uri) -> ApiError {
    if uri.path().split('/').skip(1).any(str::is_empty) {
        return ApiError::bad_parameter(NO_COMMAND, "a name in the path is empty");
    }
    let message = format!("there is no command at {}", uri.path());
    ApiError { field: Some(NO_COMMAND.into()), ..ApiError::new(ApiCode::NotFound, message) }
}

/// Does what is commanded and says so in the log. If that panics, only this command is lost.
async fn carry_out(State(control): State<Control>, request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(|_| {
        // What it was about has been logged by the panic hook.
        error!("an operator's command panicked");
        if let Some(daemon) = &control.daemon {
            daemon.supervision.panicked(Part::Control);
        }
        ApiError::new(ApiCode::Internal, "something failed on our side").into_response()
    });
    match response.extensions().get::<ApiCode>() {
        // A view of `/admin` asks for seven things, and says nothing that anybody looks for later.
        None if method.is_safe() => debug!(%method, path, "operator's question answered"),
        None => info!(%method, path, "operator's command done"),
        Some(code) => info!(%method, path, ?code, "operator's command refused"),
    }
    response
}
