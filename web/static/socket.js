// The page's one connection. It opens a session, keeps it through broken connections, notices silence, and pairs
// answers with requests. What the messages mean is the listeners' business.
//
// A page that has just loaded has nothing to resume: it opens a fresh session and is sent all its games and
// challenges. Who it is, the site's cookie says, for guests too. From then on a lost connection is resumed, and only
// what was missed is sent.

/** @typedef {import("../types/protocol").ServerMessage} ServerMessage */
/** @typedef {import("../types/protocol").ClientMessage} ClientMessage */
/** @typedef {import("../types/protocol").WireError} WireError */
/** @typedef {import("../types/protocol").Welcome} Welcome */
/** @typedef {"connecting" | "open" | "waiting" | "stopped"} ConnectionState */

/** First and longest wait before another attempt, in milliseconds. */
const BACKOFF_MS = { first: 200, longest: 5_000 };
/** Heartbeats without a word after which the connection is given up, if as many questions went unanswered: in a tab
 *  that is out of sight timers come late, which is not the connection's fault. */
const SILENT_HEARTBEATS = 2.5;
const UNANSWERED_MAX = 2;
/** Used until `welcome` says better, in milliseconds. */
const HEARTBEAT_MS = 15_000;
/** How long the other end may take to answer when it is put to the test, in milliseconds. */
const PROBE_MS = 4_000;
/** How long an attempt to connect may take, in milliseconds. */
const CONNECT_MS = 10_000;
/** Close codes after which trying again as before makes no sense; a fresh session might. */
const CLOSE = { credentials: 4401, banned: 4403, version: 4406, replaced: 4409 };

/** A request that the server refused, or that was lost with the connection (`code` is then `disconnected`). */
export class Refused extends Error {
  /** @param {{ code: string, message: string, [field: string]: unknown }} error */
  constructor(error) {
    super(error.message);
    this.code = error.code;
    this.error = error;
  }
}

export class Connection {
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {{ session: string, secret: string, seq: number } | null} */
  #session = null;
  /** @type {Map<string, { resolve: (message: any) => void, reject: (error: Refused) => void }>} */
  #requests = new Map();
  /** @type {ClientMessage[]} said before the session was open */
  #unsaid = [];
  /** @type {Map<string, Set<(message: any) => void>>} */
  #listeners = new Map();
  #attempts = 0;
  #lastId = 0;
  #heardAt = 0;
  #unanswered = 0;
  #heartbeatMs = HEARTBEAT_MS;
  #retryTimer = 0;
  #probeTimer = 0;
  #heartTimer = 0;

  /** @type {ConnectionState} */
  state = "connecting";
  /** @type {Welcome | null} what the server last said on opening */
  welcome = null;

