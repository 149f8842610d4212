// Keeps one page, with all that it needs, for when there is no connection: /offline, where a small bot plays. The
// rest of the site is never answered from here, because what it shows changes all the time. And shows what the server
// has to tell while nobody looks at the site, if somebody has asked for that.
//
// Its address names the version of the site's files, so a new version is kept as soon as a page of it is seen.

const CACHE = "fourfold-offline";
const PAGE = "/offline";

const worker = /** @type {any} */ (self);

/** Fetches the page and the files that it names, and forgets those of an older version. */
async function keep() {
  const cache = await caches.open(CACHE);
  const page = await fetch(PAGE, { cache: "reload" });
  if (!page.ok) throw new Error(`${PAGE} answered ${page.status}`);
  const html = await page.clone().text();
  const files = new Set([...html.matchAll(/(?:href|src)="(\/static\/[^"#]+)/g)].map(([, path]) => path));
  await cache.addAll([...files]);
  await cache.put(PAGE, page);
  for (const { url } of await cache.keys()) {
    const path = new URL(url).pathname;
    if (path !== PAGE && !files.has(path)) await cache.delete(url);
  }
}

/** @param {Request} request */
async function answer(request) {
  if (request.mode !== "navigate") return (await caches.match(request)) ?? fetch(request);
  try {
    return await fetch(request);
  } catch {
    return (await caches.match(PAGE)) ?? Response.error();
  }
}

/** Shows a page of the site: in the window that has it, in another one of ours, or in a new one. @param {string} url */
async function open(url) {
  const windows = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = windows.find((/** @type {any} */ window) => new URL(window.url).pathname === url);
  if (there) return there.focus();
  // One that the worker does not control yet cannot be led anywhere.
  const led = await windows[0]?.navigate(url).catch(() => null);
  return led ? led.focus() : worker.clients.openWindow(url);
}

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(keep().then(() => worker.skipWaiting())));
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("push", (/** @type {any} */ event) => {
  const { title, body, url, tag, lang } = event.data.json();
  const options = { body, tag, lang, renotify: true, icon: "/static/icon-192.png", data: { url } };
  event.waitUntil(worker.registration.showNotification(title, options));
});
worker.addEventListener("notificationclick", (/** @type {any} */ event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.url));
});
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  const isFile = new URL(request.url).pathname.startsWith("/static/");
  if (request.method === "GET" && (request.mode === "navigate" || isFile)) event.respondWith(answer(request));
});
