"""What a bot is told: `Turn` when it is to move, `Game` when a game starts, `GameEnd` when it is over, `Problem` when
something went wrong.

Each reads itself from the server's message and ignores fields it does not know, so the rest of the kit sees no JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .rules import Grid, Position, Side, Variant, centre_first, other, side_at

Message = dict[str, Any]


class Resigned(Exception):
    """Raised by `choose`: the bot resigns the game by its own fault, of which its owner is told.

    `kind` is `time`, `illegal` or `left`; `note` says more, in printable ASCII of at most 200 characters.
    """

    def __init__(self, kind: str, note: str) -> None:
        super().__init__(note)
        self.kind = kind
        self.note = "".join(letter if " " <= letter <= "~" else "?" for letter in note)[:200]


@dataclass(frozen=True)
class Clock:
    """What is left of each side's bank, in milliseconds; None in a game without a bank."""

    you: int | None
    opponent: int | None


@dataclass(frozen=True)
class Turn:
    """Your move is due. Holds everything there is to know, so a bot needs no memory between turns."""

    game: str
    ply: int  # stones on the board
    moves: str  # from the empty board, one base-36 column digit a move
    legal: list[int]  # columns from 1
    clock: Clock
    budget_ms: int  # hard limit for this move; with a bank and no limit a move, it is the whole bank
    network_ms: int  # measured round trip, part of the budget
    variant: str

    @classmethod
    def read(cls, message: Message) -> Turn:
        clock = message.get("clock") or {}
        return cls(
            game=message["game"],
            ply=message["ply"],
            moves=message["moves"],
            legal=message["legal"],
            clock=Clock(clock.get("you"), clock.get("opponent")),
            budget_ms=message["budget_ms"],
            network_ms=message.get("network_ms", 0),
            variant=message.get("variant", "7x6"),
        )

    @property
    def side(self) -> Side:
        """Your side, which is the side to move."""
        return side_at(self.ply)

    def position(self) -> Position:
        """Returns the position to try moves on: `play`, `wins`, `legal`, `cell`."""
        return Position.from_moves(self.moves, Variant.parse(self.variant))

    def board(self) -> Grid:
        """Returns the cells as rows, bottom row first; each is "first", "second" or None."""
        return self.position().grid()

    def centre_first(self) -> list[int]:
        """Returns the legal columns, the most central first."""
        return centre_first(self.legal, Variant.parse(self.variant))


@dataclass(frozen=True)
class Player:
    name: str
    kind: str  # human, bot or guest
    elo: float | None  # None while unrated

    @classmethod
    def read(cls, message: Message) -> Player:
        rating = message.get("rating") or {}
        return cls(message.get("name", "?"), message.get("kind", "?"), rating.get("elo"))


@dataclass(frozen=True)
class Game:
    """A game of yours. `opponent`, `rated` and `time` are None only if the server never sent the game's snapshot."""

    id: str
    side: Side
    opponent: Player | None = None
    rated: bool | None = None
    time: Message | None = None  # bank_ms, increment_ms, move_ms
    variant: str = "7x6"

    @classmethod
    def read(cls, message: Message) -> Game:
        side: Side = message["you"]
        return cls(
            id=message["game"],
            side=side,
            opponent=Player.read(message["players"][other(side)]),
            rated=message.get("rated"),
            time=message.get("time"),
            variant=message.get("variant", "7x6"),
        )


Result = Literal["win", "draw", "loss", "void"]


@dataclass(frozen=True)
class GameEnd:
    """How a game ended, from your side. Ratings are None in an unrated game; `unrated_because` then may say why."""

    game: Game
    result: Result
    reason: str
    moves: str
    before: float | None = None
    after: float | None = None
    unrated_because: str | None = None

    @classmethod
    def read(cls, game: Game, message: Message) -> GameEnd:
        """Reads a `game_end`, or a snapshot of a game that is over."""
        rating = (message.get("rating") or {}).get(game.side) or {}
        return cls(
            game=game,
            result=_result_for(game.side, message["result"]),
            reason=message.get("reason", "?"),
            moves=message.get("moves", ""),
            before=rating.get("before"),
            after=rating.get("after"),
            unrated_because=message.get("unrated_because"),
        )

    def __str__(self) -> str:
        opponent = self.game.opponent.name if self.game.opponent else "?"
        rating = "unrated" if self.after is None else f"rating {_elo(self.before)} -> {_elo(self.after)}"
        because = f" ({self.unrated_because})" if self.unrated_because else ""
        return f"{self.game.id}: {self.result} against {opponent} ({self.reason}), {rating}{because}"


@dataclass(frozen=True)
class Problem:
    """An error of the server's (`code` as in the protocol), or of the bot's: `choose_failed`, `illegal_choice`."""

    code: str
    message: str
    game: str | None = None


def _result_for(side: Side, result: str) -> Result:
    if result in ("first", "second"):
        return "win" if result == side else "loss"
    return "draw" if result == "draw" else "void"


def _elo(value: float | None) -> str:
    return "new" if value is None else f"{value:.0f}"