  /** @param {string} url */
  constructor(url) {
    this.url = url;
    addEventListener("online", () => this.#retryNow());
    document.addEventListener("visibilitychange", () => document.hidden || this.#retryNow());
    // An open connection keeps the page from being kept for a return. One that is not open yet goes by itself: closing
    // it would be reported as an error.
    addEventListener("pagehide", () => this.#socket?.readyState === WebSocket.OPEN && this.#socket.close());
    addEventListener("pageshow", (event) => event.persisted && this.#retryNow());
  }

  /**
   * Listens to messages of one type, or to `state` for the connection's own.
   * @template {ServerMessage["type"]} Type
   * @param {Type} type
   * @param {(message: Extract<ServerMessage, { type: Type }>) => void} listener
   */
  on(type, listener) {
    const set = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, set.add(listener));
  }

  /** @param {(state: ConnectionState) => void} listener */
  onState(listener) {
    const set = this.#listeners.get("state") ?? new Set();
    this.#listeners.set("state", set.add(listener));
    listener(this.state);
  }

  open() {
    this.#enter("connecting");
    const socket = new WebSocket(this.url, "fourfold.v1");
    this.#socket = socket;
    this.#heardAt = performance.now();
    const giveUp = window.setTimeout(() => socket.close(), CONNECT_MS);
    socket.onopen = () => {
      clearTimeout(giveUp);
      const resume = this.#session ? { resume: this.#session } : {};
      this.#write({ type: "hello", protocol: 1, client: { name: "fourfold-web", version: "1" }, ...resume });
    };
    socket.onmessage = (event) => socket === this.#socket && this.#receive(JSON.parse(event.data));
    socket.onclose = (event) => {
      clearTimeout(giveUp);
      if (socket === this.#socket) this.#lost(event.code);
    };
  }

  /**
   * Sends without waiting for an answer; what is sent while disconnected goes out once connected.
   * @param {ClientMessage} message
   */
  send(message) {
    if (this.state === "open") this.#write(message);
    else this.#unsaid.push(message);
  }

  /**
   * Sends and waits for the answer. Rejects with {@link Refused}.
   * @param {ClientMessage} message
   * @returns {Promise<ServerMessage>}
   */
  request(message) {
    const id = `r${++this.#lastId}`;
    const answer = new Promise((resolve, reject) => this.#requests.set(id, { resolve, reject }));
    this.send({ ...message, id });
    return answer;
  }

  /** @param {ClientMessage} message */
  #write(message) {
    this.#socket?.send(JSON.stringify(message));
  }

  /** @param {ServerMessage} message */
  #receive(message) {
    this.#heardAt = performance.now();
    this.#unanswered = 0;
    if (this.#session && message.seq) this.#session.seq = message.seq;
    if (message.type === "welcome") this.#welcomed(message);
    if (message.type === "ping") this.#write({ type: "pong", n: message.n });
    const waiting = message.re ? this.#requests.get(message.re) : undefined;
    if (waiting) {
      this.#requests.delete(/** @type {string} */ (message.re));
      if (message.type === "error") waiting.reject(new Refused({ ...message }));
      else waiting.resolve(message);
    }
    if (message.type === "error" && message.fatal && message.code !== "rate_limited") this.#session = null;
    if (!(waiting && message.type === "error")) this.#emit(message.type, message);
  }

  /** @param {Welcome & { seq?: number }} message */
  #welcomed(message) {
    this.welcome = message;
    this.#session = { session: message.session, secret: message.secret, seq: message.seq ?? 1 };
    this.#heartbeatMs = message.heartbeat_ms || HEARTBEAT_MS;
    this.#attempts = 0;
    this.#enter("open");
    const unsaid = this.#unsaid;
    this.#unsaid = [];
    unsaid.forEach((said) => this.#write(said));
    clearInterval(this.#heartTimer);
    this.#heartTimer = window.setInterval(() => this.#beat(), this.#heartbeatMs / 2);
  }

  /** Browsers hide the server's pings, so the page asks for signs of life itself. */
  #beat() {
    const isSilent = performance.now() - this.#heardAt > SILENT_HEARTBEATS * this.#heartbeatMs;
    if (isSilent && this.#unanswered >= UNANSWERED_MAX) {
      this.#giveUp();
    } else if (this.state === "open") {
      this.#unanswered += 1;
      this.#write({ type: "ping", n: Math.round(performance.now()) });
    }
  }

  /**
   * Asks for a sign of life now, as somebody waits: a connection whose other end has vanished without a word is given up
   * in seconds instead of heartbeats.
   */
  probe() {
    if (this.state !== "open") return;
    const asked = performance.now();
    this.#write({ type: "ping", n: Math.round(asked) });
    clearTimeout(this.#probeTimer);
    this.#probeTimer = window.setTimeout(() => this.#heardAt < asked && this.#giveUp(), PROBE_MS);
  }

  #giveUp() {
    this.#socket?.close();
    this.#lost(0);
  }

  /** @param {number} code */
  #lost(code) {
    this.#socket = null;
    clearInterval(this.#heartTimer);
    clearTimeout(this.#probeTimer);
    for (const { reject } of this.#requests.values()) {
      reject(new Refused({ code: "disconnected", message: "the connection was lost" }));
    }
    this.#requests.clear();
    if (code === CLOSE.replaced || code === CLOSE.credentials) this.#session = null;
    if (code === CLOSE.banned || code === CLOSE.version) return this.#enter("stopped");
    this.#enter("waiting");
    const wait = Math.min(BACKOFF_MS.longest, BACKOFF_MS.first * 2 ** this.#attempts);
    this.#attempts += 1;
    this.#retryTimer = window.setTimeout(() => this.open(), wait * (0.5 + Math.random() / 2));
  }

  #retryNow() {
    if (this.state !== "waiting") return;
    clearTimeout(this.#retryTimer);
    this.open();
  }

  /** @param {ConnectionState} state */
  #enter(state) {
    this.state = state;
    this.#emit("state", state);
  }

  /**
   * @param {string} type
   * @param {unknown} message
   */
  #emit(type, message) {
    this.#listeners.get(type)?.forEach((listener) => listener(message));
  }
}

/** The page's connection; opened by shell.js once every module has put up its listeners. */
export const connection = new Connection(new URL("/api/v1/socket", location.href).href.replace(/^http/, "ws"));
