/** How long anything may take, in milliseconds: the machine may be busy. `BROWSER_PATIENCE_MS` is for whoever runs these tests
 * with what others leave of it. */
export const PATIENCE_MS = Number(process.env.BROWSER_PATIENCE_MS ?? 20_000);
