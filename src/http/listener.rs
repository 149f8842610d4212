//! The accept loop: takes connections as fast as they come, within the limits, until it is told to stop.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::balancer::{self, Answer, Question};
use super::connection::{self, ConnectionDeps, HangUp};
use super::connection_limits::{ConnectionLimits, ConnectionPlace, TooManyConnections};
use super::error::{ApiCode, ApiError};
use super::link::{Arrivals, Tunnel};
use super::named_host::NamedHosts;
use super::peer_stream::PeerStream;
use super::proxy_protocol::{self, BadHeader, FromNode};
use super::site::Site;
use super::tls::{self, Tls};
use super::upgraded_stream::Places;
use crate::model::signing::Signer;
use crate::session::limits::TransportLimits;
use crate::system::config::{IpNetwork, ListenAddr};
use crate::system::part::Part;
use crate::system::supervision::{BoxedError, Kept};
use crate::system::tasks::Tasks;

/// How long no connection is accepted after the system had no file or memory for one. Without it the loop would spin,
/// for the connection stays at the head of the queue.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Connections that are taken before everybody else has a turn: each begins with some 0.1 ms of work.
const TAKEN_AT_A_TIME: usize = 8;
/// When a peer that found no place may try again.
pub(super) const RETRY: Duration = Duration::from_secs(1);
/// Connections that may wait to be taken. All clients of an arena come back at once after a restart, and whoever finds
/// no room waits for a second before it knocks again, then for two. The system may give less (`net.core.somaxconn`).
const BACKLOG: i32 = 4096;
/// At most one warning of a kind in this time: whoever floods us must not fill the log.
const WARNING_INTERVAL: Duration = Duration::from_secs(10);

/// What listener and sockets share.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    /// What a connection may take.
    pub(crate) limits: Arc<TransportLimits>,
    /// Who is believed about addresses, and which pages are ours.
    pub(crate) site: Arc<Site>,
    /// The places for connections.
    pub(crate) connection_limits: Arc<ConnectionLimits>,
    /// Balancers that say at the beginning of each connection whose it is.
    pub(crate) balancers: Arc<[IpNetwork]>,
    /// With whose key other nodes seal whom they speak for, where they pass connections on.
    nodes: Option<Signer>,
    /// Whether it was said that one does not.
    has_warned: Arc<AtomicBool>,
    /// What it says to whoever connects, before all else.
    pub(crate) tls: Option<Tls>,
    /// Cancelled when the daemon stops: no more connections, sockets close with 1012.
    pub(crate) stop: CancellationToken,
    /// Every task of a connection or socket.
    pub(crate) tasks: Tasks,
}

impl Transport {
    /// A transport without connections.
    pub(crate) fn new(
        limits: TransportLimits,
        site: Arc<Site>,
        stop: CancellationToken,
        tasks: Tasks,
    ) -> Self {
        Self {
            connection_limits: ConnectionLimits::new(&limits),
            limits: Arc::new(limits),
            site,
            balancers: Arc::default(),
            nodes: None,
            has_warned: Arc::default(),
            tls: None,
            stop,
            tasks,
        }
    }

    /// The same behind balancers in these networks, which speak the PROXY protocol.
    pub(crate) fn balanced_by(self, balancers: &[IpNetwork]) -> Self {
        Self { balancers: balancers.into(), ..self }
    }

    /// The same for a listener to which other nodes pass connections on.
    pub(crate) fn for_nodes(self, signer: Signer) -> Self {
        Self { nodes: Some(signer), ..self }
    }

    /// Whether who has this address says for whom it speaks.
    pub(super) fn is_balancer(&self, address: IpAddr) -> bool {
        self.nodes.is_some() || self.balancers.iter().any(|network| network.contains(address))
    }

    /// Lets a balancer ask where there is no place for players. Other nodes answer for themselves what they are asked.
    pub(super) fn answer_without_a_place<A>(
        &self,
        mut stream: TcpStream,
        address: IpAddr,
        answer_to: impl FnOnce(Question) -> A + Send + 'static,
    ) where
        A: Future<Output = Answer> + Send,
    {
        if self.nodes.is_some() || !self.is_balancer(address) {
            return;
        }
        let Ok(place) = self.connection_limits.take_to_ask() else { return };
        self.tasks.spawn(async move {
            if let Ok(Some(question)) = Question::asked_without_a_place(&mut stream).await {
                let answer = answer_to(question).await.without_a_place(question);
                balancer::answer(stream, &answer).await;
            }
            drop(place);
        });
    }

