// A tournament that is to come: who has entered, how long it is until it begins, and what one may do about it.

import { call, Problem } from "./account-call.js";
import { find } from "./dom.js";
import { fetchedPage } from "./fetched-page.js";
import { expectGame, toast } from "./shell.js";
import { copy } from "./start.js";

/** Between two looks at who has entered, in milliseconds. */
const LOOK_EVERY_MS = 4000;

/** Further ahead than this nobody counts seconds, in milliseconds. */
const COUNTED_MS = 24 * 3_600_000;

const plan = find("#plan");
const { plan: id = "", name = "", begins = "0" } = plan.dataset;
const timer = find(".countdown");
const link = /** @type {HTMLElement} */ (find("#copy-link"));

const takesPart = document.querySelector('[data-do="withdraw"]') !== null;

/** Such as 4:05 or 1:04:05. @param {number} ms */
function clock(ms) {
  const seconds = Math.ceil(ms / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] ? parts : parts.slice(1);
  return shown.map((part, place) => (place ? String(part).padStart(2, "0") : String(part))).join(":");
}

function count() {
  const left = Number(begins) - Date.now();
  timer.hidden = left < 0 || left > COUNTED_MS;
  find("strong", timer).textContent = clock(Math.max(left, 0));
}

/** Shows who has entered meanwhile; one that has begun, or is none any more, has another page. */
async function look() {
  if (document.visibilityState === "visible") {
    const page = await fetchedPage(location.href);
    const entered = page?.getElementById("entered");
    if (entered) {
      if (entered.textContent !== find("#entered").textContent) find("#entered").replaceWith(entered);
    } else if (page || Number(begins) < Date.now()) {
      location.reload();
    }
  }
  setTimeout(look, LOOK_EVERY_MS);
}

/** @type {Record<string, () => Promise<unknown>>} */
const DEEDS = {
  enter: () => call("PUT", "/api/v1/tournaments/entry", { name }),
  withdraw: () => call("DELETE", "/api/v1/tournaments/entry", { name }),
  begin: async () => {
    await call("POST", `/api/v1/tournaments/${id}/start`);
    // Whoever plays is taken to the game, which is about to begin.
    if (takesPart) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  },
  drop: async () => {
    await call("DELETE", `/api/v1/tournaments/${id}/plan`);
    location.assign("/tournaments");
    return new Promise(() => {});
  },
};

document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest("[data-do]") : null;
  if (!(button instanceof HTMLButtonElement)) return;
  button.disabled = true;
  try {
    await DEEDS[button.dataset.do ?? ""]();
    location.reload();
  } catch (error) {
    button.disabled = false;
    if (!(error instanceof Problem)) throw error;
    toast(error.message);
  }
});
link.addEventListener("click", () => copy(link, location.href));
// Whoever has entered waits here.
if (takesPart) expectGame();
count();
setInterval(count, 1000);
setTimeout(look, LOOK_EVERY_MS);
