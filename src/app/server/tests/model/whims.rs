//! Values for everything that the published descriptions let a client say: sensible ones, the ends of all types, and
//! now and then what is not allowed at all.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

/// Numbers around which programs break: the ends of all types, and one beyond.
fn extremes() -> Vec<Value> {
    let powers = [8_u32, 15, 16, 31, 32, 53, 63].into_iter().flat_map(|bits| {
        let power = 1_i128 << bits;
        [power - 1, power, -power, -power - 1]
    });
    let whole = powers.filter_map(|number| i64::try_from(number).ok()).map(Value::from);
    let others =
        [json!(u64::MAX), json!(i64::MIN), json!(-0.0), json!(0.5), json!(1e300), json!(f64::MIN_POSITIVE)];
    let limits = [42, 43, 99, 100, 101, 1_000, 86_399_999, 86_400_000, 86_400_001, 604_800_000, 604_800_001]
        .map(Value::from);
    whole.chain(others).chain(limits).collect()
}

const TEXTS: [&str; 20] = [
    "",
    "-",
    "0",
    "\0",
    " ",
    "ann",
    "BOB",
    "robo",
    "tron",
    "random",
    "greedy",
    "\u{202e}evil",
    "e\u{301}\u{301}",
    "\u{1f600}",
    "ß",
    "../../etc/passwd",
    "%00",
    "'; drop table games; --",
    "7x6",
    "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
];

/// Who is there.
const NAMES: [&str; 6] = ["ann", "BOB", "robo", "tron", "random", "greedy"];

const VARIANTS: [&str; 12] = [
    "7x6",
    "7x6",
    "7x6x4",
    "4x4",
    "9x7",
    "6x6x5",
    "8x7",
    "1x1",
    "0x0",
    "255x255x255",
    "99999999999x1",
    "7x6x0",
];

const MOVES: [&str; 9] = ["", "4", "44", "1212121", "4444444", "12345671234567", "8", "zz", "٣"];

/// An id of something that is there, if there is so much.
fn ids() -> BoxedStrategy<Value> {
    prop_oneof![4 => (0..4_u8).prop_map(|place| format!("$ID{place}").into()), 1 => texts()].boxed()
}

fn texts() -> BoxedStrategy<Value> {
    let long = (1..3_000_usize).prop_map(|length| "x".repeat(length));
    let any = prop_oneof![
        8 => prop::sample::select(&TEXTS[..]).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => long,
    ];
    any.prop_map(Value::from).boxed()
}

/// Numbers for a field whose type has these ends: those, sensible ones, and what is no such number.
fn numbers_within(ends: Vec<Value>) -> BoxedStrategy<Value> {
    prop_oneof![
        3 => (0..12_u32).prop_map(Value::from),
        3 => prop::sample::select(vec![1_000, 10_000, 60_000, 300_000]).prop_map(Value::from),
        4 => prop::sample::select(ends),
        1 => prop::sample::select(extremes()),
        1 => any::<i64>().prop_map(Value::from),
    ]
    .boxed()
}

fn numbers() -> BoxedStrategy<Value> {
    numbers_within(extremes())
}

/// The ends of the range, or of the type, that a schema names.
fn ends_of(schema: &Value) -> Vec<Value> {
    let end = |name: &str| schema[name].as_i64().map(i128::from).or(schema[name].as_u64().map(i128::from));
    if let (Some(min), Some(max)) = (end("minimum"), end("maximum")) {
        let around = [min - 1, min, min + 1, max - 1, max, max + 1].into_iter();
        let numbers = around.filter_map(|number| {
            i64::try_from(number).map(Value::from).or_else(|_| u64::try_from(number).map(Value::from)).ok()
        });
        return numbers.collect();
    }
    match schema["format"].as_str() {
        Some("uint8") => vec![json!(0), json!(u8::MAX)],
        Some("uint32") => vec![json!(0), json!(1), json!(u32::MAX - 1), json!(u32::MAX)],
        Some("int32") => vec![json!(i32::MIN), json!(-1), json!(i32::MAX)],
        Some("uint64" | "uint") => vec![json!(0), json!(u64::MAX - 1), json!(u64::MAX)],
        Some("int64") => vec![json!(i64::MIN), json!(i64::MAX)],
        _ => extremes(),
    }
}

