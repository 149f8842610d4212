/**
 * Play Connect Four on a Fourfold server: write `choose(turn)`, which gives a column, and call `run`.
 *
 * No dependencies: it uses the global `WebSocket` of browsers, Deno, Bun and Node 22, of Node 20 with
 * `--experimental-websocket`, or a class like it in `settings.WebSocket`.
 *
 * A `turn` holds the whole position, comes again after a reconnect, and may be answered twice without harm; so nothing
 * that is sent is queued here.
 */

const PROTOCOL = 1;
const SUBPROTOCOL = "fourfold.v1";
const SOCKET_PATH = "/api/v1/socket";

/** Waits between attempts to connect, in milliseconds: the first, and the longest. */
const RETRY_MS_MIN = 200;
const RETRY_MS_MAX = 5000;

/** Games that one challenge asks for, the `id` of our own, and how long until a busy opponent is asked again. */
const SERIES_MAX = 100;
const CHALLENGE = "challenge";
const ASK_AGAIN_MS = 3000;

/** How often a duel is looked at, and how long none of its games may go on: the server has given it up by then. */
const LOOK_EVERY_MS = 2000;
const STANDSTILL_MS = 180_000;

const TIME = { bank_ms: 60_000, increment_ms: 500, move_ms: null };

/** A connection that has been silent for so many heartbeats is dead. */
const HEARTBEATS_MAX = 2.5;

/** Until the server has told its heartbeat, in milliseconds. */
const WELCOME_WAIT_MS = 10_000;

/** Close codes after which another attempt cannot help: credentials, banned, version, replaced. */
const LASTING_CODES = [4401, 4403, 4406, 4409];
const NORMAL_CODE = 1000;

/** The server will not have the bot. */
export class Refused extends Error {}

/** The legal columns of a turn from the centre outwards. */
export function centreFirst(turn) {
  const centre = (Number.parseInt(turn.variant ?? "7x6", 10) + 1) / 2;
  return [...turn.legal].sort((a, b) => Math.abs(a - centre) - Math.abs(b - centre) || a - b);
}

/**
 * Plays until `settings.games` games are over, `settings.signal` is aborted, or the server refuses. Aborting finishes
 * the games under way.
 *
 * @param {(turn: object) => number | {column: number, info?: object} | Promise<number | object>} choose gives a column
 *   from `turn.legal`, perhaps with what it thought (`score`, `depth`, `nodes`, `pv`, `note`), which the bot's owner sees.
 *   What is no such column, or throws, is reported to `onError` and replaced by the most central one.
 * @param {object} settings `name`, `version`, and if wanted `url`, `token`, `open`, `accepts`, `maxGames`, `games`,
 *   `opponent` (a name such as "negamax-6", which is asked for all of its games), `rated` and `time` of those,
 *   `duel` ({opponent, pairs, test?: {elo0, elo1}, time?}: the server plays it and says who is stronger; `run` ends with
 *   it), `onDuelEnd(duel)`: as `GET /api/v1/duels/ID` has it,
 *   `about`, `source` (where its source is, https://…), `signal`, `WebSocket`, `onGameStart(game)`, `onGameEnd(end)`, `onError(problem)`,
 *   `onNotice(notice)`: the server restarts, or the ladder pauses the bot after faults in a row.
 * @returns {Promise<{wins: number, draws: number, losses: number}>}
 * @throws {Refused} if the token, the version or the bot itself is refused
 */
export async function run(choose, settings) {
  return await new Bot(choose, settings).play();
}

class Bot {
  #choose;
  #settings;
  #games = new Map(); // id -> {side, ply, choice}; the last turn and our answer to it
  #started = 0;
  #owed = 0; // games of our challenge that have not begun, while it stands
  #refusal = null; // why the opponent does not play
  #isOver = false; // nothing is asked any more
  #duel = null; // the promise of its end
  #isDraining = false;
  #session = null; // what resumes it: {session, secret, seq}
  #socket = null;
  #tally = { wins: 0, draws: 0, losses: 0 };

  constructor(choose, settings) {
    const environment = globalThis.process?.env ?? {};
    const defaults = { url: environment.FOURFOLD_URL ?? "ws://127.0.0.1:4444", token: environment.FOURFOLD_TOKEN };
    this.#choose = choose;
    const isOpen = settings.opponent === undefined && settings.duel === undefined;
    this.#settings = { ...defaults, open: isOpen, rated: false, time: TIME, WebSocket: globalThis.WebSocket, ...settings };
  }

