//! Play Connect Four on a Fourfold server: write a function from a [`Turn`] to a column, and call [`run`].
//!
//! A turn holds the whole position, comes again after a reconnect, and may be answered twice without harm; so nothing
//! that is sent is queued here. One task speaks with the server, every turn is thought about on a thread of its own.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_tungstenite::tungstenite::{Error, Message, client::IntoClientRequest, http::HeaderValue};

/// Close codes after which another attempt cannot help: credentials, banned, version, replaced.
const LASTING: [u16; 4] = [4401, 4403, 4406, 4409];
/// Waits between attempts to connect: the first, and the longest.
const RETRY: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// Games that one challenge asks for, the `id` of our own, and how long until a busy opponent is asked again.
const SERIES_MAX: usize = 100;
const CHALLENGE: &str = "challenge";
const ASK_AGAIN: Duration = Duration::from_secs(3);

/// The state from which a column is chosen.
#[derive(Clone, Debug, Deserialize)]
pub struct Turn {
    pub game: String,
    /// Stones on the board, and the moves that put them there: one base-36 digit a column, from 1.
    pub ply: u64,
    pub moves: String,
    /// The columns that may be played, from 1.
    pub legal: Vec<u8>,
    /// The hard limit for this move, and the round trip that it includes, in milliseconds.
    pub budget_ms: u64,
    pub network_ms: u64,
    /// As `WxH` or `WxHxK`.
    pub variant: String,
}

impl Turn {
    /// The legal columns, the most central first.
    pub fn centre_first(&self) -> Vec<u8> {
        let width: i32 = self.variant.split('x').next().and_then(|text| text.parse().ok()).unwrap_or(7);
        let mut columns = self.legal.clone();
        columns.sort_by_key(|column| (2 * i32::from(*column) - width - 1).abs());
        columns
    }
}

/// A column, and the thought behind it for the bot's owner: `score`, `depth`, `nodes`, `pv`, `note`, or null.
#[derive(Clone, Debug)]
pub struct Choice(pub u8, pub Value);

impl From<u8> for Choice {
    fn from(column: u8) -> Self {
        Self(column, Value::Null)
    }
}

/// How the bot presents itself. Address and token come from `FOURFOLD_URL` and `FOURFOLD_TOKEN`.
#[derive(Clone, Debug)]
pub struct Settings {
    pub name: String,
    /// The page of the bot sums games up by version, so raise it when the bot plays differently.
    pub version: String,
    pub url: String,
    pub token: String,
    /// On the ladder and in the directory; otherwise only its owner can challenge it.
    pub open: bool,
    /// Stop after so many.
    pub games: Option<usize>,
    /// Asks this player for all of its games, a minute and half a second a move each, and stays off the ladder.
    pub opponent: Option<String>,
    /// Whether the games with that player are rated.
    pub rated: bool,
}

impl Settings {
    pub fn new(name: &str, version: &str) -> Self {
        let url = std::env::var("FOURFOLD_URL").unwrap_or_else(|_| "ws://127.0.0.1:4444".into());
        let token = std::env::var("FOURFOLD_TOKEN").unwrap_or_default();
        let (name, version) = (name.into(), version.into());
        Self { name, version, url, token, open: true, games: None, opponent: None, rated: false }
    }
}

/// Plays until Ctrl-C, which finishes the games under way, or through the games that the settings name.
///
/// # Errors
///
/// The server will not have the bot; the words say why.
pub async fn run<C: Into<Choice>>(
    choose: impl Fn(&Turn) -> C + Send + Sync + 'static,
    settings: Settings,
) -> Result<(), String> {
    let choose = Arc::new(move |turn: &Turn| choose(turn).into());
    let mut bot = Bot { choose, settings, ..Bot::default() };
    let mut wait = RETRY.0;
    while !(bot.draining && bot.games.is_empty()) {
        let ended = bot.connection().await;
        if let Some(why) = bot.refusal {
            return Err(why);
        }
        match ended {
            Ok(Some((code, why))) if LASTING.contains(&code) => {
                return Err(format!("closed with {code}: {why}"));
            }
            Ok(Some((1000, _))) if bot.draining => break,
            Ok(_) => wait = RETRY.0,
            Err(error) => match lasting(&error) {
                Some(why) => return Err(why),
                None => eprintln!("connection lost: {error}"),
            },
        }
        sleep(wait).await;
        wait = RETRY.1.min(2 * wait);
    }
    Ok(())
}

