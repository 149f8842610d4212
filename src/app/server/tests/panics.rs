//! A panic in any part ends what that part was doing, and nothing else.

use super::*;
use crate::protocol::ClientMessage;
use crate::protocol::parse::parse;
use crate::protocol::server::{GameEnd, ServerMessage, Turn};
use crate::system::vapid::{NewVapidKey, VapidKey};
use crate::testing::{Client, hello};

/// The parts that are there as long as the daemon.
const KEPT: [Part; 26] = [
    Part::Host,
    Part::Lobby,
    Part::Feeds,
    Part::Tv,
    Part::Revocations,
    Part::Orders,
    Part::IdleGuests,
    Part::Forgetting,
    Part::Packing,
    Part::Backups,
    Part::Dumps,
    Part::Gauges,
    Part::Learners,
    Part::Judge,
    Part::Matchmaker,
    Part::Leaderboard,
    Part::Tournaments,
    Part::FairPlay,
    Part::SelfTests,
    Part::Duels,
    Part::Classes,
    Part::Webhooks,
    Part::Mail,
    Part::Push,
    Part::MetricsListener,
    Part::Listener,
];

/// How often something is looked for, ten milliseconds apart: ten minutes, after which it does not happen at all.
/// Threads of low priority, learners' and the judge's, wait for all other tests on a machine that is full.
const WAITS_MAX: usize = 60_000;

/// All that goes on by itself does.
fn busy() -> Config {
    let mut config = quiet();
    config.ladder.enabled = true;
    config.learning.enabled = true;
    config.judging.enabled = true;
    config.limits.rated_requires_selftest = true;
    config.webhooks.enabled = true;
    config.server.public_url = Some("http://127.0.0.1".parse().unwrap());
    config.mail.server = "127.0.0.1:9".parse().unwrap();
    config.mail.from = "arena@example.org".parse().unwrap();
    let NewVapidKey { public, private } = VapidKey::generate().unwrap();
    config.push.public_key = public;
    config.push.private_key = private.expose().into();
    config.push.subject = "mailto:ops@example.org".into();
    config.backup.at = "0 0 1 1 *".parse().unwrap();
    config.backup.directory = ".".into();
    config.dump.at = "0 0 1 1 *".parse().unwrap();
    config.dump.directory = ".".into();
    let cup = "name = \"Cup\"\nat = \"never\"\nformat = \"swiss\"\nentrants = [\"random\", \"greedy\"]";
    config.tournaments.0 = vec![toml::from_str(cup).unwrap()];
    config
}

/// Waits in real time, for threads and sockets know no other: as long as it takes on a machine with much to do.
pub(super) async fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..WAITS_MAX {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} does not happen");
}

impl TestDaemon {
    fn panics(&self, part: Part) -> u64 {
        self.supervision.metrics().panics_of(part)
    }

    /// Makes a part panic. It can be struck only while it is at work, so the blow may have to be repeated.
    async fn strike(&self, part: Part) {
        let before = self.panics(part);
        for _ in 0..WAITS_MAX {
            self.supervision.strike(part);
            for _ in 0..5 {
                tokio::time::sleep(Duration::from_millis(2)).await;
                if self.panics(part) > before {
                    return;
                }
            }
        }
        panic!("{part:?} is not at work");
    }

    pub(super) async fn guest(&self) -> Client {
        Client::new(self.open(Credential::None, hello()).await.unwrap())
    }

