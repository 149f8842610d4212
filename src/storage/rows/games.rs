//! Games with their settlements.

use fourfold_engine::BySide;
use tracing::error;

use super::events::EventsOfGames;
use super::{Damage, number, parsed, present, word};
use crate::model::clock::TimeControl;
use crate::model::ids::PlayerId;
use crate::model::rating::elo::{MilliElo, RatingEntry};
use crate::model::rating::newcomers::Footing;
use crate::model::result::GameResult;
use crate::model::time::UnixMillis;
use crate::storage::games::GameOutline;
use crate::storage::record::{
    DamagedGame, GamePair, GameSpec, OpeningSource, Settlement, StoredEvent, StoredGame, UnratedReason,
};
use crate::storage::words::Word;

/// What most reads bring: a game, or why it cannot be read.
pub(crate) type Loaded = Result<StoredGame, DamagedGame>;

row! {
    #[derive(Debug)]
    pub(crate) struct GameRow {
        pub(crate) key: i64,
        id: String,
        first_player: String,
        second_player: String,
        variant: String,
        bank_ms: Option<i64>,
        increment_ms: i64,
        move_ms: Option<i64>,
        rated: bool,
        unrated_because: Option<String>,
        opening_kind: String,
        opening_moves: String,
        pair_id: Option<String>,
        pair_leg: Option<i64>,
        pair_of: Option<i64>,
        started_at: i64,
        first_footing: Option<String>,
        second_footing: Option<String>,
        first_version: Option<String>,
        second_version: Option<String>,
        number: Option<i64>,
        result: Option<String>,
        moves: Option<String>,
        settled_unrated_because: Option<String>,
        hash: Option<String>,
        entries: i64,
        first_before: Option<i64>,
        first_delta: Option<i64>,
        first_after: Option<i64>,
        second_before: Option<i64>,
        second_delta: Option<i64>,
        second_after: Option<i64>,
    }
}

impl GameRow {
    /// Whether it is not settled.
    pub(crate) fn goes_on(&self) -> bool {
        self.number.is_none()
    }

    fn decode(self, events: Result<Vec<StoredEvent>, Damage>) -> Loaded {
        let number = self.number.and_then(|number| u64::try_from(number).ok());
        self.decode_game(events).map_err(|damage| DamagedGame { id: self.id.clone(), number, what: damage.0 })
    }

    fn decode_game(&self, events: Result<Vec<StoredEvent>, Damage>) -> Result<StoredGame, Damage> {
        let game = StoredGame { spec: self.spec()?, events: events?, settlement: self.settlement()? };
        self.check_settlement(&game)?;
        Ok(game)
    }

    fn spec(&self) -> Result<GameSpec, Damage> {
        Ok(GameSpec {
            id: parsed("game.id", &self.id)?,
            players: players(&self.first_player, &self.second_player)?,
            variant: parsed("game.variant", &self.variant)?,
            time: TimeControl {
                bank_ms: self.bank_ms.map(|ms| number("game.bank_ms", ms)).transpose()?,
                increment_ms: number("game.increment_ms", self.increment_ms)?,
                move_ms: self.move_ms.map(|ms| number("game.move_ms", ms)).transpose()?,
            },
            rated: self.rated,
            unrated_because: unrated_reason(self.unrated_because.as_deref())?,
            footing: footing(self.first_footing.as_deref(), self.second_footing.as_deref())?,
            versions: versions(self.first_version.as_deref(), self.second_version.as_deref()),
            opening: OpeningSource {
                kind: word("game.opening_kind", &self.opening_kind)?,
                moves: self.opening_moves.clone(),
            },
            pair: self.pair()?,
            started_at: UnixMillis(self.started_at),
        })
    }

    fn pair(&self) -> Result<Option<GamePair>, Damage> {
        let Some(id) = &self.pair_id else { return Ok(None) };
        Ok(Some(GamePair {
            id: parsed("game.pair_id", id)?,
            leg: number("game.pair_leg", present("game.pair_leg", self.pair_leg)?)?,
            of: number("game.pair_of", present("game.pair_of", self.pair_of)?)?,
        }))
    }

    fn settlement(&self) -> Result<Option<Settlement>, Damage> {
        let Some(settled) = self.number else { return Ok(None) };
        let first = entry(self.first_before, self.first_delta, self.first_after);
        let second = entry(self.second_before, self.second_delta, self.second_after);
        let ratings = match (first, second, self.entries) {
            (Some(first), Some(second), 2) => Some(BySide { first, second }),
            (None, None, 0) => None,
            _ => return Err(Damage(format!("{} rating entries, not one for each player", self.entries))),
        };
        let unrated_because = unrated_reason(self.settled_unrated_because.as_deref())?;
        let hash = self.hash.as_deref().map(|hash| parsed("settlement.hash", hash)).transpose()?;
        Ok(Some(Settlement { number: number("settlement.number", settled)?, ratings, unrated_because, hash }))
    }

    /// Compares what the settlement repeats for the sake of searching with the log.
    fn check_settlement(&self, game: &StoredGame) -> Result<(), Damage> {
        match (game.ending(), &self.result, &self.moves) {
            (None, None, None) => Ok(()),
            (Some(ending), Some(result), Some(moves)) => {
                if word::<GameResult>("settlement.result", result)? != ending.result {
                    return Err(Damage(format!(
                        "the settlement says {result}, the log {}",
                        ending.result.word()
                    )));
                }
                let played = game.moves();
                if *moves == played {
                    Ok(())
                } else {
                    Err(Damage(format!("the settlement has the moves {moves}, the log {played}")))
                }
            }
            (Some(_), _, _) => Err(Damage("the log has an end, but there is no settlement".into())),
            (None, _, _) => Err(Damage("there is a settlement, but the log does not end with an end".into())),
        }
    }
}

