//! Those who play: pairs of guests, and some pairs of rated bots.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use fourfold::client::load::{GamesPlan, PairPlan, Witness, play_pair};
use fourfold::client::{ClientError, Introduction};
use fourfold::model::clock::TimeControl;
use fourfold::model::secret::Secret;
use fourfold::protocol::client::BotInfo;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::daemon::{data, fourfold};
use crate::server;

/// Of so many games, one is between rated bots: their ratings are part of what must not be lost.
const GAMES_PER_RATED: u32 = 10;

/// Owners of bots have at most 100.
const RATED_MAX: u32 = 100;

/// Long enough for any number of restarts.
pub(crate) const TIME: TimeControl = TimeControl { bank_ms: Some(3_600_000), increment_ms: 0, move_ms: None };

/// How many pairs play what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seating {
    /// Games at a time.
    pub(crate) games: u32,
    pub(crate) time: TimeControl,
    /// How long they think.
    pub(crate) think: Duration,
    /// Decides what they play.
    pub(crate) seed: u64,
}

/// The tokens of two bots of different owners.
pub(crate) struct RatedPair {
    tokens: [Secret; 2],
}

/// Creates owners and bots on the command line, before the daemon runs.
pub(crate) fn create_bots(directory: &Path, games: u32) -> Vec<RatedPair> {
    create_bots_by(&fourfold, directory, games)
}

/// The same by another binary, whose version the data then are of.
pub(crate) fn create_bots_by(fourfold: &dyn Fn() -> Command, directory: &Path, games: u32) -> Vec<RatedPair> {
    for owner in ["ada", "bob"] {
        run(
            directory,
            fourfold().args(["account", "create", owner]).env("FOURFOLD_PASSWORD", "tea and biscuits"),
        );
    }
    let token = |owner: &str, index: u32| {
        let name = format!("{owner}-{index}");
        let printed = run(directory, fourfold().args(["bot", "create", &name, "--owner", owner]));
        let token = printed.lines().last().and_then(|line| line.strip_prefix("token: "));
        Secret::new(token.expect("the last line has the token"))
    };
    let pairs = games.div_ceil(GAMES_PER_RATED).min(RATED_MAX);
    (0..pairs).map(|index| RatedPair { tokens: [token("ada", index), token("bob", index)] }).collect()
}

/// Runs a command on the test's data; gives what it printed.
pub(crate) fn run(directory: &Path, command: &mut Command) -> String {
    let command = server::tell(directory, command).arg("--data").arg(data(directory)).stdin(Stdio::null());
    let output = command.output().expect("the binary starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} ended with {}: {errors}", output.status);
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// All pairs at play.
pub(crate) struct Playing(JoinSet<Result<(), ClientError>>);

/// Seats everybody: challengers at the first address, who they challenge at the second.
pub(crate) fn start(
    seating: &Seating,
    bots: &[RatedPair],
    [first, second]: [SocketAddr; 2],
    witness: &Arc<dyn Witness>,
    stop: &CancellationToken,
) -> Playing {
    let guest = |address| Introduction { url: format!("ws://{address}"), ..Introduction::default() };
    let bot = |address, token: &Secret| Introduction {
        token: Some(token.clone()),
        bot: Some(BotInfo { version: "1".to_owned(), about: None, url: None, language: None }),
        open: Some(true),
        ..guest(address)
    };
    let mut playing = JoinSet::new();
    for index in 0..seating.games {
        let rated = usize::try_from(index).ok().and_then(|index| bots.get(index));
        let [offerer, taker] = match rated {
            Some(RatedPair { tokens: [one, other] }) => [bot(first, one), bot(second, other)],
            None => [guest(first), guest(second)],
        };
        let seed = seating.seed.wrapping_mul(1_000_003).wrapping_add(index.into());
        let casual = GamesPlan::casual(seating.time, seed);
        let plan = PairPlan {
            challenger: offerer,
            challenged: taker,
            games: GamesPlan { rated: rated.is_some(), think: seating.think, ..casual },
        };
        playing.spawn(play_pair(plan, Arc::clone(witness), stop.clone()));
    }
    Playing(playing)
}

impl Playing {
    /// Waits until everybody has left the table.
    pub(crate) async fn finish(mut self) {
        while let Some(played) = self.0.join_next().await {
            played.expect("a player does not panic").expect("a player can go on to the end");
        }
    }
}
