"""The server's side of the protocol, played by hand: a test accepts connections and says what the server says.

Written from the protocol's text, so it is also the kit's reading of it. It checks only what a test asks it to check.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import defaultdict
from http import HTTPStatus
from typing import Any, Awaitable, Callable

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from fourfold_bot import Client, Hooks, Position, Settings, Tally, Turn

TOKEN = "c4b_test"
TEST_S = 5  # a test that takes longer has hung
TIME = {"bank_ms": 60_000, "increment_ms": 0, "move_ms": None}
BOT = {"id": "p1", "name": "mybot", "kind": "bot", "rating": None}
OPPONENT = {"id": "p2", "name": "rival", "kind": "bot", "rating": {"elo": 1200, "pm95": 40, "provisional": False}}
PLAYERS = {"first": {"first": BOT, "second": OPPONENT}, "second": {"first": OPPONENT, "second": BOT}}

Message = dict[str, Any]


async def until(condition: Callable[[], bool]) -> None:
    """Lets the client go on until the condition holds; `play` bounds the wait."""
    while not condition():
        await asyncio.sleep(0.001)


class Peer:
    """One connection of the client's, seen from the server."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket
        self.seq = 0
        self.pings = 0
        self.answers_pings = True
        self._inbox: asyncio.Queue[Message] = asyncio.Queue()
        self._moves: defaultdict[str, asyncio.Queue[Message]] = defaultdict(asyncio.Queue)  # by game

    async def read(self) -> None:
        """Answers pings, keeps the rest for `receive` and `receive_move`; returns when the connection ends."""
        try:
            async for frame in self.socket:
                message = json.loads(frame)
                if message["type"] == "ping":
                    await self._pong(message)
                elif message["type"] == "move":
                    self._moves[message["game"]].put_nowait(message)
                else:
                    self._inbox.put_nowait(message)
        except ConnectionClosed:
            pass

    async def _pong(self, ping: Message) -> None:
        self.pings += 1
        if self.answers_pings:
            await self.send("pong", n=ping["n"])

    async def receive(self, type_: str) -> Message:
        message = await self._inbox.get()
        assert message["type"] == type_, message
        return message

    async def expect_move(self, game: str, ply: int) -> int:
        move = await self.receive_move(game)
        assert move["ply"] == ply, move
        return int(move["column"])

    async def receive_move(self, game: str) -> Message:
        return await self._moves[game].get()

    def has_move(self, game: str) -> bool:
        return not self._moves[game].empty()

    async def send(self, type_: str, **fields: Any) -> None:
        self.seq += 1
        await self.socket.send(json.dumps({"type": type_, "seq": self.seq, **fields}))

    async def welcome(self, resume: Message | None = None, heartbeat_ms: int = 10_000) -> None:
        self.seq = resume["seq"] - 1 if resume else 0
        await self.send(
            "welcome",
            protocol=1,
            session=resume["session"] if resume else "k3",
            secret="hush",
            resumed=resume is not None,
            server={"name": "fake", "version": "0"},
            you=BOT,
            limits={"frame_bytes": 4096, "messages_per_20s": 100, "games": 4},
            heartbeat_ms=heartbeat_ms,
        )

    async def synced(self, *your_turn: str) -> None:
        await self.send("synced", games=len(your_turn), your_turn=your_turn)

    async def game(self, game: str, you: str = "first", moves: str = "", **more: Any) -> None:
        fields = {
            "game": game, "you": you, "players": PLAYERS[you], "rated": True, "time": TIME, "variant": "7x6",
            "opening": {"kind": "none", "moves": ""}, "moves": moves, "ply": len(moves),
            "clock": {"first": 60_000, "second": 60_000}, "to_move": "first" if len(moves) % 2 == 0 else "second",
            "event_seq": 1, "status": "live",
        }  # fmt: skip
        await self.send("game", **(fields | more))

    async def turn(self, game: str, moves: str = "", **more: Any) -> None:
        fields = {
            "game": game, "ply": len(moves), "moves": moves, "legal": Position.from_moves(moves).legal(),
            "clock": {"you": 60_000, "opponent": 59_210}, "budget_ms": 60_000, "network_ms": 3, "variant": "7x6",
        }  # fmt: skip
        await self.send("turn", **(fields | more))

    async def game_end(self, game: str, result: str = "first", reason: str = "resign", **more: Any) -> None:
        clock = {"first": 60_000, "second": 60_000}
        await self.send("game_end", game=game, event_seq=2, result=result, reason=reason, moves="", clock=clock, **more)

    async def finish(self, client: Client) -> None:
        """Lets the client leave in good order, once it has seen its `welcome`."""
        await until(lambda: client.is_connected)
        client.drain()
        await self.leave()

    async def leave(self) -> None:
        """Answers the client's `bye`."""
        assert (await self.receive("bye"))["drain"] is True
        await self.socket.close(1000)

    async def referee(self, game: str, you: str, seed: int) -> str:
        """Plays a whole game against the client with random moves, checking every move; returns the result."""
        rng, position = random.Random(seed), Position.from_moves("")
        moves, event_seq = "", 1
        await self.game(game, you)
        while position.legal():
            side = position.side
            if side == you:
                await self.turn(game, moves)
                column = await self.expect_move(game, len(moves))
                assert column in position.legal(), f"illegal {column} at {moves}"
            else:
                column = rng.choice(position.legal())
            is_won = position.wins(column)
            position, moves, event_seq = position.play(column), moves + str(column), event_seq + 1
            await self.send("moved", game=game, event_seq=event_seq, ply=len(moves), column=column, by=side)
            if is_won:
                await self.game_end(game, side, "four")
                return side
        await self.game_end(game, "draw", "full")
        return "draw"


