// Private games: nobody hears of one, on no page and by no request, but whoever has its address.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { atGame, signUp } from "./support/game.js";
import { assertGood } from "./support/good.js";
import { toLobby } from "./support/people.js";

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest());

const PAGES = ["/", "/tv", "/wall", "/embed/tv", "/player/Ann", "/player/Ben", "/status", "/leaderboard", "/find?for=Ann", "/puzzles", "/analysis/4", "/tournaments"];

/** What a stranger is told at an address; of what never ends, what came within a moment. @param {string} path */
async function told(path) {
  const stop = AbortSignal.timeout(1_500);
  let text = "";
  try {
    const answer = await fetch(arena.url + path, { signal: stop });
    for await (const chunk of /** @type {any} */ (answer.body)) text += Buffer.from(chunk).toString("latin1");
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  return text;
}

/** Every address that reads, without the games that are asked for by their own. */
async function addresses() {
  const { paths } = JSON.parse(await told("/api/v1/openapi.json"));
  const reads = Object.keys(paths).filter((path) => paths[path].get && !path.startsWith("/api/v1/games/{id}"));
  return [...PAGES, ...reads.map((path) => path.replace("{name}", "Ann").replace("{moves}", "4").replace("{id}", "nothing"))];
}

for (const [name, form] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`a private game is chosen in the dialog, said before one accepts, and seen by its address alone (${name})`, async () => {
    const [ann, ben, eve] = await Promise.all([1, 2, 3].map(() => browser.visitor(arena.url, form)));
    const [one, two] = name === "desktop" ? ["Ann", "Ben"] : ["Anna", "Benno"];
    await signUp(ann, one);
    await signUp(ben, two);
    await toLobby(ann);
    await ann.click("#make-link");
    assert.equal(await ann.isChecked('[name="invite-rated"]'), true);
    await ann.check('[name="invite-private"]');
    assert.deepEqual([await ann.isDisabled('[name="invite-rated"]'), await ann.isChecked('[name="invite-rated"]')], [true, false]);
    assert.equal(await ann.isVisible("#invite-unrated-private"), true, "it says why");
    await assertGood(ann, "the dialog of a private game");
    await ann.check('[name="invite-time"][value="days"]');
    assert.equal(await ann.isDisabled('[name="invite-listed"]'), true, "what everybody may take is not private");
    await ann.check('[name="invite-time"][value="600000+5000"]');
    await ann.check('[name="invite-side"][value="first"]');
    await ann.click("#send-invite");
    const url = await ann.inputValue("#invite-url");
    assert.match((await ann.textContent("#waiting-detail")) ?? "", /10 min \+ 5 s · Private · You play Coral/);
    await ben.goto(url);
    assert.match(await ben.innerText(".challenge-terms"), /Private/);
    await assertGood(ben, "the invitation to a private game");
    await ben.waitForSelector('html[data-connection="open"]');
    await ben.click("[data-accept]");
    const [id] = await Promise.all([atGame(ann), atGame(ben)]);
    assert.match(await ann.innerText(".terms"), /Private/);
    await assertGood(ann, "a private game");

    for (const path of await addresses()) assert.ok(!(await told(path)).includes(id), `${path} names a live one`);
    assert.match(await told("/"), /Fourfold/);
    await eve.goto("/");
    await eve.waitForSelector('html[data-connection="open"]');
    assert.ok(!(await eve.content()).includes(id));
    await eve.goto(`/game/${id}`);
    await eve.waitForSelector("#game");
    assert.equal(await eve.getAttribute('meta[name="robots"]', "content"), "noindex");

    await ann.keyboard.press("4");
    await ben.waitForSelector('#game[data-ply="1"]');
    await ben.keyboard.press("4");
    await ann.waitForSelector('#game[data-ply="2"]');
    await ann.click("text=Resign");
    await ann.click("text=Really resign?");
    await ann.waitForSelector('#game[data-status="over"]');
    for (const path of await addresses()) assert.ok(!(await told(path)).includes(id), `${path} names a finished one`);
    await ben.goto(`/player/${one}`);
    assert.ok((await ben.content()).includes(`/game/${id}`), "who has played it finds it");
    await eve.goto(`/player/${one}`);
    assert.ok(!(await eve.content()).includes(id));
    await eve.goto(`/game/${id}`);
    await eve.waitForSelector(".review, .analysis, #game");
  });
}
