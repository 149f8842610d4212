//! Offers to one player, and open ones.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Arena, Client, advance, blitz, hello, merge, pair_up, time};

fn challenge(to: &str, more: Value) -> Value {
    let mut challenge = json!({"type": "challenge", "to": to, "time": blitz(), "rated": false});
    merge(&mut challenge, more);
    challenge
}

#[tokio::test(start_paused = true)]
async fn both_sides_are_told_of_an_offer_and_of_its_terms() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let offer = ann.ask(challenge("BOB", json!({"side": "second", "variant": "8x7"}))).await;
    let expected = json!({
        "type": "challenge", "time": blitz(), "rated": false, "variant": "8x7", "games": 1, "side": "second",
        "expires_ms": 20_000,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&offer[field], value, "{field}");
    }
    assert_eq!((&offer["from"]["name"], &offer["to"]["name"]), (&json!("ann"), &json!("bob")));
    let mut told = bob.until("challenge").await;
    assert_eq!(told["re"], Value::Null);
    for field in ["seq", "re"] {
        told[field] = offer[field].clone();
    }
    assert_eq!(told, offer);
    let end = bob.ask(json!({"type": "accept", "challenge": offer["challenge"]})).await;
    let expected = json!({"type": "challenge_end", "challenge": offer["challenge"], "how": "accepted",
        "seq": end["seq"], "re": end["re"]});
    assert_eq!(end, expected);
    assert_eq!(ann.until("challenge_end").await["how"], "accepted");
    assert_eq!(bob.until("game").await["you"], "first", "the challenger wanted to be second");
    bob.ask_refused(json!({"type": "accept", "challenge": offer["challenge"]}), "no_such_challenge").await;
}

#[tokio::test(start_paused = true)]
async fn an_offer_is_declined_with_a_reason() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    for reason in ["later", "busy", "too_fast", "too_slow", "rated", "casual", "variant", "no_bots", "other"]
    {
        let id = ann.ask(challenge("bob", json!({}))).await["challenge"].clone();
        let decline = json!({"type": "decline", "challenge": id, "reason": reason});
        assert_eq!(bob.ask(decline).await["type"], "ok");
        let end = ann.until("challenge_end").await;
        assert_eq!(
            (&end["challenge"], &end["how"], &end["reason"]),
            (&id, &json!("declined"), &json!(reason))
        );
    }
    let id = ann.ask(challenge("bob", json!({}))).await["challenge"].clone();
    let decline = json!({"type": "decline", "challenge": id, "reason": "because"});
    assert_eq!(bob.ask_refused(decline, "bad_field").await["field"], "reason");
}

#[tokio::test(start_paused = true)]
async fn an_offer_is_canceled_by_who_made_it_alone() {
    let arena = Arena::start().await;
    let (mut ann, mut bob, mut eve) =
        (arena.person("ann").await, arena.person("bob").await, arena.person("eve").await);
    let id = ann.ask(challenge("bob", json!({}))).await["challenge"].clone();
    for client in [&mut bob, &mut eve] {
        client.ask_refused(json!({"type": "cancel", "challenge": id}), "no_such_challenge").await;
    }
    for kind in ["accept", "decline"] {
        eve.ask_refused(json!({"type": kind, "challenge": id}), "no_such_challenge").await;
    }
    assert_eq!(ann.ask(json!({"type": "cancel", "challenge": id})).await["type"], "ok");
    assert_eq!(bob.until("challenge_end").await["how"], "canceled");
}

#[tokio::test(start_paused = true)]
async fn offers_expire_for_people_in_twenty_seconds_and_for_bots_in_sixty() {
    let arena = Arena::start().await;
    let (mut ann, mut bob, _bot) =
        (arena.person("ann").await, arena.person("bob").await, arena.bot("ada").await);
    let for_bob = ann.ask(challenge("bob", json!({}))).await;
    let for_the_bot = ann.ask(challenge("ada", json!({}))).await;
    assert_eq!((&for_bob["expires_ms"], &for_the_bot["expires_ms"]), (&json!(20_000), &json!(60_000)));
    advance(Duration::from_secs(21)).await;
    let end = bob.until("challenge_end").await;
    assert_eq!((&end["challenge"], &end["how"]), (&for_bob["challenge"], &json!("expired")));
    assert_eq!(ann.until("challenge_end").await["challenge"], for_bob["challenge"]);
    advance(Duration::from_secs(41)).await;
    assert_eq!(ann.until("challenge_end").await["challenge"], for_the_bot["challenge"]);
}

