//! What operators do to players, in memory.

use std::cmp::Reverse;

use async_trait::async_trait;

use super::{MemoryStore, MemoryTables};
use crate::model::ids::{GUEST_PREFIX, PlayerId, PlayerName};
use crate::model::invitation::InvitationCode;
use crate::model::player::PlayerKind;
use crate::model::portrait::Portrait;
use crate::storage::moderation::{
    AuditAction, AuditEntry, AuditNote, Because, Measure, MeasureKind, ModerationStore,
};
use crate::storage::record::{Ban, StoredPlayer};
use crate::storage::store::{Refused, StoreError, Written};

impl MemoryTables {
    pub(super) fn take(&mut self, measure: &Measure) -> Result<Written, Refused> {
        let Measure { player, kind, because } = measure;
        let done = match kind {
            MeasureKind::Ban { until } => {
                let ban = Ban { until: *until, reason: because.reason.clone() };
                self.registered(player)?.ban = Some(ban);
                Written::Done
            }
            MeasureKind::Unban => {
                let banned = self.players.get_mut(player).filter(|player| player.ban.is_some());
                banned.ok_or(Refused::NotBanned)?.ban = None;
                Written::Done
            }
            MeasureKind::Rename { name, .. } => {
                if self.player_by_name(name).is_some_and(|other| other.id != *player) {
                    return Err(Refused::NameTaken);
                }
                self.renamed(player, name)?.name = name.clone();
                Written::Done
            }
            MeasureKind::ClearProfile => self.set_portrait(player, &Portrait::default())?,
            MeasureKind::ResetPassword { password } => self.set_password(player, password, None)?,
            MeasureKind::SignOut => self.revoke(player, None)?,
            MeasureKind::Mute { until } => {
                self.registered(player)?.mute = Some(Ban { until: *until, reason: because.reason.clone() });
                Written::Done
            }
            MeasureKind::Unmute => {
                let muted = self.players.get_mut(player).filter(|player| player.mute.is_some());
                muted.ok_or(Refused::NotMuted)?.mute = None;
                Written::Done
            }
            MeasureKind::Delete { name } => {
                self.registered(player)?;
                self.leave(player, name)?
            }
            MeasureKind::Admit { code, uses } if self.admitted(code) >= *uses => return Err(Refused::UsedUp),
            MeasureKind::Admit { .. } => Written::Done,
            MeasureKind::Appoint { salt, recovery } => self.appoint(player, because.at, salt, recovery)?,
            MeasureKind::Dismiss => self.dismiss(player)?,
        };
        self.note(kind.entry(player), because);
        Ok(done)
    }

    /// What a person shows from now on.
    pub(super) fn set_portrait(&mut self, id: &PlayerId, portrait: &Portrait) -> Result<Written, Refused> {
        let person = self.players.get_mut(id).filter(|player| player.kind == PlayerKind::Human);
        person.ok_or(Refused::NoSuchPlayer)?.portrait = portrait.clone();
        Ok(Written::Done)
    }

    fn admitted(&self, code: &InvitationCode) -> u32 {
        let is_by_it = |entry: &&AuditEntry| {
            entry.action == AuditAction::Admit && entry.detail.as_deref() == Some(code.as_str())
        };
        u32::try_from(self.audit.iter().filter(is_by_it).count()).unwrap_or(u32::MAX)
    }

    fn registered(&mut self, id: &PlayerId) -> Result<&mut StoredPlayer, Refused> {
        let player = self.players.get_mut(id);
        let player = player.filter(|player| !player.house && player.kind != PlayerKind::Guest);
        player.ok_or(Refused::NoSuchPlayer)
    }

    /// Whoever may get this name from an operator: a guest keeps the mark of guests.
    fn renamed(&mut self, id: &PlayerId, name: &PlayerName) -> Result<&mut StoredPlayer, Refused> {
        let is_marked = |name: &PlayerName| name.key().starts_with(GUEST_PREFIX);
        let stays_guest =
            self.players.get(id).is_some_and(|player| is_marked(&player.name)) && is_marked(name);
        if stays_guest {
            return self.players.get_mut(id).ok_or(Refused::NoSuchPlayer);
        }
        self.registered(id)
    }

    pub(super) fn note(&mut self, note: AuditNote, because: &Because) {
        let Because { reason, by, at } = because.clone();
        let AuditNote { action, subject, detail, until } = note;
        let number = self.audit.len() as u64 + 1;
        self.audit.push(AuditEntry { number, action, subject, detail, until, reason, by: Some(by), at });
    }
}

#[async_trait]
impl ModerationStore for MemoryStore {
    async fn audit_log(&self, before: Option<u64>, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let tables = self.tables();
        let earlier = |entry: &&AuditEntry| before.is_none_or(|before| entry.number < before);
        Ok(tables.audit.iter().rev().filter(earlier).take(limit as usize).cloned().collect())
    }

    async fn orders(&self) -> Result<Vec<AuditEntry>, StoreError> {
        let is_order = |entry: &&AuditEntry| AuditAction::ORDERS.contains(&entry.action);
        Ok(self.tables().audit.iter().filter(is_order).cloned().collect())
    }

    async fn admitted(&self, code: &InvitationCode) -> Result<u32, StoreError> {
        Ok(self.tables().admitted(code))
    }

    async fn newest_registered(&self, limit: u32) -> Result<Vec<StoredPlayer>, StoreError> {
        let tables = self.tables();
        let is_registered = |player: &&StoredPlayer| !player.house && player.kind != PlayerKind::Guest;
        let mut players: Vec<StoredPlayer> = tables.players.values().filter(is_registered).cloned().collect();
        players.sort_by_key(|player| (Reverse(player.created_at), player.name.key()));
        players.truncate(limit as usize);
        Ok(players)
    }

    async fn restricted(&self, limit: u32) -> Result<Vec<StoredPlayer>, StoreError> {
        let tables = self.tables();
        let is_restricted = |player: &&StoredPlayer| player.ban.is_some() || player.mute.is_some();
        let mut players: Vec<StoredPlayer> = tables.players.values().filter(is_restricted).cloned().collect();
        players.sort_by_key(|player| player.name.key());
        players.truncate(limit as usize);
        Ok(players)
    }

    async fn registered(
        &self,
        kind: PlayerKind,
        after: Option<&PlayerName>,
        limit: u32,
    ) -> Result<Vec<StoredPlayer>, StoreError> {
        let tables = self.tables();
        let is_wanted = |player: &&StoredPlayer| {
            player.kind == kind && !player.house && after.is_none_or(|after| player.name.key() > after.key())
        };
        let mut players: Vec<StoredPlayer> = tables.players.values().filter(is_wanted).cloned().collect();
        players.sort_by_key(|player| player.name.key());
        players.truncate(limit as usize);
        Ok(players)
    }
}
