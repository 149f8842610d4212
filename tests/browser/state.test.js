// The pure parts of the page, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import "./support/texts.js";
import { landingRow, parseMoves, parseVariant, stonesOf, winningLine } from "../../web/static/rules.js";
import { thoughts } from "../../web/static/replay.js";
import { seriesAfter } from "../../web/static/series.js";
import { points } from "../../web/static/words.js";
import { canAbort, fromSnapshot, moveTimeLeft, reduce, timeLeft } from "../../web/static/state.js";
import { missed, story } from "../../web/static/story.js";
import { clockFace, spokenName, timeControl } from "../../web/static/words.js";

const STANDARD = parseVariant("7x6");

/** @param {Partial<import("../../web/types/protocol").Snapshot>} [more] */
function snapshot(more = {}) {
  const player = (/** @type {string} */ name) => ({ id: name, name, kind: /** @type {const} */ ("guest"), rating: null });
  return {
    type: /** @type {const} */ ("game"),
    game: "g1",
    you: /** @type {const} */ ("first"),
    players: { first: player("ann"), second: player("ben") },
    rated: false,
    time: { bank_ms: 60_000, increment_ms: 0, move_ms: null },
    variant: "7x6",
    opening: { kind: /** @type {const} */ ("none"), moves: "" },
    moves: "",
    ply: 0,
    clock: { first: 60_000, second: 60_000 },
    to_move: /** @type {const} */ ("first"),
    event_seq: 0,
    status: /** @type {const} */ ("live"),
    ...more,
  };
}

/**
 * @param {number} ply after the move
 * @param {number} column
 * @param {Partial<import("../../web/types/protocol").Moved>} [more]
 */
function moved(ply, column, more = {}) {
  const by = /** @type {"first" | "second"} */ (ply % 2 === 1 ? "first" : "second");
  return {
    type: /** @type {const} */ ("moved"),
    game: "g1",
    event_seq: ply,
    ply,
    column,
    by,
    clock: { first: 58_000, second: 60_000 },
    spent_ms: 2_000,
    credited_ms: 0,
    ...more,
  };
}

/**
 * @param {...import("../../web/types/protocol").GameMessage} messages
 */
function after(...messages) {
  const state = messages.reduce((now, message) => reduce(now, message, 1_000) ?? now, fromSnapshot(snapshot(), 0));
  assert.ok(state);
  return state;
}

test("stones pile up in their columns", () => {
  const stones = stonesOf(parseMoves("4434"));
  assert.deepEqual(stones.map(({ column, row, side }) => [column, row, side]), [
    [4, 1, "first"], [4, 2, "second"], [3, 1, "first"], [4, 3, "second"],
  ]);
  assert.equal(landingRow(STANDARD, parseMoves("444444"), 4), 0);
});

test("lines are found in every direction, and only complete ones", () => {
  const check = (/** @type {string} */ moves, /** @type {number[][] | null} */ line) =>
    assert.deepEqual(winningLine(STANDARD, parseMoves(moves)), line);
  check("1122334", [[1, 1], [2, 1], [3, 1], [4, 1]]);
  check("1212121", [[1, 1], [1, 2], [1, 3], [1, 4]]);
  check("12233434454", [[1, 1], [2, 2], [3, 3], [4, 4]]);
  check("112233", null);
  check("", null);
});

test("a move advances the game and starts the other clock", () => {
  const state = after(moved(1, 4));
  assert.deepEqual(state.moves, [4]);
  assert.equal(state.toMove, "second");
  assert.equal(timeLeft(state, "first", 9_000), 58_000);
  assert.equal(timeLeft(state, "second", 9_000), 60_000 - 8_000);
});

test("the same move twice changes nothing", () => {
  const once = after(moved(1, 4));
  assert.equal(reduce(once, moved(1, 4), 2_000), once);
});

test("a gap in the events asks for a snapshot, which heals it", () => {
  const state = after(moved(1, 4), moved(3, 4));
  assert.equal(state.needsSync, true);
  const healed = reduce(state, snapshot({ moves: "444", ply: 3, event_seq: 3, to_move: "second" }), 2_000);
  assert.equal(healed?.needsSync, false);
  assert.deepEqual(healed?.moves, [4, 4, 4]);
});

