// What this game taught the bots that learn: once it is over, looks until all of them have stored what they learnt.

import { find } from "./dom.js";
import { fetchedPage } from "./fetched-page.js";

/** @typedef {{items: unknown[], pending: string[]}} GameLessons */

/** When to look first, in milliseconds: a young memory stores a lesson within seconds. */
const FIRST_LOOK_MS = 1_500;
/** How rarely to look at most, in milliseconds: a large network stores its lessons every two minutes. */
const LAST_LOOK_MS = 30_000;
/** How often to look, some ten minutes in all: a learner may be far behind, or its daemon gone. */
const LOOKS = 25;

const root = find("#game");

/** Puts the panel as it is now where the server would have put it. */
async function refresh() {
  const fresh = (await fetchedPage(location.pathname))?.getElementById("taught");
  if (!fresh) return;
  const old = document.getElementById("taught");
  if (old) old.replaceWith(fresh);
  else (document.getElementById("why") ?? root).after(fresh);
}

/** @param {number} looks that are left */
async function look(looks, wait = FIRST_LOOK_MS) {
  await new Promise((resolve) => setTimeout(resolve, wait));
  const answer = await fetch(`/api/v1/games/${root.dataset.game}/lessons`).catch(() => null);
  if (answer?.ok) {
    /** @type {GameLessons} */
    const { items, pending } = await answer.json();
    if (items.length > document.querySelectorAll("#taught h3").length) await refresh();
    if (pending.length === 0) return;
  }
  if (looks > 1) await look(looks - 1, Math.min(wait * 2, LAST_LOOK_MS));
}

function lookIfOver() {
  if (root.dataset.status !== "over") return;
  over.disconnect();
  look(LOOKS);
}

const over = new MutationObserver(lookIfOver);
over.observe(root, { attributeFilter: ["data-status"] });
lookIfOver();
