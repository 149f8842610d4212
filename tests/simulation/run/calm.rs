//! What comes after the plan: faults have stopped, and all that is under way must come to its end.

use std::time::Duration;

use fourfold::model::ids::PlayerId;
use fourfold::storage::games::GameStore;
use fourfold::storage::people::PeopleStore;
use fourfold::storage::{MemoryStore, StoredGame};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::{Life, LifeEnd, Run, Stage, alive_tasks, time};
use crate::client::Client;
use crate::net::Weather;

/// From the end of all faults: until then every game has ended. A game of two who answer at once takes a minute, one
/// whose player is gone its clock.
const CALM_MAX_MS: u64 = 10 * 60_000;

/// In which seekers who fit are paired once nothing is in their way.
const PAIRED_WITHIN_MS: u64 = 10_000;

/// After which a daemon whose disk was full has noticed that it is not any more: until then new games are refused.
const RECOVERED_WITHIN_MS: u64 = 5_000;

/// After which nothing of a client that has left is remembered: longer than its session, and than its room.
const FORGOTTEN_AFTER: Duration = Duration::from_mins(4);

/// Games that go on, without those among bots of the house.
async fn unfinished(store: &MemoryStore) -> Vec<StoredGame> {
    let house = store.house_bots().await.expect("a readable store");
    let is_house = |player: &PlayerId| house.iter().any(|bot| bot.id == *player);
    let mut games = store.live_games().await.expect("a readable store");
    games.retain(|game| !(is_house(&game.spec.players.first) && is_house(&game.spec.players.second)));
    games
}

impl Run<'_> {
    pub(super) async fn go_on(&mut self, life: &mut Life, now_ms: u64) -> Option<LifeEnd> {
        match self.stage {
            Stage::Trouble => {
                self.calm_down(now_ms, life);
                None
            }
            Stage::Calm { since_ms } => {
                self.come_back(now_ms, life);
                let unfinished = unfinished(&life.store).await;
                let is_quiet = now_ms > since_ms + RECOVERED_WITHIN_MS
                    && unfinished.is_empty()
                    && self.clients.iter().all(Client::is_at_rest);
                if is_quiet && !self.look_for_a_game(now_ms) {
                    return Some(self.part(life).await);
                }
                if !is_quiet && now_ms > since_ms + CALM_MAX_MS {
                    let games: Vec<_> = unfinished.iter().map(|game| game.spec.id.to_string()).collect();
                    let clients: Vec<_> =
                        self.clients.iter().filter(|c| !c.is_at_rest()).map(|c| c.name.clone()).collect();
                    self.witness
                        .fault(format!("games {games:?} do not end, {clients:?} do not come to rest"));
                    return Some(self.part(life).await);
                }
                None
            }
            Stage::Pairing { since_ms, games } => {
                self.come_back(now_ms, life);
                let unfinished = unfinished(&life.store).await;
                let is_paired = self.witness.figures.games > games;
                if !is_paired && unfinished.is_empty() && now_ms > since_ms + PAIRED_WITHIN_MS {
                    self.witness.fault("two seekers who fit were not paired".to_owned());
                    return Some(self.part(life).await);
                }
                if now_ms > since_ms + CALM_MAX_MS {
                    self.witness.fault("the last game does not end".to_owned());
                    return Some(self.part(life).await);
                }
                if is_paired && unfinished.is_empty() && self.clients.iter().all(Client::is_at_rest) {
                    return Some(self.part(life).await);
                }
                None
            }
        }
    }

    /// No more faults from now on.
    fn calm_down(&mut self, now_ms: u64, life: &Life) {
        self.witness.tell(now_ms, "all faults stop");
        self.disk.heal();
        for client in &mut self.clients {
            client.cut();
            client.hurry(now_ms);
        }
        self.stage = Stage::Calm { since_ms: now_ms };
        self.come_back(now_ms, life);
    }

    fn come_back(&mut self, now_ms: u64, life: &Life) {
        for number in 0..self.clients.len() {
            if self.clients[number].has_retired() {
                continue;
            }
            self.connect(number, Weather::Quick, life);
            self.clients[number].hurry(now_ms);
            self.clients[number].claim_due(now_ms);
        }
    }

    /// Lets two players look for a game, if there are two.
    fn look_for_a_game(&mut self, now_ms: u64) -> bool {
        for client in &self.clients {
            client.say(&json!({"type": "unseek"}));
        }
        let different = self.clients.iter().filter(|client| client.habits.same_as.is_none());
        let two: Vec<&Client> = different.take(2).collect();
        if two.len() < 2 {
            return false;
        }
        for client in two {
            client.say(&json!({"type": "seek", "time": time(1), "rated": false}));
        }
        self.stage = Stage::Pairing { since_ms: now_ms, games: self.witness.figures.games };
        true
    }

    /// Everybody leaves, the daemon is idle again, and stops.
    async fn part(&mut self, life: &mut Life) -> LifeEnd {
        self.hear_ends();
        for client in &self.clients {
            client.say(&json!({"type": "bye"}));
        }
        sleep(Duration::from_secs(1)).await;
        self.clients.iter_mut().for_each(Client::cut);
        sleep(FORGOTTEN_AFTER).await;
        let sessions = life.services.sessions.all().len();
        if sessions > 0 {
            self.witness.fault(format!("{sessions} sessions are left when everybody is gone"));
        }
        let (tasks, idle) = (alive_tasks(), self.idle_tasks.unwrap_or(0));
        // A game of the ladder may be under way.
        if tasks > idle && !self.has_ladder() {
            self.witness.fault(format!("{tasks} tasks are left of an idle daemon, it began with {idle}"));
        }
        life.shutdown.cancel();
        match timeout(Duration::from_mins(1), &mut life.serving).await {
            Ok(Ok(Ok(()))) => {}
            other => self.witness.fault(format!("the daemon did not stop: {other:?}")),
        }
        LifeEnd::Over
    }

    fn hear_ends(&mut self) {
        for client in self.clients.iter().filter(|client| !client.has_retired()) {
            for game in client.untold_ends() {
                self.witness.faults.push(format!("{} was not told how game {game} ended", client.name));
            }
        }
    }
}
