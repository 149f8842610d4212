//! Messages as a receiver gets them, and those that are not sent.

use std::collections::HashSet;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::actor::WebhookActor;
use super::*;
use crate::competition::matchmaker::Troubles;
use crate::competition::matchmaker::troubles::BotTrouble;
use crate::model::player::PlayerKind;
use crate::model::signing::KEY_BYTES;
use crate::operations::outgoing::listener;
use crate::storage::MemoryStore;
use crate::storage::conformance::{add, add_players, player, player_id};
use crate::storage::record::StoredPlayer;
use crate::storage::webhooks::WebhookStore as _;
use crate::system::part::Part;
use crate::system::supervision::Kept as _;

/// Somebody who listens on this machine and answers with these statuses, the last one for ever.
pub(crate) async fn receiver(
    answers: &'static [&'static str],
) -> (SocketAddr, mpsc::UnboundedReceiver<String>) {
    listener(answers, read_request).await
}

async fn read_request(mut stream: TcpStream) -> (TcpStream, String) {
    let mut request = Vec::new();
    // Headers and body come in one piece or in two.
    while !request.ends_with(b"}") {
        assert!(stream.read_buf(&mut request).await.unwrap() > 0);
    }
    (stream, String::from_utf8(request).unwrap())
}

const TAKEN: &[&str] = &["204 No Content"];
const BROKEN: &[&str] = &["500 Broken"];

/// Webhooks of a site in memory that waits for nothing between two attempts.
pub(crate) fn webhooks_over(store: Arc<dyn Store>, writer: Writer, allowed: Vec<IpNetwork>) -> Webhooks {
    let metrics = Arc::<Metrics>::default();
    Webhooks::new(WebhookDeps {
        store,
        writer,
        signer: Signer::new(&[7; KEY_BYTES]),
        shares: Shares::new(crate::system::shares::ShareSettings::default(), Arc::clone(&metrics)),
        metrics,
        allowed,
        tasks: Tasks::for_tests(Part::Webhooks),
        stop: CancellationToken::new(),
        retries: vec![Duration::from_millis(1); RETRIES.len()],
    })
}

/// Ada's, who has the bot `six`.
async fn webhooks(allowed: &[&str]) -> (Webhooks, Arc<MemoryStore>) {
    let store = Arc::new(MemoryStore::new());
    add_players(&*store, &["Ada"]).await;
    let six = StoredPlayer { owner: Some(player_id("Ada")), ..player("six", PlayerKind::Bot) };
    store.commit(&[add(six)]).await.unwrap();
    let (writer, actor) = Writer::new(store.clone());
    tokio::spawn(actor.run());
    let allowed = allowed.iter().map(|network| network.parse().unwrap()).collect();
    (webhooks_over(store.clone(), writer, allowed), store)
}

/// Ada's, who has it told to whoever listens at the address.
async fn told_at(address: SocketAddr) -> (Webhooks, Arc<MemoryStore>) {
    let (webhooks, store) = webhooks(&["127.0.0.0/8"]).await;
    webhooks.set(&player_id("Ada"), &format!("http://{address}/hook?key=1")).await.unwrap();
    (webhooks, store)
}

fn ada() -> Identity {
    crate::accounts::identity_of(&player("Ada", PlayerKind::Human))
}

impl Webhooks {
    async fn tell_ada(&self) {
        self.tell(&player_id("Ada"), &Event::Ping { account: ada().name }).await.unwrap();
    }

    /// Nothing is under way or waits.
    async fn all_done(&self) {
        self.inner.deps.tasks.close();
        self.inner.deps.tasks.wait().await;
    }

    fn counted(&self, outcome: &str) -> u64 {
        let text = self.inner.deps.metrics.text();
        let line = format!("fourfold_webhook_messages_total{{outcome=\"{outcome}\"}} ");
        text.lines().find_map(|other| other.strip_prefix(&line)).map_or(0, |count| count.parse().unwrap())
    }
}

async fn adas(store: &MemoryStore) -> StoredWebhook {
    store.webhook(&player_id("Ada")).await.unwrap().unwrap()
}

