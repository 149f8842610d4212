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
