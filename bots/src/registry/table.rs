//! The bots themselves. Each line says who is who: people choose their opponents by it.

use std::sync::Arc;
use std::time::Duration;

use fourfold_engine::Variant;

use super::BotEntry;
use crate::alphabeta::AlphaBeta;
use crate::bot::{Bot, BotError};
use crate::c4ai::{C4ai, EvolvedWeights};
use crate::cutoff::Cutoff;
use crate::greedy::Greedy;
use crate::lines69::{self, Lines69};
use crate::mcts::Mcts;
use crate::memory::{self, Memory, PatternMemory, Vocabulary};
use crate::montecarlo::{MonteCarlo, PlayoutLimit};
use crate::negamax::{ClassicNegamax, Ties};
use crate::ntuple::{self, Look, NTuple};
use crate::perfect::{Level, Perfect, Style};
use crate::random::Random;
use crate::setting::{CheckedSettings, Setting, SettingKind};
use crate::stupid::Stupid;

/// `seed=`, for every bot that draws.
pub(super) const SEED: Setting = Setting {
    name: "seed",
    about: "seed of its random choices; equal seeds choose alike in equal positions",
    kind: SettingKind::Integer { default: Some(0), min: 0, max: u64::MAX },
};

/// A weight of `lines69`, in the range that its page recommends.
const fn line_weight(name: &'static str, about: &'static str) -> Setting {
    Setting { name, about, kind: SettingKind::Decimal { default: 1.0, min: 0.5, max: 2.0 } }
}

/// The longest time a move that can be set: a minute.
const MS_MAX: u64 = 60_000;

/// What bots play whose rules speak of four stones and no other number.
const LINES_OF_FOUR: &str = "only boards on which four stones win";

/// Playouts a move of `montecarlo` if neither number nor time is set: about a millisecond on 7x6.
const DEFAULT_PLAYOUTS: u64 = 10_000;

/// Of both pattern memories.
const MEMORY_FILE: Setting = Setting {
    name: "file",
    about: "the XML file in which the memory is kept; without it the bot forgets when the program ends",
    kind: SettingKind::File,
};

/// Which snapshots of a game a pattern memory learns; the first word is what it does unless told.
const fn snapshots(words: &'static [&'static str]) -> Setting {
    Setting {
        name: "snapshots",
        about: "what is learnt of a game: its last position before a move of the bot, or all of them",
        kind: SettingKind::Choice { words },
    }
}

/// The pattern memory of these settings.
pub(super) fn memory(settings: &CheckedSettings<'_>, variant: Variant) -> Result<Memory, BotError> {
    let bot = settings.bot();
    let vocabulary = match bot {
        "memory" => Vocabulary::Runs,
        "memory-windows" => Vocabulary::Windows,
        other => return Err(BotError::OtherBot { bot: other.to_owned(), wanted: "a pattern memory" }),
    };
    if variant.connect() != Memory::CONNECT {
        return Err(BotError::VariantNotPlayed { bot, variant, plays: LINES_OF_FOUR });
    }
    let broken = |reason: String| BotError::Broken { bot, reason };
    let store = match (settings.knowledge_text()?, settings.text_if_set("file")) {
        (None, Some(file)) => return Err(settings.unread_file(&file)),
        (None | Some(""), _) => PatternMemory::new(vocabulary, variant),
        (Some(text), _) => {
            memory::read_xml(text, vocabulary, variant).map_err(|error| broken(error.to_string()))?
        }
    };
    let rule = match vocabulary {
        Vocabulary::Runs if settings.text("rule") == "literal" => memory::Rule::Literal,
        Vocabulary::Runs | Vocabulary::Windows => memory::Rule::Bounded,
    };
    let snapshots = match settings.text("snapshots").as_str() {
        "all" => memory::Snapshots::All,
        _ => memory::Snapshots::Last,
    };
    Ok(Memory { store, rule, snapshots, seed: settings.integer("seed") })
}

