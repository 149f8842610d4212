// Speaks to screen readers through the page's live region. Messages that come close together are joined, because a
// region whose text is replaced at once is only heard once.

/** How long to gather before speaking, in milliseconds. */
const GATHER_MS = 60;

/** @type {string[]} */
let waiting = [];
let timer = 0;

/** @param {string} text */
export function announce(text) {
  if (!text) return;
  waiting.push(text);
  if (timer) return;
  timer = window.setTimeout(() => {
    const region = document.getElementById("announcer");
    if (region) region.textContent = waiting.join(" ");
    waiting = [];
    timer = 0;
  }, GATHER_MS);
}
