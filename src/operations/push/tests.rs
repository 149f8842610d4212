//! Notices as a browser gets them from a push service, and those that are not sent.

use std::collections::HashMap;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::actor::{PushActor, PushOccasions};
use super::encryption::tests::Browser;
use super::*;
use crate::model::clock::TimeControl;
use crate::model::secret::Secret;
use crate::operations::outgoing::listener;
use crate::play::host::GameOffer;
use crate::protocol::terms::WireSide;
use crate::storage::MemoryStore;
use crate::storage::conformance::{add_players, player_id};
use crate::storage::pushes::PushStore as _;
use crate::system::part::Part;
use crate::system::shares::ShareSettings;
use crate::system::vapid::{NewVapidKey, VapidKey};
use crate::testing::{Account, Arena, offer};

/// What a push service got.
pub(crate) struct Received {
    pub(crate) path: String,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

/// A push service on this machine that answers with these statuses, the last one for ever.
pub(crate) async fn push_service(
    answers: &'static [&'static str],
) -> (SocketAddr, mpsc::UnboundedReceiver<Received>) {
    listener(answers, read_request).await
}

async fn read_request(mut stream: TcpStream) -> (TcpStream, Received) {
    let mut request = Vec::new();
    let head_ends = loop {
        assert!(stream.read_buf(&mut request).await.unwrap() > 0);
        if let Some(at) = request.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
    };
    let head = String::from_utf8(request[..head_ends].to_vec()).unwrap();
    let mut lines = head.lines();
    let path = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
    let headers: HashMap<String, String> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers["content-length"].parse().unwrap();
    while request.len() < head_ends + 4 + length {
        assert!(stream.read_buf(&mut request).await.unwrap() > 0);
    }
    let body = request[head_ends + 4..].to_vec();
    (stream, Received { path, headers, body })
}

const TAKEN: &[&str] = &["201 Created"];
const GONE: &[&str] = &["410 Gone"];
const BROKEN: &[&str] = &["503 Broken"];

/// Says what there is to say in no language.
#[derive(Debug)]
struct PlainWords;

impl NoticeWords for PlainWords {
    fn words(&self, language: &str, notice: &Notice) -> Shown {
        Shown { title: format!("{language} {notice:?}"), body: String::new() }
    }
}

/// What tells browsers of a site in memory, and waits for nothing between two attempts.
pub(crate) fn pusher_over(store: Arc<dyn Store>, writer: Writer, allowed: Vec<IpNetwork>) -> Pusher {
    let metrics = Arc::<Metrics>::default();
    let NewVapidKey { public, private } = VapidKey::generate().unwrap();
    let key = VapidKey::read(&public, &Secret::new(private.expose())).unwrap();
    Pusher::new(PushDeps {
        store,
        writer,
        sender: Sender::new(key, "mailto:ops@example.org".into()),
        words: Arc::new(PlainWords),
        shares: Shares::new(ShareSettings::default(), Arc::clone(&metrics)),
        metrics,
        allowed,
        tasks: Tasks::for_tests(Part::Push),
        stop: CancellationToken::new(),
        retries: vec![Duration::from_millis(1); RETRIES.len()],
    })
}

fn here() -> Vec<IpNetwork> {
    vec!["127.0.0.0/8".parse().unwrap()]
}

/// A browser of Ada's whose push service is at the address.
async fn told_at(address: SocketAddr) -> (Pusher, Arc<MemoryStore>, Browser) {
    let store = Arc::new(MemoryStore::new());
    add_players(&*store, &[OWNER]).await;
    let (writer, actor) = Writer::new(store.clone());
    tokio::spawn(actor.run());
    let pusher = pusher_over(store.clone(), writer, here());
    let browser = Browser::new();
    pusher.add(&player_id(OWNER), described(&browser, address, "one")).await.unwrap();
    (pusher, store, browser)
}

fn described(browser: &Browser, address: SocketAddr, path: &str) -> NewBrowser {
    NewBrowser {
        endpoint: format!("http://{address}/{path}"),
        p256dh: browser.p256dh.clone(),
        auth: browser.auth.clone(),
        language: "de".into(),
    }
}

impl Pusher {
    /// Nothing is under way or waits.
    async fn all_done(&self) {
        self.inner.deps.tasks.close();
        self.inner.deps.tasks.wait().await;
    }

