// What the pages of tournaments share: a countdown, and buttons that do something and show what came of it.

import { call, Problem } from "./account-call.js";
import { toast } from "./shell.js";

/** Further ahead than this nobody counts seconds, in milliseconds. */
const COUNTED_MS = 24 * 3_600_000;

/** Such as 4:05 or 1:04:05. @param {number} ms */
export function clock(ms) {
  const seconds = Math.ceil(ms / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] ? parts : parts.slice(1);
  return shown.map((part, place) => (place ? String(part).padStart(2, "0") : String(part))).join(":");
}

/** Counts down to the moment that an element names; then it is gone. @param {HTMLElement} timer @param {() => void} atEnd */
export function countDown(timer, atEnd = () => {}) {
  const until = Number(timer.dataset.until);
  const face = /** @type {HTMLElement} */ (timer.querySelector("strong"));
  const tick = () => {
    const left = until - Date.now();
    timer.hidden = left < 0 || left > COUNTED_MS;
    face.textContent = clock(Math.max(left, 0));
    if (left > 0) return;
    clearInterval(ticking);
    atEnd();
  };
  const ticking = setInterval(tick, 1000);
  tick();
}

/** Buttons with `data-do` do what it names; the page is read again, or says why not. @param {Record<string, () => Promise<unknown>>} deeds */
export function obey(deeds) {
  document.addEventListener("click", async ({ target }) => {
    const button = target instanceof Element ? target.closest("[data-do]") : null;
    if (!(button instanceof HTMLButtonElement)) return;
    button.disabled = true;
    try {
      await deeds[button.dataset.do ?? ""]();
      location.reload();
    } catch (error) {
      button.disabled = false;
      if (!(error instanceof Problem)) throw error;
      toast(error.message);
    }
  });
}

/** Calls a tournament off, for the reason that its page has asked for. @param {string} id */
export function cancel(id) {
  const why = /** @type {HTMLInputElement} */ (document.getElementById("why"));
  return call("POST", `/api/v1/tournaments/${id}/cancel`, { reason: why.value });
}
