// Says when a friend has come, or has begun a game that can be watched, while somebody looks at the page.

import { call, Problem } from "./account-call.js";
import { el } from "./dom.js";
import { toast } from "./shell.js";
import { text } from "./texts.js";

/** @typedef {{ name: string, friend: boolean, online: boolean, game: string | null }} Followed */

/** How often it looks, in milliseconds: a friend who came a minute ago is still there. */
const LOOK_EVERY_MS = 60_000;
/** How long nothing more is said of the same friend, who may come and go with the line, in milliseconds. */
const QUIET_MS = 600_000;
/** How long it is shown, in milliseconds. */
const SHOWN_MS = 15_000;

/** Friends as they were when it looked last. @type {Map<string, Followed> | null} */
let known = null;
/** When something was said of them. @type {Map<string, number>} */
const said = new Map();

/**
 * The first of them who does something new that may be said.
 * @param {Followed[]} friends
 */
function news(friends) {
  return friends.find((friend) => {
    const before = known?.get(friend.name);
    const isNew = before && ((friend.game && friend.game !== before.game) || (friend.online && !before.online));
    return isNew && performance.now() - (said.get(friend.name) ?? -QUIET_MS) >= QUIET_MS;
  });
}

/** @param {Followed} friend */
function say({ name, game }) {
  said.set(name, performance.now());
  const link = game
    ? el("a", { class: "button primary compact", href: `/game/${game}` }, text("lobby.watch"))
    : el("a", { class: "button compact", href: "/friends" }, text("friends.title"));
  const close = toast(text(game ? "friends.plays" : "friends.is_here", { name }), el("div", { class: "row" }, link));
  setTimeout(close, SHOWN_MS);
}

async function look() {
  if (document.hidden) return;
  try {
    const { follows } = /** @type {{ follows: Followed[] }} */ (await call("GET", "/api/v1/account/follows"));
    const friends = follows.filter((one) => one.friend);
    const one = news(friends);
    known = new Map(friends.map((friend) => [friend.name, friend]));
    if (one) say(one);
  } catch (error) {
    // Without a connection, or signed out elsewhere, nobody is told anything; the next look may do better.
    if (!(error instanceof Problem || error instanceof TypeError)) throw error;
  }
}

look();
setInterval(look, LOOK_EVERY_MS);
