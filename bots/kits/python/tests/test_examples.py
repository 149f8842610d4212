"""The example bots: the moves of the tactical one, and all of them, the README's too, as programs of their own."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import tactical_bot
from fake_server import TEST_S, TOKEN, FakeServer, Peer
from test_rules import turn_after

KIT = Path(__file__).parent.parent
STUBBORN = """
import threading
from fourfold_bot import run
run(lambda turn: threading.Event().wait(), name="stubborn", version="1")
"""


@pytest.mark.parametrize(
    ("moves", "column"),
    [
        ("", 4),  # the centre
        ("444444", 3),  # beside it when it is full
        ("747474", 7),  # wins rather than block in the centre
        ("171717", 1),  # the same the other way round
        ("41424", 4),  # blocks
        ("71727", 7),  # blocks far from the centre
    ],
)
def test_the_tactical_bot_wins_and_blocks(moves: str, column: int) -> None:
    assert tactical_bot.choose(turn_after(moves)) == column


def test_the_tactical_bot_does_not_play_under_a_threat() -> None:
    # . . . . . . O
    # . . . . X X X   Second in column 4 would let First in above it.
    # . . . . O O X
    assert tactical_bot.choose(turn_after("7576576")) == 3


async def start(server: FakeServer, *arguments: str) -> asyncio.subprocess.Process:
    environment = os.environ | {"FOURFOLD_URL": server.url, "FOURFOLD_TOKEN": TOKEN}
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=KIT, env=environment, stdout=pipe, stderr=pipe
    )


async def play_a_game(program: list[str], leave: bool) -> tuple[int | None, str]:
    """Referees one game of a program; returns its exit code and what it printed."""
    async with FakeServer() as server:
        process = await start(server, *program)
        peer = await server.accept()
        result = await peer.referee("g1", "second", seed=3)
        await (peer.leave() if leave else peer.socket.close(1000))
        output, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        return process.returncode, f"{result}\n{output.decode()}"


@pytest.mark.parametrize("name", ["random_bot", "tactical_bot"])
def test_an_example_plays_a_game_and_leaves(name: str) -> None:
    program = [f"examples/{name}.py", "--games", "1"]
    _, output = asyncio.run(asyncio.wait_for(play_a_game(program, leave=True), TEST_S))
    result, line, tally = output.splitlines()
    word = {"first": "loss", "second": "win", "draw": "draw"}[result]
    assert line.startswith(f"g1: {word} against rival (")
    assert "1 won" in tally or word != "win"


def test_the_bot_in_the_readme_plays_without_the_kit() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (KIT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    minimal = next(block for block in blocks if "fourfold_bot" not in block)
    assert len([line for line in minimal.splitlines() if line]) <= 20
    _, output = asyncio.run(asyncio.wait_for(play_a_game(["-c", minimal], leave=False), TEST_S))
    result, line = output.splitlines()
    assert line.startswith(f"g1 {result} by ")
    assert line.endswith(" - this bot was second")


@pytest.mark.parametrize("readme", [KIT / "README.md", KIT.parent.parent.parent / "README.md"])
def test_the_bots_in_the_readmes_survive_a_proxy_without_a_server(readme: Path) -> None:
    """502 is what a proxy says while the server starts again; 401 is for good."""

    async def statuses(minimal: str, statuses: list[int]) -> tuple[int | None, str]:
        asked: list[int] = []

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            asked.append(statuses[min(len(asked), len(statuses) - 1)])
            writer.write(f"HTTP/1.1 {asked[-1]} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            environment = os.environ | {"FOURFOLD_URL": f"ws://127.0.0.1:{port}", "FOURFOLD_TOKEN": TOKEN}
            pipe = asyncio.subprocess.PIPE
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", minimal, env=environment, stdout=pipe, stderr=pipe
            )
            _, errors = await process.communicate()
            assert asked == statuses
            return process.returncode, errors.decode()

    text = readme.read_text(encoding="utf-8")
    minimal = next(b for b in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "fourfold_bot" not in b)
    code, errors = asyncio.run(asyncio.wait_for(statuses(minimal, [502, 401]), TEST_S))
    assert code == 1
    assert "HTTP 401" in errors


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
def test_ctrl_c_drains_and_a_second_one_ends_even_a_bot_that_never_answers() -> None:
    async def both() -> tuple[int | None, str]:
        async with FakeServer() as server:
            process = await start(server, "-c", STUBBORN)
            peer = await server.accept()
            await peer.game("g1")
            await peer.turn("g1")
            await until_welcome_was_read(peer)
            process.send_signal(signal.SIGINT)
            assert (await peer.receive("bye"))["drain"] is True
            process.send_signal(signal.SIGINT)
            output, _ = await process.communicate()
            return process.returncode, output.decode()

    assert asyncio.run(asyncio.wait_for(both(), TEST_S)) == (0, "0 won, 0 drawn, 0 lost\n")


def test_a_refused_bot_exits_with_one_clear_line() -> None:
    async def both() -> tuple[int | None, str]:
        async with FakeServer() as server:
            process = await start(server, "examples/random_bot.py")
            peer = await server.accept()
            await peer.socket.close(4409)
            _, errors = await process.communicate()
            return process.returncode, errors.decode()

    code, errors = asyncio.run(asyncio.wait_for(both(), TEST_S))
    assert code == 1
    assert errors.splitlines()[-1] == "fourfold_bot: a newer connection of the same bot has taken over"


async def until_welcome_was_read(peer: Peer) -> None:
    """A challenge is answered in order, so its answer shows that the messages before it were read."""
    await peer.send("challenge", challenge="c1")
    await peer.receive("accept")


KAGGLE_QUESTION = (
    '{"observation":{"board":[2,0],"mark":1,"step":3,"remainingOverageTime":9.5},'
    '"configuration":{"columns":7,"rows":6,"inarow":4,"actTimeout":2,"timeout":2}}\n'
)


@pytest.mark.parametrize(
    ("agent", "column"),
    [
        ("def agent(observation, configuration):\n    return observation.board[0]", 2),
        ("def agent(obs, config):\n    return obs['mark'] + config['rows'] - config.inarow", 3),
        ("def agent(obs):\n    return obs['board'][0]", 2),
        ("def helper():\n    return 0\n\ndef my_agent(obs, config):\n    return 5", 5),
        ("my_agent = lambda obs, config: 6", 6),
        ("def agent(obs):\n    return getattr(obs, 'legal', 4) if not hasattr(obs, 'legal') else 0", 4),
        ("import copy\n\ndef agent(obs):\n    return copy.deepcopy(obs).board[0] + copy.copy(obs)['mark']", 3),
        ("def agent(obs):\n    obs.board[1], obs.mine = 5, 1\n    return obs['board'][1] + obs['mine']", 6),
        ("from beside import COLUMN\n\ndef agent(obs):\n    return COLUMN", 5),
        ("from dataclasses import dataclass\n\n@dataclass\nclass Best:\n    at: int = 2\n\n"
         "def agent(obs):\n    return Best().at", 2),
    ],
)
def test_connectx_agents_run_as_kaggle_runs_them(tmp_path: Path, agent: str, column: int) -> None:
    (tmp_path / "agent.py").write_text(agent)
    (tmp_path / "beside.py").write_text("COLUMN = 5\n")
    command = [sys.executable, str(KIT / "examples" / "kaggle_agent.py"), str(tmp_path / "agent.py")]
    said = subprocess.run(command, input=KAGGLE_QUESTION, capture_output=True, text=True, timeout=30, check=True)
    assert said.stdout == f"{column}\n"
