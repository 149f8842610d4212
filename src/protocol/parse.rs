//! How text becomes a message, and which refusal it gets when it does not.
//!
//! The text is read once, into a tree of its values, strictly: one object, not too deep, no key twice. The message is
//! then made of the tree, and a refusal names the field.

use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::client::{Challenge, ClientMessage, ColumnField, Hello, Move, OpenChallenge, Request, Watch};
use super::error::{ErrorCode, WireError};
use super::terms::{Terms, null_as_left_out};
use super::wording::in_words_of_json;
use super::{JSON_DEPTH_MAX, PROTOCOL_VERSION, REQUEST_ID_CHARS_MAX};
use crate::model::bounded::{Bounded, OfField};

/// Text that is not a request. Carries the `id` if that much could be read, so that the refusal can say `re`.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    pub(crate) id: Option<String>,
    pub(crate) error: WireError,
}

/// Reads one text frame.
///
/// # Errors
///
/// `bad_json` if the text is not one JSON object of allowed depth without repeated keys; `bad_field` with the
/// field's name if the type is unknown, a field is missing, or a value is not allowed.
pub fn parse(text: &str) -> Result<Request, Refusal> {
    match read_plain_move(text) {
        Some(request) => Ok(request),
        None => parse_any(text),
    }
}

/// A `move` as nearly all come.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainMove<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    game: &'a str,
    ply: u32,
    column: i64,
    #[serde(default)]
    id: Option<&'a str>,
}

/// Reads a `move` without a tree. In whatever is not as plain as that it sees nothing, and [`parse_any`] reads it,
/// which has the words for refusals: what both read they read alike.
fn read_plain_move(text: &str) -> Option<Request> {
    // Without this a list of the fields' values would be one, too.
    if !text.starts_with('{') {
        return None;
    }
    let PlainMove { kind, game, ply, column, id } = serde_json::from_str(text).ok()?;
    if kind != "move" || id.is_some_and(|id| id.chars().count() > REQUEST_ID_CHARS_MAX) {
        return None;
    }
    let (game, ply) = (game.parse().ok()?, Bounded::new(ply));
    let played = Move { game, ply, column: ColumnField::Number(column), info: None };
    Some(Request { id: id.map(str::to_owned), message: ClientMessage::Move(played), text: Some(text.into()) })
}

fn parse_any(text: &str) -> Result<Request, Refusal> {
    let frame = read_tree(text).map_err(|error| Refusal { id: None, error })?;
    let id = id_of(&frame).map_err(|error| Refusal { id: None, error })?;
    let envelope: Envelope = match read(&frame) {
        Ok(envelope) => envelope,
        Err(error) => return Err(Refusal { id, error }),
    };
    match read_message(&envelope.kind, &frame) {
        Ok(message) => {
            let text = matches!(message, ClientMessage::Move(_)).then(|| text.into());
            Ok(Request { id, message, text })
        }
        Err(error) => Err(Refusal { id, error }),
    }
}

/// Reads any one JSON object with the same strictness: the bodies of HTTP requests.
///
/// # Errors
///
/// `bad_json` or `bad_field` as [`parse`].
pub(crate) fn parse_object<T: DeserializeOwned>(text: &str) -> Result<T, WireError> {
    read(&read_tree(text)?)
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type")]
    kind: String,
}

/// Read before anything else, so that every refusal of what follows can say which request it answers.
fn id_of(frame: &Value) -> Result<Option<String>, WireError> {
    #[derive(Deserialize)]
    struct Numbered {
        #[serde(default)]
        id: Option<String>,
    }
    let Numbered { id } = read(frame)?;
    if id.as_ref().is_some_and(|id| id.chars().count() > REQUEST_ID_CHARS_MAX) {
        let message = format!("id has at most {REQUEST_ID_CHARS_MAX} characters");
        return Err(WireError::bad_field("id", message));
    }
    Ok(id)
}

