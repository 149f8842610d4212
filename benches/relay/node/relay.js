// The relay once more, by Node and its usual library for WebSockets: what a server costs that somebody would write in an
// afternoon. It says the same as the relay in Rust, checks the same rules, and keeps nothing.
//
//     npm ci && node relay.js 127.0.0.1:4500

import { WebSocketServer } from "ws";

const COLUMNS = 7;
const ROWS = 6;
/** From a cell to the next one in each direction of a line. */
const STEPS = [
  [1, 0],
  [0, 1],
  [1, 1],
  [1, -1],
];

let lastId = 0;
const sockets = new Map();
const offers = new Map();
const tables = new Map();

const id = () => (lastId += 1);

class Table {
  heights = new Array(COLUMNS).fill(0);
  cells = new Int8Array(COLUMNS * ROWS).fill(-1);
  moves = "";
  watchers = [];

  constructor(id, players) {
    this.id = id;
    this.players = players;
  }

  at(column, row) {
    if (column < 0 || column >= COLUMNS || row < 0 || row >= ROWS) return -1;
    return this.cells[column * ROWS + row];
  }

  /** Whether the stone that was played last completes four. */
  wins(column, row, side) {
    return STEPS.some(([dx, dy]) => {
      let length = 1;
      for (const sign of [1, -1]) {
        let [x, y] = [column + sign * dx, row + sign * dy];
        while (this.at(x, y) === side) {
          length += 1;
          x += sign * dx;
          y += sign * dy;
        }
      }
      return length >= 4;
    });
  }

  play(ply, column) {
    const index = column - 1;
    if (ply !== this.moves.length || !(index >= 0 && index < COLUMNS) || this.heights[index] >= ROWS) return false;
    const row = this.heights[index]++;
    const side = ply % 2;
    this.cells[index * ROWS + row] = side;
    this.moves += column;
    const clock = { first: 60000, second: 60000 };
    const said = { type: "moved", game: this.id, event_seq: ply + 1, ply: ply + 1, column, by: String(side), clock };
    const moved = JSON.stringify({ ...said, spent_ms: 0, credited_ms: 0 });
    for (const socket of this.players) socket.send(moved);
    for (const socket of this.watchers) socket.send(moved);
    if (this.wins(index, row, side) || this.moves.length === COLUMNS * ROWS) {
      const end = JSON.stringify({ type: "game_end", game: this.id, moves: this.moves });
      for (const socket of this.players) socket.send(end);
      tables.delete(this.id);
    } else {
      this.prompt();
    }
    return true;
  }

  prompt() {
    const legal = [];
    for (let column = 0; column < COLUMNS; column++) if (this.heights[column] < ROWS) legal.push(column + 1);
    const clock = { you: 60000, opponent: 60000 };
    const turn = { type: "turn", game: this.id, ply: this.moves.length, moves: this.moves, legal, clock };
    const more = { budget_ms: 60000, network_ms: 0, variant: "7x6" };
    this.players[this.moves.length % 2].send(JSON.stringify({ ...turn, ...more }));
  }
}

function start(players) {
  const table = new Table(`g${id()}`, players);
  tables.set(table.id, table);
  players.forEach((socket, seat) => {
    const you = seat === 0 ? "first" : "second";
    socket.send(JSON.stringify({ type: "game", game: table.id, you, moves: "", ply: 0, status: "live" }));
  });
  table.prompt();
}

function hear(socket, name, said) {
  switch (said.type) {
    case "hello":
      socket.send(JSON.stringify({ type: "welcome", protocol: 1, you: { name } }));
      socket.send(JSON.stringify({ type: "synced", games: 0, your_turn: [] }));
      return true;
    case "challenge": {
      const other = sockets.get(said.to);
      if (!other) return false;
      const challenge = `c${id()}`;
      offers.set(challenge, [socket, other]);
      const text = JSON.stringify({ type: "challenge", challenge, from: { name } });
      for (const side of [socket, other]) side.send(text);
      return true;
    }
    case "accept": {
      const players = offers.get(said.challenge);
      if (!players) return false;
      offers.delete(said.challenge);
      const text = JSON.stringify({ type: "challenge_end", challenge: said.challenge, how: "accepted" });
      for (const side of players) side.send(text);
      start(players);
      return true;
    }
    case "move":
      return tables.get(said.game)?.play(said.ply, said.column) ?? false;
    case "watch": {
      const table = tables.get(said.game);
      if (!table) return false;
      socket.send(JSON.stringify({ type: "game", game: table.id, moves: table.moves, ply: table.moves.length }));
      table.watchers.push(socket);
      return true;
    }
    default:
      return true;
  }
}

const [host, port] = (process.argv[2] ?? "127.0.0.1:4500").split(":");
const server = new WebSocketServer({ host, port: Number(port), perMessageDeflate: false });
server.on("connection", (socket) => {
  const name = `p${id()}`;
  sockets.set(name, socket);
  socket.on("close", () => sockets.delete(name));
  socket.on("error", () => socket.terminate());
  socket.on("message", (data) => {
    let said;
    try {
      said = JSON.parse(data);
    } catch {
      said = null;
    }
    if (!said || !hear(socket, name, said)) socket.terminate();
  });
});
