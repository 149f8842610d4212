// Series of which the better wins, as the page of a game tells of them: how it stands, and who has won it.

import { nameOf } from "./companion.js";
import { el } from "./dom.js";
import { other } from "./rules.js";
import { text } from "./texts.js";
import { points } from "./words.js";

/** @typedef {import("./state.js").GameState} GameState */
/** @typedef {import("../types/protocol").Side} Side */

/** Halves of points with those of this game, if it is over. @param {GameState} state */
function halves({ series, result }) {
  const { first = 0, second = 0 } = series?.half_points ?? {};
  if (result === "draw") return { first: first + 1, second: second + 1 };
  return { first: first + (result === "first" ? 2 : 0), second: second + (result === "second" ? 2 : 0) };
}

/**
 * Whether the series goes on after this game, is off, or whom it went to.
 * @param {GameState} state
 * @returns {Side | "draw" | "off" | "on" | null} null for a game that is no part of one, or not over
 */
export function verdict(state) {
  const { series, result, status } = state;
  if (!series || status !== "over") return null;
  if (result === "void") return "off";
  const { first, second } = halves(state);
  const left = series.of - series.leg;
  if (left > 0 && Math.abs(first - second) <= 2 * left) return "on";
  return first === second ? "draw" : first > second ? "first" : "second";
}

/** `You 1 : ½ Ben` to a player, with both names to others. @param {GameState} state */
export function standing(state) {
  const { you, players } = state;
  const of = halves(state);
  if (!you) return `${nameOf(players.first)} ${points(of.first)} : ${points(of.second)} ${nameOf(players.second)}`;
  const theirs = other(you);
  return text("game.series", { mine: points(of[you]), theirs: points(of[theirs]), name: nameOf(players[theirs]) });
}

/** Which game of a series it is, and how one of which the better wins stands. @param {GameState} state */
export function terms(state) {
  const { pair, series } = state;
  if (!pair || pair.of < 2) return [];
  const leg = el("span", {}, text("game.leg", { n: pair.leg, all: pair.of }));
  if (!series) return [leg];
  return [el("span", {}, text("challenge.best_of", { n: series.of })), leg, el("span", { class: "number" }, standing(state))];
}

/**
 * What is said of a game, and of the series behind it.
 * @param {[string, string]} words headline and detail
 * @param {GameState} state
 * @returns {[string, string]}
 */
export function andThen([headline, detail], state) {
  const then = outcome(state);
  if (!then) return [headline, detail];
  return [headline, `${detail}${/[.。]$/.test(detail) ? "" : "."} ${then}`];
}

/** What comes of the series, once the game is over: its words come with the page of a game of one. @param {GameState} state */
function outcome(state) {
  const how = verdict(state);
  const said = document.getElementById("series-words")?.dataset;
  if (how === null || !said) return "";
  if (how === "on") return (state.you && said.next) || "";
  if (how === "off") return said.off ?? "";
  if (how === "draw") return said.drawn ?? "";
  if (!state.you) return (said.wonBy ?? "").replace("{name}", nameOf(state.players[how]));
  return (how === state.you ? said.won : said.lost) ?? "";
}
