//! The least that can be called a server of this game: it checks the rules and passes moves on, and that is all.
//!
//! No accounts, clocks, storage, limits or resumption. It speaks so much of the protocol that a client cannot tell it
//! from the daemon while it plays. What the daemon costs is told as a multiple of what this costs.
//!
//! ```sh
//! cargo run --release --bin relay -- 127.0.0.1:4500
//! ```

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use anyhow::{Context, Result};
use fourfold_engine::{Column, Game, Side, Variant};
use futures::{SinkExt, StreamExt};
use serde::Deserialize;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

/// With the library's own 128 KiB a move costs six times as much.
const BUFFER_BYTES: usize = 4 * 1024;

/// Everything a client may say here: flat, which is read in half the time of a tagged enum.
#[derive(Deserialize)]
struct Said<'a> {
    r#type: &'a str,
    to: Option<&'a str>,
    challenge: Option<&'a str>,
    game: Option<&'a str>,
    ply: Option<u32>,
    column: Option<u8>,
}

type Line = UnboundedSender<Utf8Bytes>;

struct Table {
    game: RefCell<Game>,
    lines: [Line; 2],
    watchers: RefCell<Vec<Line>>,
}

#[derive(Default)]
struct Hall {
    next_id: Cell<u32>,
    lines: RefCell<HashMap<String, Line>>,
    offers: RefCell<HashMap<String, [Line; 2]>>,
    tables: RefCell<HashMap<String, Rc<Table>>>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:4500".to_owned());
    let listener = TcpListener::bind(&address).await.with_context(|| format!("listening on {address}"))?;
    println!("listening on {address}");
    let hall = Rc::new(Hall::default());
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            loop {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                tokio::task::spawn_local(serve(stream, Rc::clone(&hall)));
            }
        })
        .await
}

/// One client, until it goes or says something that makes no sense.
async fn serve(stream: TcpStream, hall: Rc<Hall>) {
    let config = WebSocketConfig::default().read_buffer_size(BUFFER_BYTES).write_buffer_size(BUFFER_BYTES);
    let Ok(socket) = tokio_tungstenite::accept_async_with_config(stream, Some(config)).await else { return };
    let name = format!("p{}", hall.id());
    let (line, inbox) = unbounded_channel();
    hall.lines.borrow_mut().insert(name.clone(), line.clone());
    let _gone = attend(socket, inbox, &line, &name, &hall).await;
    hall.lines.borrow_mut().remove(&name);
}

async fn attend(
    mut socket: WebSocketStream<TcpStream>,
    mut inbox: UnboundedReceiver<Utf8Bytes>,
    line: &Line,
    name: &str,
    hall: &Hall,
) -> Option<()> {
    loop {
        tokio::select! {
            text = inbox.recv() => {
                socket.feed(Message::Text(text?)).await.ok()?;
                while let Ok(text) = inbox.try_recv() {
                    socket.feed(Message::Text(text)).await.ok()?;
                }
                socket.flush().await.ok()?;
            }
            message = socket.next() => if let Message::Text(text) = message?.ok()? {
                let said: Said = serde_json::from_str(&text).ok()?;
                hall.hear(&said, line, name)?;
            },
        }
    }
}

fn say(line: &Line, text: &Utf8Bytes) {
    let _gone = line.send(text.clone());
}

impl Hall {
    fn id(&self) -> u32 {
        self.next_id.set(self.next_id.get() + 1);
        self.next_id.get()
    }

    /// `None` if it makes no sense.
    fn hear(&self, said: &Said<'_>, line: &Line, name: &str) -> Option<()> {
        match said.r#type {
            "hello" => {
                say(line, &format!(r#"{{"type":"welcome","protocol":1,"you":{{"name":"{name}"}}}}"#).into());
                say(line, &r#"{"type":"synced","games":0,"your_turn":[]}"#.into());
            }
            "challenge" => {
                let other = self.lines.borrow().get(said.to?)?.clone();
                let id = format!("c{}", self.id());
                let text = format!(r#"{{"type":"challenge","challenge":"{id}","from":{{"name":"{name}"}}}}"#);
                let lines = [line.clone(), other];
                lines.iter().for_each(|line| say(line, &text.as_str().into()));
                self.offers.borrow_mut().insert(id, lines);
            }
            "accept" => {
                let challenge = said.challenge?;
                let lines = self.offers.borrow_mut().remove(challenge)?;
                let text =
                    format!(r#"{{"type":"challenge_end","challenge":"{challenge}","how":"accepted"}}"#);
                lines.iter().for_each(|line| say(line, &text.as_str().into()));
                self.start(lines);
            }
            "move" => {
                let table = Rc::clone(self.tables.borrow().get(said.game?)?);
                table.play(said.game?, said.ply?, Column::from_number(said.column?)?)?;
                if table.game.borrow().outcome().is_some() {
                    self.tables.borrow_mut().remove(said.game?);
                }
            }
            "watch" => {
                let table = Rc::clone(self.tables.borrow().get(said.game?)?);
                let (id, game) = (said.game?, table.game.borrow());
                let text = format!(
                    r#"{{"type":"game","game":"{id}","moves":"{}","ply":{}}}"#,
                    game.notation(),
                    game.ply()
                );
                say(line, &text.into());
                table.watchers.borrow_mut().push(line.clone());
            }
            _ => {}
        }
        Some(())
    }

    fn start(&self, lines: [Line; 2]) {
        let id = format!("g{}", self.id());
        let game = RefCell::new(Game::new(Variant::STANDARD));
        let table = Table { game, lines, watchers: RefCell::default() };
        for (line, you) in table.lines.iter().zip(["first", "second"]) {
            let text = format!(
                r#"{{"type":"game","game":"{id}","you":"{you}","moves":"","ply":0,"status":"live"}}"#
            );
            say(line, &text.into());
        }
        table.prompt(&id);
        self.tables.borrow_mut().insert(id, Rc::new(table));
    }
}

impl Table {
    fn play(&self, id: &str, ply: u32, column: Column) -> Option<()> {
        let mut game = self.game.borrow_mut();
        if game.ply() != ply {
            return None;
        }
        let outcome = game.play(column).ok()?;
        let (by, ply, column) = (ply % 2, ply + 1, column.number());
        let text: Utf8Bytes = format!(
            r#"{{"type":"moved","game":"{id}","event_seq":{ply},"ply":{ply},"column":{column},"by":"{by}","clock":{{"first":60000,"second":60000}},"spent_ms":0,"credited_ms":0}}"#
        ).into();
        // Players first.
        self.lines.iter().chain(&*self.watchers.borrow()).for_each(|line| say(line, &text));
        let moves = game.notation();
        drop(game);
        if outcome.is_some() {
            let text: Utf8Bytes = format!(r#"{{"type":"game_end","game":"{id}","moves":"{moves}"}}"#).into();
            self.lines.iter().for_each(|line| say(line, &text));
        } else {
            self.prompt(id);
        }
        Some(())
    }

    fn prompt(&self, id: &str) {
        let game = self.game.borrow();
        let legal: Vec<String> =
            game.position().legal_columns().map(|column| column.number().to_string()).collect();
        let text = format!(
            r#"{{"type":"turn","game":"{id}","ply":{},"moves":"{}","legal":[{}],"clock":{{"you":60000,"opponent":60000}},"budget_ms":60000,"network_ms":0,"variant":"7x6"}}"#,
            game.ply(),
            game.notation(),
            legal.join(",")
        );
        let seat = usize::from(game.position().side_to_move() == Side::Second);
        say(&self.lines[seat], &text.into());
    }
}
