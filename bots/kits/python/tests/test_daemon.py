"""The kit against the real daemon. `FOURFOLD_BIN` names the binary; without it these tests are skipped, and say so."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import urllib.request
from pathlib import Path
from typing import Any, Awaitable, Callable

import pytest
import random_bot
import tactical_bot

from fourfold_bot import Client, Duel, GameEnd, Hooks, Refused, Settings, Tally, Turn

BINARY = os.environ.get("FOURFOLD_BIN")
START_S = 30  # to be ready, and to stop
TEST_S = 180  # the ladder decides when a game starts
RATED = {"rated": True}

pytestmark = pytest.mark.skipif(not BINARY, reason="FOURFOLD_BIN is not set: NOT tested against the daemon")


class Daemon:
    """A daemon of the test's own, on a free port with an empty data directory."""

    def __init__(self, folder: Path) -> None:
        self.binary = str(Path(BINARY or "").resolve())
        self.address = "127.0.0.1:0"
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Daemon:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end(signal.SIGTERM)

    @property
    def url(self) -> str:
        return f"ws://{self.address}/api/v1/socket"

    async def start(self) -> None:
        """Starts it, on the same port as before if it had one, and waits until it listens."""
        arguments = ["serve", "--listen", self.address, "--data", str(self._data)]
        with open(self._folder / "daemon.log", "ab") as errors:
            self._process = await asyncio.create_subprocess_exec(
                self.binary, *arguments, stdout=asyncio.subprocess.PIPE, stderr=errors
            )
        assert self._process.stdout is not None
        self.address = await asyncio.wait_for(self._read_address(self._process.stdout), START_S)

    async def end(self, how: signal.Signals) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.send_signal(how)
        try:
            await asyncio.wait_for(self._process.wait(), START_S)
        except asyncio.TimeoutError:
            self._process.kill()
            raise

    async def bot(self, name: str, owner: str) -> str:
        """Makes an account and a bot of its own; returns the token."""
        await self._command("account", "create", owner, "--password-stdin", text="correct horse battery staple\n")
        made = json.loads(await self._command("bot", "create", name, "--owner", owner, "--json"))
        assert made["name"] == name
        return str(made["token"])

    async def fetch(self, path: str) -> Any:
        def blocking() -> Any:
            with urllib.request.urlopen(f"http://{self.address}/api/v1/{path}", timeout=10) as answer:
                return json.load(answer)

        return await asyncio.get_running_loop().run_in_executor(None, blocking)

    def client(self, token: str, choose: Callable[[Turn], int], hooks: Hooks = Hooks(), **more: Any) -> Client:
        # One game at once: otherwise another may begin before the server hears that there are enough.
        once = {"accepts": RATED, "max_games": 1}
        settings = Settings(name="kit-test", version="1", url=self.url, token=token, **once, **more)
        return Client(choose, settings, hooks)

    def errors(self) -> str:
        return (self._folder / "daemon.log").read_text(encoding="utf-8", errors="replace")[-4000:]

    async def _read_address(self, output: asyncio.StreamReader) -> str:
        prefix = "listening on http://"
        while not (line := (await output.readline()).decode()).startswith(prefix):
            assert line, f"the daemon ended before it listened:\n{self.errors()}"
        return line.removeprefix(prefix).strip()

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    async def _command(self, *arguments: str, text: str = "") -> bytes:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            self.binary, *arguments, "--data", str(self._data), stdin=pipe, stdout=pipe, stderr=pipe
        )
        output, errors = await asyncio.wait_for(process.communicate(text.encode()), START_S)
        assert process.returncode == 0, f"{' '.join(arguments)}: {errors.decode()}"
        return output