    /// Plays a game from its beginning to its end, each column from the left; `meanwhile` before each move.
    async fn play_a_game(&self, meanwhile: impl AsyncFn(u32)) -> GameEnd {
        let mut client = self.guest().await;
        say(&client, r#"{"type": "watch", "feed": "results"}"#).await;
        say(
            &client,
            r#"{"type": "play_bot", "bot": "random", "time": {"bank_ms": 60000, "increment_ms": 0, "move_ms": null}}"#,
        )
        .await;
        let (mut end, mut is_told) = (None, false);
        for _ in 0..WAITS_MAX {
            for message in client.hear() {
                match message {
                    ServerMessage::Turn(turn) => {
                        meanwhile(turn.ply).await;
                        client.play(&turn.game, turn.ply, column(&turn)).await;
                    }
                    ServerMessage::GameEnd(over) => end = Some(over),
                    ServerMessage::Result(_) => is_told = true,
                    ServerMessage::Error(error) => panic!("{error:?}"),
                    _ => {}
                }
            }
            if let (Some(end), true) = (&end, is_told) {
                client.leave().await;
                return (**end).clone();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the game does not end");
    }
}

pub(super) async fn say(client: &Client, text: &str) {
    client.port.handle(parse(text).unwrap(), now()).await;
}

/// The first column from the left with room.
pub(super) fn column(turn: &Turn) -> i64 {
    (1..=7)
        .find(|column| turn.moves.chars().filter(|moved| moved.to_digit(36) == Some(*column)).count() < 6)
        .unwrap()
        .into()
}

#[tokio::test]
async fn every_part_comes_back_after_a_panic_and_a_third_one_pauses_it() {
    let daemon = TestDaemon::start(busy()).await;
    daemon.supervision.stop_time();
    // The second blow shows that it was at work again.
    for part in KEPT {
        daemon.strike(part).await;
        daemon.strike(part).await;
        assert_eq!(daemon.panics(part), 2, "{part:?}");
    }
    assert_eq!(daemon.supervision.pauses(), [""; 0]);
    daemon.play_a_game(async |_| {}).await;
    assert!(daemon.http("GET", "/readyz", "").await.starts_with("HTTP/1.1 200 "));
    assert!(daemon.http("GET", "/api/v1/leaderboard", "").await.starts_with("HTTP/1.1 200 "));
    daemon.tournaments.start("Cup").await.unwrap();
    let metrics = daemon.supervision.metrics();
    let is_counted = |line: &str| {
        metrics.text().lines().any(|other| other.strip_prefix(line).is_some_and(|count| count.trim() != "0"))
    };
    until("judging", || is_counted("fourfold_games_judged_total")).await;
    until("practice", || is_counted("fourfold_practice_games_total")).await;
    for part in Part::ALL {
        assert_eq!(daemon.panics(part), if KEPT.contains(&part) { 2 } else { 0 }, "{part:?}");
    }
    for (count, part) in KEPT.into_iter().enumerate() {
        daemon.strike(part).await;
        until("a pause", || daemon.supervision.pauses().len() == count + 1).await;
        if part == Part::Lobby {
            let answer = daemon.http("GET", "/readyz", "").await;
            assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
            assert!(answer.contains("host has failed several times") && answer.contains("lobby has failed"));
        }
    }
    // Who was connected plays on all the same.
    daemon.check_sound().await;
}

#[tokio::test]
async fn a_game_goes_on_while_the_lobby_and_the_host_panic() {
    let daemon = TestDaemon::start(quiet()).await;
    let end = daemon
        .play_a_game(async |ply| match ply {
            0..4 => daemon.strike(Part::Lobby).await,
            4..6 => daemon.strike(Part::Host).await,
            _ => {}
        })
        .await;
    assert!(end.moves.len() >= 7, "{}", end.moves);
    assert_eq!(daemon.panics(Part::Room), 0);
    daemon.check_sound().await;
}

#[tokio::test]
async fn what_was_being_asked_of_the_lobby_is_answered_seeks_and_offers_end_and_links_stand() {
    let daemon = TestDaemon::start(quiet()).await;
    let (mut seeker, mut maker) = (daemon.guest().await, daemon.guest().await);
    let time = r#""time": {"bank_ms": 60000, "increment_ms": 0, "move_ms": null}, "rated": false"#;
    say(&seeker, &format!(r#"{{"type": "seek", {time}}}"#)).await;
    say(&maker, &format!(r#"{{"type": "open_challenge", {time}}}"#)).await;
    let to = &seeker.welcome.you.name;
    say(&maker, &format!(r#"{{"type": "challenge", "to": "{to}", {time}}}"#)).await;
    until("a seek", || !daemon.services.feeds.seeks().is_empty()).await;
    let mut offers = Vec::new();
    while offers.len() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        offers.extend(maker.hear().into_iter().filter_map(|message| match message {
            ServerMessage::Challenge(offer) => Some(*offer),
            _ => None,
        }));
    }
    seeker.hear();
    let asking = daemon.services.sessions.all().into_iter().next().unwrap();
    let reply = crate::session::services::reply_to(&asking, Some("7"));
    daemon.services.lobby.fail(reply).await;
    until("a new life", || daemon.services.feeds.seeks().is_empty()).await;
    let mut heard = seeker.hear();
    heard.extend(maker.hear());
    let codes = heard.iter().filter_map(|message| match message {
        ServerMessage::Error(error) => Some(error.code),
        _ => None,
    });
    assert_eq!(codes.filter(|code| *code == crate::protocol::ErrorCode::Internal).count(), 2, "{heard:?}");
    let is_end = |message: &&ServerMessage| matches!(message, ServerMessage::ChallengeEnd(_));
    assert_eq!(heard.iter().filter(is_end).count(), 2, "both hear of the offer's end: {heard:?}");
    let link = offers.into_iter().find(|offer| offer.url.is_some()).unwrap().challenge;
    assert!(daemon.services.lobby.offer(link).await.is_some(), "it is stored");
    assert_eq!(daemon.panics(Part::Lobby), 1);
    daemon.play_a_game(async |_| {}).await;
}

#[tokio::test]
async fn a_lobby_that_pauses_refuses_and_moves_go_through() {
    let daemon = TestDaemon::start(quiet()).await;
    daemon.supervision.stop_time();
    let mut late = daemon.guest().await;
    let end = daemon.play_a_game(async |ply| {
        if ply < 6 && daemon.supervision.pauses().is_empty() {
            daemon.strike(Part::Lobby).await;
        }
    });
    end.await;
    assert_eq!(daemon.supervision.pauses(), ["lobby has failed several times and pauses"]);
    late.hear();
    late.say(ClientMessage::Unseek).await;
    let mut errors = Vec::new();
    for _ in 0..WAITS_MAX {
        errors = late.hear_errors();
        if !errors.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(errors.iter().map(|error| error.code).collect::<Vec<_>>(), [crate::protocol::ErrorCode::Busy]);
    assert!(errors[0].retry_ms.is_some());
}
