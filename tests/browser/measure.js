// Measures what visitors wait for: how much each page loads, when it is first seen and when one can play, on a slow
// network, and how long a disc takes to start falling. `npm run measure`, with FOURFOLD_BIN naming a release build.

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

await browser.stop();
await arena.stop();
