// Opponents of the house who have a name, a face and something to say: the page brings them along as templates.

import { noteBeaten } from "./beaten.js";
import { el, find } from "./dom.js";
import { other, threatens } from "./rules.js";
import { spokenName } from "./words.js";

/** @typedef {import("./state.js").GameState} GameState */
/** @typedef {import("../types/protocol").Player} Player */

/** @type {Map<string, HTMLTemplateElement>} */
const known = new Map();
for (const template of /** @type {NodeListOf<HTMLTemplateElement>} */ (document.querySelectorAll("template.character"))) {
  known.set(template.dataset.player ?? "", template);
}

/** What somebody is called: the name of a character, else that of the account. @param {Player} player */
export function nameOf(player) {
  return known.get(player.id)?.dataset.name ?? spokenName(player.name);
}

/** The face of a character. @param {Player} player @returns {Node | null} */
export function faceOf(player) {
  const face = known.get(player.id)?.content.firstElementChild;
  return face ? face.cloneNode(true) : null;
}

/**
 * The picture of a person, or the face of a character: other bots have none.
 * @param {Player} player
 * @returns {Node | null}
 */
export function pictureOf(player) {
  if (player.kind === "bot") return faceOf(player);
  return el("img", { class: "avatar", src: `/api/v1/players/${player.name}/picture.svg`, alt: "", width: 26, height: 26 });
}

/** What a character says to whoever comes. @param {Player} player */
export function greeting(player) {
  return known.get(player.id)?.dataset.says ?? "";
}

/** What the opponent says of a game that is over, if it says anything. @param {GameState} state */
export function lastWords(state) {
  const said = state.you ? known.get(state.players[other(state.you)].id)?.dataset : undefined;
  if (!said || state.result === "void") return "";
  return (state.result === "draw" ? said.drew : state.result === state.you ? said.lost : said.won) ?? "";
}

/** The opponent's words, and the look on its face. */
export class Companion {
  #said = "";

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.speech = find("#speech", root);
  }

  /** @param {GameState} state */
  show(state) {
    const player = state.you && state.players[other(state.you)];
    const template = player && known.get(player.id);
    if (!state.you || !template) return;
    const mood = state.status === "over" ? this.#mood(state) : moodInPlay(state, state.you);
    find(`[data-side="${other(state.you)}"]`, this.root).dataset.mood = mood;
    const { says = "", program } = template.dataset;
    const words = state.status === "over" ? lastWords(state) : says;
    if (state.status === "over" && state.result === state.you && program) noteBeaten(program);
    if (words === this.#said) return;
    this.#said = words;
    this.speech.replaceChildren(...[faceOf(/** @type {Player} */ (player)), el("q", {}, words)].filter((node) => node !== null));
    this.speech.dataset.mood = mood;
    this.speech.hidden = !words;
  }

  /** @param {GameState} state */
  #mood(state) {
    if (state.result === "draw") return "even";
    if (state.result === "void") return "calm";
    return state.result === state.you ? "sad" : "happy";
  }
}

/**
 * How it looks while it plays: glad of a line that it can complete, worried by one that is about to be completed against
 * it. No more than anybody sees who looks at the board; in rated games it keeps a straight face, for it must help nobody.
 * @param {GameState} state
 * @param {import("../types/protocol").Side} you
 */
function moodInPlay({ variant, moves, toMove, rated }, you) {
  const patient = toMove === you ? "calm" : "thinking";
  if (rated) return patient;
  if (threatens(variant, moves, other(you))) return "happy";
  return threatens(variant, moves, you) ? "sad" : patient;
}
