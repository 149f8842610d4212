"""An environment of Gymnasium: one side against a house bot.

>>> import gymnasium, fourfold.gym
>>> env = gymnasium.make("fourfold/ConnectFour-v0", opponent="negamax:depth=4")
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from . import Bot, Position, board


class ConnectFourEnv(gymnasium.Env):
    """Observations are two planes of the board, rows from the bottom: one's own stones and the opponent's. Actions are
    columns from 0. The reward is 1 for a win, -1 for a loss or an illegal move, which ends the game, and 0 otherwise.
    ``info["action_mask"]`` says which columns can be played."""

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, opponent: str = "random", side: str = "alternate", render_mode: str | None = None):
        if side not in ("first", "second", "alternate"):
            raise ValueError(f"side is {side!r}: first, second or alternate are")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode is {render_mode!r}: ansi is")
        Bot(opponent)  # a mistake is told at once
        self.opponent_spec = opponent
        self.side = side
        self.render_mode = render_mode
        self.observation_space = spaces.Box(0, 1, (2, 6, 7), dtype=np.int8)
        self.action_space = spaces.Discrete(7)
        self._position = Position()
        self._is_first = True
        self._games = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        if seed is not None:
            self._games = 0
        # Bots that draw get a new seed for each game, from the environment's own.
        self._bot = Bot(self.opponent_spec, seed=int(self.np_random.integers(2**63)))
        self._is_first = self.side == "first" or (self.side == "alternate" and self._games % 2 == 0)
        self._games += 1
        self._position = Position((options or {}).get("moves", ""))
        if self._position.is_over:
            raise ValueError("moves: the game is over")
        if (self._position.side == "first") != self._is_first:
            self._answer()
        return self._observation(), self._info()

    def step(self, action: int):
        if self._position.is_over:
            raise RuntimeError("the game is over: reset")
        column = int(action) + 1
        if column not in self._position.legal:
            return self._observation(), -1.0, True, False, {**self._info(), "illegal": True}
        self._position = self._position.play(column)
        if not self._position.is_over:
            self._answer()
        outcome = self._position.outcome
        won = {None: 0.0, "draw": 0.0, "first": 1.0, "second": -1.0}[outcome]
        reward = won if self._is_first else -won
        return self._observation(), reward, outcome is not None, False, self._info()

    def render(self):
        return str(self._position) if self.render_mode == "ansi" else None

    @property
    def position(self) -> Position:
        """The position at hand."""
        return self._position

    def _answer(self) -> None:
        self._position = self._position.play(self._bot.choose(self._position))

    def _observation(self) -> np.ndarray:
        cells = board(self._position)
        is_mine = (self._position.side == "first") == self._is_first
        mine, theirs = (1, 2) if is_mine else (2, 1)
        return np.stack([cells == mine, cells == theirs]).astype(np.int8)

    def _info(self) -> dict[str, Any]:
        mask = np.zeros(7, dtype=np.int8)
        mask[[column - 1 for column in self._position.legal]] = 1
        return {"action_mask": mask, "moves": self._position.moves}


gymnasium.register(id="fourfold/ConnectFour-v0", entry_point=ConnectFourEnv)
