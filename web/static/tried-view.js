// The table of what was tried in the editor: the newest version first, each against whom, and whether it is stronger than
// the version before it.

import { el } from "./dom.js";
import { language, text } from "./texts.js";
import { gamesOf, likelihood, shareOf, versionBefore } from "./tried.js";

/** @typedef {import("./tried.js").Version} Version */

/** From here on a likelihood is called certain, as duels have it. */
const CERTAIN = 0.95;

/** Games leave a doubt, however many there were. */
const SURE = 0.999;

const percent = new Intl.NumberFormat(language, { style: "percent" });
/** @param {number} likely */
const chance = (likely) => (likely > SURE ? `> ${percent.format(0.99)}` : percent.format(Math.min(likely, 0.99)));

/** How a version did against somebody, beside the one before it. @param {Version[]} versions @param {Version} version @param {string} opponent */
function verdict(versions, version, opponent) {
  const before = versionBefore(versions, version, opponent);
  if (!before) return "";
  const likely = likelihood(version.scores[opponent], before.scores[opponent]);
  const values = { number: before.number };
  if (likely >= CERTAIN) return text("running.stronger", { ...values, likely: chance(likely) });
  if (likely <= 1 - CERTAIN) return text("running.weaker", { ...values, likely: chance(1 - likely) });
  return text("running.unclear", { ...values, likely: chance(likely) });
}

/**
 * Draws all rows anew.
 * @param {HTMLElement} body of the table
 * @param {Version[]} versions
 * @param {(version: Version) => void} goBack to the text of a version
 */
export function drawTried(body, versions, goBack) {
  const rows = versions.flatMap((version) =>
    Object.entries(version.scores).map(([opponent, tally], index) => {
      const name = text("running.version", { number: version.number });
      const { wins, draws, losses } = tally;
      const share = percent.format(shareOf(tally));
      return el(
        "tr",
        {},
        el("td", {}, index === 0 && el("button", { type: "button", class: "button small", click: () => goBack(version) }, name)),
        el("td", {}, el("bdi", {}, opponent)),
        el("td", {}, `${share} (+${wins} =${draws} −${losses})`),
        el("td", { class: "right number" }, gamesOf(tally)),
        el("td", {}, verdict(versions, version, opponent)),
      );
    }),
  );
  body.replaceChildren(...rows);
}