fn anything() -> BoxedStrategy<Value> {
    let few = vec![json!(null), json!(true), json!([]), json!({}), json!([[[[1]]]]), json!("1"), json!(-1)];
    prop_oneof![prop::sample::select(few), numbers(), texts()].boxed()
}

/// What one of the interfaces says of itself.
pub(super) struct Whims {
    client: Value,
    api: Value,
}

impl Whims {
    /// Asks a daemon.
    pub(super) fn of_this_daemon() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let daemon = TestDaemon::start(quiet()).await;
            let ask = async |path| {
                let answer = daemon.http("GET", path, "").await;
                let (_, body) = answer.split_once("\r\n\r\n").unwrap();
                serde_json::from_str::<Value>(body).unwrap()
            };
            let (protocol, api) =
                (ask("/api/v1/protocol.schema.json").await, ask("/api/v1/openapi.json").await);
            Self { client: protocol, api }
        })
    }

    fn kinds(&self) -> Vec<&Value> {
        let client = &self.client["$defs"]["ClientMessage"];
        client["oneOf"].as_array().expect("one of many").iter().collect()
    }

    /// Any message.
    pub(super) fn message(&self) -> BoxedStrategy<Value> {
        let made = Descriptions { root: &self.client };
        let kinds = self.kinds().into_iter().map(|kind| made.value("message", kind));
        prop::strategy::Union::new(kinds).boxed()
    }

    /// A `hello` that is sometimes understood.
    pub(super) fn hello(&self) -> BoxedStrategy<Value> {
        let made = Descriptions { root: &self.client };
        let kinds = self.kinds().into_iter();
        let hello = kinds.filter(|kind| kind["properties"]["type"]["const"] == "hello");
        let hello = prop::strategy::Union::new(hello.map(|kind| made.value("message", kind)));
        let plain = json!({"type": "hello", "protocol": 1, "client": {}});
        prop_oneof![
            hello.prop_map(|mut hello| {
                if hello.is_object() {
                    hello["protocol"] = 1.into();
                    hello["client"] = json!({});
                }
                hello
            }),
            Just(plain),
        ]
        .boxed()
    }

    /// A request: method, path with its query, body.
    pub(super) fn request(&self) -> BoxedStrategy<(String, String, Value)> {
        let paths = self.api["paths"].as_object().expect("paths");
        let all = paths.iter().flat_map(|(path, verbs)| {
            let verbs = verbs.as_object().expect("verbs").iter();
            // Feeds do not end.
            let verbs = verbs.filter(|_| !path.ends_with("/feed") && !path.ends_with("/socket"));
            verbs.map(|(verb, described)| self.request_of(path, verb, described))
        });
        prop::strategy::Union::new(all.collect::<Vec<_>>()).boxed()
    }

    fn request_of(
        &self,
        path: &str,
        verb: &str,
        described: &Value,
    ) -> BoxedStrategy<(String, String, Value)> {
        let made = Descriptions { root: &self.api };
        let parameters = described["parameters"].as_array().cloned().unwrap_or_default();
        let parameters = parameters.into_iter().map(|parameter| {
            let name = parameter["name"].as_str().unwrap_or_default().to_owned();
            let is_query = parameter["in"] == "query";
            let value = match name.as_str() {
                "id" => ids(),
                "moves" => prop::sample::select(&MOVES[..]).prop_map(Value::from).boxed(),
                "name" => texts(),
                _ => prop_oneof![made.value(&name, &parameter["schema"]), anything()].boxed(),
            };
            (any::<bool>(), value).prop_map(move |(is_given, value)| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                (name.clone(), is_query, is_given, text)
            })
        });
        let content = &described["requestBody"]["content"]["application/json"]["schema"];
        let body = if content.is_null() { anything() } else { made.value("body", content) };
        let (path, verb) = (path.to_owned(), verb.to_uppercase());
        (parameters.collect::<Vec<_>>(), body)
            .prop_map(move |(parameters, body)| {
                let (mut path, mut query) = (path.clone(), Vec::new());
                for (name, is_query, is_given, text) in parameters {
                    if !is_query {
                        path = path.replace(&format!("{{{name}}}"), &escaped(&text));
                    } else if is_given {
                        query.push(format!("{name}={}", escaped(&text)));
                    }
                }
                (verb.clone(), format!("{path}?{}", query.join("&")), body)
            })
            .boxed()
    }
}

