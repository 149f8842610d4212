//! From the upgrade to `welcome`.

use std::time::Duration;

use fourfold::model::secret::Secret;
use fourfold::system::config::Bounded;
use serde_json::json;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::support::{Arena, Client, advance, bearer, blitz, hello};

#[tokio::test(start_paused = true)]
async fn welcome_is_number_one_and_synced_follows() {
    let arena = Arena::start().await;
    let mut bot = arena.bot("ada").await;
    let welcome = bot.welcome.clone();
    assert_eq!(
        (&welcome["seq"], &welcome["protocol"], &welcome["resumed"]),
        (&json!(1), &json!(1), &json!(false))
    );
    assert_eq!((&welcome["you"]["name"], &welcome["you"]["kind"]), (&json!("ada"), &json!("bot")));
    assert_eq!(welcome["limits"]["frame_bytes"], 4096);
    assert_eq!(welcome["limits"]["messages_per_20s"], 100);
    assert_eq!(welcome["server"]["name"], "fourfold");
    assert!(welcome["heartbeat_ms"].is_u64() && welcome["limits"]["games"].is_u64());
    assert!(welcome["session"].is_string() && welcome["secret"].is_string());
    let synced = bot.next().await;
    assert_eq!(synced, json!({"type": "synced", "seq": 2, "games": 0, "your_turn": []}));
}

