"""Duels: pairs against one opponent, for a fixed number or until a test decides. The server plays them through and
judges them; the bot asks for one over HTTP with its own token and then only answers turns."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from .connection import Refused

LOOK_EVERY_S = 2.0  # a game takes seconds
ANSWER_S = 10.0  # for an answer; later the server counts as away
STANDSTILL_S = 180.0  # no game of it for so long: the server has given it up, for it waits two minutes for players


@dataclass(frozen=True)
class Duel:
    """What to play: `fourfold_bot.run(choose, duel=Duel("negamax-6", pairs=50))`."""

    opponent: str  # a bot of the house, or another bot of the same owner that is connected
    pairs: int = 50  # games from one opening with both colours, at most if there is a test
    test: tuple[int, int] | None = None  # (elo0, elo1): ends as soon as one of these differences is accepted
    time: dict[str, Any] | None = None  # each side's time; None is ten seconds and a tenth a move


@dataclass(frozen=True)
class DuelEnd:
    """What a duel has shown."""

    opponent: str
    verdict: str  # "stronger", "weaker", "elo1", "elo0" (by the test), or "open": too few games to tell
    wins: int
    draws: int
    losses: int
    elo: float | None  # how much stronger the bot is, None before the first pair
    elo_low: float | None  # the ends of its 95 % interval; None also where there is no end
    elo_high: float | None
    url: str  # its page

    def __str__(self) -> str:
        by = "" if self.elo is None else f", {self.elo:+.0f} Elo ({_end(self.elo_low)} to {_end(self.elo_high)})"
        score = f"+{self.wins} ={self.draws} -{self.losses}"
        return f"duel against {self.opponent}: {self.verdict}, {score}{by}: {self.url}"


def _end(elo: float | None) -> str:
    return "?" if elo is None else f"{elo:+.0f}"


class _Later(Exception):
    """The server has no place for it now, or is away."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


async def play_through(url: str, token: str, duel: Duel) -> DuelEnd:
    """Begins a duel of the bot that is connected with `token`, and waits for its end; raises `Refused` with the reason
    if there can be none."""
    wish = {"opponent": duel.opponent, "pairs": duel.pairs, "time": duel.time}
    if duel.test is not None:
        wish["test"] = {"elo0": duel.test[0], "elo1": duel.test[1]}
    body = {key: value for key, value in wish.items() if value is not None}
    begun = await _ask_until_answered(url, "bots/@me/duels", token, body)
    page = urljoin(_site(url), begun["url"])
    print(f"duel against {duel.opponent}: {page}", flush=True)
    moved_at, games = time.monotonic(), -1
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        seen = await _ask_until_answered(url, f"duels/{begun['id']}", token)
        if seen["over"]:
            shown = {name: seen[name] for name in ("verdict", "wins", "draws", "losses", "elo", "elo_low", "elo_high")}
            return DuelEnd(opponent=duel.opponent, url=page, **shown)
        if seen["running"] or seen["games"] != games:
            moved_at, games = time.monotonic(), seen["games"]
        if time.monotonic() - moved_at > STANDSTILL_S:
            raise Refused(f"the duel does not go on: {page}")


async def _ask_until_answered(url: str, path: str, token: str, body: dict[str, Any] | None = None) -> Any:
    """Asks in a thread of its own, and again as long as the server only wants to be asked later."""
    while True:
        try:
            return await asyncio.get_running_loop().run_in_executor(None, _ask, url, path, token, body)
        except _Later as later:
            await asyncio.sleep(later.seconds)


def _site(url: str) -> str:
    """The address of the pages beside the socket's."""
    address = urlsplit(url)
    return f"{'https' if address.scheme in ('wss', 'https') else 'http'}://{address.netloc}"


def _ask(url: str, path: str, token: str, body: dict[str, Any] | None) -> Any:
    headers = {"Authorization": f"Bearer {token.strip()}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{_site(url)}/api/v1/{path}", data, headers)
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise _refusal(error) from error
    except (OSError, ValueError) as error:  # away, or cut off in the middle of its answer
        raise _Later(LOOK_EVERY_S) from error


def _refusal(error: urllib.error.HTTPError) -> Exception:
    try:
        said = json.load(error)
    except (OSError, ValueError):
        said = {}
    if "retry_ms" in said or error.code in (429, 502, 503, 504):
        return _Later(max(said.get("retry_ms", 0) / 1000, LOOK_EVERY_S))
    return Refused(f"no duel: {said.get('message', error)}")
