//! Whom people follow, over HTTP and on the pages.

use axum::http::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::accounts::identity_of;
use crate::http::site::Site;
use crate::http::testing::{Answer, TestArena, TestSite, get};
use crate::model::clock::TimeControl;
use crate::model::player::PlayerKind;
use crate::protocol::server::LiveGame;
use crate::protocol::terms::{Sides, WirePlayer, WireSeries, WireVariant};
use crate::storage::conformance::{add, player, player_id};
use crate::storage::follows::FOLLOWS_MAX;
use crate::storage::people::PeopleStore as _;
use crate::storage::record::StoredPlayer;
use crate::storage::store::Store;

const FOLLOWS: &str = "/api/v1/account/follows";

async fn ask(site: &TestSite, method: Method, cookie: &str, name: &str) -> Answer {
    let path = if name.is_empty() { FOLLOWS.to_owned() } else { format!("{FOLLOWS}/{name}") };
    site.as_page(method, &path, cookie, &Value::Null).await
}

async fn follow(site: &TestSite, cookie: &str, name: &str) {
    let answer = ask(site, Method::PUT, cookie, name).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT, "{}", answer.body);
}

async fn page(site: &TestSite, cookie: &str, path: &str) -> String {
    site.as_page(Method::GET, path, cookie, &Value::Null).await.body
}

#[tokio::test]
async fn two_who_follow_each_other_are_friends() {
    let site = TestSite::new();
    let (ada, bob) = (site.register("Ada").await, site.register("Bob").await);
    let house = StoredPlayer { house: true, ..player("perfect", PlayerKind::Bot) };
    site.store.commit(&[add(house)]).await.unwrap();
    for name in ["BOB", "perfect", "Bob"] {
        follow(&site, &ada, name).await;
    }
    let shown = ask(&site, Method::GET, &ada, "").await;
    assert_eq!(shown.header(header::CACHE_CONTROL), "no-store");
    let follows = shown.json()["follows"].clone();
    let of = |place: usize| {
        let one = &follows[place];
        json!([one["name"], one["kind"], one["friend"], one["online"], one["game"]])
    };
    assert_eq!(
        (of(0), of(1)),
        (json!(["Bob", "human", false, false, null]), json!(["perfect", "bot", false, true, null]))
    );
    assert_eq!(follows[0].as_object().unwrap().len(), 6, "no more than everybody sees");
    follow(&site, &bob, "Ada").await;
    assert_eq!(ask(&site, Method::GET, &ada, "").await.json()["follows"][0]["friend"], true);
    let export = page(&site, &ada, "/api/v1/account/export").await;
    assert!(export.contains("{\"follows\":\"Bob\",\"since\":\""), "{export}");
    for _ in 0..2 {
        assert_eq!(ask(&site, Method::DELETE, &ada, "bob").await.status, StatusCode::NO_CONTENT);
    }
    assert_eq!(ask(&site, Method::GET, &bob, "").await.json()["follows"][0]["friend"], false);
}

#[tokio::test]
async fn whom_nobody_can_follow_is_refused() {
    let site = TestSite::new();
    let ada = site.register("Ada").await;
    site.store.commit(&[add(player("guest-abc", PlayerKind::Guest))]).await.unwrap();
    for name in ["nobody", "Ad4", "a%20b", "%F0%9F%98%80", "xn--ada"] {
        ask(&site, Method::PUT, &ada, name).await.check_refused(404, "not_found", None);
    }
    for name in ["ada", "guest-abc"] {
        ask(&site, Method::PUT, &ada, name).await.check_refused(403, "forbidden", None);
    }
    let guest = site.state.accounts.new_guest();
    let cookie = format!("fourfold={}", guest.cookie.unwrap().expose());
    ask(&site, Method::PUT, &cookie, "Ada").await.check_refused(401, "unauthorized", None);
    ask(&site, Method::GET, &cookie, "").await.check_refused(401, "unauthorized", None);
    let forged = get("/").method(Method::PUT).uri(format!("{FOLLOWS}/perfect")).header(header::COOKIE, &ada);
    let forged =
        forged.header(header::ORIGIN, "https://evil.example").body(axum::body::Body::empty()).unwrap();
    site.send(forged).await.check_refused(403, "origin_not_allowed", None);
}

