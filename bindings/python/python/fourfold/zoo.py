"""An environment of PettingZoo for two learners.

>>> import fourfold.zoo
>>> env = fourfold.zoo.env()
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from . import Position, board


def env(render_mode: str | None = None) -> AECEnv:
    """The environment with the usual wrappers: illegal moves lose, and misuse is told."""
    game = raw_env(render_mode=render_mode)
    game = wrappers.TerminateIllegalWrapper(game, illegal_reward=-1)
    game = wrappers.AssertOutOfBoundsWrapper(game)
    return wrappers.OrderEnforcingWrapper(game)


class raw_env(AECEnv):
    """Observations are dictionaries: ``observation`` (rows from the bottom, two planes: one's own stones and the other's)
    and ``action_mask``. Actions are columns from 0; rewards 1, 0 and -1 at the end."""

    metadata = {"render_modes": ["ansi"], "name": "fourfold_v0", "is_parallelizable": False}

    def __init__(self, render_mode: str | None = None):
        super().__init__()
        self.render_mode = render_mode
        self.possible_agents = ["first", "second"]
        self.agents = self.possible_agents[:]
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, 1, (6, 7, 2), dtype=np.int8),
                    "action_mask": spaces.Box(0, 1, (7,), dtype=np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(7) for agent in self.possible_agents}
        self._position = Position()

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def reset(self, seed=None, options=None):
        self._position = Position((options or {}).get("moves", ""))
        if self._position.is_over:
            raise ValueError("moves: the game is over")
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self._position.side

    def observe(self, agent):
        cells = board(self._position)
        mine, theirs = (1, 2) if self._position.side == agent else (2, 1)
        mask = np.zeros(7, dtype=np.int8)
        if agent == self.agent_selection:
            mask[[column - 1 for column in self._position.legal]] = 1
        planes = np.stack([cells == mine, cells == theirs], axis=-1).astype(np.int8)
        return {"observation": planes, "action_mask": mask}

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            return self._was_dead_step(action)
        self._cumulative_rewards[agent] = 0
        self._position = self._position.play(int(action) + 1)
        outcome = self._position.outcome
        if outcome is not None:
            first = {"draw": 0, "first": 1, "second": -1}[outcome]
            self.rewards = {"first": first, "second": -first}
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.rewards = dict.fromkeys(self.agents, 0)
        self.agent_selection = "second" if agent == "first" else "first"
        self._accumulate_rewards()

    def render(self):
        return str(self._position) if self.render_mode == "ansi" else None

    def close(self):
        pass