    /// Whose share a connection from there takes: nobody's, if whoever has the address speaks for many.
    pub(super) fn counted(&self, address: IpAddr) -> Option<IpAddr> {
        Some(address).filter(|address| !self.is_balancer(*address) && !self.site.trusts(*address))
    }

    /// The same behind TLS, if there is a certificate.
    pub(crate) fn behind(self, tls: Option<Tls>) -> Self {
        Self { tls, ..self }
    }
}

/// Listens at an address, with room for all who come at once.
///
/// # Errors
///
/// Those of the system: the port is taken, the address is not of this machine.
pub(crate) async fn bind(address: &ListenAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address.as_pair()).await?;
    // The runtime asks for 128; asked again, the system takes the new number.
    rustix::net::listen(&listener, BACKLOG)?;
    Ok(listener)
}

/// Serves `router` on `listener` until `transport.stop` is cancelled, then waits for the connections to end.
///
/// Open requests may be answered and sockets closed for `limits.stop`; what is left after that is dropped with the
/// runtime.
#[derive(Debug)]
pub(crate) struct Listening {
    /// Which of the listeners it is.
    pub(crate) part: Part,
    /// Outlives a panic, so that whoever knocks meanwhile waits. Gone once the daemon stops.
    pub(crate) listener: Option<TcpListener>,
    pub(crate) router: Router,
    pub(crate) transport: Transport,
}

impl Kept for Listening {
    fn part(&self) -> Part {
        self.part
    }

    async fn run(&mut self, _stop: &CancellationToken) -> Result<(), BoxedError> {
        let transport = &self.transport;
        if let Some(listener) = &self.listener {
            accept_all(listener, &self.router, transport).await;
        }
        self.listener = None;
        transport.tasks.close();
        if timeout(transport.limits.stop, transport.tasks.wait()).await.is_err() {
            warn!(tasks = transport.tasks.len(), "connections did not end in time");
        }
        Ok(())
    }

    /// The connections that are there are tasks of their own and have noticed nothing.
    async fn renew(&mut self) -> Result<(), BoxedError> {
        Ok(())
    }
}

/// Takes connections until the daemon stops.
async fn accept_all(listener: &TcpListener, router: &Router, transport: &Transport) {
    let mut warnings = Warnings::default();
    let deps = ConnectionDeps {
        router: router.clone(),
        limits: transport.limits.clone(),
        stop: transport.stop.clone(),
        hang_up: HangUp::GivesUp,
        hosts: listener
            .local_addr()
            .map_or(NamedHosts::Any, |address| NamedHosts::of(address, &transport.site)),
    };
    for taken in 1_usize.. {
        let accepted = tokio::select! {
            biased;
            () = transport.stop.cancelled() => return,
            accepted = accept(listener, &mut warnings) => accepted,
        };
        let (stream, peer) = accepted;
        admit(stream, peer, transport, &deps, &mut warnings);
        give_way(taken).await;
    }
}

