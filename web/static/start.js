// Starts games from anywhere on the site: against a house bot at once, or by a challenge that somebody must accept.
// Buttons with `data-invite`, a player's name, do the latter, after `invite-dialog.js` has asked how; `play-dialog.js` asks
// how to do the former.

import { takesDays } from "./correspondence.js";
import { el } from "./dom.js";
import { current } from "./settings.js";
import { expectGame, expectNothing, showChallengeEnd, showRefusal, toast } from "./shell.js";
import { connection } from "./socket.js";
import { text } from "./texts.js";
import { spokenName } from "./words.js";

/** @typedef {import("../types/protocol").Time} Time */
/** @typedef {import("../types/protocol").Side} Side */

/** What is played where no choice is on the page: three minutes and two seconds a move. @type {Time} */
const DEFAULT_TIME = { bank_ms: 180_000, increment_ms: 2_000, move_ms: null };

/** The board where none is chosen. */
export const USUAL_BOARD = "7x6";
/** As much time as one likes for each move, within reason: as in the dialog. */
export const NO_CLOCK = { bank_ms: null, increment_ms: 0, move_ms: 900_000 };

/** The time control chosen on the page. @returns {Time} */
export function chosenTime() {
  const input = document.querySelector('input[name="time"]:checked');
  return input instanceof HTMLInputElement ? JSON.parse(input.value) : DEFAULT_TIME;
}

/** The board chosen on the page. */
export function chosenBoard() {
  const select = document.querySelector('select[name="board"]');
  return select instanceof HTMLSelectElement ? select.value : USUAL_BOARD;
}

/** Whether a rated game is wanted, as far as the page lets one choose. */
export function wantsRated() {
  const input = document.querySelector('input[name="rated"]');
  return input instanceof HTMLInputElement && input.checked && !input.disabled;
}

/**
 * @param {string} bot name of a house bot
 * @param {Side | "random"} [side]
 * @param {Time} [time]
 * @param {{ variant: string, moves: string }} [from] where to begin; in a casual game, if not from an empty board
 * @param {boolean} [rated]
 */
export async function playBot(bot, side = "random", time = chosenTime(), from = { variant: USUAL_BOARD, moves: "" }, rated = false) {
  expectGame();
  /** @type {Pick<import("../types/protocol").Terms, "rated" | "opening">} */
  const begin = from.moves ? { rated: false, opening: { kind: "given", moves: from.moves } } : { rated };
  try {
    await connection.request({ type: "play_bot", bot, time, side, pace: current().pace, variant: from.variant, ...begin });
  } catch (error) {
    expectNothing();
    showRefusal(error);
  }
}

/** @param {string} to */
async function challenge(to) {
  // Who has asked for the dialog waits for it, and nobody else.
  const { askTerms } = await import("./invite-dialog.js");
  const terms = await askTerms({ to });
  if (terms) challengeOn(to, terms);
}

/**
 * @param {string} to
 * @param {import("../types/protocol").Terms} terms
 */
export async function challengeOn(to, terms) {
  const byDays = takesDays(terms.time);
  if (!byDays) expectGame();
  try {
    const answer = await connection.request({ type: "challenge", to, ...terms });
    if (answer.type === "challenge") waitFor(to, answer.challenge, byDays);
  } catch (error) {
    expectNothing();
    showRefusal(error);
  }
}

/**
 * @param {string} to
 * @param {string} id of the challenge
 * @param {boolean} byDays whether nobody waits for the answer
 */
function waitFor(to, id, byDays) {
  const withdraw = () => connection.request({ type: "cancel", challenge: id }).catch(showRefusal);
  const button = el("button", { type: "button", class: "button compact", click: withdraw }, text("challenge.withdraw"));
  const words = text(byDays ? "invite.a_week" : "challenge.waiting_for", { name: spokenName(to) });
  const close = toast(words, el("div", { class: "row" }, button));
  connection.on("challenge_end", (end) => {
    if (end.challenge !== id) return;
    close();
    if (end.how === "accepted") return;
    expectNothing();
    showChallengeEnd(end.how, end.reason);
  });
}

/**
 * Copies text; says so on the button.
 * @param {HTMLElement} button
 * @param {string} words
 */
export async function copy(button, words) {
  const label = button.querySelector("span") ?? button;
  const before = label.textContent;
  try {
    await navigator.clipboard.writeText(words);
    label.textContent = text("site.copied");
  } catch {
    label.textContent = text("site.copy_by_hand");
  }
  setTimeout(() => (label.textContent = before), 2_000);
}

/**
 * Shows the link to an invitation, to be copied or shared.
 * @param {HTMLElement} box
 * @param {string} url
 */
export function showLink(box, url) {
  const input = el("input", { class: "box", type: "text", readonly: true, value: url, "aria-label": text("lobby.link"), id: "invite-url" });
  const button = el("button", { type: "button", class: "button primary", click: () => copy(button, url) }, el("span", {}, text("lobby.copy")));
  box.replaceChildren(input, button);
  if ("share" in navigator) {
    const share = () => navigator.share({ title: text("lobby.share_title"), url }).catch(() => {});
    box.append(el("button", { type: "button", class: "button", click: share }, text("lobby.share")));
  }
  box.hidden = false;
  input.select();
}

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button[data-invite]") : null;
  if (button instanceof HTMLElement && button.dataset.invite) challenge(button.dataset.invite);
});
