//! What house bots do for people: one is offered to whoever waits long, and any can be played at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fourfold_engine::Variant;

use super::seeks::Seeker;
use super::{LobbyActor, LobbyAnswer, lookup, need_account, offer_of};
use crate::lobby::acceptance::{Proposal, check};
use crate::lobby::challenge::{Party, check_house_terms};
use crate::lobby::lookup::shown;
use crate::lobby::pairing::Waiting;
use crate::model::clock::TimeControl;
use crate::model::player::{Identity, PlayerKind};
use crate::model::rating::elo::NEWCOMER_ELO;
use crate::play::host::GameOffer;
use crate::play::house::BotSource;
use crate::play::presence::Session;
use crate::play::room::handle::ReplyTo;
use crate::protocol::client::{PlayBot, Seek};
use crate::protocol::server::{BotOffer, Done, Frame, ServerMessage};
use crate::protocol::terms::{Accepts, SeriesLength, Terms};
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
            let variant = seeker.waiting.seek.variant.0;
            let fixed = house.iter().filter(|bot| matches!(bot.source, BotSource::Fixed(_)));
            let playing: Vec<_> = fixed.filter(|bot| bot.plays(variant)).collect();
            // Characters are there for people; where none of them plays, the others are.
            let characters: Vec<_> = playing.iter().copied().filter(|bot| bot.level.is_some()).collect();
            let bots = if characters.is_empty() { playing } else { characters };
            let bots = bots.into_iter().map(|bot| bot.identity.clone()).collect();
            self.offer_nearest(seeker, bots);
        }
    }

    /// Offers one of these, with what the store knows of them: the lobby does not wait for that.
    fn offer_nearest(&self, seeker: &Seeker, bots: Vec<Identity>) {
        let (session, Waiting { seek, elo, .. }) = (Arc::clone(&seeker.session), seeker.waiting.clone());
        let Some(present) = self.deps.sessions.present(session.player()) else { return };
        let accepts = offered_by_house(present.settings.accepts, &seek);
        let lookup = lookup(&self.deps);
        self.deps.tasks.spawn(async move {
            let (time, variant) = (seek.time.control(), seek.variant);
            let mut parties = Vec::new();
            for bot in bots {
                // If the store cannot be read that is logged, and nobody has asked for the offer.
                let Ok(party) = lookup.party(bot, variant.0).await else { return };
                parties.push(party);
            }
            let terms = (time, seek.rated, variant.0);
            if let Some(Party { shown: bot, .. }) = nearest(parties, &accepts, terms, elo) {
                session.tell(ServerMessage::BotOffer(BotOffer { bot, time, variant }));
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

/// What somebody accepts who waits. The board is that of the search, and so are the ratings if it names some; that it
/// is for people says nothing about what to do where nobody comes.
fn offered_by_house(accepts: Accepts, seek: &Seek) -> Accepts {
    Accepts { variants: vec![seek.variant], rating: seek.rating.or(accepts.rating), ..accepts }
}

/// Who suits somebody with so many points best, a newcomer if there are none: whoever is nearest of those that are
/// accepted, the first of two.
fn nearest(
    parties: Vec<Party>,
    accepts: &Accepts,
    (time, rated, variant): (TimeControl, bool, Variant),
    elo: Option<i32>,
) -> Option<Party> {
    let is_accepted = |party: &Party| {
        let proposal =
            Proposal { time, rated, variant, opponent: PlayerKind::Bot, opponent_elo: party.elo() };
        check(accepts, &proposal).is_ok()
    };
    let own = elo.unwrap_or(NEWCOMER_ELO);
    let distance = |party: &Party| party.elo().map_or(u32::MAX, |elo| elo.abs_diff(own));
    parties.into_iter().filter(is_accepted).min_by_key(distance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::terms::{WirePlayer, WireRating};
    use crate::storage::conformance::player;

    fn party(name: &str, elo: i32) -> Party {
        let identity = crate::accounts::identity_of(&player(name, PlayerKind::Bot));
        let mut shown = WirePlayer::new(&identity, None, None);
        shown.rating = Some(WireRating { elo, pm95: 0, provisional: false });
        Party { identity, shown }
    }

    #[test]
    fn whoever_is_nearest_is_offered() {
        let time = TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None };
        let of = |own: Option<i32>, accepts: &Accepts| {
            let parties =
                vec![party("one", 400), party("two", 723), party("three", 1_166), party("four", 1_500)];
            let found = nearest(parties, accepts, (time, false, Variant::STANDARD), own);
            found.map(|party| party.identity.name.to_string())
        };
        let all = Accepts::default();
        for (own, expected) in
            [(None, "two"), (Some(100), "one"), (Some(1_300), "three"), (Some(9_000), "four")]
        {
            assert_eq!(of(own, &all).as_deref(), Some(expected), "{own:?}");
        }
        let low: Accepts = serde_json::from_str(r#"{"rating": [0, 500]}"#).unwrap();
        assert_eq!(of(Some(9_000), &low).as_deref(), Some("one"));
        let nobody: Accepts = serde_json::from_str(r#"{"opponents": ["human"]}"#).unwrap();
        assert_eq!(of(None, &nobody), None);
    }
}
