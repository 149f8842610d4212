// Measures what visitors wait for: how much each page loads, when it is first seen and when one can play, on a slow
// network, how long a disc takes to start falling, and what live pages cost and how much of them moves by itself.
// `npm run measure`, with FOURFOLD_BIN naming a release build; it fails if more moves than may.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { Arena } from "./support/arena.js";
import { Browser } from "./support/browser.js";
import { atGame, myTurn } from "./support/game.js";

/** What browsers call fast 3G: bytes a second each way, and milliseconds there and back. */
const FAST_3G = { offline: false, downloadThroughput: 200_000, uploadThroughput: 94_000, latency: 150 };
/** Runs of which the middle one is told. */
const RUNS = 5;

const middle = (/** @type {number[]} */ values) => Math.round([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]);

const arena = await new Arena().start();
const browser = await new Browser().start();

/**
 * A first visit: bytes over the wire, first paint and end of loading in milliseconds.
 * @param {string} path
 * @param {typeof FAST_3G} [network]
 */
async function visit(path, network) {
  const page = await browser.visitor(arena.url);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  if (network) await devtools.send("Network.emulateNetworkConditions", network);
  let bytes = 0;
  let requests = 0;
  devtools.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests += 1;
  });
  await page.goto(path);
  await page.waitForSelector('html[data-connection="open"]');
  const timing = await page.evaluate(() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
    open: performance.now(),
  }));
  await page.context().close();
  return { bytes, requests, ...timing };
}

console.log("page                 bytes  files  first paint  connected   (fast 3G, first visit, middle of", RUNS, "runs)");
for (const path of ["/", "/leaderboard", "/bots", "/account", "/docs"]) {
  const runs = [];
  for (let run = 0; run < RUNS; run += 1) runs.push(await visit(path, FAST_3G));
  const [bytes, requests, paint, open] = /** @type {const} */ (["bytes", "requests", "paint", "open"]).map((key) => middle(runs.map((run) => run[key])));
  console.log(path.padEnd(18), String(bytes).padStart(7), String(requests).padStart(6), `${paint} ms`.padStart(12), `${open} ms`.padStart(10));
}

/** From the press of a key to the first frame in which the disc has moved, in frames of the browser. */
async function keyToFall() {
  const page = await browser.visitor(arena.url);
  await page.goto("/");
  await page.waitForSelector('html[data-connection="open"]');
  await page.click("#choose-bot");
  await page.check('#bot-dialog input[value="first"]');
  await page.click("#start-bot");
  await atGame(page);
  await myTurn(page);
  const frames = await page.evaluate(
    () =>
      new Promise((resolve) => {
        let count = 0;
        const look = () => {
          count += 1;
          if (document.querySelector(".ghost-landing .stone, .stones > g")) resolve(count);
          else requestAnimationFrame(look);
        };
        document.dispatchEvent(new KeyboardEvent("keydown", { key: "4", bubbles: true }));
        requestAnimationFrame(look);
      }),
  );
  await page.context().close();
  return Number(frames);
}
console.log("frames from a key to the disc on the board:", middle([await keyToFall(), await keyToFall(), await keyToFall()]));

/** A game on a page of its own, whose weight is that of a first visit by a link. */
const played = await browser.visitor(arena.url);
await played.goto("/");
await played.waitForSelector('html[data-connection="open"]');
await played.click("#choose-bot");
await played.click("#start-bot");
const game = `/game/${await atGame(played)}`;
const loaded = await visit(game, FAST_3G);
console.log("a game, of first visits at most 100000 bytes:", loaded.bytes, "bytes in", loaded.requests, "files");
await played.context().close();
await arena.stop();

/** How long live pages are looked at, in milliseconds, and how much may move by itself meanwhile. */
const WATCH_MS = 30_000;
const SHIFTS_MAX = 0.05;
/** A round robin that lasts longer than that. */
const TOURNAMENT = `
[[tournaments]]
name = "All of the house"
at = "start"
format = "round-robin"
entrants = ["stupid", "random", "greedy", "perfect-4", "negamax", "lines69"]
concurrency = 2
seed = 5
`;

/**
 * What a live page costs while games of the ladder are played: share of the main thread in per cent, sum of shifts.
 * @param {string} url
 * @param {string} path
 */
async function watched(url, path) {
  const page = await browser.visitor(url);
  await page.addInitScript(() => {
    const state = { shifts: 0 };
    Object.assign(globalThis, { state });
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => (state.shifts += /** @type {any} */ (entry).value))).observe({ type: "layout-shift", buffered: true });
  });
  const devtools = await page.context().newCDPSession(page);
  // What the thread computes, not how long it waits for a core: other work on the machine does not count.
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
  };
  await page.goto(path);
  await page.waitForSelector('html[data-connection="open"], #embed');
  const before = await busy();
  await page.waitForTimeout(WATCH_MS);
  const share = ((await busy()) - before) / (WATCH_MS / 1_000);
  const shifts = await page.evaluate(() => /** @type {any} */ (globalThis).state.shifts);
  await page.context().close();
  return { share, shifts };
}

const ladder = new Arena({ ladder: true });
const file = join(ladder.data, "tournament.toml");
writeFileSync(file, TOURNAMENT);
ladder.environment = { ...ladder.environment, FOURFOLD_CONFIG: file };
await ladder.start();

/** The address of the first of a list that is there. @param {string} list @param {(answer: any) => string | undefined} path */
async function firstOf(list, path) {
  for (;;) {
    const found = path(await (await fetch(`${ladder.url}/api/v1/${list}`)).json());
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

const live = () => firstOf("live", ({ items }) => items[0] && `/game/${items[0].game}`);
const cup = await firstOf("tournaments", ({ items }) => items[0] && `/tournament/${items[0].id}`);
console.log("page            main thread  shifts   (the ladder plays; seconds:", WATCH_MS / 1_000, ", shifts at most", SHIFTS_MAX, ")");
for (const [name, path] of [["/", "/"], ["/wall", "/wall"], ["/tv", "/tv"], ["/embed/tv", "/embed/tv"], ["a tournament", cup], ["a live game", await live()]]) {
  const { share, shifts } = await watched(ladder.url, path);
  const verdict = shifts <= SHIFTS_MAX ? "" : "  too much";
  if (verdict) process.exitCode = 1;
  console.log(name.padEnd(14), `${(100 * share).toFixed(1)} %`.padStart(12), shifts.toFixed(3).padStart(8), verdict);
}
await ladder.stop();
await browser.stop();