    fn counted(&self, outcome: &str) -> u64 {
        let text = self.inner.deps.metrics.text();
        let line = format!("fourfold_push_notices_total{{outcome=\"{outcome}\"}} ");
        text.lines().find_map(|other| other.strip_prefix(&line)).map_or(0, |count| count.parse().unwrap())
    }
}

/// Too long to stand by chance in what is encrypted or signed, as a name of three letters does now and then.
const OWNER: &str = "AdaLovelace";
const OPPONENT: &str = "BobTheOpponent";
const GAME: &str = "g123456789";

fn turn() -> Notice {
    Notice::Turn {
        game: GAME.parse().unwrap(),
        opponent: OPPONENT.parse().unwrap(),
        left: Duration::from_hours(70),
    }
}

#[tokio::test]
async fn a_browser_reads_what_its_push_service_cannot() {
    let (address, mut heard) = push_service(TAKEN).await;
    let (pusher, _, browser) = told_at(address).await;
    pusher.tell(&player_id(OWNER), &turn()).await.unwrap();
    pusher.all_done().await;
    let Received { path, headers, body } = heard.recv().await.unwrap();
    assert_eq!(path, "/one");
    assert_eq!(headers["ttl"], (70 * 3_600).to_string());
    assert_eq!((headers["content-encoding"].as_str(), headers["urgency"].as_str()), ("aes128gcm", "normal"));
    assert_eq!(headers["topic"], turn().topic());
    assert!(headers["authorization"].ends_with(&format!(", k={}", pusher.public_key())));
    let read: Value = serde_json::from_slice(&browser.read(&body)).unwrap();
    assert_eq!(
        (read["url"].as_str(), read["lang"].as_str()),
        (Some(format!("/game/{GAME}").as_str()), Some("de"))
    );
    assert!(read["title"].as_str().unwrap().starts_with("de Turn"), "{read}");
    assert_eq!(read["tag"].as_str(), Some(turn().topic().as_str()));
    let whole = [&body, format!("{path} {headers:?}").as_bytes()].concat();
    let shown = String::from_utf8_lossy(&whole);
    assert!(![OPPONENT, GAME, OWNER].iter().any(|hidden| shown.contains(hidden)), "{shown}");
    assert_eq!(pusher.counted("delivered"), 1);
}

#[tokio::test]
async fn a_browser_that_is_gone_is_forgotten_and_no_other() {
    let (address, _heard) = push_service(GONE).await;
    let (pusher, store, _) = told_at(address).await;
    let (broken, _heard_there) = push_service(BROKEN).await;
    let other = Browser::new();
    pusher.add(&player_id(OWNER), described(&other, broken, "two")).await.unwrap();
    pusher.tell(&player_id(OWNER), &turn()).await.unwrap();
    pusher.all_done().await;
    let left = store.pushes_of(&player_id(OWNER)).await.unwrap();
    assert_eq!(left.iter().map(|push| push.p256dh.as_str()).collect::<Vec<_>>(), [other.p256dh]);
    let tried = RETRIES.len() as u64 + 1;
    assert_eq!((pusher.counted("gone"), pusher.counted("failed"), pusher.counted("lost")), (1, tried, 1));
}

#[tokio::test]
async fn what_is_over_is_not_sent_again_and_what_is_refused_neither() {
    let (address, mut heard) = push_service(BROKEN).await;
    let (pusher, _, _) = told_at(address).await;
    let from = "Bob".parse().unwrap();
    let over = Notice::Challenge { challenge: "c1".parse().unwrap(), from, lasts: Duration::ZERO };
    pusher.tell(&player_id(OWNER), &over).await.unwrap();
    pusher.all_done().await;
    assert!(heard.recv().await.is_some() && heard.try_recv().is_err());
    let (address, mut heard) = push_service(&["403 Forbidden"]).await;
    let (pusher, store, _) = told_at(address).await;
    assert_eq!(pusher.try_out(&player_id(OWNER)).await.unwrap(), 0);
    assert!(heard.recv().await.is_some());
    assert_eq!(
        store.pushes_of(&player_id(OWNER)).await.unwrap().len(),
        1,
        "the key may be wrong, not the browser"
    );
}

#[tokio::test]
async fn a_push_service_that_never_answers_holds_nobody_up_and_a_bounded_part() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (pusher, _, _) = told_at(silent.local_addr().unwrap()).await;
    let places = u64::from(Share::Push.rule().account.held.unwrap());
    let all = async {
        for _ in 0..places + 3 {
            pusher.tell(&player_id(OWNER), &turn()).await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(5), all).await.expect("nobody waits for a push service");
    assert_eq!(pusher.inner.deps.tasks.len() as u64, places);
    assert_eq!(pusher.counted("missed"), 3);
    assert!(matches!(pusher.try_out(&player_id(OWNER)).await, Err(TryError::Share(_))));
    pusher.inner.deps.stop.cancel();
    pusher.all_done().await;
}

