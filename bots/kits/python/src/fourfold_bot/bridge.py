"""Any program as a remote bot: it reads a question on standard input and prints a column, and needs no network.

    FOURFOLD_TOKEN=c4b_… python -m fourfold_bot.bridge -- ./mybot --depth 8
    FOURFOLD_TOKEN=c4b_… python -m fourfold_bot.bridge --dialect kaggle --opponent negamax-6 --games 20 -- ./agent

It speaks the dialects that are a question and an answer: `simple`, `kaggle` and `aigames` of docs/programs.md, with the
same words as `fourfold bridge`. A program that fails resigns that game, and its owner finds why on the bot's page.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import threading
import time
from queue import Empty, SimpleQueue
from typing import Any, Callable

from .runner import run
from .settings import TIME
from .turn import Game, GameEnd, Resigned, Turn

RESERVE_S = 0.01  # kept back of each limit, beside the way to the server and back
SHARE_OF_BANK = 20  # the part of a bank that one move is told, for programs take the figure for this move's
FAULTS_MAX = 3  # games in a row that the program may lose by its own fault
COUNTING_HINT = "does it read the board, and count columns as the dialect does?"


def ask_simple(turn: Turn, limit_s: float, advised_s: float, _time: dict[str, Any]) -> str:
    return f"{turn.variant} {int(advised_s * 1000)} {turn.moves or '-'}\n"


def ask_kaggle(turn: Turn, limit_s: float, advised_s: float, _time: dict[str, Any]) -> str:
    position = turn.position()
    variant, marks = position.variant, {None: 0, "first": 1, "second": 2}
    observation = {
        "board": [marks[cell] for row in reversed(position.grid()) for cell in row],
        "mark": marks[turn.side],
        "step": turn.ply,
        "remainingOverageTime": max(0.0, limit_s - advised_s),
    }
    size = {"columns": variant.width, "rows": variant.height, "inarow": variant.line}
    limits = {"actTimeout": advised_s, "timeout": advised_s, "episodeSteps": 1000}
    return json.dumps({"observation": observation, "configuration": size | limits}) + "\n"


def ask_aigames(turn: Turn, limit_s: float, _advised_s: float, time: dict[str, Any]) -> str:
    position = turn.position()
    ids = {None: "0", "first": "1", "second": "2"}
    field = ";".join(",".join(ids[cell] for cell in row) for row in reversed(position.grid()))
    limit, me = int(limit_s * 1000), ids[turn.side]
    bank, per_move = time.get("bank_ms") or limit, time.get("move_ms") or time.get("increment_ms") or 0
    return (
        f"settings timebank {bank}\nsettings time_per_move {per_move}\nsettings player_names player1,player2\n"
        f"settings your_bot player{me}\nsettings your_botid {me}\n"
        f"settings field_columns {position.variant.width}\nsettings field_rows {position.variant.height}\n"
        f"update game round {turn.ply // 2 + 1}\nupdate game field {field}\naction move {limit}\n"
    )


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else None


def read_from_0(line: str) -> int | None:
    number = _number(line)
    return None if number is None else number + 1


def read_aigames(line: str) -> int | None:
    return read_from_0(line.removeprefix("place_disc ").strip()) if line.startswith("place_disc ") else None


def _why_illegal(column: int, turn: Turn) -> str:
    """Says why a column is not legal, with the words of the server and of `fourfold check-bot`."""
    width = turn.position().variant.width
    what = f"column {column} is full" if 1 <= column <= width else f"column {column} is not on a board of {width} columns"
    return f"{what}, after {turn.moves or '-'}"


Ask = Callable[[Turn, float, float, "dict[str, Any]"], str]
Read = Callable[[str], "int | None"]
DIALECTS: dict[str, tuple[Ask, Read, str]] = {
    "simple": (ask_simple, _number, "a column from 1, such as 4"),
    "kaggle": (ask_kaggle, read_from_0, "a column from 0, such as 3"),
    "aigames": (ask_aigames, read_aigames, "a column from 0, such as place_disc 3"),
}


class Program:
    """One process, and the lines that it prints."""

    def __init__(self, command: list[str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1)
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self.has_answered = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.strip())
        self._lines.put(None)

    def ask(self, question: str, limit_s: float) -> str:
        """Returns the line that answers, within the time; raises `Resigned` otherwise."""
        while not self._lines.empty():
            self._lines.get()  # of an earlier question
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(question)
            self._process.stdin.flush()
            line = self._lines.get(timeout=limit_s)
        except (BrokenPipeError, OSError):
            line = None
        except Empty:
            hint = "" if self.has_answered else "; if it had an answer, does it flush its output after each line?"
            raise Resigned("time", f"too late: no answer in {limit_s:.2f} s{hint}") from None
        if line is None:
            raise Resigned("left", f"exited with code {self._process.wait()}")
        self.has_answered = True
        return line

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join(1.0)  # what the process started may hold its output open
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None and not self._reader.is_alive():
                    pipe.close()


class Bridge:
    """Asks a program: one process for each game at a time."""

    def __init__(self, command: list[str], dialect: str) -> None:
        self._command = command
        self._ask, self._read, self._example = DIALECTS[dialect]
        self._lock = threading.Lock()
        self._idle: list[Program] = [Program(command)]  # a command that cannot be started is told of at once
        self._busy: dict[str, Program] = {}
        self._times: dict[str, dict[str, Any]] = {}

    def game_starts(self, game: Game) -> None:
        self._times[game.id] = game.time or {}

    def game_ends(self, end: GameEnd) -> None:
        self._times.pop(end.game.id, None)
        with self._lock:
            program = self._busy.pop(end.game.id, None)
            if program is not None:
                self._idle.append(program)

    def choose(self, turn: Turn) -> int:
        began = time.monotonic()
        limit = max(0.0, (turn.budget_ms - turn.network_ms) / 1000)
        limit -= min(RESERVE_S, limit / 4)
        times = self._times.get(turn.game, {})
        advised = limit
        if turn.clock.you is not None:
            increment = times.get("increment_ms") or 0
            advised = min(limit, (turn.clock.you / SHARE_OF_BANK + increment * 3 / 4) / 1000)
        with self._lock:
            if turn.game not in self._busy:
                self._busy[turn.game] = self._idle.pop() if self._idle else Program(self._command)
            program = self._busy[turn.game]
        question = self._ask(turn, limit, advised, times)
        try:
            line = program.ask(question, max(0.0, limit - (time.monotonic() - began)))
            column = self._read(line)
            if column is None:
                raise Resigned("illegal", f"{line[:60]!r} is no move: expected {self._example}")
            if column not in turn.legal:
                raise Resigned("illegal", f"{_why_illegal(column, turn)}; {COUNTING_HINT}")
            return column
        except Resigned as fault:
            self._fail(turn.game, program, fault)
            raise

    def _fail(self, game: str, program: Program, fault: Resigned) -> None:
        program.end()
        with self._lock:
            self._busy.pop(game, None)
        print(f"{game}: the program failed: {fault.note}", file=sys.stderr, flush=True)

    def end(self) -> None:
        for program in [*self._idle, *self._busy.values()]:
            program.end()


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m fourfold_bot.bridge", description=about)
    parser.add_argument("--url", help="the server; FOURFOLD_URL, or port 4444 of this machine, if left out")
    parser.add_argument("--dialect", choices=sorted(DIALECTS), default="simple", help="what the program speaks")
    parser.add_argument("--max-games", type=int, default=1, help="games at the same time, each with its own process")
    parser.add_argument("--private", action="store_true", help="stay off the ladder and out of the directory")
    parser.add_argument("--games", type=int, help="leave after so many games")
    parser.add_argument("--opponent", metavar="NAME", help="ask this player for all games, such as negamax-6")
    parser.add_argument("--rated", action="store_true", help="let the games with --opponent count")
    parser.add_argument("--bot-version", default="1", help="the version of the bot, shown beside its name")
    parser.add_argument("command", nargs="+", metavar="CMD", help="the program and its arguments, after --")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> None:
    wanted = arguments(words)
    try:
        bridge = Bridge(wanted.command, wanted.dialect)
    except OSError as error:
        raise SystemExit(f"fourfold_bot: {wanted.command[0]} cannot be started: {error}") from error
    settings: dict[str, Any] = {"max_games": wanted.max_games, "games": wanted.games, "opponent": wanted.opponent}
    if wanted.url:
        settings["url"] = wanted.url
    try:
        run(
            bridge.choose,
            name="bridge",
            version=wanted.bot_version,
            on_game_start=bridge.game_starts,
            on_game_end=bridge.game_ends,
            open=False if wanted.private else None,
            rated=wanted.rated,
            time=dict(TIME),
            faults_max=FAULTS_MAX,
            **settings,
        )
    finally:
        bridge.end()


if __name__ == "__main__":
    main()
