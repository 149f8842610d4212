// What can be shared of a game: its address, a frame for other pages, a picture.

import { nameOf } from "./companion.js";
import { el, icon } from "./dom.js";
import { stonesOf } from "./rules.js";
import { copy } from "./start.js";
import { text } from "./texts.js";
import { headline } from "./words.js";

/** @typedef {import("./state.js").GameState} GameState */

/** Size of the frame in other pages, in pixels: a board with a name above and below. */
const FRAME = { width: 400, height: 470 };

/** @param {GameState} state */
export function openShare(state) {
  dialog(state).showModal();
}

/**
 * @param {GameState} state
 * @returns {HTMLDialogElement}
 */
function dialog(state) {
  const game = state.id;
  const isOver = state.status === "over" && state.result !== "void";
  const address = (/** @type {string} */ path) => new URL(path, location.href).href;
  const url = address(`/game/${game}`);
  const frame = `<iframe src="${address(`/embed/${game}`)}" width="${FRAME.width}" height="${FRAME.height}" title="Fourfold"></iframe>`;
  const close = () => shown.close();
  const shown = el(
    "dialog",
    { class: "share", "aria-labelledby": "share-title", close: () => shown.remove() },
    el("h2", { id: "share-title" }, text("share.title")),
    line("share-link", text("share.link"), url),
    line("share-frame", text("share.frame"), frame),
    line("share-still", text("share.still"), address(`/api/v1/games/${game}.png`)),
    line("share-picture", text("share.picture"), address(`/api/v1/games/${game}.svg`)),
    isOver && line("share-moving", text("share.moving"), address(`/api/v1/games/${game}.gif`)),
    isOver && told(state, url),
    el(
      "div",
      { class: "row wrap" },
      "share" in navigator && el("button", { type: "button", class: "button", click: () => navigator.share({ url }).catch(() => {}) }, icon("share"), text("lobby.share")),
      el("button", { type: "button", class: "button", click: close }, text("share.close")),
    ),
  );
  document.body.append(shown);
  return shown;
}

/**
 * @param {string} id
 * @param {string} label
 * @param {string} value
 */
function line(id, label, value) {
  const input = el("input", { class: "box", id, readonly: true, value, focus: () => input.select() });
  const button = el("button", { type: "button", class: "button", click: () => copy(button, value) }, el("span", {}, text("lobby.copy")));
  return el("div", { class: "field" }, el("label", { for: id }, label), el("div", { class: "invite-box" }, input, button));
}

/**
 * The result in words and the last position in signs, for a message.
 * @param {GameState} state
 * @param {string} url
 */
function told(state, url) {
  const { players, result, variant, moves } = state;
  const names = { first: nameOf(players.first), second: nameOf(players.second) };
  const said = [`${names.first} – ${names.second}`, headline(result ?? "void", null, names), signs(variant, moves), url].join("\n");
  const area = el("textarea", { class: "box", id: "share-told", readonly: true, rows: variant.height + 3, focus: () => area.select() }, said);
  const button = el("button", { type: "button", class: "button", click: () => copy(button, said) }, el("span", {}, text("lobby.copy")));
  return el("div", { class: "field" }, el("label", { for: "share-told" }, text("share.told")), area, button);
}

/**
 * A position as messengers show it: a line of round signs for each row.
 * @param {import("./rules.js").Variant} variant
 * @param {number[]} moves
 */
export function signs({ width, height }, moves) {
  const rows = Array.from({ length: height }, () => Array(width).fill("⚪"));
  for (const { column, row, side } of stonesOf(moves)) rows[height - row][column - 1] = side === "first" ? "🔴" : "🟡";
  return rows.map((row) => row.join("")).join("\n");
}
