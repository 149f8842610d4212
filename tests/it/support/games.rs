//! Games between clients.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Client, advance, merge};

/// A minute each, nothing more.
pub(crate) fn blitz() -> Value {
    time(60_000, 0)
}

/// A bank and an increment.
pub(crate) fn time(bank_ms: u32, increment_ms: u32) -> Value {
    json!({"bank_ms": bank_ms, "increment_ms": increment_ms, "move_ms": null})
}

/// A limit for each move only.
pub(crate) fn per_move(move_ms: u32) -> Value {
    json!({"bank_ms": null, "increment_ms": 0, "move_ms": move_ms})
}

/// A game under way and both its players.
pub(crate) struct Pair<'a> {
    pub(crate) game: String,
    pub(crate) first: &'a mut Client,
    pub(crate) second: &'a mut Client,
}

/// Starts a game by a challenge; `first` moves first. Both have had their `game`, the first `turn` has not been read.
pub(crate) async fn pair_up<'a>(first: &'a mut Client, second: &'a mut Client, terms: Value) -> Pair<'a> {
    let mut challenge = json!({
        "type": "challenge", "to": second.name(), "time": blitz(), "rated": false, "side": "first",
    });
    merge(&mut challenge, terms);
    let offer = first.ask(challenge).await;
    assert_eq!(offer["type"], "challenge", "{offer}");
    let id = offer["challenge"].clone();
    second.find(|message| message["type"] == "challenge" && message["challenge"] == id).await;
    let end = second.ask(json!({"type": "accept", "challenge": id})).await;
    assert_eq!((&end["type"], &end["how"]), (&json!("challenge_end"), &json!("accepted")), "{end}");
    let game = first.until("game").await["game"].as_str().unwrap().to_owned();
    second.find(|message| message["type"] == "game" && message["game"] == *game).await;
    Pair { game, first, second }
}

impl Pair<'_> {
    /// Whose turn it is after so many stones.
    fn mover(&mut self, ply: usize) -> &mut Client {
        if ply.is_multiple_of(2) { self.first } else { self.second }
    }

    /// A move.
    pub(crate) fn stone(&self, ply: usize, column: u32) -> Value {
        json!({"type": "move", "game": self.game, "ply": ply, "column": column})
    }

    /// Something else about the game.
    pub(crate) fn about(&self, kind: &str) -> Value {
        json!({"type": kind, "game": self.game})
    }

    /// Plays these columns from the empty board; both have heard of each. Gives the last `moved`.
    pub(crate) async fn play(&mut self, columns: &str) -> Value {
        self.play_from(0, columns).await
    }

    /// Plays these columns when so many stones are on the board.
    pub(crate) async fn play_from(&mut self, ply: usize, columns: &str) -> Value {
        let mut last = Value::Null;
        for (index, digit) in columns.chars().enumerate() {
            let ply = ply + index;
            let stone = self.stone(ply, digit.to_digit(36).unwrap());
            let game = self.game.clone();
            let is_turn = |message: &Value| {
                message["type"] == "turn" && message["game"] == *game && message["ply"] == ply
            };
            self.mover(ply).find(is_turn).await;
            last = self.mover(ply).ask(stone).await;
            assert_eq!(last["type"], "moved", "{last}");
            self.mover(ply + 1).until("moved").await;
        }
        last
    }

    /// Ends the game by resigning; both have heard of it. Gives `game_end`.
    pub(crate) async fn resign_first(&mut self) -> Value {
        let resign = self.about("resign");
        let end = self.first.ask(resign).await;
        assert_eq!(end["type"], "game_end", "{end}");
        self.second.until("game_end").await;
        end
    }
}

/// Lets a house bot think, in real time, and take the time that a person needs to follow. Gives its move.
pub(crate) async fn house_bot_moves(client: &mut Client) -> Value {
    for _ in 0..20 {
        advance(Duration::from_millis(400)).await;
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(50) {
            tokio::task::yield_now().await;
            client.take_what_has_come();
            if client.has("moved") {
                return client.until("moved").await;
            }
        }
    }
    panic!("the bot does not move");
}

/// Lets both clients answer every turn with the first legal column until `games` have ended, and gives the ends.
pub(crate) async fn play_out(a: &mut Client, b: &mut Client, games: usize) -> Vec<Value> {
    let mut ends = Vec::new();
    while ends.len() < games {
        let message = tokio::select! {
            message = a.next() => (true, message),
            message = b.next() => (false, message),
        };
        let (is_a, message) = message;
        match message["type"].as_str().unwrap() {
            "turn" => {
                let stone = json!({
                    "type": "move", "game": message["game"], "ply": message["ply"], "column": message["legal"][0],
                });
                if is_a { a.say(&stone) } else { b.say(&stone) }
            }
            "game_end" if is_a => ends.push(message),
            _ => {}
        }
    }
    ends
}
