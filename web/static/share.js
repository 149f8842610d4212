// What can be shared of a game: its address, a frame for other pages, a picture.

import { el, icon } from "./dom.js";
import { copy } from "./start.js";
import { text } from "./texts.js";

/** Size of the frame in other pages, in pixels: a board with a name above and below. */
const FRAME = { width: 400, height: 470 };

/** @param {string} game */
export function shareButton(game) {
  const open = () => dialog(game).showModal();
  return el("button", { type: "button", class: "button", click: open }, icon("share"), text("share.share"));
}

/**
 * @param {string} game
 * @returns {HTMLDialogElement}
 */
function dialog(game) {
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
    line("share-picture", text("share.picture"), address(`/api/v1/games/${game}.svg`)),
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
