//! Between two nodes: one connection that carries those of many clients.
//!
//! A connection of its own for each client cost the node that leads as many system calls as clients of its own would.
//! Here what many of them say is read at once, and what many are told is written at once. A link is HTTP/2 (RFC 9113)
//! without a request that means anything: each client is a stream, which is a [`Tunnel`] of bytes to whoever has it.

mod tunnel;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::{Request, Response};
use bytes::Bytes;
use h2::client::SendRequest;
use h2::server::SendResponse;
use h2::{Ping, PingPong};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{sleep, timeout};
use tracing::debug;

pub(super) use self::tunnel::Tunnel;

/// Clients on one link. A node has fewer descriptors than this; the library would stop at a hundred.
const TUNNELS_MAX: u32 = 1 << 20;

/// What may be under way for each client: whoever does not read makes nobody else wait, and costs no more memory than
/// this. Nodes are near each other, so that pages come no later.
const TUNNEL_WINDOW: u32 = 16 * 1024;

/// What may be under way in all: as much as the protocol can say, for it is bounded by that of each.
const LINK_WINDOW: u32 = (1 << 31) - 1;

/// Streams of clients that are gone which are remembered, so that what comes for them late is known.
const REMEMBERED_MAX: usize = 4 * 1024;

/// How long the other side may take to say that it speaks this.
const HANDSHAKE_MAX: Duration = Duration::from_secs(5);

/// Between two questions whether the leader is still there.
const PING_EVERY: Duration = Duration::from_secs(1);

/// An answer that has not come so soon is late: nobody more is sent that way.
const PONG_SOON: Duration = Duration::from_millis(500);

/// How long it may take to answer. Where bytes are lost on the way no connection ends by itself for a quarter of an
/// hour; a leader that has much to do, when thousands come at once, is seconds late.
const PONG_MAX: Duration = Duration::from_secs(5);

/// Why there is no link.
#[derive(Debug, Error)]
pub(super) enum Unlinked {
    #[error("the other side did not answer within {} s", HANDSHAKE_MAX.as_secs())]
    Silent,
    #[error("the other side hung up")]
    Closed,
    #[error(transparent)]
    Broken(#[from] h2::Error),
}

/// What is known of a link without asking.
#[derive(Debug, Default)]
struct Life {
    /// It takes no more clients.
    has_ended: AtomicBool,
    /// The other side has not answered for a while.
    is_late: AtomicBool,
}

/// The end of a link at the node that passes connections on. Cheap to clone; it ends with the last clone and tunnel.
#[derive(Clone, Debug)]
pub(super) struct Link {
    sender: SendRequest<Bytes>,
    life: Arc<Life>,
}

impl Link {
    /// Begins a link, which lives as long as the future that comes with it is polled.
    ///
    /// # Errors
    ///
    /// The other side does not speak this, or not in time.
    pub(super) async fn begin<S>(stream: S) -> Result<(Self, impl Future<Output = ()> + Send), Unlinked>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let begun = h2::client::Builder::new()
            .initial_window_size(TUNNEL_WINDOW)
            .initial_connection_window_size(LINK_WINDOW)
            .initial_max_send_streams(TUNNELS_MAX as usize)
            .max_concurrent_reset_streams(REMEMBERED_MAX)
            .max_local_error_reset_streams(None)
            .enable_push(false)
            .handshake(stream);
        let (sender, mut connection) =
            timeout(HANDSHAKE_MAX, begun).await.map_err(|_| Unlinked::Silent)??;
        let pings = connection.ping_pong();
        let mut carrying = Box::pin(async move {
            if let Err(error) = connection.await {
                debug!(%error, "a link to the leader broke");
            }
        });
        let mut pings = pings.ok_or(Unlinked::Closed)?;
        // Whoever speaks something else would take the beginning for nonsense, and close.
        let answer = timeout(HANDSHAKE_MAX, pings.ping(Ping::opaque()));
        tokio::select! {
            answer = answer => {
                answer.map_err(|_| Unlinked::Silent)??;
            }
            () = &mut carrying => return Err(Unlinked::Closed),
        }
        let life = Arc::<Life>::default();
        let known = Arc::clone(&life);
        let carrying = async move {
            tokio::select! {
                // First, so that an answer that has come is seen, however late this is.
                biased;
                () = carrying => {}
                () = silence(pings, &known) => debug!("the leader says nothing on a link any more"),
            }
            known.has_ended.store(true, Ordering::Relaxed);
        };
        Ok((Self { sender, life }, carrying))
    }

