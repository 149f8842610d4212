//! The golden messages and the smallest exchange in `tests/wire`: what a client of this version was promised.
//!
//! A field that is renamed, dropped or read differently fails here, before it fails at somebody else's client.

use std::collections::BTreeSet;

use fourfold::protocol::parse::parse;
use fourfold::protocol::{ClientMessage, ServerMessage};
use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};

use crate::support::{Arena, Client, bearer, blitz};

fn golden(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

/// The message types that the schema knows.
fn types<T: JsonSchema>() -> BTreeSet<String> {
    let schema = schema_for!(T).to_value();
    let variants = schema["oneOf"].as_array().unwrap();
    variants
        .iter()
        .map(|variant| variant["properties"]["type"]["const"].as_str().unwrap().to_owned())
        .collect()
}

/// Every type has an example in the file, and no other.
#[track_caller]
fn check_types(file: &str, messages: &[Value], types: &BTreeSet<String>) {
    let found: BTreeSet<_> =
        messages.iter().map(|message| message["type"].as_str().unwrap().to_owned()).collect();
    assert!(found.is_superset(types), "{file} leaves out {:?}", types - &found);
    assert!(found.is_subset(types), "{file} has what is no message: {:?}", &found - types);
}

#[test]
fn every_client_message_reads_as_it_was_promised() {
    let messages = golden(include_str!("../wire/client.json"));
    check_types("tests/wire/client.json", &messages, &types::<ClientMessage>());
    for message in messages {
        let read = parse(&message.to_string()).unwrap_or_else(|refusal| panic!("{refusal:?}: {message}"));
        assert_eq!(serde_json::to_value(&read.message).unwrap(), message);
    }
}

#[test]
fn every_server_message_looks_as_it_was_promised() {
    let messages = golden(include_str!("../wire/server.json"));
    check_types("tests/wire/server.json", &messages, &types::<ServerMessage>());
    for message in messages {
        let read: ServerMessage = serde_json::from_value(message.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), message);
    }
}

/// Whether a message is what was promised; `*` stands for anything.
#[track_caller]
fn check_like(message: &Value, promised: &Value) {
    let Value::Object(fields) = message else { panic!("{message}") };
    let names: BTreeSet<_> = fields.keys().collect();
    let promised = promised.as_object().unwrap();
    assert_eq!(names, promised.keys().collect(), "{message}");
    for (name, value) in promised {
        match value {
            Value::String(any) if any == "*" => {}
            Value::Object(_) => check_like(&fields[name], value),
            exact => assert_eq!(&fields[name], exact, "{name} of {message}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_smallest_exchange_goes_as_it_was_promised() {
    let arena = Arena::start().await;
    let token = arena.token("demo").await;
    let mut opponent = arena.person("ann").await;
    let mut demo = Client::connect(&arena.url(), &[bearer(&token)]).await.unwrap();
    let (mut challenge, mut game) = (Value::Null, Value::Null);
    for line in golden(include_str!("../wire/smallest_exchange.json")) {
        match (line[0].as_str().unwrap(), &line[1]) {
            ("C", message) => {
                let mut message = message.clone();
                for (field, id) in [("challenge", &challenge), ("game", &game)] {
                    if message[field] == "*" {
                        message[field] = id.clone();
                    }
                }
                demo.say(&message);
            }
            ("S", promised) => {
                let message = demo.until(promised["type"].as_str().unwrap()).await;
                check_like(&message, promised);
                match message["type"].as_str().unwrap() {
                    "challenge" => challenge = message["challenge"].clone(),
                    "game" => game = message["game"].clone(),
                    "synced" => {
                        let terms = json!({"type": "challenge", "to": "demo", "time": blitz(), "rated": false, "side": "first"});
                        opponent.ask(terms).await;
                    }
                    _ => {}
                }
            }
            ("O", column) => {
                opponent.until("turn").await;
                opponent.ask(json!({"type": "move", "game": game, "ply": 0, "column": column})).await;
            }
            (who, _) => panic!("nobody is called {who}"),
        }
    }
}
