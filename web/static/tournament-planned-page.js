// A tournament that is to come: who has entered, how long it is until it begins, and what one may do about it.

import { call } from "./account-call.js";
import { find } from "./dom.js";
import { fetchedPage } from "./fetched-page.js";
import { expectGame } from "./shell.js";
import { copy } from "./start.js";
import { cancel, countDown, obey } from "./tournament-parts.js";

/** Between two looks at who has entered, in milliseconds. */
const LOOK_EVERY_MS = 4000;

const plan = find("#plan");
const { plan: id = "", begins = "0" } = plan.dataset;
const link = /** @type {HTMLElement} */ (find("#copy-link"));

const takesPart = document.querySelector('[data-do="withdraw"]') !== null;

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

obey({
  enter: () => call("PUT", `/api/v1/tournaments/${id}/entry`),
  withdraw: () => call("DELETE", `/api/v1/tournaments/${id}/entry`),
  begin: async () => {
    await call("POST", `/api/v1/tournaments/${id}/start`);
    // Whoever plays is taken to the game, which is about to begin.
    if (takesPart) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  },
  cancel: () => cancel(id),
});
link.addEventListener("click", () => copy(link, location.href));
// Whoever has entered waits here.
if (takesPart) expectGame();
countDown(/** @type {HTMLElement} */ (find(".countdown")));
setTimeout(look, LOOK_EVERY_MS);
