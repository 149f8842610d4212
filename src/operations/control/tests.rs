//! Both ends of the socket against each other.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::*;
use crate::accounts::Accounts;
use crate::model::secret::Secret;
use crate::model::signing::{KEY_BYTES, Signer};
use crate::storage::{MemoryStore, Store, Writer};
use crate::study::learning::Learning;

/// Services over an empty store in memory.
fn control() -> Control {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (writer, actor) = Writer::new(Arc::clone(&store));
    tokio::spawn(actor.run());
    let accounts = Accounts::new(Arc::clone(&store), writer.clone(), Signer::new(&[7; KEY_BYTES]));
    Control { accounts, store, writer, learning: Learning::default(), status: None, tournaments: None }
}

struct Served {
    directory: tempfile::TempDir,
    path: PathBuf,
    _server: ControlServer,
}

fn serve() -> Served {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("control.sock");
    let server = ControlServer::start(&path, control(), CancellationToken::new()).unwrap();
    Served { directory, path, _server: server }
}

fn create_account(name: &str) -> ControlRequest {
    ControlRequest::AccountCreate { name: name.into(), password: Secret::new("tea and biscuits") }
}

#[track_caller]
fn check_refused(answer: Result<ControlAnswer, ControlError>, kind: RefusalKind) {
    match answer {
        Err(ControlError::Refused(refusal)) => assert_eq!(refusal.kind, kind, "{refusal}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn commands_are_done_in_the_daemon() {
    let served = serve();
    let mut client = ControlClient::connect(&served.path).await.unwrap();
    assert!(matches!(client.call(&create_account("ada")).await, Ok(ControlAnswer::Account { .. })));
    let create_bot = ControlRequest::BotCreate { name: "six".into(), owner: "ADA".into() };
    assert!(matches!(client.call(&create_bot).await, Ok(ControlAnswer::Token { .. })));
    let token = ControlRequest::BotToken { name: "six".into() };
    assert!(matches!(client.call(&token).await, Ok(ControlAnswer::Token { .. })));
    let revoke = ControlRequest::BotRevoke { name: "six".into() };
    assert!(matches!(client.call(&revoke).await, Ok(ControlAnswer::Revoked { count: 2, .. })));
}

#[tokio::test]
async fn refusals_say_whose_fault_it_is() {
    let served = serve();
    let mut client = ControlClient::connect(&served.path).await.unwrap();
    client.call(&create_account("ada")).await.unwrap();
    check_refused(client.call(&create_account("Ada")).await, RefusalKind::Conflict);
    check_refused(client.call(&create_account("no name")).await, RefusalKind::Usage);
    let of_nobody = ControlRequest::BotCreate { name: "six".into(), owner: "eve".into() };
    check_refused(client.call(&of_nobody).await, RefusalKind::Conflict);
    check_refused(client.call(&ControlRequest::BotToken { name: "ada".into() }).await, RefusalKind::Conflict);
    check_refused(client.call(&ControlRequest::Status).await, RefusalKind::Conflict);
}

#[tokio::test]
async fn a_game_is_voided_once_and_with_a_reason() {
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::{FIRST_WINS, add_players, play, player_id, spec};
    let control = control();
    add_players(&*control.store, &["Ada", "Bob"]).await;
    play(&*control.store, spec("one", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
    let void =
        |id: &str, reason: &str| ControlRequest::VoidGame { id: id.parse().unwrap(), reason: reason.into() };
    let refused =
        |kind, answer: Result<ControlAnswer, ControlRefusal>| assert_eq!(answer.unwrap_err().kind, kind);
    refused(RefusalKind::Usage, execute(&control, void("one", " ")).await);
    refused(RefusalKind::Conflict, execute(&control, void("two", "a test")).await);
    let answer = execute(&control, void("one", " a test ")).await.unwrap();
    assert_eq!(answer, ControlAnswer::Voided { game: "one".parse().unwrap(), was_rated: true });
    refused(RefusalKind::Conflict, execute(&control, void("one", "again")).await);
    assert_eq!(control.store.voided_games().await.unwrap()[0].reason, "a test");
    let rating = control.store.rating(&player_id("Ada"), fourfold_engine::Variant::STANDARD).await;
    assert_eq!(rating.unwrap(), None);
    let Ok(ControlAnswer::Verified(verified)) = execute(&control, ControlRequest::GamesVerify).await else {
        panic!()
    };
    assert_eq!((verified.voided, verified.findings), (1, vec![]));
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
    let ask = |name: &str| ControlRequest::MoveReasons { name: name.into(), game: "g1".parse().unwrap() };
    let Ok(ControlAnswer::MoveReasons(moves)) = execute(&control, ask(&name)).await else { panic!() };
    let said =
        ReasonShown { column: 1, weight: 105, pattern: "own a1 . . .".into(), seen: 3, won: 2, lost: 1 };
    assert_eq!((moves.len(), moves[0].ply, &moves[0].reasons), (1, 1, &vec![said]));
    for (who, message) in [("Bob", "Bob did not play game g1"), ("Ada", "Ada is no bot of the house")] {
        let refused = execute(&control, ask(who)).await.unwrap_err();
        assert!(refused.message.starts_with(message), "{refused}");
    }
}

#[tokio::test]
async fn only_the_owner_can_open_the_socket() {
    let served = serve();
    let mode = std::fs::metadata(&served.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_line_that_is_no_command_is_refused_and_the_next_one_heard() {
    let served = serve();
    let path = served.path.clone();
    let lines = tokio::task::spawn_blocking(move || {
        use std::io::{BufRead, BufReader};
        let mut stream = UnixStream::connect(path).unwrap();
        stream.write_all(b"{\"reboot\":{}}\nnonsense\n\"status\"\n").unwrap();
        let mut lines = BufReader::new(stream).lines();
        [(); 3].map(|()| lines.next().unwrap().unwrap())
    });
    let [unknown, nonsense, status] = lines.await.unwrap();
    assert!(unknown.contains("usage") && nonsense.contains("usage"), "{unknown} {nonsense}");
    assert!(status.contains("no daemon"), "{status}");
}

#[tokio::test]
async fn an_endless_line_is_cut_off() {
    let served = serve();
    let path = served.path.clone();
    let answer = tokio::task::spawn_blocking(move || {
        use std::io::Read;
        let mut stream = UnixStream::connect(path).unwrap();
        let too_long = usize::try_from(REQUEST_BYTES_MAX).unwrap();
        stream.write_all(&vec![b' '; too_long]).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    });
    assert!(answer.await.unwrap().contains("usage"));
}

#[tokio::test]
async fn a_file_that_was_left_over_does_not_matter() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("control.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    // Another test may be starting a program, which has a copy of the listener for as long as that takes.
    let refused = async {
        while ControlClient::connect(&path).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), refused).await.expect("nobody listens");
    let server = ControlServer::start(&path, control(), CancellationToken::new()).unwrap();
    assert!(ControlClient::connect(&path).await.is_ok());
    drop(server);
    assert!(!path.exists());
}

#[tokio::test]
async fn a_deep_directory_is_no_obstacle() {
    let served = serve();
    let deep: PathBuf = Path::new(served.directory.path()).join("d".repeat(120));
    std::fs::create_dir(&deep).unwrap();
    let path = deep.join("control.sock");
    let _server = ControlServer::start(&path, control(), CancellationToken::new()).unwrap();
    let mut client = ControlClient::connect(&path).await.unwrap();
    assert!(matches!(client.call(&create_account("ada")).await, Ok(ControlAnswer::Account { .. })));
}

#[tokio::test]
async fn tournaments_are_held_by_a_daemon_alone() {
    let hold = || ControlRequest::TournamentHold { name: "Cup".into() };
    let refused = execute(&control(), hold()).await.unwrap_err();
    assert_eq!(refused.kind, RefusalKind::Conflict);
    let nobody_listens = Control {
        tournaments: Some(crate::competition::tournament::Tournaments::reading(control().store)),
        ..control()
    };
    assert_eq!(execute(&nobody_listens, hold()).await.unwrap_err().kind, RefusalKind::Busy);
}

#[test]
fn requests_are_told_as_older_daemons_and_commands_do() {
    let told = |request: &ControlRequest| serde_json::to_string(request).unwrap();
    assert_eq!(told(&ControlRequest::LearnersVerify), r#""learners_verify""#);
    let learner: LearnerVerified =
        serde_json::from_str(r#"{"name":"memory","games":1,"versions":0,"findings":[]}"#).unwrap();
    assert_eq!(learner.remedy, Remedy::None);
}
