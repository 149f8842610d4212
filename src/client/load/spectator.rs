//! A client that watches one live game after the other.

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::client::{Client, ClientError, Introduction};
use crate::model::ids::GameId;
use crate::protocol::client::Watch;
use crate::protocol::server::GameStatus;
use crate::protocol::{ClientMessage, ServerMessage};

/// Watches until `stop` is set; gives the number of messages that came about games.
pub(super) async fn watch(
    introduction: Introduction,
    mut newest: watch::Receiver<Option<GameId>>,
    stop: CancellationToken,
) -> Result<u64, ClientError> {
    let mut client = Client::connect(introduction).await?;
    let mut seen = 0;
    let watching = watch_games(&mut client, &mut newest, &mut seen);
    if let Some(ended) = stop.run_until_cancelled(watching).await {
        ended?;
    }
    client.leave().await;
    Ok(seen)
}

/// Ends only with an error, or when no more games can come.
async fn watch_games(
    client: &mut Client,
    newest: &mut watch::Receiver<Option<GameId>>,
    seen: &mut u64,
) -> Result<(), ClientError> {
    let mut last: Option<GameId> = None;
    loop {
        let Ok(game) = newest.wait_for(|game| game.is_some() && *game != last).await.map(|game| game.clone())
        else {
            return Ok(());
        };
        client.send(&ClientMessage::Watch(Watch { game: game.clone(), feed: None })).await?;
        let watched = game.clone();
        last = game;
        match watch_game(client, watched.as_ref(), seen).await {
            Err(error) if error.is_passing() => {
                client.reconnect().await?;
            }
            ended => ended?,
        }
    }
}

/// Counts messages until the watched game ends, or turns out to have ended.
async fn watch_game(client: &mut Client, game: Option<&GameId>, seen: &mut u64) -> Result<(), ClientError> {
    loop {
        let message = client.next().await?.message;
        let is_update =
            matches!(message, ServerMessage::Game(_) | ServerMessage::Moved(_) | ServerMessage::GameEnd(_));
        *seen += u64::from(is_update);
        if is_over(&message, game) {
            return Ok(());
        }
    }
}

/// Whether nothing more comes about the game: it ended, had ended before, or cannot be watched.
fn is_over(message: &ServerMessage, game: Option<&GameId>) -> bool {
    match message {
        ServerMessage::Game(snapshot) => snapshot.status == GameStatus::Over && Some(&snapshot.game) == game,
        // That of the game before may come behind its last snapshot.
        ServerMessage::GameEnd(end) => Some(&end.game) == game,
        message => matches!(message, ServerMessage::Error(_)),
    }
}
