"""The environments against the checks of those who define them."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

import fourfold.gym
import fourfold.zoo


@pytest.mark.parametrize("opponent", ["random", "negamax:depth=2"])
@pytest.mark.parametrize("side", ["first", "second", "alternate"])
def test_gymnasium_finds_nothing_wrong(opponent, side):
    env = gymnasium.make("fourfold/ConnectFour-v0", opponent=opponent, side=side)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Other actions in the same order may be illegal and end a game: that is the environment's rule.
        check_env(env.unwrapped, skip_render_check=True)


def test_a_game_of_gymnasium_is_won_and_lost():
    env = fourfold.gym.ConnectFourEnv(opponent="stupid", side="first")
    env.reset(seed=1)
    for action, reward, is_over in [(3, 0, False), (3, 0, False), (3, 0, False), (3, 1, True)]:
        observation, got, terminated, truncated, info = env.step(action)
        assert (got, terminated, truncated) == (reward, is_over, False)
    assert observation[0].sum() == 4 and observation[1].sum() == 3 and info["moves"] == "4141414"
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)
    env.reset(options={"moves": "111111"})
    assert env.step(0)[1:3] == (-1.0, True)
    with pytest.raises(ValueError, match="over"):
        env.reset(options={"moves": "1212121"})
    second = fourfold.gym.ConnectFourEnv(opponent="negamax:depth=6", side="second")
    second.reset(seed=1)
    while True:
        action = int(np.flatnonzero(second._info()["action_mask"])[0])
        _, reward, is_over, _, _ = second.step(action)
        if is_over:
            break
    assert reward == -1


def test_pettingzoo_finds_nothing_wrong():
    api_test(fourfold.zoo.env(), num_cycles=200, verbose_progress=False)
    seed_test(fourfold.zoo.env, num_cycles=20)
