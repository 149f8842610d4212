// What one's own bot thought about its moves: asks again whenever the list of moves on the page changes.

import { find } from "./dom.js";
import { fetchedPage } from "./fetched-page.js";

/** How long the list of moves must stay as it is before asking, in milliseconds: a move changes it several times. */
const SETTLED_MS = 250;

async function refresh() {
  const page = await fetchedPage(location.pathname);
  const fresh = page?.getElementById("thought-moves");
  // If there is none, the next move asks again.
  if (fresh) find("#thought-moves").replaceChildren(...fresh.childNodes);
}

let waiting = 0;
new MutationObserver(() => {
  clearTimeout(waiting);
  waiting = window.setTimeout(refresh, SETTLED_MS);
}).observe(find(".moves"), { childList: true });
