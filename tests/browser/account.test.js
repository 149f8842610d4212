// Accounts and bots of one's own.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser } from "./support/browser.js";
import { clickColumn, playOut, signUp, startBotGame } from "./support/game.js";
import { PostOffice, freePort } from "./support/post.js";

const arena = new Arena();
// The program that is told of bots runs on this machine.
Object.assign(arena.environment, { FOURFOLD_WEBHOOKS_ENABLED: "true", FOURFOLD_WEBHOOKS_NETWORKS: "127.0.0.1" });
const browser = new Browser();

// Where people come in by a code, and guests only watch.
const club = new Arena();
Object.assign(club.environment, { FOURFOLD_ACCESS_REGISTRATION: "code", FOURFOLD_ACCESS_GUESTS: "false" });

// Where mails are sent, to a server on this machine.
const postal = new Arena();
const post = new PostOffice();

async function startPostal() {
  const listen = `127.0.0.1:${await freePort()}`;
  Object.assign(postal.environment, {
    FOURFOLD_PUBLIC_URL: `http://${listen}`,
    FOURFOLD_MAIL_SERVER: await post.open(),
    FOURFOLD_MAIL_SECURITY: "none",
    FOURFOLD_MAIL_FROM: "arena@fourfold.example",
  });
  await postal.start(listen);
}

