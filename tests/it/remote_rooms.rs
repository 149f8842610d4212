//! Some of these tests once more, with all rooms at another node than the sessions. `FOURFOLD_TEST_REMOTE=1` does so
//! with all of them.

use crate::support::over_a_bus;
use crate::{absence, courtesies, house_bots, moves, restarts, resumption, watching};

#[test]
fn rooms_at_another_node_cannot_be_told_from_near_ones() {
    let tests = [
        moves::the_same_move_again_gets_the_same_answer,
        moves::the_third_wrong_column_loses_the_game,
        watching::a_watcher_sees_the_game_and_what_happens_in_it,
        courtesies::a_move_is_taken_back_when_the_opponent_agrees,
        courtesies::a_rematch_starts_with_sides_swapped_when_both_have_asked,
        absence::a_bot_that_comes_back_in_time_goes_on,
        resumption::what_was_watched_is_shown_again,
        house_bots::a_game_against_a_house_bot_starts_at_once,
        restarts::after_a_planned_stop_everybody_goes_on_where_they_were,
    ];
    for test in tests {
        over_a_bus(test);
    }
}