/// What came of a game for one side, in words.
fn outcome(result: &Value, side: &Value, reason: &Value) -> String {
    let result = match result.as_str() {
        Some("first" | "second") if result == side => "won",
        Some("first" | "second") => "lost",
        Some(other) => other,
        None => "over",
    };
    format!("{result} ({})", reason.as_str().unwrap_or("for no reason"))
}

/// Why another attempt would fail as well: an address that makes no sense, a server that will not have us, or one whose
/// certificate nobody vouches for.
fn lasting(error: &Error) -> Option<String> {
    match error {
        Error::Http(answer) if answer.status() == 401 => Some("the token is refused".into()),
        Error::Http(answer) if answer.status().is_success() || answer.status().is_client_error() => {
            (answer.status() != 429).then(|| format!("the server answered {}", answer.status()))
        }
        Error::Url(_) | Error::HttpFormat(_) | Error::Tls(_) => Some(error.to_string()),
        // A handshake that fails by its certificate comes as an error of reading.
        Error::Io(inner) if inner.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => {
            Some(format!("no TLS: {inner}; SSL_CERT_FILE can name a file with the authority's certificate"))
        }
        _ => None,
    }
}

struct Bot {
    choose: Arc<dyn Fn(&Turn) -> Choice + Send + Sync>,
    settings: Settings,
    /// The ply that was asked for last in each game, and our answer once there is one.
    games: HashMap<String, (Option<u64>, Option<Choice>)>,
    /// Our side in each.
    sides: HashMap<String, Value>,
    thinking: JoinSet<(Turn, Choice)>,
    /// What resumes the session; null before there is one.
    session: Value,
    started: usize,
    draining: bool,
    /// Games of our challenge that have not begun, while it stands.
    owed: usize,
    /// When to ask the opponent again.
    ask_at: Option<Instant>,
    /// Why the opponent does not play.
    refusal: Option<String>,
}

impl Default for Bot {
    fn default() -> Self {
        let (games, sides, thinking) = (HashMap::new(), HashMap::new(), JoinSet::new());
        let (choose, settings) = (Arc::new(|turn: &Turn| turn.legal[0].into()), Settings::new("", ""));
        let (session, ask_at, refusal) = (Value::Null, None, None);
        let (started, owed, draining) = (0, 0, false);
        Self { choose, settings, games, sides, thinking, session, started, draining, owed, ask_at, refusal }
    }
}

