//! Whom people block, over HTTP and on the pages.

use axum::http::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::http::testing::{Answer, TestSite, get};
use crate::model::player::PlayerKind;
use crate::model::result::{EndReason, GameResult};
use crate::storage::conformance::{FIRST_WINS, add, play, player, spec};
use crate::storage::people::PeopleStore as _;
use crate::storage::record::{GameSpec, StoredPlayer};
use crate::storage::store::Store;

const BLOCKS: &str = "/api/v1/account/blocks";

async fn ask(site: &TestSite, method: Method, cookie: &str, name: &str) -> Answer {
    let path = if name.is_empty() { BLOCKS.to_owned() } else { format!("{BLOCKS}/{name}") };
    site.as_page(method, &path, cookie, &Value::Null).await
}

async fn page(site: &TestSite, cookie: &str, path: &str) -> String {
    site.as_page(Method::GET, path, cookie, &Value::Null).await.body
}

/// A site on which Ada, whose cookie comes with it, and Bob have accounts.
async fn site() -> (TestSite, String) {
    let site = TestSite::new();
    let ada = site.register("Ada").await;
    site.store.commit(&[add(player("Bob", PlayerKind::Human))]).await.unwrap();
    site.store.commit(&[add(player("guest-1", PlayerKind::Guest))]).await.unwrap();
    (site, ada)
}

#[tokio::test]
async fn a_block_is_made_listed_and_ended_and_hides_the_follow() {
    let (site, ada) = site().await;
    site.as_page(Method::PUT, "/api/v1/account/follows/Bob", &ada, &Value::Null).await;
    for name in ["BOB", "Bob", "guest-1"] {
        assert_eq!(ask(&site, Method::PUT, &ada, name).await.status, StatusCode::NO_CONTENT, "{name}");
    }
    let shown = ask(&site, Method::GET, &ada, "").await;
    assert_eq!(shown.header(header::CACHE_CONTROL), "no-store");
    let blocks = &shown.json()["blocks"];
    let kinds = |place: usize| (blocks[place]["name"].clone(), blocks[place]["kind"].clone());
    assert_eq!((kinds(0), kinds(1)), ((json!("Bob"), json!("human")), (json!("guest-1"), json!("guest"))));
    let follows = site.as_page(Method::GET, "/api/v1/account/follows", &ada, &Value::Null).await;
    assert_eq!(follows.json(), json!({ "follows": [] }));
    let again = site.as_page(Method::PUT, "/api/v1/account/follows/Bob", &ada, &Value::Null).await;
    again.check_refused(409, "conflict", None);
    let of_bob = page(&site, &ada, "/player/Bob").await;
    assert!(
        of_bob.contains("data-block=\"Bob\" data-blocks>") && !of_bob.contains("data-follow"),
        "{of_bob}"
    );
    assert!(page(&site, &ada, "/account").await.contains("data-block=\"guest-1\" data-blocks"));
    let export = page(&site, &ada, "/api/v1/account/export").await;
    assert!(export.contains("{\"blocks\":\"Bob\",\"since\":\""), "{export}");
    for name in ["Bob", "bob", "guest-1"] {
        assert_eq!(ask(&site, Method::DELETE, &ada, name).await.status, StatusCode::NO_CONTENT);
    }
    assert_eq!(ask(&site, Method::GET, &ada, "").await.json(), json!({ "blocks": [] }));
    let of_bob = page(&site, &ada, "/player/Bob").await;
    assert!(of_bob.contains("data-block=\"Bob\">Block<") && of_bob.contains("data-follow"), "{of_bob}");
    assert!(!page(&site, &ada, "/account").await.contains("data-block="));
}

#[tokio::test]
async fn whom_nobody_can_block_is_refused() {
    let (site, ada) = site().await;
    let house = StoredPlayer { house: true, ..player("perfect", PlayerKind::Bot) };
    site.store.commit(&[add(house)]).await.unwrap();
    for name in ["nobody", "B0b", "a%20b"] {
        ask(&site, Method::PUT, &ada, name).await.check_refused(404, "not_found", None);
    }
    for name in ["Ada", "perfect"] {
        ask(&site, Method::PUT, &ada, name).await.check_refused(403, "forbidden", None);
        assert!(!page(&site, &ada, &format!("/player/{name}")).await.contains("data-block="));
    }
    let guest = site.state.accounts.new_guest();
    let cookie = format!("fourfold={}", guest.cookie.unwrap().expose());
    ask(&site, Method::PUT, &cookie, "Bob").await.check_refused(401, "unauthorized", None);
    assert!(!page(&site, &cookie, "/player/Bob").await.contains("data-block="));
    let forged = get("/").method(Method::PUT).uri(format!("{BLOCKS}/Bob")).header(header::COOKIE, &ada);
    let forged =
        forged.header(header::ORIGIN, "https://evil.example").body(axum::body::Body::empty()).unwrap();
    site.send(forged).await.check_refused(403, "origin_not_allowed", None);
}

#[tokio::test]
async fn whoever_is_blocked_sees_nothing_of_it() {
    let site = TestSite::new();
    let (ada, bob) = (site.register("Ada").await, site.register("Bob").await);
    let before = (page(&site, &bob, "/player/Ada").await, page(&site, &bob, "/account").await);
    ask(&site, Method::PUT, &ada, "Bob").await;
    assert_eq!(before.0, page(&site, &bob, "/player/Ada").await);
    assert_eq!(before.1, page(&site, &bob, "/account").await);
    let follows = site.as_page(Method::PUT, "/api/v1/account/follows/Ada", &bob, &Value::Null).await;
    assert_eq!(follows.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn the_page_of_a_game_offers_a_block_to_those_who_play_it() {
    let (site, ada) = site().await;
    let id = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap().id;
    let game = spec("g1", "Bob", "Bob");
    let players = fourfold_engine::BySide { first: id, second: game.players.second.clone() };
    let game = GameSpec { players, ..game };
    play(&*site.store, game, FIRST_WINS, GameResult::First, EndReason::Four).await;
    assert!(page(&site, &ada, "/game/g1").await.contains("data-block=\"Bob\">Block Bob<"));
    let eve = site.register("Eve").await;
    assert!(!page(&site, &eve, "/game/g1").await.contains("data-block="));
    ask(&site, Method::PUT, &ada, "Bob").await;
    assert!(!page(&site, &ada, "/game/g1").await.contains("data-block="));
}
