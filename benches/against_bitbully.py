#!/usr/bin/env python3
"""Compares the exact solver with BitBully (PyPI, without its book) on the scored positions.

    pip install bitbully==0.0.79
    cargo build --release
    python3 benches/against_bitbully.py

Both solve the same rows of a class, each position with an empty table, class by class in turn, and both are checked
against the scores of the file. Times are those of the thread on the processor.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bitbully import bitbully_core

ROOT = Path(__file__).resolve().parent.parent
FOURFOLD = ROOT / "target" / "release" / "fourfold"
# Class, rows, least number of stones.
CLASSES = [
    ("end-easy", 400, 0),
    ("middle-easy", 400, 0),
    ("middle-medium", 120, 0),
    ("begin-easy", 100, 0),
    ("begin-medium", 30, 0),
    ("begin-hard", 12, 8),
]


def rows_of(name, count, stones_min):
    lines = (ROOT / "tests" / "data" / "positions" / f"{name}.tsv").read_text().splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return [(moves, int(score)) for moves, score in rows if len(moves) >= stones_min][:count]


def ours(name, rows):
    """Microseconds for each position."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / f"{name}.tsv"
        file.write_text("moves\tscore\n" + "".join(f"{moves}\t{score}\n" for moves, score in rows))
        command = [FOURFOLD, "bench", "solver", "--json", "--positions", file]
        report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    (figures,) = report["sets"]
    assert figures["wrong"] == 0, figures
    return figures["microseconds_per_position"]


def theirs(rows, method):
    """Microseconds for each position."""
    solver = bitbully_core.BitBullyCore()
    seconds = 0.0
    for moves, expected in rows:
        board = bitbully_core.BoardCore()
        assert board.setBoard([int(digit) - 1 for digit in moves]), moves
        solver.resetTranspositionTable()
        began = time.thread_time()
        score = getattr(solver, method)(board) if method == "nullWindow" else solver.mtdf(board, 0)
        seconds += time.thread_time() - began
        assert score == expected, (moves, score, expected)
    return seconds * 1e6 / len(rows)


def main():
    if not FOURFOLD.exists():
        sys.exit(f"{FOURFOLD} is missing: cargo build --release")
    print(f"{'class':14} {'rows':>5} {'our us':>10} {'null window':>12} {'mtdf':>12} {'ratio to the better':>20}")
    for name, count, stones_min in CLASSES:
        rows = rows_of(name, count, stones_min)
        our, null_window, mtdf = ours(name, rows), theirs(rows, "nullWindow"), theirs(rows, "mtdf")
        ratio = our / min(null_window, mtdf)
        print(f"{name:14} {len(rows):5} {our:10.1f} {null_window:12.1f} {mtdf:12.1f} {ratio:20.3f}", flush=True)


if __name__ == "__main__":
    main()