impl Bot {
    /// One connection from its beginning to its end, which may come with a code.
    async fn connection(&mut self) -> Result<Option<(u16, String)>, Error> {
        let url = self.settings.url.trim_end_matches('/');
        let url = url.strip_prefix("http").map_or_else(|| url.to_owned(), |rest| format!("ws{rest}"));
        let path = if url.matches('/').count() > 2 { "" } else { "/api/v1/socket" };
        let mut request = format!("{url}{path}").into_client_request()?;
        request.headers_mut().insert("Sec-WebSocket-Protocol", HeaderValue::from_static("fourfold.v1"));
        let (mut socket, _) = tokio_tungstenite::connect_async(request).await?;
        socket.send(Message::text(self.hello().to_string())).await?;
        let mut silence_max = Duration::from_secs(10);
        loop {
            let answer = tokio::select! {
                frame = timeout(silence_max, socket.next()) => match frame {
                    Err(_) | Ok(None) => return Ok(None),
                    Ok(Some(frame)) => match frame? {
                        Message::Close(why) => return Ok(why.map(|why| (why.code.into(), why.reason.to_string()))),
                        Message::Text(frame) => {
                            let message: Value = serde_json::from_str(&frame).unwrap_or_default();
                            if let Some(heartbeat) = message["heartbeat_ms"].as_u64() {
                                silence_max = Duration::from_millis(heartbeat * 5 / 2);
                            }
                            self.take(&message)
                        }
                        _ => None,
                    },
                },
                () = sleep_until(self.ask_at.unwrap_or_else(Instant::now)), if self.ask_at.is_some() => self.ask(),
                Some(Ok((turn, choice))) = self.thinking.join_next() => self.answer(turn, choice),
                _ = tokio::signal::ctrl_c() => {
                    if self.draining { std::process::exit(130) }
                    self.drain()
                }
            };
            if self.refusal.is_some() {
                return Ok(None);
            }
            if let Some(answer) = answer {
                socket.send(Message::text(answer.to_string())).await?;
            }
        }
    }

    fn hello(&self) -> Value {
        let Settings { name, version, token, open, opponent, .. } = &self.settings;
        let open = *open && opponent.is_none() && !self.draining;
        json!({
            "type": "hello", "protocol": 1, "token": token, "client": { "name": name, "version": version },
            "bot": { "version": version, "language": "Rust" }, "open": open, "resume": self.session,
        })
    }

    fn drain(&mut self) -> Option<Value> {
        self.draining = true;
        Some(json!({ "type": "bye", "drain": true }))
    }

    /// What a message leads to. Unknown types are ignored, as the protocol asks.
    fn take(&mut self, message: &Value) -> Option<Value> {
        if !self.session.is_null() && message["seq"].is_u64() {
            self.session["seq"] = message["seq"].clone();
        }
        let game = message["game"].as_str().unwrap_or_default();
        match message["type"].as_str()? {
            "welcome" => {
                if message["resumed"] != true {
                    self.games.clear(); // those that live are told again
                    self.owed = 0;
                }
                let [session, secret, seq] = ["session", "secret", "seq"].map(|key| &message[key]);
                self.session = json!({ "session": session, "secret": secret, "seq": seq });
                if self.draining { self.drain() } else { None }
            }
            "ping" => Some(json!({ "type": "pong", "n": message["n"] })),
            "synced" | "challenge" | "challenge_end" => self.take_offer(message),
            "game" if message["you"].is_string() && message["status"] == "live" => {
                self.sides.insert(game.to_owned(), message["you"].clone());
                self.start(game)
            }
            "turn" => self.think(Turn::deserialize(message).ok()?),
            "game_end" | "game" => {
                self.games.remove(game)?;
                let side = self.sides.remove(game).unwrap_or_default();
                println!("{game}: {}", outcome(&message["result"], &side, &message["reason"]));
                self.ask()
            }
            "notice" => {
                eprintln!("notice: {} in {} ms", message["code"], message["in_ms"]);
                None
            }
            "error" if message["re"] == CHALLENGE => self.take_offer(message),
            "error" => {
                eprintln!("refused: {message}");
                None
            }
            _ => None,
        }
    }

    /// What is said of challenges, ours and others'.
    fn take_offer(&mut self, message: &Value) -> Option<Value> {
        match message["type"].as_str()? {
            "synced" if self.started == 0 => self.ask(),
            "synced" => {
                self.ask_at = Some(Instant::now() + ASK_AGAIN); // the games of before may go on by themselves
                None
            }
            "challenge" if message["re"].is_null() && !self.draining => {
                let answer = if self.settings.opponent.is_none() { "accept" } else { "decline" };
                Some(json!({ "type": answer, "challenge": message["challenge"] }))
            }
            "challenge_end" if self.owed > 0 && self.games.is_empty() && message["how"] != "accepted" => {
                let why = message["reason"].as_str().or(message["how"].as_str()).unwrap_or_default();
                self.not_taken(why, ["later", "busy"].contains(&why))
            }
            "error" => {
                let why = message["message"].as_str().unwrap_or_default();
                self.not_taken(why, message["retry_ms"].is_u64())
            }
            _ => None,
        }
    }

