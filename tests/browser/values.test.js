// What scores mean, and the line of moves of the analysis board: without a browser.

import "./support/texts.js";

import assert from "node:assert/strict";
import { test } from "node:test";

const { address, goTo, isOver, lineOf, mirror, play, printMoves, shownMoves } = await import("../../web/static/line.js");
const { columnValue, movesLeft, nearness, outlook } = await import("../../web/static/outlook.js");
const { parseVariant } = await import("../../web/static/rules.js");

const USUAL = parseVariant("7x6");

test("a score says who wins and when, as the engine counts it", () => {
  /** @type {[string, number, number, string | null, number][]} */
  const rows = [
    ["7x6", 0, 1, "first", 41],
    ["7x6", 1, -1, "first", 40],
    ["7x6", 6, 18, "first", 1],
    ["7x6", 7, 18, "second", 1],
    ["7x6", 8, 0, null, 34],
    ["5x5", 24, 1, "first", 1],
    ["5x5", 7, 9, "second", 1],
  ];
  for (const [variant, ply, score, winner, plies] of rows) {
    assert.deepEqual(outlook(parseVariant(variant), ply, score), { winner, plies }, `${variant} ${ply} ${score}`);
  }
});

test("moves are counted as the winner's own", () => {
  assert.equal(movesLeft({ winner: "first", plies: 1 }), 1);
  assert.equal(movesLeft({ winner: "first", plies: 2 }), 1);
  assert.equal(movesLeft({ winner: "first", plies: 41 }), 21);
});

test("a value has a mark of its own, and is nearer the sooner it comes", () => {
  assert.deepEqual([5, 0, -5].map((score) => columnValue(score).sign), ["▲", "=", "▼"]);
  assert.equal(nearness(USUAL, 18), 1);
  assert.equal(nearness(USUAL, 0), 0);
  assert.ok(nearness(USUAL, -3) < nearness(USUAL, -4));
});

test("a line is played, taken back and played again", () => {
  let line = lineOf("7x6", "443");
  line = goTo(line, 1);
  assert.equal(address(line), "/analysis/4");
  line = play(line, 4);
  assert.deepEqual([line.ply, printMoves(line.moves)], [2, "443"], "the same move keeps what follows");
  line = play(goTo(line, 1), 7);
  assert.deepEqual([line.ply, printMoves(line.moves)], [2, "47"], "another one forgets it");
  assert.equal(goTo(line, 99).ply, 2);
  assert.equal(goTo(line, -1).ply, 0);
});

test("nothing is played into a full column or after the end", () => {
  const full = lineOf("7x6", "444444");
  assert.equal(play(full, 4), full);
  const won = lineOf("7x6", "1212121");
  assert.equal(isOver(won), true);
  assert.equal(play(won, 5), won);
  assert.equal(isOver(goTo(won, 6)), false);
});

test("a mirrored line and one of another board have their addresses", () => {
  assert.equal(address(mirror(lineOf("7x6", "112"))), "/analysis/776");
  assert.equal(address(lineOf("12x4", "c")), "/analysis/c?variant=12x4");
  assert.equal(address(lineOf("7x6", "-")), "/analysis", "the usual board without a stone has no dash");
  assert.equal(address(lineOf("12x4", "-")), "/analysis/-?variant=12x4");
  assert.deepEqual(shownMoves(goTo(lineOf("12x4", "abc"), 2)), [10, 11]);
});
