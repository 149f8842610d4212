//! Sessions that go on over a lost connection.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use fourfold::model::ids::PlayerId;
use fourfold::model::player::Identity;
use fourfold::model::player::PlayerKind;
use fourfold::model::secret::Secret;
use serde_json::{Value, json};

use crate::support::{Arena, Client, advance, bearer, blitz, pair_up};

#[tokio::test(start_paused = true)]
async fn what_was_missed_comes_with_its_own_numbers() {
    let arena = Arena::start().await;
    let token = arena.token("ada").await;
    let (mut ada, mut bob) = (arena.connect_bot(&token, json!({})).await, arena.bot("bob").await);
    let mut pair = pair_up(&mut ada, &mut bob, json!({})).await;
    pair.play("4").await;
    let (game, stone) = (pair.game.clone(), pair.stone(1, 5));
    ada.settle().await;
    let (resume, last) = (ada.resume_hello(), ada.seq);
    arena.lose(ada).await;
    bob.until("turn").await;
    bob.ask(stone).await;
    let mut ada = Client::open(&arena.url(), &[bearer(&token)], resume).await;
    assert_eq!((&ada.welcome["resumed"], &ada.welcome["seq"]), (&json!(true), &json!(last)));
    let moved = ada.next().await;
    assert_eq!(
        (&moved["type"], &moved["seq"], &moved["ply"]),
        (&json!("moved"), &json!(last + 1), &json!(2))
    );
    assert_eq!(ada.next().await["type"], "turn");
    let synced = ada.next().await;
    assert_eq!((&synced["type"], &synced["your_turn"]), (&json!("synced"), &json!([game])));
    let turn = ada.next().await;
    assert_eq!((&turn["type"], &turn["ply"]), (&json!("turn"), &json!(2)));
    assert_eq!(ada.ask(json!({"type": "move", "game": game, "ply": 2, "column": 1})).await["event_seq"], 3);
}

#[tokio::test(start_paused = true)]
async fn a_session_named_with_an_earlier_number_repeats_what_came_after_it() {
    let arena = Arena::start().await;
    let mut guest = arena.guest().await;
    for n in 0..3 {
        guest.ask(json!({"type": "ping", "n": n})).await;
    }
    let mut resume = guest.resume_hello();
    resume["resume"]["seq"] = json!(3);
    let mut again = Client::open(&arena.url(), &[], resume).await;
    assert_eq!(guest.closed().await, 4409);
    assert_eq!(again.welcome["seq"], 3);
    assert_eq!((again.next().await["n"].clone(), again.next().await["n"].clone()), (json!(1), json!(2)));
    assert_eq!(again.next().await["type"], "synced");
}

#[tokio::test(start_paused = true)]
async fn a_gap_begins_afresh_with_the_same_player() {
    let arena = Arena::start().await;
    let (mut ann, mut guest) = (arena.person("ann").await, arena.guest().await);
    let pair = pair_up(&mut guest, &mut ann, json!({})).await;
    let game = pair.game.clone();
    let offer = json!({"type": "challenge", "to": guest.name(), "time": blitz(), "rated": false});
    let offer = ann.ask(offer).await;
    guest.settle().await;
    let mut resume = guest.resume_hello();
    resume["resume"]["seq"] = json!(9_999);
    let mut fresh = Client::open(&arena.url(), &[], resume).await;
    guest.gone().await;
    assert_eq!((&fresh.welcome["resumed"], &fresh.welcome["seq"]), (&json!(false), &json!(1)));
    assert_eq!((fresh.id(), fresh.name()), (guest.id(), guest.name()));
    assert_ne!(fresh.welcome["session"], guest.welcome["session"]);
    assert_eq!(fresh.next().await["game"], *game);
    assert_eq!(fresh.next().await["challenge"], offer["challenge"]);
    let synced = fresh.next().await;
    assert_eq!((&synced["games"], &synced["your_turn"]), (&json!(1), &json!([game])));
    assert_eq!(fresh.next().await["type"], "turn");
}

