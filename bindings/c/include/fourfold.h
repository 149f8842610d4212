/* Connect Four on 7x6, exactly. Written by cbindgen from bindings/c/src/lib.rs. MIT or Apache 2.0. */

#ifndef FOURFOLD_H
#define FOURFOLD_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/*
 The score of a column that cannot be played, or of anything without an answer.
 */
#define FOURFOLD_NONE -128

/*
 How a game stands.
 */
typedef enum FourfoldGameState {
  /*
   It goes on.
   */
  FOURFOLD_GAME_STATE_OPEN = 0,
  /*
   The side that moved last has four in a row.
   */
  FOURFOLD_GAME_STATE_LAST_MOVER_WON = 1,
  /*
   The board is full.
   */
  FOURFOLD_GAME_STATE_DRAWN = 2,
  /*
   There is no such position.
   */
  FOURFOLD_GAME_STATE_IMPOSSIBLE = 3,
} FourfoldGameState;

/*
 How an answer came about.
 */
typedef enum FourfoldStatus {
  /*
   It is exact.
   */
  FOURFOLD_STATUS_EXACT = 0,
  /*
   The nodes ran out: it is between the bounds.
   */
  FOURFOLD_STATUS_BOUNDS = 1,
  /*
   There is no such position: stones in the air, outside the board, or a game that went on when it was over.
   */
  FOURFOLD_STATUS_NO_POSITION = 2,
} FourfoldStatus;

/*
 A position for the side to move.
 */
typedef struct FourfoldPosition {
  /*
   Stones of the side to move.
   */
  uint64_t mine;
  /*
   All stones.
   */
  uint64_t mask;
} FourfoldPosition;

/*
 A score for the side to move: 0 a draw, +n a win with the n-th stone counted from one's last, -n a loss to such a
 win.
 */
typedef struct FourfoldScore {
  enum FourfoldStatus status;
  /*
   The score is at least this, and at most `upper`: the same number if it is exact.
   */
  int32_t lower;
  int32_t upper;
  /*
   Positions that were expanded.
   */
  uint64_t nodes;
} FourfoldScore;

/*
 The score of each column for the side that plays it; FOURFOLD_NONE where it cannot be played.
 */
typedef struct FourfoldColumns {
  enum FourfoldStatus status;
  int32_t scores[7];
  /*
   Positions that were expanded.
   */
  uint64_t nodes;
} FourfoldColumns;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The empty board.
 */
struct FourfoldPosition fourfold_start(void);

/*
 The position after a stone in a column from 0; the position itself if that cannot be played.
 */
struct FourfoldPosition fourfold_play(struct FourfoldPosition position, uint32_t column);

/*
 Whether a column from 0 can be played.
 */
bool fourfold_is_legal(struct FourfoldPosition position, uint32_t column);

/*
 How the game stands.
 */
enum FourfoldGameState fourfold_state(struct FourfoldPosition position);

/*
 The exact score, or bounds if `nodes_max` positions were expanded before it was known; 0 is no limit.
 */
struct FourfoldScore fourfold_score(struct FourfoldPosition position,
                                    uint64_t nodes_max);

/*
 The exact scores of all columns; none of them, with FOURFOLD_STATUS_BOUNDS, if `nodes_max` positions were expanded
 before all were known; 0 is no limit.
 */
struct FourfoldColumns fourfold_columns(struct FourfoldPosition position,
                                        uint64_t nodes_max);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FOURFOLD_H */
