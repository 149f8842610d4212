// What was tried in the editor, without a page: versions, what they scored, and how likely one is stronger than another.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addGame, keptVersions, likelihood, normal, shareOf, versionBefore, withVersion } from "../../web/static/tried.js";

/** @param {number} wins @param {number} draws @param {number} losses */
const tally = (wins, draws, losses) => ({ wins, draws, losses });

/** @param {number} actual @param {number} expected @param {number} within */
function close(actual, expected, within) {
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not ${expected}`);
}

test("the normal distribution is that of tables", () => {
  for (const [z, expected] of [[0, 0.5], [1, 0.8413447], [1.959964, 0.975], [-1.644854, 0.05], [6, 1], [-40, 0]]) {
    close(normal(z), expected, 1e-6);
  }
});

test("who scored more is stronger, the more games the surer", () => {
  close(likelihood(tally(10, 0, 10), tally(10, 0, 10)), 0.5, 1e-6);
  const few = likelihood(tally(6, 0, 4), tally(4, 0, 6));
  const many = likelihood(tally(60, 0, 40), tally(40, 0, 60));
  assert.ok(0.5 < few && few < 0.9 && many > 0.95, `${few} ${many}`);
  close(few + likelihood(tally(4, 0, 6), tally(6, 0, 4)), 1, 1e-9);
  assert.ok(likelihood(tally(1, 0, 0), tally(0, 0, 1)) < 0.95, "two games prove nothing");
  assert.ok(likelihood(tally(20, 0, 0), tally(0, 0, 20)) > 0.999);
  assert.ok(likelihood(tally(0, 20, 0), tally(0, 0, 20)) > 0.95, "draws are points too");
  assert.equal(shareOf(tally(1, 2, 1)), 0.5);
  assert.equal(shareOf(tally(0, 0, 0)), 0);
});

test("each text is a version, which keeps its number", () => {
  let versions = withVersion([], "a");
  versions = withVersion(versions, "b");
  addGame(versions[0], "greedy", "wins");
  versions = withVersion(versions, "a");
  assert.deepEqual(versions.map(({ number, code }) => [number, code]), [[1, "a"], [2, "b"]]);
  addGame(versions[0], "greedy", "draws");
  addGame(versions[0], "greedy", "draws");
  assert.deepEqual(versions[0].scores, { greedy: tally(0, 2, 0) });
  const [one, two] = versions;
  assert.equal(versionBefore(versions, one, "greedy"), undefined);
  assert.equal(versionBefore(versions, two, "greedy"), one);
  assert.equal(versionBefore(versions, two, "__proto__"), undefined, "it was no opponent");
  for (let number = 0; number < 50; number += 1) versions = withVersion(versions, `c${number}`);
  assert.deepEqual([versions.length, versions[0].number], [20, 52]);
});

test("what is kept and no list of versions is none", () => {
  const keep = (/** @type {string | null} */ text) => Object.assign(globalThis, { localStorage: { getItem: () => text } });
  const version = (/** @type {object} */ change) => JSON.stringify([{ number: 1, code: "a", scores: { greedy: tally(1, 0, 0) }, ...change }]);
  keep(version({}));
  assert.equal(keptVersions().length, 1);
  const broken = ["", "{", "null", "7", "{}", "[null]", "[7]", version({ number: "1" }), version({ code: null }), version({ scores: null })];
  for (const text of [null, ...broken, version({ scores: { greedy: null } }), version({ scores: { greedy: tally(-1, 0, 0.5) } })]) {
    keep(text);
    assert.deepEqual(keptVersions(), [], String(text));
  }
});
