// Signing up, in and out, and bots of one's own. Secrets are shown once and kept nowhere.

import { Problem, call, handle } from "./account-call.js";
import { announce } from "./announce.js";
import { el, find } from "./dom.js";
import { sayThere, toast } from "./shell.js";
import { connection } from "./socket.js";
import { copy } from "./start.js";
import { text } from "./texts.js";

const SESSIONS = "/api/v1/sessions";
const WEBHOOK = "/api/v1/account/webhook";
const MAIL = "/api/v1/account/mail";

const pushBox = /** @type {HTMLElement | null} */ (document.querySelector("#push"));
if (pushBox) import("./push-box.js").then(({ showPushBox }) => showPushBox(pushBox));

/** A button that copies a text. @param {string} words @param {string} label */
function copyButton(words, label) {
  const button = el("button", { type: "button", class: "button compact", click: () => copy(button, words) }, el("span", {}, label));
  return button;
}

/**
 * Shows a fresh token with the lines that start a bot.
 * @param {string} name
 * @param {string} token
 */
function showToken(name, token) {
  const box = find("#token");
  const lines = find("#start-lines").dataset.template ?? "";
  const start = lines.replaceAll("{token}", token).replaceAll("{socket}", connection.url).replaceAll("{site}", location.origin);
  find("#token-title").textContent = text("account.token_of", { name });
  find("#token-value").textContent = token;
  find("#start-lines").textContent = start;
  find("#token-actions").replaceChildren(copyButton(token, text("account.copy_token")), copyButton(start, text("account.copy_lines")));
  box.hidden = false;
  box.scrollIntoView({ block: "nearest" });
  box.focus();
  announce(text("account.token_spoken", { name }));
}

/** @param {string} name */
function addRow(name) {
  if (document.querySelector(`[data-bot="${CSS.escape(name)}"]`)) return;
  const template = /** @type {HTMLTemplateElement} */ (find("#bot-row"));
  const row = /** @type {DocumentFragment} */ (template.content.cloneNode(true));
  const item = find("[data-bot]", row);
  item.dataset.bot = name;
  const link = /** @type {HTMLAnchorElement} */ (find("a", row));
  link.href = `/bot/${name}`;
  find(".name", row).textContent = name;
  find("#bots").append(row);
  find("#no-bots").hidden = true;
}

/** The names of countries, in the language of the page, in their order there. @param {HTMLSelectElement} flags */
function nameCountries(flags) {
  const { lang } = document.documentElement;
  const names = new Intl.DisplayNames([lang], { type: "region" });
  const [none, ...countries] = [...flags.options];
  for (const country of countries) country.text = names.of(country.value) ?? country.value;
  countries.sort((a, b) => a.text.localeCompare(b.text, lang));
  flags.append(none, ...countries);
}

const flags = /** @type {HTMLSelectElement | null} */ (document.querySelector("#own-flag"));
if (flags) {
  const chosen = flags.value;
  nameCountries(flags);
  flags.value = chosen;
}

handle("#set-portrait", async ({ picture, flag, line }) => {
  const saved = find("#portrait-saved");
  saved.textContent = "";
  const words = line.trim();
  await call("PUT", "/api/v1/account/profile", { picture: picture ?? null, flag: flag || null, line: words || null });
  saved.textContent = find("#set-portrait button").dataset.saved ?? "";
});

handle("#sign-up", async ({ name, password, invitation }) => {
  await call("POST", "/api/v1/accounts", { name, password, invitation });
  location.assign("/account");
});
handle("#sign-in", async ({ name, password }) => {
  await call("POST", SESSIONS, { name, password });
  location.assign("/account");
});
handle("#sign-out", async () => {
  // Whoever uses this browser next is not told what happens to this account.
  if (pushBox) await (await import("./push.js")).turnOff().catch(() => {});
  await call("DELETE", SESSIONS);
  location.assign("/");
});
handle("#change-password", async ({ password, new_password }) => {
  await call("PUT", "/api/v1/account/password", { password, new_password });
  /** @type {HTMLFormElement} */ (find("#change-password")).reset();
  document.querySelectorAll("[data-session]").forEach((button) => button.closest("li")?.remove());
  toast(text("account.password_changed"));
});
handle("#delete-account", async ({ password }) => {
  await call("DELETE", "/api/v1/account", { password });
  sayThere(text("account.deleted"));
  location.assign("/");
});
handle("#create-bot", async ({ name }) => {
  const created = await call("POST", "/api/v1/bots", { name });
  addRow(created.name);
  showToken(created.name, created.token);
});

