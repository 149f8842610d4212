// Draws the analysis board: the position, what each column is worth, and the explorer. Holds no position of its own.

import { BoardElement } from "./board.js";
import { branchList } from "./branches-view.js";
import { el, find, setText } from "./dom.js";
import { discIcon } from "./drawing.js";
import { address, isOver, play, printMoves, shownMoves, studyAddress } from "./line.js";
import { OpeningName } from "./opening-names.js";
import { columnValue, movesLeft, outlook, outlookWords } from "./outlook.js";
import { other, parseVariant, sideToMove, winningLine } from "./rules.js";
import { text } from "./texts.js";
import { COLOR } from "./words.js";

/** @typedef {import("./line.js").Line} Line */
/** @typedef {import("../types/position").Position} Position */
/** @typedef {import("../types/position").Success} Success */
/** @typedef {import("../types/protocol").Side} Side */
/**
 * @typedef {object} AnalysisState
 * @property {Line} line
 * @property {import("./branches.js").Branch} tree all lines that were tried
 * @property {Position | null} position null until it is known
 * @property {import("./positions.js").Wait | null} waits why it takes longer
 * @property {boolean} hints whether values are shown
 * @property {boolean} swapped whether each side has the other's colour
 * @property {string} level whose games are counted; empty for all
 */

export class AnalysisView {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.board = /** @type {BoardElement} */ (find("ff-board", root));
    this.range = /** @type {HTMLInputElement} */ (find("#line", root));
    this.opening = new OpeningName(root);
    /** What one, two and more games are called, as many as are too few for a share. @type {string[]} */
    this.few = JSON.parse(root.dataset.few ?? "[]");
  }

  /** @param {AnalysisState} state */
  show(state) {
    const { line, position, hints, swapped } = state;
    const moves = shownMoves(line);
    const variant = parseVariant(line.variant);
    this.root.dataset.ply = String(line.ply);
    this.root.dataset.values = position ? "there" : "awaited";
    this.root.classList.toggle("without-hints", !hints);
    this.root.dataset.shape = shapeOf(variant);
    const over = isOver(line);
    this.board.show({ variant, moves, line: winningLine(variant, moves), seated: !over, playable: !over, pending: null, swapped });
    this.board.hint(hints && !over ? (position?.best ?? []) : []);
    this.#showVerdict(state);
    this.#showValues(state);
    this.#showExplorer(state);
    this.#showScrub(state);
    this.#showBranches(state);
    this.#showForms(state);
    this.opening.show(variant, moves);
  }

  /** @param {AnalysisState} state */
  #showVerdict({ line, position, waits, hints, swapped }) {
    const colors = colorsOf(swapped);
    const side = sideToMove(line.ply);
    const over = isOver(line);
    const disc = find(".verdict-disc", this.root);
    const won = winningLine(parseVariant(line.variant), shownMoves(line)) !== null;
    const whose = won ? other(side) : side;
    const shown = over && !won ? "" : swapped ? other(whose) : whose;
    if (disc.dataset.side !== shown) {
      disc.dataset.side = shown;
      disc.replaceChildren(...(shown ? [discIcon(shown)] : []));
    }
    const toMove = text("analysis.to_move", { color: colors[side] });
    setText(find(".verdict-text", this.root), hints || over ? headline(line, position, waits, colors) : toMove);
    setText(find(".verdict-detail", this.root), over || !hints ? "" : toMove);
  }

  /**
   * Values stay as they are until the next ones are known.
   * @param {AnalysisState} state
   */
  #showValues({ line, position, swapped }) {
    const list = find(".values", this.root);
    list.classList.toggle("old", position === null);
    list.setAttribute("aria-busy", String(position === null));
    const { width } = parseVariant(line.variant);
    if (!position && list.childElementCount === width) return;
    const side = sideToMove(line.ply);
    list.setAttribute("aria-label", text("analysis.values_for", { color: colorsOf(swapped)[side] }));
    list.replaceChildren(...columns(width).map((column) => valueItem(line, position, column, swapped)));
  }

  /** @param {AnalysisState} state */
  #showExplorer(state) {
    const { line, position } = state;
    const body = find(".explorer tbody", this.root);
    body.closest("table")?.classList.toggle("old", position === null);
    if (!position) return;
    const counted = text(position.explored ? "analysis.explorer_lead" : "analysis.not_counted");
    setText(find("#explorer-note", this.root), counted);
    body.replaceChildren(...position.legal.map((column) => explorerRow(state, position, column, this.few)));
  }

  /** @param {AnalysisState} state */
  #showScrub({ line, level }) {
    this.range.max = String(line.moves.length);
    this.range.value = String(line.ply);
    this.range.setAttribute("aria-valuetext", text("game.move_of", { n: line.ply, all: line.moves.length }));
    const links = { "#line-first": 0, "#line-previous": line.ply - 1 };
    for (const [selector, ply] of Object.entries(links)) {
      const link = find(selector, this.root);
      link.setAttribute("href", address({ ...line, ply: Math.max(0, ply) }, level));
      link.setAttribute("aria-disabled", String(line.ply === 0));
    }
    for (const selector of ["#line-next", "#line-last"]) {
      find(selector, this.root).setAttribute("aria-disabled", String(line.ply === line.moves.length));
    }
  }

  /** @param {AnalysisState} state */
  #showBranches({ line, tree, swapped }) {
    const box = find("#branches", this.root);
    find("#no-branches", this.root).hidden = tree.next.length > 0;
    box.hidden = tree.next.length === 0;
    const hadFocus = box.contains(document.activeElement) && document.activeElement !== box;
    box.replaceChildren(branchList(tree, line, swapped));
    const here = /** @type {HTMLElement | null} */ (box.querySelector("[aria-current]"));
    if (here) box.scrollTop += here.getBoundingClientRect().bottom - box.getBoundingClientRect().bottom + 40;
    if (hadFocus) here?.focus();
  }

  /** @param {AnalysisState} state */
  #showForms({ line, swapped }) {
    const field = /** @type {HTMLInputElement} */ (find("#import-moves", this.root));
    if (document.activeElement !== field) field.value = printMoves(shownMoves(line));
    /** @type {HTMLButtonElement} */ (find("#play-on button[type=submit]", this.root)).disabled = isOver(line);
    for (const side of /** @type {Side[]} */ (["first", "second"])) {
      const choice = find(`#play-on input[value="${side}"] + span`, this.root);
      choice.replaceChildren(discIcon(swapped ? other(side) : side), colorsOf(swapped)[side]);
    }
    find("#swap-colors", this.root).setAttribute("aria-pressed", String(swapped));
    find("#make-study", this.root).setAttribute("href", studyAddress(line.variant, line.moves));
  }
}

