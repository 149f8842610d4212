// The keys that do something, as a list: `?` opens it everywhere, and the link at the foot of each page.

import { el } from "./dom.js";
import { text } from "./texts.js";

/** @type {[string[], string][]} */
const KEYS = [
  [["1", "…", "9"], "site.keys_column"],
  [["←", "→", "Enter"], "site.keys_choose"],
  [["←", "→"], "site.keys_step"],
  [["Home", "End"], "site.keys_ends"],
  [["h"], "site.keys_hints"],
  [["t"], "site.keys_clocks"],
  [["Esc"], "site.keys_escape"],
  [["?"], "site.keys_help"],
];

function list() {
  const rows = KEYS.map(([keys, what]) => [el("dt", {}, ...keys.map((key) => el("kbd", {}, key))), el("dd", {}, text(what))]);
  const close = el("button", { type: "button", class: "button", click: () => dialog.close() }, text("site.close"));
  const dialog = el(
    "dialog",
    { class: "keys", "aria-labelledby": "keys-title" },
    el("h2", { id: "keys-title" }, text("site.keys")),
    el("dl", {}, ...rows.flat()),
    el("div", { class: "row" }, close),
  );
  dialog.addEventListener("close", () => dialog.remove());
  return dialog;
}

function open() {
  if (document.querySelector("dialog[open]")) return;
  const dialog = list();
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  const target = event.target instanceof HTMLElement ? event.target : null;
  const typing = target?.matches("input:not([type=range], [type=radio], [type=checkbox]), select, textarea") ?? false;
  if (event.key !== "?" || typing || event.defaultPrevented) return;
  event.preventDefault();
  open();
});
document.querySelector("#show-keys")?.addEventListener("click", open);
