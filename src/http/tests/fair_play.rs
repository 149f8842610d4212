//! What is said of one's own decisions, to oneself alone.

use std::sync::Arc;

use axum::http::Method;
use fourfold_arena::fair_play::Finding;
use serde_json::{Value, json};

use crate::competition::fair_play::Evidence;
use crate::http::testing::TestSite;
use crate::model::time::UnixMillis;
use crate::storage::people::PeopleStore as _;

const OWN: &str = "/api/v1/account/fair-play";

/// A site that has looked at Ada's games, and her cookie.
async fn site_with_ada() -> (TestSite, String) {
    let site = TestSite::new();
    let cookie = site.register("Ada").await;
    let ada = site.store.player_by_name(&"Ada".parse().unwrap()).await.unwrap().unwrap();
    let found = Finding {
        player: ada.id.to_string(),
        games: 60,
        hard: 41,
        kept: 30,
        expected: 19.5,
        range: (14.6, 24.4),
        evidence: 123_456.0,
        look: true,
        weighing: Vec::new(),
    };
    let at = Some(UnixMillis(1_000));
    site.evidence.send_replace(Arc::new(Evidence { at, games: 99, waiting: 0, findings: vec![found] }));
    (site, cookie)
}

#[tokio::test]
async fn a_player_reads_how_the_own_decisions_stand_without_a_verdict() {
    let (site, cookie) = site_with_ada().await;
    let page = site.as_page(Method::GET, "/account", &cookie, &Value::Null).await.body;
    let sentence =
        "In 41 hard decisions you kept the value 30 times; people of your rating keep it 15 to 24 times.";
    assert!(page.contains(sentence) && page.contains("href=\"/docs/fair-play\""), "{page}");
    assert!(!page.contains("123"), "how rare that is is no number for the player");
    let own = site.as_page(Method::GET, OWN, &cookie, &Value::Null).await.json();
    let expected = json!({
        "at": "1970-01-01T00:00:01.000Z", "games": 60, "hard": 41, "kept": 30, "usual_from": 15, "usual_to": 24
    });
    assert_eq!(own, expected);
}

#[tokio::test]
async fn nobody_reads_how_the_decisions_of_others_stand() {
    let (site, _) = site_with_ada().await;
    let other = site.register("Bob").await;
    let page = site.as_page(Method::GET, "/account", &other, &Value::Null).await.body;
    assert!(page.contains("There is nothing to say about your games yet"), "{page}");
    let own = site.as_page(Method::GET, OWN, &other, &Value::Null).await.json();
    assert_eq!((&own["games"], &own["hard"]), (&json!(0), &json!(0)));
    site.get(OWN).await.check_refused(401, "unauthorized", None);
    for path in ["/player/Ada", "/api/v1/players/Ada", "/leaderboard", "/api/v1/leaderboard"] {
        let answer = site.as_page(Method::GET, path, &other, &Value::Null).await;
        assert!(answer.status.is_success(), "{path}: {answer:?}");
        assert!(!answer.body.contains("hard decision") && !answer.body.contains("123456"), "{path}");
    }
}
