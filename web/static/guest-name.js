// A guest chooses what to be called. Fetched when the form is opened: most visits never need it.

import { call, handle } from "./account-call.js";

handle("#guest-name form", async ({ name }) => {
  await call("PUT", "/api/v1/guest", { name });
  // Everything on the page says the old name, and so does its connection.
  location.reload();
});
