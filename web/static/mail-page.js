// The pages to which links in mails lead. What proves who somebody is stands behind the # of the link: it is sent with
// what the visitor asks for, and with nothing else.

import { call, handle } from "./account-call.js";
import { find } from "./dom.js";

const link = location.hash.slice(1);

/** Takes one thing away and shows another. @param {string} gone @param {string} shown */
function exchange(gone, shown) {
  find(gone).hidden = true;
  find(shown).hidden = false;
}

/** The same once something is done, for those who do not see it too. @param {string} gone @param {string} shown */
function done(gone, shown) {
  exchange(gone, shown);
  find(shown).focus();
}

if (link) history.replaceState(null, "", location.pathname);
// A link that is opened where such a page is open already changes nothing but what stands behind the #.
window.addEventListener("hashchange", () => location.reload());
if (link && document.querySelector("#ask-reset")) exchange("#ask-reset", "#new-password-form");
if (!link && document.querySelector("#verify-mail")) exchange("#verify-mail", "#no-link");

handle("#ask-reset", async ({ address }) => {
  await call("POST", "/api/v1/mail/reset", { address });
  done("#ask-reset", "#reset-sent");
});
handle("#new-password-form", async ({ new_password }) => {
  await call("PUT", "/api/v1/mail/password", { link, new_password });
  done("#new-password-form", "#password-set");
});
handle("#verify-mail", async () => {
  await call("POST", "/api/v1/mail/verification", { link });
  done("#verify-mail", "#mail-verified");
});
