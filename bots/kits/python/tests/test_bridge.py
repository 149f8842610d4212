"""The bridge: questions in each dialect, programs that answer, and those that fail."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_server import FakeServer, play

from fourfold_bot import Client, Hooks, Refused, Resigned, Turn
from fourfold_bot.bridge import DIALECTS, Bridge, arguments
from fourfold_bot.turn import Clock

TIME = {"bank_ms": 60_000, "increment_ms": 100, "move_ms": None}


def turn_after(moves: str, legal: list[int] | None = None, budget_ms: int = 60_000) -> Turn:
    columns = legal or [1, 2, 3, 4, 5, 6, 7]
    return Turn("g1", len(moves), moves, columns, Clock(60_000, 60_000), budget_ms, 0, "7x6")


def program(folder: Path, text: str) -> list[str]:
    (folder / "program.py").write_text(text)
    return [sys.executable, "-u", str(folder / "program.py")]


def test_questions_are_those_of_the_rust_bridge() -> None:
    ask = {name: dialect[0] for name, dialect in DIALECTS.items()}
    turn = turn_after("441")
    assert ask["simple"](turn, 60.0, 1.5, TIME) == "7x6 1500 441\n"
    assert ask["simple"](turn_after(""), 60.0, 1.5, TIME) == "7x6 1500 -\n"
    question = json.loads(ask["kaggle"](turn, 60.0, 1.5, TIME))
    board = question["observation"].pop("board")
    assert (len(board), board[28:35], board[35:]) == (42, [0, 0, 0, 2, 0, 0, 0], [1, 0, 0, 1, 0, 0, 0])
    assert question["observation"] == {"mark": 2, "step": 3, "remainingOverageTime": 58.5}
    assert question["configuration"] == {
        "columns": 7, "rows": 6, "inarow": 4, "actTimeout": 1.5, "timeout": 1.5, "episodeSteps": 1000,
    }  # fmt: skip
    assert ask["aigames"](turn, 60.0, 1.5, TIME) == (
        "settings timebank 60000\nsettings time_per_move 100\nsettings player_names player1,player2\n"
        "settings your_bot player2\nsettings your_botid 2\nsettings field_columns 7\nsettings field_rows 6\n"
        "update game round 2\n"
        "update game field 0,0,0,0,0,0,0;0,0,0,0,0,0,0;0,0,0,0,0,0,0;0,0,0,0,0,0,0;0,0,0,2,0,0,0;1,0,0,1,0,0,0\n"
        "action move 60000\n"
    )


@pytest.mark.parametrize(
    ("dialect", "line", "column"),
    [
        ("simple", "4", 4), ("simple", "x", None), ("simple", "-1", None), ("simple", "4.0", None),
        ("simple", "", None),
        ("kaggle", "3", 4), ("kaggle", "None", None), ("aigames", "place_disc 3", 4), ("aigames", "3", None),
        ("aigames", "place_disc x", None),
    ],
)  # fmt: skip
def test_answers_are_read_as_the_dialect_has_them(dialect: str, line: str, column: int | None) -> None:
    assert DIALECTS[dialect][1](line) == column


@pytest.mark.parametrize(
    ("text", "kind", "note"),
    [
        ("import sys\nsys.exit(3)", "left", "exited with code 3"),
        ("for _ in iter(input, None): print('d')", "illegal", "'d' is no move: expected a column from 1, such as 4"),
        ("for _ in iter(input, None): print(9)", "illegal", "column 9 is not on a board of 7 columns, after -; does it"),
        ("import time\ntime.sleep(60)", "time", "does it flush its output"),
    ],
)
def test_a_program_that_fails_resigns_with_the_reason(tmp_path: Path, text: str, kind: str, note: str) -> None:
    bridge = Bridge(program(tmp_path, text), "simple")
    try:
        with pytest.raises(Resigned, match=note) as failed:
            bridge.choose(turn_after("", budget_ms=400 if kind == "time" else 20_000))
        assert failed.value.kind == kind
    finally:
        bridge.end()


def test_a_full_column_is_named_as_such(tmp_path: Path) -> None:
    bridge = Bridge(program(tmp_path, "for _ in iter(input, None): print(3)"), "simple")
    try:
        with pytest.raises(Resigned, match="column 3 is full, after 333333; does it"):
            bridge.choose(turn_after("333333", [1, 2, 4, 5, 6, 7]))
    finally:
        bridge.end()


def test_a_program_plays_and_the_server_hears_why_it_fails(tmp_path: Path) -> None:
    # Answers twice and dies; the next process does the same.
    bridge = Bridge(program(tmp_path, "print(input()[-1:] and 4)\nprint(input()[-1:] and 5)\ninput()\n"), "simple")

    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        for game in ("g1", "g2"):
            await peer.game(game)
            await peer.turn(game)
            assert await peer.expect_move(game, 0) == 4
            await peer.turn(game, "44")
            assert await peer.expect_move(game, 2) == 5
            await peer.turn(game, "4455")
            resigned = await peer.receive("resign")
            assert resigned["fault"] == {"kind": "left", "note": "exited with code 0"}
            await peer.turn(game, "4455")  # as after a lost connection
            assert (await peer.receive("resign"))["game"] == game
            await peer.game_end(game, "second")

    hooks = Hooks(on_game_start=bridge.game_starts, on_game_end=bridge.game_ends)
    try:
        with pytest.raises(Refused, match="2 games in a row were lost by a fault"):
            play(script, bridge.choose, hooks, faults_max=2)
    finally:
        bridge.end()


def test_flags_are_read_and_the_rest_is_the_program() -> None:
    wanted: Any = arguments(["--dialect", "kaggle", "--games", "2", "--", "./mybot", "--depth", "8"])
    assert (wanted.dialect, wanted.games, wanted.command) == ("kaggle", 2, ["./mybot", "--depth", "8"])
    with pytest.raises(SystemExit):
        arguments(["--dialect", "chess", "x"])