fn build_memory(settings: &CheckedSettings<'_>, variant: Variant) -> Result<Box<dyn Bot>, BotError> {
    Ok(Box::new(memory(settings, variant)?))
}

/// How `ntuple` looks ahead.
pub(super) fn ntuple_look(settings: &CheckedSettings<'_>) -> Look {
    Look { plies: settings.small_integer("plies"), tactics: settings.is_on("tactics") }
}

fn build_ntuple(settings: &CheckedSettings<'_>, variant: Variant) -> Result<Box<dyn Bot>, BotError> {
    if variant != Variant::STANDARD {
        return Err(BotError::VariantNotPlayed { bot: settings.bot(), variant, plays: "only 7x6" });
    }
    let weights = match (settings.knowledge(), settings.text_if_set("file")) {
        (None, Some(file)) => return Err(settings.unread_file(&file)),
        (_, None) => ntuple::shipped(),
        (Some(bytes), Some(_)) => {
            let broken = |error: ntuple::CodecError| BotError::Broken {
                bot: settings.bot(),
                reason: error.to_string(),
            };
            Arc::new(ntuple::Weights::from_bytes(bytes).map_err(broken)?)
        }
    };
    Ok(Box::new(NTuple::new(weights, ntuple_look(settings))))
}

/// The parameters of `lines69`.
pub(super) fn lines69_parameters(settings: &CheckedSettings<'_>) -> lines69::Parameters {
    let number = |name| settings.decimal(name);
    lines69::Parameters {
        x: number("x"),
        v: number("v"),
        h: number("h"),
        d: number("d"),
        r: number("r"),
        n: number("n"),
    }
}

/// The weights of `c4ai`.
pub(super) fn c4ai_weights(settings: &CheckedSettings<'_>) -> Result<EvolvedWeights, BotError> {
    Ok(EvolvedWeights::from_array(settings.integers("weights")?))
}

