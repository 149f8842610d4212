//! One client: what it knows, what it says, and what it makes of what it hears.
//!
//! It is plain data. The run hands it what its connection brought and sends what it says; so it outlives connections
//! and processes of the daemon alike.

use std::collections::BTreeMap;

use fourfold::model::ids::GameId;
use fourfold::session::port::Credential;
use fourfold_engine::{Game, Variant};
use serde_json::{Value, json};

use crate::defect::Defect;
use crate::net::Link;
use crate::plan::{Habits, Kind, MoveSort, Word};
use crate::witness::Witness;

/// How much earlier than it was promised a flag may seem to fall: messages are under way.
const LATENCY_MS: u64 = 3_500;

/// What both sides get after a restart (`docs/protocol.md`, section 7).
const RESTART_BONUS_MS: u64 = 10_000;

/// What a client keeps to go on elsewhere.
#[derive(Clone, Debug)]
struct SessionKey {
    id: String,
    secret: String,
    seq: u64,
}

/// A turn that was asked for.
#[derive(Clone, Debug)]
struct OpenTurn {
    ply: u32,
    legal: Vec<u8>,
    /// When the flag falls, by what the turn said; nothing if that was said at another time.
    promised_until_ms: Option<u64>,
}

/// A game as the client has seen it.
#[derive(Clone, Debug, Default)]
struct SeenGame {
    /// Its own side; none if it watches.
    side: Option<String>,
    moves: String,
    event_seq: u64,
    is_over: bool,
    turn: Option<OpenTurn>,
    /// The last move it sent.
    sent: Option<(u32, u8)>,
    /// How often this session was told the end.
    ends_heard: u32,
    /// How often it may be told again: a daemon that was away cannot know what arrived before.
    ends_excused: u32,
    /// Whether this session has seen it going on.
    was_live_here: bool,
    /// Whether this connection was told anything of it.
    is_shown: bool,
    /// When it may be claimed, by the run's clock.
    claim_at_ms: Option<u64>,
    /// What each side has left as of `event_seq`, as it was told last.
    clock: [u64; 2],
    /// When that was, and for how long the daemon has been down since.
    clock_at_ms: u64,
    down_ms: u64,
}

impl SeenGame {
    /// Only the clock of the side to move runs, and only while the daemon does.
    fn clock_fault(&self, snapshot: &Value, event_seq: u64, now_ms: u64) -> Option<String> {
        if event_seq != self.event_seq
            || self.moves.is_empty()
            || self.is_over
            || snapshot["status"] != "live"
        {
            return None;
        }
        let now = clock(snapshot);
        let up_ms = now_ms.saturating_sub(self.clock_at_ms).saturating_sub(self.down_ms);
        // What a restart gives is written with the next move. A kill before it takes that back, and the start after the
        // kill gives it again: once the clocks run.
        let to_come = if snapshot["frozen_ms"].is_u64() { RESTART_BONUS_MS } else { 0 };
        let is_wrong = |side: usize| {
            let runs = snapshot["to_move"].as_str() == Some(["first", "second"][side]);
            now[side] + to_come + if runs { up_ms + LATENCY_MS } else { 0 } < self.clock[side]
        };
        (is_wrong(0) || is_wrong(1))
            .then(|| format!("the clocks {:?} became {now:?}: {snapshot}", self.clock))
    }

    /// `since_ms` is the earliest moment at which it can have been said.
    fn set_clock(&mut self, message: &Value, since_ms: u64) {
        (self.clock, self.clock_at_ms, self.down_ms) = (clock(message), since_ms, 0);
    }
}

