//! What a joint rating cannot know: who never met, directly or through others, and who only won or only lost.

use super::{DRAW, FitMeeting, LOSS, WIN};

/// A reason to distrust ratings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Warning {
    /// These groups never met: their ratings are not comparable. Each in order, singles without games included.
    Disconnected(Vec<Vec<usize>>),
    /// These won every game: how strong they are is bounded by the prior alone.
    OnlyWins(Vec<usize>),
    /// These lost every game.
    OnlyLosses(Vec<usize>),
}

/// What is wrong with the field, if anything.
pub fn warnings(players: usize, meetings: &[FitMeeting]) -> Vec<Warning> {
    let mut found = Vec::new();
    let groups = groups(players, meetings);
    if groups.len() > 1 {
        found.push(Warning::Disconnected(groups));
    }
    let endings = endings(players, meetings);
    let only = |ending: usize| -> Vec<usize> {
        let is_only = |counts: &[u64; 3]| counts[ending] > 0 && counts.iter().sum::<u64>() == counts[ending];
        (0..players).filter(|&player| is_only(&endings[player])).collect()
    };
    for (players, warning) in
        [(only(WIN), Warning::OnlyWins as fn(Vec<usize>) -> Warning), (only(LOSS), Warning::OnlyLosses)]
    {
        if !players.is_empty() {
            found.push(warning(players));
        }
    }
    found
}

/// Who is connected by games.
fn groups(players: usize, meetings: &[FitMeeting]) -> Vec<Vec<usize>> {
    let mut group_of: Vec<usize> = (0..players).collect();
    for meeting in meetings.iter().filter(|meeting| meeting.games() > 0) {
        let (from, to) = (group_of[meeting.b], group_of[meeting.a]);
        group_of.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); players];
    for (player, group) in group_of.into_iter().enumerate() {
        groups[group].push(player);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// Losses, draws and wins of everybody.
fn endings(players: usize, meetings: &[FitMeeting]) -> Vec<[u64; 3]> {
    let mut endings = vec![[0; 3]; players];
    let mut book = |meeting: &FitMeeting, ending: usize, count: u64| {
        endings[meeting.a][ending] += count;
        endings[meeting.b][WIN - ending] += count;
    };
    for meeting in meetings {
        for own in [LOSS, DRAW, WIN] {
            for other in [LOSS, DRAW, WIN] {
                book(meeting, own, meeting.pairs[own][other]);
                book(meeting, other, meeting.pairs[own][other]);
            }
            book(meeting, own, meeting.singles[0][own]);
            book(meeting, own, meeting.singles[1][own]);
        }
    }
    endings
}
