//! Taking games out, one or those of an account, in memory.

use fourfold_engine::Variant;

use super::{MemoryTables, ended_at};
use crate::model::ids::GameId;
use crate::storage::moderation::{AuditNote, Because};
use crate::storage::published::VoidedGame;
use crate::storage::record::UnratedReason;
use crate::storage::refit::{RefitContent, RefitGame, RefitStep};
use crate::storage::refold::{Refold, Voided};
use crate::storage::resets::Resets;
use crate::storage::settle::{RatingVerdict, Referee};
use crate::storage::starts::Starts;
use crate::storage::store::{Refused, Written};

impl MemoryTables {
    pub(super) fn void(&mut self, game: &GameId, because: &Because) -> Result<Written, Refused> {
        let voided = VoidedGame { game: game.clone(), reason: because.reason.clone(), at: because.at };
        let place = self.finished.iter().position(|id| *id == voided.game).ok_or(Refused::NoSuchGame)?;
        if self.voided.iter().any(|other| other.game == voided.game) {
            return Err(Refused::AlreadyVoided);
        }
        let variant = self.games[&voided.game].spec.variant;
        self.voided.push(voided);
        self.note(AuditNote::void(game), because);
        self.refold(variant);
        self.unpublish();
        self.learners.withdraw(|number| number == place as u64 + 1);
        Ok(Written::Done)
    }

    /// Settles all games of a variant again.
    pub(super) fn refold(&mut self, variant: Variant) {
        let mut fold = Refold::new(Starts::of(self.players.values()), &Resets::of(&self.resets));
        for (number, id) in (1..).zip(&self.finished) {
            let Some(game) = self.games.get_mut(id).filter(|game| game.spec.variant == variant) else {
                continue;
            };
            let (moves, Some(ending)) = (game.moves(), game.ending().copied()) else { continue };
            let is_voided = self.voided.iter().any(|voided| voided.game == *id);
            let voided = if is_voided { Voided::Yes } else { Voided::No };
            let referee = Referee { spec: &game.spec, moves: &moves, ending };
            let verdict = fold.settle(number, &referee, ended_at(game), voided);
            let Some(settlement) = &mut game.settlement else { continue };
            (settlement.ratings, settlement.unrated_because) = match verdict {
                RatingVerdict::Rated(changes) => (Some(changes.map(|change| change.entry)), None),
                RatingVerdict::Unrated(reason) => (None, reason),
            };
        }
        self.ratings.retain(|(_, of), _| *of != variant);
        self.ratings.extend(fold.standing().map(|(player, row)| ((player, variant), row)));
        self.gains.retain(|(_, of), _| *of != variant);
        self.gains.extend(fold.gains.into_iter().map(|(player, gains)| ((player, variant), gains)));
    }

    pub(super) fn is_voided(&self, game: &GameId) -> bool {
        self.voided.iter().any(|voided| voided.game == *game)
    }

    pub(super) fn void_all(&mut self, games: &[GameId], because: &Because) -> Written {
        for id in games {
            let Some(place) = self.finished.iter().position(|finished| finished == id) else { continue };
            if self.is_voided(id) {
                continue;
            }
            let voided = VoidedGame { game: id.clone(), reason: because.reason.clone(), at: because.at };
            self.voided.push(voided);
            self.note(AuditNote::void(id), because);
            self.learners.withdraw(|number| number == place as u64 + 1);
            self.unpublish();
            let Some(game) = self.games.get_mut(id) else { continue };
            let Some(settlement) = &mut game.settlement else { continue };
            settlement.unrated_because = Some(UnratedReason::Voided);
            if settlement.ratings.take().is_some() {
                let after = self.owed.entry(game.spec.variant.to_string()).or_insert(place as u64);
                *after = (*after).min(place as u64);
            }
        }
        Written::Done
    }

    pub(super) fn refit_games(&self, variant: Variant, after: u64) -> impl Iterator<Item = RefitGame> {
        let is_wanted = move |(number, game): &(u64, &crate::storage::StoredGame)| {
            let spec = &game.spec;
            *number > after && spec.variant == variant && spec.rated && spec.unrated_because.is_none()
        };
        self.finished_games().filter(is_wanted).filter_map(|(number, game)| {
            Some(RefitGame {
                number,
                spec: game.spec.clone(),
                moves: game.moves(),
                ending: *game.ending()?,
                ended_at: ended_at(game),
                voided: if self.is_voided(&game.spec.id) { Voided::Yes } else { Voided::No },
            })
        })
    }

    pub(super) fn refit(&mut self, step: &RefitStep) -> Result<Written, Refused> {
        let variant = step.variant.to_string();
        if self.publication.revision != step.revision || self.owed.get(&variant) != Some(&step.after) {
            return Err(Refused::Outdated);
        }
        match &step.content {
            RefitContent::Games(games) => {
                for resettled in games {
                    let id = usize::try_from(resettled.number).ok().and_then(|n| self.finished.get(n - 1));
                    let game = id.and_then(|id| self.games.get_mut(id));
                    let Some(settlement) = game.and_then(|game| game.settlement.as_mut()) else { continue };
                    (settlement.ratings, settlement.unrated_because) = match resettled.verdict {
                        RatingVerdict::Rated(changes) => (Some(changes.map(|change| change.entry)), None),
                        RatingVerdict::Unrated(reason) => (None, reason),
                    };
                }
                if let Some(last) = games.last() {
                    self.owed.insert(variant, last.number);
                }
            }
            RefitContent::Ratings(_) if self.refit_games(step.variant, step.after).next().is_some() => {
                return Err(Refused::Outdated);
            }
            RefitContent::Ratings(_) => {
                // What was gained of newcomers belongs to it, and no step has it.
                self.refold(step.variant);
                self.owed.remove(&variant);
                self.unpublish();
            }
        }
        Ok(Written::Done)
    }
}