fn players(first: &str, second: &str) -> Result<BySide<PlayerId>, Damage> {
    Ok(BySide { first: parsed("player.id", first)?, second: parsed("player.id", second)? })
}

fn versions(first: Option<&str>, second: Option<&str>) -> BySide<Option<Box<str>>> {
    BySide { first: first.map(Into::into), second: second.map(Into::into) }
}

pub(crate) fn footing(first: Option<&str>, second: Option<&str>) -> Result<Option<BySide<Footing>>, Damage> {
    let (Some(first), Some(second)) = (first, second) else { return Ok(None) };
    let read = |text| word("game.footing", text);
    Ok(Some(BySide { first: read(first)?, second: read(second)? }))
}

row! {
    /// A finished game without its moves.
    #[derive(Debug)]
    pub(crate) struct OutlineRow {
        id: String,
        first_player: String,
        second_player: String,
        variant: String,
        first_version: Option<String>,
        second_version: Option<String>,
        pair_id: Option<String>,
        unrated_because: Option<String>,
        result: String,
        first_before: Option<i64>,
        first_delta: Option<i64>,
        first_after: Option<i64>,
        second_before: Option<i64>,
        second_delta: Option<i64>,
        second_after: Option<i64>,
        ended_at: i64,
    }
}

/// Selects [`OutlineRow`]s, the newest first: the names of the parameters for the player's id and the most games.
macro_rules! select_outlines {
    ($player:literal, $limit:literal) => {
        concat!(
            "SELECT g.id, f.id AS first_player, s.id AS second_player, g.variant, g.first_version, g.second_version, \
             g.pair_id, g.unrated_because, n.result, ef.before AS first_before, ef.delta AS first_delta, \
             ef.after AS first_after, es.before AS second_before, es.delta AS second_delta, \
             es.after AS second_after, n.ended_at FROM player_game o JOIN settlement n ON n.number = o.number \
             JOIN game g ON g.key = n.game JOIN player f ON f.key = g.first_player \
             JOIN player s ON s.key = g.second_player \
             LEFT JOIN rating_entry ef ON ef.number = n.number AND ef.player = g.first_player \
             LEFT JOIN rating_entry es ON es.number = n.number AND es.player = g.second_player \
             WHERE o.player = (SELECT key FROM player WHERE id = ",
            $player,
            ") ORDER BY o.number DESC LIMIT ",
            $limit
        )
    };
}
pub(crate) use select_outlines;

impl OutlineRow {
    fn decode(&self) -> Result<GameOutline, Damage> {
        let first = entry(self.first_before, self.first_delta, self.first_after);
        let second = entry(self.second_before, self.second_delta, self.second_after);
        let unrated = unrated_reason(self.unrated_because.as_deref())?;
        Ok(GameOutline {
            id: parsed("game.id", &self.id)?,
            players: players(&self.first_player, &self.second_player)?,
            variant: parsed("game.variant", &self.variant)?,
            versions: versions(self.first_version.as_deref(), self.second_version.as_deref()),
            series: self.pair_id.as_deref().map(|id| parsed("game.pair_id", id)).transpose()?,
            is_load: unrated == Some(UnratedReason::Load),
            result: word("settlement.result", &self.result)?,
            ratings: first.zip(second).map(|(first, second)| BySide { first, second }),
            ended_at: UnixMillis(self.ended_at),
        })
    }

    /// Those that are not damaged; of the others the log has a line.
    pub(crate) fn sound(rows: &[Self]) -> Vec<GameOutline> {
        let decode = |row: &Self| {
            let damaged = |Damage(what)| report(&DamagedGame { id: row.id.clone(), number: None, what });
            row.decode().map_err(damaged).ok()
        };
        rows.iter().filter_map(decode).collect()
    }
}

fn unrated_reason(text: Option<&str>) -> Result<Option<UnratedReason>, Damage> {
    let read = |text| UnratedReason::from_text(text).ok_or_else(|| Damage::value("unrated_because", text));
    text.map(read).transpose()
}

fn entry(before: Option<i64>, delta: Option<i64>, after: Option<i64>) -> Option<RatingEntry> {
    Some(RatingEntry { before: MilliElo(before?), delta: delta?, after: MilliElo(after?) })
}

pub(crate) fn number_of(loaded: &Loaded) -> Option<u64> {
    match loaded {
        Ok(game) => game.settlement.as_ref().map(|settlement| settlement.number),
        Err(damaged) => damaged.number,
    }
}

/// Says in the log that a game was left out.
pub(crate) fn report(damaged: &DamagedGame) {
    error!(game = damaged.id, number = damaged.number, what = damaged.what, "game is damaged and left out");
}

row! {
    /// The internal keys of a game and its players.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct GameKeys {
        pub(crate) key: i64,
        pub(crate) first_player: i64,
        pub(crate) second_player: i64,
    }
}

impl GameKeys {
    pub(crate) fn players(self) -> BySide<i64> {
        BySide { first: self.first_player, second: self.second_player }
    }
}

/// Puts games and their events together, in the order of the games.
pub(crate) fn assembled(games: Vec<GameRow>, mut events: EventsOfGames) -> Vec<Loaded> {
    let loaded = games.into_iter().map(|game| {
        let events = events.take(game.key);
        game.decode(events)
    });
    loaded.collect()
}

/// Those that are not damaged; of the others the log has a line.
pub(crate) fn sound(loaded: Vec<Loaded>) -> Vec<StoredGame> {
    let mut games = Vec::with_capacity(loaded.len());
    for game in loaded {
        match game {
            Ok(game) => games.push(game),
            Err(damaged) => report(&damaged),
        }
    }
    games
}
