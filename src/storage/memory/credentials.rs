//! Passwords, tokens and guests in memory.

use super::MemoryTables;
use crate::model::ids::{GONE_PREFIX, GUEST_PREFIX, PlayerId, PlayerName, TokenId};
use crate::model::player::PlayerKind;
use crate::model::time::UnixMillis;
use crate::storage::record::{StoredGame, StoredPlayer, StoredToken, TokenKind};
use crate::storage::store::{IdleGuests, Refused, Written};
use fourfold_engine::Side;

impl MemoryTables {
    pub(super) fn set_password(
        &mut self,
        player: &PlayerId,
        password: &str,
        keeps: Option<&TokenId>,
    ) -> Result<Written, Refused> {
        self.check_kind(player, PlayerKind::Human)?;
        self.passwords.insert(player.clone(), password.to_owned());
        self.drop_reset_link(player);
        let goes = |token: &StoredToken| {
            token.player == *player && token.kind == TokenKind::Session && keeps != Some(&token.id)
        };
        Ok(self.end_tokens(goes))
    }

    pub(super) fn promote(
        &mut self,
        id: &PlayerId,
        name: &PlayerName,
        password: &str,
    ) -> Result<Written, Refused> {
        let is_guest = |player: &StoredPlayer| {
            player.kind == PlayerKind::Guest && !player.name.key().starts_with(GONE_PREFIX)
        };
        let guest = self.free_to_rename(id, name, is_guest)?;
        guest.kind = PlayerKind::Human;
        guest.name = name.clone();
        self.passwords.insert(id.clone(), password.to_owned());
        Ok(Written::Done)
    }

    pub(super) fn add_bot(
        &mut self,
        bot: &StoredPlayer,
        token: &StoredToken,
        at_most: u32,
    ) -> Result<Written, Refused> {
        if let Some(owner) = &bot.owner {
            self.check_kind(owner, PlayerKind::Human)?;
        }
        let bots = self.players.values().filter(|player| player.owner == bot.owner);
        if bots.count() >= at_most as usize {
            return Err(Refused::TooMany);
        }
        self.check_new(token)?;
        self.add_player(bot, None)?;
        self.tokens.insert(token.id.clone(), token.clone());
        Ok(Written::Done)
    }

    fn check_new(&self, token: &StoredToken) -> Result<(), Refused> {
        let is_taken = |other: &StoredToken| other.id == token.id || other.digest == token.digest;
        if self.tokens.values().any(is_taken) { Err(Refused::IdTaken) } else { Ok(()) }
    }

    fn check_kind(&self, player: &PlayerId, kind: PlayerKind) -> Result<(), Refused> {
        let is_one = self.players.get(player).is_some_and(|player| player.kind == kind);
        if is_one { Ok(()) } else { Err(Refused::NoSuchPlayer) }
    }

    pub(super) fn add_token(
        &mut self,
        token: &StoredToken,
        at_most: u32,
        password: Option<&String>,
    ) -> Result<Written, Refused> {
        self.check_player(&token.player)?;
        if self.check_kind(&token.player, PlayerKind::Guest).is_ok() {
            return Err(Refused::NoSuchPlayer);
        }
        if password.is_some() && self.passwords.get(&token.player) != password {
            return Err(Refused::PasswordChanged);
        }
        self.check_new(token)?;
        let others = self.tokens.values();
        let others = others.filter(|other| other.player == token.player && other.kind == token.kind);
        let mut others: Vec<(UnixMillis, TokenId)> =
            others.map(|other| (other.created_at, other.id.clone())).collect();
        others.sort();
        let surplus = (others.len() + 1).saturating_sub(at_most as usize);
        match token.kind {
            TokenKind::Bot if surplus > 0 => return Err(Refused::TooMany),
            TokenKind::Bot | TokenKind::Session => {}
        }
        self.tokens.insert(token.id.clone(), token.clone());
        let oldest: Vec<TokenId> = others.into_iter().take(surplus).map(|(_, id)| id).collect();
        Ok(self.end_tokens(|token| oldest.contains(&token.id)))
    }

    pub(super) fn rotate(&mut self, old: &TokenId, new: &StoredToken) -> Result<Written, Refused> {
        self.check_player(&new.player)?;
        let is_old = |token: &StoredToken| {
            token.id == *old && token.player == new.player && token.kind == TokenKind::Bot
        };
        if !self.tokens.values().any(is_old) {
            return Err(Refused::NoSuchToken);
        }
        self.check_new(new)?;
        let ended = self.end_tokens(is_old);
        self.tokens.insert(new.id.clone(), new.clone());
        Ok(ended)
    }

    pub(super) fn revoke(&mut self, player: &PlayerId, only: Option<&TokenId>) -> Result<Written, Refused> {
        self.check_player(player)?;
        Ok(self.end_tokens(|token| token.player == *player && only.is_none_or(|id| *id == token.id)))
    }

    fn end_tokens(&mut self, goes: impl Fn(&StoredToken) -> bool) -> Written {
        let ended: Vec<TokenId> =
            self.tokens.values().filter(|token| goes(token)).map(|token| token.id.clone()).collect();
        self.tokens.retain(|_, token| !goes(token));
        Written::Revoked(ended)
    }

    pub(super) fn replace_guest(
        &mut self,
        old: &PlayerId,
        new: &StoredPlayer,
        idle: IdleGuests,
    ) -> Result<Written, Refused> {
        if !self.players.get(old).is_some_and(|player| self.is_idle(player, idle)) {
            return Err(Refused::NoSuchPlayer);
        }
        if self.player_by_name(&new.name).is_some() {
            return Err(Refused::NameTaken);
        }
        self.puzzles.forget(old);
        self.links.retain(|link| link.maker != *old && link.to.as_ref() != Some(old));
        self.forget_reporting_guest(old);
        self.forget_ties(old);
        self.players.remove(old);
        self.players.insert(new.id.clone(), new.clone());
        Ok(Written::Done)
    }

    /// Forgets what belongs to somebody who leaves for good.
    pub(super) fn forget_own(&mut self, id: &PlayerId) {
        self.bot_versions.forget(id);
        self.forget_notes(id);
        self.operators.retain(|operator| operator.player != *id);
        self.webhooks.remove(id);
        self.tournaments.forget(id);
        self.forget_resets(id);
        self.forget_mail(id);
        self.vacations.retain(|(owner, _)| *owner != *id);
        self.pushes.retain(|push| push.owner != *id);
        self.forget_ties(id);
        self.studies.retain(|study| study.owner != *id);
    }

    pub(super) fn is_idle(&self, player: &StoredPlayer, idle: IdleGuests) -> bool {
        let plays = |game: &StoredGame| Side::BOTH.iter().any(|side| game.spec.players[*side] == player.id);
        let is_guest = player.kind == PlayerKind::Guest && player.name.key().starts_with(GUEST_PREFIX);
        is_guest
            && !self.games.values().any(plays)
            && match self.puzzles.last_try(&player.id) {
                None => player.created_at < idle.stored_before,
                Some(at) => at < idle.tried_before,
            }
    }
}
