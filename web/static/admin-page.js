// The operators' page: gives codes of the second factor, and acts. It speaks English, as the commands do.

import { Problem, call, handle } from "./account-call.js";
import { el } from "./dom.js";

const SESSION = "/admin/session";

/** Whether a refusal asks for a fresh code. @param {unknown} error */
function wantsCode(error) {
  return error instanceof Problem && error.code === "forbidden" && error.field === "code";
}

/** Asks for a code, and ends when the server has taken it, or the dialog was closed. @returns {Promise<boolean>} */
function askForCode() {
  return new Promise((resolve) => {
    let given = false;
    const shown = el(
      "dialog",
      { lang: "en", "aria-labelledby": "fresh-code-title", close: () => (shown.remove(), resolve(given)) },
      el(
        "form",
        { id: "fresh-code", class: "stack" },
        el("h2", { id: "fresh-code-title" }, "A fresh code, please"),
        el(
          "div",
          { class: "field" },
          el("label", { for: "fresh-code-value" }, "Code of your authenticator"),
          el("input", { id: "fresh-code-value", name: "code", required: true, autocomplete: "one-time-code", maxlength: 40 }),
        ),
        el("p", { class: "problem", role: "alert" }),
        el(
          "div",
          { class: "row wrap" },
          el("button", { type: "submit", class: "button primary" }, "Go on"),
          el("button", { type: "button", class: "button", click: () => shown.close() }, "Cancel"),
        ),
      ),
    );
    document.body.append(shown);
    handle("#fresh-code", async ({ code }) => {
      await call("POST", SESSION, { code });
      given = true;
      shown.close();
    });
    shown.showModal();
  });
}

/** @param {HTMLFormElement} form */
function readAct(form) {
  const data = new FormData(form);
  const value = (/** @type {string} */ name) => String(data.get(name) ?? "").trim() || undefined;
  const act = value("act");
  const { report, player, game } = form.dataset;
  const days = value("days");
  return {
    act,
    reason: value("reason") ?? "",
    report: report ? Number(report) : undefined,
    subject: value("subject") ?? (act === "void" ? game : player),
    days: days && (act === "ban" || act === "mute") ? Number(days) : undefined,
    name: act === "rename" ? value("name") : undefined,
  };
}

/** @param {HTMLFormElement} form */
async function send(form) {
  const act = readAct(form);
  try {
    await call("POST", "/admin/acts", act);
  } catch (error) {
    if (!wantsCode(error)) throw error;
    if (!(await askForCode())) return;
    await call("POST", "/admin/acts", act);
  }
  location.reload();
}

/** Shows the fields that the chosen act needs. @param {HTMLFormElement} form */
function showFields(form) {
  const act = String(new FormData(form).get("act"));
  for (const field of form.querySelectorAll("[data-for]")) {
    if (field instanceof HTMLElement) field.hidden = !(field.dataset.for ?? "").split(" ").includes(act);
  }
}

for (const form of document.querySelectorAll("form.act")) {
  if (!(form instanceof HTMLFormElement)) continue;
  form.id ||= `act-on-${form.dataset.report}`;
  form.addEventListener("change", () => showFields(form));
  showFields(form);
  handle(`#${form.id}`, () => send(form));
}
handle("#admin-code", async ({ code }) => {
  await call("POST", SESSION, { code });
  location.reload();
});
document.querySelector("#admin-leave")?.addEventListener("click", async () => {
  await call("DELETE", SESSION);
  location.assign("/");
});
