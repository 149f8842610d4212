// Notices while nobody looks: the switch on the page of an account, and what the service worker shows. Chromium without
// its maker's servers subscribes to nothing, so that the page gets a subscription of the test's; pushes come by the
// browser's own tools.

import assert from "node:assert/strict";
import { createECDH } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { spawnSync } from "node:child_process";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { signUp } from "./support/game.js";
import { assertGood } from "./support/good.js";
import { until } from "./support/until.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena();
const browser = new Browser();
const keys = spawnSync(process.env.FOURFOLD_BIN ?? "", ["push-key"], { encoding: "utf8" }).stdout;
/** @param {string} name */
const key = (name) => keys.match(new RegExp(`^${name} = "(.*)"$`, "m"))?.[1] ?? "";
Object.assign(arena.environment, {
  FOURFOLD_PUSH_PUBLIC_KEY: key("public_key"),
  FOURFOLD_PUSH_PRIVATE_KEY: key("private_key"),
  FOURFOLD_PUSH_SUBJECT: "mailto:ops@example.org",
});

before(() => Promise.all([arena.start(), browser.start({ whole: true })]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest());

/** Gives the pages of a browser a subscription, as if its maker's servers were there. @param {Page} page */
async function subscribable(page) {
  const curve = createECDH("prime256v1");
  const p256dh = curve.generateKeys("base64url");
  await page.context().grantPermissions(["notifications"], { origin: new URL(arena.url).origin });
  await page.addInitScript((p256dh) => {
    const own = {
      endpoint: "https://push.example/one",
      toJSON: () => ({ endpoint: own.endpoint, keys: { p256dh, auth: "BTBZMqHH6r4Tts7J_aSIgg" } }),
      unsubscribe: async () => {
        localStorage.removeItem("subscribed");
        return true;
      },
    };
    Notification.requestPermission = async () => Notification.permission;
    PushManager.prototype.getSubscription = async () => /** @type {any} */ (localStorage.getItem("subscribed") ? own : null);
    PushManager.prototype.subscribe = async (options) => {
      localStorage.setItem("subscribed", String(options?.applicationServerKey));
      return /** @type {any} */ (own);
    };
  }, p256dh);
}

/** @param {Page} page */
const browsers = (page) => page.evaluate(async () => (await (await fetch("/api/v1/account/push")).json()).browsers);

for (const [name, form] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`the switch turns notices on and off in this browser, and signing out turns them off (${name})`, async () => {
    const page = await browser.visitor(arena.url, form);
    await subscribable(page);
    await signUp(page, `Ada-${name}`);
    await page.goto("/account?lang=de");
    await page.waitForSelector("#push:not([hidden])");
    assert.equal(await page.isChecked("#push-here"), false, "it is off");
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.check("#push-here");
    await page.waitForSelector("#push-actions:not([hidden])");
    assert.equal(await page.evaluate(() => localStorage.getItem("subscribed")), key("public_key"));
    const [one] = await browsers(page);
    assert.deepEqual([one.endpoint, one.language], ["https://push.example/one", "de"]);
    await assertGood(page, "the page of an account with notices");
    await page.reload();
    await page.waitForSelector("#push-here:checked");
    await page.uncheck("#push-here");
    await page.waitForSelector("#push-actions", { state: "hidden" });
    assert.deepEqual(await browsers(page), []);
    await page.check("#push-here");
    await page.waitForSelector("#push-actions:not([hidden])");
    await page.click("#sign-out button");
    await page.waitForURL("**/");
    assert.equal(await page.evaluate(() => localStorage.getItem("subscribed")), null);
  });
}

test("a browser that may not show notices says so", async () => {
  const page = await browser.visitor(arena.url, DESKTOP);
  await subscribable(page);
  await page.context().clearPermissions();
  await page.addInitScript(() => (Notification.requestPermission = async () => "denied"));
  await signUp(page, "Bob");
  await page.goto("/account");
  await page.waitForSelector("#push:not([hidden])");
  await page.click("text=Tell me on this device when nobody is looking");
  await page.waitForFunction(() => document.querySelector("#push-state")?.textContent?.includes("does not let this site"));
  assert.equal(await page.isChecked("#push-here"), false);
});

test("a push is shown as a notice, and a later one of the same takes its place", async () => {
  const page = await browser.visitor(arena.url, DESKTOP);
  await page.context().grantPermissions(["notifications"], { origin: new URL(arena.url).origin });
  await page.goto("/");
  await page.evaluate(() => navigator.serviceWorker.ready);
  const tools = await page.context().newCDPSession(page);
  const registered = new Promise((resolve) => {
    tools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => registrations[0] && resolve(registrations[0].registrationId));
  });
  await tools.send("ServiceWorker.enable");
  const registrationId = /** @type {string} */ (await registered);
  const push = async (/** @type {object} */ notice) => {
    const data = JSON.stringify({ body: "2 days left", url: "/learn/rules", tag: "t1", lang: "en", ...notice });
    await tools.send("ServiceWorker.deliverPushMessage", { origin: new URL(arena.url).origin, registrationId, data });
  };
  const shown = () =>
    page.evaluate(async () => {
      const notices = await (await navigator.serviceWorker.ready).getNotifications();
      return notices.map(({ title, body, tag, data }) => ({ title, body, tag, url: data.url }));
    });
  // Each is waited for: two at once may be shown in either order.
  for (const title of ["Your turn against Bob", "Your turn against Bob again"]) {
    await push({ title });
    const isShown = async (/** @type {string} */ title) => {
      const notices = await (await navigator.serviceWorker.ready).getNotifications();
      return notices[0]?.title === title;
    };
    await until(page, isShown, title);
  }
  assert.deepEqual(await shown(), [{ title: "Your turn against Bob again", body: "2 days left", tag: "t1", url: "/learn/rules" }]);
});
