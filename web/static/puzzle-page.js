// The page of one puzzle: how the visitor and others do with it, beside the board.

import { find, setText } from "./dom.js";
import { PuzzleTable } from "./puzzle.js";
import { count, text } from "./texts.js";

const root = find("#puzzle");
const id = root.dataset.id ?? "";

/** @param {import("./puzzle.js").PuzzleRecord} you */
function showRecord(you) {
  const streak = you.streak > 0 ? [count("puzzles.streak", you.streak)] : [];
  const words = [...streak, text("puzzles.your_level", { n: you.level })];
  const shown = find("#puzzle-streak");
  setText(shown, words.join(" · "));
  shown.hidden = false;
}

/** How others did, now that one has tried. Guests are not counted, but no page says after that that nobody has tried. */
async function refreshFacts() {
  const response = await fetch(`/api/v1/puzzles/${encodeURIComponent(id)}`).catch(() => null);
  if (!response?.ok) return;
  const { grade, tries, solved } = (await response.json()).puzzle;
  const tried = tries ? [text("puzzles.tried", { solved, tries })] : [];
  setText(find("#puzzle-facts"), [text("puzzles.grade", { n: grade }), ...tried].join(" · "));
}

const table = new PuzzleTable(root, { record: showRecord, tried: refreshFacts });
document.addEventListener("keydown", (event) => table.press(event));