/**
 * How the board's size is limited by the height of the window, and its values by their number; the server says the same.
 * @param {import("./rules.js").Variant} variant
 */
function shapeOf({ width, height }) {
  if (height >= 2 * width) return "narrow";
  if (height > width) return "tall";
  return width > 9 ? "wide" : "usual";
}

/** @param {number} width */
const columns = (width) => Array.from({ length: width }, (_, index) => index + 1);

/** @param {boolean} swapped @returns {Record<Side, string>} */
const colorsOf = (swapped) => (swapped ? { first: COLOR.second, second: COLOR.first } : COLOR);

/**
 * @param {Line} line
 * @param {Position | null} position
 * @param {AnalysisState["waits"]} waits
 * @param {Record<Side, string>} colors
 */
function headline(line, position, waits, colors) {
  if (isOver(line)) {
    const won = winningLine(parseVariant(line.variant), shownMoves(line)) !== null;
    return won ? text("analysis.won", { color: colors[sideToMove(line.ply + 1)] }) : text("analysis.drawn");
  }
  if (!position) return text(waits === "busy" ? "analysis.busy" : waits ? "analysis.unreachable" : "analysis.computing");
  if (position.score === null) return text("analysis.unknown");
  return outlookWords(outlook(parseVariant(line.variant), line.ply, position.score), colors);
}

/**
 * @param {Line} line
 * @param {Position | null} position
 * @param {number} column
 * @param {boolean} swapped
 */
function valueItem(line, position, column, swapped) {
  const score = position?.columns?.[column - 1] ?? null;
  if (score === null) {
    const full = position !== null && position.to_move !== null && !position.legal.includes(column);
    const word = full ? text("analysis.full") : "";
    const label = el("span", { class: "visually-hidden" }, text("analysis.column_is", { column, what: word || "–" }));
    return el("li", { class: `value ${full ? "full" : "unknown"}` }, label, el("span", { "aria-hidden": "true" }, el("b"), el("small", {}, word)));
  }
  const { kind, sign, word, distance, label } = described(line, column, score, swapped);
  const best = position?.best?.includes(column) ? " best" : "";
  return el(
    "li",
    { class: `value ${kind}${best}` },
    el("span", { class: "visually-hidden" }, label),
    el("span", { "aria-hidden": "true" }, el("b", {}, [sign, distance].filter(Boolean).join(" ")), el("small", {}, word)),
  );
}

/**
 * @param {Line} line
 * @param {number} column
 * @param {number} score
 * @param {boolean} swapped
 */
function described(line, column, score, swapped) {
  const meant = outlook(parseVariant(line.variant), line.ply, score);
  const label = text("analysis.column_is", { column, what: outlookWords(meant, colorsOf(swapped)) });
  return { ...columnValue(score), distance: score === 0 ? "" : String(movesLeft(meant)), label };
}

/**
 * @param {AnalysisState} state
 * @param {Position} position
 * @param {number} column
 * @param {string[]} few
 */
function explorerRow({ line, swapped, level }, position, column, few) {
  const explored = position.explored?.find((other) => other.column === column);
  const score = position.columns?.[column - 1] ?? null;
  const link = el("a", { href: address(play({ ...line, moves: shownMoves(line) }, column), level), "data-column": column }, column);
  const truth = score === null ? null : described(line, column, score, swapped);
  return el(
    "tr",
    {},
    el("td", {}, link),
    el(
      "td",
      { class: `truth value ${truth?.kind ?? "unknown"}` },
      truth && el("span", { class: "visually-hidden" }, truth.label),
      truth && el("span", { "aria-hidden": "true" }, `${truth.sign} ${truth.distance}`.trim()),
    ),
    el("td", { class: "right" }, success(explored?.people, few)),
    el("td", { class: "right" }, success(explored?.bots, few)),
  );
}

/**
 * Games, and the share of points that they brought if they are enough for one.
 * @param {Success | undefined} success
 * @param {string[]} few
 */
function success(success, few) {
  if (!success?.games) return "–";
  const alone = few[success.games - 1];
  if (alone) return alone;
  const percent = Math.floor((100 * (2 * success.wins + success.draws) + success.games) / (2 * success.games));
  return text("analysis.success", { n: success.games, percent });
}
