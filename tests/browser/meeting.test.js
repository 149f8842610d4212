// A tournament that a person makes: the form, its page with the link, who enters on a phone, the first games, its end.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { signUp } from "./support/game.js";
import { assertGood } from "./support/good.js";

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest(/status of 409|status of 400/));

test("a person makes a tournament, another enters by its link, and both are taken to their game", async () => {
  const ada = await browser.visitor(arena.url, DESKTOP);
  await ada.goto("/tournaments/new");
  assert.equal(await ada.getAttribute("#main .card a", "href"), "/account", "it takes an account");
  await signUp(ada, "Ada");
  await ada.goto("/tournaments");
  await ada.click("text=Make a tournament");
  await ada.waitForSelector("#new-at");
  await assertGood(ada, "the form of a tournament");
  await ada.fill("#new-title", "Friday <Cup>");
  await ada.selectOption("#new-form", "knockout");
  await ada.click("#new-tournament button[type=submit]");
  await ada.waitForURL("**/tournament/*");
  assert.match(await ada.innerText("#entered"), /1 of 64 places taken\s+Ada/);
  await ada.waitForFunction(() => /^1[45]:\d\d$/.test(document.querySelector(".countdown strong")?.textContent ?? ""));
  await assertGood(ada, "a tournament that is to come");

  await ada.goto("/tournaments/new");
  await ada.waitForSelector("#new-at");
  await ada.fill("#new-title", "friday <cup>");
  await ada.click("#new-tournament button[type=submit]");
  await ada.waitForFunction(() => document.querySelector("#new-tournament .problem")?.textContent === "There is already a tournament of that name.");
  await ada.goBack();

  await ada.click('[data-do="begin"]');
  await ada.waitForSelector(".toast");
  const bob = await browser.visitor(arena.url, PHONE);
  await signUp(bob, "Bob");
  await bob.goto(new URL(ada.url()).pathname);
  await bob.click('[data-do="enter"]');
  await bob.waitForSelector('[data-do="withdraw"]');
  await assertGood(bob, "a tournament to come on a phone");
  assert.equal(await bob.locator('[data-do="cancel"]').count(), 0, "it is not his");
  await ada.waitForFunction(() => document.querySelector("#entered")?.textContent?.includes("Bob"));
  const link = ada.url();
  await ada.click('[data-do="begin"]');
  await Promise.all([ada, bob].map((page) => page.waitForURL("**/game/*")));
  assert.equal(new URL(ada.url()).pathname, new URL(bob.url()).pathname);
  await bob.goto(link);
  await bob.waitForSelector("#tournament [data-live]");
  assert.match(await bob.innerText("#main"), /Ada[^]*Bob/);
  await bob.click(".toast >> text=Go to the game");
  await bob.waitForURL("**/game/*");
  const file = await bob.request.get(`${link.replace("/tournament/", "/api/v1/tournaments/")}/standings.csv`);
  assert.match(await file.text(), /^rank,name,score[^]*Ada[^]*Bob/);
});

test("a tournament is called off by whoever has made it", async () => {
  const cleo = await browser.visitor(arena.url, DESKTOP);
  await signUp(cleo, "Cleo");
  await cleo.goto("/tournaments/new");
  await cleo.waitForSelector("#new-at");
  await cleo.fill("#new-title", "Nobody's Cup");
  await cleo.click("#new-tournament button[type=submit]");
  await cleo.waitForURL("**/tournament/*");
  const link = cleo.url();
  await cleo.click('[data-do="withdraw"]');
  await cleo.waitForSelector('[data-do="enter"]');
  await cleo.click("summary >> text=Call it off");
  await cleo.fill("#why", "Too few are there.");
  await cleo.click('[data-do="cancel"]');
  await cleo.waitForSelector(".notice >> text=Too few are there.");
  assert.equal(cleo.url(), link, "its link says what became of it");
  assert.match(await cleo.innerText("#tournament"), /cancelled/);
  await assertGood(cleo, "a tournament that was called off");
  await cleo.goto("/tournaments");
  assert.equal(await cleo.locator(".upcoming").count(), 0);
});
