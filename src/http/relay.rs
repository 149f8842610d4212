//! A node that does not lead: it passes every connection on, byte for byte, to the one that does.
//!
//! It reads nothing but a balancer's questions whether it lives, so that TLS and WebSocket are the leader's matter. Who
//! connects while nobody leads waits a little: then somebody will.

mod way;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, copy_buf, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tracing::{debug, warn};

use self::way::Ways;
use super::balancer::{self, Answer, Question};
use super::connection_limits::ConnectionPlace;
use super::listener::{self, Transport, Warnings};
use super::peer_stream::PeerStream;
use super::proxy_protocol::{self, BadHeader};
use crate::model::signing::Signer;

/// How long a connection waits for a leader: for as long as it takes to replace one that has stopped answering.
const WAIT_MAX: Duration = Duration::from_secs(8);

/// Between two attempts to reach a leader that is said to serve.
const RETRY: Duration = Duration::from_millis(50);

/// What is read at once of either side. Frames are small, and there are many connections.
const BUFFER_BYTES: usize = 2 * 1024;

/// How long a client may take to hang up once the leader has.
const LINGER_MAX: Duration = Duration::from_secs(10);

/// How long a balancer's question waits for a link to the leader that is begun. Balancers wait for the answer for
/// a second.
const REACHED_WITHIN: Duration = Duration::from_millis(500);

/// Where connections are passed on to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Upstream {
    /// `HOST:PORT` of the leader's listener for nodes.
    pub(crate) address: String,
    /// Which leader it is: the number of its life.
    pub(crate) incarnation: i64,
}

/// What passes connections on.
#[derive(Clone, Debug)]
pub(crate) struct Relay {
    /// What a connection may take, who speaks for many, and the tasks.
    transport: Transport,
    signer: Signer,
    upstream: watch::Receiver<Option<Upstream>>,
    /// How connections get there.
    ways: Ways,
}

/// Why a connection could not be passed on.
#[derive(Debug, Error)]
enum Unrelayed {
    #[error("nobody leads")]
    NoLeader,
    #[error(transparent)]
    BadHeader(#[from] BadHeader),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Relay {
    /// Passes on to whom `upstream` names, within the limits of a listener.
    pub(crate) fn new(
        transport: Transport,
        signer: Signer,
        upstream: watch::Receiver<Option<Upstream>>,
    ) -> Self {
        let ways = Ways::new(signer.clone(), upstream.clone(), transport.tasks.clone());
        Self { transport, signer, upstream, ways }
    }

    /// Takes connections until it is dropped. Those that are passed on go on for as long as their leader leads.
    pub(crate) async fn run(&self, listener: &TcpListener) -> Infallible {
        let mut warnings = Warnings::default();
        let mut taken = 0_usize;
        loop {
            let (client, peer) = listener::accept(listener, &mut warnings).await;
            let address = peer.ip().to_canonical();
            match self.transport.connection_limits.take(self.transport.counted(address)) {
                Ok(place) => self.begin(client, peer, place),
                Err(full) => {
                    let relay = self.clone();
                    let answer_to = move |question| async move { relay.answer_to(question).await };
                    self.transport.answer_without_a_place(client, address, answer_to);
                    warnings.warn(|unsaid| warn!(%address, reason = %full, unsaid, "connection turned away"));
                }
            }
            taken = taken.wrapping_add(1);
            listener::give_way(taken).await;
        }
    }

    fn begin(&self, client: TcpStream, peer: SocketAddr, place: ConnectionPlace) {
        let relay = self.clone();
        self.transport.tasks.spawn(async move {
            if let Err(reason) = relay.pass_on(client, peer, place).await {
                debug!(%peer, %reason, "a connection was not passed on");
            }
        });
    }

    async fn pass_on(
        mut self,
        mut client: TcpStream,
        peer: SocketAddr,
        _place: ConnectionPlace,
    ) -> Result<(), Unrelayed> {
        client.set_nodelay(true)?;
        let is_balancer = self.transport.is_balancer(peer.ip().to_canonical());
        let said = if is_balancer { proxy_protocol::client_of(&mut client).await? } else { None };
        let whose = said.unwrap_or(peer);
        if let Some(question) = Question::asked_by(&client).await? {
            let answer = self.answer_to(question).await;
            balancer::answer(client, &answer).await;
            return Ok(());
        }
        let (mut leader, upstream) =
            timeout(WAIT_MAX, self.reach()).await.map_err(|_| Unrelayed::NoLeader)?;
        leader.write_all(&proxy_protocol::header_of_node(whose, &self.signer)).await?;
        tokio::select! {
            passed = carry(client, leader) => passed?,
            // It may stand still, and would never say that it does not lead any more.
            () = until_replaced(&mut self.upstream, &upstream) => {}
        }
        Ok(())
    }

    /// That it lives, whether somebody leads or not; and that players should enter here, unless somebody leads whom
    /// this node does not reach.
    async fn answer_to(&self, question: Question) -> Answer {
        let upstream = self.upstream.borrow().clone();
        let (Question::PlayersEnter, Some(upstream)) = (question, upstream) else { return Answer::YES };
        let is_reached = timeout(REACHED_WITHIN, self.ways.lead_to(&upstream)).await.unwrap_or(false);
        if is_reached {
            return Answer::YES;
        }
        Answer::elsewhere("this node does not reach the one that leads")
    }

    /// Connects to whoever leads, as soon as somebody does.
    async fn reach(&mut self) -> (PeerStream, Upstream) {
        loop {
            let serving = self.upstream.wait_for(Option::is_some).await.ok().and_then(|now| now.clone());
            // Nobody names leaders any more once the process ends.
            let Some(upstream) = serving else { return std::future::pending().await };
            let mut named = self.upstream.clone();
            tokio::select! {
                biased;
                // One that stands still would be waited for, by everybody.
                () = until_replaced(&mut named, &upstream) => continue,
                reached = self.ways.to(&upstream) => match reached {
                    Ok(leader) => return (leader, upstream),
                    Err(error) => debug!(address = upstream.address, %error, "the leader is not reached"),
                }
            }
            sleep(RETRY).await;
        }
    }
}

/// Waits until another node leads than this one, or none, or the process ends.
async fn until_replaced(named: &mut watch::Receiver<Option<Upstream>>, upstream: &Upstream) {
    drop(named.wait_for(|now| now.as_ref() != Some(upstream)).await);
}

/// Carries bytes both ways until both sides have ended. The leader ends a connection when it has had enough of a
/// client, which is not waited for any longer then.
async fn carry<C, L>(client: C, leader: L) -> io::Result<()>
where
    C: AsyncRead + AsyncWrite,
    L: AsyncRead + AsyncWrite,
{
    let (from_client, mut to_client) = split(client);
    let (from_leader, mut to_leader) = split(leader);
    let up = async {
        copy_buf(&mut BufReader::with_capacity(BUFFER_BYTES, from_client), &mut to_leader).await?;
        to_leader.shutdown().await
    };
    let down = async {
        copy_buf(&mut BufReader::with_capacity(BUFFER_BYTES, from_leader), &mut to_client).await?;
        to_client.shutdown().await
    };
    let (mut up, mut down) = (pin!(up), pin!(down));
    tokio::select! {
        ended = &mut up => {
            ended?;
            down.await
        }
        ended = &mut down => {
            ended?;
            timeout(LINGER_MAX, up).await.unwrap_or(Ok(()))
        }
    }
}

#[cfg(test)]
mod tests;