/// The next connection, whatever comes of others.
pub(super) async fn accept(listener: &TcpListener, warnings: &mut Warnings) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_of_one_connection(&error) => {
                debug!(%error, "a connection ended before it began");
            }
            Err(error) => {
                warnings.warn(|unsaid| warn!(%error, unsaid, "cannot accept connections"));
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Starts the task of a connection if there is a place for it.
fn admit(
    stream: TcpStream,
    peer: SocketAddr,
    transport: &Transport,
    deps: &ConnectionDeps,
    warnings: &mut Warnings,
) {
    let address = peer.ip().to_canonical();
    let is_balancer = transport.is_balancer(address);
    match transport.connection_limits.take(transport.counted(address)) {
        Ok(slot) => {
            if let Err(error) = prepare(&stream) {
                debug!(%error, "a connection ended before it began");
                return;
            }
            let stream = PeerStream::Own(stream);
            if is_balancer {
                transport.tasks.spawn(serve_balanced(transport.clone(), stream, peer, slot, deps.clone()));
            } else {
                begin(transport.tls.as_ref(), stream, peer, (slot, None), deps, &transport.tasks);
            }
        }
        Err(full) => {
            if is_balancer {
                let router = deps.router.clone();
                let answer_to = move |question| async move {
                    connection::answer_to_balancer(question, peer, &router).await
                };
                transport.answer_without_a_place(stream, address, answer_to);
            } else if transport.tls.is_none() {
                turn_away(&mut PeerStream::Own(stream), full);
            }
            warnings.warn(|unsaid| warn!(%address, reason = %full, unsaid, "connection turned away"));
        }
    }
}

/// Serves a connection whose peer is known, by TLS if there is any.
fn begin(
    tls: Option<&Tls>,
    stream: PeerStream,
    peer: SocketAddr,
    places: Places,
    deps: &ConnectionDeps,
    tasks: &Tasks,
) {
    match tls {
        None => tasks.spawn(connection::serve(stream, peer, places, deps.clone())),
        Some(tls) => tasks.spawn(serve_encrypted(tls.clone(), stream, peer, places, deps.clone())),
    }
}

/// Serves a connection once its balancer has said whose it is. Without that nobody knows, and it is closed.
async fn serve_balanced(
    transport: Transport,
    mut stream: PeerStream,
    balancer: SocketAddr,
    place: ConnectionPlace,
    deps: ConnectionDeps,
) {
    let heard = tokio::select! {
        biased;
        () = deps.stop.cancelled() => return,
        heard = heard_from(&transport, &mut stream, balancer) => heard,
    };
    let peer = match (heard, &stream) {
        (Some(Heard::Client(client)), _) => client,
        (Some(Heard::Itself), _) => balancer,
        (Some(Heard::Link), PeerStream::Own(_)) => {
            // What it carries is counted, one by one.
            drop(place);
            return serve_link(transport, stream, balancer, deps).await;
        }
        (None | Some(Heard::Link), _) => return,
    };
    let counted = Some(peer).filter(|peer| *peer != balancer).map(|peer| peer.ip());
    // What a node passes on may come from a proxy, which speaks for many.
    let counted = counted.filter(|client| !transport.site.trusts(*client));
    let share = counted.map(|client| transport.connection_limits.take_behind_proxy(client)).transpose();
    match share {
        Ok(share) => begin(transport.tls.as_ref(), stream, peer, (place, share), &deps, &transport.tasks),
        Err(full) => {
            if transport.tls.is_none() {
                turn_away(&mut stream, full);
            }
            debug!(%peer, reason = %full, "connection turned away");
        }
    }
}

/// What whoever speaks for others said first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Heard {
    Client(SocketAddr),
    Itself,
    Link,
}

/// Who is behind a balancer or a node, or that it speaks for itself; nothing if it does not say so.
async fn heard_from(transport: &Transport, stream: &mut PeerStream, balancer: SocketAddr) -> Option<Heard> {
    let heard = if let Some(signer) = &transport.nodes {
        proxy_protocol::from_node(stream, signer).await.map(|said| match said {
            FromNode::Client(client) => Heard::Client(client),
            FromNode::Link => Heard::Link,
        })
    } else {
        let client = proxy_protocol::client_of(stream).await;
        client.map(|client| client.map_or(Heard::Itself, Heard::Client))
    };
    heard
        .inspect_err(|bad| match bad {
            // It only looked whether somebody is there.
            BadHeader::Broken(error) => debug!(%balancer, %error, "a connection ended before it began"),
            reason if transport.has_warned.swap(true, Ordering::Relaxed) => {
                debug!(%balancer, %reason, "a balancer did not say for whom it speaks");
            }
            reason => {
                warn!(%balancer, %reason, "a balancer did not say for whom it speaks; this is said once");
            }
        })
        .ok()
}

