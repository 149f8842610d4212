"""Play Connect Four on a Fourfold server: write `choose(turn) -> column`, call `run`."""

from .client import Client
from .connection import Refused
from .duels import Duel, DuelEnd
from .rules import Position, Side, Variant, centre_first, other
from .runner import run
from .settings import Choose, Hooks, Settings, Tally
from .turn import Clock, Game, GameEnd, Player, Problem, Resigned, Turn

__version__ = "0.1.0"

__all__ = [
    "Choose", "Client", "Clock", "Duel", "DuelEnd", "Game", "GameEnd", "Hooks", "Player", "Position", "Problem",
    "Refused", "Resigned", "Settings", "Side", "Tally", "Turn", "Variant", "centre_first", "other", "run",
]  # fmt: skip
