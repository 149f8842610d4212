"""A game with the interface of OpenSpiel's `pyspiel`, for programs that are written against it."""

from __future__ import annotations

import numpy as np

from . import Position, board

#: OpenSpiel's player of a state that is over.
TERMINAL = -4


class Game:
    def new_initial_state(self) -> "State":
        return State()

    def num_distinct_actions(self) -> int:
        return 7

    def num_players(self) -> int:
        return 2

    def max_game_length(self) -> int:
        return 42

    def min_utility(self) -> float:
        return -1.0

    def max_utility(self) -> float:
        return 1.0

    def observation_tensor_shape(self) -> list[int]:
        return [3, 6, 7]


class State:
    def __init__(self, position: Position | None = None):
        self.position = Position() if position is None else position

    def current_player(self) -> int:
        if self.position.is_over:
            return TERMINAL
        return 0 if self.position.side == "first" else 1

    def legal_actions(self) -> list[int]:
        return [column - 1 for column in self.position.legal]

    def legal_actions_mask(self) -> list[int]:
        legal = self.legal_actions()
        return [int(action in legal) for action in range(7)]

    def apply_action(self, action: int) -> None:
        self.position = self.position.play(action + 1)

    def child(self, action: int) -> "State":
        return State(self.position.play(action + 1))

    def clone(self) -> "State":
        return State(self.position)

    def is_terminal(self) -> bool:
        return self.position.is_over

    def returns(self) -> list[float]:
        first = {None: 0.0, "draw": 0.0, "first": 1.0, "second": -1.0}[self.position.outcome]
        return [first, -first]

    def history(self) -> list[int]:
        return [int(digit, 36) - 1 for digit in self.position.moves]

    def observation_tensor(self, player: int | None = None) -> list[float]:
        """Planes of the second side's stones, the first side's and the empty cells, as OpenSpiel orders them."""
        cells = board(self.position)
        is_first = self.position.side == "first"
        first, second = (1, 2) if is_first else (2, 1)
        planes = np.stack([cells == second, cells == first, cells == 0])
        return planes.astype(np.float32).ravel().tolist()

    def __str__(self) -> str:
        return str(self.position)


def load_game(name: str = "connect_four") -> Game:
    if name != "connect_four":
        raise ValueError(f"{name!r}: connect_four is all there is here")
    return Game()
