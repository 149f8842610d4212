//! How connections get to the node that leads: by one link for all of them, or, to a node of the version before, which
//! has no links, one by one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, oneshot, watch};
use tokio::time::{Instant, sleep, timeout};
use tracing::{debug, info};

use super::{Upstream, until_replaced};
use crate::http::link::{Link, Unlinked};
use crate::http::peer_stream::PeerStream;
use crate::http::proxy_protocol;
use crate::model::signing::Signer;
use crate::system::tasks::Tasks;

/// How long an attempt to connect may take.
const CONNECT_MAX: Duration = Duration::from_secs(2);

/// A leader that knows no links is not asked again for so long.
const ONE_BY_ONE: Duration = Duration::from_secs(30);

/// What is under way on a link may still leave for so long once another node leads. A leader that stands still takes
/// nothing.
const LAST_BYTES_MAX: Duration = Duration::from_secs(5);

/// How connections get to a leader.
#[derive(Clone, Debug)]
enum Path {
    Link(Link),
    /// It knows no links, which is believed until then.
    OneByOne(Instant),
}

impl Path {
    fn is_over(&self) -> bool {
        match self {
            Self::Link(link) => link.has_ended(),
            Self::OneByOne(until) => Instant::now() >= *until,
        }
    }
}

/// The way to the leader that was named last.
#[derive(Debug, Default)]
struct Way {
    to: Option<Upstream>,
    path: Option<Path>,
}

impl Way {
    /// How connections get to this leader, if that is known.
    fn known(&mut self, upstream: &Upstream) -> Option<Path> {
        if self.to.as_ref() != Some(upstream) {
            *self = Self { to: Some(upstream.clone()), path: None };
        }
        if let Some(path) = self.path.take_if(|path| path.is_over()) {
            debug!(?path, "connections to the leader do not go this way any more");
        }
        self.path.clone()
    }
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
        match self.path_to(upstream).await? {
            Path::Link(link) => match link.tunnel().await {
                Ok(tunnel) => Ok(PeerStream::Passed(Box::new(tunnel))),
                Err(error) => Err(io::Error::new(io::ErrorKind::ConnectionReset, error)),
            },
            Path::OneByOne(_) => Ok(PeerStream::Own(connect(upstream).await?)),
        }
    }

    /// Whether this leader is reached. May be dropped: a link that is begun meanwhile is there for whoever comes next.
    pub(super) async fn lead_to(&self, upstream: &Upstream) -> bool {
        let known = self.way.lock().await.known(upstream);
        match known {
            Some(Path::Link(link)) => link.is_answered(),
            // Since it last took no link it may have gone.
            Some(Path::OneByOne(_)) => connect(upstream).await.is_ok(),
            None => self.find_apart(upstream).await,
        }
    }

    /// Finds a path, whether that is waited for or not, and says whether there is one.
    async fn find_apart(&self, upstream: &Upstream) -> bool {
        let (tell, told) = oneshot::channel();
        let (ways, upstream) = (self.clone(), upstream.clone());
        self.tasks.spawn(async move {
            let mut named = ways.upstream.clone();
            let is_reached = tokio::select! {
                biased;
                // One that stands still would keep everybody from the next one.
                () = until_replaced(&mut named, &upstream) => false,
                path = ways.path_to(&upstream) => path.is_ok(),
            };
            // Whoever asked may have gone.
            let _ = tell.send(is_reached);
        });
        told.await.unwrap_or(false)
    }

    async fn path_to(&self, upstream: &Upstream) -> io::Result<Path> {
        let mut way = self.way.lock().await;
        if let Some(known) = way.known(upstream) {
            return Ok(known);
        }
        let path = match self.begin(upstream).await? {
            Ok(link) => Path::Link(link),
            // It stands still.
            Err(Unlinked::Silent) => return Err(io::ErrorKind::TimedOut.into()),
            Err(reason) => {
                info!(address = upstream.address, %reason, "the leader has no links: connections go one by one");
                Path::OneByOne(Instant::now() + ONE_BY_ONE)
            }
        };
        way.path = Some(path.clone());
        Ok(path)
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
                until_replaced(&mut named, &upstream).await;
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