fn read_message(kind: &str, frame: &Value) -> Result<ClientMessage, WireError> {
    Ok(match kind {
        "hello" => ClientMessage::Hello(Box::new(read_hello(frame)?)),
        "set" => ClientMessage::Set(read(frame)?),
        "bye" => ClientMessage::Bye(read(frame)?),
        "ping" => ClientMessage::Ping(read(frame)?),
        "pong" => ClientMessage::Pong(read(frame)?),
        "seek" => ClientMessage::Seek(read(frame)?),
        "unseek" => ClientMessage::Unseek,
        "challenge" => ClientMessage::Challenge(read_challenge(frame)?),
        "open_challenge" => ClientMessage::OpenChallenge(read_open_challenge(frame)?),
        "accept" => ClientMessage::Accept(read(frame)?),
        "decline" => ClientMessage::Decline(read(frame)?),
        "cancel" => ClientMessage::Cancel(read(frame)?),
        "play_bot" => ClientMessage::PlayBot(read(frame)?),
        "move" => ClientMessage::Move(read(frame)?),
        "resign" => ClientMessage::Resign(read(frame)?),
        "abort" => ClientMessage::Abort(read(frame)?),
        "rematch" => ClientMessage::Rematch(read(frame)?),
        "claim" => ClientMessage::Claim(read(frame)?),
        "sync" => ClientMessage::Sync(read(frame)?),
        "takeback" => ClientMessage::Takeback(read(frame)?),
        "takeback_answer" => ClientMessage::TakebackAnswer(read(frame)?),
        "react" => ClientMessage::React(read(frame)?),
        "watch" => ClientMessage::Watch(read_watch(frame)?),
        "unwatch" => ClientMessage::Unwatch(read_watch(frame)?),
        _ => {
            let shown: String = kind.chars().take(REQUEST_ID_CHARS_MAX).collect();
            return Err(WireError::bad_field("type", format!("no message type `{shown}`")));
        }
    })
}

/// Looks at the version first: another one may have other fields.
fn read_hello(frame: &Value) -> Result<Hello, WireError> {
    #[derive(Deserialize)]
    struct Version {
        protocol: Bounded<0, { u32::MAX }>,
    }
    let Version { protocol } = read(frame)?;
    if protocol.number() != PROTOCOL_VERSION {
        let message = format!("protocol {protocol} is not spoken here");
        let error = WireError::new(ErrorCode::BadVersion, message);
        return Err(WireError { supported: Some(vec![PROTOCOL_VERSION]), ..error });
    }
    read(frame)
}

/// Reads the terms on their own: serde loses the path of a field inside a flattened struct.
fn read_challenge(frame: &Value) -> Result<Challenge, WireError> {
    #[derive(Deserialize)]
    struct Opponent {
        to: String,
        #[serde(default)]
        key: Option<String>,
    }
    let Opponent { to, key } = read(frame)?;
    Ok(Challenge { to, terms: read::<Terms>(frame)?, key })
}

fn read_open_challenge(frame: &Value) -> Result<OpenChallenge, WireError> {
    #[derive(Deserialize)]
    struct Other {
        #[serde(default, deserialize_with = "null_as_left_out")]
        listed: bool,
        #[serde(default)]
        key: Option<String>,
    }
    let Other { listed, key } = read(frame)?;
    Ok(OpenChallenge { terms: read::<Terms>(frame)?, listed, key })
}

fn read_watch(frame: &Value) -> Result<Watch, WireError> {
    let watch: Watch = read(frame)?;
    match (&watch.game, &watch.feed) {
        (Some(_), None) | (None, Some(_)) => Ok(watch),
        (Some(_), Some(_)) => Err(WireError::bad_field("feed", "either game or feed, not both")),
        (None, None) => Err(WireError::bad_field("game", "either game or feed is needed")),
    }
}

/// Makes a struct of the whole frame, naming the field at fault.
fn read<T: DeserializeOwned>(frame: &Value) -> Result<T, WireError> {
    serde_path_to_error::deserialize(frame).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner().to_string();
        match OfField::split(&cause) {
            Some((field, words)) => WireError::bad_field(dotted(&path, field), words),
            None => WireError::bad_field(field_name(&path, &cause), in_words_of_json(&cause)),
        }
    })
}

/// The dotted name of the field at fault. A missing field has no path of its own: serde names it in its message.
fn field_name(path: &str, cause: &str) -> String {
    let missing = cause.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    missing.map_or_else(|| path.to_owned(), |name| dotted(path, name))
}

