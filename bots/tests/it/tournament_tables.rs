//! The tables that the engine-tournament post published for its deterministic engines, one game with each
//! colour.

use fourfold_engine::BySide;

use crate::support::match_of;

#[track_caller]
fn check(bot: &str, opponent: &str, wins_as: BySide<u64>, opponent_wins_as: BySide<u64>) {
    let (score, mirrored) = (match_of(bot, opponent, 1), match_of(opponent, bot, 1));
    assert_eq!(score.map(|score| score.wins), wins_as, "{bot}");
    assert_eq!(mirrored.map(|score| score.wins), opponent_wins_as, "{opponent}");
    assert_eq!(score.sum().draws, 0, "no game is drawn");
}

#[test]
fn one_ply_and_greedy_win_once_each_as_second() {
    let as_second = BySide { first: 0, second: 1 };
    check("negamax:depth=1", "greedy", as_second, as_second);
}

#[test]
fn two_plies_beat_greedy_twice() {
    check("negamax:depth=2", "greedy", BySide { first: 1, second: 1 }, BySide { first: 0, second: 0 });
}

#[test]
fn three_plies_and_two_win_once_each_as_first() {
    let as_first = BySide { first: 1, second: 0 };
    check("negamax:depth=3", "negamax:depth=2", as_first, as_first);
}
