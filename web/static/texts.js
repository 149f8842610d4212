// The words of the page in the visitor's language. The server sends them as a module that runs before all others and
// leaves them in `globalThis.fourfoldTexts`; `web/texts` is where they are written.

/** @typedef {Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }} Counted */
/** @typedef {Record<string, string | number>} Values */
/** @typedef {{ language: string, texts: Record<string, string | Counted> }} Texts */

/** @type {Texts} */
const { language, texts } = /** @type {any} */ (globalThis).fourfoldTexts;
const plurals = new Intl.PluralRules(language);
const numbers = new Intl.NumberFormat(language);
const point = numbers.formatToParts(0.5).find((part) => part.type === "decimal")?.value ?? ".";

export { language };

/**
 * A text by its key, such as `lobby.play_now`, with values for the names in its braces. A test makes sure that every
 * key is there; one that is not stands for itself.
 * @param {string} key
 * @param {Values} [values]
 */
export function text(key, values = {}) {
  const found = texts[key] ?? key;
  return fill(typeof found === "string" ? found : found.other, values);
}

/**
 * A text about `{n}` things, in the right plural form.
 * @param {string} key
 * @param {number} n
 */
export function count(key, n) {
  const found = texts[key] ?? key;
  const form = typeof found === "string" ? found : (found[plurals.select(n)] ?? found.other);
  return fill(form, { n: numbers.format(n) });
}

/**
 * A decimal fraction with the sign between whole and parts that the language has, as the server writes it.
 * @param {number | string} fraction
 */
export const decimal = (fraction) => String(fraction).replace(".", point);

/**
 * @param {string} form
 * @param {Values} values
 */
function fill(form, values) {
  return form.replace(/\{(\w+)\}/g, (slot, name) => (name in values ? String(values[name]) : slot));
}