before(() => Promise.all([arena.start(), club.start(), startPostal(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop(), club.stop(), postal.stop(), post.close()]));
// Refusals of the interface stand in the console as failed requests.
afterEach(() => browser.endOfTest(/status of (401|403|404|409|422)/));

test("a token is shown once, and no more after a reload", async () => {
  const page = await browser.visitor(arena.url);
  await signUp(page, "Olga");
  await page.fill("#bot-name", "olgas-bot");
  await page.click("#create-bot button[type=submit]");
  await page.waitForSelector("#token:not([hidden])");
  const token = await page.textContent("#token-value");
  assert.match(token ?? "", /^c4b_/);
  assert.match((await page.textContent("#start-lines")) ?? "", new RegExp(`FOURFOLD_TOKEN=${token}`));
  assert.match((await page.textContent("#start-lines")) ?? "", /FOURFOLD_URL=ws:\/\/127\.0\.0\.1:\d+\/api\/v1\/socket/);
  await page.reload();
  assert.equal(await page.isVisible("#token"), false);
  assert.equal((await page.content()).includes(token ?? ""), false);
  assert.equal(await page.locator('[data-bot="olgas-bot"]').count(), 1);
});

test("the account names the browsers that are signed in, and ends one of them", async () => {
  const [page, other] = await Promise.all([1, 2].map(() => browser.visitor(arena.url)));
  await signUp(page, "Sid");
  await other.goto("/account");
  await other.fill("#in-name", "Sid");
  await other.fill("#in-password", "correct horse battery");
  await other.click("#sign-in button[type=submit]");
  await other.waitForSelector("#sign-out");
  await page.reload();
  const rows = page.locator("#sessions li");
  assert.match((await rows.first().innerText()) ?? "", /Chrome on Linux[^]*Signed in \d/);
  assert.equal(await rows.count(), 2);
  await page.click("#sessions [data-session]");
  await page.waitForSelector("#toasts >> text=The session has ended");
  assert.equal(await rows.count(), 1);
  await other.goto("/account");
  await other.waitForSelector("#sign-in");
});

test("a new token differs from the old one, and both can be revoked", async () => {
  const page = await browser.visitor(arena.url);
  await signUp(page, "Pia");
  await page.fill("#bot-name", "pias-bot");
  await page.click("#create-bot button[type=submit]");
  const token = page.locator("#token:not([hidden]) #token-value");
  await token.waitFor();
  const before = await token.textContent();
  await page.click('[data-bot="pias-bot"] [data-token="new"]');
  await page.waitForFunction((old) => document.querySelector("#token-value")?.textContent !== old, before);
  assert.match((await token.textContent()) ?? "", /^c4b_/);
  await page.click('[data-bot="pias-bot"] [data-token="revoke"]');
  await page.waitForSelector("#toasts >> text=revoked");
  assert.equal(await page.isVisible("#token"), false);
});

test("an author has messages sent to a program, whose key checks them, and stops it again", async () => {
  let status = 500;
  /** @type {{ headers: import("node:http").IncomingHttpHeaders, body: string }[]} */
  const heard = [];
  const receiver = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      heard.push({ headers: request.headers, body });
      response.writeHead(status).end();
    });
  });
  await new Promise((listens) => receiver.listen(0, "127.0.0.1", () => listens(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (receiver.address());
  const page = await browser.visitor(arena.url);
  await signUp(page, "Wanda");
  assert.equal(await page.isVisible("#webhook"), false, "there is nothing to tell of");
  await page.fill("#bot-name", "wandas-bot");
  await page.click("#create-bot button[type=submit]");
  await page.waitForSelector("#token:not([hidden])");
  await page.reload();
  assert.equal(await page.isVisible("#webhook-actions"), false);
  await page.fill("#webhook-url", "http://10.0.0.1/hook");
  await page.click("#set-webhook button[type=submit]");
  await page.waitForFunction(() => document.querySelector("#set-webhook .problem")?.textContent?.includes("Internet"));
  await page.fill("#webhook-url", `http://127.0.0.1:${port}/hook`);
  await page.click("#set-webhook button[type=submit]");
  await page.waitForSelector("#webhook-secret:not([hidden])");
  const secret = (await page.textContent("#webhook-secret code")) ?? "";
  assert.match(secret, /^whsec_/);
  await page.click('[data-webhook="test"]');
  await page.waitForSelector("#webhook-last >> text=did not accept the test: answer 500.");
  status = 204;
  await page.click('[data-webhook="test"]');
  await page.waitForSelector("#webhook-last >> text=received the test");
  const [{ headers, body }] = heard;
  const hmac = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"));
  const signed = hmac.update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`).digest("base64");
  assert.equal(headers["webhook-signature"], `v1,${signed}`);
  assert.equal(JSON.parse(body).data.account, "Wanda");
  await page.reload();
  assert.equal((await page.content()).includes(secret), false);
  assert.match((await page.textContent("#webhook-last")) ?? "", /answer 204/);
  await page.click('[data-webhook="remove"]');
  await page.waitForSelector("#webhook-actions", { state: "hidden" });
  await page.reload();
  assert.equal(await page.inputValue("#webhook-url"), "");
  receiver.close();
});

test("one signs out and in again, and a wrong password is refused in words", async () => {
  const page = await browser.visitor(arena.url);
  await signUp(page, "Quinn");
  await page.click("#sign-out button");
  await page.waitForURL("/");
  await page.goto("/account");
  await page.fill("#in-name", "Quinn");
  await page.fill("#in-password", "not the password");
  await page.click("#sign-in button[type=submit]");
  await page.waitForFunction(() => document.querySelector("#sign-in .problem")?.textContent);
  await page.fill("#in-password", "correct horse battery");
  await page.click("#sign-in button[type=submit]");
  await page.waitForSelector("#sign-out");
  assert.match((await page.textContent("h1")) ?? "", /Quinn/);
});

test("whoever is banned is signed out, and told why when signing in", async () => {
  const page = await browser.visitor(arena.url);
  await signUp(page, "Trudy");
  arena.operate("ban", "Trudy", "--days", "7", "--reason", "floods the lobby");
  await page.goto("/account");
  await page.fill("#in-name", "Trudy");
  await page.fill("#in-password", "correct horse battery");
  await page.click("#sign-in button[type=submit]");
  const problem = page.locator("#sign-in .problem");
  await page.waitForFunction(() => document.querySelector("#sign-in .problem")?.textContent);
  assert.match((await problem.textContent()) ?? "", /has barred this account: until 20\d\d-.*: floods the lobby/);
  arena.operate("unban", "Trudy", "--reason", "sorry");
  await page.click("#sign-in button[type=submit]");
  await page.waitForSelector("#sign-out");
});

test("a name or a password that cannot be is explained in words of the page", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/account?lang=de");
  await page.fill("#up-name", "zwei wörter");
  await page.fill("#up-password", "tea and biscuits");
  await page.click("#sign-up button[type=submit]");
  const said = (/** @type {string} */ field) => page.$eval(field, (input) => /** @type {HTMLInputElement} */ (input).validationMessage);
  assert.match(await said("#up-name"), /2 bis 20 Buchstaben/);
  await page.fill("#up-name", "zwei-worte");
  assert.equal(await said("#up-name"), "");
  await page.fill("#up-password", "tee");
  assert.match(await said("#up-password"), /mindestens 8 Zeichen/);
});

test("a name that is taken is said so at the field", async () => {
  const [one, two] = await Promise.all([1, 2].map(() => browser.visitor(arena.url)));
  await signUp(one, "Rosa");
  await two.goto("/account");
  await two.fill("#up-name", "rosa");
  await two.fill("#up-password", "correct horse battery");
  await two.click("#sign-up button[type=submit]");
  await two.waitForSelector('#up-name[aria-invalid="true"]');
  assert.match((await two.textContent("#sign-up .problem")) ?? "", /taken/);
});

test("a guest who signs up keeps the games played before", async () => {
  const page = await browser.visitor(arena.url);
  await startBotGame(page);
  await playOut(page, clickColumn);
  const game = new URL(page.url()).pathname;
  await page.goto("/account");
  assert.match((await page.textContent("#sign-up .notice")) ?? "", /guest-/);
  await signUp(page, "Sana");
  await page.goto("/player/Sana");
  assert.equal(await page.locator(`a[href="${game}"]`).count() > 0, true, "the game is listed under the new name");
});

test("a new password ends the session in the other browser", async () => {
  const [here, there] = await Promise.all([1, 2].map(() => browser.visitor(arena.url)));
  await signUp(here, "Tariq");
  await there.goto("/account");
  await there.fill("#in-name", "Tariq");
  await there.fill("#in-password", "correct horse battery");
  await there.click("#sign-in button[type=submit]");
  await there.waitForSelector("#sign-out");
  await here.reload();
  assert.equal(await here.locator("#sessions li").count(), 2);
  await here.fill("#old-password", "not the password");
  await here.fill("#new-password", "battery staple horse");
  await here.click("#change-password button[type=submit]");
  await here.waitForSelector('#old-password[aria-invalid="true"]');
  assert.equal(await here.textContent("#change-password .problem"), "The current password is wrong.");
  assert.equal(await here.getAttribute("#new-password", "aria-invalid"), null);
  await here.fill("#old-password", "correct horse battery");
  await here.fill("#new-password", "battery staple horse");
  await here.click("#change-password button[type=submit]");
  await here.waitForSelector("#toasts >> text=Password changed");
  await there.reload();
  await there.waitForSelector("#sign-in");
});

test("a session is ended from the list, which says when it began", async () => {
  const [here, there] = await Promise.all([1, 2].map(() => browser.visitor(arena.url)));
  await signUp(here, "Uma");
  await there.goto("/account");
  await there.fill("#in-name", "Uma");
  await there.fill("#in-password", "correct horse battery");
  await there.click("#sign-in button[type=submit]");
  await there.waitForSelector("#sign-out");
  await here.reload();
  await here.click("#sessions [data-session]");
  await here.waitForSelector("#toasts >> text=ended");
  assert.equal(await here.locator("#sessions li").count(), 1);
  await there.reload();
  await there.waitForSelector("#sign-in");
});

test("one's data is a file, and an account can be deleted", async () => {
  const page = await browser.visitor(arena.url);
  await signUp(page, "Vera");
  const waiting = page.waitForEvent("download");
  await page.click('a[href="/api/v1/account/export"]');
  assert.equal((await waiting).suggestedFilename(), "fourfold-Vera.ndjson");
  await page.click("summary >> text=Delete account");
  await page.fill("#delete-password", "not the password");
  await page.click("#delete-account button[type=submit]");
  await page.waitForSelector('#delete-password[aria-invalid="true"]');
  assert.equal(await page.textContent("#delete-account .problem"), "The current password is wrong.");
  await page.fill("#delete-password", "correct horse battery");
  await page.click("#delete-account button[type=submit]");
  await page.waitForURL("/");
  await page.waitForSelector('.toast >> text="Your account is deleted."');
  const profile = await page.request.get("/api/v1/players/Vera");
  assert.equal(profile.status(), 404);
});

test("an address is verified by a link, and a forgotten password is set anew by another", async () => {
  const page = await browser.visitor(postal.url);
  await signUp(page, "Yara");
  await page.fill("#mail-address", "yara@example.org");
  await page.fill("#mail-password", "not the password");
  await page.click("#set-mail button[type=submit]");
  await page.waitForSelector('#mail-password[aria-invalid="true"]');
  assert.equal(await page.isVisible("#mail-set"), false);
  await page.fill("#mail-password", "correct horse battery");
  await page.click("#set-mail button[type=submit]");
  await page.waitForSelector("#mail-unverified:not([hidden])");
  const verifying = await post.next();
  assert.equal(verifying.to, "yara@example.org");
  const link = verifying.text.match(/^http\S+$/m)?.[0] ?? "";
  assert.match(link, new RegExp(`^${postal.url}/account/mail#c4m_`));
  await page.goto(link);
  assert.equal(new URL(page.url()).hash, "", "the secret does not stay in the address");
  await page.click("#verify-mail button[type=submit]");
  await page.waitForSelector("#mail-verified:not([hidden])");
  await page.click("#mail-verified a");
  assert.equal(await page.isVisible("#mail-is-verified"), true);
  await page.check("#mail-notices");
  await page.waitForTimeout(300);
  await page.reload();
  assert.equal(await page.isChecked("#mail-notices"), true);

  const elsewhere = await browser.visitor(postal.url);
  await elsewhere.goto("/account");
  await elsewhere.click('a[href="/account/reset"]');
  await elsewhere.fill("#reset-address", "Yara@example.org");
  await elsewhere.click("#ask-reset button[type=submit]");
  await elsewhere.waitForSelector("#reset-sent:not([hidden])");
  const reset = (await post.next()).text.match(/^http\S+$/m)?.[0] ?? "";
  await elsewhere.goto(reset);
  await elsewhere.waitForSelector("#new-password-form:not([hidden])");
  await elsewhere.fill("#new-password", "battery staple horse");
  await elsewhere.click("#new-password-form button[type=submit]");
  await elsewhere.waitForSelector("#password-set:not([hidden])");
  await page.reload();
  await page.waitForSelector("#sign-in");
  await page.fill("#in-name", "Yara");
  await page.fill("#in-password", "battery staple horse");
  await page.click("#sign-in button[type=submit]");
  await page.waitForSelector("#sign-out");

  await elsewhere.goto("/account");
  await elsewhere.goto(reset);
  await elsewhere.fill("#new-password", "another password");
  await elsewhere.click("#new-password-form button[type=submit]");
  await elsewhere.waitForFunction(() => document.querySelector("#new-password-form .problem")?.textContent?.includes("has been used"));
  await page.click("#remove-mail");
  await page.waitForSelector("#mail-set", { state: "hidden" });
});

test("the chosen colours are there on the next page from the start", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/");
  await page.click("#theme");
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
  const html = await (await page.request.get("/leaderboard")).text();
  assert.match(html, /<html lang="en" data-theme="dark">/);
});

