// What a button asks for and the server refuses is said over the page.

import { Problem } from "./account-call.js";
import { toast } from "./shell.js";

/**
 * Does something for a button, which rests meanwhile.
 * @template T
 * @param {HTMLButtonElement} button
 * @param {() => Promise<T>} deed
 * @returns {Promise<T | undefined>} nothing if it was refused
 */
export async function showProblemOf(button, deed) {
  button.disabled = true;
  try {
    return await deed();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    toast(error.message);
  } finally {
    button.disabled = false;
  }
}