fn header<'r>(request: &'r str, name: &str) -> &'r str {
    let line = request.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.unwrap_or_else(|| panic!("no {name} in {request}"))
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[tokio::test]
async fn a_message_is_posted_to_where_its_owner_said_and_noted() {
    let (address, mut heard) = receiver(TAKEN).await;
    let (webhooks, store) = told_at(address).await;
    webhooks.tell_ada().await;
    webhooks.all_done().await;
    let request = heard.recv().await.unwrap();
    assert!(request.starts_with("POST /hook?key=1 HTTP/1.1\r\n"), "{request}");
    assert_eq!(header(&request, "host"), address.to_string());
    assert_eq!(header(&request, "content-type"), "application/json");
    assert_eq!(body(&request)["type"], "ping");
    assert!(header(&request, "webhook-id").starts_with("msg_"), "{request}");
    assert!(header(&request, "webhook-timestamp").parse::<i64>().unwrap() > 0);
    assert!(header(&request, "webhook-signature").starts_with("v1,"), "{request}");
    let webhook = adas(&store).await;
    assert_eq!((webhook.failures, webhook.last.unwrap().outcome), (0, Outcome::Answered(204)));
    assert_eq!((webhooks.counted("delivered"), webhooks.counted("failed")), (1, 0));
}

#[tokio::test]
async fn each_address_that_is_set_has_a_key_of_its_own() {
    let (webhooks, _) = webhooks(&[]).await;
    let set = async || webhooks.set(&player_id("Ada"), "https://ada.example/").await.unwrap();
    assert_ne!(set().await.expose(), set().await.expose());
}

#[tokio::test]
async fn what_is_not_taken_is_sent_again_later_and_not_for_ever() {
    let (address, mut heard) = receiver(BROKEN).await;
    let (webhooks, store) = told_at(address).await;
    webhooks.tell_ada().await;
    webhooks.all_done().await;
    let mut ids = HashSet::new();
    for _ in 0..=RETRIES.len() {
        ids.insert(header(&heard.try_recv().unwrap(), "webhook-id").to_owned());
    }
    assert_eq!(ids.len(), 1, "a receiver knows a repeat");
    assert!(heard.try_recv().is_err());
    let webhook = adas(&store).await;
    assert_eq!(webhook.failures as usize, RETRIES.len() + 1);
    assert_eq!(webhook.last.unwrap().outcome, Outcome::Answered(500));
}

#[tokio::test]
async fn an_answer_that_leads_elsewhere_is_not_followed() {
    let (elsewhere, mut heard_there) = receiver(TAKEN).await;
    let moved: &'static str = format!("307 Elsewhere\r\nLocation: http://{elsewhere}/").leak();
    let (address, mut heard) = receiver(vec![moved].leak()).await;
    let (webhooks, _) = told_at(address).await;
    assert_eq!(webhooks.ping(&ada()).await.unwrap(), Outcome::Answered(307));
    assert!(heard.recv().await.is_some());
    assert!(heard_there.try_recv().is_err());
}

#[tokio::test]
async fn an_answer_without_end_is_none() {
    let long: &'static str = format!("200 OK\r\nX-Long: {}", "x".repeat(20_000)).leak();
    let (address, _heard) = receiver(vec![long].leak()).await;
    let (webhooks, _) = told_at(address).await;
    assert_eq!(webhooks.ping(&ada()).await.unwrap(), Outcome::Failed(NoAnswer::Unreachable));
}

#[tokio::test]
async fn nothing_is_sent_to_this_machine_nor_beside_it() {
    let (address, mut heard) = receiver(TAKEN).await;
    let (webhooks, store) = webhooks(&["10.0.0.0/8"]).await;
    let port = address.port();
    for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "192.168.1.1", "169.254.169.254"] {
        let set = webhooks.set(&player_id("Ada"), &format!("http://{host}:{port}/")).await;
        assert!(matches!(set, Err(SetError::Private)), "{host}: {set:?}");
    }
    // What only the look-up tells, and other ways to write an address.
    for host in ["localhost", "LOCALHOST.", "2130706433", "0x7f.1", "127.1"] {
        webhooks.set(&player_id("Ada"), &format!("http://{host}:{port}/")).await.unwrap();
        let outcome = webhooks.ping(&ada()).await.unwrap();
        let refused = [NoAnswer::PrivateAddress, NoAnswer::UnknownHost].map(Outcome::Failed);
        assert!(refused.contains(&outcome), "{host}: {outcome}");
        assert_eq!(adas(&store).await.last.unwrap().outcome, outcome);
    }
    webhooks.set(&player_id("Ada"), &format!("http://localhost:{port}/")).await.unwrap();
    assert_eq!(webhooks.ping(&ada()).await.unwrap(), Outcome::Failed(NoAnswer::PrivateAddress));
    assert!(heard.try_recv().is_err());
}