  async play() {
    if (!this.#settings.token) throw new Refused("no token: set FOURFOLD_TOKEN (`fourfold bot create` prints it)");
    if (!this.#settings.WebSocket) {
      throw new Refused("no WebSocket here: Node 20 has it with --experimental-websocket");
    }
    this.#settings.signal?.addEventListener("abort", () => this.#drain());
    if (this.#settings.signal?.aborted) this.#isDraining = true;
    let wait = RETRY_MS_MIN;
    while (!this.#refusal && !(this.#isDraining && this.#games.size === 0)) {
      const { code, reason, wasWelcome } = await this.#connect();
      if (LASTING_CODES.includes(code)) throw new Refused(`closed with ${code}: ${reason}`);
      if (code === NORMAL_CODE && this.#isDraining) break;
      wait = wasWelcome ? RETRY_MS_MIN : Math.min(2 * wait, RETRY_MS_MAX);
      await new Promise((resolve) => setTimeout(resolve, wait * (1 + Math.random() / 2)));
    }
    this.#isOver = true;
    if (this.#refusal) throw new Refused(this.#refusal);
    return this.#tally;
  }

  /** One connection from its beginning to its end. */
  #connect() {
    return new Promise((resolve) => {
      const socket = new this.#settings.WebSocket(socketUrl(this.#settings.url), [SUBPROTOCOL]);
      this.#socket = socket;
      let heartbeatMs = WELCOME_WAIT_MS / HEARTBEATS_MAX;
      let wasWelcome = false;
      let silence;
      const end = (code, reason) => {
        clearTimeout(silence);
        if (this.#socket === socket) this.#socket = null;
        resolve({ code, reason, wasWelcome });
      };
      const expectMore = () => {
        clearTimeout(silence);
        silence = setTimeout(() => {
          socket.close();
          end(undefined, "silence");
        }, HEARTBEATS_MAX * heartbeatMs);
      };
      expectMore();
      socket.addEventListener("open", () => this.#send("hello", this.#hello()));
      socket.addEventListener("close", (event) => end(event.code, event.reason));
      socket.addEventListener("error", () => {}); // a close follows
      socket.addEventListener("message", (event) => {
        const message = JSON.parse(event.data);
        if (message.type === "welcome") {
          wasWelcome = true;
          heartbeatMs = message.heartbeat_ms;
        }
        if (this.#session) this.#session.seq = Math.max(this.#session.seq, message.seq ?? 0);
        expectMore();
        this.#take(message);
      });
    });
  }

  #hello() {
    const { token, name, version, about, source, open, accepts, maxGames, strict } = this.#settings;
    return {
      protocol: PROTOCOL,
      token,
      client: { name, version },
      bot: { version, about, url: source, language: "JavaScript" },
      open: open && !this.#isDraining,
      accepts,
      max_games: maxGames,
      strict,
      resume: this.#session ?? undefined,
    };
  }

  #send(type, fields) {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify({ type, ...fields }));
  }

  #drain() {
    this.#isDraining = true;
    this.#send("bye", { drain: true });
  }

  /** Unknown types are ignored, as the protocol asks. */
  #take(message) {
    switch (message.type) {
      case "welcome":
        if (!message.resumed) {
          this.#games.clear(); // those that live are told again
          this.#owed = 0;
        }
        this.#session = { session: message.session, secret: message.secret, seq: message.seq };
        if (this.#isDraining) this.#drain();
        break;
      case "ping":
        this.#send("pong", { n: message.n });
        break;
      case "synced":
        if (this.#settings.duel && !this.#duel) this.#duel = this.#playDuel();
        // The games of before may go on by themselves.
        if (this.#started === 0) this.#askForGames();
        else setTimeout(() => this.#askForGames(), ASK_AGAIN_MS);
        break;
      case "challenge": // our own carry `re`
        if (!("re" in message) && !this.#isDraining) {
          const hasOpponent = this.#settings.opponent !== undefined || this.#settings.duel !== undefined;
          const answer = hasOpponent ? "decline" : "accept";
          this.#send(answer, { challenge: message.challenge });
        }
        break;
      case "challenge_end":
        if (this.#owed > 0 && this.#games.size === 0 && message.how !== "accepted") {
          const why = message.reason ?? message.how;
          this.#notTaken(why, ["later", "busy"].includes(why));
        }
        break;
      case "game":
        if (message.you == null) break;
        if (message.status === "over") this.#end(message);
        else this.#start(message);
        break;
      case "turn":
        this.#answer(message);
        break;
      case "game_end":
        this.#end(message);
        break;
      case "notice":
        this.#settings.onNotice?.({ code: message.code, inMs: message.in_ms });
        break;
      case "error":
        if (message.re === CHALLENGE) this.#notTaken(message.message, message.retry_ms !== undefined);
        this.#settings.onError?.({ code: message.code, message: message.message, game: message.game });
        break;
    }
  }

  #start(message) {
    if (this.#games.has(message.game)) return;
    this.#games.set(message.game, { side: message.you });
    this.#started += 1;
    this.#owed = Math.max(0, this.#owed - 1);
    this.#settings.onGameStart?.(message);
    // Now and not after its end, or the server might start one game too many.
    if (this.#started === this.#settings.games) this.#drain();
  }

  async #answer(turn) {
    const side = turn.ply % 2 === 0 ? "first" : "second";
    if (!this.#games.has(turn.game)) this.#start({ ...turn, you: side });
    const game = this.#games.get(turn.game);
    if (game.ply !== turn.ply) {
      Object.assign(game, { ply: turn.ply, choice: undefined });
      const choice = await this.#chosen(turn);
      if (game.ply !== turn.ply) return; // it thought for too long
      game.choice = choice;
    }
    // Undefined while it is still thought about: the answer is on its way.
    if (game.choice) this.#send("move", { game: turn.game, ply: turn.ply, ...game.choice });
  }

  async #chosen(turn) {
    let problem;
    try {
      const chosen = await this.#choose(turn);
      const { column, info } = typeof chosen === "object" && chosen ? chosen : { column: chosen };
      if (turn.legal.includes(column)) return { column, info };
      problem = { code: "illegal_choice", message: `choose gave ${column} after ${turn.moves || "-"}` };
    } catch (error) {
      problem = { code: "choose_failed", message: String(error) };
    }
    this.#settings.onError?.({ ...problem, game: turn.game });
    return { column: centreFirst(turn)[0] };
  }

  #end(message) {
    const game = this.#games.get(message.game);
    if (!game) return;
    this.#games.delete(message.game);
    if (message.result === game.side) this.#tally.wins += 1;
    else if (message.result === "draw") this.#tally.draws += 1;
    else if (message.result !== "void") this.#tally.losses += 1;
    this.#settings.onGameEnd?.({ ...message, side: game.side });
    this.#askForGames();
  }

  /** Challenges the opponent of the settings, unless games go on, or are still to come. */
  #askForGames() {
    const { opponent, games, rated, time } = this.#settings;
    if (opponent === undefined || this.#isDraining || this.#games.size > 0 || this.#owed > 0) return;
    const left = Math.min((games ?? Infinity) - this.#started, SERIES_MAX);
    this.#owed = left > 1 ? left - (left % 2) : 1; // the protocol has one game, or pairs
    // Pairs begin from drawn positions, with both colours: two bots that draw no lots would repeat themselves.
    const opening = this.#owed > 1 ? { kind: "balanced" } : undefined;
    this.#send("challenge", { id: CHALLENGE, to: opponent, time, rated, games: this.#owed, opening });
  }

  #notTaken(why, inTime) {
    this.#owed = 0;
    if (inTime) setTimeout(() => this.#askForGames(), ASK_AGAIN_MS);
    else this.#giveUp(`${this.#settings.opponent} does not play: ${why}`);
  }

  #giveUp(why) {
    this.#refusal = why;
    this.#socket?.close();
  }

  /** Has the server play a duel, and leaves when it is over. The turns of its games come like all others. */
  async #playDuel() {
    try {
      const begun = await this.#fetched("bots/@me/duels", JSON.stringify(this.#settings.duel));
      const { id, url } = { ...begun, url: new URL(begun.url, this.#site()).href };
      console.log(`duel against ${this.#settings.duel.opponent}: ${url}`);
      let [duel, movedAt] = [{ games: -1 }, Date.now()];
      while (!duel.over && !this.#isOver) {
        if (Date.now() - movedAt > STANDSTILL_MS) throw new Refused(`the duel does not go on: ${url}`);
        await sleep(LOOK_EVERY_MS);
        const { games } = duel;
        duel = await this.#fetched(`duels/${id}`);
        if (duel.running || duel.games !== games) movedAt = Date.now();
      }
      if (!duel.over) return;
      this.#settings.onDuelEnd?.(duel);
      console.log(`${duel.verdict}, +${duel.wins} =${duel.draws} -${duel.losses}: ${url}`);
      this.#drain();
    } catch (error) {
      this.#giveUp(error.message);
    }
  }

  #site() {
    return this.#settings.url.replace(/^ws/, "http");
  }

  /** What the HTTP interface answers, asked again as long as the server is away or only wants to be asked later. */
  async #fetched(path, body) {
    const address = new URL(`/api/v1/${path}`, this.#site());
    const headers = { Authorization: `Bearer ${this.#settings.token}`, "Content-Type": "application/json" };
    while (!this.#isOver) {
      const answer = await fetch(address, { method: body ? "POST" : "GET", headers, body }).catch(() => null);
      const said = await answer?.json().catch(() => null);
      if (answer?.ok && said) return said;
      const isLater = !answer || said?.retry_ms || [429, 502, 503, 504].includes(answer.status);
      if (!isLater) throw new Refused(`no duel: ${said?.message ?? answer.status}`);
      await sleep(Math.max(said?.retry_ms ?? 0, LOOK_EVERY_MS));
    }
    return {}; // to nobody
  }
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** `ws://HOST:PORT` becomes the address of its socket; whole addresses stay as they are. */
function socketUrl(text) {
  const url = new URL(text);
  if (url.pathname === "/") url.pathname = SOCKET_PATH;
  return url.href;
}
