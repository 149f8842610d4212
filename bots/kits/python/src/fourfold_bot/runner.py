"""`run`, the one call a bot needs: settings from the environment, a log, and Ctrl-C in two steps."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from contextlib import contextmanager
from typing import Any, Callable, Iterator

from .client import Client
from .connection import Refused
from .settings import Choose, Hooks, Settings, Tally
from .turn import Game, GameEnd, Problem

log = logging.getLogger("fourfold_bot")


def run(
    choose: Choose,
    *,
    name: str,
    version: str,
    on_game_start: Callable[[Game], object] | None = None,
    on_game_end: Callable[[GameEnd], object] | None = None,
    on_error: Callable[[Problem], object] | None = None,
    **settings: Any,
) -> Tally:
    """Plays with `choose` until Ctrl-C, or through `games=N` games, and returns how they went.

    The first Ctrl-C (or SIGTERM) lets the games in progress end, the second stops at once. More keywords are the fields
    of `Settings`. Exits with a message on standard error if the server will not have the bot.
    """
    if not logging.getLogger().handlers:
        logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
        log.setLevel(logging.INFO)
    hooks = Hooks(on_game_start, on_game_end, on_error)
    client = Client(choose, Settings(name=name, version=version, **settings), hooks)
    try:
        tally = asyncio.run(_play_until_told(client))
    except Refused as error:
        raise SystemExit(f"fourfold_bot: {error}") from error
    print(tally, flush=True)
    return tally


async def _play_until_told(client: Client) -> Tally:
    steps = iter((lambda: _drain(client), client.stop))

    def take_next_step() -> None:
        next(steps, client.stop)()

    loop = asyncio.get_running_loop()
    with _on_signals(lambda: loop.call_soon_threadsafe(take_next_step)):
        return await client.play()


def _drain(client: Client) -> None:
    live = client.drain()
    log.info("no new games; %d to finish (Ctrl-C again stops at once)", live)


@contextmanager
def _on_signals(callback: Callable[[], object]) -> Iterator[None]:
    """Calls back on Ctrl-C and SIGTERM. Plain `signal`, for asyncio's own handlers do not exist on Windows."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's; whoever runs a bot in another one stops it by other means
        return
    before = {number: signal.signal(number, lambda *_: callback()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
