// <ff-board>: a board that one plays by mouse, touch and keys, and that only shows a game when it is not one's turn.
// It knows no rules beyond where a stone lands, and no game: `show` says what to draw, `column` events what was chosen.

import { announce } from "./announce.js";
import { CELL, centerX, centerY, disc, FRAME, frontPath, GHOST_ROOM, hintArrow, lineRings, notchPath, rimPath } from "./drawing.js";
import { el, setText, svg } from "./dom.js";
import { withNextPicture } from "./pictures.js";
import { current } from "./settings.js";
import { landingRow, other, parseMoves, parseVariant, sideToMove, stonesOf, winningLine } from "./rules.js";
import { text } from "./texts.js";
import { COLOR } from "./words.js";

/** @typedef {import("./rules.js").Variant} Variant */
/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {import("../types/protocol").CellNumbers} CellNumbers */
/**
 * @typedef {object} BoardView
 * @property {Variant} variant
 * @property {number[]} moves
 * @property {CellNumbers[] | null} line
 * @property {boolean} seated whether there are columns to choose at all
 * @property {boolean} playable whether a column may be chosen now
 * @property {boolean} [plannable] whether a column may be chosen for the next turn
 * @property {number | null} pending a column that was chosen and is not acknowledged yet
 * @property {number | null} [planned] a column that was chosen for the next turn
 * @property {boolean} [swapped] whether each side has the other's colour
 */

/** A stone falls one cell in this time, n cells in the square root of n times it, in milliseconds. */
const FALL_MS = 165;
/** Part of the fall's height that a stone bounces back. */
const BOUNCE = 0.07;
/** The part of the animation after which the disc first touches down. */
const TOUCHDOWN = 0.68;
/** A finger that has moved this far, in pixels, drags instead of tapping. */
const DRAG_PX = 12;

const stillness = matchMedia("(prefers-reduced-motion: reduce)");
/** Between two discs of a line that hop, in milliseconds. */
const HOP_MS = 70;
/** Small discs that fall behind the plate for whoever has won. */
const CONFETTI = 24;
/** How long a fall takes by the visitor's choice, against the usual. */
const TEMPO = { normal: 1, fast: 0.5, none: 0 };

/** Whether nothing is to move. */
const isStill = () => stillness.matches || current().motion === "none";

export class BoardElement extends HTMLElement {
  /** @type {BoardView} */
  #view = { variant: parseVariant("7x6"), moves: [], line: null, seated: false, playable: false, pending: null };
  /** @type {SVGGElement[]} */
  #stones = [];
  /** The column that the pointer or the keyboard is on, from 1; 0 for none. */
  #hovered = 0;
  /** The one column button that Tab reaches. */
  #focused = 0;
  /** Where a finger went down, on which column, and where it is now. @type {{ x: number, column: number, at: number } | null} */
  #drag = null;
  #ignoreClicksUntil = 0;
  /** How long the last disc still falls, in milliseconds. */
  #landsIn = 0;
  /** How long the disc that fell last takes to touch down, in milliseconds; 0 if it was just put there. */
  landsIn = 0;
  /**
   * Whether it is one of many that move: its discs fall in one go, fifteen pictures a second, and the plate stays where
   * it is.
   */
  isOneOfMany = false;
  /** Columns that arrows point at. @type {number[]} */
  #hints = [];
  /** @type {{ picture: SVGElement, stones: SVGGElement, marks: SVGGElement, hints: SVGGElement, lights: SVGGElement, ghost: SVGGElement, landing: SVGGElement,
   *   columns: HTMLDivElement, cells: HTMLTableCellElement[][] } | null} */
  #parts = null;

