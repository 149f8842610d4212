use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt as _;
use proptest::prelude::*;

use super::*;
use crate::model::bounded::BoundedLong;
use crate::protocol::client::Ping;
use crate::protocol::server::{Moved, Snapshot};
use crate::protocol::terms::WireSide;

/// How long messages are kept.
const KEEP: Duration = Duration::from_mins(1);

/// A message that can be told from others.
fn numbered(n: u64) -> Frame {
    Frame::new(ServerMessage::Pong(Ping { n: BoundedLong::new(n) }))
}

fn welcome() -> Frame {
    numbered(u64::MAX)
}

/// A message of about `bytes` bytes.
fn large(bytes: usize) -> Frame {
    let error = crate::protocol::WireError::new(crate::protocol::ErrorCode::Internal, "x".repeat(bytes));
    Frame::from(error)
}

fn game(id: &str) -> GameId {
    id.parse().unwrap()
}

fn moved(id: &str) -> Frame {
    let clock = crate::protocol::terms::Sides { first: 1, second: 1 };
    Frame::new(ServerMessage::Moved(Moved {
        game: game(id),
        event_seq: 1,
        ply: 1,
        column: 1,
        by: WireSide::First,
        clock,
        spent_ms: 0,
        credited_ms: 0,
    }))
}

fn snapshot(id: &str) -> Frame {
    let player = |name: &str| serde_json::json!({ "id": "p", "name": name, "kind": "guest", "rating": null });
    let snapshot: Snapshot = serde_json::from_value(serde_json::json!({
        "game": id, "you": null, "players": { "first": player("ann"), "second": player("bob") },
        "rated": false, "time": { "bank_ms": 1000, "increment_ms": 0, "move_ms": null }, "variant": "7x6",
        "opening": { "kind": "none" }, "moves": "", "ply": 0, "clock": { "first": 1, "second": 1 },
        "to_move": "first", "event_seq": 1, "status": "live",
    }))
    .unwrap();
    Frame::new(ServerMessage::Game(Box::new(snapshot)))
}

/// The number that a message carries, as its receiver reads it.
fn number_in(outgoing: &Outgoing) -> u64 {
    let read: serde_json::Value = serde_json::from_str(&outgoing.text()).unwrap();
    assert_eq!(read["seq"], outgoing.seq);
    read["n"].as_u64().unwrap()
}

/// Takes everything that waits: numbers and contents.
fn drain(outbox: &Outbox, attachment: &Attachment) -> Vec<(u64, u64)> {
    let mut taken = Vec::new();
    while let Next::Message(outgoing) = outbox.next(attachment) {
        taken.push((outgoing.seq, number_in(&outgoing)));
    }
    taken
}

fn close_code(outbox: &Outbox, attachment: &Attachment) -> Option<CloseCode> {
    match outbox.next(attachment) {
        Next::Close(code) => Some(code),
        Next::Message(_) | Next::Idle { .. } => None,
    }
}

/// An outbox whose client has read its welcome.
fn attached() -> (Outbox, Attachment) {
    let outbox = Outbox::new();
    let attachment = outbox.attach(None, &welcome(), None).unwrap();
    assert_eq!(drain(&outbox, &attachment), [(1, u64::MAX)]);
    (outbox, attachment)
}