/// One client.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) habits: Habits,
    pub(crate) credential: Credential,
    /// Where challenges reach it.
    pub(crate) name: String,
    pub(crate) link: Option<Link>,
    id: Option<String>,
    session: Option<SessionKey>,
    /// Whether this connection has been welcomed.
    is_welcome: bool,
    pub(crate) is_synced: bool,
    games: BTreeMap<GameId, SeenGame>,
    offers: Vec<String>,
    own_offers: Vec<String>,
    /// What is said about clocks until then was meant for an earlier time.
    clocks_excused_until_ms: u64,
    /// When it last heard something that was meant for that moment. Whoever comes back is first told again what was
    /// said since, and what was under way in a standstill is heard after it.
    in_touch_at_ms: u64,
    /// A move to make, and when.
    due: BTreeMap<GameId, u64>,
    /// Everything is to come to an end: turns are answered whatever its habits.
    pub(crate) is_eager: bool,
    defect: Option<Defect>,
}

impl Client {
    pub(crate) fn new(habits: Habits, defect: Option<Defect>) -> Self {
        Self {
            habits,
            credential: Credential::None,
            name: String::new(),
            link: None,
            id: None,
            session: None,
            is_welcome: false,
            is_synced: false,
            games: BTreeMap::new(),
            offers: Vec::new(),
            own_offers: Vec::new(),
            clocks_excused_until_ms: 0,
            in_touch_at_ms: 0,
            due: BTreeMap::new(),
            is_eager: false,
            defect,
        }
    }

    // ---- connections ----

    /// A new connection: what it says first.
    pub(crate) fn greet(&mut self, link: Link) {
        let mut hello = json!({
            "type": "hello", "protocol": 1, "client": {"name": "simulation", "version": "0"}, "open": true,
        });
        if let Some(SessionKey { id, secret, seq }) = &self.session {
            hello["resume"] = json!({"session": id, "secret": secret, "seq": seq});
        }
        self.is_welcome = false;
        self.is_synced = false;
        link.say(hello.to_string());
        self.link = Some(link);
    }

    /// Its next session will have nothing to do with this one.
    pub(crate) fn forget_session(&mut self) {
        self.session = None;
    }

    /// The daemon is gone for so long, and with it the connection.
    pub(crate) fn lose_daemon(&mut self, down_ms: u64) {
        self.cut();
        for game in self.games.values_mut() {
            game.down_ms += down_ms;
            game.ends_excused = 1;
        }
    }

    pub(crate) fn cut(&mut self) {
        self.link = None;
        self.is_synced = false;
        self.due.clear();
        self.games.values_mut().for_each(|game| game.turn = None);
    }

    pub(crate) fn say(&self, message: &Value) {
        if self.defect == Some(Defect::LostSeek) && message["type"] == "seek" {
            return;
        }
        if let Some(link) = self.link.as_ref().filter(|_| self.is_welcome) {
            link.say(message.to_string());
        }
    }

    // ---- what it does ----

    /// When it does something by itself.
    pub(crate) fn next_due_ms(&self) -> Option<u64> {
        self.due.values().min().copied()
    }

    /// Makes the moves that are due.
    pub(crate) fn answer_due(&mut self, now_ms: u64, witness: &mut Witness) {
        let due: Vec<GameId> =
            self.due.iter().filter(|(_, at)| **at <= now_ms).map(|(game, _)| game.clone()).collect();
        for game in due {
            self.due.remove(&game);
            self.play(&game, MoveSort::Legal, now_ms, witness);
        }
    }

    pub(crate) fn make_move(&mut self, sort: MoveSort, draw: u64, witness: &mut Witness) {
        let wants = |game: &SeenGame| match sort {
            MoveSort::Legal | MoveSort::Illegal => game.turn.is_some(),
            MoveSort::Repeated | MoveSort::Changed => game.sent.is_some(),
            MoveSort::Early => game.side.is_some() && !game.is_over,
        };
        if let Some(game) = self.pick(draw, wants) {
            self.play(&game, sort, draw / 7, witness);
        }
    }

