// All lessons: how much of each the visitor has solved, and the one to go on with.

import { find, setText } from "./dom.js";
import { solvedOf } from "./progress.js";
import "./shell.js";
import { text } from "./texts.js";

/** The first lesson that is not done, of whoever has begun. @type {HTMLElement | null} */
let open = null;
let hasBegun = false;
for (const lesson of document.querySelectorAll("[data-lesson]")) {
  if (!(lesson instanceof HTMLElement)) continue;
  const all = Number(lesson.dataset.exercises);
  const solved = solvedOf(lesson.dataset.lesson ?? "").filter((place) => place < all).length;
  hasBegun ||= solved > 0;
  if (solved < all) open ??= lesson;
  const shown = lesson.querySelector(".lesson-done");
  if (!(shown instanceof HTMLElement) || solved === 0) continue;
  setText(shown, solved < all ? `${solved} / ${all}` : `✓ ${all} / ${all}`);
  shown.hidden = false;
}
if (hasBegun && open) {
  const begin = /** @type {HTMLAnchorElement} */ (find("#begin"));
  begin.href = `/learn/${open.dataset.lesson}`;
  setText(find("span", begin), text("lessons.go_on", { lesson: open.dataset.title ?? "" }));
}
