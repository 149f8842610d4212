//! Two of whom one blocks the other: they are not brought together, and the other learns nothing of it.

use super::*;
use crate::protocol::REACTIONS;
use crate::protocol::client::{OnGame, React};
use crate::storage::follows::FollowStore as _;

/// Ada blocks Bob.
async fn block(arena: &Arena, ada: &Account, bob: &Account) {
    arena.services.accounts.block(&ada.identity.id, &bob.identity.id).await.unwrap();
}

fn open() -> ClientMessage {
    ClientMessage::OpenChallenge(OpenChallenge { terms: casual(), listed: false, key: None })
}

/// What was refused, as its code, field and words.
fn refusal(client: &mut Client) -> (ErrorCode, Option<String>, String) {
    let [error] = &client.hear_errors()[..] else { panic!("one refusal is expected") };
    (error.code, error.field.clone(), error.message.clone())
}

#[tokio::test(start_paused = true)]
async fn seeks_of_two_who_are_apart_wait_for_others_until_the_block_ends() {
    let arena = Arena::new().await;
    let (ada_account, mut ada, bob_account, mut bob) = two(&arena).await;
    block(&arena, &ada_account, &bob_account).await;
    for client in [&ada, &bob] {
        client.say(ClientMessage::Seek(seek(false))).await;
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!((ada.hear_kinds(), bob.hear_kinds()), (vec!["ok".to_owned()], vec!["ok".to_owned()]));
    let mut eve = arena.join(&arena.person("Eve").await).await;
    eve.say(ClientMessage::Seek(seek(false))).await;
    arena.settle().await;
    assert!(eve.hear_game().is_some());
    let (mut waits, _plays) = if ada.hear_game().is_some() { (bob, ada) } else { (ada, bob) };
    waits.hear();
    assert_eq!(shown_seeks(&arena).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_block_counts_for_seeks_that_wait_and_so_does_its_end() {
    let arena = Arena::new().await;
    let (ada_account, mut ada, bob_account, mut bob) = two(&arena).await;
    ada.say(ClientMessage::Seek(seek(false))).await;
    arena.settle().await;
    block(&arena, &ada_account, &bob_account).await;
    bob.say(ClientMessage::Seek(seek(false))).await;
    arena.settle().await;
    assert_eq!(shown_seeks(&arena).await, 2);
    let (ada_id, bob_id) = (&ada_account.identity.id, &bob_account.identity.id);
    arena.services.accounts.unblock(ada_id, bob_id).await.unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(ada.hear_game().is_some() && bob.hear_game().is_some());
}

#[tokio::test(start_paused = true)]
async fn whoever_is_blocked_hears_of_a_challenge_what_others_hear_too() {
    let arena = Arena::new().await;
    let (ada_account, mut ada, bob_account, mut bob) = two(&arena).await;
    block(&arena, &ada_account, &bob_account).await;
    bob.say(challenge("Ada", None)).await;
    arena.settle().await;
    let heard = refusal(&mut bob);
    let eve = arena.bot("eve").await;
    let mut eve = arena.join(&eve).await;
    eve.hear();
    arena.services.sessions.declare(&ada_account.identity.id, |settings| {
        settings.accepts.opponents = vec![OpponentKind::Human];
    });
    eve.say(challenge("Ada", None)).await;
    arena.settle().await;
    assert_eq!(heard, refusal(&mut eve));
    assert_eq!((heard.0, heard.1.as_deref()), (ErrorCode::NotAccepting, Some("opponents")));
    assert!(ada.hear_kinds().is_empty(), "nothing is asked of her");
    ada.say(challenge("Bob", None)).await;
    arena.settle().await;
    let (code, field, words) = refusal(&mut ada);
    assert_eq!((code, field), (ErrorCode::Forbidden, None));
    assert!(words.contains("you block Bob"), "{words}");
}

#[tokio::test(start_paused = true)]
async fn an_offer_of_somebody_who_blocks_is_taken_by_others_only() {
    let arena = Arena::new().await;
    let (ada_account, mut ada, bob_account, mut bob) = two(&arena).await;
    ada.say(open()).await;
    arena.settle().await;
    let link = hear_offer(&mut ada);
    ada.say(challenge("Bob", None)).await;
    arena.settle().await;
    let asked = hear_offer(&mut bob);
    block(&arena, &ada_account, &bob_account).await;
    for offer in [&link, &asked] {
        bob.say(accept(offer)).await;
        arena.settle().await;
        assert_eq!(refusal(&mut bob).0, ErrorCode::NotAccepting);
    }
    bob.say(open()).await;
    arena.settle().await;
    let of_bob = hear_offer(&mut bob);
    ada.say(accept(&of_bob)).await;
    arena.settle().await;
    check_refused(&mut ada, ErrorCode::Forbidden);
    let mut eve = arena.guest().await;
    eve.say(accept(&link)).await;
    arena.settle().await;
    assert!(eve.hear_game().is_some());
}

#[tokio::test(start_paused = true)]
async fn whoever_is_blocked_does_not_come_back_as_a_bot() {
    let arena = Arena::new().await;
    let (ada_account, _ada, bob_account, _bob) = two(&arena).await;
    block(&arena, &ada_account, &bob_account).await;
    let mut bot = arena.bot("bobbot").await;
    bot.identity.owner = Some(bob_account.identity.id.clone());
    let blocks = arena.services.accounts.blocks();
    assert!(blocks.part(&ada_account.identity, &bot.identity));
    bot.identity.owner = None;
    assert!(!blocks.part(&ada_account.identity, &bot.identity));
}

#[tokio::test(start_paused = true)]
async fn a_block_in_the_middle_of_a_game_ends_reactions_takebacks_and_rematches_alone() {
    let arena = Arena::new().await;
    let (ada_account, mut ada, bob_account, mut bob) = two(&arena).await;
    let game = arena.start(&bob_account.identity, &ada_account.identity).await;
    let on = || OnGame { game: game.clone() };
    let react = || ClientMessage::React(React { game: game.clone(), emoji: REACTIONS[0].into() });
    bob.play(&game, 0, 4).await;
    arena.settle().await;
    ada.play(&game, 1, 4).await;
    arena.settle().await;
    bob.say(react()).await;
    arena.settle().await;
    assert!(ada.hear_kinds().contains(&"reaction".to_owned()));
    block(&arena, &ada_account, &bob_account).await;
    bob.hear();
    bob.say(react()).await;
    arena.settle().await;
    assert_eq!(bob.hear_kinds(), ["reaction"], "whoever reacts is not told that nobody sees it");
    bob.say(ClientMessage::Takeback(on())).await;
    arena.settle().await;
    check_refused(&mut bob, ErrorCode::Forbidden);
    assert!(ada.hear_kinds().is_empty());
    bob.play(&game, 2, 5).await;
    arena.settle().await;
    assert!(ada.hear_kinds().contains(&"moved".to_owned()), "the game goes on");
    ada.resign(&game).await;
    arena.settle().await;
    bob.hear();
    ada.hear();
    bob.rematch(&game).await;
    arena.settle().await;
    check_refused(&mut bob, ErrorCode::Forbidden);
    ada.rematch(&game).await;
    arena.settle().await;
    check_refused(&mut ada, ErrorCode::Forbidden);
    assert!(bob.hear_kinds().is_empty());
}

#[tokio::test(start_paused = true)]
async fn blocks_stand_after_a_restart() {
    let arena = Arena::new().await;
    let (ada, _first, bob, _second) = two(&arena).await;
    block(&arena, &ada, &bob).await;
    let store = Arc::clone(&arena.store);
    drop(arena);
    let arena = Arena::restarted(store).await;
    assert!(arena.services.accounts.blocks().part(&bob.identity, &ada.identity));
    let after = Arena::restarted(Arc::clone(&arena.store)).await;
    assert!(after.services.accounts.blocks().has(&ada.identity.id, &bob.identity));
    assert!(!after.services.accounts.blocks().has(&bob.identity.id, &ada.identity));
}

#[tokio::test(start_paused = true)]
async fn blocks_and_their_ends_at_the_same_time_leave_what_is_stored() {
    let arena = Arena::new().await;
    let (ada, _first, bob, _second) = two(&arena).await;
    let (ada_id, bob_id) = (ada.identity.id, bob.identity.id);
    for round in 0..50 {
        let all = (0..6).map(|turn| {
            let (accounts, ada, bob) = (arena.services.accounts.clone(), ada_id.clone(), bob_id.clone());
            tokio::spawn(async move {
                let done = if (turn + round) % 2 == 0 {
                    accounts.block(&ada, &bob).await
                } else {
                    accounts.unblock(&ada, &bob).await
                };
                done.unwrap();
            })
        });
        for one in all.collect::<Vec<_>>() {
            one.await.unwrap();
        }
        let stored = !arena.store.blocks_of(&ada_id).await.unwrap().is_empty();
        assert_eq!(arena.services.accounts.blocks().of(&ada_id).contains(&bob_id), stored, "{round}");
    }
}
