// The kit against a server of a few lines, without a network.

import assert from "node:assert/strict";
import test from "node:test";

import { Refused, centreFirst, run } from "../fourfold_bot.js";

/** A WebSocket class whose other end is `script`: called with each message from the bot and a way to answer. */
function serverOf(script) {
  return class FakeSocket extends EventTarget {
    readyState = 0;
    static connections = 0;

    constructor(url, protocols) {
      super();
      Object.assign(this, { url, protocols, number: ++FakeSocket.connections });
      queueMicrotask(() => {
        this.readyState = 1;
        this.dispatchEvent(new Event("open"));
      });
    }

    send(text) {
      const say = (message) =>
        queueMicrotask(() =>
          this.dispatchEvent(Object.assign(new Event("message"), { data: JSON.stringify(message) })),
        );
      script(JSON.parse(text), say, this);
    }

    close(code = 1000, reason = "") {
      if (this.readyState === 3) return;
      this.readyState = 3;
      queueMicrotask(() => this.dispatchEvent(Object.assign(new Event("close"), { code, reason })));
    }
  };
}

const welcome = { type: "welcome", seq: 1, session: "s", secret: "x", resumed: false, heartbeat_ms: 10_000 };
const game = { type: "game", seq: 2, game: "g", you: "first", status: "live" };
const turn = { type: "turn", seq: 3, game: "g", ply: 0, moves: "", legal: [1, 2, 3, 4, 5, 6, 7], variant: "7x6" };
const end = { type: "game_end", seq: 5, game: "g", result: "first", reason: "four", moves: "4" };

const settings = (script, more) => ({
  name: "test", version: "1", url: "ws://a.example", token: "t", games: 1, WebSocket: serverOf(script), ...more,
});

/** One game of one move. */
function oneGame(heard) {
  return (message, say, socket) => {
    heard.push(message);
    if (message.type === "hello") [welcome, game, turn].forEach(say);
    if (message.type === "move") {
      say(end);
      setImmediate(() => socket.close(1000));
    }
  };
}

test("a turn is answered and the game counted", async () => {
  const heard = [];
  const tally = await run(() => 4, settings(oneGame(heard)));
  assert.deepEqual(tally, { wins: 1, draws: 0, losses: 0 });
  assert.deepEqual(heard.map((message) => message.type), ["hello", "bye", "move"]);
  assert.deepEqual([heard[0].token, heard[0].open], ["t", true]);
  assert.deepEqual(heard[2], { type: "move", game: "g", ply: 0, column: 4 });
});

test("what was thought goes with the move", async () => {
  const heard = [];
  await run(async () => ({ column: 3, info: { depth: 5 } }), settings(oneGame(heard)));
  assert.deepEqual(heard[2], { type: "move", game: "g", ply: 0, column: 3, info: { depth: 5 } });
});

test("a bug costs a move and not the game", async () => {
  for (const choose of [() => 9, () => "4", () => null, () => ({ column: 0, info: {} }), () => Promise.reject(new Error("no"))]) {
    const heard = [];
    const problems = [];
    await run(choose, settings(oneGame(heard), { onError: (problem) => problems.push(problem.code) }));
    assert.equal(heard.at(-1).column, 4);
    assert.equal(problems.length, 1);
  }
});

test("a lost connection is resumed and the same answer given again", async () => {
  const heard = [];
  const script = (message, say, socket) => {
    heard.push(message);
    if (message.type === "hello" && socket.number === 1) [welcome, game, turn].forEach(say);
    if (message.type === "move" && socket.number === 1) socket.close(1012);
    if (message.type === "hello" && socket.number === 2) [{ ...welcome, seq: 3, resumed: true }, turn].forEach(say);
    if (message.type === "move" && socket.number === 2) {
      say(end);
      setImmediate(() => socket.close(1000));
    }
  };
  let asked = 0;
  const tally = await run(() => 1 + asked++, settings(script));
  assert.equal(tally.wins, 1);
  assert.equal(asked, 1);
  const hellos = heard.filter((message) => message.type === "hello");
  assert.deepEqual(hellos[1].resume, { session: "s", secret: "x", seq: 3 });
});

