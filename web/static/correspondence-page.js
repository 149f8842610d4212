// Games by correspondence: makes links to new ones, takes offers and challenges of others, and looks again when a turn or
// a game has come.

import { call } from "./account-call.js";
import { isCorrespondence, takesDays } from "./correspondence.js";
import { find } from "./dom.js";
import { expectGame, expectNothing, showRefusal, toast } from "./shell.js";
import { connection } from "./socket.js";
import { showLink } from "./start.js";

/** Three days, unless somebody wants others. */
const TIME = { bank_ms: null, increment_ms: 0, move_ms: 3 * 86_400_000 };

async function makeLink() {
  const { askTerms } = await import("./invite-dialog.js");
  const terms = await askTerms({ like: { time: TIME } });
  if (!terms) return;
  try {
    const answer = await connection.request({ type: "open_challenge", ...terms });
    if (answer.type === "challenge" && answer.listed) location.reload();
    else if (answer.type === "challenge" && !takesDays(answer.time)) location.assign(`/challenge/${answer.challenge}`);
    else if (answer.type === "challenge") showLink(find("#invite"), new URL(answer.url ?? `/challenge/${answer.challenge}`, location.href).href);
  } catch (error) {
    showRefusal(error);
  }
}

/** Whether somebody's offer is being taken, whose game opens by itself. */
let isTaking = false;

/**
 * Takes somebody's offer or says no to it, or takes one's own back.
 * @param {"accept" | "decline" | "cancel"} type
 * @param {string} challenge
 */
async function answerOffer(type, challenge) {
  isTaking = type === "accept";
  if (isTaking) expectGame();
  try {
    await connection.request({ type, challenge });
    if (type !== "accept") location.reload();
  } catch (error) {
    isTaking = false;
    expectNothing();
    showRefusal(error);
  }
}

for (const button of document.querySelectorAll(".open-offers button")) {
  const { take, decline, withdraw } = /** @type {HTMLElement} */ (button).dataset;
  const type = take ? "accept" : decline ? "decline" : "cancel";
  button.addEventListener("click", () => answerOffer(type, take ?? decline ?? withdraw ?? ""));
}

/**
 * Takes a vacation, or ends it.
 * @param {"PUT" | "DELETE"} method
 * @param {{ days: number }} [body]
 */
async function setVacation(method, body) {
  try {
    await call(method, "/api/v1/account/vacation", body);
    location.reload();
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error));
  }
}

const vacation = /** @type {HTMLFormElement | null} */ (document.querySelector("#take-vacation"));
vacation?.addEventListener("submit", (event) => {
  event.preventDefault();
  setVacation("PUT", { days: Number(/** @type {HTMLInputElement} */ (find("input", vacation)).value) });
});
document.querySelector("#end-vacation")?.addEventListener("click", () => setVacation("DELETE"));

document.querySelector("#make-link")?.addEventListener("click", makeLink);

// What the page shows: whoever comes back to it, and whoever leaves it open, sees what has been played since.
const shown = new Map([...document.querySelectorAll(".game-tile")].map((tile) => [tile.getAttribute("data-game"), !!tile.closest("#my-turn")]));
connection.on("game", (game) => {
  if (isTaking || !game.you || !isCorrespondence(game) || game.status !== "live") return;
  if (shown.get(game.game) !== (game.to_move === game.you)) location.reload();
});
connection.on("moved", ({ game }) => {
  if (shown.has(game)) location.reload();
});
