//! What operators order for the whole arena happens, and costs nobody anything that was begun.

use fourfold_engine::BySide;

use super::panics::{say, until};
use super::*;
use crate::model::clock::TimeControl;
use crate::model::pace::BotPace;
use crate::play::host::{GameOffer, Origin, StartError, Tempo};
use crate::protocol::CloseCode;
use crate::protocol::error::ErrorCode;
use crate::storage::games::GameStore as _;
use crate::storage::moderation::{Because, Order, OrderKind};
use crate::storage::people::PeopleStore as _;
use crate::storage::record::{GamePair, OpeningSource};
use crate::storage::store::GameQuery;
use crate::testing::{Client, hello};

/// How often something is looked for, ten milliseconds apart: a minute, for machines with much else to do.
const WAITS_MAX: u32 = 6_000;

impl TestDaemon {
    async fn order(&self, kind: OrderKind) {
        let because = Because { reason: "it was time".into(), by: "grace".into(), at: UnixMillis::now() };
        self.services.host.orders().give(&self.services.writer, Order { kind, because }).await.unwrap();
    }

    /// Begins a pair of games between two bots of the house.
    async fn begin_pair(&self, tempo: Tempo) -> Result<(), StartError> {
        let bot = async |name: &str| {
            let player = self.store.player_by_name(&name.parse().unwrap()).await.unwrap().unwrap();
            crate::accounts::identity_of(&player)
        };
        let offer = GameOffer {
            players: BySide { first: bot("random").await, second: bot("greedy").await },
            variant: fourfold_engine::Variant::STANDARD,
            time: TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None },
            rated: true,
            opening: OpeningSource::default(),
            pair: Some(GamePair { id: "pair".parse().unwrap(), leg: 1, of: 2 }),
            origin: Origin::Ladder(tempo),
            pace: BotPace::default(),
        };
        self.services.host.start(offer).await.map(drop)
    }

    async fn finished(&self) -> usize {
        let query = GameQuery { limit: 9, ..GameQuery::default() };
        self.store.finished_games(&query).await.unwrap().len()
    }

    async fn until_finished(&self, games: usize) {
        for _ in 0..WAITS_MAX {
            if self.finished().await >= games {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{games} games do not end");
    }

    /// Waits for the daemon to stop by itself; what it kept.
    async fn left(self) -> Arc<MemoryStore> {
        let store = Arc::clone(&self.store);
        drop((self.services, self.gateway, self.tournaments));
        let stopped = tokio::time::timeout(WAITS_MAX * Duration::from_millis(10), self.running).await;
        stopped.expect("it does not stop").unwrap().unwrap();
        store
    }
}

/// The notices that come within a while: code and text.
async fn next_notice(client: &mut Client) -> Notice {
    for _ in 0..WAITS_MAX {
        for message in client.hear() {
            if let ServerMessage::Notice(notice) = message {
                return notice;
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nothing is told");
}

#[tokio::test]
async fn while_the_arena_is_paused_nothing_begins_and_series_wait() {
    let daemon = TestDaemon::start(quiet()).await;
    daemon.begin_pair(Tempo::Brisk).await.unwrap();
    daemon.order(OrderKind::Pause).await;
    daemon.until_finished(1).await;
    let refused = daemon.begin_pair(Tempo::Brisk).await;
    assert!(matches!(&refused, Err(StartError::Ordered(reason)) if reason == "it was time"), "{refused:?}");
    let ready = daemon.http("GET", "/readyz", "").await;
    assert!(ready.starts_with("HTTP/1.1 503"), "{ready}");
    let page = daemon.http("GET", "/rules", "").await;
    assert!(page.contains("No new games for now: it was time"));
    assert_eq!((daemon.finished().await, daemon.services.directory.live().len()), (1, 0));
    daemon.order(OrderKind::Resume).await;
    daemon.until_finished(2).await;
    daemon.check_sound().await;
}

#[tokio::test]
async fn a_pause_holds_for_the_next_daemon_too() {
    let daemon = TestDaemon::start(quiet()).await;
    daemon.order(OrderKind::Pause).await;
    let store = Arc::clone(&daemon.store);
    daemon.check_sound().await;
    let next = TestDaemon::on(store, quiet()).await;
    assert!(matches!(next.begin_pair(Tempo::Brisk).await, Err(StartError::Ordered(_))));
    next.check_sound().await;
}

#[tokio::test]
async fn a_daemon_that_drains_stops_after_its_last_game_and_the_next_one_goes_on_with_the_series() {
    let daemon = TestDaemon::start(quiet()).await;
    let mut guest = daemon.guest().await;
    daemon.begin_pair(Tempo::Brisk).await.unwrap();
    daemon.order(OrderKind::Drain { until: UnixMillis(UnixMillis::now().0 + 600_000) }).await;
    let told = next_notice(&mut guest).await;
    assert!(told.code == NoticeCode::Draining && told.in_ms > 500_000, "{told:?}");
    let mut late = daemon.guest().await;
    assert_eq!(next_notice(&mut late).await.code, NoticeCode::Draining);
    let refused = daemon.begin_pair(Tempo::Brisk).await;
    assert!(matches!(refused, Err(StartError::Paused)), "{refused:?}");
    drop((guest, late));
    let store = daemon.left().await;
    let next = TestDaemon::on(store, quiet()).await;
    next.until_finished(2).await;
    next.check_sound().await;
}

#[tokio::test]
async fn a_drain_ends_in_time_and_keeps_what_goes_on() {
    let daemon = TestDaemon::start(quiet()).await;
    daemon.begin_pair(Tempo::Watchable).await.unwrap();
    daemon.order(OrderKind::Drain { until: UnixMillis(UnixMillis::now().0 + 300) }).await;
    let store = daemon.left().await;
    assert_eq!(store.live_games().await.unwrap().len(), 1);
    let report = verify(&*store).await.unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[tokio::test]
async fn a_drain_can_be_called_off() {
    let daemon = TestDaemon::start(quiet()).await;
    let mut guest = daemon.guest().await;
    daemon.begin_pair(Tempo::Watchable).await.unwrap();
    daemon.order(OrderKind::Drain { until: UnixMillis(UnixMillis::now().0 + 600_000) }).await;
    assert_eq!(next_notice(&mut guest).await.code, NoticeCode::Draining);
    daemon.order(OrderKind::Resume).await;
    assert_eq!(next_notice(&mut guest).await.code, NoticeCode::Resumed);
    assert!(daemon.http("GET", "/readyz", "").await.starts_with("HTTP/1.1 200"));
    drop(guest);
    daemon.check_sound().await;
}

#[tokio::test]
async fn everybody_is_told_what_operators_say() {
    let daemon = TestDaemon::start(quiet()).await;
    let mut guest = daemon.guest().await;
    let say = |text: &str| OrderKind::Announce { text: text.to_owned(), until: None };
    daemon.order(say("cake <b>at</b> five")).await;
    assert_eq!(next_notice(&mut guest).await, Notice::announcement("cake <b>at</b> five".into()));
    let page = daemon.http("GET", "/rules", "").await;
    assert!(page.contains("cake &#60;b&#62;at"), "escaped: {page}");
    daemon.order(say("")).await;
    assert_eq!(next_notice(&mut guest).await, Notice::announcement(String::new()));
    assert!(!daemon.http("GET", "/rules", "").await.contains("cake"));
    drop(guest);
    daemon.check_sound().await;
}

#[tokio::test]
async fn from_a_banned_network_nobody_comes_in_and_pages_are_read() {
    let daemon = TestDaemon::start(quiet()).await;
    let mut guest = daemon.guest().await;
    let network: crate::system::config::IpNetwork = "127.0.0.0/8".parse().unwrap();
    daemon.order(OrderKind::BanNetwork { network, until: None }).await;
    let id = guest.welcome.you.id.clone();
    until("the end of the session", || daemon.services.sessions.of(&id).is_empty()).await;
    let refused = daemon.open(Credential::None, hello()).await.map(drop).unwrap_err();
    assert_eq!((refused.code, refused.error.code), (CloseCode::Banned, ErrorCode::Forbidden));
    assert!(refused.error.message.contains("it was time"), "{refused}");
    assert_eq!(guest.hear_errors(), [refused.error], "whoever was there hears the same");
    assert_eq!(guest.port.outbox().parted(&guest.attachment), Some(CloseCode::Banned));
    let register = r#"{"name": "ada", "password": "tea and biscuits"}"#;
    let answer = daemon.http("POST", "/api/v1/accounts", register).await;
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("it was time"), "{answer}");
    assert!(daemon.http("GET", "/rules", "").await.starts_with("HTTP/1.1 200"));
    daemon.order(OrderKind::UnbanNetwork { network }).await;
    daemon.guest().await;
    drop(guest);
    daemon.check_sound().await;
}

#[tokio::test]
async fn whoever_is_muted_plays_and_asks_nobody() {
    let daemon = TestDaemon::start(quiet()).await;
    let ada = daemon.person("Ada").await;
    let mut here = Client::new(daemon.open(ada, hello()).await.unwrap());
    let id = here.welcome.you.id.clone();
    let because = Because { reason: "too many".into(), by: "grace".into(), at: UnixMillis::now() };
    daemon.services.accounts.mute(&id, None, because.clone()).await.unwrap();
    let link = r#"{"type": "open_challenge", "time": {"bank_ms": 60000, "increment_ms": 0, "move_ms": null}, "rated": false}"#;
    let refusals = async |here: &mut Client| {
        say(here, link).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        here.hear_errors().into_iter().map(|error| (error.code, error.message)).collect::<Vec<_>>()
    };
    assert_eq!(
        refusals(&mut here).await,
        [(ErrorCode::Forbidden, "you may ask nobody now: too many".to_owned())]
    );
    let seek =
        r#"{"type": "seek", "time": {"bank_ms": 60000, "increment_ms": 0, "move_ms": null}, "rated": false}"#;
    say(&here, seek).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(here.hear_errors(), []);
    daemon.services.accounts.unmute(&id, because).await.unwrap();
    assert_eq!(refusals(&mut here).await, []);
    drop(here);
    daemon.check_sound().await;
}
