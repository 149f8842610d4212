//! Defects that are planted to see that they are found. No product has them.

use fourfold::model::ids::GameId;
use fourfold::storage::StoredEvent;
use fourfold::storage::store::Write;

/// What is broken on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Defect {
    /// The store answers before what it was given is durable.
    EarlyAck,
    /// The last event of a game that goes on is gone after a crash.
    LostEvent,
    /// A finished game is there twice after a crash, under another id.
    DoubleResult,
    /// A player is never told how a game ended.
    UntoldEnd,
    /// A player is told twice how a game ended.
    TwiceToldEnd,
    /// A daemon that was down takes the time from the players' clocks.
    LostTime,
    /// A flag falls before its time.
    EarlyFlag,
    /// A seek never arrives.
    LostSeek,
    /// Some tasks of the daemon are never done.
    LeftTasks,
    /// A message is missing among those of a connection.
    LostMessage,
}

impl Defect {
    pub(crate) const ALL: [Self; 10] = [
        Self::EarlyAck,
        Self::LostEvent,
        Self::DoubleResult,
        Self::UntoldEnd,
        Self::TwiceToldEnd,
        Self::LostTime,
        Self::EarlyFlag,
        Self::LostSeek,
        Self::LeftTasks,
        Self::LostMessage,
    ];

    /// # Panics
    ///
    /// Panics if there is none of this name.
    pub(crate) fn named(name: &str) -> Self {
        let known = Self::ALL.into_iter().find(|defect| format!("{defect:?}") == name);
        known.unwrap_or_else(|| panic!("no defect {name}, there are {:?}", Self::ALL))
    }

    /// Harms what is durable, between two processes.
    pub(crate) fn harm(self, journal: &mut Vec<Vec<Write>>) {
        match self {
            Self::LostEvent => lose_event(journal),
            Self::DoubleResult => double_result(journal),
            Self::EarlyAck
            | Self::UntoldEnd
            | Self::TwiceToldEnd
            | Self::LostTime
            | Self::EarlyFlag
            | Self::LostSeek
            | Self::LeftTasks
            | Self::LostMessage => {}
        }
    }
}

fn lose_event(journal: &mut [Vec<Write>]) {
    let is_move = |write: &Write| matches!(write, Write::Append { .. });
    if let Some(batch) = journal.iter_mut().rev().find(|batch| batch.iter().any(is_move))
        && let Some(place) = batch.iter().rposition(is_move)
    {
        batch.remove(place);
    }
}

fn double_result(journal: &mut Vec<Vec<Write>>) {
    let writes = || journal.iter().flatten();
    let Some((id, last)) = writes().rev().find_map(|write| match write {
        Write::Finish { game, events } => Some((game.clone(), events.clone())),
        _ => None,
    }) else {
        return;
    };
    let Some(mut spec) = writes().find_map(|write| match write {
        Write::StartGame(spec) if spec.id == id => Some(spec.clone()),
        _ => None,
    }) else {
        return;
    };
    let mut events: Vec<StoredEvent> = Vec::new();
    for write in writes() {
        if let Write::Append { game, events: more } = write
            && *game == id
        {
            events.extend(more.iter().cloned());
        }
    }
    let double: GameId = format!("{id}x").parse().expect("an id");
    spec.id = double.clone();
    let mut copy = vec![Write::StartGame(spec)];
    if !events.is_empty() {
        copy.push(Write::Append { game: double.clone(), events });
    }
    copy.push(Write::Finish { game: double, events: last });
    journal.push(copy);
}