/// The field of an object at this path.
fn dotted(path: &str, field: &str) -> String {
    match path {
        "." | "" => field.to_owned(),
        path => format!("{path}.{field}"),
    }
}

/// Reads one JSON object, not too deep, of which no object has a key twice.
fn read_tree(text: &str) -> Result<Value, WireError> {
    if !text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{') {
        return Err(WireError::new(ErrorCode::BadJson, "a message is one JSON object"));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let tree = Tree { depth: JSON_DEPTH_MAX }.deserialize(&mut deserializer);
    tree.and_then(|tree| deserializer.end().map(|()| tree))
        .map_err(|error| WireError::new(ErrorCode::BadJson, error.to_string()))
}

/// Reads a JSON value that is at most `depth` levels of objects and arrays deep.
#[derive(Clone, Copy)]
struct Tree {
    depth: usize,
}

impl Tree {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.depth.checked_sub(1) {
            Some(depth) => Ok(Self { depth }),
            None => Err(E::custom(format_args!("nested deeper than {JSON_DEPTH_MAX}"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Tree {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let deeper = self.deeper()?;
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(deeper)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let deeper = self.deeper()?;
        let mut values = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if values.contains_key(&key) {
                fields.next_value::<IgnoredAny>()?;
                return Err(A::Error::custom(format_args!("key `{key}` is given twice")));
            }
            let value = fields.next_value_seed(deeper)?;
            values.insert(key, value);
        }
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::client::ColumnField;

    #[track_caller]
    fn check_refused(text: &str, code: ErrorCode, field: Option<&str>) {
        let refusal = parse(text).expect_err(text);
        assert_eq!((refusal.error.code, refusal.error.field.as_deref()), (code, field), "{text}");
    }

    #[test]
    fn text_that_is_not_one_object_is_bad_json() {
        for text in [
            "",
            "{",
            "[]",
            "1",
            "null",
            "\"x\"",
            r#"{"type":"unseek",}"#,
            r#"{"type":"unseek"}x"#,
            "\u{feff}{\"type\":\"unseek\"}",
            r#"{"type":"ping","n":NaN}"#,
            r#"{"type":"ping","n":1e400}"#,
            r#"{"type":"\ud800"}"#,
        ] {
            check_refused(text, ErrorCode::BadJson, None);
        }
    }

    /// Moves that are plain, and those that differ in one thing from them.
    #[test]
    fn a_plain_move_is_read_as_any_other_message() {
        let with = |from: &str, to: &str| {
            let plain = r#"{"type":"move","id":"a","game":"g1","ply":4,"column":3}"#;
            assert!(read_plain_move(plain).is_some() && plain.contains(from), "{from}");
            plain.replace(from, to)
        };
        let same = |from: &str| with(from, from);
        let numbers = ["0", "-1", "8", "1e1", "3.0", "-0", "4294967295", "4294967296", "9223372036854775807"];
        let wrong = ["9223372036854775808", "1e400", "null", "true", "\"3\"", "[]", "{}"];
        let values = numbers.into_iter().chain(wrong);
        let ids = ["null", "\"\"", "\"\\u0061\"", "7", "\"\u{e9}\""].map(str::to_owned);
        let long = [32, 33].map(|length| format!("\"{}\"", "\u{e9}".repeat(length)));
        let mut texts = vec![
            same("move"),
            with("move", "resign"),
            with("\"move\"", "\"m\\u006fve\""),
            with("\"move\"", "1"),
            with("g1", "../g"),
            with("g1", "g\\u0031"),
            with("g1", ""),
            with("\"g1\"", "1"),
            with("\"id\":\"a\",", ""),
            with(",\"column\":3", ""),
            with(",\"ply\":4", ""),
            with("\"ply\":4", "\"ply\":4,\"ply\":4"),
            with("\"ply\":4", "\"ply\":4,\"p\\u006cy\":4"),
            with("\"ply\"", "\"Ply\""),
            with("\"ply\":4", "\"ply\":4,\"info\":null"),
            with("\"ply\":4", "\"ply\":4,\"info\":{\"depth\":2}"),
            with("\"ply\":4", "\"ply\":4,\"more\":1"),
            with("{", " \t\n{ "),
            with("}", "} "),
            with("}", "}}"),
            with("}", ""),
            with("}", ",}"),
            with("{", "\u{feff}{"),
            with("g1", "\u{0}"),
            r#"["move","g1",4,3,"a"]"#.to_owned(),
            r#"{"type":"move","id":"a","game":"g1","column":3,"ply":4}"#.to_owned(),
        ];
        texts.extend(values.clone().map(|value| with("\"ply\":4", &format!("\"ply\":{value}"))));
        texts.extend(values.map(|value| with("\"column\":3", &format!("\"column\":{value}"))));
        texts.extend(ids.iter().chain(&long).map(|id| with("\"a\"", id)));
        for text in texts {
            assert_eq!(parse(&text), parse_any(&text), "{text}");
        }
    }

    #[test]
    fn a_key_given_twice_is_bad_json_at_any_level() {
        check_refused(r#"{"type":"ping","n":1,"n":1}"#, ErrorCode::BadJson, None);
        check_refused(r#"{"type":"ping","x":{"y":1,"y":2}}"#, ErrorCode::BadJson, None);
        check_refused(r#"{"type":"ping","x":1,"\u0078":2}"#, ErrorCode::BadJson, None);
    }

    #[test]
    fn depth_eight_is_allowed_and_nine_is_not() {
        let nested = |depth: usize| {
            let arrays = depth - 1;
            format!(r#"{{"type":"unseek","x":{}{}}}"#, "[".repeat(arrays), "]".repeat(arrays))
        };
        assert!(parse(&nested(JSON_DEPTH_MAX)).is_ok());
        check_refused(&nested(JSON_DEPTH_MAX + 1), ErrorCode::BadJson, None);
        check_refused(&nested(200), ErrorCode::BadJson, None);
    }

    #[test]
    fn the_field_at_fault_is_named() {
        check_refused(r#"{"n":1}"#, ErrorCode::BadField, Some("type"));
        check_refused(r#"{"type":"dance"}"#, ErrorCode::BadField, Some("type"));
        check_refused(r#"{"type":7}"#, ErrorCode::BadField, Some("type"));
        check_refused(r#"{"type":"move","game":"g"}"#, ErrorCode::BadField, Some("ply"));
        check_refused(r#"{"type":"move","game":"g","ply":-1}"#, ErrorCode::BadField, Some("ply"));
        check_refused(r#"{"type":"resign","game":"../x"}"#, ErrorCode::BadField, Some("game"));
        check_refused(r#"{"type":"watch"}"#, ErrorCode::BadField, Some("game"));
        check_refused(
            r#"{"type":"challenge","to":"bob","rated":false,"time":{"bank_ms":60000,"move_ms":null}}"#,
            ErrorCode::BadField,
            Some("time.increment_ms"),
        );
        check_refused(
            r#"{"type":"seek","rated":false,"time":{"bank_ms":-5,"increment_ms":0,"move_ms":null}}"#,
            ErrorCode::BadField,
            Some("time.bank_ms"),
        );
    }

    #[test]
    fn what_is_allowed_is_said_in_words_of_json() {
        let hello = |field: &str| format!(r#"{{"type":"hello","protocol":1,"client":{{}},{field}}}"#);
        let number = "a whole number from 0 to 4294967295";
        for (text, words) in [
            (r#"{"type":"hello","protocol":"1","client":{}}"#.to_owned(), number),
            (r#"{"type":"hello","protocol":-1,"client":{}}"#.to_owned(), number),
            (r#"{"type":"hello","protocol":1,"client":"x"}"#.to_owned(), "expected an object"),
            (hello(r#""accepts":[7]"#), "expected an array of length 2"),
            (hello(r#""accepts":true"#), "expected an object"),
            (hello(r#""accepts":{"pairs_per_minute":0}"#), "a whole number from 1 to 65535"),
            (hello(r#""accepts":{"opponents":7}"#), "integer `7`, expected an array"),
            (hello(r#""accepts":{"opponents":["cat"]}"#), "unknown value `cat`, expected `human` or `bot`"),
            (hello(r#""bot":7"#), "expected an object"),
            (hello(r#""needs":{}"#), "object, expected an array"),
            (hello(r#""open":[]"#), "array, expected a boolean"),
            (r#"{"type":"seek","rated":true,"time":5}"#.to_owned(), "expected an object"),
            (r#"{"type":"decline","challenge":"c","reason":7}"#.to_owned(), "expected a string"),
            (r#"{"type":"decline","challenge":"c","reason":{}}"#.to_owned(), "expected a string"),
            (r#"{"type":"move","game":"g","ply":0,"column":1,"info":1}"#.to_owned(), "expected an object"),
            (
                r#"{"type":"move","game":"g","ply":0,"column":1,"info":{"score":"x"}}"#.to_owned(),
                "expected a number",
            ),
            (r#"{"type":"play_bot","bot":"b","time":{"bank_ms":1000,"increment_ms":0,"move_ms":null},"opening":7}"#.to_owned(), "expected an object"),
        ] {
            let refused = parse(&text).expect_err(&text).error;
            assert_eq!(refused.code, ErrorCode::BadField, "{text}");
            assert!(refused.message.ends_with(words), "{text}: {}", refused.message);
        }
    }

    /// Puts a value where `$` stands.
    fn with(template: &str, value: &str) -> String {
        template.replace('$', value)
    }

    /// A number from `min` to `max` is read there, and nothing else.
    #[track_caller]
    fn check_range(template: &str, field: &str, min: i128, max: i128) {
        for number in [min, max] {
            let text = with(template, &number.to_string());
            assert!(parse(&text).is_ok(), "{text}: {:?}", parse(&text));
        }
        let numbers = [min - 1, max + 1, i64::MIN.into(), -1, 1 << 63, u64::MAX.into(), 1 << 64, i128::MAX];
        let outside = numbers.into_iter().filter(|number| !(min..=max).contains(number));
        let outside = outside.map(|number| number.to_string());
        let others = ["0.5", "-0.0", "3.0", "1e300", "\"3\"", "true", "[]", "{}"].map(str::to_owned);
        for value in outside.chain(others) {
            let text = with(template, &value);
            let refused = parse(&text).expect_err(&text).error;
            assert_eq!(
                (refused.code, refused.field.as_deref()),
                (ErrorCode::BadField, Some(field)),
                "{text}"
            );
            let allowed = format!("a whole number from {min} to {max}");
            assert!(refused.message.contains(&allowed), "{text}: {}", refused.message);
        }
        check_refused(&with(template, "1e400"), ErrorCode::BadJson, None);
    }

    #[test]
    fn every_number_has_its_range_and_is_named() {
        let (most, long) = (i128::from(u32::MAX), i128::from(u64::MAX));
        let hello = |field: &str| format!(r#"{{"type":"hello","protocol":1,"client":{{}},{field}}}"#);
        check_range(&hello(r#""max_games":$"#), "max_games", 0, 1_000_000);
        let resume = hello(r#""resume":{"session":"s","secret":"x","seq":$}"#);
        check_range(&resume, "resume.seq", 0, 1 << 53);
        check_range(r#"{"type":"set","max_games":$}"#, "max_games", 0, 1_000_000);
        check_range(r#"{"type":"set","reserve_for_humans":$}"#, "reserve_for_humans", 0, 1_000_000);
        for kind in ["ping", "pong"] {
            check_range(&with(r#"{"type":"!","n":$}"#, "$").replace('!', kind), "n", 0, long);
        }
        for range in ["bank_ms", "increment_ms", "move_ms"] {
            let low = format!(r#"{{"type":"set","accepts":{{"{range}":[$,{most}]}}}}"#);
            check_range(&low, &format!("accepts.{range}[0]"), 0, most);
            let high = format!(r#"{{"type":"set","accepts":{{"{range}":[0,$]}}}}"#);
            check_range(&high, &format!("accepts.{range}[1]"), 0, most);
        }
        let (low, high) = (i128::from(i32::MIN), i128::from(i32::MAX));
        let rating = format!(r#"{{"type":"set","accepts":{{"rating":[{low},$]}}}}"#);
        check_range(&rating, "accepts.rating[1]", low, high);
        let offers = [
            r#"{"type":"challenge","to":"bob","rated":false,"games":!,"time":@}"#,
            r#"{"type":"open_challenge","rated":false,"games":!,"time":@}"#,
            r#"{"type":"play_bot","bot":"random","time":@}"#,
            r#"{"type":"seek","rated":false,"time":@}"#,
        ];
        for offer in offers {
            let timed = |time: &str| offer.replace('!', "1").replace('@', time);
            let day = 86_400_000;
            let bank = timed(r#"{"bank_ms":$,"increment_ms":0,"move_ms":null}"#);
            check_range(&bank, "time.bank_ms", 10, day);
            let each = timed(r#"{"bank_ms":null,"increment_ms":0,"move_ms":$}"#);
            check_range(&each, "time.move_ms", 10, 7 * day);
            let increment = timed(r#"{"bank_ms":86400000,"increment_ms":$,"move_ms":null}"#);
            check_range(&increment, "time.increment_ms", 0, 3_600_000);
            let more = timed(r#"{"bank_ms":1000,"increment_ms":1001,"move_ms":null}"#);
            check_refused(&more, ErrorCode::BadField, Some("time.increment_ms"));
            let none = timed(r#"{"bank_ms":null,"increment_ms":0,"move_ms":null}"#);
            check_refused(&none, ErrorCode::BadField, Some("time.bank_ms"));
            if offer.contains('!') {
                let time = r#"{"bank_ms":1000,"increment_ms":0,"move_ms":null}"#;
                check_range(&offer.replace('!', "$").replace('@', time), "games", 1, 100);
            }
        }
        check_range(r#"{"type":"move","game":"g","column":1,"ply":$}"#, "ply", 0, most);
        let info = |field: &str| {
            format!(r#"{{"type":"move","game":"g","column":1,"ply":0,"info":{{"{field}":$}}}}"#)
        };
        check_range(&info("depth"), "info.depth", 0, most);
        check_range(&info("nodes"), "info.nodes", 0, long);
    }

    #[test]
    fn ranges_are_not_upside_down() {
        for (field, range) in [("bank_ms", "[2,1]"), ("move_ms", "[1,0]"), ("rating", "[0,-1]")] {
            let text = format!(r#"{{"type":"set","accepts":{{"{field}":{range}}}}}"#);
            check_refused(&text, ErrorCode::BadField, Some(&format!("accepts.{field}")));
        }
        assert!(parse(r#"{"type":"set","accepts":{"bank_ms":[7,7],"rating":[-1,0]}}"#).is_ok());
    }

    /// The types of all values in a schema that are whole numbers.
    fn integers<'a>(schema: &'a Value, found: &mut Vec<&'a Value>) {
        let is_integer = |kind: &Value| kind == "integer";
        let kind = &schema["type"];
        if is_integer(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is_integer)) {
            found.push(schema);
        }
        match schema {
            Value::Object(fields) => fields.values().for_each(|value| integers(value, found)),
            Value::Array(items) => items.iter().for_each(|value| integers(value, found)),
            _ => {}
        }
    }

    #[test]
    fn the_published_schema_has_the_ends_of_every_number_of_a_client() {
        let schema = schemars::schema_for!(ClientMessage).to_value();
        let mut found = Vec::new();
        integers(&schema, &mut found);
        assert!(found.len() > 12, "{found:?}");
        for number in found {
            assert!(number["minimum"].is_number() && number["maximum"].is_number(), "{number}");
        }
    }

    /// The fields of each message that need not be there, as the schema has them, and whether they may be null.
    fn optional_fields() -> Vec<(String, String, bool)> {
        let schema = schemars::schema_for!(ClientMessage).to_value();
        let mut found = Vec::new();
        for message in schema["oneOf"].as_array().unwrap() {
            let kind = message["properties"]["type"]["const"].as_str().unwrap();
            let name = message["$ref"].as_str().and_then(|at| at.rsplit('/').next());
            let Some(name) = name else { continue };
            let definition = &schema["$defs"][name];
            let is_needed = |field: &String| {
                let required = definition["required"].as_array();
                required.is_some_and(|required| required.iter().any(|name| name == field))
            };
            for (field, about) in definition["properties"].as_object().unwrap() {
                let kinds = about["type"].as_array().into_iter().flatten().chain([&about["type"]]);
                let either = about["anyOf"].as_array().into_iter().flatten().map(|one| &one["type"]);
                if !is_needed(field) {
                    let is_nullable = kinds.chain(either).any(|kind| kind == "null");
                    found.push((kind.to_owned(), field.clone(), is_nullable));
                }
            }
        }
        found
    }

    #[test]
    fn null_is_as_good_as_left_out_and_the_schema_says_so() {
        let least = |kind: &str| match kind {
            "hello" => r#""protocol":1,"client":{}"#,
            "challenge" => r#""to":"ada","rated":false,"time":@"#,
            "seek" | "open_challenge" => r#""rated":false,"time":@"#,
            "play_bot" => r#""bot":"greedy","time":@"#,
            "accept" | "decline" => r#""challenge":"c1""#,
            "move" => r#""game":"g1","ply":0,"column":1"#,
            "resign" => r#""game":"g1""#,
            _ => r#""later":1"#,
        };
        let mut tried = 0;
        for (kind, field, is_nullable) in optional_fields() {
            if matches!((kind.as_str(), field.as_str()), ("move", "column") | ("watch" | "unwatch", _)) {
                continue;
            }
            let text = format!(r#"{{"type":"{kind}",{}}}"#, least(&kind));
            let text = text.replace('@', r#"{"bank_ms":60000,"increment_ms":0,"move_ms":null}"#);
            let with_null = text.replacen('{', &format!(r#"{{"{field}":null,"#), 1);
            assert!(is_nullable, "{kind}.{field}");
            let read = |text: &str| parse(text).map(|request| request.message).expect(text);
            assert_eq!(read(&with_null), read(&text), "{with_null}");
            tried += 1;
        }
        assert!(tried >= 40, "{tried}");
    }

    #[test]
    fn null_is_as_good_as_left_out_in_what_a_message_has_in_it() {
        let read = |text: &str| parse(text).map(|request| request.message).expect(text);
        let accepts = [
            "bank_ms",
            "increment_ms",
            "move_ms",
            "rated",
            "opponents",
            "rating",
            "variants",
            "pairs_per_minute",
        ];
        for field in accepts {
            let with_null = format!(r#"{{"type":"set","accepts":{{"{field}":null}}}}"#);
            assert_eq!(read(&with_null), read(r#"{"type":"set","accepts":{}}"#), "{with_null}");
        }
        let with_opening = |opening: &str| {
            let time = r#"{"bank_ms":60000,"increment_ms":0,"move_ms":null}"#;
            read(&format!(r#"{{"type":"play_bot","bot":"greedy","time":{time},"opening":{opening}}}"#))
        };
        assert_eq!(with_opening(r#"{"kind":"none","moves":null}"#), with_opening(r#"{"kind":"none"}"#));
    }

    #[test]
    fn unknown_fields_are_ignored() {
        assert!(parse(r#"{"type":"unseek","later":{"a":[1]}}"#).is_ok());
    }

    #[test]
    fn the_request_id_is_kept_even_when_the_rest_is_refused() {
        for text in [r#"{"type":"move","id":"m1"}"#, r#"{"id":"m1"}"#, r#"{"type":7,"id":"m1"}"#] {
            assert_eq!(parse(text).unwrap_err().id.as_deref(), Some("m1"), "{text}");
        }
        check_refused(
            &format!(r#"{{"type":"unseek","id":"{}"}}"#, "x".repeat(33)),
            ErrorCode::BadField,
            Some("id"),
        );
        check_refused(r#"{"type":"unseek","id":7}"#, ErrorCode::BadField, Some("id"));
    }

    #[test]
    fn a_column_that_is_none_reaches_the_room() {
        let column = |text: &str| match parse(text).unwrap().message {
            ClientMessage::Move(m) => m.column,
            other => panic!("{other:?}"),
        };
        assert_eq!(column(r#"{"type":"move","game":"g","ply":0,"column":4}"#), ColumnField::Number(4));
        assert_eq!(column(r#"{"type":"move","game":"g","ply":0,"column":-1}"#), ColumnField::Number(-1));
        for bad in ["3.0", "\"3\"", "null", "[1]"] {
            let text = format!(r#"{{"type":"move","game":"g","ply":0,"column":{bad}}}"#);
            assert_eq!(column(&text), ColumnField::Malformed, "{bad}");
        }
        assert_eq!(column(r#"{"type":"move","game":"g","ply":0}"#), ColumnField::Malformed);
    }
}