#[tokio::test(start_paused = true)]
async fn a_session_is_kept_for_two_minutes_from_its_last_connection() {
    let arena = Arena::start().await;
    let mut ann = arena.person("ann").await;
    for wait in [100, 119, 121] {
        let resume = ann.resume_hello();
        let before = ann.welcome.clone();
        arena.lose(ann).await;
        advance(Duration::from_secs(wait)).await;
        ann = Client::open(&arena.url(), &[], resume).await;
        assert_eq!(ann.welcome["resumed"], wait < 120, "after {wait} s");
        assert_eq!(ann.welcome["you"], before["you"], "the identity stays for ever");
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_back_too_late_to_resume_is_told_what_ended_since() {
    let arena = Arena::start().await;
    let (mut ann, mut guest) = (arena.person("ann").await, arena.guest().await);
    let mut ends = Vec::new();
    for _ in 0..2 {
        ends.push(pair_up(&mut guest, &mut ann, json!({})).await.about("resign"));
    }
    let first = ann.ask(ends.remove(0)).await;
    guest.until("game_end").await;
    guest.settle().await;
    let resume = guest.resume_hello();
    arena.lose(guest).await;
    let second = ann.ask(ends.remove(0)).await;
    advance(Duration::from_secs(121)).await;
    let mut guest = Client::open(&arena.url(), &[], resume.clone()).await;
    assert_eq!(guest.welcome["resumed"], false);
    let end = guest.next().await;
    assert_eq!((&end["type"], &end["game"]), (&json!("game_end"), &second["game"]), "not {}", first["game"]);
    assert_eq!(guest.next().await["type"], "synced");
    let resume = guest.resume_hello();
    arena.lose(guest).await;
    advance(Duration::from_secs(121)).await;
    let mut guest = Client::open(&arena.url(), &[], resume).await;
    assert_eq!(guest.next().await["type"], "synced", "it has been told");
}

#[tokio::test(start_paused = true)]
async fn a_wrong_secret_resumes_nothing() {
    let arena = Arena::start().await;
    let guest = arena.guest().await;
    for (field, value) in [("secret", "x"), ("session", "other")] {
        let mut resume = guest.resume_hello();
        resume["resume"][field] = json!(value);
        let stranger = Client::open(&arena.url(), &[], resume).await;
        assert_eq!(stranger.welcome["resumed"], false);
        assert_ne!(stranger.id(), guest.id());
    }
    let mut resume = guest.resume_hello();
    resume["resume"].as_object_mut().unwrap().remove("seq");
    let mut client = Client::connect(&arena.url(), &[]).await.unwrap();
    client.say(&resume);
    assert_eq!(client.next().await["field"], "resume.seq");
}

#[tokio::test(start_paused = true)]
pub(crate) async fn what_was_watched_is_shown_again() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut eve = arena.guest().await;
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    eve.ask(pair.about("watch")).await;
    eve.ask(json!({"type": "watch", "feed": "results"})).await;
    let resume = eve.resume_hello();
    arena.lose(eve).await;
    pair.play("44").await;
    let mut eve = Client::open(&arena.url(), &[], resume).await;
    assert_eq!(eve.until("game").await["moves"], "44");
    pair.resign_first().await;
    assert_eq!(eve.until("game_end").await["reason"], "resign");
    eve.until("result").await;
}

#[tokio::test(start_paused = true)]
async fn an_offer_that_was_told_is_not_told_again() {
    let arena = Arena::start().await;
    let (mut ann, mut guest) = (arena.person("ann").await, arena.guest().await);
    let offer = json!({"type": "challenge", "to": guest.name(), "time": blitz(), "rated": false});
    ann.ask(offer.clone()).await;
    guest.until("challenge").await;
    guest.settle().await;
    let resume = guest.resume_hello();
    arena.lose(guest).await;
    let second = ann.ask(offer).await;
    let mut guest = Client::open(&arena.url(), &[], resume).await;
    assert_eq!(guest.next().await["challenge"], second["challenge"], "the one that was missed");
    assert_eq!(guest.next().await["type"], "synced");
}

#[tokio::test(start_paused = true)]
async fn a_bot_goes_on_by_the_secret_alone() {
    let arena = Arena::start().await;
    let bot = arena.bot("ada").await;
    let resume = bot.resume_hello();
    arena.lose(bot).await;
    let bot = Client::open(&arena.url(), &[], resume).await;
    assert_eq!((&bot.welcome["resumed"], bot.name()), (&json!(true), "ada"));
}

/// Makes an account of a guest.
async fn register(arena: &Arena, guest: &Client) -> PlayerId {
    let accounts = &arena.services.accounts;
    let id: PlayerId = guest.id().parse().unwrap();
    let identity = Identity {
        id: id.clone(),
        name: guest.name().parse().unwrap(),
        kind: PlayerKind::Guest,
        owner: None,
    };
    let stored = accounts.ensure_guest_stored(&identity).await.unwrap();
    let password = Secret::new("correct horse battery");
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    assert_eq!(accounts.register_guest(here, Some(&stored), "ann", password, None).await.unwrap().id, id);
    id
}

#[tokio::test(start_paused = true)]
async fn the_secret_of_a_guest_does_not_open_the_account_that_the_guest_made() {
    let arena = Arena::start().await;
    let guest = arena.guest().await;
    let resume = guest.resume_hello();
    arena.lose(guest).await;
    let guest = Client::open(&arena.url(), &[], resume.clone()).await;
    assert_eq!(guest.welcome["resumed"], true, "as long as the guest is a guest");
    arena.lose(guest).await;
    let guest = Client::open(&arena.url(), &[], resume.clone()).await;
    let id = register(&arena, &guest).await;
    for resume in [resume, guest.resume_hello()] {
        let stranger = Client::open(&arena.url(), &[], resume).await;
        assert_eq!(stranger.welcome["you"]["kind"], "guest");
        assert_ne!(stranger.id(), id.as_str());
    }
    // Nor after a restart, when only the secret says who it was.
    let arena = arena.restart().await;
    let stranger = Client::open(&arena.url(), &[], guest.resume_hello()).await;
    assert_ne!(stranger.id(), id.as_str());
}

#[tokio::test(start_paused = true)]
async fn a_guest_who_makes_an_account_is_no_guest_on_any_connection() {
    let arena = Arena::start().await;
    let (mut guest, mut other) = (arena.guest().await, arena.guest().await);
    register(&arena, &guest).await;
    assert_eq!(guest.closed().await, 4401);
    other.settle().await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_message_is_asked_for_by_sync() {
    let arena = Arena::start().await;
    let (mut ann, mut bob) = (arena.person("ann").await, arena.person("bob").await);
    let mut pair = pair_up(&mut ann, &mut bob, json!({})).await;
    pair.play("45").await;
    let snapshot = pair.second.ask(pair.about("sync")).await;
    assert_eq!(
        (&snapshot["you"], &snapshot["moves"], &snapshot["event_seq"]),
        (&json!("second"), &json!("45"), &json!(2))
    );
    let none: Value = pair.second.ask_refused(json!({"type": "sync"}), "bad_field").await;
    assert_eq!(none["field"], "game");
}
