// A mail server on this machine that takes everything, and what it was given.

import { createServer } from "node:net";

/** A port of this machine that is free now. @returns {Promise<number>} */
export async function freePort() {
  const server = createServer();
  await new Promise((listens) => server.listen(0, "127.0.0.1", () => listens(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  await new Promise((closed) => server.close(closed));
  return port;
}

export class PostOffice {
  /** @type {{ to: string, text: string }[]} */
  mails = [];
  #server = createServer((socket) => this.#serve(socket));

  /** Where it is reached, HOST:PORT. */
  async open() {
    await new Promise((listens) => this.#server.listen(0, "127.0.0.1", () => listens(null)));
    const { port } = /** @type {import("node:net").AddressInfo} */ (this.#server.address());
    return `127.0.0.1:${port}`;
  }

  close() {
    this.#server.close();
  }

  /** The next mail, once it is there. @returns {Promise<{ to: string, text: string }>} */
  async next() {
    for (let tries = 0; tries < 500; tries += 1) {
      const mail = this.mails.shift();
      if (mail) return mail;
      await new Promise((goesOn) => setTimeout(goesOn, 20));
    }
    throw new Error("no mail arrives");
  }

  /** @param {import("node:net").Socket} socket */
  #serve(socket) {
    let rest = "";
    let to = "";
    /** @type {string[] | null} */
    let lines = null;
    socket.write("220 mail.example ESMTP\r\n");
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      const parts = (rest + chunk).split("\r\n");
      rest = parts.pop() ?? "";
      for (const line of parts) {
        if (lines === null) {
          to = line.match(/^RCPT TO:<(.*)>$/)?.[1] ?? to;
          if (line === "DATA") lines = [];
          socket.write(line === "DATA" ? "354 go on\r\n" : "250 ok\r\n");
        } else if (line === ".") {
          const body = lines.slice(lines.indexOf("") + 1).join("");
          this.mails.push({ to, text: Buffer.from(body, "base64").toString() });
          lines = null;
          socket.write("250 taken\r\n");
        } else {
          lines.push(line);
        }
      }
    });
  }
}
