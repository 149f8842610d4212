//! The kit against a server of a few lines.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use fourfold_bot::{Choice, Settings, Turn, run};

type Socket = WebSocketStream<TcpStream>;

async fn listen() -> (TcpListener, Settings) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    (listener, Settings { url, token: "t".into(), games: Some(1), ..Settings::new("test", "2") })
}

/// Takes a connection and its `hello`, and welcomes the bot.
async fn welcome(listener: &TcpListener, resumed: bool) -> (Socket, Value) {
    let (stream, _) = listener.accept().await.unwrap();
    let agree = |request: &Request, mut response: Response| {
        assert_eq!(request.uri().path(), "/api/v1/socket");
        let protocol = request.headers()["sec-websocket-protocol"].clone();
        response.headers_mut().insert("sec-websocket-protocol", protocol);
        Ok(response)
    };
    let mut socket = tokio_tungstenite::accept_hdr_async(stream, agree).await.unwrap();
    let hello = hear(&mut socket).await;
    let welcome = json!({ "type": "welcome", "seq": 1, "session": "s", "secret": "x", "resumed": resumed,
        "heartbeat_ms": 10_000 });
    say(&mut socket, &welcome).await;
    (socket, hello)
}

async fn say(socket: &mut Socket, message: &Value) {
    socket.send(Message::text(message.to_string())).await.unwrap();
}

async fn hear(socket: &mut Socket) -> Value {
    serde_json::from_str(socket.next().await.unwrap().unwrap().to_text().unwrap()).unwrap()
}

async fn close(mut socket: Socket, code: u16) {
    let frame = CloseFrame { code: code.into(), reason: "words".into() };
    socket.close(Some(frame)).await.unwrap();
}

fn game() -> Value {
    json!({ "type": "game", "seq": 2, "game": "g", "you": "first", "status": "live" })
}

fn turn() -> Value {
    json!({ "type": "turn", "seq": 3, "game": "g", "ply": 0, "moves": "", "legal": [1, 2, 3, 5, 6, 7],
        "budget_ms": 1_000, "network_ms": 1, "variant": "7x6", "clock": { "you": null, "opponent": null } })
}

fn end() -> Value {
    json!({ "type": "game_end", "seq": 5, "game": "g", "result": "first", "reason": "four" })
}

/// Plays one turn with this choice and gives what the bot answered.
async fn answer_of<C: Into<Choice> + 'static>(choose: impl Fn(&Turn) -> C + Send + Sync + 'static) -> Value {
    let (listener, settings) = listen().await;
    let server = async move {
        let (mut socket, hello) = welcome(&listener, false).await;
        assert_eq!(
            (&hello["token"], &hello["open"], &hello["protocol"]),
            (&json!("t"), &json!(true), &json!(1))
        );
        assert_eq!(hello["bot"]["version"], "2");
        say(&mut socket, &game()).await;
        assert_eq!(hear(&mut socket).await["type"], "bye", "one game is enough");
        say(&mut socket, &turn()).await;
        let answer = hear(&mut socket).await;
        say(&mut socket, &end()).await;
        close(socket, 1000).await;
        answer
    };
    let (answer, result) = tokio::join!(server, run(choose, settings));
    result.unwrap();
    answer
}

#[tokio::test]
async fn a_turn_is_answered() {
    let expected = json!({ "type": "move", "game": "g", "ply": 0, "column": 3 });
    assert_eq!(answer_of(|_: &Turn| 3).await, expected);
    let said = answer_of(|_: &Turn| Choice(2, json!({ "depth": 4 }))).await;
    assert_eq!((&said["column"], &said["info"]), (&json!(2), &json!({ "depth": 4 })));
}

#[tokio::test]
async fn a_bug_costs_a_move_and_not_the_game() {
    assert_eq!(answer_of(|_: &Turn| 4).await["column"], 3, "4 is full");
    let answer = answer_of(|turn: &Turn| -> u8 { panic!("broken on purpose in {}", turn.game) }).await;
    assert_eq!(answer["column"], 3);
}

#[tokio::test]
async fn a_lost_connection_is_resumed_and_the_same_answer_given_again() {
    let (listener, settings) = listen().await;
    let server = async move {
        let (mut socket, hello) = welcome(&listener, false).await;
        assert_eq!(hello["resume"], Value::Null);
        for message in [game(), turn()] {
            say(&mut socket, &message).await;
        }
        while hear(&mut socket).await["type"] != "move" {}
        drop(socket);
        let (mut socket, hello) = welcome(&listener, true).await;
        assert_eq!(hello["resume"], json!({ "session": "s", "secret": "x", "seq": 3 }));
        assert_eq!(hello["open"], false, "it plays no further game");
        assert_eq!(hear(&mut socket).await["type"], "bye");
        say(&mut socket, &turn()).await;
        assert_eq!(hear(&mut socket).await["column"], 5);
        say(&mut socket, &end()).await;
        close(socket, 1000).await;
    };
    let ((), result) = tokio::join!(server, run(|_: &Turn| 5, settings));
    result.unwrap();
}

