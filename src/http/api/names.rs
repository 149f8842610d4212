//! Names of players, each looked up once for an answer.

use std::collections::HashMap;

use crate::http::state::AppState;
use crate::model::ids::{PlayerId, PlayerName};
use crate::storage::store::StoreError;

/// Those that were looked up.
#[derive(Debug, Default)]
pub(in crate::http) struct Names(HashMap<PlayerId, Option<PlayerName>>);

impl Names {
    /// The name of a player; `None` if nobody has that id.
    pub(in crate::http) async fn of(
        &mut self,
        state: &AppState,
        id: &PlayerId,
    ) -> Result<Option<PlayerName>, StoreError> {
        if let Some(known) = self.0.get(id) {
            return Ok(known.clone());
        }
        let name = state.store.player(id).await?.map(|player| player.name);
        self.0.insert(id.clone(), name.clone());
        Ok(name)
    }
}
