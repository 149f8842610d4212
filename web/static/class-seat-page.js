// Where a pupil waits. What the teacher does next comes by `class-companion.js`, which every page of a pupil has.

import { call } from "./account-call.js";
import { attend, isAttending } from "./class-companion.js";
import { find } from "./dom.js";
import { freshen } from "./fetched-page.js";

/** How often the standings are looked at, in milliseconds. */
const LOOK_EVERY_MS = 4_000;

const { code = "", account = "" } = find("#seat").dataset;
// For somebody who came back by the link alone.
if (!isAttending(code)) attend(code);

find("#leave-class").addEventListener("click", async () => {
  attend(null);
  await call("DELETE", `/api/v1/classes/${code}/pupils/${encodeURIComponent(account)}`);
  location.assign("/class");
});

async function look() {
  if (document.visibilityState === "visible") await freshen(location.href, ["#class-state", "#class-table"]);
  setTimeout(look, LOOK_EVERY_MS);
}
setTimeout(look, LOOK_EVERY_MS);