def against_daemon(folder: Path, test: Callable[[Daemon], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with Daemon(folder) as daemon:
            await test(daemon)

    asyncio.run(asyncio.wait_for(whole(), TEST_S))


def games_of(tally: Tally) -> int:
    return tally.win + tally.draw + tally.loss


def test_two_bots_play_rated_games_that_are_on_record(tmp_path: Path) -> None:
    ends: list[GameEnd] = []

    async def test(daemon: Daemon) -> None:
        hooks = Hooks(on_game_end=ends.append)
        clients = [
            daemon.client(await daemon.bot("alpha", "alice"), random_bot.choose, hooks, games=2),
            daemon.client(await daemon.bot("beta", "bob"), tactical_bot.choose, hooks, games=2),
        ]
        for tally in await asyncio.gather(*(client.play() for client in clients)):
            assert (games_of(tally), tally.void) == (2, 0)
        for end in ends:
            assert end.game.rated is True
            assert end.after is not None or end.unrated_because is not None, end
            record = await daemon.fetch(f"games/{end.game.id}")
            assert (record["moves"], record["reason"]) == (end.moves, end.reason)
            assert record["players"][end.game.side]["name"] in ("alpha", "beta")

    against_daemon(tmp_path, test)
    assert len(ends) == 4
    assert any(end.after is not None for end in ends), "no game was rated"


def test_a_game_survives_lost_connections(tmp_path: Path) -> None:
    async def test(daemon: Daemon) -> None:
        loop = asyncio.get_running_loop()
        drops: list[int] = []

        def choose(turn: Turn) -> int:
            if turn.ply // 2 in (1, 3):  # after our first and our third move
                drops.append(turn.ply)
                loop.call_soon_threadsafe(cut_the_line)
            return tactical_bot.choose(turn)

        def cut_the_line() -> None:
            socket = client._connection._socket  # what a network does is not in the interface
            if socket is not None:
                socket.transport.abort()

        client = daemon.client(await daemon.bot("alpha", "alice"), choose, games=1)
        tally = await client.play()
        assert (games_of(tally), tally.void) == (1, 0)
        assert drops == sorted(set(drops)) and drops, "a turn was thought over twice"

    against_daemon(tmp_path, test)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like SIGKILL there")
def test_a_game_survives_a_daemon_that_is_killed(tmp_path: Path) -> None:
    ends: list[GameEnd] = []
    moves_before: list[str] = []

    async def test(daemon: Daemon) -> None:
        loop = asyncio.get_running_loop()

        def choose(turn: Turn) -> int:
            if turn.ply >= 4 and not moves_before:
                moves_before.append(turn.moves)
                asyncio.run_coroutine_threadsafe(kill_and_restart(), loop).result(2 * START_S)
            return random_bot.choose(turn)

        async def kill_and_restart() -> None:
            await daemon.end(signal.SIGKILL)
            await daemon.start()

        token = await daemon.bot("alpha", "alice")
        tally = await daemon.client(token, choose, Hooks(on_game_end=ends.append), games=1).play()
        assert (games_of(tally), tally.void) == (1, 0)

    against_daemon(tmp_path, test)
    assert ends[0].moves.startswith(moves_before[0]), "a move that was acknowledged is gone"


def test_a_house_bot_is_asked_for_games(tmp_path: Path) -> None:
    ends: list[GameEnd] = []

    async def test(daemon: Daemon) -> None:
        token = await daemon.bot("alpha", "alice")
        hooks = Hooks(on_game_end=ends.append)
        client = daemon.client(token, random_bot.choose, hooks, opponent="greedy", games=3)
        assert games_of(await client.play()) == 3
        with pytest.raises(Refused, match="nobody-here does not play"):
            await daemon.client(token, random_bot.choose, opponent="nobody-here").play()

    against_daemon(tmp_path, test)
    assert {end.game.opponent.name for end in ends if end.game.opponent} == {"greedy"}
    assert not any(end.game.rated for end in ends)


def test_a_duel_is_played_over_a_kill_of_the_daemon_and_judged(tmp_path: Path, capsys: Any) -> None:
    kills: list[int] = []

    async def test(daemon: Daemon) -> None:
        loop = asyncio.get_running_loop()

        def choose(turn: Turn) -> int:
            if turn.ply >= 10 and not kills:
                kills.append(turn.ply)
                asyncio.run_coroutine_threadsafe(kill_and_restart(), loop).result(2 * START_S)
            return tactical_bot.choose(turn)

        async def kill_and_restart() -> None:
            await daemon.end(signal.SIGKILL)
            await daemon.start()

        token = await daemon.bot("alpha", "alice")
        assert games_of(await daemon.client(token, choose, duel=Duel("random", pairs=1)).play()) == 2
        with pytest.raises(Refused, match="no duel: opponent is a bot of the house"):
            await daemon.client(token, random_bot.choose, duel=Duel("nobody-here")).play()

    against_daemon(tmp_path, test)
    assert kills
    said = capsys.readouterr().out
    assert re.search(r"duel against random: (open|stronger), \+\d =\d -\d, .* Elo .*: http://.*/duel/\w+-d$", said, re.M), said


def test_a_newer_connection_takes_over(tmp_path: Path) -> None:
    async def test(daemon: Daemon) -> None:
        token = await daemon.bot("alpha", "alice")
        older, newer = (daemon.client(token, random_bot.choose, open=False) for _ in range(2))
        older_play = asyncio.ensure_future(older.play())
        while not older.is_connected and not older_play.done():
            await asyncio.sleep(0.01)
        newer_play = asyncio.ensure_future(newer.play())
        with pytest.raises(Refused, match="newer connection"):
            await older_play
        newer.drain()
        await newer_play

    against_daemon(tmp_path, test)


def test_a_token_that_nobody_was_given_is_refused(tmp_path: Path) -> None:
    async def test(daemon: Daemon) -> None:
        with pytest.raises(Refused, match="FOURFOLD_TOKEN"):
            await daemon.client("c4b_nobody", random_bot.choose).play()

    against_daemon(tmp_path, test)
