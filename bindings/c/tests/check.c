/* The library from C, against what is known. */
#include "fourfold.h"
#include <stdio.h>

static int wrong = 0;

static void check(int holds, const char *what) {
    if (!holds) {
        printf("wrong: %s\n", what);
        wrong = 1;
    }
}

static FourfoldPosition after(const char *moves) {
    FourfoldPosition position = fourfold_start();
    for (; *moves; moves++)
        position = fourfold_play(position, (uint32_t)(*moves - '1'));
    return position;
}

int main(void) {
    const int32_t start[7] = {-2, -1, 0, 1, 0, -1, -2};
    FourfoldColumns columns = fourfold_columns(fourfold_start(), 0);
    for (int column = 0; column < 7; column++)
        check(columns.scores[column] == start[column], "the columns of the empty board");
    check(fourfold_score(after("121212"), 0).lower == 18, "a win in one");
    check(fourfold_columns(after("111111"), 0).scores[0] == FOURFOLD_NONE, "a full column");
    check(!fourfold_is_legal(after("111111"), 0) && fourfold_is_legal(after("111111"), 6), "what is legal");
    check(!fourfold_is_legal(fourfold_start(), 7), "there is no eighth column");
    check(fourfold_play(fourfold_start(), 99).mask == 0, "an illegal stone changes nothing");
    check(fourfold_state(after("1212121")) == FOURFOLD_GAME_STATE_LAST_MOVER_WON, "a game that is won");
    FourfoldScore bounds = fourfold_score(after("43543355264"), 1);
    check(bounds.status == FOURFOLD_STATUS_BOUNDS && bounds.lower < bounds.upper, "nodes that run out");
    FourfoldPosition floating = {2, 2}, outside = {0, 1ULL << 63}, foreign = {1, 0};
    check(fourfold_score(floating, 0).status == FOURFOLD_STATUS_NO_POSITION, "a stone in the air");
    check(fourfold_state(outside) == FOURFOLD_GAME_STATE_IMPOSSIBLE, "a stone outside");
    check(fourfold_state(foreign) == FOURFOLD_GAME_STATE_IMPOSSIBLE, "a stone that is not among all stones");
    if (!wrong)
        puts("C: everything as expected");
    return wrong;
}
