//! The socket itself: who may open it, what it takes for a command, and how long it waits.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::http::request::BODY_BYTES_MAX;

#[tokio::test]
async fn only_the_owner_can_open_the_socket() {
    let served = serve();
    let mode = std::fs::metadata(&served.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_request_that_is_no_command_is_refused() {
    let served = serve();
    let say = async |line: &str, rest: &str| {
        served.say(&format!("{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{rest}\r\n")).await
    };
    check_heard(&say("GET /control/v1/nothing", "").await, 404, r#""field":"path""#);
    check_heard(&say("GET /api/v1/games", "").await, 404, "there is no command at /api/v1/games");
    check_heard(&say("GET /control/v1/games/%ff", "").await, 400, "bad_parameter");
    check_heard(&say("GET /control/v1/games?limit=x", "").await, 400, "bad_parameter");
    check_heard(&say("PUT /control/v1/status", "").await, 405, "allow: GET,HEAD");
    check_heard(&say("POST /control/v1/accounts", "").await, 415, "unsupported_media_type");
    let json = "Content-Type: application/json\r\n";
    check_heard(&say("POST /control/v1/accounts", json).await, 400, "bad_json");
    let zipped = format!("{json}Content-Encoding: gzip\r\n");
    check_heard(&say("POST /control/v1/accounts", &zipped).await, 415, "compressed");
    served.check_goes_on().await;
}

#[tokio::test]
async fn a_body_has_the_fields_of_its_command_and_no_others() {
    let served = serve();
    let send = async |body: &str| {
        let head = "POST /control/v1/bots HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json";
        served.say(&format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())).await
    };
    check_heard(&send("nonsense").await, 400, "bad_json");
    check_heard(&send(r#"{"name":"six"}"#).await, 422, r#""field":"owner""#);
    check_heard(&send(r#"{"name":"six","owner":"ada","x":1}"#).await, 422, r#""field":"x""#);
    check_heard(&send(&" ".repeat(BODY_BYTES_MAX + 1)).await, 413, "too_large");
}

#[tokio::test]
async fn what_is_no_http_is_cut_off() {
    let served = serve();
    // As commands of an earlier version speak.
    check_heard(&served.say("{\"account_create\":{\"name\":\"ada\"}}\n").await, 400, "");
    let endless = format!("GET /{} HTTP/1.1\r\n", "x".repeat(200_000));
    let mut stream = served.dial().await;
    // It may be cut off before all is sent.
    let _ = stream.write_all(endless.as_bytes()).await;
    let answer = heard(stream).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    served.check_goes_on().await;
}

#[tokio::test]
async fn a_daemon_of_another_version_is_named_as_such() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("control.sock");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let older = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 512];
            if stream.read(&mut request).await.unwrap() > 0 {
                stream.write_all(b"{\"refused\":{\"kind\":\"usage\"}}\n").await.unwrap();
            }
        }
    });
    let client = ControlClient::connect(&path).await.unwrap();
    let answer = client.status().await;
    assert!(matches!(answer, Err(ControlError::Unreadable(_))), "{answer:?}");
    older.abort();
    let _ = older.await; // cancelled
    let answer = client.status().await;
    assert!(matches!(answer, Err(ControlError::Lost(_))), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_client_is_cut_off() {
    let served = serve();
    let mut slow = Vec::new();
    let head = "POST /control/v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90\r\n";
    for part in ["", "GET /control/v1", head, &format!("{head}\r\n{{\"name\":")] {
        let mut stream = served.dial().await;
        stream.write_all(part.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    for stream in slow {
        let answer = heard(stream).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
    served.check_goes_on().await;
}

#[tokio::test]
async fn one_connection_too_many_waits_for_a_place() {
    let served = serve();
    let mut silent = Vec::new();
    for _ in 0..16 {
        silent.push(served.dial().await);
    }
    let client = served.client().await;
    let waits = tokio::time::timeout(Duration::from_millis(200), client.status()).await;
    assert!(waits.is_err(), "there is no place: {waits:?}");
    drop(silent);
    served.check_goes_on().await;
}

#[tokio::test]
async fn what_was_commanded_is_done_though_the_client_hangs_up() {
    let served = serve();
    let body = r#"{"name":"ada","password":"tea and biscuits"}"#;
    let head =
        "POST /control/v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ";
    let mut stream = served.dial().await;
    // A body that is cut off commands nothing.
    stream.write_all(format!("{head}{}\r\n\r\n{body}", body.len() + 1).as_bytes()).await.unwrap();
    drop(stream);
    served.check_goes_on().await;
    let is_there = async || served.store.player_by_name(&"ada".parse().unwrap()).await.unwrap().is_some();
    assert!(!is_there().await);
    let mut stream = served.dial().await;
    stream.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
    drop(stream);
    let done = async {
        while !is_there().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), done).await.expect("the account is made");
}

#[tokio::test]
async fn a_command_that_panics_is_lost_alone() {
    let router = Router::new()
        .route("/broken", axum::routing::get(async || -> &'static str { panic!("broken on purpose") }))
        .layer(from_fn_with_state(control(), carry_out));
    let request = Request::get("/broken").body(axum::body::Body::empty()).unwrap();
    let answer = tower::ServiceExt::oneshot(router, request).await.unwrap();
    assert_eq!(answer.status().as_u16(), 500);
}

#[tokio::test]
async fn a_stop_ends_connections_that_wait() {
    let served = serve();
    let silent = served.dial().await;
    served.check_goes_on().await;
    served.shutdown.cancel();
    assert_eq!(heard(silent).await, "");
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
async fn who_accepts_commands_comes_back_after_a_panic() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("control.sock");
    let control = control_of_daemon().await;
    let supervision = control.supervision();
    supervision.stop_time();
    let _server = ControlServer::start(&path, control, CancellationToken::new()).unwrap();
    let panics = || supervision.metrics().panics_of(Part::ControlListener);
    for blow in 1..=2 {
        let client = ControlClient::connect(&path).await.unwrap();
        assert!(client.status().await.is_ok());
        supervision.strike(Part::ControlListener);
        while panics() < blow {
            tokio::task::yield_now().await;
        }
    }
    let client = ControlClient::connect(&path).await.unwrap();
    assert!(client.status().await.is_ok(), "the inbox is the system's, and outlives the panic");
    assert_eq!((panics(), supervision.pauses()), (2, Vec::new()));
}

#[tokio::test]
async fn a_deep_directory_is_no_obstacle() {
    let served = serve();
    let deep: PathBuf = Path::new(served.directory.path()).join("d".repeat(120));
    std::fs::create_dir(&deep).unwrap();
    let path = deep.join("control.sock");
    let _server = ControlServer::start(&path, control(), CancellationToken::new()).unwrap();
    let client = ControlClient::connect(&path).await.unwrap();
    assert!(create_account(&client, "ada").await.is_ok());
}
