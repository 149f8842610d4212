//! The verdict on what is kept: the daemon's own verifier, the kill test's comparison, and what was shown.

use fourfold::operations::verify::verify;
use fourfold::storage::store::{GameQuery, Notes};
use fourfold::storage::{Store, StoredGame};

use crate::told;
use crate::witness::Witness;

/// Everything that is wrong, one line each. What is kept goes into the witness's hash.
pub(crate) async fn judge(store: &dyn Store, witness: &mut Witness) -> Vec<String> {
    allow_house_bots(store, witness).await;
    let mut faults = std::mem::take(&mut witness.faults);
    faults.extend(verify(store).await.expect("a readable store").findings);
    let (kept, wrong) = told::read(store).await;
    faults.extend(wrong);
    faults.extend(told::find_faults(&witness.promised(), &kept));
    for game in games(store).await {
        faults.extend(witness.compare(&game));
        witness.note(format!("{game:?}"));
    }
    faults.sort();
    faults.dedup();
    faults
}

/// Bots of the house may have played anything: they are no clients.
async fn allow_house_bots(store: &dyn Store, witness: &mut Witness) {
    let house = store.house_bots().await.expect("a readable store");
    for game in games(store).await {
        let mut of_house = 0;
        for (player, parity) in [(&game.spec.players.first, 0), (&game.spec.players.second, 1)] {
            if house.iter().any(|bot| bot.id == *player) {
                witness.anything_goes(&game.spec.id, parity);
                of_house += 1;
            }
        }
        if of_house == 2 && game.settlement.is_some() {
            witness.see("kept", "game of the ladder");
        }
    }
}

/// All games, in the order of their ids.
pub(crate) async fn games(store: &dyn Store) -> Vec<StoredGame> {
    let query = GameQuery { limit: u32::MAX, notes: Notes::Read, ..GameQuery::default() };
    let mut games = store.finished_games(&query).await.expect("readable games");
    games.extend(store.live_games().await.expect("readable games"));
    games.sort_by(|one, other| one.spec.id.cmp(&other.spec.id));
    games
}