test("an opponent is asked for all games", async () => {
  const asked = [];
  const script = (message, say, socket) => {
    if (message.type === "hello") {
      assert.equal(message.open, false);
      [welcome, { type: "synced", seq: 2, games: 0 }].forEach(say);
    }
    if (message.type === "challenge") {
      asked.push(message);
      say({ type: "challenge_end", challenge: "c", how: "accepted" });
      for (let number = 0; number < message.games; number += 1) {
        const id = `${asked.length}-${number}`;
        [{ ...game, game: id }, { ...end, game: id }].forEach(say);
      }
    }
    if (message.type === "bye") setTimeout(() => socket.close(1000), 5);
  };
  const tally = await run(() => 4, settings(script, { opponent: "negamax-6", games: 3 }));
  assert.deepEqual(tally, { wins: 3, draws: 0, losses: 0 });
  assert.deepEqual(asked.map(({ to, games, rated }) => [to, games, rated]), [["negamax-6", 2, false], ["negamax-6", 1, false]]);
  assert.deepEqual(asked.map(({ opening }) => opening?.kind), ["balanced", undefined]);
});

test("an opponent that does not play ends it", async () => {
  const script = (message, say, socket) => {
    if (message.type === "hello") [welcome, { type: "synced", seq: 2, games: 0 }].forEach(say);
    if (message.type === "challenge") say({ type: "error", re: message.id, code: "no_such_player", message: "nobody here" });
  };
  await assert.rejects(run(() => 4, settings(script, { opponent: "x" })), /x does not play: nobody here/);
});

/** Answers requests of the HTTP interface for the time of `test`, one after the other. */
async function answering(answers, test) {
  const asked = [];
  const real = globalThis.fetch;
  globalThis.fetch = async (address, { method, headers, body }) => {
    asked.push([method, address.href, headers.Authorization, body]);
    const [status, said] = answers.shift() ?? [500, {}];
    return { ok: status < 300, status, json: async () => said };
  };
  await test().finally(() => (globalThis.fetch = real));
  return asked;
}

const atTheDoor = (message, say, socket) => {
  if (message.type === "hello") [welcome, { type: "synced", seq: 2, games: 0 }].forEach(say);
  if (message.type === "bye") setTimeout(() => socket.close(1000), 5);
};

test("a duel is begun with the bot's own token and ends the run with its verdict", async () => {
  const over = { over: true, verdict: "stronger", wins: 2, draws: 0, losses: 0, games: 2 };
  const answers = [[201, { id: "d1", url: "http://a.example/duel/d1" }], [200, over]];
  const seen = [];
  const duel = { opponent: "negamax-6", pairs: 1 };
  const asked = await answering(answers, () =>
    run(() => 4, settings(atTheDoor, { games: undefined, duel, onDuelEnd: (end) => seen.push(end.verdict) })),
  );
  assert.deepEqual(seen, ["stronger"]);
  assert.deepEqual(asked, [
    ["POST", "http://a.example/api/v1/bots/@me/duels", "Bearer t", JSON.stringify(duel)],
    ["GET", "http://a.example/api/v1/duels/d1", "Bearer t", undefined],
  ]);
});

test("a duel that cannot be is refused with the reason", async () => {
  await answering([[400, { message: "opponent is a bot of the house" }]], () =>
    assert.rejects(run(() => 4, settings(atTheDoor, { duel: { opponent: "x" } })), /no duel: opponent is a bot/),
  );
});

test("who is refused does not try again", async () => {
  const script = (message, say, socket) => socket.close(4401, "token unknown");
  await assert.rejects(run(() => 4, settings(script)), Refused);
  await assert.rejects(run(() => 4, { name: "a", version: "1", token: "" }), /FOURFOLD_TOKEN/);
});

test("columns are sorted from the centre", () => {
  assert.deepEqual(centreFirst({ legal: [1, 2, 4, 5, 7], variant: "7x6" }), [4, 5, 2, 1, 7]);
});
