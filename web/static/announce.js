// Speaks to screen readers through the page's live region. Messages that come close together are joined, because a
// region whose text is replaced at once is only heard once.

/** How long to gather before speaking, in milliseconds. */
const GATHER_MS = 60;

/** @type {{ words: string, holds: () => boolean }[]} */
let waiting = [];
let timer = 0;

/**
 * @param {string} words
 * @param {() => boolean} [holds] whether they are still true when they are spoken
 */
export function announce(words, holds = () => true) {
  if (!words) return;
  waiting.push({ words, holds });
  if (timer) return;
  timer = window.setTimeout(() => {
    const region = document.getElementById("announcer");
    const said = waiting.filter((each) => each.holds()).map((each) => each.words);
    if (region && said.length) region.textContent = said.join(" ");
    waiting = [];
    timer = 0;
  }, GATHER_MS);
}
