// Runs an author's program in a worker: asks it for moves, hears what it prints, and ends it when it does not answer.

/** How long the program may take to load, and for a move, in milliseconds: a person looks on. */
const LOAD_MS = 3_000;
const MOVE_MS = 10_000;

/** The program is broken, or does not answer. */
export class Failed extends Error {}

export class BotRunner {
  /** @type {Worker | null} */
  #worker = null;
  /** @type {Map<number, { resolve: (chosen: { column: number, info?: object }) => void, reject: (why: Failed) => void }>} */
  #asked = new Map();
  #lastId = 0;

  /**
   * @param {string} url of the worker
   * @param {string} code
   * @param {(line: string) => void} print
   */
  constructor(url, code, print) {
    this.url = url;
    this.code = code;
    this.print = print;
  }

  /** Starts the worker and loads the program into it. @returns {Promise<void>} */
  load() {
    this.end();
    const worker = new Worker(/** @type {any} */ (trusted(this.url)));
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      const fail = (/** @type {string} */ why) => {
        this.end();
        reject(new Failed(why));
      };
      const timer = setTimeout(() => fail("too slow"), LOAD_MS);
      worker.onerror = () => fail("the worker did not start");
      worker.onmessage = ({ data }) => {
        if (data.kind === "log") return this.print(String(data.text));
        if (data.kind === "ready" || data.kind === "broken") clearTimeout(timer);
        if (data.kind === "ready") resolve();
        else if (data.kind === "broken") fail(String(data.text));
        else this.#hear(data);
      };
      worker.postMessage({ code: this.code });
    });
  }

  /**
   * What the program chooses. After a move that takes too long it is loaded anew.
   * @param {object} turn
   * @returns {Promise<{ column: number, info?: object }>}
   */
  async choose(turn) {
    if (!this.#worker) await this.load();
    const id = ++this.#lastId;
    const answer = new Promise((resolve, reject) => this.#asked.set(id, { resolve, reject }));
    const timer = setTimeout(() => {
      this.#asked.get(id)?.reject(new Failed("too slow"));
      this.end();
    }, MOVE_MS);
    this.#worker?.postMessage({ id, turn });
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      this.#asked.delete(id);
    }
  }

  /** @param {{ kind: string, id: number, column: number, info?: object, text: string }} data */
  #hear(data) {
    const waiting = this.#asked.get(data.id);
    if (data.kind === "chosen") waiting?.resolve({ column: data.column, ...(data.info ? { info: data.info } : {}) });
    else if (data.kind === "failed") waiting?.reject(new Failed(String(data.text)));
  }

  end() {
    this.#worker?.terminate();
    this.#worker = null;
    for (const { reject } of this.#asked.values()) reject(new Failed("stopped"));
    this.#asked.clear();
  }
}

/** @type {any} */
let policy = null;

/** The address of the worker as browsers ask for it that let no text become code. @param {string} url */
function trusted(url) {
  const { trustedTypes } = /** @type {any} */ (window);
  if (!trustedTypes) return url;
  policy ??= trustedTypes.createPolicy("bot-worker", { createScriptURL: () => url });
  return policy.createScriptURL("");
}
