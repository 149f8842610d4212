//! Both ends of the socket against each other, and what others send.

mod moderation;
mod socket;

use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

use super::ratings::RatingOf;
use super::*;
use crate::competition::fair_play::{EvidenceReader, RatingAlarms};
use crate::http::letters::Letters;
use crate::model::secret::Secret;
use crate::model::signing::{KEY_BYTES, Signer};
use crate::operations::mail::tests::mailer_at_work;
use crate::play::orders::Orders;
use crate::storage::MemoryStore;
use crate::storage::members::tests::ListInMemory;
use crate::system::shares::Shares;

/// Services over an empty store in memory.
fn control() -> Control {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (writer, actor) = Writer::new(Arc::clone(&store));
    tokio::spawn(actor.run());
    let accounts =
        Accounts::new(Arc::clone(&store), writer.clone(), Signer::new(&[7; KEY_BYTES]), Shares::default());
    Control { accounts, store, writer, learning: Learning::default(), daemon: None, nodes: None }
}

/// The same in a daemon that holds no tournaments.
async fn control_of_daemon() -> Control {
    let services = crate::testing::Arena::new().await.services;
    let tournaments = Tournaments::reading(Arc::clone(&services.store));
    Control {
        daemon: Some(RunningDaemon {
            services,
            tournaments,
            rating_alarms: RatingAlarms::default(),
            evidence: Some(EvidenceReader::told_by_a_test().1),
            supervision: Supervision::new(Arc::default()),
            backups: Backups::default(),
            mailer: None,
            explorer: Arc::default(),
            data: PathBuf::from("."),
        }),
        ..control()
    }
}

struct Served {
    directory: tempfile::TempDir,
    path: PathBuf,
    store: Arc<dyn Store>,
    shutdown: CancellationToken,
    _server: ControlServer,
}

fn serve() -> Served {
    serve_these(control())
}

fn serve_these(control: Control) -> Served {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("control.sock");
    let shutdown = CancellationToken::new();
    let store = Arc::clone(&control.store);
    let server = ControlServer::start(&path, control, shutdown.clone()).unwrap();
    Served { directory, path, store, shutdown, _server: server }
}

impl Served {
    async fn client(&self) -> ControlClient {
        ControlClient::connect(&self.path).await.unwrap()
    }

    async fn dial(&self) -> UnixStream {
        UnixStream::connect(&self.path).await.unwrap()
    }

    /// Sends a text and reads until the connection ends.
    async fn say(&self, text: &str) -> String {
        let mut stream = self.dial().await;
        stream.write_all(text.as_bytes()).await.unwrap();
        heard(stream).await
    }

    /// Whether commands are still done.
    async fn check_goes_on(&self) {
        let refused = self.client().await.status().await;
        check_refused(refused, ApiCode::Conflict);
    }
}

/// What comes until the connection ends, by a reset too.
async fn heard(mut stream: UnixStream) -> String {
    let mut heard = Vec::new();
    let _ = tokio::time::timeout(Duration::from_mins(5), stream.read_to_end(&mut heard)).await.unwrap();
    String::from_utf8_lossy(&heard).into_owned()
}

async fn create_account(client: &ControlClient, name: &str) -> Result<SignedInView, ControlError> {
    client.create_account(name, &Secret::new("tea and biscuits")).await
}