#[tokio::test]
async fn an_address_that_takes_nothing_is_left_alone_until_it_takes_a_test() {
    const HEADS: [&str; 21] = {
        let mut heads = ["500 Broken"; 21];
        heads[20] = "200 OK";
        heads
    };
    let (address, mut heard) = receiver(&HEADS).await;
    let (webhooks, store) = told_at(address).await;
    for _ in 0..4 {
        webhooks.tell_ada().await;
        while Arc::strong_count(&webhooks.inner) > 1 {
            tokio::task::yield_now().await;
        }
    }
    assert!(adas(&store).await.is_paused());
    while heard.try_recv().is_ok() {}
    webhooks.tell_ada().await;
    webhooks.all_done().await;
    assert!(heard.try_recv().is_err());
    assert_eq!(webhooks.ping(&ada()).await.unwrap(), Outcome::Answered(200));
    assert!(!adas(&store).await.is_paused());
    webhooks.tell_ada().await;
    webhooks.all_done().await;
    assert_eq!(webhooks.counted("delivered"), 2);
}

#[tokio::test]
async fn another_address_or_none_ends_what_waits_for_the_one_before() {
    let (address, mut heard) = receiver(BROKEN).await;
    let (webhooks, store) = told_at(address).await;
    let webhook = adas(&store).await;
    webhooks.remove(&player_id("Ada")).await.unwrap();
    webhooks.deliver(webhook, Message::about(&Event::Ping { account: ada().name })).await;
    assert!(heard.try_recv().is_ok());
    assert!(heard.try_recv().is_err(), "one attempt was under way");
    assert!(matches!(webhooks.ping(&ada()).await, Err(PingError::NoWebhook)));
}

#[tokio::test]
async fn a_receiver_that_never_answers_holds_nobody_up_and_a_bounded_part() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (webhooks, _) = told_at(silent.local_addr().unwrap()).await;
    let places = u64::from(Share::Webhook.rule().account.held.unwrap());
    let all = async {
        for _ in 0..places + 3 {
            webhooks.tell_ada().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), all).await.expect("nobody waits for a receiver");
    assert_eq!(webhooks.inner.deps.tasks.len() as u64, places);
    assert_eq!(webhooks.counted("missed"), 3);
    assert!(matches!(webhooks.ping(&ada()).await, Err(PingError::Share(_))));
    webhooks.inner.deps.stop.cancel();
    webhooks.all_done().await;
}

#[tokio::test]
async fn the_owner_of_a_bot_that_is_paused_is_told_once() {
    let (address, mut heard) = receiver(TAKEN).await;
    let (webhooks, _) = told_at(address).await;
    let until = UnixMillis(1_700_000_000_000);
    let trouble = BotTrouble { fault: "time", probing: false, until: Some(until) };
    let probing = BotTrouble { probing: true, until: None, ..trouble };
    let troubles = Troubles::of_bots([(player_id("six"), trouble), (player_id("Ada"), probing)]);
    let (_ends, hear) = tokio::sync::broadcast::channel(1);
    let mut actor = WebhookActor::new(webhooks.clone(), hear, troubles);
    let (stop, running) = (CancellationToken::new(), webhooks.inner.deps.tasks.clone());
    let stopped = stop.clone();
    running.spawn(async move { actor.run(&stopped).await.unwrap() });
    let told = body(&heard.recv().await.unwrap());
    assert_eq!(told["type"], "bot_paused");
    assert_eq!(
        told["data"],
        serde_json::json!({ "bot": "six", "fault": "time", "until": until.to_string() })
    );
    stop.cancel();
    webhooks.all_done().await;
    assert!(heard.try_recv().is_err());
}
