//! Feeds line by line: what they say, and when there is none.

use axum::http::header;
use serde_json::{Value, json};

use crate::http::site::Site;
use crate::http::testing::{TestArena, TestSite};
use crate::protocol::ServerMessage;
use crate::protocol::server::{LadderFeed, TvFeed};
use crate::protocol::terms::WireVariant;

#[tokio::test]
async fn results_come_one_a_line() {
    let ladder = LadderFeed { variant: WireVariant(fourfold_engine::Variant::STANDARD), changes: Vec::new() };
    let results = vec![ServerMessage::Ladder(ladder), ServerMessage::Tv(TvFeed { game: None })];
    let site = TestSite::with(Site::default(), TestArena { results, feed_places: 1, ..TestArena::default() });
    let answer = site.get("/api/v1/live/feed").await;
    assert_eq!(answer.header(header::CONTENT_TYPE), "application/x-ndjson");
    assert_eq!(answer.header(header::CACHE_CONTROL), "no-store");
    let lines: Vec<Value> = answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines,
        [json!({ "type": "ladder", "variant": "7x6", "changes": [] }), json!({ "type": "tv", "game": null })]
    );
}

#[tokio::test]
async fn there_is_no_feed_of_what_is_not_live_and_not_too_many() {
    let site = TestSite::new();
    for path in ["/api/v1/games/nothing/feed", "/api/v1/games/%20/feed"] {
        site.get(path).await.check_refused(404, "not_found", None);
    }
    let refused = site.get("/api/v1/live/feed").await;
    refused.check_refused(503, "busy", None);
    assert_eq!(refused.header(header::RETRY_AFTER), "30");
}