#[tokio::test(start_paused = true)]
async fn an_offer_ends_with_the_player_who_made_it_and_not_with_a_lost_connection() {
    let arena = Arena::start().await;
    let (ann, mut bob) = (arena.account("ann").await, arena.person("bob").await);
    let mut first = arena.connect_person(&ann, crate::support::hello()).await;
    let id = first.ask(challenge("bob", json!({}))).await["challenge"].clone();
    drop(first);
    let mut second = arena.connect_person(&ann, crate::support::hello()).await;
    assert_eq!(second.until("challenge").await["challenge"], id, "what is open is told again");
    assert!(!bob.heard_types().await.contains(&"challenge_end".to_owned()));
    let mut eve = arena.person("eve").await;
    eve.ask(challenge("bob", json!({}))).await;
    eve.ask(json!({"type": "bye"})).await;
    assert_eq!(bob.until("challenge_end").await["how"], "canceled");
}

#[tokio::test(start_paused = true)]
async fn a_key_makes_a_repeated_request_the_same_offer() {
    let arena = Arena::start().await;
    let (mut ann, mut bob, _eve) =
        (arena.person("ann").await, arena.person("bob").await, arena.person("eve").await);
    let keyed = challenge("bob", json!({"key": "k1"}));
    let offer = ann.ask(keyed.clone()).await;
    assert_eq!(ann.ask(keyed.clone()).await["challenge"], offer["challenge"]);
    bob.until("challenge").await;
    assert!(!bob.heard_types().await.contains(&"challenge".to_owned()), "bob is asked once");
    ann.ask_refused(challenge("bob", json!({"key": "k1", "rated": true})), "conflict").await;
    ann.ask_refused(challenge("eve", json!({"key": "k1"})), "conflict").await;
    let open = json!({"type": "open_challenge", "time": blitz(), "rated": false, "key": "k1"});
    ann.ask_refused(open, "conflict").await;
    assert_ne!(ann.ask(challenge("bob", json!({"key": "k2"}))).await["challenge"], offer["challenge"]);
    bob.ask(json!({"type": "decline", "challenge": offer["challenge"]})).await;
    assert_eq!(ann.ask(keyed).await["type"], "ok", "done is done");
    for wrong in ["k".repeat(65), "k\0".to_owned(), "k\u{85}".to_owned()] {
        let wrong = challenge("bob", json!({"key": wrong}));
        assert_eq!(ann.ask_refused(wrong, "bad_field").await["field"], "key");
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_other_does_not_accept_is_refused_by_name() {
    let arena = Arena::start().await;
    let mut ann = arena.person("ann").await;
    let mut bot = arena.bot("ada").await;
    for (accepts, field) in [
        (json!({"bank_ms": [1_000, 59_999]}), "bank_ms"),
        (json!({"increment_ms": [1, 1_000]}), "increment_ms"),
        (json!({"move_ms": [100, 1_000]}), "move_ms"),
        (json!({"rated": true}), "rated"),
        (json!({"opponents": ["bot"]}), "opponents"),
        (json!({"rating": [2_000, 3_000]}), "rating"),
        (json!({"variants": ["8x7"]}), "variants"),
    ] {
        assert_eq!(bot.ask(json!({"type": "set", "accepts": accepts})).await["type"], "ok");
        assert_eq!(ann.ask_refused(challenge("ada", json!({})), "not_accepting").await["field"], field);
    }
    let everything = json!({"bank_ms": [60_000, 60_000], "increment_ms": [0, 0], "move_ms": null, "rated": false,
        "opponents": ["human"], "rating": [0, 3_000], "variants": ["7x6"]});
    bot.ask(json!({"type": "set", "accepts": everything})).await;
    assert_eq!(ann.ask(challenge("ada", json!({}))).await["type"], "challenge");
    let refused = ann.ask_refused(challenge("ada", json!({"time": time(60_000, 1)})), "not_accepting").await;
    assert_eq!(refused["message"], "ada does not accept games with this increment");
    assert!(!bot.heard_types().await.contains(&"error".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn without_accepts_everything_on_the_standard_board_is_accepted() {
    let arena = Arena::start().await;
    let (mut guest, mut ann, _bot) = (arena.guest().await, arena.person("ann").await, arena.bot("ada").await);
    for more in
        [json!({}), json!({"time": time(10, 0)}), json!({"time": crate::support::per_move(86_400_000)})]
    {
        assert_eq!(guest.ask(challenge("ada", more)).await["type"], "challenge");
    }
    assert_eq!(ann.ask(challenge("ada", json!({"rated": true}))).await["type"], "challenge");
    assert_eq!(
        ann.ask_refused(challenge("ada", json!({"variant": "6x6"})), "not_accepting").await["field"],
        "variants"
    );
}

#[tokio::test(start_paused = true)]
async fn a_bot_that_is_not_open_is_challenged_by_its_family_alone() {
    let arena = Arena::start().await;
    let owner = arena.account("ann").await;
    let mut ann = arena.connect_person(&owner, crate::support::hello()).await;
    let (one, two) = (arena.token_of(&owner, "one").await, arena.token_of(&owner, "two").await);
    let closed = json!({"open": false});
    let (_one, mut two) =
        (arena.connect_bot(&one, closed.clone()).await, arena.connect_bot(&two, closed).await);
    let mut bob = arena.person("bob").await;
    assert_eq!(bob.ask_refused(challenge("one", json!({})), "not_accepting").await["field"], "open");
    assert_eq!(ann.ask(challenge("one", json!({}))).await["type"], "challenge");
    assert_eq!(two.ask(challenge("one", json!({}))).await["type"], "challenge");
}

#[tokio::test(start_paused = true)]
async fn nobody_challenges_themselves_the_absent_or_the_unknown() {
    let arena = Arena::start().await;
    let (mut ann, _eve) = (arena.person("ann").await, arena.account("eve").await);
    assert_eq!(ann.ask_refused(challenge("ann", json!({})), "bad_field").await["field"], "to");
    assert_eq!(ann.ask_refused(challenge("eve", json!({})), "not_accepting").await["field"], "online");
    ann.ask_refused(challenge("bob", json!({})), "no_such_player").await;
}

#[tokio::test(start_paused = true)]
async fn rated_games_need_accounts_on_both_sides() {
    let arena = Arena::start().await;
    let (mut guest, mut ann) = (arena.guest().await, arena.person("ann").await);
    guest.ask_refused(challenge("ann", json!({"rated": true})), "forbidden").await;
    let to_guest = challenge(guest.name(), json!({"rated": true}));
    assert_eq!(ann.ask_refused(to_guest, "not_accepting").await["field"], "rated");
}

#[tokio::test(start_paused = true)]
async fn places_are_kept_for_people() {
    let arena = Arena::start().await;
    let mut ada = arena.bot_with("ada", json!({"max_games": 2})).await;
    ada.ask(json!({"type": "set", "reserve_for_humans": 1})).await;
    let (mut bob, mut ann, mut eve) =
        (arena.bot("bob").await, arena.person("ann").await, arena.person("eve").await);
    pair_up(&mut bob, &mut ada, json!({})).await;
    bob.ask_refused(challenge("ada", json!({})), "busy").await;
    pair_up(&mut ann, &mut ada, json!({})).await;
    assert!(eve.ask_refused(challenge("ada", json!({})), "busy").await["retry_ms"].is_u64());
}

#[tokio::test(start_paused = true)]
async fn a_place_taken_by_a_person_is_not_one_of_the_bots() {
    let arena = Arena::start().await;
    let mut ada = arena.bot_with("ada", json!({"max_games": 2})).await;
    ada.ask(json!({"type": "set", "reserve_for_humans": 1})).await;
    let (mut bob, mut ann) = (arena.bot("bob").await, arena.person("ann").await);
    pair_up(&mut ann, &mut ada, json!({})).await;
    pair_up(&mut bob, &mut ada, json!({})).await;
}

#[tokio::test(start_paused = true)]
async fn whoever_has_no_place_left_when_it_comes_to_the_game_refuses_it() {
    let arena = Arena::start().await;
    let mut ada = arena.bot_with("ada", json!({"max_games": 1})).await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let one = ann.ask(challenge("ada", json!({}))).await["challenge"].clone();
    let two = bob.ask(challenge("ada", json!({}))).await["challenge"].clone();
    ada.ask(json!({"type": "accept", "challenge": one})).await;
    ada.ask_refused(json!({"type": "accept", "challenge": two}), "busy").await;
    ada.ask(json!({"type": "decline", "challenge": two, "reason": "busy"})).await;
    let last = bob.ask(challenge("ann", json!({}))).await["challenge"].clone();
    bob.ask(json!({"type": "set", "max_games": 0})).await;
    ann.ask_refused(json!({"type": "accept", "challenge": last}), "busy").await;
    assert_eq!(bob.find(|m| m["type"] == "challenge_end" && m["challenge"] == last).await["how"], "refused");
}

#[tokio::test(start_paused = true)]
async fn an_open_offer_is_taken_by_whoever_comes() {
    let arena = Arena::start().await;
    let (mut ann, mut guest) = (arena.person("ann").await, arena.guest().await);
    let open = json!({"type": "open_challenge", "time": blitz(), "rated": false, "side": "first"});
    let offer = ann.ask(open).await;
    assert_eq!((&offer["type"], &offer["to"]), (&json!("challenge"), &Value::Null));
    let id = offer["challenge"].as_str().unwrap();
    assert_eq!(offer["url"], format!("http://{}/challenge/{id}", arena.address));
    assert_eq!(offer["expires_ms"], 86_400_000);
    ann.ask_refused(json!({"type": "accept", "challenge": id}), "forbidden").await;
    assert_eq!(guest.ask(json!({"type": "accept", "challenge": id})).await["how"], "accepted");
    assert_eq!(ann.until("challenge_end").await["how"], "accepted");
    assert_eq!(guest.until("game").await["you"], "second");
}

#[tokio::test(start_paused = true)]
async fn a_link_leads_where_its_maker_has_found_the_site() {
    let arena = Arena::start().await;
    let found_at = format!("localhost:{}", arena.address.port());
    let mut guest = Client::open(&format!("ws://{found_at}/api/v1/socket"), &[], hello()).await;
    let offer = guest.ask(json!({"type": "open_challenge", "time": blitz(), "rated": false})).await;
    let id = offer["challenge"].as_str().unwrap();
    assert_eq!(offer["url"], format!("http://{found_at}/challenge/{id}"));
}

#[tokio::test(start_paused = true)]
async fn an_open_offer_keeps_to_what_its_player_accepts_and_waits_for_the_player() {
    let arena = Arena::start().await;
    let (mut ada, mut bob, mut ann) =
        (arena.bot("ada").await, arena.bot("bob").await, arena.person("ann").await);
    ada.ask(json!({"type": "set", "accepts": {"opponents": ["human"]}})).await;
    let open = json!({"type": "open_challenge", "time": blitz(), "rated": false});
    let accept = json!({"type": "accept", "challenge": ada.ask(open).await["challenge"]});
    assert_eq!(bob.ask_refused(accept.clone(), "not_accepting").await["field"], "opponents");
    ada.ask(json!({"type": "bye"})).await;
    ada.closed().await;
    arena.until_left(&ada).await;
    assert_eq!(ann.ask_refused(accept, "not_accepting").await["field"], "online");
}

#[tokio::test(start_paused = true)]
async fn guests_cannot_crowd_a_player_out() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut guests = Vec::new();
    let mut refused = 0;
    for _ in 0..9 {
        let mut guest = arena.guest().await;
        for _ in 0..32 {
            let answer = guest.ask(challenge("ann", json!({}))).await;
            if answer["type"] == "challenge" {
                let cancel = json!({"type": "cancel", "challenge": answer["challenge"]});
                assert_eq!(guest.ask(cancel).await["type"], "ok");
            } else {
                assert_eq!(answer["code"], "quota");
                assert!(answer["retry_ms"].as_u64() > Some(0));
                assert!(answer["message"].as_str().unwrap().contains("taken back counts for 20 seconds"));
                refused += 1;
            }
        }
        guests.push(guest);
    }
    assert_eq!(refused, 9 * 32 - 8, "offers that were taken back keep their places");
    let id = bob.ask(challenge("ann", json!({}))).await["challenge"].clone();
    ann.find(|message| message["challenge"] == id && message["type"] == "challenge").await;
    advance(Duration::from_secs(20)).await;
    assert_eq!(guests[0].ask(challenge("ann", json!({}))).await["type"], "challenge");
}

#[tokio::test(start_paused = true)]
async fn a_guest_has_two_links_at_most() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    let open = json!({"type": "open_challenge", "time": blitz(), "rated": false});
    for _ in 0..2 {
        assert_eq!(guest.ask(open.clone()).await["type"], "challenge");
    }
    let error = guest.ask_refused(open.clone(), "quota").await;
    assert_eq!(error["retry_ms"], 86_400_000, "links stay for a day");
    let mut ann = arena.person("ann").await;
    for _ in 0..3 {
        assert_eq!(ann.ask(open.clone()).await["type"], "challenge");
    }
}