#[test]
fn numbers_rise_by_one_from_the_welcome_and_answers_name_their_request() {
    let (outbox, attachment) = attached();
    outbox.deliver(&numbered(7), Urgency::Must);
    outbox.answer(&numbered(8), Some("a"));
    let Next::Message(first) = outbox.next(&attachment) else { panic!() };
    let Next::Message(second) = outbox.next(&attachment) else { panic!() };
    assert_eq!(first.text(), r#"{"seq":2,"type":"pong","n":7}"#);
    assert_eq!(second.text(), r#"{"seq":3,"re":"a","type":"pong","n":8}"#);
    assert!(matches!(outbox.next(&attachment), Next::Idle { behind: false }));
    assert_eq!(outbox.last_seq(), 3);
}

#[test]
fn what_was_missed_follows_a_welcome_that_repeats_the_clients_number() {
    let (outbox, attachment) = attached();
    for n in 2..=5 {
        outbox.deliver(&numbered(n), Urgency::Must);
    }
    assert_eq!(drain(&outbox, &attachment).len(), 4);
    outbox.detach(&attachment);
    outbox.deliver(&numbered(6), Urgency::Must);
    let attachment = outbox.attach(Some(3), &welcome(), None).unwrap();
    outbox.deliver(&numbered(7), Urgency::Must);
    let expected = [(3, u64::MAX), (4, 4), (5, 5), (6, 6), (7, 7)];
    assert_eq!(drain(&outbox, &attachment), expected);
}

#[test]
fn a_number_that_was_never_sent_or_has_fallen_out_is_a_gap() {
    let (outbox, attachment) = attached();
    outbox.detach(&attachment);
    assert_eq!(outbox.attach(Some(2), &welcome(), None), Err(Gap { after: 2 }));
    assert_eq!(outbox.attach(Some(u64::MAX), &welcome(), None), Err(Gap { after: u64::MAX }));
    for n in 0..RING_MESSAGES_MAX as u64 {
        outbox.deliver(&numbered(n), Urgency::Must);
    }
    assert_eq!(outbox.attach(Some(0), &welcome(), None), Err(Gap { after: 0 }));
    let attachment = outbox.attach(Some(1), &welcome(), None).unwrap();
    assert_eq!(drain(&outbox, &attachment).len(), 1 + RING_MESSAGES_MAX);
}

#[test]
fn a_session_of_an_earlier_process_goes_on_at_its_number_and_nowhere_else() {
    let outbox = Outbox::starting_at(41);
    assert!(outbox.attach(Some(40), &welcome(), None).is_err());
    assert!(outbox.attach(Some(42), &welcome(), None).is_err());
    let attachment = outbox.attach(Some(41), &welcome(), None).unwrap();
    outbox.deliver(&numbered(0), Urgency::Must);
    assert_eq!(drain(&outbox, &attachment), [(41, u64::MAX), (42, 0)]);
    let outbox = Outbox::starting_at(u64::MAX);
    outbox.deliver(&numbered(0), Urgency::Must);
    assert_eq!(outbox.last_seq(), SEQ_MAX + 1);
}

#[test]
fn a_newer_socket_of_the_session_takes_over() {
    let (outbox, older) = attached();
    let newer = outbox.attach(Some(1), &welcome(), None).unwrap();
    outbox.deliver(&numbered(2), Urgency::Must);
    assert_eq!(close_code(&outbox, &older), Some(CloseCode::Replaced));
    outbox.detach(&older);
    assert_eq!(drain(&outbox, &newer), [(1, u64::MAX), (2, 2)]);
    outbox.take_over(CloseCode::Banned);
    assert_eq!(outbox.parted(&newer), Some(CloseCode::Banned));
    assert!(!outbox.has_socket());
}

#[test]
fn whoever_is_dismissed_hears_what_waits_and_a_last_word() {
    let (outbox, attachment) = attached();
    outbox.deliver(&numbered(2), Urgency::Must);
    outbox.dismiss(&numbered(3), CloseCode::Banned);
    outbox.deliver(&numbered(4), Urgency::Must);
    assert!(!outbox.has_socket());
    assert_eq!(outbox.parted(&attachment), Some(CloseCode::Banned), "nobody waits for it");
    assert_eq!(drain(&outbox, &attachment), [(2, 2), (3, 3)]);
    assert_eq!(close_code(&outbox, &attachment), Some(CloseCode::Banned));
    outbox.detach(&attachment);
    assert_eq!(close_code(&outbox, &attachment), Some(CloseCode::Banned));
    let seq = outbox.last_seq();
    outbox.dismiss(&numbered(5), CloseCode::Banned);
    assert_eq!(outbox.last_seq(), seq, "nobody is there");
}

#[test]
fn a_close_lets_what_waits_go_first() {
    let (outbox, attachment) = attached();
    outbox.deliver(&numbered(2), Urgency::Must);
    outbox.close(CloseCode::Bye);
    outbox.close(CloseCode::Abuse);
    outbox.deliver(&numbered(3), Urgency::Must);
    assert_eq!(drain(&outbox, &attachment), [(2, 2)]);
    assert_eq!(close_code(&outbox, &attachment), Some(CloseCode::Bye));
}

#[test]
fn the_sixty_fifth_waiting_message_ends_the_connection_and_is_kept() {
    let (outbox, attachment) = attached();
    for n in 0..WAITING_MESSAGES_MAX as u64 {
        assert_eq!(outbox.deliver(&numbered(n), Urgency::Must), Delivery::Queued, "{n}");
    }
    assert_eq!(outbox.deliver(&numbered(64), Urgency::Must), Delivery::CutOff);
    assert_eq!(close_code(&outbox, &attachment), Some(CloseCode::TooSlow));
    let attachment = outbox.attach(Some(1), &welcome(), None).unwrap();
    assert_eq!(drain(&outbox, &attachment).len(), 1 + 65, "the session can be resumed");
}

#[test]
fn many_bytes_are_too_much_like_many_messages() {
    let (outbox, attachment) = attached();
    assert_eq!(outbox.deliver(&large(60_000), Urgency::Must), Delivery::Queued);
    assert_eq!(outbox.deliver(&large(60_000), Urgency::Must), Delivery::Queued);
    assert_eq!(outbox.deliver(&large(60_000), Urgency::Must), Delivery::CutOff);
    assert_eq!(outbox.parted(&attachment), Some(CloseCode::TooSlow));
}

#[test]
fn a_client_that_comes_back_to_many_messages_is_not_cut_off_for_them() {
    let (outbox, attachment) = attached();
    outbox.detach(&attachment);
    for n in 0..200 {
        assert_eq!(outbox.deliver(&numbered(n), Urgency::Must), Delivery::Queued);
    }
    let attachment = outbox.attach(Some(1), &welcome(), None).unwrap();
    assert_eq!(outbox.deliver(&numbered(200), Urgency::Must), Delivery::Queued);
    assert_eq!(drain(&outbox, &attachment).len(), 202);
}

#[test]
fn a_client_that_never_catches_up_is_cut_off_before_it_misses_anything() {
    let (outbox, _) = attached();
    let attachment = outbox.attach(Some(1), &welcome(), None).unwrap();
    for n in 0..=RING_MESSAGES_MAX as u64 {
        let cut_off = outbox.deliver(&numbered(n), Urgency::Must) == Delivery::CutOff;
        assert_eq!(cut_off, n == RING_MESSAGES_MAX as u64, "{n}");
        if cut_off {
            break;
        }
    }
    assert_eq!(outbox.parted(&attachment), Some(CloseCode::TooSlow));
}

#[test]
fn a_watcher_that_falls_behind_loses_updates_until_a_snapshot_comes() {
    let (outbox, attachment) = attached();
    for _ in 0..WAITING_MESSAGES_MAX {
        assert_eq!(outbox.deliver(&moved("a"), Urgency::Droppable), Delivery::Queued);
    }
    for _ in 0..3 {
        assert_eq!(outbox.deliver(&moved("a"), Urgency::Droppable), Delivery::Dropped);
    }
    let take = || matches!(outbox.next(&attachment), Next::Message(_));
    assert!(take());
    assert_eq!(
        outbox.deliver(&moved("a"), Urgency::Droppable),
        Delivery::Dropped,
        "no update with a hole before it"
    );
    assert_eq!(
        outbox.deliver(&moved("b"), Urgency::Droppable),
        Delivery::Queued,
        "other games are not behind"
    );
    while take() {}
    assert!(matches!(outbox.next(&attachment), Next::Idle { behind: true }));
    assert_eq!(outbox.take_behind(&attachment), [(game("a"), 4)]);
    assert!(outbox.take_behind(&attachment).is_empty(), "asked for once");
    assert_eq!(outbox.deliver(&moved("a"), Urgency::Droppable), Delivery::Dropped);
    assert_eq!(outbox.deliver(&snapshot("a"), Urgency::Must), Delivery::Queued);
    assert_eq!(outbox.deliver(&moved("a"), Urgency::Droppable), Delivery::Queued);
    let numbers: Vec<u64> = std::iter::from_fn(|| match outbox.next(&attachment) {
        Next::Message(outgoing) => Some(outgoing.seq),
        Next::Idle { .. } | Next::Close(_) => None,
    })
    .collect();
    assert_eq!(numbers, [67, 68], "dropped messages have no numbers");
}

#[test]
fn a_snapshot_that_finds_no_room_is_asked_for_again() {
    let (outbox, attachment) = attached();
    let fill = || while outbox.deliver(&moved("b"), Urgency::Droppable) == Delivery::Queued {};
    fill();
    outbox.deliver(&moved("a"), Urgency::Droppable);
    assert_eq!(outbox.take_behind(&attachment).len(), 2);
    assert_eq!(outbox.deliver(&snapshot("a"), Urgency::Droppable), Delivery::Dropped);
    assert_eq!(outbox.take_behind(&attachment), [(game("a"), 2)]);
    outbox.forget_game(&game("a"));
    outbox.forget_game(&game("b"));
    assert!(outbox.take_behind(&attachment).is_empty());
}

#[test]
fn a_watcher_without_a_socket_does_not_fill_the_ring() {
    let (outbox, attachment) = attached();
    outbox.detach(&attachment);
    for _ in 0..1_000 {
        outbox.deliver(&moved("a"), Urgency::Droppable);
    }
    assert_eq!(outbox.last_seq(), 1 + WAITING_MESSAGES_MAX as u64);
    let attachment = outbox.attach(Some(1), &welcome(), None).unwrap();
    while let Next::Message(_) = outbox.next(&attachment) {}
    assert_eq!(outbox.take_behind(&attachment), [(game("a"), 936)]);
}

#[test]
fn what_was_sent_is_forgotten_after_two_turns_and_what_waits_never() {
    let (outbox, attachment) = attached();
    outbox.deliver(&numbered(2), Urgency::Must);
    assert_eq!(drain(&outbox, &attachment), [(2, 2)]);
    outbox.deliver(&numbered(3), Urgency::Must);
    let start = Instant::now();
    outbox.age(start, KEEP);
    assert!(outbox.lock().can_resume(0));
    outbox.age(start + KEEP, KEEP);
    assert!(!outbox.lock().can_resume(1) && outbox.lock().can_resume(2));
    assert_eq!(drain(&outbox, &attachment), [(3, 3)]);
    outbox.age(start + 2 * KEEP, KEEP);
    assert_eq!(outbox.lock().ring.capacity(), 0, "an idle session holds no memory");
}

#[test]
fn whoever_comes_back_again_and_again_and_hears_nothing_misses_nothing() {
    let (outbox, _) = attached();
    let (start, seen) = (Instant::now(), outbox.last_seq());
    outbox.deliver(&numbered(2), Urgency::Must);
    for second in 0..60 {
        let attachment = outbox.attach(Some(seen), &welcome(), None).unwrap();
        // Each of its sockets takes the message, and breaks before the client has it.
        while let Next::Message(_) = outbox.next(&attachment) {}
        outbox.age(start + Duration::from_secs(second), KEEP);
    }
    assert!(outbox.lock().can_resume(seen));
}

#[test]
fn an_empty_outbox_holds_no_memory() {
    let state = Outbox::new();
    let state = state.lock();
    assert_eq!((state.ring.capacity(), state.behind.capacity()), (0, 0));
}

#[tokio::test]
async fn a_socket_is_woken_for_what_came_before_it_waited() {
    let (outbox, attachment) = attached();
    outbox.deliver(&numbered(2), Urgency::Must);
    tokio::time::timeout(std::time::Duration::from_secs(1), attachment.changed()).await.unwrap();
    drain(&outbox, &attachment);
    let older = attachment;
    let newer = outbox.attach(Some(2), &welcome(), None).unwrap();
    tokio::time::timeout(std::time::Duration::from_secs(1), older.changed()).await.unwrap();
    assert_ne!(older, newer);
}

/// What may happen to an outbox.
#[derive(Clone, Debug)]
enum Step {
    Deliver,
    Answer,
    Drop,
    /// The socket takes up to so many messages; all but the last few of them reach the client.
    Take {
        messages: usize,
        lost: usize,
    },
    Disconnect,
    Connect,
    Age,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => Just(Step::Deliver),
        2 => Just(Step::Answer),
        2 => Just(Step::Drop),
        4 => (1_usize..40, 0_usize..3).prop_map(|(messages, lost)| Step::Take { messages, lost }),
        1 => Just(Step::Disconnect),
        2 => Just(Step::Connect),
        1 => Just(Step::Age),
    ]
}

/// A client that remembers all it got, and checks that it is exactly what was sent.
#[derive(Default)]
struct Client {
    attachment: Option<Attachment>,
    /// The last number that reached it.
    seq: u64,
    /// By number, what was delivered in this run of numbers.
    delivered: BTreeMap<u64, u64>,
}

impl Client {
    fn connect(&mut self, outbox: &Outbox) {
        match outbox.attach(Some(self.seq), &welcome(), None) {
            Ok(attachment) => {
                let Next::Message(greeting) = outbox.next(&attachment) else { panic!("no welcome") };
                assert_eq!(greeting.seq, self.seq);
                self.attachment = Some(attachment);
            }
            Err(gap) => {
                assert_eq!(gap.after, self.seq);
                self.attachment = Some(outbox.attach(None, &welcome(), None).unwrap());
                self.seq = 0;
                self.delivered = BTreeMap::from([(1, u64::MAX)]);
            }
        }
    }

    fn take(&mut self, outbox: &Outbox, messages: usize, lost: usize) {
        let Some(attachment) = self.attachment.clone() else { return };
        let mut taken = Vec::new();
        while taken.len() < messages {
            match outbox.next(&attachment) {
                Next::Message(outgoing) => taken.push(outgoing),
                Next::Idle { .. } => break,
                Next::Close(code) => {
                    assert_eq!(code, CloseCode::TooSlow);
                    self.attachment = None;
                    break;
                }
            }
        }
        for outgoing in &taken[..taken.len() - lost.min(taken.len())] {
            assert_eq!(outgoing.seq, self.seq + 1, "without loss or doubling");
            assert_eq!(self.delivered.get(&outgoing.seq), Some(&number_in(outgoing)));
            self.seq = outgoing.seq;
        }
        if lost > 0 {
            // What did not arrive is lost with its connection.
            self.disconnect(outbox);
        }
    }

    fn disconnect(&mut self, outbox: &Outbox) {
        if let Some(attachment) = self.attachment.take() {
            outbox.detach(&attachment);
        }
    }
}

proptest! {
    #[test]
    fn resuming_is_never_having_left(steps in prop::collection::vec(step(), 0..400)) {
        let outbox = Outbox::new();
        let mut client = Client { attachment: None, seq: 0, delivered: BTreeMap::new() };
        let (mut n, mut aged_at) = (0, Instant::now());
        for step in steps {
            match step {
                Step::Deliver | Step::Answer | Step::Drop => {
                    n += 1;
                    let before = outbox.last_seq();
                    let delivery = match step {
                        Step::Deliver => outbox.deliver(&numbered(n), Urgency::Must),
                        Step::Answer => outbox.answer(&numbered(n), Some("x")),
                        _ => outbox.deliver(&numbered(n), Urgency::Droppable),
                    };
                    let numbered = u64::from(delivery != Delivery::Dropped);
                    prop_assert_eq!(outbox.last_seq(), before + numbered);
                    if numbered == 1 {
                        client.delivered.insert(before + 1, n);
                    }
                }
                Step::Take { messages, lost } => client.take(&outbox, messages, lost),
                Step::Disconnect => client.disconnect(&outbox),
                Step::Connect => client.connect(&outbox),
                Step::Age => {
                    aged_at += KEEP;
                    outbox.age(aged_at, KEEP);
                }
            }
            let state = outbox.lock();
            prop_assert!(state.ring.len() <= RING_MESSAGES_MAX);
            prop_assert!(state.waiting() <= state.ring.len());
        }
        client.connect(&outbox);
        client.take(&outbox, usize::MAX, 0);
        prop_assert_eq!(client.seq, outbox.last_seq(), "everything arrives in the end");
    }
}

fn ended(id: &str) -> Frame {
    let end = serde_json::json!({
        "game": id, "event_seq": 1, "result": "first", "reason": "resign", "moves": "",
        "clock": { "first": 1, "second": 1 },
    });
    Frame::new(ServerMessage::GameEnd(Box::new(serde_json::from_value(end).unwrap())))
}

#[test]
fn the_end_of_a_game_is_told_once_but_always_answered() {
    let outbox = Outbox::new();
    let attachment = outbox.attach(None, &welcome(), None).unwrap();
    outbox.deliver(&ended("g1"), Urgency::Must);
    outbox.deliver(&ended("g1"), Urgency::Must);
    outbox.deliver(&ended("g2"), Urgency::Must);
    outbox.answer(&ended("g2"), Some("q1"));
    assert_eq!(outbox.last_seq(), 4, "welcome, one end, another one, and the answer");
    assert_eq!(outbox.ends(), [(2, game("g1")), (3, game("g2"))]);
    outbox.detach(&attachment);
    outbox.deliver(&ended("g1"), Urgency::Must);
    assert_eq!(outbox.last_seq(), 4, "without a socket too");
    for number in 0..ENDS_MAX {
        outbox.deliver(&ended(&format!("h{number}")), Urgency::Must);
    }
    assert_eq!(outbox.ends().len(), ENDS_MAX);
    outbox.attach(None, &welcome(), None).unwrap();
    assert_eq!(outbox.ends(), [], "a session that starts afresh has heard of none");
}

/// A way that takes everything or nothing.
#[derive(Default)]
struct Way {
    is_blocked: AtomicBool,
    written: Mutex<Vec<u64>>,
}

impl Line for Way {
    fn write(&self, outbox: &Outbox, attachment: &Attachment) -> bool {
        if self.is_blocked.load(Ordering::Relaxed) {
            return false;
        }
        let taken = drain(outbox, attachment).into_iter().map(|(seq, _)| seq);
        self.written.lock().unwrap().extend(taken);
        true
    }
}

#[tokio::test]
async fn what_is_queued_is_written_at_once_with_one_flush_or_wakes_the_socket() {
    let outbox = Outbox::new();
    let attachment = outbox.attach(None, &numbered(0), None).unwrap();
    let is_woken = || attachment.changed().now_or_never().is_some();
    drain(&outbox, &attachment);
    is_woken();
    outbox.flush();
    assert!(!is_woken(), "nothing waits");
    assert_eq!(outbox.queue(&numbered(1), None), Delivery::Queued);
    assert!(!is_woken());
    outbox.flush();
    assert!(is_woken(), "there is no other way than the socket's task");
    let way = Arc::new(Way::default());
    attachment.open_way(way.clone());
    assert_eq!(outbox.queue(&numbered(2), Some("a")), Delivery::Queued);
    outbox.flush();
    assert_eq!(*way.written.lock().unwrap(), [2, 3]);
    assert!(!is_woken());
    way.is_blocked.store(true, Ordering::Relaxed);
    assert_eq!(outbox.queue(&numbered(3), None), Delivery::Queued);
    outbox.flush();
    assert!(is_woken());
    let next = outbox.attach(Some(4), &numbered(0), None).unwrap();
    attachment.open_way(way.clone());
    way.is_blocked.store(false, Ordering::Relaxed);
    assert_eq!(outbox.queue(&numbered(4), None), Delivery::Queued);
    outbox.flush();
    assert_eq!(*way.written.lock().unwrap(), [2, 3], "that socket was replaced");
    assert!(next.changed().now_or_never().is_some());
}
