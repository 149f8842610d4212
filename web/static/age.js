// A learner's page: which of its ages one plays against.

import { find, setText } from "./dom.js";
import "./play-dialog.js";

const range = /** @type {HTMLInputElement} */ (find("#age"));
const button = find("#play-age");

function show() {
  const option = find(`#ages option[value="${range.value}"]`);
  button.dataset.playBot = option.dataset.bot ?? "";
  setText(find("span", button), option.textContent ?? "");
  range.setAttribute("aria-valuetext", option.textContent ?? "");
}

range.addEventListener("input", show);
show();