/// As it stands in a URL; places for ids stay.
fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"$-".contains(&byte);
    let escape =
        |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().take(500).map(escape).collect()
}

/// JSON Schema, as far as the descriptions use it.
#[derive(Clone, Copy)]
struct Descriptions<'a> {
    root: &'a Value,
}

impl<'a> Descriptions<'a> {
    fn resolved(self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(path) => self.root.pointer(path.trim_start_matches('#')).expect("it is described"),
            None => schema,
        }
    }

    /// A value for a field of this name, and once in a while something else.
    fn value(self, name: &str, schema: &'a Value) -> BoxedStrategy<Value> {
        prop_oneof![24 => self.expected(name, schema), 1 => anything()].boxed()
    }

    fn expected(self, name: &str, schema: &'a Value) -> BoxedStrategy<Value> {
        let of = |schemas: &'a Value| {
            let schemas = schemas.as_array().expect("a list").iter();
            prop::strategy::Union::new(schemas.map(|schema| self.expected(name, schema))).boxed()
        };
        if name == "time" {
            let blitz = json!({"bank_ms": 60_000, "increment_ms": 0, "move_ms": null});
            return prop_oneof![2 => Just(blitz), 3 => self.object(self.resolved(schema))].boxed();
        }
        if schema["properties"].is_object() || schema["allOf"].is_array() {
            return self.object(schema);
        }
        let schema = self.resolved(schema);
        if let Some(value) = schema.get("const") {
            return Just(value.clone()).boxed();
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return prop::sample::select(values.clone()).boxed();
        }
        for many in ["oneOf", "anyOf"] {
            if schema[many].is_array() {
                return of(&schema[many]);
            }
        }
        match &schema["type"] {
            Value::Array(types) => {
                let types = types.iter().filter_map(Value::as_str);
                let all = types.map(|word| self.of_type(word, name, schema));
                prop::strategy::Union::new(all.collect::<Vec<_>>()).boxed()
            }
            Value::String(word) => self.of_type(word, name, schema),
            _ => anything(),
        }
    }

    fn of_type(self, word: &str, name: &str, schema: &'a Value) -> BoxedStrategy<Value> {
        match word {
            "object" => self.object(schema),
            "array" => {
                let lengths = match (schema["minItems"].as_u64(), schema["maxItems"].as_u64()) {
                    (Some(2), Some(2)) => 2..=2,
                    _ => 0..=4,
                };
                prop::collection::vec(self.expected(name, &schema["items"]), lengths)
                    .prop_map(Value::Array)
                    .boxed()
            }
            "integer" | "number" => numbers_within(ends_of(schema)),
            "boolean" => any::<bool>().prop_map(Value::Bool).boxed(),
            "null" => Just(Value::Null).boxed(),
            _ => match name {
                "game" | "challenge" => ids(),
                "to" | "bot" => {
                    prop_oneof![4 => prop::sample::select(&NAMES[..]).prop_map(Value::from), 1 => texts()]
                        .boxed()
                }
                "variant" | "variants" => prop::sample::select(&VARIANTS[..]).prop_map(Value::from).boxed(),
                "moves" | "pv" => prop::sample::select(&MOVES[..]).prop_map(Value::from).boxed(),
                _ => texts(),
            },
        }
    }

    fn object(self, schema: &'a Value) -> BoxedStrategy<Value> {
        let mut fields = Vec::new();
        self.collect(schema, &mut fields);
        let fields = fields.into_iter().map(|(name, schema, is_required)| {
            let chance = if is_required { 0.98 } else { 0.6 };
            let value = if name == "type" { self.expected(name, schema) } else { self.value(name, schema) };
            let name = name.to_owned();
            prop::option::weighted(chance, value).prop_map(move |value| Some((name.clone(), value?)))
        });
        let fields: Vec<_> = fields.collect();
        fields.prop_map(|fields| Value::Object(fields.into_iter().flatten().collect::<Map<_, _>>())).boxed()
    }

    /// The fields of an object, with those of what it is made of.
    fn collect(self, schema: &'a Value, fields: &mut Vec<(&'a str, &'a Value, bool)>) {
        if schema["$ref"].is_string() {
            self.collect(self.resolved(schema), fields);
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.collect(part, fields);
        }
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            fields.push((name, schema, required.contains(&name.as_str())));
        }
    }
}