#[tokio::test]
async fn a_browser_says_where_it_is_reached_and_how_it_reads() {
    let store = Arc::new(MemoryStore::new());
    add_players(&*store, &[OWNER]).await;
    let (writer, actor) = Writer::new(store.clone());
    tokio::spawn(actor.run());
    let pusher = pusher_over(store, writer, Vec::new());
    let browser = Browser::new();
    let add = async |endpoint: &str, p256dh: &str| {
        let (endpoint, p256dh) = (endpoint.to_owned(), p256dh.to_owned());
        let described = NewBrowser { endpoint, p256dh, auth: browser.auth.clone(), language: "en".into() };
        pusher.add(&player_id(OWNER), described).await
    };
    for plain in
        ["http://push.example/1", "http://127.0.0.1:9/1", "push.example", "https://u:p@push.example/"]
    {
        assert!(matches!(add(plain, &browser.p256dh).await, Err(AddError::Endpoint)), "{plain}");
    }
    for inside in ["https://127.0.0.1/", "https://[::1]/", "https://10.0.0.1/", "https://169.254.169.254/"] {
        assert!(matches!(add(inside, &browser.p256dh).await, Err(AddError::Private)), "{inside}");
    }
    let nowhere = Browser::new().p256dh.replace(|letter: char| letter.is_ascii_lowercase(), "A");
    for key in ["", "AAAA", &nowhere] {
        assert!(matches!(add("https://push.example/", key).await, Err(AddError::Key(_))), "{key}");
    }
    add("https://push.example/1", &browser.p256dh).await.unwrap();
}

/// Ada and Bob, with a game by correspondence, and Ada's browser.
async fn game_by_correspondence(arena: &Arena) -> [Account; 2] {
    let [ada, bob] = [arena.person("Ada").await, arena.person("Bob").await];
    let days = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(3 * 86_400_000) };
    let game = GameOffer { time: days, ..offer(&ada.identity, &bob.identity) };
    arena.services.host.start(game).await.unwrap();
    [ada, bob]
}

#[tokio::test]
async fn whoever_is_to_move_by_correspondence_is_shown_it_once_while_away() {
    let (address, mut heard) = push_service(TAKEN).await;
    let arena = Arena::new().await;
    let [ada, bob] = game_by_correspondence(&arena).await;
    let services = &arena.services;
    let pusher = pusher_over(Arc::clone(&services.store), services.writer.clone(), here());
    let (of_ada, of_bob) = (Browser::new(), Browser::new());
    pusher.add(&ada.identity.id, described(&of_ada, address, "ada")).await.unwrap();
    pusher.add(&bob.identity.id, described(&of_bob, address, "bob")).await.unwrap();
    let seen = PushOccasions {
        directory: services.directory.clone(),
        sessions: services.sessions.clone(),
        challenged: services.lobby.challenged_away(),
    };
    let mut actor = PushActor::new(pusher.clone(), Arc::clone(&services.store), seen);
    let mut look = async |after: Duration| {
        tokio::time::pause();
        tokio::time::advance(after).await;
        tokio::time::resume();
        actor.look().await.unwrap();
        pusher.all_done().await;
    };
    look(Duration::ZERO).await;
    assert!(heard.try_recv().is_err(), "a turn that has just come");
    look(Duration::from_mins(2)).await;
    let Received { path, body, .. } = heard.recv().await.unwrap();
    assert_eq!(path, "/ada", "she moves first");
    let read: Value = serde_json::from_slice(&of_ada.read(&body)).unwrap();
    assert!(read["title"].as_str().unwrap().contains("Bob"), "{read}");
    look(Duration::from_hours(5)).await;
    assert!(heard.try_recv().is_err(), "once");
    let mut playing = arena.join(&ada).await;
    let game = playing.hear_game().unwrap();
    assert_eq!(game.to_move, Some(WireSide::First));
    playing.play(&game.game, 0, 4).await;
    arena.settle().await;
    playing.leave().await;
    look(Duration::from_mins(2)).await;
    assert_eq!(heard.recv().await.unwrap().path, "/bob");
}