  connectedCallback() {
    if (this.#parts || !this.dataset.variant) return;
    const variant = parseVariant(this.dataset.variant);
    const moves = parseMoves(this.dataset.moves ?? "");
    this.#build(variant);
    this.show({ variant, moves, line: winningLine(variant, moves), seated: false, playable: false, pending: null });
  }

  /** @param {BoardView} view */
  show(view) {
    const before = this.#view;
    const variantChanged =
      before.variant.width !== view.variant.width || before.variant.height !== view.variant.height;
    this.#view = view;
    if (Boolean(before.swapped) !== Boolean(view.swapped)) this.#stones.splice(0).forEach((stone) => stone.remove());
    if (!this.#parts || variantChanged) this.#build(view.variant);
    this.#showStones();
    this.#showMarks();
    this.#showColumns();
    this.#showGhost();
    this.#showHints();
    this.#fillTable();
  }

  /** Points arrows at columns, until told otherwise. @param {number[]} columns from 1 */
  hint(columns) {
    this.#hints = columns;
    this.#showHints();
  }

  /** The one column that an arrow points at; 0 for none or more. */
  get hinted() {
    return this.#hints.length === 1 ? this.#hints[0] : 0;
  }

  /** Puts the keyboard on the board. */
  focusColumns() {
    const buttons = this.#parts?.columns.querySelectorAll("button");
    buttons?.[Math.max(0, (this.#focused || Math.ceil(this.#view.variant.width / 2)) - 1)]?.focus();
  }

  /**
   * Chooses a column as if its button had been pressed.
   * @param {number} column from 1
   */
  choose(column) {
    const { variant, moves, seated, playable, plannable } = this.#view;
    if (!seated || column < 1 || column > variant.width) return;
    if (!playable && !plannable) return;
    if (!landingRow(variant, moves, column)) {
      announce(text("game.is_full", { column }));
      return;
    }
    this.dispatchEvent(new CustomEvent("column", { detail: column, bubbles: true }));
  }

  /** @param {Variant} variant */
  #build(variant) {
    const above = FRAME + (this.hasAttribute("data-ghost") ? GHOST_ROOM : 0);
    const size = { width: variant.width * CELL, height: variant.height * CELL };
    const parts = {
      stones: svg("g", { class: "stones" }),
      marks: svg("g", { class: "marks" }),
      hints: svg("g", { class: "hints" }),
      lights: svg("g", { class: "lights" }),
      ghost: svg("g", { class: "ghost" }),
      landing: svg("g", { class: "ghost-landing" }),
      columns: el("div", { class: "columns", role: "group", "aria-label": text("game.columns") }),
      cells: /** @type {HTMLTableCellElement[][]} */ ([]),
    };
    for (let column = 1; column <= variant.width; column += 1) {
      parts.lights.append(
        svg("rect", { class: "column-light", x: (column - 1) * CELL, width: CELL, height: size.height }),
      );
      parts.columns.append(this.#columnButton(column));
    }
    const picture = svg(
      "svg",
      {
        viewBox: `${-FRAME} ${-above} ${size.width + 2 * FRAME} ${size.height + above + FRAME}`,
        "aria-hidden": "true",
        focusable: "false",
      },
      svg("rect", { class: "board-back", ...size }),
      parts.landing,
      parts.stones,
      svg("path", { class: "board-front", "fill-rule": "evenodd", d: frontPath(variant) }),
      svg("rect", { class: "board-lips", ...size }),
      svg("path", { class: "board-rim", d: rimPath(variant) }),
      parts.lights,
      parts.marks,
      parts.hints,
      parts.ghost,
    );
    const inset = `${(100 * FRAME) / (size.width + 2 * FRAME)}%`;
    parts.columns.style.left = inset;
    parts.columns.style.right = inset;
    this.replaceChildren(picture, this.#table(variant, parts.cells), parts.columns);
    this.#parts = { picture, ...parts };
    this.#stones = [];
    this.#listen(parts.columns);
  }

  /** @param {number} column */
  #columnButton(column) {
    const key = el("span", { "aria-hidden": "true" }, column);
    return el(
      "button",
      {
        type: "button",
        tabindex: -1,
        "data-column": column,
        click: () => performance.now() > this.#ignoreClicksUntil && this.choose(column),
        focus: () => this.#hover(column, true),
        blur: () => this.#hover(0),
        pointerenter: () => this.#hover(column),
        pointerleave: () => this.#hover(0),
      },
      key,
    );
  }

  /**
   * The position for those who read it instead of seeing it.
   * @param {Variant} variant
   * @param {HTMLTableCellElement[][]} cells filled: rows from the bottom
   */
  #table(variant, cells) {
    const head = el("tr", {}, el("td"));
    for (let column = 1; column <= variant.width; column += 1) head.append(el("th", { scope: "col" }, column));
    const body = el("tbody");
    for (let row = variant.height; row >= 1; row -= 1) {
      const line = el("tr", {}, el("th", { scope: "row" }, text("game.row", { n: row })));
      cells[row] = [];
      for (let column = 1; column <= variant.width; column += 1) line.append((cells[row][column] = el("td")));
      body.append(line);
    }
    const table = el("table", {}, el("caption", {}, text("game.board")), el("thead", {}, head), body);
    return el("div", { class: "visually-hidden" }, table);
  }

  #fillTable() {
    const { variant, moves } = this.#view;
    const colors = new Map(stonesOf(moves).map((s) => [`${s.column},${s.row}`, COLOR[this.#colorOf(s.side)]]));
    for (let row = 1; row <= variant.height; row += 1) {
      for (let column = 1; column <= variant.width; column += 1) {
        const cell = this.#parts?.cells[row]?.[column];
        const word = colors.get(`${column},${row}`) ?? text("game.empty");
        if (cell) setText(cell, word);
      }
    }
  }

  #showStones() {
    const { variant, moves } = this.#view;
    const wanted = stonesOf(moves);
    const isSame = (/** @type {number} */ i) =>
      this.#stones[i]?.dataset.at === `${wanted[i].column},${wanted[i].row}`;
    let kept = 0;
    while (kept < wanted.length && kept < this.#stones.length && isSame(kept)) kept += 1;
    this.#stones.splice(kept).forEach((stone) => stone.remove());
    const oneMore = wanted.length === kept + 1 && (kept > 0 || moves.length === 1);
    for (const stone of wanted.slice(kept)) {
      const drawn = disc(this.#colorOf(stone.side));
      const y = centerY(variant, stone.row);
      // Under the pointer it says which move it was.
      const ply = svg("title", {}, this.#stones.length + 1);
      const placed = svg("g", { transform: `translate(${centerX(stone.column)} ${y})` }, drawn, ply);
      placed.dataset.at = `${stone.column},${stone.row}`;
      this.#parts?.stones.append(placed);
      this.#stones.push(placed);
      if (!oneMore || !this.isConnected) continue;
      this.#landsIn = this.isOneOfMany ? fall(drawn, y + CELL / 2) : drop(drawn, y + CELL / 2, this.#parts?.picture);
    }
  }

  #showMarks() {
    const { variant, moves, line } = this.#view;
    const parts = this.#parts;
    if (!parts) return;
    this.classList.toggle("has-line", line !== null);
    const inLine = new Set(line?.map(([column, row]) => `${column},${row}`));
    for (const placed of this.#stones) {
      placed.firstElementChild?.classList.toggle("in-line", inLine.has(placed.dataset.at ?? ""));
    }
    parts.marks.replaceChildren();
    const last = stonesOf(moves).at(-1);
    if (line) {
      parts.marks.append(...lineRings(variant, line));
      const [[c1, r1], [c2, r2]] = [line[0], line[line.length - 1]];
      parts.marks.append(
        svg("line", { class: "win-line", x1: centerX(c1), y1: centerY(variant, r1), x2: centerX(c2), y2: centerY(variant, r2), pathLength: 1 }),
      );
    } else if (last) {
      parts.marks.append(
        svg("circle", { class: "mark", cx: centerX(last.column), cy: centerY(variant, last.row), r: 35 }),
        svg("path", { class: "notch", d: notchPath(last.column) }),
      );
    }
    this.landsIn = this.#landsIn;
    // Marks wait for the disc that they mark.
    if (this.#landsIn > 0 && !this.isOneOfMany) {
      parts.marks.animate([{ opacity: 0 }, { opacity: 0 }], { duration: this.#landsIn });
      if (line) this.#cheer(this.#landsIn);
    }
    this.#landsIn = 0;
  }

  /**
   * The four hop one after the other, and the line draws itself through them.
   * @param {number} after milliseconds, when the last disc has touched down
   */
  #cheer(after) {
    const line = this.#parts?.marks.querySelector(".win-line");
    line?.animate([{ strokeDasharray: "0 1" }, { strokeDasharray: "1 0" }], { duration: 320, delay: after, fill: "backwards", easing: "ease-out" });
    this.querySelectorAll(".in-line").forEach((stone, index) => {
      const hop = [{ transform: "none" }, { transform: "translateY(-12px)", easing: "ease-in" }, { transform: "none" }];
      stone.animate(hop, { duration: 360, delay: after + 120 + index * HOP_MS, easing: "ease-out" });
    });
  }

  /** Small discs of a side fall behind the plate, once. @param {Side} side */
  celebrate(side) {
    const parts = this.#parts;
    if (!parts || isStill()) return;
    const { variant } = this.#view;
    const grains = svg("g", {});
    parts.stones.before(grains);
    for (let index = 0; index < CONFETTI; index += 1) {
      const drawn = disc(this.#colorOf(side));
      const x = ((index * 0.618) % 1) * variant.width * CELL;
      const grain = svg("g", { transform: `translate(${x} 0) scale(${0.2 + (index % 3) * 0.08})` }, drawn);
      grains.append(grain);
      const fall = drawn.animate(
        [{ transform: "translateY(-300px)" }, { transform: `translateY(${variant.height * CELL * 5}px)` }],
        { duration: 1_200, delay: this.landsIn + 300 + (index % 8) * 70, easing: "cubic-bezier(0.4, 0, 0.9, 0.6)", fill: "both" },
      );
      const gone = () => {
        grain.remove();
        if (!grains.hasChildNodes()) grains.remove();
      };
      fall.finished.then(gone, gone);
    }
  }

  /** Whose discs a side has. @param {Side} side */
  #colorOf(side) {
    return this.#view.swapped ? other(side) : side;
  }

  #showHints() {
    const { variant, moves } = this.#view;
    const rows = this.#hints.map((column) => [column, landingRow(variant, moves, column)]);
    const arrows = rows.filter(([, row]) => row > 0).map(([column, row]) => hintArrow(variant, column, row));
    this.#parts?.hints.replaceChildren(...arrows);
  }

  #showColumns() {
    const { variant, moves, seated, playable, plannable } = this.#view;
    const columns = this.#parts?.columns;
    if (!columns) return;
    columns.hidden = !seated;
    this.classList.toggle("with-keys", seated);
    if (!this.#focused) this.#focused = Math.ceil(variant.width / 2);
    columns.querySelectorAll("button").forEach((button, index) => {
      const column = index + 1;
      const row = landingRow(variant, moves, column);
      const key = row === 0 ? "game.column_full" : row === 1 ? "game.column_empty" : "game.column_part";
      button.setAttribute("aria-label", text(key, { column, n: row - 1, height: variant.height }));
      button.setAttribute("aria-disabled", String((!playable && !plannable) || row === 0));
      button.tabIndex = column === this.#focused ? 0 : -1;
    });
  }

  /** Above the board waits the disc whose turn it is; over a column it also shows where it would land. */
  #showGhost() {
    const { variant, moves, playable, plannable, pending, planned } = this.#view;
    const parts = this.#parts;
    if (!parts) return;
    const isLater = !playable && pending === null && (plannable || planned != null);
    const side = this.#colorOf(sideToMove(moves.length + (isLater ? 1 : 0)));
    const aimed = pending ?? planned ?? (playable || plannable ? this.#hovered : 0);
    const row = aimed ? landingRow(variant, moves, aimed) : 0;
    const column = aimed || this.#focused;
    [...parts.lights.children].forEach((light, index) => light.classList.toggle("on", row > 0 && index + 1 === aimed));
    const show = (/** @type {SVGGElement} */ group, /** @type {boolean} */ shown, /** @type {number} */ y) => {
      if (!shown) return group.replaceChildren();
      if (!group.firstElementChild?.classList.contains(side)) group.replaceChildren(disc(side));
      const isHeld = group === parts.ghost && this.#drag !== null;
      group.style.transform = `translate(${isHeld ? this.#heldAt() : centerX(column)}px, ${y}px)`;
    };
    const waits = playable && pending === null && (aimed === 0 || row > 0);
    show(parts.ghost, waits && this.hasAttribute("data-ghost"), -FRAME - GHOST_ROOM / 2);
    parts.ghost.classList.toggle("idle", aimed === 0);
    parts.ghost.classList.toggle("held", this.#drag !== null);
    show(parts.landing, row > 0, row > 0 ? centerY(variant, row) : 0);
    parts.landing.classList.toggle("pending", pending !== null);
    parts.landing.classList.toggle("planned", planned != null);
  }

  /**
   * @param {number} column 0 for none
   * @param {boolean} [focus] whether the keyboard is there too
   */
  #hover(column, focus = false) {
    this.#hovered = column;
    if (focus && column !== this.#focused) {
      this.#focused = column;
      this.#showColumns();
    }
    this.#showGhost();
  }

  /** @param {HTMLDivElement} columns */
  #listen(columns) {
    columns.addEventListener("keydown", (event) => this.#arrow(event));
    columns.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse") return;
      this.#drag = { x: event.clientX, column: this.#columnAt(event.clientX), at: event.clientX };
      this.#hover(this.#drag.column);
    });
    columns.addEventListener("pointermove", (event) => {
      if (!this.#drag) return;
      this.#drag.at = event.clientX;
      this.#hover(this.#columnAt(event.clientX));
    });
    columns.addEventListener("pointerup", (event) => this.#release(event));
    columns.addEventListener("pointercancel", () => {
      this.#drag = null;
      this.#hover(0);
    });
  }

  /** A finger that slid to another column drops there; a tap is left to the button's click. */
  #release(/** @type {PointerEvent} */ event) {
    const drag = this.#drag;
    this.#drag = null;
    if (!drag) return;
    const column = this.#columnAt(event.clientX);
    this.#hover(0);
    if (column !== drag.column && Math.abs(event.clientX - drag.x) > DRAG_PX) {
      this.#ignoreClicksUntil = performance.now() + 400;
      this.choose(column);
    }
  }

  /** Where the disc is that a finger holds: right above it, as far as the board goes, in hundredths of a cell. */
  #heldAt() {
    const box = this.#parts?.columns.getBoundingClientRect();
    const width = this.#view.variant.width * CELL;
    if (!box || !this.#drag) return width / 2;
    const x = ((this.#drag.at - box.left) / box.width) * width;
    return Math.max(CELL / 2, Math.min(width - CELL / 2, x));
  }

  /** @param {number} clientX @returns {number} 0 if outside */
  #columnAt(clientX) {
    const box = this.#parts?.columns.getBoundingClientRect();
    if (!box) return 0;
    const column = Math.floor(((clientX - box.left) / box.width) * this.#view.variant.width) + 1;
    return column >= 1 && column <= this.#view.variant.width ? column : 0;
  }

  /** @param {KeyboardEvent} event */
  #arrow(event) {
    const { width } = this.#view.variant;
    const column = this.#focused;
    const next = { ArrowLeft: column - 1, ArrowRight: column + 1, Home: 1, End: width }[event.key];
    if (next !== undefined) {
      const buttons = this.#parts?.columns.querySelectorAll("button");
      buttons?.[Math.min(width, Math.max(1, next)) - 1].focus();
    } else if (event.key === "ArrowDown") {
      this.choose(column);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/**
 * Lets a disc fall without a bounce, faster than others, together with those on other boards.
 * @param {SVGElement} drawn
 * @param {number} height in hundredths of a cell
 * @returns {number} when it touches down, in milliseconds
 */
function fall(drawn, height) {
  if (isStill()) return 0;
  const duration = (FALL_MS / 2) * Math.sqrt(height / CELL) * TEMPO[current().motion];
  const began = performance.now();
  const step = () => {
    const part = Math.min(1, (performance.now() - began) / duration);
    drawn.style.transform = part < 1 ? `translateY(${-height * (1 - part * part)}px)` : "";
    return part < 1;
  };
  if (step()) withNextPicture(step);
  return duration;
}

/**
 * Lets a disc fall from `height` above where it is.
 * @param {SVGElement} drawn
 * @param {number} height in hundredths of a cell
 * @param {SVGElement} [plate] gives way a little when it lands
 * @returns {number} when it touches down, in milliseconds
 */
function drop(drawn, height, plate) {
  if (isStill()) return 0;
  const duration = (FALL_MS * Math.sqrt(height / CELL) + 160) * TEMPO[current().motion];
  const from = `translateY(${-height}px)`;
  const bounce = `translateY(${-height * BOUNCE}px)`;
  drawn.animate(
    [
      { transform: from, easing: "cubic-bezier(0.5, 0, 0.9, 0.5)" },
      { transform: "none", offset: TOUCHDOWN, easing: "ease-out" },
      { transform: "scale(1.05, 0.94)", offset: TOUCHDOWN + 0.04, easing: "ease-out" },
      { transform: bounce, offset: 0.85, easing: "ease-in" },
      { transform: "none" },
    ],
    { duration },
  );
  plate?.animate([{ transform: "none" }, { transform: "translateY(1px)" }, { transform: "none" }], { duration: 110, delay: TOUCHDOWN * duration });
  return TOUCHDOWN * duration;
}

customElements.define("ff-board", BoardElement);
