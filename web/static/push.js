// Has this browser show notices while nobody looks at the site: asks the browser for an address at its maker's push
// service, and tells the server.

import { call } from "./account-call.js";

const PUSH = "/api/v1/account/push";

/** Whether the browser can. */
export const canPush = () => "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

/** The browser's own subscription, if it has one. @returns {Promise<PushSubscription | null>} */
async function own() {
  const registration = await navigator.serviceWorker.getRegistration();
  return (await registration?.pushManager.getSubscription()) ?? null;
}

/** Whether it shows the notices of whoever is signed in. */
export async function isOn() {
  const subscription = await own();
  if (!subscription || Notification.permission !== "granted") return false;
  const response = await fetch(PUSH);
  if (!response.ok) return false;
  /** @type {{ browsers: { endpoint: string }[] }} */
  const { browsers } = await response.json();
  return browsers.some(({ endpoint }) => endpoint === subscription.endpoint);
}

/**
 * Begins to show notices. False if the browser does not let us.
 * @param {string} key of the server
 * @param {string} language
 */
export async function turnOn(key, language) {
  if ((await Notification.requestPermission()) !== "granted") return false;
  const registration = await navigator.serviceWorker.ready;
  const options = { userVisibleOnly: true, applicationServerKey: key };
  // One that was made for another key of the server is good for nothing.
  const subscription = await registration.pushManager.subscribe(options).catch(async () => {
    await (await own())?.unsubscribe();
    return registration.pushManager.subscribe(options);
  });
  const { endpoint, keys } = subscription.toJSON();
  await call("PUT", PUSH, { endpoint, keys, language });
  return true;
}

/** Shows no more notices. */
export async function turnOff() {
  const subscription = await own();
  if (!subscription) return;
  // What the server does not know it need not forget.
  await call("DELETE", PUSH, { endpoint: subscription.endpoint }).catch(() => {});
  await subscription.unsubscribe();
}

/** Has all browsers of the account show something. @returns {Promise<number>} how many push services took it */
export const tryOut = async () => (await call("POST", `${PUSH}/test`)).taken;
