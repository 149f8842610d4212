"""Play Connect Four on a Fourfold server: write `choose(turn) -> column`."""

from .rules import Position, Side, Variant, centre_first, other
from .turn import Clock, Game, GameEnd, Player, Problem, Turn

__version__ = "0.1.0"

__all__ = [
    "Clock", "Game", "GameEnd", "Player", "Position", "Problem", "Side", "Turn", "Variant", "centre_first", "other",
]  # fmt: skip
