#!/usr/bin/env python3
"""The tables of docs/ntuple.md, made again: networks are trained and held against the exact solver.

    cargo build --release
    python3 benches/ntuple.py strength --keep /tmp/ntuple   # 200 tuples, 400,000 and 1,200,000 games
    python3 benches/ntuple.py ideas --keep /tmp/ntuple      # 100 tuples, 300,000 games, one idea at a time
    python3 benches/ntuple.py records --keep /tmp/ntuple    # from recorded games alone
    python3 benches/ntuple.py speed                         # games a second, one core and two

What is trained and measured stays in the directory of --keep, and is not done twice: a run that was stopped goes on.
Every command is printed to standard error before it runs. Seconds are those of the processor. A figure is a mean over
the seeds with the worst of them in brackets: decision is the share of right choices in the solved positions that ship,
first v perfect the points of games moving first against the perfect player, both in percent.
"""

import argparse
import itertools
import json
import random
import re
import resource
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

STRENGTH = {
    f"{games:,} games": ["--tuples", "200", "--settle", str(games), "--games", str(games)]
    for games in (400_000, 1_200_000)
}
IDEA_BASE = ["--tuples", "100", "--settle", "300000", "--games", "300000"]
IDEAS = {
    "as shipped": [],
    "plays by its weights, not their average": ["--play-by", "current"],
    "learns from the average's values": ["--targets-by", "average"],
    "20 % of games begin where an advantage was lost": ["--restarts", "20"],
    "50 % of games begin there": ["--restarts", "50"],
    "values by the best reply in the last 30 %": ["--late-search", "30"],
    "lambda 40 %": ["--lambda", "40"],
    "lambda 90 %": ["--lambda", "90"],
    "5 % of moves drawn": ["--exploration", "5"],
    "20 % of moves drawn": ["--exploration", "20"],
    "steps that stay large": ["--last-step", "80"],
    "the same, average over 100,000 games": ["--last-step", "80", "--average-over", "100000"],
    "average over 100,000 games": ["--average-over", "100000"],
    "half the games": ["--settle", "150000", "--games", "150000"],
    "twice the games": ["--settle", "600000", "--games", "600000"],
    "twice the tuples": ["--tuples", "200"],
    "ten cells": ["--cells", "10"],
}


class Bench:
    """Trains and measures, each thing once."""

    def __init__(self, binary, keep):
        self.binary = str(binary)
        self.keep = keep
        keep.mkdir(parents=True, exist_ok=True)

    def run(self, *words):
        """Standard output, and the seconds of processor and clock that it took."""
        command = [self.binary, *map(str, words)]
        print("$", shlex.join(["fourfold", *command[1:]]), file=sys.stderr, flush=True)
        used, began = children_seconds(), time.monotonic()
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=self.keep)
        return done.stdout, children_seconds() - used, time.monotonic() - began

    def kept(self, name, make):
        """What `make` gave when it was first called under this name."""
        file = self.keep / f"{name}.json"
        if not file.exists():
            file.write_text(json.dumps(make()))
        return json.loads(file.read_text())

    def train(self, flags):
        """The name of a network, and the CPU seconds that it took."""
        name = re.sub("[^a-z0-9]+", "-", " ".join(flags).strip("-")).strip("-")

        def make():
            train = ["train", "ntuple", *flags, "--threads", 1, "--probe-games", 0, "--anew"]
            _, cpu, _ = self.run(*train, "--out", f"{name}.bin")
            (self.keep / f"{name}.bin.run").unlink()
            return cpu

        return name, self.kept(f"{name}.cpu", make)

    def decision(self, network, plies):
        def make():
            bot = f"ntuple:file={network}.bin,plies={plies}"
            return json.loads(self.run("measure", bot, "--solved", "--games", 0, "--json")[0])["decision"]

        return 100 * self.kept(f"{network}.decision{plies}", make)

    def first_v_perfect(self, network, plies, games):
        def make():
            bot = f"ntuple:file={network}.bin,plies={plies}"
            measured = self.run("measure", bot, "--solved", "--games", games, "--json")[0]
            return json.loads(measured)["first_vs_perfect"]

        return 100 * self.kept(f"{network}.perfect{plies}-{games}", make)

    def figures(self, flags, plies_of_positions, plies_of_games, games):
        """CPU seconds, then decision and points at each of these plies."""
        network, cpu = self.train(flags)
        decisions = [self.decision(network, plies) for plies in plies_of_positions]
        return [cpu, *decisions, *(self.first_v_perfect(network, plies, games) for plies in plies_of_games)]


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def row(*cells):
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def head(*names):
    row(*names)
    row(*("---" for _ in names))


def mean_and_worst(column):
    return f"{statistics.mean(column):.1f} ({min(column):.1f})"


def summary(rows):
    """Means and worsts of rows of figures, of which the first is CPU seconds."""
    cpu, *columns = zip(*rows)
    return [f"{statistics.mean(cpu):.0f}", *map(mean_and_worst, columns)]


def strength(bench, arguments):
    plies, plies_of_games = (0, 2, 4, 6), (0, 4)
    names = [f"decision {plies}" for plies in plies] + [f"first v perfect {plies}" for plies in plies_of_games]
    head("200 tuples", "seed", "CPU s", *names)
    for name, flags in STRENGTH.items():
        rows = []
        for seed in arguments.seeds:
            flags_of_run = [*flags, "--seed", str(seed)]
            rows.append(bench.figures(flags_of_run, plies, plies_of_games, arguments.games or 100))
            row(name, seed, f"{rows[-1][0]:.0f}", *(f"{figure:.1f}" for figure in rows[-1][1:]))
        row(f"**{name}**", "mean (worst)", *summary(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tables = {"strength": strength}
    parser.add_argument("table", choices=tables)
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "fourfold")
    parser.add_argument("--keep", type=Path, default=Path("ntuple-bench"), help="directory of networks and figures")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--games", type=int, help="against the perfect player, of each network and look ahead")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="ideas whose names contain one of these")
    arguments = parser.parse_args()
    if not arguments.binary.exists():
        sys.exit(f"{arguments.binary} is missing: cargo build --release")
    tables[arguments.table](Bench(arguments.binary.resolve(), arguments.keep), arguments)


if __name__ == "__main__":
    main()
