//! What owners of bots are told.

use fourfold_engine::{Side, SideResult};
use serde::Serialize;

use crate::competition::matchmaker::troubles::BotTrouble;
use crate::model::ids::{GameId, PlayerName};
use crate::model::result::EndReason;
use crate::play::host::GameOver;
use crate::storage::words::Word as _;

/// Something that happened.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub(super) enum Event {
    /// A game of one of one's bots is over.
    GameEnd(EndSeen),
    /// The ladder leaves a bot out for a while, after faults.
    BotPaused {
        bot: PlayerName,
        /// How it broke off last: time, illegal, absent or failed.
        fault: &'static str,
        /// When the pause ends, RFC 3339.
        until: Option<String>,
    },
    /// Nothing did: the owner tries its address.
    Ping { account: PlayerName },
}

/// The end of a game as the owner of the bot at one side reads it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct EndSeen {
    bot: PlayerName,
    opponent: PlayerName,
    game: GameId,
    variant: String,
    side: &'static str,
    moves: String,
    /// won, drawn, lost or void.
    result: &'static str,
    reason: EndReason,
    /// The bot's, if the game was rated.
    rating: Option<RatingSeen>,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
struct RatingSeen {
    before: i32,
    after: i32,
}

impl Event {
    pub(super) fn end(over: &GameOver, side: Side) -> Self {
        let (players, end) = (&over.public.players, &over.end);
        let change = end.rating.as_ref().map(|rating| match side {
            Side::First => &rating.first,
            Side::Second => &rating.second,
        });
        Self::GameEnd(EndSeen {
            bot: players[side].identity.name.clone(),
            opponent: players[side.opponent()].identity.name.clone(),
            game: end.game.clone(),
            variant: over.public.spec.variant.to_string(),
            side: side.word(),
            moves: end.moves.clone(),
            result: match end.result.seen_by(side) {
                Some(SideResult::Win) => "won",
                Some(SideResult::Draw) => "drawn",
                Some(SideResult::Loss) => "lost",
                None => "void",
            },
            reason: end.reason,
            rating: change.map(|change| RatingSeen { before: change.before, after: change.after }),
        })
    }

    pub(super) fn paused(bot: PlayerName, trouble: BotTrouble) -> Self {
        Self::BotPaused { bot, fault: trouble.fault, until: trouble.until.map(|until| until.to_string()) }
    }
}