    /// A tunnel for one client more.
    ///
    /// # Errors
    ///
    /// The link is gone, or ends.
    pub(super) async fn tunnel(&self) -> Result<Tunnel, h2::Error> {
        self.ask_for_tunnel().await.inspect_err(|_| self.life.has_ended.store(true, Ordering::Relaxed))
    }

    async fn ask_for_tunnel(&self) -> Result<Tunnel, h2::Error> {
        let mut ready = self.sender.clone().ready().await?;
        let (answer, sending) = ready.send_request(Request::new(()), false)?;
        Ok(Tunnel::asked_for(sending, answer))
    }

    /// Whether it is known to take no more clients.
    pub(super) fn has_ended(&self) -> bool {
        self.life.has_ended.load(Ordering::Relaxed)
    }

    /// Whether the other side has answered when it was asked last.
    pub(super) fn is_answered(&self) -> bool {
        !self.has_ended() && !self.life.is_late.load(Ordering::Relaxed)
    }
}

/// Asks again and again whether the other side is there, until it does not answer.
async fn silence(mut pings: PingPong, known: &Life) {
    let mut is_there = true;
    while is_there {
        sleep(PING_EVERY).await;
        let mut pong = pin!(timeout(PONG_MAX, pings.ping(Ping::opaque())));
        let answer = tokio::select! {
            biased;
            answer = &mut pong => answer,
            () = sleep(PONG_SOON) => {
                known.is_late.store(true, Ordering::Relaxed);
                pong.await
            }
        };
        is_there = answer.is_ok_and(|pong| pong.is_ok());
        known.is_late.store(!is_there, Ordering::Relaxed);
    }
}

/// The end of a link at the node that leads.
pub(super) struct Arrivals<S>(h2::server::Connection<S, Bytes>);

impl<S: AsyncRead + AsyncWrite + Unpin> Arrivals<S> {
    /// Takes a link that another node begins.
    ///
    /// # Errors
    ///
    /// It speaks something else, or not in time.
    pub(super) async fn of(stream: S) -> Result<Self, Unlinked> {
        let mut builder = h2::server::Builder::new();
        builder
            .initial_window_size(TUNNEL_WINDOW)
            .initial_connection_window_size(LINK_WINDOW)
            .max_concurrent_streams(TUNNELS_MAX)
            // Clients who hang up at once are no attack of the node that passes them on.
            .max_concurrent_reset_streams(REMEMBERED_MAX)
            .max_pending_accept_reset_streams(TUNNELS_MAX as usize)
            .max_local_error_reset_streams(None);
        let taken = timeout(HANDSHAKE_MAX, builder.handshake(stream)).await;
        Ok(Self(taken.map_err(|_| Unlinked::Silent)??))
    }

    /// The next client's tunnel; none once the link has ended. All tunnels live by this being awaited; it may be
    /// dropped and called again.
    pub(super) async fn next(&mut self) -> Option<Tunnel> {
        loop {
            let (request, answer) = self
                .0
                .accept()
                .await?
                .inspect_err(|error| debug!(%error, "a link of another node broke"))
                .ok()?;
            match greeted(answer) {
                Ok(sending) => return Some(Tunnel::new(sending, request.into_body())),
                // Its client has hung up meanwhile.
                Err(error) => debug!(%error, "a tunnel ended before it began"),
            }
        }
    }

    /// Takes no more tunnels; it ends when those that are there have.
    pub(super) fn part(&mut self) {
        self.0.graceful_shutdown();
    }
}

fn greeted(mut answer: SendResponse<Bytes>) -> Result<h2::SendStream<Bytes>, h2::Error> {
    answer.send_response(Response::new(()), false)
}

#[cfg(test)]
mod tests;
