// Games in progress as lists show them: a small board between its players.

import { el } from "./dom.js";
import { discIcon, miniBoard } from "./drawing.js";
import { ratingText } from "./game-view.js";
import { timeControl } from "./words.js";

/** @typedef {import("../types/protocol").LiveGame} LiveGame */
/** @typedef {import("../types/protocol").Side} Side */

/** @param {LiveGame} live */
export function liveTile(live) {
  const seat = (/** @type {Side} */ side) => {
    const { name, kind, rating } = live.players[side];
    return el(
      "span",
      { class: "seat" },
      discIcon(side),
      el("span", { class: "name" }, name),
      kind === "bot" && el("span", { class: "badge bot" }, "bot"),
      rating && ratingText(rating),
    );
  };
  const meta = [timeControl(live.time), live.rated ? "rated" : "casual", live.watching ? `${live.watching} watching` : ""];
  return el(
    "a",
    { class: "game-tile", href: `/game/${live.game}`, "data-game": live.game },
    seat("second"),
    miniBoard(live.variant, live.moves),
    seat("first"),
    el("span", { class: "meta" }, meta.filter(Boolean).join(" · ")),
  );
}

/** What stands in the list while nobody plays. */
export function emptyTile() {
  const words = el("p", { class: "soft" }, "Start one, and it appears here for everybody to watch.");
  return el("div", { class: "teaser" }, miniBoard("7x6", "44354455"), el("div", {}, el("h3", {}, "No game is being played just now"), words));
}