/// Ordered roughly from weak to strong.
pub(super) static ENTRIES: [BotEntry; 14] = [
    BotEntry {
        name: "random",
        style: "erratic",
        about: "plays any legal column, all equally likely; the zero of every scale",
        settings: &[SEED],
        build: |settings, _| Ok(Box::new(Random::new(settings.integer("seed")))),
    },
    BotEntry {
        name: "stupid",
        style: "thoughtless",
        about: "plays the leftmost open column, whatever happens; beats random more often than not",
        settings: &[],
        build: |_, _| Ok(Box::new(Stupid)),
    },
    BotEntry {
        name: "memory",
        style: "learning",
        about: "remembers the runs it met when it won and lost; a beginner that can be trapped twice, but not often",
        settings: &[
            MEMORY_FILE,
            Setting {
                name: "rule",
                about: "whether counts of games add to a score without limit, as the article has it",
                kind: SettingKind::Choice { words: &["bounded", "literal"] },
            },
            snapshots(&["last", "all"]),
            SEED,
        ],
        build: build_memory,
    },
    BotEntry {
        name: "memory-windows",
        style: "learning",
        about: "a pattern memory that sees gaps too, and so learns further",
        settings: &[MEMORY_FILE, snapshots(&["all", "last"]), SEED],
        build: build_memory,
    },
    BotEntry {
        name: "greedy",
        style: "impulsive",
        about: "builds its own lines and breaks others, one move at a time; blind to threats",
        settings: &[],
        build: |_, _| Ok(Box::new(Greedy)),
    },
    BotEntry {
        name: "negamax",
        style: "methodical",
        about: "looks a fixed number of plies ahead and counts open lines; leans right, dallies when winning",
        settings: &[
            Setting {
                name: "depth",
                about: "plies it looks ahead",
                kind: SettingKind::Integer { default: Some(4), min: 1, max: 12 },
            },
            Setting {
                name: "ties",
                about: "which of equally good moves it plays; with `random` it also takes a win in one at once",
                kind: SettingKind::Choice { words: &["rightmost", "random"] },
            },
            SEED,
        ],
        build: |settings, variant| {
            let ties = match settings.text("ties").as_str() {
                "random" => Ties::Random { seed: settings.integer("seed") },
                _ => Ties::Rightmost,
            };
            Ok(Box::new(ClassicNegamax::new(settings.small_integer("depth"), ties, variant)))
        },
    },
    BotEntry {
        name: "lines69",
        style: "tasteful",
        about: "weighs all lines through a cell, without any search; has good taste, but may block where it could win",
        settings: &[
            Setting {
                name: "x",
                about: "base of the power: n stones in a line count x^n",
                kind: SettingKind::Decimal { default: 4.0, min: 1.0, max: 10.0 },
            },
            line_weight("v", "weight of vertical lines"),
            line_weight("h", "weight of horizontal lines"),
            line_weight("d", "weight of diagonal lines"),
            Setting {
                name: "r",
                about: "amplitude of the noise",
                kind: SettingKind::Decimal { default: 2.0, min: 0.0, max: 10.0 },
            },
            line_weight("n", "weight of what the opponent gains by a stone on top"),
            SEED,
        ],
        build: |settings, variant| {
            let parameters = lines69_parameters(settings);
            Ok(Box::new(Lines69::new(parameters, variant, settings.integer("seed"))))
        },
    },
    BotEntry {
        name: "cutoff",
        style: "thorough",
        about: "searches the deeper the fuller the board; counts only every fourth window, takes its time early",
        settings: &[],
        build: |_, variant| {
            if variant.connect() == Cutoff::CONNECT {
                Ok(Box::new(Cutoff::new(variant)))
            } else {
                Err(BotError::VariantNotPlayed { bot: "cutoff", variant, plays: LINES_OF_FOUR })
            }
        },
    },
    BotEntry {
        name: "montecarlo",
        style: "intuitive",
        about: "plays many random games and the move that won most; likes the centre, walks into traps",
        settings: &[
            Setting {
                name: "playouts",
                about: "random games a move; 10000 unless ms is set",
                kind: SettingKind::Integer { default: None, min: 1, max: 100_000_000 },
            },
            Setting {
                name: "ms",
                about: "milliseconds a move, if playouts is not set",
                kind: SettingKind::Integer { default: None, min: 1, max: MS_MAX },
            },
            SEED,
        ],
        build: |settings, _| {
            let limit = match (settings.integer_if_set("playouts"), settings.integer_if_set("ms")) {
                (Some(playouts), _) => PlayoutLimit::Playouts(playouts),
                (None, Some(ms)) => PlayoutLimit::Time(Duration::from_millis(ms)),
                (None, None) => PlayoutLimit::Playouts(DEFAULT_PLAYOUTS),
            };
            Ok(Box::new(MonteCarlo::new(limit, settings.integer("seed"))))
        },
    },
    BotEntry {
        name: "c4ai",
        style: "analytic",
        about: "searches to odd depths and plays the threats out in its head, with weights that evolved",
        settings: &[
            Setting {
                name: "weights",
                about: "of lines with one and two stones, of an atari, and of threats that win, draw and lose",
                kind: SettingKind::IntegersOrFile {
                    default: &EvolvedWeights::DEFAULT,
                    min: -EvolvedWeights::MAX,
                    max: EvolvedWeights::MAX,
                },
            },
            Setting {
                name: "ms",
                about: "milliseconds a move",
                kind: SettingKind::Integer { default: Some(1000), min: 1, max: MS_MAX },
            },
        ],
        build: |settings, variant| {
            if variant.connect() != C4ai::CONNECT {
                return Err(BotError::VariantNotPlayed { bot: "c4ai", variant, plays: LINES_OF_FOUR });
            }
            let weights = c4ai_weights(settings)?;
            let time = Duration::from_millis(settings.integer("ms"));
            Ok(Box::new(C4ai::new(weights, time, variant)))
        },
    },
    BotEntry {
        name: "mcts",
        style: "exploring",
        about: "grows a tree of random games and proves what it can; strong in the middle of the game",
        settings: &[
            Setting {
                name: "ms",
                about: "milliseconds a move, unless playouts is set",
                kind: SettingKind::Integer { default: Some(100), min: 1, max: MS_MAX },
            },
            Setting {
                name: "playouts",
                about: "random games a move; as many as time allows unless set",
                kind: SettingKind::Integer { default: None, min: 1, max: 100_000_000 },
            },
            SEED,
        ],
        build: |settings, variant| {
            let limit = match settings.integer_if_set("playouts") {
                Some(playouts) => PlayoutLimit::Playouts(playouts),
                None => PlayoutLimit::Time(Duration::from_millis(settings.integer("ms"))),
            };
            Ok(Box::new(Mcts::new(limit, variant, settings.integer("seed"))))
        },
    },
    BotEntry {
        name: "alphabeta",
        style: "calculating",
        about: "looks as deep as time allows and thinks of the endgame; the strongest of those who must search",
        settings: &[
            Setting {
                name: "ms",
                about: "milliseconds a move",
                kind: SettingKind::Integer { default: Some(100), min: 1, max: MS_MAX },
            },
            Setting {
                name: "depth",
                about: "plies it looks ahead at most; as many as it can unless set",
                kind: SettingKind::Integer { default: None, min: 1, max: 64 },
            },
        ],
        build: |settings, variant| {
            let depth = settings.integer_if_set("depth").map_or(Ok(variant.cells()), u32::try_from);
            let depth = depth.expect("the range fits 32 bits");
            let time = Duration::from_millis(settings.integer("ms"));
            Ok(Box::new(AlphaBeta::new(depth, time, variant)))
        },
    },
    BotEntry {
        name: "perfect",
        style: "omniscient",
        about: "never errs: wins as fast and loses as late as can be; at a level it overlooks what is far away",
        settings: &[
            Setting {
                name: "level",
                about: "how far it sees, about two plies a level; everything unless set",
                kind: SettingKind::Integer { default: None, min: 1, max: Level::MAX as u64 },
            },
            Setting {
                name: "style",
                about: "with `trap`, where it does not win, it plays what is hardest to answer; not at a level",
                kind: SettingKind::Choice { words: &["exact", "trap"] },
            },
            SEED,
        ],
        build: |settings, variant| {
            let level =
                settings.integer_if_set("level").and_then(|level| Level::new(u32::try_from(level).ok()?));
            let style = match (level, settings.text("style").as_str()) {
                (None, "trap") => Style::Trap,
                (None, _) => Style::Exact,
                (Some(level), "exact") => Style::Fallible(level),
                (Some(_), value) => {
                    let (value, allowed) = (value.to_owned(), "only exact at a level".to_owned());
                    return Err(BotError::BadValue { bot: settings.bot(), setting: "style", value, allowed });
                }
            };
            Ok(Box::new(Perfect::new(style, variant, settings.integer("seed"))))
        },
    },
    BotEntry {
        name: "ntuple",
        style: "learned",
        about: "taught itself by playing itself: sees at a glance what others have to search for",
        settings: &[
            Setting {
                name: "plies",
                about: "plies it looks ahead after its own move; 0 plays by what it has learnt alone",
                kind: SettingKind::Integer {
                    default: Some(Look::DEFAULT.plies as u64),
                    min: 0,
                    max: Look::PLIES_MAX as u64,
                },
            },
            Setting {
                name: "tactics",
                about: "whether it hands no win in one over and plays on while moves are forced; wins in one it takes always",
                kind: SettingKind::Switch { default: Look::DEFAULT.tactics },
            },
            Setting {
                name: "file",
                about: "a file that `fourfold train ntuple` wrote; without it the bot plays by what it ships with",
                kind: SettingKind::File,
            },
        ],
        build: build_ntuple,
    },
];
