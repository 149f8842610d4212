//! How connections get to the node that leads: by one link for all of them, or, to a node of the version before, which
//! has no links, one by one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep, timeout};
use tracing::{debug, info};

use super::Upstream;
use crate::http::link::{Link, Unlinked};
use crate::http::peer_stream::PeerStream;
use crate::http::proxy_protocol;
use crate::model::signing::Signer;
use crate::system::tasks::Tasks;

/// How long an attempt to connect may take.
const CONNECT_MAX: Duration = Duration::from_secs(2);

/// A leader that did not answer to the beginning of a link is not asked again for so long.
const ONE_BY_ONE: Duration = Duration::from_secs(30);

/// What is under way on a link may still leave for so long once another node leads. A leader that stands still takes
/// nothing.
const LAST_BYTES_MAX: Duration = Duration::from_secs(5);

/// The way to the leader that was named last.
#[derive(Debug, Default)]
struct Way {
    to: Option<Upstream>,
    link: Option<Link>,
    one_by_one_until: Option<Instant>,
}

/// Leads to whoever leads. Cheap to share.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    signer: Signer,
    upstream: watch::Receiver<Option<Upstream>>,
    tasks: Tasks,
    /// Held while a link is begun, so that there is one.
    way: Arc<Mutex<Way>>,
}

impl Ways {
    pub(super) fn new(signer: Signer, upstream: watch::Receiver<Option<Upstream>>, tasks: Tasks) -> Self {
        Self { signer, upstream, tasks, way: Arc::default() }
    }

    /// A stream to this leader.
    ///
    /// # Errors
    ///
    /// It is not reached.
    pub(super) async fn to(&self, upstream: &Upstream) -> io::Result<PeerStream> {
        if let Some(link) = self.link_to(upstream).await? {
            match link.tunnel().await {
                Ok(tunnel) => return Ok(PeerStream::Passed(Box::new(tunnel))),
                Err(error) => return Err(self.has_lost_link(error).await),
            }
        }
        Ok(PeerStream::Own(connect(upstream).await?))
    }

    /// Whether this leader is reached.
    pub(super) async fn lead_to(&self, upstream: &Upstream) -> bool {
        match self.link_to(upstream).await {
            Ok(Some(link)) => match link.check().await {
                Ok(()) => true,
                Err(error) => {
                    self.has_lost_link(error).await;
                    false
                }
            },
            // Since it last took no link it may have gone.
            Ok(None) => connect(upstream).await.is_ok(),
            Err(_) => false,
        }
    }

    /// Another is begun for whoever comes next.
    async fn has_lost_link(&self, error: h2::Error) -> io::Error {
        debug!(%error, "the link to the leader has ended");
        self.way.lock().await.link = None;
        io::Error::new(io::ErrorKind::ConnectionReset, error)
    }

    /// The link to this leader; none if it takes connections one by one.
    async fn link_to(&self, upstream: &Upstream) -> io::Result<Option<Link>> {
        let mut way = self.way.lock().await;
        if way.to.as_ref() != Some(upstream) {
            *way = Way { to: Some(upstream.clone()), ..Way::default() };
        }
        if way.link.is_some() || way.one_by_one_until.is_some_and(|until| Instant::now() < until) {
            return Ok(way.link.clone());
        }
        match self.begin(upstream).await? {
            Ok(link) => way.link = Some(link),
            Err(reason) => {
                info!(address = upstream.address, %reason, "the leader has no links: connections go one by one");
                way.one_by_one_until = Some(Instant::now() + ONE_BY_ONE);
            }
        }
        Ok(way.link.clone())
    }

    async fn begin(&self, upstream: &Upstream) -> io::Result<Result<Link, Unlinked>> {
        let mut stream = connect(upstream).await?;
        stream.write_all(&proxy_protocol::header_of_link(&self.signer)).await?;
        let (link, carrying) = match Link::begin(stream).await {
            Ok(begun) => begun,
            Err(reason) => return Ok(Err(reason)),
        };
        let (mut named, upstream) = (self.upstream.clone(), upstream.clone());
        self.tasks.spawn(async move {
            let replaced = async {
                drop(named.wait_for(|now| now.as_ref() != Some(&upstream)).await);
                sleep(LAST_BYTES_MAX).await;
            };
            tokio::select! {
                () = carrying => {}
                () = replaced => {}
            }
        });
        Ok(Ok(link))
    }
}

async fn connect(upstream: &Upstream) -> io::Result<TcpStream> {
    let connecting = TcpStream::connect(&upstream.address);
    let stream = timeout(CONNECT_MAX, connecting).await.map_err(|_| io::ErrorKind::TimedOut)??;
    stream.set_nodelay(true)?;
    Ok(stream)
}
