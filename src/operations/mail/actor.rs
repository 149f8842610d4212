//! Hands mails over, one after the other, and looks for bots whose owners are to be told that they are paused, and for
//! players who are to be told that it is their turn.

use std::sync::Arc;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{Mailer, Occasion, Outgoing, Posted, WAITING_MAX};
use crate::competition::matchmaker::Troubles;
use crate::competition::matchmaker::troubles::{BotTrouble, Pauses};
use crate::model::ids::PlayerId;
use crate::operations::push::Pusher;
use crate::operations::turns::{BY_MAIL, DueTurn, TurnsTold};
use crate::play::open_turns;
use crate::play::presence::Sessions;
use crate::play::room::Directory;
use crate::storage::Store;
use crate::storage::store::StoreError;
use crate::system::part::Part;
use crate::system::supervision::{BoxedError, Kept};

/// Has the mails that wait.
#[derive(Debug)]
pub(crate) struct MailActor {
    mailer: Mailer,
    outgoing: Outgoing,
    /// Those that were not taken, and when they are tried again.
    again: Vec<(Instant, Posted)>,
    store: Arc<dyn Store>,
    pauses: Pauses,
    seen: MailOccasions,
    turns: TurnsTold,
}

/// Where it is seen what people are written about by itself.
#[derive(Clone, Debug)]
pub(crate) struct MailOccasions {
    /// Bots that the ladder leaves out.
    pub(crate) troubles: Troubles,
    /// Where the games by correspondence are.
    pub(crate) directory: Directory,
    /// Who is connected, and sees without a mail.
    pub(crate) sessions: Sessions,
    /// What browsers are told by, if they are.
    pub(crate) pusher: Option<Pusher>,
}

impl Kept for MailActor {
    fn part(&self) -> Part {
        Part::Mail
    }

    async fn run(&mut self, stop: &CancellationToken) -> Result<(), BoxedError> {
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = self.work() => {}
        }
        Ok(())
    }

    /// The mail in hand is not sent.
    async fn renew(&mut self) -> Result<(), BoxedError> {
        Ok(())
    }
}

impl MailActor {
    pub(crate) fn new(
        mailer: Mailer,
        outgoing: Outgoing,
        store: Arc<dyn Store>,
        seen: MailOccasions,
    ) -> Self {
        let pauses = Pauses::new(seen.troubles.clone());
        Self { mailer, outgoing, again: Vec::new(), store, pauses, seen, turns: TurnsTold::by(BY_MAIL) }
    }

    async fn work(&mut self) {
        let mut look = tokio::time::interval(Pauses::LOOK_EVERY);
        let mut look_at_turns = tokio::time::interval(self.turns.rule().look_every);
        loop {
            let place = self.next_again();
            let due = place.map(|place| self.again[place].0);
            tokio::select! {
                biased;
                () = sleep_until(due) => {
                    if let Some(place) = place {
                        let (_, posted) = self.again.swap_remove(place);
                        self.hand_over(posted).await;
                    }
                }
                posted = self.outgoing.0.recv() => match posted {
                    Some(posted) => self.hand_over(posted).await,
                    None => return,
                },
                _ = look.tick() => {
                    if let Err(error) = self.tell_of_pauses().await {
                        warn!(%error, "owners of bots could not be written to");
                    }
                }
                _ = look_at_turns.tick() => {
                    if let Err(error) = self.tell_of_turns().await {
                        warn!(%error, "players by correspondence could not be written to");
                    }
                }
            }
        }
    }

    /// Which of those that wait is due first.
    fn next_again(&self) -> Option<usize> {
        (0..self.again.len()).min_by_key(|place| self.again[*place].0)
    }

    async fn hand_over(&mut self, mut posted: Posted) {
        self.mailer.noted().waiting -= 1;
        let Err(error) = self.mailer.attempt(&posted.letter).await else { return };
        let pause = self.mailer.inner.deps.retries.get(posted.tried).copied();
        let Some(pause) = pause.filter(|_| !error.is_final() && self.again.len() < WAITING_MAX) else {
            self.mailer.lost("lost");
            return;
        };
        posted.tried += 1;
        self.mailer.noted().waiting += 1;
        self.again.push((Instant::now() + pause, posted));
    }

    /// Writes to owners of bots that were not paused when it was last looked.
    async fn tell_of_pauses(&mut self) -> Result<(), StoreError> {
        for (bot, trouble) in self.pauses.new_ones() {
            self.tell_of_pause(&bot, trouble).await?;
        }
        Ok(())
    }

    /// Writes to the owner of a bot, if it has said that it wants to hear of this and where.
    async fn tell_of_pause(&self, bot: &PlayerId, trouble: BotTrouble) -> Result<(), StoreError> {
        let Some(bot) = self.store.player(bot).await? else { return Ok(()) };
        let Some(owner) = &bot.owner else { return Ok(()) };
        let site = &self.mailer.inner.deps.site;
        let occasion = Occasion::Paused {
            page: format!("{site}/bot/{}", bot.name),
            settings: format!("{site}/account"),
            bot: bot.name,
            fault: trouble.fault,
            until: trouble.until,
        };
        self.tell(owner, &occasion).await
    }

    /// Writes to those whose turn it is by correspondence, and who are not there.
    pub(super) async fn tell_of_turns(&mut self) -> Result<(), StoreError> {
        let open = open_turns::all(&self.seen.directory).await;
        for DueTurn { turn, is_first } in self.turns.due(open, |player| self.seen.sessions.is_online(player))
        {
            // Their browser has shown it already. That little time is left comes by mail all the same.
            if is_first && self.is_shown_to(&turn.mover.id).await? {
                continue;
            }
            let site = &self.mailer.inner.deps.site;
            let occasion = Occasion::Turn {
                opponent: turn.opponent.name,
                left: turn.left,
                page: format!("{site}/game/{}", turn.game),
                settings: format!("{site}/account"),
            };
            self.tell(&turn.mover.id, &occasion).await?;
        }
        Ok(())
    }

    /// Whether some browser shows somebody whose turn it is.
    async fn is_shown_to(&self, player: &PlayerId) -> Result<bool, StoreError> {
        match &self.seen.pusher {
            Some(pusher) => Ok(!pusher.browsers_of(player).await?.is_empty()),
            None => Ok(false),
        }
    }

    /// Writes to an account about what happened by itself, if it has said that it wants to hear of such things, and
    /// where.
    async fn tell(&self, account: &PlayerId, occasion: &Occasion) -> Result<(), StoreError> {
        let mail = self.store.mail(account).await?;
        let Some(mail) = mail.filter(|mail| mail.notices && mail.verified_at.is_some()) else {
            return Ok(());
        };
        let posted = self.mailer.allow(account).and_then(|()| self.mailer.post(&mail, occasion));
        if let Err(error) = posted {
            debug!(%account, %error, "an account is not written to");
        }
        Ok(())
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
