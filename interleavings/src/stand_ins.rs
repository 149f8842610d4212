//! What the pieces need of the rest of the daemon, as small as it can be.

use shuttle::sync::atomic::{AtomicBool, Ordering};

/// `Sender::closed`, which the tool's channels do not have. Others may go on before it looks, as they may in the
/// original: the tool knows only that somebody reads what others could write.
pub(crate) async fn closed<T>(sender: &tokio::sync::mpsc::Sender<T>) {
    let nobodys = AtomicBool::new(false);
    while !nobodys.load(Ordering::SeqCst) {
        if sender.is_closed() {
            return;
        }
        shuttle::future::yield_now().await;
    }
}

pub(crate) mod model {
    pub(crate) mod ids {
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub(crate) struct GameId(pub(crate) u8);
    }
}

/// Messages by their kinds: what an outbox asks is which game one is about.
pub(crate) mod protocol {
    use std::sync::Arc;

    use super::model::ids::GameId;

    pub(crate) mod client {
        pub(crate) const SEQ_MAX: u64 = 1 << 53;
    }

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) enum CloseCode {
        Bye,
        Replaced,
        TooSlow,
    }

    #[derive(Debug)]
    pub(crate) struct OfGame {
        pub(crate) game: GameId,
    }

    #[derive(Debug)]
    pub(crate) enum ServerMessage {
        Welcome(()),
        Synced(()),
        Ok(()),
        Error(()),
        Notice(()),
        Ping(()),
        /// Tells messages apart.
        Pong(u64),
        Challenge(()),
        ChallengeEnd(()),
        BotOffer(()),
        Game(OfGame),
        Turn(OfGame),
        Moved(OfGame),
        RematchOffer(OfGame),
        TakebackOffer(OfGame),
        TakebackRefused(OfGame),
        Reaction(OfGame),
        OpponentGone(OfGame),
        GameEnd(OfGame),
        Crowd(()),
        Truth(()),
        Lobby(()),
        Tv(()),
        Ladder(()),
        Result(()),
    }

    #[derive(Clone, Debug)]
    pub(crate) struct Frame {
        message: Arc<ServerMessage>,
        body: Arc<str>,
    }

    impl Frame {
        pub(crate) fn new(message: ServerMessage) -> Self {
            Self { message: Arc::new(message), body: "{}".into() }
        }

        pub(crate) fn message(&self) -> &ServerMessage {
            &self.message
        }

        pub(crate) fn body(&self) -> &Arc<str> {
            &self.body
        }
    }

    pub(crate) mod server {
        pub(crate) fn numbered(_body: &str, seq: u64, _re: Option<&str>) -> String {
            seq.to_string()
        }

        pub(crate) enum Urgency {
            Must,
            Droppable,
        }
    }
}

/// How many shares a network has: one.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct ShareSettings;

impl ShareSettings {
    pub(crate) fn part_of(self, _network: std::net::IpAddr, part: usize) -> usize {
        part
    }
}
