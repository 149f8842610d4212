// What one's own bot thought about its moves: asks again whenever the list of moves on the page changes.

import { find } from "./dom.js";

/** How long the list of moves must stay as it is before asking, in milliseconds: a move changes it several times. */
const SETTLED_MS = 250;

async function refresh() {
  const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
  if (!answer.ok) return; // the next move asks again
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("thought-moves");
  if (fresh) find("#thought-moves").replaceChildren(...fresh.childNodes);
}

let waiting = 0;
new MutationObserver(() => {
  clearTimeout(waiting);
  waiting = window.setTimeout(refresh, SETTLED_MS);
}).observe(find(".moves"), { childList: true });
