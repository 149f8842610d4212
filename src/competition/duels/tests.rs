use fourfold_engine::BySide;

use super::*;
use crate::model::clock::TimeControl;
use crate::model::player::Identity;
use crate::model::world::chance;
use crate::play::host::duel::first_game;
use crate::storage::record::GamePair;
use crate::testing::{Arena, Client};

const TIME: TimeControl = TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None };

/// An arena with three bots of different owners that are there, and one that is asked for.
struct Ring {
    arena: Arena,
    duels: Duels,
    bots: Vec<(Identity, Client)>,
    stop: CancellationToken,
}

impl Ring {
    async fn new(at_once: usize) -> Self {
        let arena = Arena::new().await;
        let mut bots = Vec::new();
        for name in ["Abe", "Bea", "Cid", "Target"] {
            let account = arena.bot(name).await;
            bots.push((account.identity.clone(), arena.join(&account).await));
        }
        let services = &arena.services;
        let duels = Duels::new(DuelDeps {
            host: services.host.clone(),
            directory: services.directory.clone(),
            sessions: services.sessions.clone(),
            at_once,
        });
        let stop = CancellationToken::new();
        tokio::spawn(duels.clone().run(stop.clone()));
        Self { arena, duels, bots, stop }
    }

    /// A duel of two games, between a bot and the target.
    async fn ask(&self, bot: usize) -> (PairId, Asked) {
        let id = DuelRule { test: None }.draw_id(&mut chance());
        let (first, target) = (&self.bots[bot].0, &self.bots[3].0);
        let pair = GamePair { id: id.clone(), leg: 1, of: 2 };
        let offer = first_game(BySide { first: first.clone(), second: target.clone() }, TIME, pair);
        let asked = self.duels.ask(id.clone(), first.owner.clone().unwrap(), offer).await.unwrap();
        (id, asked)
    }

    /// The duels that are played now.
    fn live(&self) -> Vec<PairId> {
        let live = self.arena.services.directory.live();
        live.iter().filter_map(|game| Some(game.spec.pair.as_ref()?.id.clone())).collect()
    }

    /// Gives up all games of the target until none goes on.
    async fn play_through(&self) {
        for game in std::iter::from_fn(|| self.arena.services.directory.live().pop()).take(4) {
            self.bots[3].1.resign(&game.spec.id).await;
            self.arena.settle().await;
        }
    }

    fn place(&self, id: &PairId) -> Option<usize> {
        match self.duels.unbegun(id) {
            Some(Unbegun::Waiting(_, place)) => Some(place),
            Some(Unbegun::GivenUp(_)) | None => None,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn owners_take_turns_at_the_places_there_are() {
    let ring = Ring::new(1).await;
    let (one, begun) = ring.ask(0).await;
    let (two, waits) = ring.ask(0).await;
    let (three, waits_too) = ring.ask(1).await;
    assert_eq!((begun, waits, waits_too), (Asked::Begun, Asked::Waits(1), Asked::Waits(1)));
    assert_eq!((ring.place(&one), ring.place(&three), ring.place(&two)), (None, Some(1), Some(2)));
    assert_eq!(ring.live(), [one]);
    assert_eq!(ring.duels.waiting_of(&ring.bots[0].0.id), std::slice::from_ref(&two));
    let next_turn = BETWEEN_GAMES + 2 * LOOK;
    // Both games of a duel follow each other without a place for others.
    for due in [&three, &two] {
        ring.play_through().await;
        tokio::time::sleep(next_turn).await;
        assert_eq!(ring.live(), std::slice::from_ref(due));
    }
    ring.play_through().await;
    tokio::time::sleep(next_turn).await;
    assert!(ring.live().is_empty());
    ring.stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn one_owner_has_at_most_half_of_the_places() {
    let ring = Ring::new(4).await;
    for expected in [Asked::Begun, Asked::Begun, Asked::Waits(1)] {
        assert_eq!(ring.ask(0).await.1, expected);
    }
    assert_eq!(ring.ask(1).await.1, Asked::Begun, "others find a place");
    assert_eq!(ring.live().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_duel_is_taken_back_by_its_owner_alone_and_given_up_when_its_bot_stays_away() {
    let ring = Ring::new(1).await;
    ring.ask(0).await;
    let (two, _) = ring.ask(1).await;
    let (three, _) = ring.ask(2).await;
    let owner = |bot: usize| ring.bots[bot].0.owner.clone().unwrap();
    assert!(!ring.duels.withdraw(&two, &owner(2)));
    assert_eq!(ring.place(&three), Some(2));
    assert!(ring.duels.withdraw(&two, &owner(1)) && !ring.duels.withdraw(&two, &owner(1)));
    assert_eq!((ring.place(&two), ring.place(&three)), (None, Some(1)));
    ring.bots[2].1.leave().await;
    tokio::time::sleep(PATIENCE + 3 * LOOK).await;
    let Some(Unbegun::GivenUp(GivenUp { duel, why })) = ring.duels.unbegun(&three) else {
        panic!("it waits")
    };
    assert_eq!((duel.id, why.contains("half an hour")), (three, true));
}
