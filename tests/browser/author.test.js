// The corner of bots' authors: a bot is made, started by the lines on the page, and watched.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { signUp } from "./support/game.js";
import { assertGood } from "./support/good.js";

/** @typedef {import("playwright-core").Page} Page */


// The ladder starts the bot's first game.
const arena = new Arena({ ladder: true, learning: false });
const browser = new Browser();
const folder = mkdtempSync(join(tmpdir(), "fourfold-author-"));
/** @type {import("node:child_process").ChildProcess[]} */
const bots = [];

before(async () => {
  await Promise.all([arena.start(), browser.start()]);
});
after(async () => {
  bots.forEach((bot) => bot.kill("SIGKILL"));
  await Promise.all([browser.stop(), arena.stop()]);
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => browser.endOfTest(/status of (403|404|409)/));

/**
 * Makes a bot on its page and gives its token.
 * @param {Page} page
 * @param {string} name
 */
async function makeBot(page, name) {
  await page.goto("/bots/new");
  await page.fill("#bot-name", name);
  await page.click("#new-bot button[type=submit]");
  await page.waitForSelector("#token:not([hidden])");
  assert.equal(new URL(page.url()).pathname, `/bot/${name}`);
  const token = (await page.textContent("#token-value")) ?? "";
  assert.match(token, /^c4b_/);
  return token;
}

/**
 * Runs the JavaScript bot by the very lines that the page shows.
 * @param {Page} page
 */
async function startByLines(page) {
  const lines = (await page.textContent("#start-JavaScript")) ?? "";
  // `exec`: the bot itself gets the signal that ends it.
  const script = lines.replace(/^node /m, "exec node ");
  const bot = spawn("sh", ["-e", "-c", script], { cwd: folder, stdio: "ignore" });
  bots.push(bot);
  return bot;
}

for (const [size, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
  test(`a bot is made, started by the lines shown, and watched, ${size}`, async () => {
    const page = await browser.visitor(arena.url, { ...viewport, reducedMotion: "reduce" });
    const name = `kit-${size}`;
    await signUp(page, `Nora-${size}`);
    await page.goto("/bots/new");
    await assertGood(page, "a new bot");
    const token = await makeBot(page, name);
    for (const kit of ["Python", "JavaScript", "Rust"]) {
      const lines = (await page.textContent(`#start-${kit}`)) ?? "";
      assert.ok(lines.includes(token) && lines.includes(`${arena.url}/kits/${kit.toLowerCase()}.tar`), lines);
    }
    assert.equal(await page.textContent("#state .waiting"), "Waiting for its first connection…");
    await assertGood(page, "a token");

    const bot = await startByLines(page);
    const game = page.locator('#state .games a[href^="/game/"]').first();
    await game.waitFor();
    const href = (await game.getAttribute("href")) ?? "";
    await page.waitForSelector("#versions td >> text=1");

    await page.click("#begin-test");
    await page.waitForSelector("#self-test .report");
    assert.match((await page.textContent("#self-test .report")) ?? "", /passed.*full_column/s);
    await assertGood(page, "a bot");

    // A reload forgets the token.
    await page.reload();
    assert.equal(await page.isVisible("#token"), false);
    assert.equal((await page.content()).includes(token), false);

    await page.goto(href);
    await page.waitForSelector("#thoughts .thought dd >> text=one of");
    await assertGood(page, "thoughts");
    await page.locator("#thoughts").scrollIntoViewIfNeeded();
    const other = await browser.visitor(arena.url, viewport);
    await other.goto(href);
    await other.waitForSelector("#game");
    assert.equal(await other.locator("#thoughts").count(), 0);
    assert.equal((await other.content()).includes("one of"), false);
    await other.goto(`/bot/${name}`);
    assert.equal(new URL(other.url()).pathname, `/player/${name}`);

    const ended = new Promise((resolve) => bot.once("exit", resolve));
    bot.kill("SIGINT");
    await ended;
    await page.goto(`/bot/${name}`);
    await page.waitForSelector("#state >> text=not connected");
    await page.waitForSelector('#games a[href^="/game/"]');
    await page.click("#find-mistakes");
    await page.waitForSelector("#mistakes >> text=Looked at");
    await page.click("#games >> text=Lost");
    assert.equal(await page.textContent("#games [aria-current]"), "Lost");
    await assertGood(page, "a bot's games and mistakes");
    await Promise.all([page.context().close(), other.context().close()]);
  });
}

test("a token is replaced and revoked from the keyboard", async () => {
  const page = await browser.visitor(arena.url);
  await signUp(page, "Omar");
  const first = await makeBot(page, "omars-bot");
  const listed = await page.getAttribute("[data-revoke]", "id");
  await page.focus("[data-rotate]");
  await page.keyboard.press("Enter");
  await page.waitForFunction((old) => document.querySelector("#token-value")?.textContent !== old, first);
  const second = (await page.textContent("#token-value")) ?? "";
  assert.match(second, /^c4b_/);
  assert.ok((await page.textContent("#start-Rust"))?.includes(second), "the lines have the new token");
  await page.waitForFunction((old) => document.querySelector("[data-revoke]")?.id !== old, listed);
  assert.equal(await page.locator("#tokens li").count(), 1);
  const status = async (/** @type {string} */ token) => {
    const headers = { Authorization: `Bearer ${token}` };
    return (await fetch(`${arena.url}/api/v1/bots/@me`, { headers })).status;
  };
  assert.deepEqual([await status(first), await status(second)], [401, 200]);
  await page.focus("[data-revoke]");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#tokens >> text=nothing can connect");
  assert.equal(await status(second), 401);
});

test("a bot's faults are listed with their reasons", async () => {
  const page = await browser.visitor(arena.url);
  await signUp(page, "Petra");
  const token = await makeBot(page, "petras-bot");
  const made = spawnSync(
    process.env.FOURFOLD_BIN ?? "",
    ["check-bot", "--url", arena.url.replace("http", "ws"), "--token", token, "--json", "--", "sh", "-c", "while read -r line; do echo 9; done"],
    { encoding: "utf8" },
  );
  assert.equal(made.status, 1, made.stderr);
  await page.reload();
  await page.waitForSelector("#versions td >> text=1");
  await assertGood(page, "faults");
  const refused = await page.request.post("/api/v1/bots/petras-bot/self-test", { headers: { Origin: arena.url } });
  assert.equal(refused.status(), 409);
});

test("without script the page of a bot reads, and says how to start it", async () => {
  const page = await browser.visitor(arena.url);
  await signUp(page, "Rita");
  await makeBot(page, "ritas-bot");
  const plain = await browser.visitor(arena.url, { ...DESKTOP, javaScriptEnabled: false, storageState: await page.context().storageState() });
  await plain.goto("/bot/ritas-bot");
  assert.match((await plain.textContent("#start-Python")) ?? "", /FOURFOLD_TOKEN=c4b_…/);
  assert.equal(await plain.locator("#tokens li").count(), 1);
});