/// Serves all connections that another node's link carries, until it ends.
async fn serve_link(transport: Transport, stream: PeerStream, node: SocketAddr, deps: ConnectionDeps) {
    let mut arrivals = match Arrivals::of(stream).await {
        Ok(arrivals) => arrivals,
        Err(error) => return debug!(%node, %error, "a node's link ended before it began"),
    };
    let mut is_parting = false;
    for taken in 1_usize.. {
        tokio::select! {
            biased;
            () = deps.stop.cancelled(), if !is_parting => {
                is_parting = true;
                arrivals.part();
            }
            arrived = arrivals.next() => match arrived {
                Some(tunnel) => admit_passed(tunnel, node, &transport, &deps),
                None => return,
            }
        }
        give_way(taken).await;
    }
}

/// Lets everybody else have a turn after some connections: many that come at once are greeted one after the other.
pub(super) async fn give_way(taken: usize) {
    if taken.is_multiple_of(TAKEN_AT_A_TIME) {
        yield_now().await;
    }
}

/// Starts the task of a connection that a link carries, if there is a place for it.
fn admit_passed(tunnel: Tunnel, node: SocketAddr, transport: &Transport, deps: &ConnectionDeps) {
    match transport.connection_limits.take(None) {
        Ok(place) => {
            let stream = PeerStream::Passed(Box::new(tunnel));
            transport.tasks.spawn(serve_balanced(transport.clone(), stream, node, place, deps.clone()));
        }
        Err(full) => debug!(%node, reason = %full, "connection turned away"),
    }
}

/// Serves a connection once TLS is agreed on. It holds its place meanwhile, so that those who say nothing are counted.
async fn serve_encrypted(
    tls: Tls,
    stream: PeerStream,
    peer: SocketAddr,
    places: Places,
    deps: ConnectionDeps,
) {
    let agreed = tokio::select! {
        biased;
        () = deps.stop.cancelled() => None,
        agreed = timeout(tls::HANDSHAKE_MAX, agree(&tls, stream, peer, &deps.router)) => agreed.ok(),
    };
    match agreed {
        Some(Ok(Some(stream))) => connection::serve(stream, peer, places, deps).await,
        Some(Ok(None)) => {}
        Some(Err(error)) => debug!(%peer, %error, "a connection ended before TLS was agreed on"),
        None => debug!(%peer, "a connection was closed before TLS was agreed on"),
    }
}

/// Agrees on TLS with a peer. A balancer that asks how this node does, and does not speak it, has its answer instead.
async fn agree(
    tls: &Tls,
    stream: PeerStream,
    peer: SocketAddr,
    router: &Router,
) -> io::Result<Option<TlsStream<PeerStream>>> {
    let own = match stream {
        PeerStream::Own(own) => own,
        // Who passes it on has answered what balancers ask.
        passed @ PeerStream::Passed(_) => return tls.accept(passed).await.map(Some),
    };
    let Some(question) = Question::asked_by(&own).await? else {
        return tls.accept(PeerStream::Own(own)).await.map(Some);
    };
    let answer = connection::answer_to_balancer(question, peer, router).await;
    balancer::answer(own, &answer).await;
    Ok(None)
}

/// Sets up an accepted socket. A move is one small packet, which must not wait for the acknowledgement of another.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)
}

/// Tells a peer why, as far as that is possible without waiting for it.
fn turn_away(stream: &mut PeerStream, full: TooManyConnections) {
    let code = match full {
        TooManyConnections::Total => ApiCode::Busy,
        TooManyConnections::Address => ApiCode::RateLimited,
    };
    let error = ApiError::new(code, full.to_string()).retry_in(RETRY);
    let response = error.to_http_text(code.status());
    stream.last_words(response.as_bytes());
}

/// Whether an accept failed for reasons of the one connection, so that the next may be taken at once.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkDown
    )
}

/// Lets a warning through now and then, and counts the others.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    said: Option<Instant>,
    unsaid: u64,
}

impl Warnings {
    pub(super) fn warn(&mut self, say: impl FnOnce(u64)) {
        let now = Instant::now();
        if self.said.is_some_and(|said| now.duration_since(said) < WARNING_INTERVAL) {
            self.unsaid += 1;
            return;
        }
        say(std::mem::take(&mut self.unsaid));
        self.said = Some(now);
    }
}

#[cfg(test)]
mod tests;
