// Moments in the visitor's own time, and in that of the page's language: pages are sent with UTC.

const language = document.documentElement.lang;
// The page's English is Britain's: the day before the month, and 24 hours.
const format = new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

/** Tells those of the page that have not been told yet. */
export function tell() {
  for (const time of /** @type {NodeListOf<HTMLTimeElement>} */ (document.querySelectorAll("time[datetime]:not([title])"))) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.title = time.textContent ?? "";
    time.textContent = format.format(moment);
  }
}

tell();
// Parts of some pages are fetched anew while somebody reads.
new MutationObserver(tell).observe(document.body, { childList: true, subtree: true });
