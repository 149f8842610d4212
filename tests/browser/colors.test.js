// The two sorts of discs differ in lightness, for every eye and on every board; their shapes differ besides.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const css = readFileSync(new URL("../../web/static/style.css", import.meta.url), "utf8");

/** Contrast between the discs, and between a disc and a hole where discs have no dark rim: what one sees at a glance. */
const CONTRAST_MIN = 2;

/** How light reaches whoever lacks one of the three kinds of cones: Machado, Oliveira and Fernandes 2009, full severity,
 *  on linear red, green and blue. @type {Record<string, number[][]>} */
const EYES = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** @param {string} hex */
function linear(hex) {
  const part = (/** @type {number} */ at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255;
  return [1, 3, 5].map(part).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
}

/**
 * @param {string} hex
 * @param {number[][]} eye
 */
function luminance(hex, eye) {
  const light = linear(hex);
  const [r, g, b] = eye.map((row) => Math.min(1, Math.max(0, row.reduce((sum, weight, at) => sum + weight * light[at], 0))));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * @param {string} a
 * @param {string} b
 * @param {number[][]} eye
 */
function contrast(a, b, eye) {
  const [dark, light] = [luminance(a, eye), luminance(b, eye)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

/** The tokens of a board. @param {string} board */
function tokens(board) {
  const selector = board === "classic" ? ":root {" : `:root[data-board="${board}"] {`;
  const block = css.slice(css.indexOf(selector)).split("}")[0];
  return (/** @type {string} */ name) => {
    const found = block.match(new RegExp(`--${name}: (#[0-9a-f]{6})`));
    assert.ok(found, `${board} has no --${name}`);
    return found[1];
  };
}

for (const board of ["classic", "night", "walnut", "paper"]) {
  test(`discs differ in lightness on the board ${board}`, () => {
    const token = tokens(board);
    for (const [name, eye] of Object.entries(EYES)) {
      const found = contrast(token("coral"), token("gold"), eye);
      console.log(`# ${board}, ${name}: ${found.toFixed(2)}:1`);
      assert.ok(found >= CONTRAST_MIN, `${board}, ${name}: ${found.toFixed(2)}:1`);
    }
  });
}

/** What a card stands against the ground at least in the dark, where no shadow sets it off, and its line in both. */
const CARD_MIN = 1.2;
/** What text needs. */
const TEXT_MIN = 4.5;

/** A token of a theme. @param {string} name @param {"light" | "dark"} theme */
function themed(name, theme) {
  const found = css.match(new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`));
  assert.ok(found, `--${name} has two colours`);
  return found[theme === "light" ? 1 : 2];
}

test("cards stand out from the ground, in the dark too, and what is written on them is read", () => {
  const against = (/** @type {string} */ a, /** @type {string} */ b, /** @type {"light" | "dark"} */ theme) => contrast(themed(a, theme), themed(b, theme), EYES.usual);
  const card = against("surface", "paper", "dark");
  assert.ok(card >= CARD_MIN, `dark cards: ${card.toFixed(2)}:1`);
  for (const theme of /** @type {const} */ (["light", "dark"])) {
    for (const ground of ["paper", "surface"]) {
      const line = against("line", ground, theme);
      assert.ok(line >= CARD_MIN, `${theme}, the line of cards on ${ground}: ${line.toFixed(2)}:1`);
      for (const ink of ["ink", "ink-soft", "accent", "good", "bad"]) {
        const found = against(ink, ground, theme);
        assert.ok(found >= TEXT_MIN, `${theme}, ${ink} on ${ground}: ${found.toFixed(2)}:1`);
      }
    }
  }
});