    fn play(&mut self, id: &GameId, sort: MoveSort, draw: u64, witness: &mut Witness) {
        let Some(game) = self.games.get_mut(id) else { return };
        let (ply, column) = match (sort, &game.turn, game.sent) {
            (MoveSort::Legal, Some(turn), _) => {
                let Some(column) = choose(draw, &turn.legal) else { return };
                // Asked again, as after a restart: the same answer is safe whatever became of the first.
                let before = game.sent.filter(|(ply, _)| *ply == turn.ply).map(|(_, column)| column);
                (turn.ply, before.unwrap_or(*column))
            }
            (MoveSort::Illegal, Some(turn), _) => (turn.ply, 9),
            (MoveSort::Repeated, _, Some(sent)) => sent,
            (MoveSort::Changed, _, Some((ply, column))) => (ply, column % 7 + 1),
            (MoveSort::Early, ..) => (u32::try_from(game.moves.len()).unwrap_or(0) + 2, 4),
            _ => return,
        };
        if self.link.is_none() || !self.is_welcome {
            return;
        }
        if sort == MoveSort::Legal {
            game.sent = Some((ply, column));
            game.turn = None;
        }
        witness.sending(id, ply, column);
        self.say(&json!({"type": "move", "game": id, "ply": ply, "column": column}));
    }

    pub(crate) fn speak(&self, word: Word, draw: u64) {
        let plays = |game: &SeenGame| game.side.is_some();
        let lives = |game: &SeenGame| plays(game) && !game.is_over;
        let (game, kind, yes) = match word {
            Word::Resign => (self.pick(draw, lives), "resign", None),
            Word::Abort => (self.pick(draw, lives), "abort", None),
            Word::Rematch => (self.pick(draw, |game| plays(game) && game.is_over), "rematch", None),
            Word::Claim => (self.pick(draw, lives), "claim", None),
            Word::Sync => (self.pick(draw, |_| true), "sync", None),
            Word::Takeback => (self.pick(draw, lives), "takeback", None),
            Word::Agree => (self.pick(draw, lives), "takeback_answer", Some(true)),
            Word::Disagree => (self.pick(draw, lives), "takeback_answer", Some(false)),
            Word::React => (self.pick(draw, plays), "react", None),
        };
        let Some(game) = game else { return };
        let mut message = json!({"type": kind, "game": game, "id": kind});
        if let Some(yes) = yes {
            message["yes"] = json!(yes);
        }
        if word == Word::React {
            message["emoji"] = json!("👍");
        }
        self.say(&message);
    }

    /// Answers an offer that somebody made, or takes one of its own back.
    pub(crate) fn answer_offer(&self, kind: &str, draw: u64) {
        let offers = if kind == "cancel" { &self.own_offers } else { &self.offers };
        if let Some(offer) = choose(draw, offers) {
            self.say(&json!({"type": kind, "challenge": offer}));
        }
    }

    fn pick(&self, draw: u64, wanted: impl Fn(&SeenGame) -> bool) -> Option<GameId> {
        // The latest are what something still happens in.
        let games: Vec<&GameId> =
            self.games.iter().filter(|(_, game)| wanted(game)).map(|(id, _)| id).collect();
        choose(draw, &games).map(|id| (*id).clone())
    }

    /// Claims the games whose opponents have been away for too long.
    pub(crate) fn claim_due(&mut self, now_ms: u64) {
        for (id, game) in &mut self.games {
            if game.claim_at_ms.is_some_and(|at| at <= now_ms) && !game.is_over {
                game.claim_at_ms = None;
                if let Some(link) = &self.link {
                    link.say(json!({"type": "claim", "game": id}).to_string());
                }
            }
        }
    }

    // ---- what it hears ----

