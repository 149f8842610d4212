//! Whoever is banned is gone at once, and the others go on.

use super::panics::{column, say, until};
use super::*;
use crate::model::ids::GameId;
use crate::model::result::{EndReason, GameResult};
use crate::protocol::CloseCode;
use crate::protocol::error::ErrorCode;
use crate::protocol::server::{GameEnd, ServerMessage};
use crate::storage::moderation::Because;
use crate::storage::people::PeopleStore as _;
use crate::testing::{Client, hello};

fn because() -> Because {
    Because { reason: "it was rude".into(), by: "grace".into(), at: UnixMillis::now() }
}

impl TestDaemon {
    async fn join(&self, credential: &Credential) -> Client {
        Client::new(self.open(credential.clone(), hello()).await.unwrap())
    }

    /// Whoever comes anew hears what the last word to the connection was that was there.
    async fn check_kept_out(&self, credential: &Credential, mut there: Client) {
        let refused = self.open(credential.clone(), hello()).await.map(drop).unwrap_err();
        let last = there.hear().pop().expect("a last word");
        assert_eq!(last, ServerMessage::Error(Box::new(refused.error.clone())));
        assert_eq!(there.port.outbox().parted(&there.attachment), Some(CloseCode::Banned));
        assert_eq!((refused.code, refused.error.code), (CloseCode::Banned, ErrorCode::Forbidden));
        assert!(refused.error.message.contains("it was rude"), "{refused}");
    }
}

/// Both find a game against each other; gives the two, the one to move first.
async fn seat(first: &mut Client, second: &mut Client) -> (bool, GameId) {
    let seek =
        r#"{"type": "seek", "time": {"bank_ms": 60000, "increment_ms": 0, "move_ms": null}, "rated": false}"#;
    say(first, seek).await;
    say(second, seek).await;
    for _ in 0..6_000 {
        for (is_first, client) in [(true, &mut *first), (false, &mut *second)] {
            for message in client.hear() {
                if let ServerMessage::Turn(turn) = message {
                    client.play(&turn.game, turn.ply, column(&turn)).await;
                    return (is_first, turn.game.clone());
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nobody is paired");
}

async fn end_of(client: &mut Client) -> GameEnd {
    for _ in 0..6_000 {
        let ends = client.hear().into_iter().find_map(|message| match message {
            ServerMessage::GameEnd(end) => Some(*end),
            _ => None,
        });
        match ends {
            Some(end) => return end,
            None => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    panic!("the game does not end");
}

#[tokio::test]
async fn whoever_is_banned_loses_its_games_and_is_gone() {
    let daemon = TestDaemon::start(quiet()).await;
    let accounts = &daemon.services.accounts;
    let (bob, robo) = (daemon.person("Bob").await, daemon.bot("robo").await);
    let (mut bob_here, mut robo_here) = (daemon.join(&bob).await, daemon.join(&robo).await);
    let (bob_begins, game) = seat(&mut bob_here, &mut robo_here).await;
    let id = daemon.store.player_by_name(&"robo".parse().unwrap()).await.unwrap().unwrap().id;
    accounts.ban(&id, None, because()).await.unwrap();
    let end = end_of(&mut bob_here).await;
    let winner = if bob_begins { GameResult::First } else { GameResult::Second };
    assert_eq!((end.game, end.result, end.reason), (game, winner, EndReason::Resign));
    until("the end of its session", || daemon.services.sessions.of(&id).is_empty()).await;
    daemon.check_kept_out(&robo, robo_here).await;
    let Credential::Token(token) = &robo else { panic!("bots have tokens") };
    assert!(daemon.gateway.check_token(token).await.is_ok(), "the socket tells why");
    assert_eq!(bob_here.hear().len(), 0, "nothing else happens to the other");
    accounts.unban(&id, because()).await.unwrap();
    daemon.join(&robo).await;
    drop(bob_here);
    daemon.check_sound().await;
}

#[tokio::test]
async fn the_bots_of_whoever_is_banned_are_out_too_and_a_ban_ends_by_itself() {
    let daemon = TestDaemon::start(quiet()).await;
    let accounts = &daemon.services.accounts;
    let (ada, robo) = (daemon.person("Ada").await, daemon.bot("robo").await);
    let id =
        async |name: &str| daemon.store.player_by_name(&name.parse().unwrap()).await.unwrap().unwrap().id;
    let (owner, bot, person) = (id("robo-owner").await, id("robo").await, id("Ada").await);
    let (ada_here, robo_here) = (daemon.join(&ada).await, daemon.join(&robo).await);
    accounts.ban(&owner, None, because()).await.unwrap();
    until("the end of its session", || daemon.services.sessions.of(&bot).is_empty()).await;
    daemon.check_kept_out(&robo, robo_here).await;
    assert_eq!(daemon.services.sessions.of(&person).len(), 1, "others stay");
    let until_when = UnixMillis(UnixMillis::now().0 + 3_000);
    accounts.ban(&person, Some(until_when), because()).await.unwrap();
    until("the end of her session", || daemon.services.sessions.of(&person).is_empty()).await;
    daemon.check_kept_out(&ada, ada_here).await;
    while UnixMillis::now() < until_when {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    daemon.join(&ada).await;
    daemon.check_sound().await;
}

#[tokio::test]
async fn a_new_name_is_that_of_the_next_session() {
    let daemon = TestDaemon::start(quiet()).await;
    let ada = daemon.person("Ada").await;
    let here = daemon.join(&ada).await;
    let id = here.welcome.you.id.clone();
    daemon.services.accounts.rename(&id, "lovelace", because()).await.unwrap();
    until("the end of the session", || daemon.services.sessions.of(&id).is_empty()).await;
    assert_eq!(daemon.join(&ada).await.welcome.you.name.as_str(), "lovelace");
    drop(here);
    daemon.check_sound().await;
}
