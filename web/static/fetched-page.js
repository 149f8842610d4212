// Another page of the server's, or this one as it is now, to take parts from.

/**
 * @param {string} url
 * @returns {Promise<Document | null>} null if it could not be had
 */
export function fetchedPage(url) {
  // The one way to a parsed page that the site's policy for trusted types leaves open.
  const request = new XMLHttpRequest();
  request.responseType = "document";
  request.open("GET", url);
  return new Promise((resolve) => {
    request.addEventListener("loadend", () => resolve(request.status === 200 ? request.responseXML : null));
    request.send();
  });
}

/**
 * Puts parts of a page as it is now in place of those that are shown and have changed, unless somebody is in one with the
 * keyboard.
 * @param {string} url
 * @param {string[]} selectors each of one element
 */
export async function freshen(url, selectors) {
  const page = await fetchedPage(url);
  for (const selector of selectors) {
    const [old, now] = [document.querySelector(selector), page?.querySelector(selector)];
    if (!old || !now || old.outerHTML === now.outerHTML || old.contains(document.activeElement)) continue;
    old.replaceWith(document.adoptNode(now));
  }
}
