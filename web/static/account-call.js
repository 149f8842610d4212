// Asks the HTTP interface for somebody who is signed in, and shows beside a form what was refused.

import { find } from "./dom.js";
import { text } from "./texts.js";
import { refusal } from "./words.js";

const SESSIONS = "/api/v1/sessions";

/**
 * @param {"GET" | "POST" | "PUT" | "DELETE"} method
 * @param {string} path
 * @param {object} [body]
 */
export async function call(method, path, body) {
  const headers = body ? { "Content-Type": "application/json" } : undefined;
  const response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  const said = await response.text();
  const answer = said ? JSON.parse(said) : {};
  if (response.status === 401 && path === SESSIONS) throw new Problem({ code: "wrong_password" });
  if (response.status === 403 && path === SESSIONS) throw new Problem({ ...answer, code: "banned" });
  if (!response.ok) throw new Problem(answer);
  return answer;
}

/** What a refusal of a field means to whoever filled it in. @type {Record<string, string>} */
const FIELD_CODES = {
  "bad_field address": "bad_mail",
  "bad_field invitation": "bad_invitation",
  "bad_field line": "bad_line",
  "bad_field lines": "bad_lines",
  "bad_field name": "bad_name",
  "bad_field new_password": "bad_password",
  "bad_field password": "bad_password",
  "bad_field url": "bad_webhook",
  "conflict invitation": "invitation_used_up",
  "forbidden invitation": "bad_invitation",
  "not_found link": "link_used",
  "forbidden password": "wrong_current_password",
};

/** A refusal, said in words for people. */
export class Problem extends Error {
  /** @param {{ code?: string, message?: string, field?: string }} error as the server wrote it */
  constructor({ code = "internal", message = "", field }) {
    super(refusal({ code: field ? (FIELD_CODES[`${code} ${field}`] ?? code) : code, message }));
    this.field = field;
    this.code = code;
  }
}

/**
 * Sends a form and shows what was wrong beside it.
 * @param {string} selector
 * @param {(data: { [field: string]: string }) => Promise<void>} submit
 */
export function handle(selector, submit) {
  const form = document.querySelector(selector);
  if (!(form instanceof HTMLFormElement)) return;
  for (const input of form.querySelectorAll("input")) explain(input);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = /** @type {HTMLButtonElement} */ (find("button[type=submit]", form));
    const data = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    button.disabled = true;
    showProblem(form, null);
    try {
      await submit(data);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      showProblem(form, error);
    } finally {
      button.disabled = false;
    }
  });
}

/** What the browser would say of a field, in its own language and without naming the rule: here in words of the page. */
const RULES = { name: "error.bad_name", password: "error.bad_password", new_password: "error.bad_password" };

/** @param {HTMLInputElement} input */
function explain(input) {
  const rule = RULES[/** @type {keyof typeof RULES} */ (input.name)];
  const words = input.dataset.rule ?? (rule && text(rule));
  if (!words) return;
  const check = () => {
    input.setCustomValidity("");
    const { patternMismatch, tooShort, tooLong } = input.validity;
    if (patternMismatch || tooShort || tooLong) input.setCustomValidity(words);
  };
  input.addEventListener("input", check);
  input.addEventListener("invalid", check);
}

/**
 * @param {HTMLFormElement} form
 * @param {Problem | null} problem
 */
function showProblem(form, problem) {
  const line = find(".problem", form);
  line.textContent = problem?.message ?? "";
  /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("input, select, textarea")).forEach((input) => {
    const isWrong = problem?.field === input.name;
    if (isWrong) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
    if (isWrong) input.focus();
  });
}
