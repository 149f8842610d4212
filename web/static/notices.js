// Notices of the system for whoever has asked for them in the settings, while the page is out of sight: one's turn, a
// challenge.

import { current } from "./settings.js";

/** Whether the browser can show any. */
export const canNotify = () => "Notification" in window;

/**
 * @param {string} title
 * @param {string} url of the page that it is about; another notice of it takes the place of this one
 */
export async function notify(title, url) {
  if (current().notices !== "on" || !document.hidden || !canNotify() || Notification.permission !== "granted") return;
  const options = { tag: url, data: { url }, lang: document.documentElement.lang };
  try {
    const shown = new Notification(title, options);
    shown.addEventListener("click", () => {
      window.focus();
      if (location.pathname !== url) location.assign(url);
      shown.close();
    });
  } catch {
    // On phones the service worker alone may show one, and opens the page.
    const registration = await navigator.serviceWorker?.getRegistration();
    await registration?.showNotification(title, options);
  }
}
