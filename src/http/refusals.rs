//! Lines in the log about who was refused, with the address, so that programs such as fail2ban have something to read;
//! and a warning when all visitors seem to share one address.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::Instant;
use tracing::{info, warn};

use super::client_address::{ClientAddress, Peer};
use super::error::ApiCode;
use super::site::Site;

/// Whoever floods us must not fill the log; fail2ban needs a handful of lines to see it.
const LINES_PER_SECOND: u32 = 20;

/// What is said of refusals, and what was said already.
#[derive(Debug)]
pub(super) struct RefusalLog {
    site: Arc<Site>,
    began: Instant,
    /// Seconds since then, of the last line.
    second: AtomicU64,
    /// Lines in that second.
    lines: AtomicU32,
    has_warned: AtomicBool,
}

impl RefusalLog {
    pub(super) fn new(site: Arc<Site>) -> Arc<Self> {
        Arc::new(Self {
            site,
            began: Instant::now(),
            second: AtomicU64::new(0),
            lines: AtomicU32::new(0),
            has_warned: AtomicBool::new(false),
        })
    }

    /// Whether one more line may be written now.
    fn may_say(&self) -> bool {
        let now = self.began.elapsed().as_secs();
        if self.second.swap(now, Ordering::Relaxed) != now {
            self.lines.store(0, Ordering::Relaxed);
        }
        self.lines.fetch_add(1, Ordering::Relaxed) < LINES_PER_SECOND
    }

    /// A proxy on this machine that nobody trusts makes all visitors one, who is free of the limits by address.
    fn is_forgotten_proxy(&self, peer: IpAddr, request: &Request) -> bool {
        self.site.trusted_proxies.is_empty()
            && peer.to_canonical().is_loopback()
            && request.headers().contains_key("x-forwarded-for")
    }
}

/// Notes refusals that an operator may want to count by address.
pub(super) async fn note(State(log): State<Arc<RefusalLog>>, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<Peer>();
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip());
    if log.is_forgotten_proxy(peer, &request) && !log.has_warned.swap(true, Ordering::Relaxed) {
        warn!(
            "a proxy on this machine says for whom it asks, but server.trusted_proxies is empty: no limit counts by address"
        );
    }
    let ClientAddress(address) = ClientAddress::find(&log.site, peer, request.headers());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    if let Some(code) = response.extensions().get::<ApiCode>().copied().filter(|code| is_of_note(*code))
        && log.may_say()
    {
        let route = route.as_ref().map_or("none", MatchedPath::as_str);
        info!(%address, code = %code.word(), route, "refused");
    }
    response
}

/// Whether it is what those hear who try passwords, ask too much or come from where they should not.
fn is_of_note(code: ApiCode) -> bool {
    matches!(
        code,
        ApiCode::Unauthorized
            | ApiCode::Forbidden
            | ApiCode::RateLimited
            | ApiCode::OriginNotAllowed
            | ApiCode::HostNotAllowed
    )
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_has_a_bounded_number_of_lines() {
        let log = RefusalLog::new(Arc::default());
        let said = (0..1_000).filter(|_| log.may_say()).count();
        assert_eq!(said, 20);
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        assert!(log.may_say());
    }

    #[test]
    fn a_proxy_that_nobody_trusts_is_noticed() {
        let check = |peer: &str, trusted: Option<&str>, expected| {
            let trusted_proxies = trusted.iter().map(|net| net.parse().unwrap()).collect();
            let log = RefusalLog::new(Arc::new(Site { trusted_proxies, ..Site::default() }));
            let request =
                Request::get("/").header("x-forwarded-for", "203.0.113.9").body(Body::empty()).unwrap();
            assert_eq!(log.is_forgotten_proxy(peer.parse().unwrap(), &request), expected, "{peer}");
        };
        check("127.0.0.1", None, true);
        check("::ffff:127.0.0.1", None, true);
        check("127.0.0.1", Some("127.0.0.1"), false);
        check("192.0.2.1", None, false);
    }

    #[test]
    fn what_fail2ban_counts_is_noted_and_the_rest_is_not() {
        assert!(is_of_note(ApiCode::Unauthorized) && is_of_note(ApiCode::RateLimited));
        assert!(!is_of_note(ApiCode::NotFound) && !is_of_note(ApiCode::BadField));
    }
}
