"""One session with the server, over a connection that comes back: handshake, heartbeat, resume, and when to give up.

Knows nothing of games: `client.py` gets every message and says what goes into `hello`. websockets can reconnect by
itself, but not with the waits, the resumption and the final close codes that the protocol asks for.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
from dataclasses import dataclass
from typing import Any, Awaitable, Callable

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.typing import Subprotocol

from .turn import Message

SUBPROTOCOL = Subprotocol("fourfold.v1")
HEARTBEAT_S = 10.0  # until `welcome` says otherwise
BACKOFF_S = (0.2, 5.0)  # the first wait before a reconnect, doubled up to the second
CLOSE_S = 0.5  # how long to wait for the other end's goodbye

_BAD_TOKEN = "the token is missing, unknown or revoked: check FOURFOLD_TOKEN"
_NOT_ALLOWED = "this bot is not allowed to play here"
_BAD_VERSION = "the server does not speak this version of the protocol: update fourfold_bot"
_REPLACED = "a newer connection of the same bot has taken over"

# What makes trying again pointless: close codes, HTTP statuses at the upgrade, codes of errors that end a connection.
FINAL_CLOSES = {4401: _BAD_TOKEN, 4403: _NOT_ALLOWED, 4406: _BAD_VERSION, 4409: _REPLACED}
FINAL_STATUSES = {401: _BAD_TOKEN, 403: _NOT_ALLOWED, 404: "no server answers there: check FOURFOLD_URL"}
FINAL_ERRORS = {"unauthorized", "forbidden", "bad_version", "bad_field"}
FLOODING = 4429

log = logging.getLogger("fourfold_bot")


class Refused(Exception):
    """The server will not have this bot, or has a newer one: reconnecting would not help."""


class _Lost(Exception):
    """This connection is of no more use; a new one may be."""


@dataclass
class _Session:
    """What a resumption needs: the last message seen, and the proof that the session is ours."""

    id: str
    secret: str
    seq: int


class Connection:
    """Keeps a session going and hands every message to `on_message`."""

    def __init__(
        self, url: str, token: str, hello: Callable[[], Message], on_message: Callable[[Message], Awaitable[None]]
    ) -> None:
        self._url, self._token, self._hello, self._on_message = url, token.strip(), hello, on_message
        self._session: _Session | None = None
        self._socket: ClientConnection | None = None  # from `welcome` on
        self._heartbeat_s = HEARTBEAT_S
        self._not_before = 0.0  # loop time before which the server does not want to see us again

    @property
    def is_open(self) -> bool:
        return self._socket is not None

    async def run(self, is_done: Callable[[], bool]) -> None:
        """Connects, and again whenever the connection ends, until `is_done`; raises `Refused` if that is no use."""
        attempt = 0
        while True:
            began = _now()
            reason = await self._connect_once()
            if is_done():
                return
            attempt = 1 if _now() - began > BACKOFF_S[1] else attempt + 1
            delay = max(backoff_s(attempt), self._not_before - _now())
            log.warning("connection lost: %s; again in %.1f s", reason, delay)
            await asyncio.sleep(delay)

    async def send(self, type_: str, **fields: Any) -> None:
        """Sends a message, or drops it while there is no connection: what still matters is asked for again later."""
        if self._socket is None:
            return
        try:
            await self._socket.send(json.dumps({"type": type_, **fields}))
        except ConnectionClosed:
            pass  # the receiving side sees it too, and knows why

    async def _connect_once(self) -> str:
        """Holds one connection as long as it lasts; returns why it ended."""
        try:
            async with connect(
                self._url,
                additional_headers={"Authorization": f"Bearer {self._token}"},
                subprotocols=[SUBPROTOCOL],
                compression=None,  # the server has none
                ping_interval=None,  # `_receive` minds the heartbeat; the library answers the server's pings
                close_timeout=CLOSE_S,
            ) as socket:
                await socket.send(json.dumps(self._hello_message()))
                while True:
                    await self._handle(await self._receive(socket), socket)
        except InvalidURI as error:
            raise Refused(f"{error}: check FOURFOLD_URL") from error
        except InvalidStatus as error:
            return self._explain_status(error)
        except ConnectionClosed as error:
            return self._explain_close(error)
        except (OSError, EOFError, asyncio.TimeoutError, InvalidHandshake, _Lost) as error:
            return str(error) or type(error).__name__
        finally:
            self._socket = None

    def _hello_message(self) -> Message:
        hello = {"type": "hello", **self._hello()}
        if (session := self._session) is not None:
            hello["resume"] = {"session": session.id, "secret": session.secret, "seq": session.seq}
        return hello

    async def _receive(self, socket: ClientConnection) -> str | bytes:
        """Waits for a frame. After one silent heartbeat it asks, by `ping`; after 2.5 it gives the connection up.

        The server's own pings would show that it lives, but the library answers them without a word.
        """
        try:
            return await asyncio.wait_for(socket.recv(), self._heartbeat_s)
        except asyncio.TimeoutError:
            await self.send("ping", n=0)
        try:
            return await asyncio.wait_for(socket.recv(), 1.5 * self._heartbeat_s)
        except asyncio.TimeoutError:
            raise _Lost("the server has fallen silent") from None

    async def _handle(self, frame: str | bytes, socket: ClientConnection) -> None:
        """Takes in one message. A broken one is logged and passed over: it must not cost the games."""
        try:
            message = json.loads(frame)
            if message["type"] == "welcome":
                self._session = _Session(message["session"], message["secret"], message["seq"])
                self._heartbeat_s = message["heartbeat_ms"] / 1000
                self._socket = socket
            elif self._session is not None and "seq" in message:
                self._session.seq = message["seq"]
            await self._on_message(message)
            if message["type"] == "error":
                self._mind_error(message)
        except (AttributeError, KeyError, TypeError, ValueError):
            log.exception("a message that could not be understood: %.200s", frame)

    def _mind_error(self, message: Message) -> None:
        """Leaves if the error ends the connection or answers our `hello`; otherwise it is the games' affair."""
        retry_ms = message.get("retry_ms")
        if retry_ms is not None:
            self._wait_ms(retry_ms)
        if message.get("fatal") or not self.is_open:
            text = f"{message['code']}: {message.get('message', '')}"
            raise Refused(text) if message["code"] in FINAL_ERRORS and retry_ms is None else _Lost(text)

    def _explain_status(self, error: InvalidStatus) -> str:
        status = error.response.status_code
        if status in FINAL_STATUSES:
            raise Refused(FINAL_STATUSES[status]) from error
        if (seconds := error.response.headers.get("Retry-After", "")).isdigit():
            self._wait_ms(1000 * int(seconds))
        return f"the server answered with status {status}"

    def _explain_close(self, error: ConnectionClosed) -> str:
        code, reason = (error.rcvd.code, error.rcvd.reason) if error.rcvd else (1006, "")
        if code in FINAL_CLOSES:
            raise Refused(FINAL_CLOSES[code]) from error
        if code == FLOODING and self._not_before <= _now():
            self._wait_ms(1000 * BACKOFF_S[1])  # it did not say how long
        return f"closed with {code} {reason}".strip()

    def _wait_ms(self, retry_ms: float) -> None:
        self._not_before = max(self._not_before, _now() + retry_ms / 1000)


def backoff_s(attempt: int) -> float:
    """Returns the wait before reconnect number `attempt`, from 1: it doubles, with a quarter of jitter each way."""
    first, longest = BACKOFF_S
    return random.uniform(0.75, 1.25) * min(first * 2.0 ** min(attempt - 1, 10), longest)


def _now() -> float:
    return asyncio.get_running_loop().time()
