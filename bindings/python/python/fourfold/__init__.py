"""Connect Four from the Fourfold arena: the exact solver, the house bots, and environments to learn in.

>>> import fourfold
>>> fourfold.Position("44353").columns()[3] is not None
True
"""

from __future__ import annotations

import numpy as np

from ._engine import Bot, Position, Unsolved, __version__, bots, review
from ._engine import playouts as _playouts
from ._engine import solve_boards as _solve_boards

__all__ = [
    "Bot",
    "FULL",
    "Position",
    "Unsolved",
    "__version__",
    "board",
    "bots",
    "playouts",
    "review",
    "solve",
    "solve_boards",
]

#: The score of a column that cannot be played, in arrays.
FULL = -128


def solve(moves: str = "", variant: str = "7x6") -> int:
    """The exact score after these moves, for the side to move."""
    return Position(moves, variant).score()


def board(position: Position) -> np.ndarray:
    """The stones as an array of rows from the bottom: 1 the side to move, 2 its opponent, 0 empty."""
    cells = np.frombuffer(bytes(position.cells()), dtype=np.int8)
    return cells.reshape(position.height, position.width).copy()


def _bytes(boards: np.ndarray) -> bytes:
    boards = np.asarray(boards)
    if boards.size % 42 or (boards.size and boards.shape[-1] not in (7, 42)):
        raise ValueError(f"boards of shape {boards.shape}: (n, 6, 7) or (n, 42) is wanted")
    if boards.size and (boards.min() < 0 or boards.max() > 2):
        raise ValueError("a cell is 0, 1 or 2")
    return np.ascontiguousarray(boards, dtype=np.uint8).tobytes()


def solve_boards(boards: np.ndarray, threads: int = 0) -> np.ndarray:
    """The exact score of every column of many 7x6 boards, on all cores: int8 of shape (n, 7), FULL where there is none."""
    return np.frombuffer(_solve_boards(_bytes(boards), threads), dtype=np.int8).reshape(-1, 7).copy()


def playouts(boards: np.ndarray, games: int, seed: int = 0, threads: int = 0) -> np.ndarray:
    """How often the side to move won, drew and lost in random games from each board: uint32 of shape (n, 3)."""
    return np.frombuffer(_playouts(_bytes(boards), games, seed, threads), dtype="<u4").reshape(-1, 3).copy()