#[track_caller]
fn check_refused<T: std::fmt::Debug>(answer: Result<T, ControlError>, code: ApiCode) {
    match answer {
        Err(ControlError::Refused(refusal)) => assert_eq!(refusal.code, code, "{refusal:?}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check_heard(heard: &str, status: u16, words: &str) {
    assert!(heard.starts_with(&format!("HTTP/1.1 {status} ")) && heard.contains(words), "{heard}");
}

#[test]
fn every_command_is_in_the_document() {
    let document = include_str!("../../../docs/operating.md");
    for (path, _) in commands() {
        let path = path.replace("{name}", "NAME").replace("{id}", "ID");
        let path = path.replace("{number}", "NUMBER").replace("{step}", "STEP");
        let is_there = |end: &str| document.contains(&format!(" {path}{end}"));
        assert!(is_there("`") || is_there("?"), "docs/operating.md does not have {path}");
    }
}

#[tokio::test]
async fn commands_are_done_in_the_daemon_and_in_process_alike() {
    let served = serve();
    for client in [served.client().await, ControlClient::here(control())] {
        let account = create_account(&client, "ada").await.unwrap();
        assert_eq!(account.name.as_str(), "ada");
        assert_eq!(client.create_bot("six", "ADA").await.unwrap().name.as_str(), "six");
        assert!(client.create_token("SIX").await.unwrap().token.token.starts_with("c4b_"));
        assert_eq!(client.revoke_tokens("six").await.unwrap().tokens.revoked, 2);
        let ratings = client.ratings(&["six", "no one"]).await.unwrap();
        let names = |of: &RatingOf| (of.name.clone(), of.rating);
        let expected = [("six".to_owned(), None), ("no one".to_owned(), None)];
        assert_eq!(ratings.iter().map(names).collect::<Vec<_>>(), expected);
        assert_eq!(exported(&client, "compact", None).await.unwrap(), "");
        assert_eq!(client.verify_games().await.unwrap().findings, [""; 0]);
    }
}

#[tokio::test]
async fn records_come_in_while_the_arena_plays_on() {
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::{FIRST_WINS, add_players, play, spec};
    let elsewhere = control();
    add_players(&*elsewhere.store, &["Ada", "Bob"]).await;
    for id in ["one", "two"] {
        play(&*elsewhere.store, spec(id, "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    }
    let records = exported(&ControlClient::here(elsewhere), "ndjson", None).await.unwrap();
    let served = serve();
    for client in [served.client().await, ControlClient::here(control())] {
        let taken = client.import_games(records.clone()).await.unwrap();
        assert_eq!((taken.imported, taken.passed_over), (2, 0));
        let again = client.import_games(format!("\n{records}")).await.unwrap();
        assert_eq!((again.imported, again.passed_over), (0, 2));
        assert_eq!(client.game(&"two".parse().unwrap()).await.unwrap().players.first.name, "Ada");
        assert_eq!(client.verify_games().await.unwrap().findings, [""; 0]);
        check_refused(client.import_games("{}".into()).await, ApiCode::BadField);
        check_refused(client.import_games(" ".repeat(1024 * 1024)).await, ApiCode::TooLarge);
        assert_eq!(client.import_games(String::new()).await.unwrap().imported, 0);
    }
}

/// Games of another arena's house come in before a daemon has ever run: its bots must still find their names free.
#[tokio::test]
async fn records_that_come_before_the_house_leave_it_its_names() {
    use crate::model::result::{EndReason, GameResult};
    use crate::play::house::HouseBots;
    use crate::storage::conformance::{FIRST_WINS, add_players, play, spec};
    use crate::system::config::{Config, ProgramsConfig};
    let elsewhere = control();
    add_players(&*elsewhere.store, &["PERFECT", "Ada", "memory300", "memory-spectator"]).await;
    let players = [("PERFECT", "Ada"), ("memory300", "memory-spectator")];
    for (id, (first, second)) in ["one", "two"].into_iter().zip(players) {
        play(&*elsewhere.store, spec(id, first, second), FIRST_WINS, GameResult::First, EndReason::Four)
            .await;
    }
    let records = exported(&ControlClient::here(elsewhere), "ndjson", None).await.unwrap();
    let records = records.replace("memory300", "memory@300");
    let here = control();
    let (store, writer) = (Arc::clone(&here.store), here.writer.clone());
    let client = ControlClient::here(here);
    assert_eq!(client.import_games(records).await.unwrap().imported, 2);
    assert_eq!(client.verify_games().await.unwrap().findings, [""; 0]);
    let player = async |name: &str| store.player_by_name(&name.parse().unwrap()).await.unwrap().unwrap();
    for (name, house) in [("perfect", true), ("memory@300", true), ("memory-spectator", true), ("ada", false)]
    {
        assert_eq!(player(name).await.house, house, "{name}");
    }
    assert_eq!(player("perfect").await.name.as_str(), "perfect");
    let (config, files) = (Config::default(), tempfile::tempdir().unwrap());
    let line_up = &config.house_bots.0;
    let house = HouseBots::set_up(line_up, &ProgramsConfig::default(), files.path(), &*store, &writer).await;
    let (there, wanted) = (house.unwrap().all().len(), line_up.len());
    assert_eq!(there, wanted, "nobody is left out");
}

#[tokio::test]
async fn a_check_and_a_copy_are_made_of_real_files() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("fourfold.db");
    let store = crate::storage::SqliteStore::open(&database, crate::model::durability::Durability::Strict);
    let store: Arc<dyn Store> = Arc::new(store.await.unwrap());
    let client = ControlClient::here(Control { store, ..control() });
    let report = client.check().await.unwrap();
    assert_eq!((report.findings(), report.games.finished), (0, 0));
    let copy = directory.path().join("copy");
    let copy = copy.to_str().unwrap();
    let made = client.back_up(copy, false).await.unwrap();
    assert_eq!((made.path.as_str(), made.games), (copy, 0));
    assert_eq!(made.bytes, std::fs::metadata(copy).unwrap().len());
    check_refused(client.back_up(copy, false).await, ApiCode::Conflict);
    client.back_up(copy, true).await.unwrap();
    check_refused(client.back_up("copy", false).await, ApiCode::BadField);
    check_refused(client.back_up(database.to_str().unwrap(), true).await, ApiCode::BadField);
    check_refused(client.back_up("/no/such/directory/copy", false).await, ApiCode::Internal);
    let left = std::fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().file_name());
    let drafts = left.filter(|name| name.to_string_lossy().contains("draft")).count();
    assert_eq!(drafts, 0);
}

#[tokio::test]
async fn refusals_say_whose_fault_it_is() {
    let served = serve();
    let client = served.client().await;
    create_account(&client, "ada").await.unwrap();
    check_refused(create_account(&client, "Ada").await, ApiCode::NameTaken);
    check_refused(create_account(&client, "no name").await, ApiCode::BadField);
    check_refused(client.create_bot("six", "eve").await, ApiCode::NotFound);
    check_refused(client.create_bot("six", "no name").await, ApiCode::BadField);
    check_refused(client.create_token("ada").await, ApiCode::Conflict);
    for name in ["../games", "two\nlines", ""] {
        check_refused(client.create_token(name).await, ApiCode::BadParameter);
    }
    check_refused(client.status().await, ApiCode::Conflict);
    let unknown = client.learner("nobody").await.unwrap_err();
    assert!(
        unknown.is_no_learner() && unknown.to_string().contains("called `nobody`: there are memory"),
        "{unknown}"
    );
}

#[tokio::test]
async fn a_daemon_says_what_it_does() {
    let client = ControlClient::here(control_of_daemon().await);
    let status = client.status().await.unwrap();
    assert_eq!((status.pid, status.games, status.online), (std::process::id(), 0, 0));
    assert_eq!(status.rating_alarms, []);
}

#[tokio::test]
async fn a_daemon_says_who_decides_better_than_the_rating_by_name() {
    use fourfold_arena::fair_play::Finding;

    use crate::competition::fair_play::Evidence;
    use crate::model::time::UnixMillis;
    use crate::storage::conformance::{add_players, player_id};
    let (told, reader) = EvidenceReader::told_by_a_test();
    let mut control = control_of_daemon().await;
    control.daemon.as_mut().unwrap().evidence = Some(reader);
    let (store, client) = (Arc::clone(&control.store), ControlClient::here(control.clone()));
    add_players(&*store, &["Ada", "Bob"]).await;
    let nothing = client.fair_play(None).await.unwrap();
    assert_eq!((nothing.at, nothing.players), (None, vec![]));
    let finding = |id: &str, evidence| Finding {
        player: id.to_owned(),
        games: 60,
        hard: 41,
        kept: 30,
        expected: 19.5,
        range: (14.6, 24.4),
        evidence,
        look: false,
        weighing: Vec::new(),
    };
    let ids = ["Ada", "Bob", "Eve"].map(|name| player_id(name).to_string());
    let findings = ids.iter().zip([9.0, 2.0, 1.0]).map(|(id, evidence)| finding(id, evidence)).collect();
    told.send_replace(Arc::new(Evidence { at: Some(UnixMillis(0)), games: 70, waiting: 3, findings }));
    let report = client.fair_play(None).await.unwrap();
    let names: Vec<&str> = report.players.iter().map(|finding| finding.player.as_str()).collect();
    assert_eq!((names, report.games, report.waiting), (vec!["Ada", "Bob"], 70, 3), "Eve has gone");
    let bob = client.fair_play(Some("bob")).await.unwrap().players;
    assert_eq!(bob, [finding("Bob", 2.0)]);
    check_refused(client.fair_play(Some("nobody")).await, ApiCode::NotFound);
    check_refused(client.fair_play(Some("no name")).await, ApiCode::BadParameter);
    control.daemon.as_mut().unwrap().evidence = None;
    check_refused(ControlClient::here(control).fair_play(None).await, ApiCode::Conflict);
}

#[tokio::test]
async fn tournaments_are_begun_by_a_daemon_alone() {
    let start = async |control| ControlClient::here(control).start_tournament("Cup").await;
    check_refused(start(control()).await, ApiCode::Conflict);
    check_refused(start(control_of_daemon().await).await, ApiCode::Busy);
}

#[tokio::test]
async fn a_game_is_voided_once_and_with_a_reason() {
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::{FIRST_WINS, add_players, play, player_id, spec};
    let control = control();
    add_players(&*control.store, &["Ada", "Bob"]).await;
    play(&*control.store, spec("one", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    let client = ControlClient::here(control.clone());
    let void = async |id: &str, reason: &str| client.void_game(&id.parse().unwrap(), &because(reason)).await;
    check_refused(void("one", " ").await, ApiCode::BadField);
    check_refused(void("two", "a test").await, ApiCode::NotFound);
    let voided = VoidedGame { game: "one".parse().unwrap(), was_rated: true };
    assert_eq!(void("one", " a test ").await.unwrap(), voided);
    check_refused(void("one", "again").await, ApiCode::Conflict);
    assert_eq!(control.store.voided_games().await.unwrap()[0].reason, "a test");
    let rating = control.store.rating(&player_id("Ada"), fourfold_engine::Variant::STANDARD).await;
    assert_eq!(rating.unwrap(), None);
    let verified = client.verify_games().await.unwrap();
    assert_eq!((verified.voided, verified.findings), (1, vec![]));
}

#[tokio::test]
async fn all_games_of_a_player_are_voided_in_one_go() {
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::{FIRST_WINS, FIRST_WINS_TOO, add_players, play, spec};
    let control = control();
    add_players(&*control.store, &["Ada", "Bob", "Eve"]).await;
    for (id, first, second, moves) in [
        ("one", "Ada", "Bob", FIRST_WINS),
        ("two", "Bob", "Eve", FIRST_WINS),
        ("three", "Eve", "Ada", FIRST_WINS_TOO),
    ] {
        play(&*control.store, spec(id, first, second), moves, GameResult::First, EndReason::Four).await;
    }
    let client = ControlClient::here(control.clone());
    check_refused(client.void_player("Ada", &because(" ")).await, ApiCode::BadField);
    check_refused(client.void_player("nobody", &because("a test")).await, ApiCode::NotFound);
    let voided = client.void_player("ada", &because("a test")).await.unwrap();
    assert_eq!((voided.player.to_string(), voided.games, voided.was_begun), ("Ada".to_owned(), 2, false));
    assert_eq!(voided.variants, ["7x6"]);
    let verified = client.verify_games().await.unwrap();
    assert_eq!((verified.rated, verified.voided, verified.findings), (1, 2, vec![]));
    let again = client.void_player("Ada", &because("a test")).await.unwrap();
    assert_eq!((again.games, again.variants), (0, vec![]));
    assert_eq!(client.audit_log(10).await.unwrap().len(), 2);
}

#[tokio::test]
async fn the_explorer_hears_of_games_that_are_taken_out() {
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::{FIRST_WINS, FIRST_WINS_TOO, add_players, play, spec};

    let control = control_of_daemon().await;
    let explorer = Arc::clone(&control.daemon.as_ref().unwrap().explorer);
    add_players(&*control.store, &["Ada", "Bob"]).await;
    for (id, moves) in [("one", FIRST_WINS), ("two", FIRST_WINS_TOO)] {
        play(&*control.store, spec(id, "Ada", "Bob"), moves, GameResult::First, EndReason::Four).await;
    }
    let games = async || {
        let start = fourfold_engine::Position::new(fourfold_engine::Variant::STANDARD);
        let played = explorer.explore(&*control.store, &start, None).await.unwrap().unwrap();
        played.iter().map(|explored| explored.people.games()).sum::<u64>()
    };
    let client = ControlClient::here(control.clone());
    assert_eq!(games().await, 2);
    client.void_game(&"one".parse().unwrap(), &because("a test")).await.unwrap();
    assert_eq!(games().await, 1);
    client.void_player("Ada", &because("a test")).await.unwrap();
    assert_eq!(games().await, 0);
}

fn because(reason: &str) -> Reason {
    Reason { reason: reason.to_owned(), by: "grace".to_owned() }
}

#[tokio::test]
async fn without_a_daemon_orders_are_kept_for_the_next_one() {
    let control = control();
    let client = ControlClient::here(control.clone());
    check_refused(client.resume(&because("why not")).await, ApiCode::Conflict);
    assert_eq!(client.pause(&because("moving")).await.unwrap().paused_because.as_deref(), Some("moving"));
    check_refused(client.drain(None, because("moving")).await, ApiCode::Conflict);
    let said = client.announce(" we move ", Some(1), because("moving")).await.unwrap();
    assert_eq!((said.announcement.as_deref(), said.announced_until.is_some()), (Some("we move"), true));
    for hours in [0, 721, u32::MAX] {
        check_refused(client.announce("x", Some(hours), because("moving")).await, ApiCode::BadField);
    }
    for text in ["two\nlines", "bell\u{7}", &"x".repeat(161)] {
        check_refused(client.announce(text, None, because("moving")).await, ApiCode::BadField);
    }
    let standing = Orders::read(&*control.store).await.unwrap();
    assert!(!standing.now().games_begin());
    assert_eq!(client.announce("", None, because("moved")).await.unwrap().announcement, None);
    assert_eq!(client.resume(&because("moved")).await.unwrap().paused_because, None);
    assert_eq!(client.audit_log(9).await.unwrap().len(), 4);
}

#[tokio::test]
async fn reasons_are_told_of_the_bot_that_is_asked_for() {
    use crate::model::player::PlayerKind;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::{FIRST_WINS, add, add_players, player, player_id, spec, whole_game};
    use crate::storage::record::{EventKind, StoredPlayer};
    use crate::storage::store::Write;
    let control = control();
    let house = add(StoredPlayer { house: true, ..player("pupil", PlayerKind::Bot) });
    control.store.commit(&[house]).await.unwrap();
    add_players(&*control.store, &["Ada", "Bob"]).await;
    let mut events = whole_game(FIRST_WINS, GameResult::First, EndReason::Four);
    let EventKind::Move(played) = &mut events[0].kind else { panic!() };
    played.info = Some(r#"{"note":"why: 1 +105 own a1 . . . (3 2 1)"}"#.into());
    let game = spec("g1", "pupil", "Ada");
    let writes = [Write::StartGame(game), Write::Finish { game: "g1".parse().unwrap(), events }];
    for answer in control.store.commit(&writes).await.unwrap() {
        answer.unwrap();
    }
    let name = control.store.player(&player_id("pupil")).await.unwrap().unwrap().name.to_string();
    let client = ControlClient::here(control);
    let ask = async |name: &str| client.reasons(name, &"g1".parse().unwrap()).await;
    let moves = ask(&name).await.unwrap();
    let said = WhyReason { column: 1, weight: 105, pattern: "own a1 . . .".into(), seen: 3, won: 2, lost: 1 };
    assert_eq!((moves.len(), moves[0].ply, &moves[0].reasons), (1, 1, &vec![said]));
    for (who, message) in [("Bob", "Bob did not play game g1"), ("Ada", "Ada is no bot of the house")] {
        let refused = ask(who).await.unwrap_err().to_string();
        assert!(refused.starts_with(message), "{refused}");
    }
}

/// What an export brings, piece by piece.
async fn exported(client: &ControlClient, format: &str, after: Option<&str>) -> Result<String, ControlError> {
    let mut text = Vec::new();
    let take = |piece: &[u8]| {
        text.extend_from_slice(piece);
        Ok(())
    };
    client.export_games(format, after, &[], take).await?;
    Ok(String::from_utf8(text).unwrap())
}

#[tokio::test]
async fn an_export_that_breaks_off_is_no_whole_one() {
    let memory = Arc::new(MemoryStore::new());
    let control = || Control { store: Arc::clone(&memory) as Arc<dyn Store>, ..control() };
    let served = serve_these(control());
    for client in [served.client().await, ControlClient::here(control())] {
        memory.lose("games");
        let broken = exported(&client, "csv", None).await.unwrap_err();
        assert!(matches!(broken, ControlError::Lost(_)), "{broken:?}");
        assert_eq!(exported(&client, "csv", None).await.unwrap().lines().count(), 1);
    }
}

#[tokio::test]
async fn games_are_read_page_by_page() {
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::{FIRST_WINS, add_players, play, spec};
    let control = control();
    add_players(&*control.store, &["Ada", "Bob"]).await;
    for id in ["one", "two"] {
        play(&*control.store, spec(id, "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    }
    let client = ControlClient::here(control);
    let lines = exported(&client, "ndjson", None).await.unwrap();
    assert_eq!((lines.lines().count(), lines.ends_with('\n')), (2, true));
    assert_eq!(
        exported(&client, "ndjson", Some("1")).await.unwrap(),
        lines.split_inclusive('\n').next_back().unwrap()
    );
    assert_eq!(exported(&client, "csv", Some("2")).await.unwrap().lines().count(), 1, "the heading");
    let wrong = exported(&client, "xml", None).await.unwrap_err();
    let allowed = "`xml` is not a format: ndjson, compact, pgn and csv are";
    assert!(wrong.to_string().contains(allowed), "{wrong}");
    let first = client.games(None, &[]).await.unwrap();
    assert_eq!((first.items.len(), first.cursor.as_deref()), (2, Some("2")));
    let second = client.games(Some("1"), &[]).await.unwrap();
    assert_eq!(second.items, first.items[1..]);
    let end = client.games(Some("2"), &[]).await.unwrap();
    assert_eq!((end.items.len(), end.cursor), (0, None));
    assert_eq!(client.game(&"two".parse().unwrap()).await.unwrap(), first.items[1]);
    let missing = client.game(&"three".parse().unwrap()).await.unwrap_err();
    assert_eq!(missing.to_string(), "there is no game three");
}

#[tokio::test]
async fn an_operator_drains_a_node_and_undoes_all_drains() {
    let alone = serve();
    let client = alone.client().await;
    assert_eq!(client.nodes().await.unwrap(), []);
    check_refused(client.drain_node("node-1", &because("an update")).await, ApiCode::Conflict);
    check_refused(client.balance_nodes(&because("an update")).await, ApiCode::Conflict);
    assert_eq!(client.audit_log(9).await.unwrap(), []);

    let served = serve_these(Control { nodes: Some(Arc::new(ListInMemory::of(2))), ..control() });
    let client = served.client().await;
    let shown = client.nodes().await.unwrap();
    let [first, second] = shown.as_slice() else { panic!("{shown:?}") };
    assert_eq!((&*first.name, &*first.role, first.drained), ("node-1", "leads", false));
    assert_eq!((&*second.role, &*second.address), ("stands by", "10.0.0.2:4446"));
    assert_eq!(first.database_ms, Some(0.42));
    assert_eq!((&*first.since, &*first.beat), ("1970-01-01T00:00:00.000Z", "1970-01-01T00:01:00.000Z"));
    check_refused(client.drain_node("node-3", &because("an update")).await, ApiCode::NotFound);
    check_refused(client.drain_node("node-1", &because("")).await, ApiCode::BadField);
    let drained = |nodes: Vec<ListedNode>| -> Vec<bool> { nodes.iter().map(|node| node.drained).collect() };
    assert_eq!(drained(client.drain_node("node-1", &because("an update")).await.unwrap()), [true, false]);
    assert_eq!(drained(client.balance_nodes(&because("is done")).await.unwrap()), [false, false]);
    let log = client.audit_log(9).await.unwrap();
    let told: Vec<_> = log.iter().map(|entry| (&*entry.action, &*entry.subject, &*entry.reason)).collect();
    assert_eq!(told, [("undo_drains", "arena", "is done"), ("drain_node", "node-1", "an update")]);
    // What was drained is said by the list of nodes: a daemon that starts drains nothing, and stops nothing.
    assert!(Orders::read(&*served.store).await.unwrap().now().games_begin());
}

#[tokio::test]
async fn an_operator_tries_whether_mails_arrive() {
    let mut control = control_of_daemon().await;
    let refused = |answer: Result<TriedMail, ControlError>| answer.unwrap_err().to_string();
    let none = serve_these(control.clone()).client().await.try_mail("you@example.org").await;
    assert!(refused(none).contains("mail.server"));
    let (mailer, mut mailbox) = mailer_at_work(Letters).await;
    control.daemon.as_mut().unwrap().mailer = Some(mailer);
    let served = serve_these(control);
    let client = served.client().await;
    assert!(refused(client.try_mail("you").await).contains("no mail address"));
    assert_eq!(client.try_mail("you@example.org").await.unwrap().address, "you@example.org");
    let (to, mail) = mailbox.recv().await.unwrap();
    assert!(to == "you@example.org" && mail.contains("This one has."), "{mail}");
    let mails = client.status().await.unwrap().mails.unwrap();
    assert_eq!((mails.delivered, mails.failure), (1, None));
    assert!(mails.delivered_at.is_some());
}
