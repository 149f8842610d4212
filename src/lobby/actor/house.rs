//! What house bots do for people: one is offered to whoever waits long, and any can be played at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{LobbyActor, LobbyAnswer, lookup, need_account, offer_of};
use crate::lobby::challenge::{Party, check_house_terms};
use crate::lobby::lookup::shown;
use crate::model::clock::TimeControl;
use crate::model::player::Identity;
use crate::play::host::GameOffer;
use crate::play::house::BotSource;
use crate::play::presence::Session;
use crate::play::room::handle::ReplyTo;
use crate::protocol::client::PlayBot;
use crate::protocol::server::{BotOffer, Done, Frame, ServerMessage};
use crate::protocol::terms::{SeriesLength, Terms, WireVariant};
use crate::protocol::{ErrorCode, WireError};

/// A person who has waited so long is offered a house bot.
const BOT_OFFER_AFTER: Duration = Duration::from_secs(10);

impl LobbyActor {
    /// Offers a house bot to people who have waited long, once for each seek.
    pub(super) fn offer_bots(&mut self, now: Instant) {
        let house = self.deps.host.house().all();
        for (member, since) in self.offered_bots.take_before(now.checked_sub(BOT_OFFER_AFTER)) {
            let Some(seeker) = self.seekers.get(&member).filter(|seeker| seeker.waiting.since == since)
            else {
                continue;
            };
            let variant = seeker.waiting.seek.variant;
            // The middle of the configured line-up, which is ordered from weak to strong, suits a stranger best.
            let fixed = house.iter().filter(|bot| matches!(bot.source, BotSource::Fixed(_)));
            let playing: Vec<_> = fixed.filter(|bot| bot.plays(variant.0)).collect();
            if let Some(bot) = playing.get(playing.len() / 2) {
                let time = seeker.waiting.seek.time.control();
                self.offer_bot(Arc::clone(&seeker.session), bot.identity.clone(), time, variant);
            }
        }
    }

    /// Offers one, with what the store knows of it: the lobby does not wait for that.
    fn offer_bot(&self, seeker: Arc<Session>, bot: Identity, time: TimeControl, variant: WireVariant) {
        let lookup = lookup(&self.deps);
        self.deps.tasks.spawn(async move {
            // If the store cannot be read that is logged, and nobody has asked for the offer.
            if let Ok(Party { shown: bot, .. }) = lookup.party(bot, variant.0).await {
                seeker.tell(ServerMessage::BotOffer(BotOffer { bot, time, variant }));
            }
        });
    }

    pub(super) fn play_bot(
        &mut self,
        session: &Arc<Session>,
        play: &PlayBot,
        reply: &ReplyTo,
    ) -> LobbyAnswer {
        let bot = play.bot.parse().ok().and_then(|name| self.deps.host.house().by_name(&name));
        let bot = bot.ok_or_else(|| {
            let message = format!("no house bot is called {}", shown(&play.bot));
            WireError::new(ErrorCode::NoSuchBot, message)
        })?;
        let me = session.identity();
        if play.rated {
            need_account(me)?;
        }
        let terms = Terms {
            time: play.time,
            rated: play.rated,
            variant: play.variant,
            opening: play.opening.clone(),
            games: SeriesLength::default(),
            side: play.side,
            load: false,
            private: false,
        };
        let terms = check_house_terms(&terms, me, &bot.identity)?;
        self.need_free(me)?;
        self.unseek(session.member());
        let offer = offer_of(me.clone(), bot.identity.clone(), &terms);
        let offer = GameOffer { pace: play.pace, ..offer };
        let (host, reply) = (self.deps.host.clone(), reply.clone());
        self.deps.tasks.spawn(async move {
            match host.start(offer).await {
                Ok(_) => reply.send(&Frame::new(ServerMessage::Ok(Done {}))),
                Err(error) => reply.send(&error.to_wire().into()),
            }
        });
        Ok(())
    }
}
