// The puzzle of the day in the lobby: comes when somebody wants to play it there, and wakes the board of its card.

import { find, setText } from "./dom.js";
import { PuzzleTable } from "./puzzle.js";
import { count, text } from "./texts.js";

/** @param {HTMLElement} root its card */
export function wake(root) {
  for (const link of root.querySelectorAll("[data-wake]")) link.remove();
  const streak = find("#streak");
  const table = new PuzzleTable(root, {
    record: (you, isSolved) => {
      if (isSolved) setText(streak, `🔥 ${count("puzzles.streak", you.streak)} · ${text("puzzles.solved_today")}`);
    },
  });
  root.addEventListener("keydown", (event) => table.press(event));
  table.board.focusColumns();
}