#[tokio::test]
async fn whoever_is_refused_says_why() {
    for code in [4401, 4403, 4406, 4409] {
        let (listener, settings) = listen().await;
        let server = async move { close(welcome(&listener, false).await.0, code).await };
        let ((), result) = tokio::join!(server, run(|_: &Turn| 1, settings));
        assert_eq!(result, Err(format!("closed with {code}: words")));
    }
}

#[tokio::test]
async fn addresses_that_cannot_work_end_the_bot() {
    let (listener, settings) = listen().await;
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 200 OK\r\n\r\n").await;
        }
    });
    for address in ["wss://127.0.0.1", "ftp://127.0.0.1", "ws://127.0.0.1"] {
        let settings = Settings { url: format!("{address}:{port}"), ..settings.clone() };
        let ended =
            tokio::time::timeout(std::time::Duration::from_secs(20), run(|_: &Turn| 1, settings)).await;
        assert!(ended.is_ok_and(|result| result.is_err()), "{address} is tried for ever");
    }
}

#[tokio::test]
async fn pings_are_answered_and_challenges_taken() {
    let (listener, settings) = listen().await;
    let server = async move {
        let (mut socket, _) = welcome(&listener, false).await;
        say(&mut socket, &json!({ "type": "ping", "n": 7 })).await;
        assert_eq!(hear(&mut socket).await, json!({ "type": "pong", "n": 7 }));
        say(&mut socket, &json!({ "type": "news_of_tomorrow" })).await;
        say(&mut socket, &json!({ "type": "challenge", "challenge": "own", "re": "1" })).await;
        say(&mut socket, &json!({ "type": "challenge", "challenge": "c" })).await;
        assert_eq!(hear(&mut socket).await, json!({ "type": "accept", "challenge": "c" }));
        close(socket, 4409).await;
    };
    let ((), result) = tokio::join!(server, run(|_: &Turn| 1, settings));
    assert!(result.is_err());
}

#[test]
fn columns_are_sorted_from_the_centre() {
    let turn: Turn = serde_json::from_value(turn()).unwrap();
    assert_eq!(turn.centre_first(), [3, 5, 2, 6, 1, 7]);
}

#[tokio::test]
async fn an_opponent_is_asked_for_all_games() {
    let (listener, settings) = listen().await;
    let settings = Settings { opponent: Some("negamax-6".into()), games: Some(3), ..settings };
    let server = async move {
        let (mut socket, hello) = welcome(&listener, false).await;
        assert_eq!(hello["open"], false);
        say(&mut socket, &json!({ "type": "synced", "seq": 2, "games": 0 })).await;
        for (games, opening) in [(2, json!("balanced")), (1, Value::Null)] {
            let asked = hear(&mut socket).await;
            let said = (&asked["type"], &asked["to"], &asked["games"], &asked["opening"]["kind"]);
            assert_eq!(said, (&json!("challenge"), &json!("negamax-6"), &json!(games), &opening));
            for number in 0..games {
                for mut message in [game(), end()] {
                    message["game"] = json!(format!("{games}-{number}"));
                    say(&mut socket, &message).await;
                }
            }
        }
        assert_eq!(hear(&mut socket).await["type"], "bye");
        close(socket, 1000).await;
    };
    let (played, ()) = tokio::join!(run(|turn: &Turn| turn.legal[0], settings), server);
    assert_eq!(played, Ok(()));
}

#[tokio::test]
async fn an_opponent_that_does_not_play_ends_it() {
    let (listener, settings) = listen().await;
    let settings = Settings { opponent: Some("nobody".into()), ..settings };
    let server = async move {
        let (mut socket, _) = welcome(&listener, false).await;
        say(&mut socket, &json!({ "type": "synced", "seq": 2, "games": 0 })).await;
        let asked = hear(&mut socket).await;
        say(
            &mut socket,
            &json!({ "type": "error", "seq": 3, "re": asked["id"], "message": "unknown player" }),
        )
        .await;
        socket.next().await;
    };
    let (played, ()) = tokio::join!(run(|turn: &Turn| turn.legal[0], settings), server);
    assert_eq!(played, Err("nobody does not play: unknown player".into()));
}
