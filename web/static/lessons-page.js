// All lessons: how much of each the visitor has solved.

import { setText } from "./dom.js";
import { solvedOf } from "./progress.js";
import "./shell.js";

for (const lesson of document.querySelectorAll("[data-lesson]")) {
  if (!(lesson instanceof HTMLElement)) continue;
  const all = Number(lesson.dataset.exercises);
  const solved = solvedOf(lesson.dataset.lesson ?? "").filter((place) => place < all).length;
  const shown = lesson.querySelector(".lesson-done");
  if (!(shown instanceof HTMLElement) || solved === 0) continue;
  setText(shown, solved < all ? `${solved} / ${all}` : `✓ ${all} / ${all}`);
  shown.hidden = false;
}
