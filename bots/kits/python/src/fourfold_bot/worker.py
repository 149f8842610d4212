"""Runs the bot's own code off the event loop, so that thinking never holds up the connection."""

from __future__ import annotations

import asyncio
import threading
from queue import SimpleQueue
from typing import Any, Callable

# What a call came to: what it returned, and what it raised. An exception is a value here because a future refuses
# StopIteration, which `next()` in a bot may well raise.
Outcome = tuple[Any, "BaseException | None"]
_Call = tuple["asyncio.Future[Outcome]", Callable[..., Any], tuple[Any, ...]]


class Worker:
    """A thread that runs calls one after the other. Each game has its own: games run side by side, and within a game
    the hooks and `choose` come in order.

    The thread is a daemon, unlike a thread pool's, which the interpreter would wait for at exit: a `choose` that never
    returns must not keep the process from ending.
    """

    def __init__(self, name: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def call(self, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Outcome]:
        """Queues a call; the future never fails, it says what was returned or raised."""
        future: asyncio.Future[Outcome] = self._loop.create_future()
        self._calls.put((future, function, arguments))
        return future

    def end(self) -> None:
        """Lets the thread end after the calls already queued."""
        self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            future, function, arguments = call
            outcome: Outcome
            try:
                outcome = function(*arguments), None
            except BaseException as error:  # `sys.exit()` in a bot must not silently end the thread and lose the game
                outcome = None, error
            try:
                self._loop.call_soon_threadsafe(_settle, future, outcome)
            except RuntimeError:  # the loop has closed: nobody waits any more
                return


def _settle(future: asyncio.Future[Outcome], outcome: Outcome) -> None:
    if not future.done():
        future.set_result(outcome)
