//! Owners of bots are told what happens to them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::panics::{column, say};
use super::*;
use crate::model::ids::GameId;
use crate::operations::webhooks::tests::receiver;
use crate::protocol::server::ServerMessage;
use crate::testing::{Client, hello};

impl TestDaemon {
    /// A connected bot, and the key of what its owner has sent to an address.
    async fn bot_told_of_at(&self, receiver: SocketAddr) -> (Client, String) {
        let ada = self.add("Ada", PlayerKind::Human, None).await;
        let session = self.services.accounts.open_session(&ada.id, Device::default()).await.unwrap().secret;
        let body = json!({ "url": format!("http://{receiver}/") }).to_string();
        let (address, length, cookie) = (self.address, body.len(), session.expose());
        let request = format!(
            "PUT /api/v1/account/webhook HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n\
             Cookie: fourfold={cookie}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let set: Value = serde_json::from_str(body_of(&answer)).unwrap();
        let six = self.add("six", PlayerKind::Bot, Some(ada.id)).await;
        let token = self.services.accounts.new_token(&six.id).await.unwrap().secret;
        let bot = Client::new(self.open(Credential::Token(token), hello()).await.unwrap());
        (bot, set["secret"].as_str().unwrap().to_owned())
    }
}

fn body_of(message: &str) -> &str {
    message.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{message}")).1
}

fn header<'m>(message: &'m str, name: &str) -> &'m str {
    message.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{message}"))
}

/// Plays a bot of the house until it has moved, and resigns.
async fn lose(bot: &mut Client) -> GameId {
    let time = r#""time": {"bank_ms": 60000, "increment_ms": 0, "move_ms": null}"#;
    say(bot, &format!(r#"{{"type": "play_bot", "bot": "random", {time}}}"#)).await;
    for _ in 0..6_000 {
        for message in bot.hear() {
            match message {
                ServerMessage::Turn(turn) if turn.ply < 2 => {
                    bot.play(&turn.game, turn.ply, column(&turn)).await;
                }
                ServerMessage::Turn(turn) => bot.resign(&turn.game).await,
                ServerMessage::GameEnd(end) => return end.game,
                ServerMessage::Error(error) => panic!("{error:?}"),
                _ => {}
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the game does not end");
}

#[tokio::test]
async fn a_game_of_a_bot_is_told_to_its_owner_by_a_signed_message() {
    let mut config = quiet();
    config.webhooks.enabled = true;
    config.webhooks.networks = vec!["127.0.0.1".parse().unwrap()];
    let daemon = TestDaemon::start(config).await;
    let (address, mut heard) = receiver(&["204 No Content"]).await;
    let (mut bot, secret) = daemon.bot_told_of_at(address).await;
    let game = lose(&mut bot).await;
    let message = heard.recv().await.unwrap();
    let told: Value = serde_json::from_str(body_of(&message)).unwrap();
    assert_eq!(told["type"], "game_end");
    let data = &told["data"];
    assert_eq!(
        (&data["bot"], &data["opponent"], &data["game"]),
        (&json!("six"), &json!("random"), &json!(game))
    );
    assert_eq!((&data["result"], &data["reason"]), (&json!("lost"), &json!("resign")));
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let (id, at) = (header(&message, "webhook-id: "), header(&message, "webhook-timestamp: "));
    let signed = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    let signed = signed.chain_update(format!("{id}.{at}.{}", body_of(&message))).finalize().into_bytes();
    assert_eq!(header(&message, "webhook-signature: "), format!("v1,{}", STANDARD.encode(signed)));
    bot.leave().await;
    daemon.check_sound().await;
}
