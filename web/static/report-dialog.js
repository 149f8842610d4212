// The dialog in which somebody is reported to the operators.

import { Problem, call, handle } from "./account-call.js";
import { el, find } from "./dom.js";
import { toast } from "./shell.js";
import { text } from "./texts.js";

/** Characters of a note, as the server has it. */
const NOTE_MAX = 500;

/** What somebody can be reported for, with the key of its words. */
const REASONS = {
  name: "report.name",
  cheating: "report.cheating",
  stalling: "report.stalling",
  harassment: "report.harassment",
  other: "report.other",
};

/**
 * @param {string[]} names of those whom it may be about
 * @param {string | undefined} game that it is about
 */
export function openReport(names, game) {
  const close = () => shown.close();
  const reasons = Object.entries(REASONS).map(([value, key]) => el("option", { value }, text(key)));
  const shown = el(
    "dialog",
    { class: "report", "aria-labelledby": "report-title", close: () => shown.remove() },
    el(
      "form",
      { id: "report", class: "stack" },
      el("h2", { id: "report-title" }, text("report.title")),
      field("report-player", text("report.player"), el("select", { id: "report-player", name: "player" }, ...names.map((name) => el("option", {}, name)))),
      field("report-reason", text("report.reason"), el("select", { id: "report-reason", name: "reason" }, ...reasons)),
      field("report-note", text("report.note"), el("textarea", { id: "report-note", name: "note", rows: 4, maxlength: NOTE_MAX })),
      el("p", { class: "soft small" }, text("report.who_reads")),
      el("p", { class: "problem", role: "alert" }),
      el(
        "div",
        { class: "row wrap" },
        el("button", { type: "submit", class: "button primary" }, text("report.send")),
        el("button", { type: "button", class: "button", click: close }, text("report.cancel")),
      ),
    ),
  );
  document.body.append(shown);
  const note = /** @type {HTMLTextAreaElement} */ (find("#report-note", shown));
  const reason = /** @type {HTMLSelectElement} */ (find("#report-reason", shown));
  reason.addEventListener("change", () => (note.required = reason.value === "other"));
  handle("#report", async ({ player, reason, note }) => {
    try {
      await call("POST", "/api/v1/reports", { player, reason, note, game });
    } catch (error) {
      throw error instanceof Problem && error.code === "conflict" ? new Problem({ code: "reported_already" }) : error;
    }
    close();
    toast(text("report.sent"));
  });
  shown.showModal();
}

/**
 * @param {string} id
 * @param {string} label
 * @param {HTMLElement} input
 */
function field(id, label, input) {
  return el("div", { class: "field" }, el("label", { for: id }, label), input);
}