    /// Challenges the opponent of the settings, unless games go on, or are still to come.
    fn ask(&mut self) -> Option<Value> {
        self.ask_at = None;
        let Settings { opponent: Some(opponent), games, rated, .. } = &self.settings else { return None };
        if self.draining || !self.games.is_empty() || self.owed > 0 {
            return None;
        }
        let left = games.map_or(SERIES_MAX, |games| games.saturating_sub(self.started)).min(SERIES_MAX);
        self.owed = if left > 1 { left - left % 2 } else { 1 }; // the protocol has one game, or pairs
        let mut ask = json!({
            "type": "challenge", "id": CHALLENGE, "to": opponent, "rated": rated, "games": self.owed,
            "time": { "bank_ms": 60_000, "increment_ms": 500, "move_ms": null },
        });
        if self.owed > 1 {
            // Drawn positions, with both colours: two bots that draw no lots would repeat themselves.
            ask["opening"] = json!({ "kind": "balanced" });
        }
        Some(ask)
    }

    fn not_taken(&mut self, why: &str, in_time: bool) -> Option<Value> {
        self.owed = 0;
        if in_time {
            self.ask_at = Some(Instant::now() + ASK_AGAIN);
        } else {
            self.refusal = Some(format!(
                "{} does not play: {why}",
                self.settings.opponent.as_deref().unwrap_or_default()
            ));
        }
        None
    }

    /// Drains with the last game's beginning and not after its end, or the server might start one too many.
    fn start(&mut self, game: &str) -> Option<Value> {
        if self.games.contains_key(game) {
            return None;
        }
        self.games.insert(game.to_owned(), (None, None));
        self.started += 1;
        self.owed = self.owed.saturating_sub(1);
        if self.settings.games == Some(self.started) { self.drain() } else { None }
    }

    /// Begins to think, unless that is under way; a turn that comes again gets its answer again.
    fn think(&mut self, turn: Turn) -> Option<Value> {
        let known = self.games.entry(turn.game.clone()).or_default();
        if known.0 == Some(turn.ply) {
            let choice = known.1.clone()?;
            return self.answer(turn, choice);
        }
        *known = (Some(turn.ply), None);
        let choose = Arc::clone(&self.choose);
        self.thinking.spawn_blocking(move || {
            let chosen = catch_unwind(AssertUnwindSafe(|| choose(&turn)));
            // A bug costs a move and not the game.
            let is_legal = |choice: &Choice| turn.legal.contains(&choice.0);
            let choice = chosen.ok().filter(is_legal).unwrap_or_else(|| {
                eprintln!("no legal column was chosen after {:?}", turn.moves);
                turn.centre_first()[0].into()
            });
            (turn, choice)
        });
        None
    }

    fn answer(&mut self, turn: Turn, choice: Choice) -> Option<Value> {
        let known = self.games.get_mut(&turn.game).filter(|known| known.0 == Some(turn.ply))?;
        known.1 = Some(choice.clone());
        let Choice(column, info) = choice;
        let mut answer = json!({ "type": "move", "game": turn.game, "ply": turn.ply, "column": column });
        if !info.is_null() {
            answer["info"] = info;
        }
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_game_says_who_won() {
        let [first, second, draw] = ["first", "second", "draw"].map(Value::from);
        assert_eq!(outcome(&first, &first, &"four".into()), "won (four)");
        assert_eq!(outcome(&first, &second, &"time".into()), "lost (time)");
        assert_eq!(outcome(&draw, &second, &"full".into()), "draw (full)");
    }
}