test("guests are told to sign in, a wrong code is said at its field, and the right one lets them in and play", async () => {
  club.operate("invite", "--code", "class-7b", "--reason", "a class of one");
  const page = await browser.visitor(club.url);
  await page.goto("/");
  assert.match((await page.textContent("#only-watches")) ?? "", /need an account to play here: sign in/);
  assert.equal(await page.isVisible("#quick"), false);
  await page.goto("/account?invitation=class-8a");
  assert.equal(await page.inputValue("#up-invitation"), "CLASS-8A");
  await page.fill("#up-name", "Vera");
  await page.fill("#up-password", "correct horse battery");
  await page.click("#sign-up button[type=submit]");
  await page.waitForSelector('#up-invitation[aria-invalid="true"]');
  assert.match((await page.textContent("#sign-up .problem")) ?? "", /This code does not work/);
  await page.fill("#up-invitation", "class-7b");
  await page.click("#sign-up button[type=submit]");
  await page.waitForSelector("#sign-out");
  await page.goto("/");
  assert.equal(await page.isVisible("#quick"), true);
  const late = await browser.visitor(club.url);
  await late.goto("/account?invitation=class-7b");
  await late.fill("#up-name", "Walt");
  await late.fill("#up-password", "correct horse battery");
  await late.click("#sign-up button[type=submit]");
  await late.waitForFunction(() => document.querySelector("#sign-up .problem")?.textContent);
  assert.match((await late.textContent("#sign-up .problem")) ?? "", /This code has been used up/);
});
