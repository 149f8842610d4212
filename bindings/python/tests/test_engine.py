"""The engine against what is known, and its manners as a Python module."""

import pickle
import threading
import time

import numpy as np
import pytest

import fourfold
from fourfold import Bot, Position, Unsolved, spiel


def test_positions_follow_the_rules():
    start = Position()
    assert (start.ply, start.side, start.legal, start.outcome) == (0, "first", [1, 2, 3, 4, 5, 6, 7], None)
    won = Position("1212121")
    assert (won.outcome, won.is_over, won.legal) == ("first", True, [])
    assert Position("121212").winning == [1]
    assert start.play(4) == Position("4") and hash(start.play(4)) == hash(Position("4"))
    assert Position("1").canonical_key == Position("7").canonical_key != Position("2").canonical_key
    assert Position("5", variant="9x6x5").width == 9
    assert pickle.loads(pickle.dumps(Position("44"))) == Position("44")
    for moves, words in [("8", "column 8"), ("1111111", "full"), ("1212121" + "1", "over"), ("x", "not a column")]:
        with pytest.raises(ValueError, match=words):
            Position(moves)
    for column in (0, 8, 300):
        with pytest.raises(ValueError):
            start.play(column)
    with pytest.raises(OverflowError):
        start.play(-1)


def test_scores_are_exact():
    assert Position().columns() == [-2, -1, 0, 1, 0, -1, -2]
    assert (fourfold.solve(), fourfold.solve("121212"), Position("44").value()) == (1, 18, 1)
    assert Position("4").best() == [4]
    assert Position("111111").columns()[0] is None
    verdicts = fourfold.review("1212121")
    assert verdicts[0]["mistake"] == "win_to_loss"
    assert verdicts[6] == {"ply": 6, "side": "first", "column": 1, "before": 18, "after": 18, "best": [1], "mistake": None}


def test_limits_leave_bounds():
    hard = Position("5", variant="9x6x5")
    for limit in ({"nodes": 1000}, {"seconds": 0.05}):
        with pytest.raises(Unsolved) as caught:
            hard.score(**limit)
        assert caught.value.lower < caught.value.upper and caught.value.nodes > 0
    with pytest.raises(ValueError, match="seconds"):
        hard.score(seconds=-1.0)


def test_other_threads_run_meanwhile():
    counted = 0
    done = threading.Event()

    def solve():
        with pytest.raises(Unsolved):
            Position("5", variant="9x6x5").score(seconds=0.5)
        done.set()

    thread = threading.Thread(target=solve)
    thread.start()
    while not done.is_set():
        counted += 1
        time.sleep(0.001)
    thread.join()
    assert counted > 50


def test_batches_say_what_single_positions_do():
    positions = [Position(moves) for moves in ("", "44", "121212", "111111", "4435267")]
    boards = np.stack([fourfold.board(position) for position in positions])
    scores = fourfold.solve_boards(boards, threads=2)
    assert (scores.dtype, scores.shape) == (np.int8, (5, 7))
    for position, row in zip(positions, scores):
        assert [None if score == fourfold.FULL else int(score) for score in row] == position.columns()
    games = fourfold.playouts(boards, games=200, seed=7)
    assert (games.sum(axis=1) == 200).all() and (games == fourfold.playouts(boards, 200, 7, threads=1)).all()
    assert games[2, 0] > 100 > games[2, 2], "three in a row wins most random games"
    assert fourfold.solve_boards(np.zeros((0, 6, 7))).shape == (0, 7)
    floating = np.zeros((1, 6, 7), dtype=np.int8)
    floating[0, 3, 3] = 1
    for wrong, words in [(floating, "nothing below"), (np.full((1, 42), 3), "0, 1 or 2"), (np.zeros(41), "shape")]:
        with pytest.raises(ValueError, match=words):
            fourfold.solve_boards(wrong)


def test_bots_play():
    position = Position("121212")
    assert Bot("negamax:depth=2").choose(position) == 1
    column, score, depth, nodes, line = Bot("cutoff").analyse(position)
    assert (column, score, line) == (1, 1_000_000, [1])
    assert Bot("random", seed=7).choose(position) == Bot("random", seed=7).choose(position)
    assert "perfect" in dict(fourfold.bots())
    with pytest.raises(ValueError, match="did you mean"):
        Bot("randon")
    with pytest.raises(ValueError, match="plays 7x6"):
        Bot("random").choose(Position(variant="9x6x5"))
    with pytest.raises(ValueError, match="over"):
        Bot("random").choose(Position("1212121"))


def test_states_are_those_of_open_spiel():
    state = spiel.load_game("connect_four").new_initial_state()
    for action in [0, 1] * 3:
        state.apply_action(action)
    assert (state.current_player(), state.legal_actions(), state.returns()) == (0, list(range(7)), [0, 0])
    over = state.child(0)
    assert (over.is_terminal(), over.current_player(), over.returns()) == (True, spiel.TERMINAL, [1, -1])
    assert len(state.observation_tensor()) == 126 and state.history() == [0, 1, 0, 1, 0, 1]
