//! Nothing can be stored for some seconds.

use super::*;

/// The disk is full for so many seconds from the next write on.
fn fill_the_disk(arena: &Arena, seconds: u32) {
    (0..seconds).for_each(|_| arena.store.inject(CommitFault::Full));
}

/// Has the writer find out.
async fn write_something(arena: &Arena) {
    let writing = arena.services.writer.write(add(player("Eve", PlayerKind::Human)));
    assert!(writing.await.is_err() && arena.services.host.obstacle().is_some());
}

#[tokio::test(start_paused = true)]
async fn seeks_wait_through_an_outage_and_become_a_game_after_it() {
    let arena = Arena::new().await;
    let (_, mut ada, _, mut bob) = two(&arena).await;
    ada.say(ClientMessage::Seek(seek(false))).await;
    arena.settle().await;
    assert_eq!(ada.hear_kinds(), ["ok"]);
    fill_the_disk(&arena, 5);
    bob.say(ClientMessage::Seek(seek(false))).await;
    arena.settle().await;
    assert_eq!((ada.hear_kinds(), bob.hear_kinds()), (vec![], vec!["ok".to_owned()]), "both wait");
    assert_eq!(shown_seeks(&arena).await, 2);
    tokio::time::sleep(Duration::from_secs(8)).await;
    assert!(ada.hear_game().is_some() && bob.hear_game().is_some());
}

#[tokio::test(start_paused = true)]
async fn an_offer_that_is_accepted_in_an_outage_is_not_used_up() {
    let arena = Arena::new().await;
    let (_, mut ada, _, mut bob) = two(&arena).await;
    ada.say(open_challenge("k")).await;
    arena.settle().await;
    let offer = hear_offer(&mut ada);
    fill_the_disk(&arena, 5);
    write_something(&arena).await;
    bob.say(accept(&offer)).await;
    arena.settle().await;
    check_refused(&mut bob, ErrorCode::Busy);
    assert_eq!(hear_ends(&mut ada), []);
    tokio::time::sleep(Duration::from_secs(8)).await;
    bob.say(accept(&offer)).await;
    arena.settle().await;
    assert_eq!(hear_ends(&mut bob), [(offer.challenge, ChallengeOutcome::Accepted)]);
}