class FakeServer:
    """Listens on a free port, lets in whoever has the token, and hands out connections in the order they come."""

    def __init__(self) -> None:
        self.url = ""
        self.refuse_with: HTTPStatus | None = None
        self.refused = 0
        self._server: Server | None = None
        self._arrivals: asyncio.Queue[Peer] = asyncio.Queue()

    async def __aenter__(self) -> FakeServer:
        self._server = await serve(
            self._hold,
            "127.0.0.1",
            0,
            subprotocols=[Subprotocol("fourfold.v1")],
            process_request=self._check,
            ping_interval=None,
        )
        port = next(iter(self._server.sockets)).getsockname()[1]
        self.url = f"ws://127.0.0.1:{port}/api/v1/socket"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def connection(self) -> tuple[Peer, Message]:
        """Waits for the next connection and its `hello`."""
        peer = await self._arrivals.get()
        return peer, await peer.receive("hello")

    async def accept(self, **welcome: Any) -> Peer:
        """Takes the next connection as a new session without games."""
        peer, _ = await self.connection()
        await peer.welcome(**welcome)
        await peer.synced()
        return peer

    def _check(self, connection: ServerConnection, request: Any) -> Any:
        if self.refuse_with is not None:
            self.refused += 1
            return connection.respond(self.refuse_with, "refused\n")
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return connection.respond(HTTPStatus.UNAUTHORIZED, "who are you?\n")
        return None

    async def _hold(self, socket: ServerConnection) -> None:
        peer = Peer(socket)
        self._arrivals.put_nowait(peer)
        await peer.read()


Script = Callable[[FakeServer, Client], Awaitable[None]]


def play(
    script: Script,
    choose: Callable[[Turn], Any] = lambda turn: turn.legal[0],
    hooks: Hooks = Hooks(),
    **settings: Any,
) -> Tally:
    """Runs a client against a script of the server's; returns the client's tally, or raises what either side raised."""

    async def both() -> Tally:
        async with FakeServer() as server:
            wanted = {"url": server.url, "token": TOKEN} | settings
            client = Client(choose, Settings(name="test", version="7", **wanted), hooks)
            tally, _ = await asyncio.gather(client.play(), script(server, client))
            return tally

    return asyncio.run(asyncio.wait_for(both(), TEST_S))
