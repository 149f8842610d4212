// Where a class is joined or opened.

import { call, handle } from "./account-call.js";
import { showProblemOf } from "./refused.js";

handle("#join", async ({ code, name }) => {
  const path = `/api/v1/classes/${encodeURIComponent(code.trim().toUpperCase())}`;
  const joined = await call("PUT", `${path}/pupil`, name ? { name } : {});
  const { attend } = await import("./class-companion.js");
  attend(joined.code);
  // The page is made anew, for everything on it says the old name, and so does its connection.
  location.assign(`/class/${joined.code}`);
});

document.querySelector("#open-class")?.addEventListener("click", async ({ target }) => {
  const opened = await showProblemOf(/** @type {HTMLButtonElement} */ (target), () => call("POST", "/api/v1/classes"));
  if (opened) location.assign(opened.url);
});