#[tokio::test]
async fn one_follows_so_many_and_no_more_however_often_one_asks() {
    let site = TestSite::new();
    let ada = site.register("Ada").await;
    let id = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap().id;
    for number in 0..=FOLLOWS_MAX {
        site.store.commit(&[add(player(&format!("p{number}"), PlayerKind::Human))]).await.unwrap();
    }
    let all: Vec<_> = (0..=FOLLOWS_MAX)
        .map(|number| {
            let (accounts, id) = (site.state.accounts.clone(), id.clone());
            let other = player_id(&format!("p{number}"));
            tokio::spawn(async move { accounts.follow(&id, &other).await.is_ok() })
        })
        .collect();
    let mut done = 0;
    for one in all {
        done += usize::from(one.await.unwrap());
    }
    assert_eq!(done, FOLLOWS_MAX, "at the same time, too");
    site.store.commit(&[add(player("late", PlayerKind::Human))]).await.unwrap();
    ask(&site, Method::PUT, &ada, "late").await.check_refused(409, "conflict", None);
    assert_eq!(
        ask(&site, Method::GET, &ada, "").await.json()["follows"].as_array().unwrap().len(),
        FOLLOWS_MAX
    );
}

#[tokio::test]
async fn pages_show_friends_to_those_who_have_an_account() {
    let site = TestSite::new();
    let (ada, bob) = (site.register("Ada").await, site.register("Bob").await);
    let anonymous = site.get("/friends").await.body;
    assert!(anonymous.contains("href=\"/account\">an account</a>"), "{anonymous}");
    assert!(!site.get("/player/Bob").await.body.contains("data-follow"));
    assert!(!page(&site, &ada, "/player/Ada").await.contains("data-follow"), "nobody follows themselves");
    assert!(page(&site, &ada, "/friends").await.contains("id=\"nobody\""));
    assert!(!page(&site, &ada, "/").await.contains("friends-online"));
    assert!(page(&site, &ada, "/player/Bob").await.contains("data-follow=\"Bob\">Follow</button>"));
    follow(&site, &ada, "Bob").await;
    assert!(
        page(&site, &ada, "/player/Bob")
            .await
            .contains("data-follow=\"Bob\" data-follows>Following</button>")
    );
    let friends = page(&site, &ada, "/friends").await;
    assert!(friends.contains("id=\"followed\"") && !friends.contains("id=\"friends\""), "{friends}");
    assert!(!page(&site, &ada, "/").await.contains("friends-online"), "it takes two");
    follow(&site, &bob, "Ada").await;
    assert!(page(&site, &ada, "/friends").await.contains("id=\"friends\""));
    assert!(page(&site, &ada, "/").await.contains("None of them is here now."));
    assert!(page(&site, &ada, "/player/Bob").await.contains("<span class=\"badge\">friend</span>"));
}

/// Bob plays a bot.
fn live_game() -> LiveGame {
    let shown = |name, kind| WirePlayer::new(&identity_of(&player(name, kind)), None, None);
    LiveGame {
        game: "live".parse().unwrap(),
        players: Sides { first: shown("Bob", PlayerKind::Human), second: shown("six", PlayerKind::Bot) },
        rated: false,
        time: TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None },
        variant: WireVariant::default(),
        ply: 0,
        moves: String::new(),
        watching: 0,
        started_at: "2026-01-01T00:00:00Z".into(),
        tournament: None,
        series: None,
    }
}

#[tokio::test]
async fn a_friend_who_plays_can_be_watched() {
    let site = TestSite::with(Site::default(), TestArena { live: vec![live_game()], ..TestArena::default() });
    let ada = site.register("Ada").await;
    site.store.commit(&[add(player("Bob", PlayerKind::Human))]).await.unwrap();
    follow(&site, &ada, "Bob").await;
    assert_eq!(ask(&site, Method::GET, &ada, "").await.json()["follows"][0]["game"], "live");
    let friends = page(&site, &ada, "/friends").await;
    assert!(friends.contains("href=\"/game/live\" aria-label=\"Watch Bob play\""), "{friends}");
}

#[tokio::test]
async fn a_list_of_live_games_says_how_a_series_stands() {
    let half_points = Sides { first: 2, second: 1 };
    let series = Some(WireSeries { leg: 3, of: 5, half_points });
    let live = vec![LiveGame { series, ..live_game() }];
    let site = TestSite::with(Site::default(), TestArena { live, ..TestArena::default() });
    site.store.commit(&[add(player("Bob", PlayerKind::Human))]).await.unwrap();
    let page = site.get("/player/Bob").await.body;
    assert!(page.contains("Best of 5 · 1 : ½"), "{page}");
}
