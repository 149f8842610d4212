//! Carrying out the deeds of a plan.

use std::time::Duration;

use fourfold::model::world;
use fourfold::storage::memory::CommitFault;
use serde_json::{Value, json};

use super::{HOUSE_BOT, Life, LifeEnd, Run, time};
use crate::client::Client;
use crate::net::{Dial, Link, Weather};
use crate::plan::{Act, Deed, Op};

/// After a standstill, what was under way has arrived.
const STALE_MS: u64 = 3_500;

impl Run<'_> {
    pub(super) async fn perform(&mut self, op: Op, life: &mut Life) -> Option<LifeEnd> {
        self.witness.tell(op.at_ms, format_args!("#{} {:?}", op.number, op.deed));
        match op.deed {
            Deed::Client { client, act } => {
                self.act(client, act, op.draw, life);
                None
            }
            Deed::SlowDisk { ms } => {
                self.disk.fail([CommitFault::Slow(Duration::from_millis(ms))]);
                None
            }
            Deed::FullDisk { commits } => {
                self.disk.fail(std::iter::repeat_n(CommitFault::Full, commits));
                None
            }
            Deed::ServerAway { parting, commits } => {
                self.disk.fail(std::iter::repeat_n(CommitFault::Unreachable(parting), commits));
                None
            }
            Deed::UnreadableDisk { reads } => {
                self.disk.fail_reads(reads);
                None
            }
            Deed::FailingDisk => {
                self.disk.fail([CommitFault::Failed]);
                None
            }
            Deed::Kill { down_ms } => Some(LifeEnd::Killed { down_ms }),
            Deed::KillAt { death, down_ms } => {
                self.down_ms = down_ms;
                self.disk.die(death);
                None
            }
            Deed::Restart { down_ms } => Some(self.stop(life, down_ms).await),
            Deed::Standstill { ms } => {
                tokio::time::advance(Duration::from_millis(ms)).await;
                let until_ms = self.now_ms(life) + STALE_MS;
                self.clients.iter_mut().for_each(|client| client.excuse_clocks(until_ms));
                None
            }
            Deed::Wall { by_ms } => {
                self.wall_shift_ms += by_ms;
                world::shift_simulated_wall(by_ms);
                None
            }
        }
    }

    /// Stops the daemon as planned. Clients go on hearing until they are disconnected.
    async fn stop(&mut self, life: &mut Life, down_ms: u64) -> LifeEnd {
        life.shutdown.cancel();
        loop {
            tokio::select! {
                biased;
                () = self.disk.died() => return LifeEnd::Killed { down_ms: self.down_ms },
                ended = &mut life.serving => return match ended {
                    Ok(Ok(())) => LifeEnd::Stopped { down_ms },
                    Ok(Err(_)) | Err(_) => LifeEnd::Killed { down_ms },
                },
                Some(heard) = life.heard.recv() => {
                    let now_ms = self.now_ms(life);
                    self.hear(heard, now_ms);
                }
            }
        }
    }

    fn act(&mut self, number: usize, act: Act, draw: u64, life: &Life) {
        let names: Vec<String> = self.clients.iter().map(|client| client.name.clone()).collect();
        let other = &names[(number + 1 + usize::try_from(draw % 5).unwrap_or(0)) % names.len()];
        let client = &mut self.clients[number];
        match act {
            Act::Connect(weather) => self.connect(number, weather, life),
            Act::ConnectAfresh => {
                client.forget_session();
                client.cut();
                self.connect(number, Weather::Quick, life);
            }
            Act::Cut => client.cut(),
            Act::Bye => client.say(&json!({"type": "bye", "drain": false})),
            Act::Drain => client.say(&json!({"type": "bye", "drain": true})),
            Act::Weather(weather) => {
                if let Some(link) = &client.link {
                    link.change(weather);
                }
            }
            Act::Move(sort) => client.make_move(sort, draw, &mut self.witness),
            Act::Say(word) => client.speak(word, draw),
            Act::Seek => client.say(&seek(draw, false)),
            Act::SeekRated => client.say(&seek(draw, true)),
            Act::Unseek => client.say(&json!({"type": "unseek"})),
            Act::Challenge => client.say(&challenge(other, draw, false, 1)),
            Act::ChallengeRated => client.say(&challenge(other, draw, true, 1)),
            Act::ChallengePair => client.say(&challenge(other, draw, false, 2)),
            Act::Accept => client.answer_offer("accept", draw),
            Act::Decline => client.answer_offer("decline", draw),
            Act::Cancel => client.answer_offer("cancel", draw),
            Act::PlayBot => client.say(&json!({"type": "play_bot", "bot": HOUSE_BOT, "time": time(draw)})),
            Act::Watch => self.watch(number, draw, "watch"),
            Act::Unwatch => self.watch(number, draw, "unwatch"),
            Act::Flood => (0..120).for_each(|n| client.say(&json!({"type": "ping", "n": n}))),
            Act::Garbage => client.say(&json!({"type": "garbage", "id": "x"})),
        }
    }

    pub(super) fn connect(&mut self, number: usize, weather: Weather, life: &Life) {
        let client = &mut self.clients[number];
        if client.link.is_some() {
            return;
        }
        self.connections += 1;
        let dial = Dial {
            client: number,
            connection: self.connections,
            seed: self.plan.seed.wrapping_mul(7_919).wrapping_add(self.connections),
            credential: client.credential.clone(),
            weather,
        };
        client.greet(Link::open(dial, &life.services, &life.hear));
    }

    /// Watches a game that somebody else plays, or what the lobby shows.
    fn watch(&self, number: usize, draw: u64, kind: &str) {
        let games: Vec<_> = self.clients.iter().flat_map(Client::open_games).collect();
        let count = u64::try_from(games.len()).unwrap_or(0) + 1;
        let place = usize::try_from(draw % count).unwrap_or(0);
        let message = match games.get(place) {
            Some(game) => json!({"type": kind, "game": game}),
            None => json!({"type": kind, "feed": "lobby"}),
        };
        self.clients[number].say(&message);
    }
}

fn seek(draw: u64, rated: bool) -> Value {
    json!({"type": "seek", "time": time(draw), "rated": rated, "id": "seek"})
}

fn challenge(to: &str, draw: u64, rated: bool, games: u32) -> Value {
    json!({
        "type": "challenge", "to": to, "time": time(draw), "rated": rated, "games": games, "id": "challenge",
    })
}
