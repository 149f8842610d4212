// A network that can fail: a proxy between the browser and the arena that drops everything when told, or falls silent.

import { connect, createServer } from "node:net";

export class Network {
  #isUp = true;
  #isSilent = false;
  /** @type {Set<import("node:net").Socket>} */
  #sockets = new Set();
  #server = createServer((near) => this.#join(near));
  /** @type {URL} */
  #arena;

  /** @param {string} arena its address */
  constructor(arena) {
    this.#arena = new URL(arena);
    this.url = "";
  }

  async start() {
    await new Promise((listening) => this.#server.listen(0, "127.0.0.1", () => listening(null)));
    const { port } = /** @type {import("node:net").AddressInfo} */ (this.#server.address());
    this.url = `http://127.0.0.1:${port}`;
    return this;
  }

  cut() {
    this.#isUp = false;
    this.#sockets.forEach((socket) => socket.destroy());
  }

  /** Nothing arrives any more, and nobody is told: as when a phone leaves its network. */
  silence() {
    this.#isSilent = true;
    this.#sockets.forEach((socket) => socket.pause());
  }

  mend() {
    this.#isUp = true;
    this.#isSilent = false;
    this.#sockets.forEach((socket) => socket.resume());
  }

  stop() {
    this.cut();
    this.#server.close();
  }

  /** @param {import("node:net").Socket} near */
  #join(near) {
    if (!this.#isUp) {
      near.destroy();
      return;
    }
    const far = connect(Number(this.#arena.port), this.#arena.hostname);
    for (const [socket, other] of [[near, far], [far, near]]) {
      this.#sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
      if (this.#isSilent) socket.pause();
    }
  }
}
