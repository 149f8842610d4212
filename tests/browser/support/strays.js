// What a page may not have in any width. Runs in the page, so it stands alone.

/** @returns {string[]} what reaches out of its container or is cut, in words; empty if all is well */
export function strays() {
  /** A hair that comes from rounding, in pixels. */
  const HAIR = 1.5;
  const root = document.documentElement;
  const found = new Set();
  const wider = root.scrollWidth - root.clientWidth;
  if (wider > 0) found.add(`the page is ${wider} px wider than the window`);

  const isOut = (/** @type {CSSStyleDeclaration} */ style) => style.position === "absolute" || style.position === "fixed";
  const name = (/** @type {Element} */ element) =>
    `${element.localName}${element.id && `#${element.id}`}${[...element.classList].map((word) => `.${word}`).join("")}`;

  /** @param {Element} element @param {DOMRect} box of the block that holds it */
  function walk(element, box) {
    const style = getComputedStyle(element);
    if (style.display === "none" || style.visibility === "hidden" || element.matches(".visually-hidden, .skip, dialog:not([open])")) return;
    const own = element.getBoundingClientRect();
    const isBlock = style.display !== "inline" && style.display !== "contents";
    if (isBlock && own.width > 0 && !isOut(style)) {
      const over = Math.max(own.right - box.right, box.left - own.left);
      if (over > HAIR) found.add(`${name(element)} reaches ${Math.round(over)} px out of ${name(element.parentElement ?? element)}`);
    }
    // What scrolls by itself may hold more than it shows.
    if (/auto|scroll/.test(style.overflowX) && element !== root && element !== document.body) return;
    if (element instanceof SVGElement) return;
    const isCut = isBlock && style.overflowX !== "visible" && style.textOverflow !== "ellipsis" && element.scrollWidth > element.clientWidth + HAIR;
    if (isCut && element !== root && !element.matches("main, input, select")) found.add(`${name(element)} is cut at its side`);
    const words = isBlock && [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim());
    if (words && style.overflowX === "visible" && element.scrollWidth > element.clientWidth + HAIR && element.clientWidth > 0) {
      found.add(`the words of ${name(element)} are ${element.scrollWidth - element.clientWidth} px wider than it`);
    }
    for (const child of element.children) walk(child, isBlock ? own : box);
  }
  walk(document.body, new DOMRect(0, 0, root.clientWidth, 1));
  return [...found];
}
