"""The rules of the board: variants, positions, lines. No sockets, no clock, no randomness.

Columns and rows count from 1, left to right and from the bottom, as on the wire.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

Side = Literal["first", "second"]
Grid = list[list[Optional[Side]]]

_DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))  # along a row, a column, and the two diagonals


def other(side: Side) -> Side:
    """Returns the opponent of `side`."""
    return "second" if side == "first" else "first"


def side_at(ply: int) -> Side:
    """Returns the side to move when `ply` stones are on the board."""
    return "first" if ply % 2 == 0 else "second"


@dataclass(frozen=True)
class Variant:
    """The board's size and the length of a winning line, written `WxH` or `WxHxK` (K is 4 when left out)."""

    width: int = 7
    height: int = 6
    line: int = 4

    @classmethod
    def parse(cls, text: str) -> Variant:
        """Reads `7x6` or `7x6x4`; raises ValueError for anything else."""
        numbers = [int(part) for part in text.split("x")]
        if len(numbers) not in (2, 3):
            raise ValueError(f"not a variant: {text!r}")
        return cls(*numbers)


@dataclass(frozen=True)
class Position:
    """Stones plus who plays: a tuple of sides for each column, bottom stone first. `play` gives a new position."""

    variant: Variant
    columns: tuple[tuple[Side, ...], ...]

    @classmethod
    def from_moves(cls, moves: str, variant: Variant = Variant()) -> Position:
        """Replays a move string, one base-36 column digit a move; raises ValueError for a move that is not legal."""
        position = cls(variant, ((),) * variant.width)
        for digit in moves:
            position = position.play(int(digit, 36))
        return position

    @property
    def ply(self) -> int:
        return sum(map(len, self.columns))

    @property
    def side(self) -> Side:
        """The side to move."""
        return side_at(self.ply)

    def legal(self) -> list[int]:
        """Returns the columns that are not full. (Whether the game is over is the server's to say.)"""
        return [column for column in range(1, self.variant.width + 1) if not self._is_full(column)]

    def cell(self, column: int, row: int) -> Side | None:
        """Returns whose stone lies there; None for an empty cell and for one off the board."""
        if not 1 <= column <= self.variant.width:
            return None
        stones = self.columns[column - 1]
        return stones[row - 1] if 1 <= row <= len(stones) else None

    def play(self, column: int) -> Position:
        """Returns the position after the side to move plays `column`; raises ValueError if it cannot."""
        if not 1 <= column <= self.variant.width or self._is_full(column):
            raise ValueError(f"column {column} is full or off the board")
        index = column - 1
        stones = (*self.columns[index], self.side)
        return Position(self.variant, (*self.columns[:index], stones, *self.columns[index + 1 :]))

    def wins(self, column: int, side: Side | None = None) -> bool:
        """Tests whether a stone in `column` would complete a line, for the side to move or for `side`."""
        if column not in self.legal():
            return False
        owner = side or self.side
        row = len(self.columns[column - 1]) + 1
        return any(
            1 + self._run(column, row, dx, dy, owner) + self._run(column, row, -dx, -dy, owner) >= self.variant.line
            for dx, dy in _DIRECTIONS
        )

    def grid(self) -> Grid:
        """Returns the cells as rows, the bottom row first: column c, row r is `grid[r - 1][c - 1]`."""
        columns = range(1, self.variant.width + 1)
        return [[self.cell(column, row) for column in columns] for row in range(1, self.variant.height + 1)]

    def __str__(self) -> str:
        """Draws the board, top row first: `X` is First, `O` is Second."""
        marks = {"first": "X", "second": "O", None: "."}
        return "\n".join(" ".join(marks[cell] for cell in row) for row in reversed(self.grid()))

    def _is_full(self, column: int) -> bool:
        return len(self.columns[column - 1]) >= self.variant.height

    def _run(self, column: int, row: int, dx: int, dy: int, side: Side) -> int:
        """Counts the stones of `side` in one direction, starting next to the cell."""
        length = 0
        while self.cell(column + dx * (length + 1), row + dy * (length + 1)) == side:
            length += 1
        return length


def centre_first(columns: list[int], variant: Variant) -> list[int]:
    """Sorts columns by their distance from the middle, the left one first where two are as near."""
    return sorted(columns, key=lambda column: (abs(2 * column - variant.width - 1), column))