    /// Reads a message; `now_ms` is the run's clock.
    pub(crate) fn hear(&mut self, text: &str, now_ms: u64, witness: &mut Witness) {
        let mut message: Value = match serde_json::from_str(text) {
            Ok(message) => message,
            Err(error) => return witness.fault(format!("{}: {error} in {text}", self.name)),
        };
        let kind = message["type"].as_str().unwrap_or_default().to_owned();
        let kind = kind.as_str();
        if self.defect == Some(Defect::LostMessage) && kind == "moved" && now_ms.is_multiple_of(5) {
            return;
        }
        if self.defect == Some(Defect::LostTime) && kind == "game" && !self.is_synced {
            for side in ["first", "second"] {
                message["clock"][side] = json!(number(&message["clock"][side]).saturating_sub(15_000));
            }
        }
        if self.defect == Some(Defect::EarlyFlag) && kind == "turn" {
            message["budget_ms"] = json!(number(&message["budget_ms"]) + 30_000);
        }
        let times = match (self.defect, kind) {
            (Some(Defect::UntoldEnd), "game_end") => 0,
            (Some(Defect::TwiceToldEnd), "game_end") => 2,
            _ => 1,
        };
        self.count(&message, now_ms, witness);
        witness.see("heard", kind);
        for field in ["code", "reason", "how", "unrated_because"] {
            if let Some(value) = message[field].as_str() {
                witness.see(kind, format_args!("{field} {value}"));
            }
        }
        if self.is_synced && now_ms > self.clocks_excused_until_ms {
            self.in_touch_at_ms = now_ms;
        }
        for _ in 0..times {
            self.take(kind, &message, now_ms, witness);
        }
    }

    /// Messages of a session are numbered without a hole, over all its connections.
    fn count(&mut self, message: &Value, now_ms: u64, witness: &mut Witness) {
        let seq = number(&message["seq"]);
        if seq == 0 {
            return; // a refusal before there is a session
        }
        if message["type"] == "welcome" {
            // Turns that are told again have begun earlier than they are heard.
            self.clocks_excused_until_ms = now_ms + LATENCY_MS;
            return self.welcome(message, seq, witness);
        }
        let Some(session) = &mut self.session else {
            return witness.fault(format!("{}: {message} without a session", self.name));
        };
        if seq != session.seq + 1 {
            witness.fault(format!("{}: after message {} came {message}", self.name, session.seq));
        }
        session.seq = seq;
    }

