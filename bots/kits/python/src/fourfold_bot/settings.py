"""What a bot may set, and the hooks it may fill in."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Callable

from .duels import Duel
from .turn import Game, GameEnd, Problem, Result, Turn

SOCKET_PATH = "/api/v1/socket"
DEFAULT_URL = "ws://127.0.0.1:4444" + SOCKET_PATH

# A minute for the whole game and half a second for each move on top.
TIME = {"bank_ms": 60_000, "increment_ms": 500, "move_ms": None}

# A column, or a column and what the bot thought (`score`, `depth`, `nodes`, `pv`, `note`), which its owner sees.
Choose = Callable[[Turn], "int | tuple[int, dict[str, Any]]"]


def socket_url(url: str) -> str:
    """Completes `ws://HOST:PORT`; an address with a path stays as it is."""
    rest = url.partition("://")[2].rstrip("/")
    return url if "/" in rest else url.rstrip("/") + SOCKET_PATH


def _url() -> str:
    return os.environ.get("FOURFOLD_URL", DEFAULT_URL)


def _token() -> str:
    return os.environ.get("FOURFOLD_TOKEN", "")


@dataclass(frozen=True)
class Settings:
    """How the bot presents itself and what it will play. Only the name and the version have no default."""

    name: str  # of the program; the player's name is the one the token was made for
    version: str  # ratings are kept by version, so raise it when the bot plays differently
    about: str | None = None  # one line for the bot's page
    source: str | None = None  # where its source is, for the list of bots and its page: https://…
    url: str = field(default_factory=_url)  # FOURFOLD_URL
    token: str = field(default_factory=_token, repr=False)  # FOURFOLD_TOKEN; sent in a header, kept out of logs
    open: bool | None = None  # on the ladder and in the directory (None: unless it has opponent or duel); else its owner's
    accepts: dict[str, Any] | None = None  # `accepts` of the protocol; None takes every game there is
    max_games: int | None = None  # at once; None leaves it to the server
    strict: bool = False  # the first illegal move loses a game; otherwise the third one does
    games: int | None = None  # stop after this many; None plays until it is told to stop
    faults_max: int | None = None  # leave after so many games in a row that `choose` resigned
    duel: Duel | None = None  # plays this, and ends with its verdict
    opponent: str | None = None  # asks this player for all of its games, such as "negamax-6"
    rated: bool = False  # whether those count
    time: dict[str, Any] = field(default_factory=lambda: dict(TIME))  # each side's time in them

    @property
    def has_opponent(self) -> bool:
        """Whether it plays whom it asks, and nobody else."""
        return self.opponent is not None or self.duel is not None


@dataclass(frozen=True)
class Hooks:
    """Optional calls into the bot. Those of a game run in that game's thread, in order with `choose`."""

    on_game_start: Callable[[Game], object] | None = None
    on_game_end: Callable[[GameEnd], object] | None = None
    on_error: Callable[[Problem], object] | None = None


@dataclass
class Tally:
    """How the games so far went."""

    win: int = 0
    draw: int = 0
    loss: int = 0
    void: int = 0

    def add(self, result: Result) -> None:
        setattr(self, result, getattr(self, result) + 1)

    def __str__(self) -> str:
        void = f", {self.void} void" if self.void else ""
        return f"{self.win} won, {self.draw} drawn, {self.loss} lost{void}"
