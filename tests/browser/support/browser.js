// A headless browser whose pages may not complain: console errors, uncaught errors, failed requests and breaches of
// the content security policy all fail the test that caused them.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

import { PATIENCE_MS } from "./patience.js";

/** @typedef {import("playwright-core").Browser} PlaywrightBrowser */
/** @typedef {import("playwright-core").BrowserContextOptions} ContextOptions */
/** @typedef {import("playwright-core").Page} Page */

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];
/** Chromium without windows, which Debian has apart: a third less computing time, and no notices. */
const SHELL = "/usr/bin/chromium-headless-shell";
/** What a busy solver answers: to come again in a moment, which pages do; browsers complain of it. Nothing else may. */
const BUSY = { text: /status of 503/, url: /\/api\/v1\/(positions\/[^/]+|games\/[^/]+\/review)$/ };

/** What Chromium does beside our pages. The first three cost a quarter of all computing time: for each visitor two pages are
 * loaded that could pop up below the address, which nobody sees, and a process waits for a page that never comes. The
 * others are those that Playwright leaves out too; of several lists the browser takes the last one alone. */
const LEFT_OUT = [
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess"],
  ...["AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose"],
  ...["HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying"],
  ...["OptimizationHints", "PaintHolding", "PreconnectToSearch", "ThirdPartyStoragePartitioning"],
];

/** @returns {string | undefined} */
export function chromiumPath() {
  const wanted = process.env.CHROMIUM;
  return wanted ? (existsSync(wanted) ? wanted : undefined) : PLACES.find((place) => existsSync(place));
}

/** The one of `CHROMIUM_SHELL` without windows; without one, and whenever a whole browser is named alone, that. */
function shellPath() {
  const wanted = process.env.CHROMIUM_SHELL ?? (process.env.CHROMIUM ? "" : SHELL);
  return existsSync(wanted) ? wanted : chromiumPath();
}

export const DESKTOP = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

export class Browser {
  /** @type {PlaywrightBrowser | null} */
  #browser = null;
  /** @type {string[]} */
  #complaints = [];

  /** @param {{ whole?: boolean }} [options] `whole`: with windows, though nobody sees them */
  async start({ whole = false } = {}) {
    const executablePath = whole ? chromiumPath() : shellPath();
    // What draws stays in the browser's own process, which saves a tenth.
    const args = ["--no-sandbox", "--disable-gpu", "--in-process-gpu", "--disable-quic", "--no-first-run", "--disable-sync"];
    args.push("--disable-background-networking", "--disable-component-update", `--disable-features=${LEFT_OUT.join()}`);
    this.#browser = await chromium.launch({ executablePath, headless: true, args });
    return this;
  }

  /**
   * A page of somebody who has not been here before.
   * @param {string} url of the site
   * @param {ContextOptions} [options]
   * @returns {Promise<Page>}
   */
  async visitor(url, options = DESKTOP) {
    if (!this.#browser) throw new Error("the browser has not been started");
    const context = await this.#browser.newContext({ baseURL: url, ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    await context.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy ${event.effectiveDirective} broken by ${event.blockedURI}`),
      );
    });
    // Bots of the house answer as fast as they think: what takes time is tested by itself.
    await context.addInitScript(() => {
      if (!location.protocol.startsWith("http")) return;
      if (!localStorage.getItem("settings")) localStorage.setItem("settings", JSON.stringify({ pace: "swift" }));
    });
    context.on("console", (message) => {
      if (message.type() !== "error" && message.type() !== "warning") return;
      const { url } = message.location();
      if (!(BUSY.text.test(message.text()) && BUSY.url.test(new URL(url, "http://none").pathname))) {
        this.#complain(`${message.text()} (${url})`);
      }
    });
    context.on("weberror", (error) => this.#complain(String(error.error())));
    return context.newPage();
  }

  /** @param {string} text */
  #complain(text) {
    this.#complaints.push(text);
  }

  /**
   * Closes the pages of a test, which would go on to load, draw and talk beside the next one, and fails if any has
   * complained of more than a busy solver.
   * @param {RegExp} [expected] complaints that the test has caused on purpose
   */
  async endOfTest(expected) {
    await Promise.all(this.#browser?.contexts().map((context) => context.close()) ?? []);
    const complaints = this.#complaints.filter((text) => !expected?.test(text));
    this.#complaints = [];
    assert.deepEqual(complaints, []);
  }

  async stop() {
    await this.#browser?.close();
  }
}