    fn welcome(&mut self, message: &Value, seq: u64, witness: &mut Witness) {
        let is_resumed = message["resumed"] == true;
        witness.see("welcome", if is_resumed { "back" } else { "afresh" });
        let due = if is_resumed { self.session.as_ref().map_or(0, |session| session.seq) } else { 1 };
        if seq != due {
            witness.fault(format!("{}: welcome has number {seq}, due was {due}", self.name));
        }
        if is_resumed {
            witness.figures.resumed += 1;
        } else {
            for game in self.games.values_mut() {
                (game.ends_heard, game.was_live_here) = (0, false);
            }
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let you = text(&message["you"]["id"]);
        if self.id.as_ref() != Some(&you) {
            // A guest that is somebody else now: the games of the other are not its own any more.
            self.games.clear();
        }
        self.id = Some(you);
        self.name = text(&message["you"]["name"]);
        self.session =
            Some(SessionKey { id: text(&message["session"]), secret: text(&message["secret"]), seq });
        self.is_welcome = true;
        self.games.values_mut().for_each(|game| game.is_shown = false);
        self.offers.clear();
        self.own_offers.clear();
    }

    fn take(&mut self, kind: &str, message: &Value, now_ms: u64, witness: &mut Witness) {
        match kind {
            "game" => self.take_snapshot(message, now_ms, witness),
            "turn" => self.take_turn(message, now_ms),
            "moved" => self.take_moved(message, witness),
            "game_end" => self.take_end(message, now_ms, witness),
            "synced" => self.synced(),
            "challenge" => {
                let id = message["challenge"].as_str().unwrap_or_default().to_owned();
                let is_own = message["from"]["id"].as_str() == self.id.as_deref();
                if is_own { self.own_offers.push(id) } else { self.offers.push(id) }
            }
            "challenge_end" => {
                let id = message["challenge"].as_str();
                self.offers.retain(|offer| Some(offer.as_str()) != id);
                self.own_offers.retain(|offer| Some(offer.as_str()) != id);
            }
            "opponent_gone" => {
                if let Some(game) = game_id(message).and_then(|id| self.games.get_mut(&id)) {
                    game.claim_at_ms = message["claim_ms"].as_u64().map(|ms| now_ms + ms + 10);
                }
            }
            _ => {}
        }
    }

    /// The daemon has told of all games that go on: those that it left out have ended while nobody could be told.
    fn synced(&mut self) {
        self.is_synced = true;
        let left_out = |game: &SeenGame| game.side.is_some() && !game.is_over && !game.is_shown;
        for id in self.games.iter().filter(|(_, game)| left_out(game)).map(|(id, _)| id) {
            self.say(&json!({"type": "sync", "game": id}));
        }
    }

    fn take_snapshot(&mut self, message: &Value, now_ms: u64, witness: &mut Witness) {
        let Some(id) = game_id(message) else { return };
        let (event_seq, moves) =
            (number(&message["event_seq"]), message["moves"].as_str().unwrap_or_default());
        witness.shown(&id, event_seq, moves);
        let said_since_ms = self.in_touch_at_ms;
        let game = self.games.entry(id.clone()).or_default();
        game.is_shown = true;
        if moves.len() < game.moves.len() && event_seq > game.event_seq {
            witness.took_back(&id);
            game.sent = None;
            game.turn = None;
        } else if event_seq < game.event_seq {
            let what = format!("{}: game {id} went back to event {event_seq}", self.name);
            witness.fault(what);
        }
        if let Some(what) = game.clock_fault(message, event_seq, now_ms) {
            witness.fault(format!("{}: game {id} after event {event_seq}: {what}", self.name));
        }
        moves.clone_into(&mut game.moves);
        game.event_seq = event_seq;
        game.set_clock(message, said_since_ms);
        game.side = message["you"].as_str().map(ToOwned::to_owned);
        game.is_over = message["status"] == "over";
        game.was_live_here |= !game.is_over;
        if game.is_over {
            // Whoever asks is told, too.
            game.ends_heard = game.ends_heard.max(1);
            game.turn = None;
            let result = serde_json::from_value(message["result"].clone());
            match result {
                Ok(result) => witness.ended(&id, result, moves),
                Err(error) => witness.fault(format!("game {id}: {error} in {message}")),
            }
        }
    }

    fn take_turn(&mut self, message: &Value, now_ms: u64) {
        let Some(id) = game_id(message) else { return };
        let legal = message["legal"].as_array().into_iter().flatten();
        let is_fresh = self.is_synced && now_ms > self.clocks_excused_until_ms;
        let turn = OpenTurn {
            ply: u32::try_from(number(&message["ply"])).unwrap_or(u32::MAX),
            legal: legal.filter_map(|column| u8::try_from(number(column)).ok()).collect(),
            promised_until_ms: is_fresh.then(|| now_ms + number(&message["budget_ms"])),
        };
        let answers_after_ms = if self.is_eager { Some(20) } else { self.habits.answers_after_ms };
        if let Some(after_ms) = answers_after_ms {
            self.due.insert(id.clone(), now_ms + after_ms);
        }
        let Some(game) = self.games.get_mut(&id) else { return };
        game.turn = Some(turn);
    }

    /// Takes up the turns that wait, as somebody who is in a hurry now.
    pub(crate) fn hurry(&mut self, now_ms: u64) {
        self.is_eager = true;
        for (id, game) in &self.games {
            if game.turn.is_some() {
                self.due.entry(id.clone()).or_insert(now_ms + 20);
            }
        }
    }

    fn take_moved(&mut self, message: &Value, witness: &mut Witness) {
        let Some(id) = game_id(message) else { return };
        let (ply, column) = (number(&message["ply"]), number(&message["column"]));
        let event_seq = number(&message["event_seq"]);
        witness.moved(&id, event_seq, ply, column);
        let said_since_ms = self.in_touch_at_ms;
        let Some(game) = self.games.get_mut(&id) else { return };
        let before = ply.saturating_sub(1);
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        if let (Ok(column), true) = (u8::try_from(column), message["by"].as_str() == game.side.as_deref()) {
            witness.acked(&id, small(before), column);
        }
        game.is_shown = true;
        if event_seq == game.event_seq + 1 {
            let digit = char::from_digit(small(column), 36).unwrap_or('?');
            game.moves.push(digit);
            game.event_seq = event_seq;
            game.set_clock(message, said_since_ms);
            if game.moves.len() as u64 != ply {
                let what = format!("{}: game {id} has {} and ply {ply}", self.name, game.moves);
                witness.fault(what);
            }
            if let Err(error) = Game::from_moves(Variant::STANDARD, &game.moves) {
                witness.fault(format!("game {id}: {error}"));
            }
        } else if event_seq > game.event_seq {
            let what = format!("{}: game {id} jumps from event {}: {message}", self.name, game.event_seq);
            witness.fault(what);
        }
    }

    fn take_end(&mut self, message: &Value, now_ms: u64, witness: &mut Witness) {
        let Some(id) = game_id(message) else { return };
        let moves = message["moves"].as_str().unwrap_or_default();
        match serde_json::from_value(message["result"].clone()) {
            Ok(result) => witness.ended(&id, result, moves),
            Err(error) => return witness.fault(format!("game {id}: {error} in {message}")),
        }
        witness.shown(&id, number(&message["event_seq"]), moves);
        let Some(game) = self.games.get_mut(&id) else { return };
        if game.ends_heard > 0 && game.ends_excused > 0 && !self.is_synced {
            game.ends_excused -= 1;
        } else {
            game.ends_heard += 1;
        }
        if game.ends_heard > 1 {
            let what = format!("{}: was told {} times how game {id} ended", self.name, game.ends_heard);
            witness.fault(what);
        }
        if let Some(until_ms) = game.turn.as_ref().and_then(|turn| turn.promised_until_ms)
            && (message["reason"].as_str(), message["by"].as_str()) == (Some("time"), game.side.as_deref())
            && now_ms + LATENCY_MS < until_ms
        {
            witness.fault(format!("{}: a flag fell at {now_ms} ms, not at {until_ms} ms: {id}", self.name));
        }
        game.is_over = true;
        game.turn = None;
        game.event_seq = number(&message["event_seq"]);
        moves.clone_into(&mut game.moves);
        self.due.remove(&id);
    }

    /// The daemon has stood still: what it promised about clocks before that is void, however late it is heard.
    pub(crate) fn excuse_clocks(&mut self, until_ms: u64) {
        self.clocks_excused_until_ms = until_ms;
        let turns = self.games.values_mut().filter_map(|game| game.turn.as_mut());
        turns.for_each(|turn| turn.promised_until_ms = None);
    }

    // ---- the end ----

    /// Games that it plays and whose end it has not heard.
    pub(crate) fn open_games(&self) -> Vec<GameId> {
        let open = |game: &SeenGame| game.side.is_some() && !game.is_over;
        self.games.iter().filter(|(_, game)| open(game)).map(|(id, _)| id.clone()).collect()
    }

    /// Whether it is connected, and nothing that it plays goes on.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.has_retired() || (self.is_synced && self.open_games().is_empty())
    }

    /// Of a bot's connections the newest alone stays: in the end its others give way.
    pub(crate) fn has_retired(&self) -> bool {
        self.is_eager && self.habits.kind == Kind::Bot && self.habits.same_as.is_some()
    }

    /// Games that this session saw going on and whose end it was not told.
    pub(crate) fn untold_ends(&self) -> Vec<GameId> {
        let untold = |game: &SeenGame| game.side.is_some() && game.was_live_here && game.ends_heard == 0;
        self.games.iter().filter(|(_, game)| untold(game)).map(|(id, _)| id.clone()).collect()
    }
}

fn choose<T>(draw: u64, among: &[T]) -> Option<&T> {
    let count = u64::try_from(among.len()).ok().filter(|count| *count > 0)?;
    among.get(usize::try_from(draw % count).ok()?)
}

fn clock(message: &Value) -> [u64; 2] {
    ["first", "second"].map(|side| number(&message["clock"][side]))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn game_id(message: &Value) -> Option<GameId> {
    message["game"].as_str()?.parse().ok()
}