#[tokio::test(start_paused = true)]
async fn welcome_lists_features_and_whoever_needs_others_is_refused() {
    let arena = Arena::start_with(|config| {
        config.watching.truth = false;
        config.watching.delay_ms = Bounded::new(1_000);
    })
    .await;
    let mut needs = hello();
    needs["needs"] = json!(["strict", "watch_delay"]);
    let client = Client::open(&arena.url(), &[], needs.clone()).await;
    let features = client.welcome["features"].as_array().unwrap();
    for (feature, there) in [("strict", true), ("resume", true), ("watch_delay", true), ("truth", false)] {
        assert_eq!(features.contains(&json!(feature)), there, "{feature}");
    }
    for (needed, field_code) in
        [(json!(["strict", "truth"]), "bad_version"), (json!(vec!["strict"; 65]), "bad_field")]
    {
        needs["needs"] = needed;
        let mut client = Client::connect(&arena.url(), &[]).await.unwrap();
        let refused = client.ask_refused(needs.clone(), field_code).await;
        assert_eq!((&refused["field"], &refused["fatal"]), (&json!("needs"), &json!(true)));
        if field_code == "bad_version" {
            assert_eq!(refused["supported"], json!([1]));
            assert!(refused["message"].as_str().unwrap().starts_with("\"truth\" is not spoken here"));
            assert_eq!(client.closed().await, 4406);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn where_guests_only_watch_they_are_told_to_sign_in_and_others_play() {
    let arena = Arena::start_with(|config| config.access.guests = false).await;
    let (mut guest, mut ann) = (arena.guest().await, arena.person("ann").await);
    let play = json!({"type": "play_bot", "bot": "random", "time": blitz()});
    for wish in [
        play.clone(),
        json!({"type": "seek", "time": blitz(), "rated": false}),
        json!({"type": "open_challenge", "time": blitz(), "rated": false}),
        json!({"type": "challenge", "to": "ann", "time": blitz(), "rated": false}),
    ] {
        let refused = guest.ask_refused(wish, "forbidden").await;
        assert_eq!(refused["message"], "here people play with an account: sign in first");
    }
    let offer = ann.ask(json!({"type": "open_challenge", "time": blitz(), "rated": false})).await;
    guest.ask_refused(json!({"type": "accept", "challenge": offer["challenge"]}), "forbidden").await;
    assert_eq!(ann.ask(json!({"type": "cancel", "challenge": offer["challenge"]})).await["type"], "ok");
    ann.ask(play).await;
    let game = ann.until("game").await["game"].clone();
    let watched = guest.ask(json!({"type": "watch", "game": game})).await;
    assert_eq!((&watched["type"], &watched["game"]), (&json!("game"), &game));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_names_no_subprotocol_is_served_too() {
    let arena = Arena::start().await;
    let mut client = Client::connect_by(arena.url().into_client_request().unwrap()).await.unwrap();
    client.say(&hello());
    assert_eq!(client.next().await["type"], "welcome");
}

#[tokio::test(start_paused = true)]
async fn the_answer_to_hello_carries_its_id() {
    let arena = Arena::start().await;
    let mut client = Client::connect(&arena.url(), &[]).await.unwrap();
    let welcome = client.ask(hello()).await;
    assert_eq!(welcome["type"], "welcome");
}

#[tokio::test(start_paused = true)]
async fn whoever_does_not_say_hello_within_five_seconds_is_closed() {
    let arena = Arena::start().await;
    let mut client = Client::connect(&arena.url(), &[]).await.unwrap();
    client.say(&json!({"type": "ping", "n": 1}));
    let refusal = client.next().await;
    assert_eq!((&refusal["code"], &refusal["fatal"]), (&json!("unauthorized"), &json!(false)));
    advance(Duration::from_millis(4_999)).await;
    client.say(&json!({"type": "ping", "n": 2}));
    assert_eq!(client.next().await["code"], "unauthorized");
    advance(Duration::from_millis(2)).await;
    assert_eq!(client.closed().await, 4401);
}

#[tokio::test(start_paused = true)]
async fn another_protocol_version_is_refused_whatever_else_it_says() {
    let arena = Arena::start().await;
    for hello in [
        json!({"type": "hello", "protocol": 2, "client": {"name": "x", "version": "1"}}),
        json!({"type": "hello", "protocol": 0, "agent": 7}),
    ] {
        let mut client = Client::connect(&arena.url(), &[]).await.unwrap();
        client.say(&hello);
        let error = client.next().await;
        assert_eq!((&error["code"], &error["fatal"]), (&json!("bad_version"), &json!(true)));
        assert_eq!(error["supported"], json!([1]));
        assert_eq!(client.closed().await, 4406);
    }
}

#[tokio::test(start_paused = true)]
async fn a_hello_with_a_missing_field_may_be_said_again() {
    let arena = Arena::start().await;
    let mut client = Client::connect(&arena.url(), &[]).await.unwrap();
    client.say(&json!({"type": "hello", "protocol": 1}));
    let error = client.next().await;
    assert_eq!((&error["code"], &error["field"]), (&json!("bad_field"), &json!("client")));
    client.say(&hello());
    assert_eq!(client.next().await["type"], "welcome");
    let error = client.ask(hello()).await;
    assert_eq!((&error["code"], &error["field"]), (&json!("bad_field"), &json!("type")));
}

#[tokio::test(start_paused = true)]
async fn a_token_may_come_in_the_header_or_in_hello() {
    let arena = Arena::start().await;
    let token = arena.token("ada").await;
    let by_header = Client::open(&arena.url(), &[bearer(&token)], hello()).await;
    let mut hello = hello();
    hello["token"] = json!(token.expose());
    let by_hello = Client::open(&arena.url(), &[], hello).await;
    assert_eq!(by_header.id(), by_hello.id());
    assert_eq!(by_hello.name(), "ada");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_token_is_refused() {
    let arena = Arena::start().await;
    let unknown = Secret::new("c4b_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    match Client::connect(&arena.url(), &[bearer(&unknown)]).await {
        Err(Error::Http(response)) => assert_eq!(response.status(), 401),
        other => panic!("{:?}", other.err()),
    }
    let mut client = Client::connect(&arena.url(), &[]).await.unwrap();
    let mut hello = hello();
    hello["token"] = json!(unknown.expose());
    client.say(&hello);
    let error = client.next().await;
    assert_eq!((&error["code"], &error["fatal"]), (&json!("unauthorized"), &json!(true)));
    assert_eq!(client.closed().await, 4401);
}

#[tokio::test(start_paused = true)]
async fn revoking_a_token_closes_the_connection_that_rests_on_it() {
    let arena = Arena::start().await;
    let token = arena.token("ada").await;
    let mut bot = arena.connect_bot(&token, json!({})).await;
    let accounts = &arena.services.accounts;
    let id = bot.id().parse().unwrap();
    assert_eq!(accounts.revoke_tokens(&id).await.unwrap(), 1);
    assert_eq!(bot.closed().await, 4401);
    let stranger = Client::open(&arena.url(), &[], bot.resume_hello()).await;
    assert_ne!(stranger.id(), bot.id(), "the secret of a session is worth no more than its token");
}

#[tokio::test(start_paused = true)]
async fn everybody_without_credentials_is_a_guest_of_their_own() {
    let arena = Arena::start().await;
    let (one, two) = (arena.guest().await, arena.guest().await);
    assert_eq!(one.welcome["you"]["kind"], "guest");
    assert!(one.name().starts_with("guest-"), "{}", one.name());
    assert_ne!(one.id(), two.id());
}

#[tokio::test(start_paused = true)]
async fn a_cookie_is_taken_from_the_site_alone() {
    let arena = Arena::start().await;
    let ann = arena.person("ann").await;
    assert_eq!((&ann.welcome["you"]["kind"], ann.name()), (&json!("human"), "ann"));
    let cookie = ("Cookie", "fourfold=x".to_owned());
    for origin in ["https://evil.example", "null"] {
        let headers = [cookie.clone(), ("Origin", origin.to_owned())];
        match Client::connect(&arena.url(), &headers).await {
            Err(Error::Http(response)) => assert_eq!(response.status(), 403, "{origin}"),
            other => panic!("{:?}", other.err()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_in_the_address_is_refused() {
    let arena = Arena::start().await;
    let url = format!("{}?token=x", arena.url());
    match Client::connect(&url, &[]).await {
        Err(Error::Http(response)) => assert_eq!(response.status(), 400),
        other => panic!("{:?}", other.err()),
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_bot_says_of_itself_is_text_that_can_be_shown() {
    let arena = Arena::start().await;
    let token = arena.token("ada").await;
    let rows = [
        (json!({"version": "1\u{202e}2"}), "bot.version", "direction of writing, at character 2"),
        (json!({"version": "1", "about": "a\u{200b}b"}), "bot.about", "invisible character, at character 2"),
        (json!({"version": "1", "about": "\u{378}"}), "bot.about", "stands for nothing, at character 1"),
        (json!({"version": "1", "url": "https://x\n"}), "bot.url", "control character, at character 10"),
        (json!({"version": "v".repeat(141)}), "bot.version", "more than 140 characters, at character 141"),
    ];
    for (bot, field, says) in rows {
        let mut client = Client::connect(&arena.url(), &[bearer(&token)]).await.unwrap();
        let mut message = hello();
        message["bot"] = bot;
        client.say(&message);
        let error = client.next().await;
        assert_eq!((&error["code"], &error["field"]), (&json!("bad_field"), &json!(field)), "{error}");
        assert!(error["message"].as_str().unwrap().ends_with(says), "{error}");
    }
    arena.connect_bot(&token, json!({"bot": {"version": "1", "about": "Zoë ⚫ 日本語"}})).await;
}