test("messages of another game are none of ours", () => {
  const state = after(moved(1, 4));
  assert.equal(reduce(state, moved(2, 4, { game: "g2" }), 2_000), state);
  assert.equal(reduce(state, snapshot({ game: "g2" }), 2_000), state);
});

test("a takeback shortens the game, though its events go on", () => {
  const state = after(moved(1, 4), moved(2, 4), snapshot({ moves: "", ply: 0, event_seq: 3 }));
  assert.deepEqual(state.moves, []);
  assert.deepEqual(after(moved(1, 4), moved(2, 4), snapshot({ event_seq: 3 }), moved(1, 3, { event_seq: 4 })).moves, [3]);
});

const TURN = { type: /** @type {const} */ ("turn"), game: "g1", ply: 0, moves: "", legal: [1], budget_ms: 70_000, network_ms: 1, variant: "7x6", clock: { you: 70_000, opponent: 70_000 } };

test("frozen clocks stand still until the next word", () => {
  const state = after(snapshot({ frozen_ms: 60_000 }));
  assert.equal(timeLeft(state, "first", 30_000), 60_000);
  const running = reduce(state, TURN, 30_000);
  assert.equal(running && timeLeft(running, "first", 31_000), 69_000);
});

test("a teacher's pause outlasts the question for a move", () => {
  const standing = reduce(after(snapshot({ frozen_ms: 60_000, paused: true })), TURN, 30_000);
  assert.equal(standing && timeLeft(standing, "first", 31_000), 70_000);
  assert.equal(standing && reduce(standing, snapshot(), 32_000)?.frozenUntil, null);
});

test("an absence is shown until the absent side is back or moves", () => {
  const gone = { type: /** @type {const} */ ("opponent_gone"), game: "g1", by: /** @type {const} */ ("second"), gone: true, claim_ms: 30_000 };
  const state = after(moved(1, 4), gone);
  assert.deepEqual(state.gone.second, { since: 1_000, claimAt: 31_000 });
  assert.equal(reduce(state, { ...gone, gone: false }, 2_000)?.gone.second, null);
  assert.equal(reduce(state, moved(2, 4), 2_000)?.gone.second, null);
});

test("the end stops the clocks and shows the line", () => {
  const end = { type: /** @type {const} */ ("game_end"), game: "g1", event_seq: 8, result: /** @type {const} */ ("first"), reason: /** @type {const} */ ("four"), moves: "1122334", clock: { first: 50_000, second: 40_000 } };
  const state = after(end);
  assert.equal(state.status, "over");
  assert.equal(state.toMove, null);
  assert.equal(state.line?.length, 4);
  assert.equal(timeLeft(state, "second", 99_000), 40_000);
});

test("a game that was to be rated is not, once its end says why", () => {
  const end = { type: /** @type {const} */ ("game_end"), game: "g1", event_seq: 8, result: /** @type {const} */ ("first"), reason: /** @type {const} */ ("resign"), moves: "44", clock: { first: 50_000, second: 40_000 } };
  const rated = fromSnapshot(snapshot({ rated: true }), 1_000);
  assert.equal(reduce(rated, end, 2_000)?.rated, true);
  const short = reduce(rated, { ...end, unrated_because: "too_short" }, 2_000);
  assert.deepEqual([short?.rated, short?.unratedBecause], [false, "too_short"]);
});

test("a game can be aborted until both have moved", () => {
  assert.equal(canAbort(after(moved(1, 4))), true);
  assert.equal(canAbort(after(moved(1, 4), moved(2, 4))), false);
  assert.equal(canAbort(after(snapshot({ moves: "4444", opening: { kind: "balanced", moves: "4444" } }))), true);
});

test("a limit for each move runs beside the bank", () => {
  const state = after(snapshot({ time: { bank_ms: 60_000, increment_ms: 0, move_ms: 10_000 } }));
  assert.equal(moveTimeLeft(state, "first", state.turnAt + 4_000), 6_000);
  assert.equal(moveTimeLeft(state, "second", 4_000), null);
});

test("a guest who chose a name is called by it, and nobody else is called otherwise", () => {
  const names = { "guest-Anna": "Anna", "guest-anna12": "anna12", "guest-vg99nb": "guest-vg99nb", Ada: "Ada", "gone-vg99nb": "gone-vg99nb" };
  for (const [name, spoken] of Object.entries(names)) assert.equal(spokenName(name), spoken);
});

