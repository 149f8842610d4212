// Games as lists show them: a small board between its players.

import { nameOf } from "./companion.js";
import { el } from "./dom.js";
import { discIcon, miniBoard } from "./drawing.js";
import { playerTag } from "./game-view.js";
import { parseVariant } from "./rules.js";
import { count, text } from "./texts.js";
import { because, headline, points, timeControl } from "./words.js";

/** @typedef {import("../types/protocol").LiveGame} LiveGame */
/** @typedef {import("../types/protocol").Side} Side */

/** The same for all games of the same two. @param {LiveGame["players"]} players */
export function pairing({ first, second }) {
  return [first.id, second.id].sort().join(" ");
}

/** @param {LiveGame} live */
export function liveTile(live) {
  const { of = 0, half_points: halves } = live.series ?? {};
  const series = halves ? `${text("challenge.best_of", { n: of })} · ${points(halves.first)} : ${points(halves.second)}` : "";
  const meta = [timeControl(live.time), text(live.rated ? "game.rated" : "game.casual"), series, live.watching ? count("game.watching", live.watching) : ""];
  return tile(live.game, live.players, live.variant, live.moves, meta.filter(Boolean).join(" · "), true);
}

/** @param {import("../types/protocol").ResultFeed} result */
export function finishedTile({ players, variant, end }) {
  const names = { first: nameOf(players.first), second: nameOf(players.second) };
  const how = because(end.result, end.reason, names, parseVariant(variant).connect, null);
  return tile(end.game, players, variant, end.moves, `${headline(end.result, null, names)} · ${how}`);
}

/**
 * @param {string} game
 * @param {LiveGame["players"]} players
 * @param {string} variant
 * @param {string} moves
 * @param {string} meta
 * @param {boolean} [live]
 */
function tile(game, players, variant, moves, meta, live = false) {
  const seat = (/** @type {Side} */ side) => el("span", { class: "seat" }, discIcon(side), playerTag(players[side], players));
  return el(
    "a",
    { class: "game-tile", href: `/game/${game}`, "data-game": game, "data-pairing": pairing(players) },
    seat("second"),
    miniBoard(variant, moves),
    seat("first"),
    el("span", { class: "meta" }, live && el("span", { class: "badge live" }, text("site.live")), meta),
  );
}