/** @param {boolean} hasAddress @param {string} [secret] */
function showWebhook(hasAddress, secret) {
  const box = find("#webhook-secret");
  box.hidden = !secret;
  find("code", box).textContent = secret ?? "";
  find("#webhook-actions").hidden = !hasAddress;
  find("#webhook-paused").hidden = true;
  find("#webhook-last").textContent = "";
  if (!secret) return;
  find(".row", box).replaceChildren(copyButton(secret, find("#webhook").dataset.copy ?? ""));
  box.focus();
}

handle("#set-webhook", async ({ url }) => {
  showWebhook(true, (await call("PUT", WEBHOOK, { url })).secret);
});

handle("#set-mail", async ({ address, password }) => {
  const form = /** @type {HTMLFormElement} */ (find("#set-mail"));
  const mail = await call("PUT", MAIL, { address, password, language: form.dataset.language });
  /** @type {HTMLInputElement} */ (find("#mail-password")).value = "";
  /** @type {HTMLInputElement} */ (find("#mail-notices")).checked = mail.bot_paused;
  find("#mail-set").hidden = false;
  find("#mail-is-verified").hidden = !mail.verified;
  find("#mail-unverified").hidden = mail.verified;
  find("#mail-unverified").focus();
});

document.addEventListener("change", (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || box.id !== "mail-notices") return;
  tryTo(() => call("PUT", `${MAIL}/notices`, { bot_paused: box.checked }));
});

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("#remove-mail") : null;
  if (!button) return;
  tryTo(async () => {
    await call("DELETE", MAIL);
    const address = /** @type {HTMLInputElement} */ (find("#mail-address"));
    address.value = "";
    find("#mail-set").hidden = true;
    address.focus();
  });
});

/** How a test went, in words. @param {{ delivered: boolean, outcome: string }} answer */
function tested({ delivered, outcome }) {
  const words = find("#webhook").dataset;
  const how = words[outcome] ?? (words.answered ?? "").replace("{status}", outcome);
  return ((delivered ? words.delivered : words.failed) ?? "").replace("{outcome}", how);
}

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-webhook]") : null;
  if (!(button instanceof HTMLButtonElement)) return;
  tryTo(async () => {
    button.disabled = true;
    try {
      if (button.dataset.webhook === "test") {
        const answer = await call("POST", `${WEBHOOK}/test`);
        find("#webhook-last").textContent = tested(answer);
        if (answer.delivered) find("#webhook-paused").hidden = true;
      } else {
        await call("DELETE", WEBHOOK);
        /** @type {HTMLInputElement} */ (find("#webhook-url")).value = "";
        showWebhook(false);
        find("#webhook-url").focus();
      }
    } finally {
      button.disabled = false;
    }
  });
});

/**
 * Does something and says why if it was refused.
 * @param {() => Promise<unknown>} act
 */
async function tryTo(act) {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    toast(error.message);
  }
}

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-session]") : null;
  if (!(button instanceof HTMLButtonElement)) return;
  tryTo(async () => {
    await call("DELETE", `/api/v1/account/sessions/${button.dataset.session}`);
    button.closest("li")?.remove();
    toast(text("account.session_ended"));
  });
});

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-teach]") : null;
  if (!(button instanceof HTMLButtonElement)) return;
  tryTo(async () => {
    await call("PUT", "/api/v1/account/learning", { allowed: button.dataset.teach === "true" });
    location.reload();
  });
});

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-token]") : null;
  const name = button?.closest("[data-bot]")?.getAttribute("data-bot");
  if (!(button instanceof HTMLButtonElement) || !name) return;
  tryTo(async () => {
    if (button.dataset.token === "new") {
      showToken(name, (await call("POST", `/api/v1/bots/${name}/tokens`)).token);
    } else {
      await call("DELETE", `/api/v1/bots/${name}/tokens`);
      find("#token").hidden = true;
      toast(text("account.revoked", { name }));
    }
  });
});