test("times read as people say them", () => {
  assert.equal(timeControl({ bank_ms: 180_000, increment_ms: 2_000, move_ms: null }), "3 min + 2 s");
  assert.equal(timeControl({ bank_ms: null, increment_ms: 0, move_ms: 30_000 }), "30 s a move");
  assert.deepEqual([185_000, 59_001, 10_000, 9_999, -5, 3_600_000].map(clockFace), ["3:05", "1:00", "0:10", "9.9", "0.0", "1:00:00"]);
});

test("a series counts each game once, a draw as half of one", () => {
  const games = /** @type {Array<[string, "won" | "lost" | "even"]>} */ ([["a", "won"], ["b", "even"], ["b", "even"], ["c", "lost"], ["d", "won"]]);
  const series = games.reduce((now, [game, how]) => seriesAfter(now, game, how), seriesAfter(undefined, "z", "lost"));
  assert.deepEqual([points(series.mine), points(series.theirs), series.games.length], ["2½", "2½", 5]);
  assert.deepEqual([0, 1, 2].map(points), ["0", "½", "1"]);
});

/**
 * A review in which a move is judged so, and no other.
 * @param {string} moves
 * @param {number} ply
 * @param {import("../../web/types/review").Mistake | null} mistake
 * @param {number[]} best
 */
function reviewOf(moves, ply, mistake, best) {
  const side = /** @type {const} */ (ply % 2 === 1 ? "first" : "second");
  const judged = { ply, side, column: Number(moves[ply - 1]), before: 0, after: 0, best, mistake };
  const skill = { moves: 0, decisions: 0, accuracy: null, blunders: 0 };
  const turning_point = mistake ? ply : null;
  return { variant: "7x6", from_ply: 0, moves, turning_point, plies: [judged], skill: { first: skill, second: skill } };
}

test("what everybody could see is called missed, whatever the solver says of it", () => {
  /** @type {(moves: string, expected: string | null) => void} */
  const check = (moves, expected) => {
    const review = reviewOf(moves, moves.length, null, [4]);
    const found = missed(review, review.plies[0]);
    assert.equal(found && `${found.kind} ${found.column}`, expected, moves);
  };
  check("1212123", "win 1"); // three upright, and no fourth
  check("1212121", null);
  check("121213", "block 1"); // the other side's three
  check("121211", null);
  check("41526", null); // not three in a row yet
  check("5142631", "win 7"); // 4, 5 and 6 below, 3 is taken
  check("514267", null); // an open row of three at both ends: nothing stops it
});

test("the story of a game is about the move that decided it", () => {
  const names = { first: "ann", second: "ben" };
  /** @type {(review: ReturnType<typeof reviewOf>, you: "first" | "second" | null) => unknown} */
  const told = (review, you) => {
    const found = story(review, you, names);
    return found && [found.key, found.values.n, found.values.name, found.values.column];
  };
  const ahead = reviewOf("435", 3, "win_to_draw", [4, 2]);
  assert.deepEqual(told(ahead, "first"), ["review.story_ahead_you", 3, "ann", 4]);
  assert.deepEqual(told(ahead, null), ["review.story_ahead_they", 3, "ann", 4]);
  assert.deepEqual(told(reviewOf("4362", 4, "draw_to_loss", [5]), "first"), ["review.story_draw_they", 4, "ben", 5]);
  // Three upright that nobody stopped say more than the value that was lost.
  assert.deepEqual(told(reviewOf("121213", 6, "draw_to_loss", [1, 4]), "second"), ["review.story_block_you", 6, "ben", 1]);
  assert.deepEqual(told(reviewOf("1212123", 7, null, []), null), ["review.story_win_they", 7, "ann", 1]);
  assert.equal(told(reviewOf("44", 2, null, []), null), null);
});

test("how long a move took follows from the clocks, but for moves that were dealt", () => {
  const time = { bank_ms: 60_000, increment_ms: 2_000, move_ms: null };
  /** @type {[number, number][]} */
  const clocks = [[60_000, 60_000], [60_000, 60_000], [58_500, 60_000], [58_500, 61_000], [57_500, 61_000]];
  assert.deepEqual(thoughts({ time, opening: { moves: "44" }, clocks }), [null, null, 3_500, 1_000, 3_000]);
  assert.deepEqual(thoughts({ time: { ...time, bank_ms: null }, opening: {}, clocks }), [null, null, null, null, null]);
});
