//! What one network uses up, it leaves to others.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::response::Response;

use crate::accounts::Revoked;
use crate::http::site::Site;
use crate::http::testing::{PASSWORD, TestArena, TestSite, credentials, get, post};
use crate::model::device::Device;
use crate::model::ids::PlayerId;
use crate::model::secret::Secret;
use crate::storage::memory::CommitFault;
use crate::system::shares::{Payer, Share};

const ONE: &str = "198.51.100.1:1";
const OTHER: &str = "203.0.113.1:1";

/// Leaves a network none of a share.
fn use_up(site: &TestSite, share: Share, from: &str) {
    let peer: SocketAddr = from.parse().unwrap();
    let amount = share.rule().network.budget.unwrap().amount;
    site.state.shares.charge(share, &Payer::stranger(peer.ip()), amount.into());
}

fn empty(request: axum::http::request::Builder) -> Request<Body> {
    request.body(Body::empty()).unwrap()
}

/// One is told to wait, the other is served as if nothing were.
async fn check(site: &TestSite, share: Share, request: impl Fn() -> Request<Body>, served: StatusCode) {
    assert_eq!(site.open(ONE, request()).await.status(), served, "before");
    use_up(site, share, ONE);
    let refused: Response = site.open(ONE, request()).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS, "{share:?}");
    let wait: u64 = refused.headers()[header::RETRY_AFTER].to_str().unwrap().parse().unwrap();
    assert!(wait >= 1);
    assert_eq!(site.open(OTHER, request()).await.status(), served, "{share:?}");
}

#[tokio::test(start_paused = true)]
async fn whoever_changes_things_without_end_waits() {
    let change = || empty(Request::delete("/api/v1/sessions"));
    check(&TestSite::new(), Share::Change, change, StatusCode::UNAUTHORIZED).await;
}

#[tokio::test(start_paused = true)]
async fn whoever_searches_without_end_waits() {
    for path in ["/api/v1/games", "/leaderboard", "/api/v1/positions/44", "/bots", "/learning", "/puzzles"] {
        check(&TestSite::new(), Share::Search, || empty(get(path)), StatusCode::OK).await;
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_lets_positions_be_solved_without_end_waits() {
    // Not in the book, and soon solved; the second time it is known.
    let site = TestSite::new();
    let late = |last: &str| empty(get(&format!("/api/v1/positions/5571527116245457463624647622{last}")));
    assert_eq!(site.open(ONE, late("34")).await.status(), StatusCode::OK);
    use_up(&site, Share::Analysis, ONE);
    assert_eq!(site.open(ONE, late("34")).await.status(), StatusCode::OK, "known");
    assert_eq!(site.open(ONE, late("3")).await.status(), StatusCode::TOO_MANY_REQUESTS);
    let page = site.open(ONE, empty(get("/analysis/55715271162454574636246476223"))).await;
    assert_eq!(page.status(), StatusCode::OK, "the page comes without the values");
    assert_eq!(site.open(OTHER, late("3")).await.status(), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn right_passwords_are_counted_too() {
    let site = TestSite::new();
    site.register("Ada").await;
    let sign_in =
        || post("/api/v1/sessions").body(Body::from(credentials("Ada", PASSWORD).to_string())).unwrap();
    check(&site, Share::SignIn, sign_in, StatusCode::CREATED).await;
}

#[tokio::test(start_paused = true)]
async fn a_network_makes_so_many_accounts() {
    let site = TestSite::new();
    use_up(&site, Share::Registration, ONE);
    let register = |name: &str| {
        post("/api/v1/accounts").body(Body::from(credentials(name, PASSWORD).to_string())).unwrap()
    };
    assert_eq!(site.open(ONE, register("Ada")).await.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(site.open(OTHER, register("Bob")).await.status(), StatusCode::CREATED);
}

#[tokio::test(start_paused = true)]
async fn feeds_and_exports_are_places_that_come_back() {
    for (share, path) in [(Share::Feed, "/api/v1/live/feed"), (Share::Export, "/api/v1/games.ndjson")] {
        let site = TestSite::with(Site::default(), TestArena { feed_places: 1, ..TestArena::default() });
        let mut open = Vec::new();
        for _ in 0..share.rule().network.held.unwrap() {
            let answer = site.open(ONE, empty(get(path))).await;
            assert_eq!(answer.status(), StatusCode::OK);
            open.push(answer);
        }
        assert_eq!(site.open(ONE, empty(get(path))).await.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(site.open(OTHER, empty(get(path))).await.status(), StatusCode::OK);
        open.pop();
        assert_eq!(site.open(ONE, empty(get(path))).await.status(), StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn refusals_are_counted_by_code_and_by_share() {
    let site = TestSite::new();
    site.get("/api/v1/players/nobody").await.check_refused(404, "not_found", None);
    use_up(&site, Share::Change, ONE);
    site.open(ONE, empty(Request::delete("/api/v1/sessions"))).await;
    let text = site.metrics.text();
    for line in [
        "fourfold_refusals_total{code=\"not_found\"} 1",
        "fourfold_refusals_total{code=\"rate_limited\"} 1",
        "fourfold_shares_refused_total{share=\"change\"} 1",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}: {text}");
    }
}

#[tokio::test]
async fn of_many_sessions_of_one_person_the_oldest_end() {
    let site = TestSite::new();
    let first = site.register("Ada").await;
    let id: PlayerId = site.get("/api/v1/players/Ada").await.json()["id"].as_str().unwrap().parse().unwrap();
    let account = || empty(get("/api/v1/account").header(header::COOKIE, &first));
    assert_eq!(site.open(ONE, account()).await.status(), StatusCode::OK);
    // So that the next one is younger by the clock, too.
    tokio::time::sleep(Duration::from_millis(2)).await;
    let mut revoked = site.state.accounts.revocations();
    for _ in 0..20 {
        site.state.accounts.open_session(&id, Device::default()).await.unwrap();
    }
    assert_eq!(site.state.accounts.sessions(&id).await.unwrap().len(), 20);
    assert!(revoked.try_recv().is_ok(), "connections that rest on it are closed");
    assert_eq!(site.open(ONE, account()).await.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_password_that_is_changed_ends_sessions_even_if_the_asker_hangs_up() {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let id: PlayerId = site.get("/api/v1/players/Ada").await.json()["id"].as_str().unwrap().parse().unwrap();
    let other = site.state.accounts.open_session(&id, Device::default()).await.unwrap();
    let mut revoked = site.state.accounts.revocations();
    let secret = Secret::new(cookie.split_once('=').unwrap().1);
    let own = site.state.accounts.session(&secret).await.unwrap();
    // The write is begun and takes its time.
    site.store.inject(CommitFault::Slow(Duration::from_millis(200)));
    let accounts = site.state.accounts.clone();
    let (from, session) = (IpAddr::from([192, 0, 2, 1]), own.clone());
    let changing = tokio::spawn(async move {
        accounts.change_password(from, &session, Secret::new(PASSWORD), Secret::new("another horse")).await
    });
    while site.store.faults_left() > 0 {
        tokio::task::yield_now().await;
    }
    changing.abort();
    assert!(changing.await.unwrap_err().is_cancelled(), "it hung up before the answer");
    let ended = tokio::time::timeout(Duration::from_secs(20), revoked.recv()).await;
    let ended = ended.expect("what was begun is done").unwrap();
    assert_eq!(ended, Revoked::Token(other.token));
    let left = site.state.accounts.sessions(&id).await.unwrap();
    assert_eq!(left.iter().map(|session| &session.id).collect::<Vec<_>>(), [&own.token]);
}
