#!/usr/bin/env python3
"""The tables of docs/ntuple.md, made again: networks are trained and held against the exact solver.

    cargo build --release
    python3 benches/ntuple.py strength --keep ntuple-bench  # 200 tuples, 400,000 and 1,200,000 games
    python3 benches/ntuple.py ideas --keep ntuple-bench     # 100 tuples, 300,000 games, one idea at a time
    python3 benches/ntuple.py members --keep ntuple-bench   # random openings, and the mean of several networks
    python3 benches/ntuple.py larger --keep ntuple-bench    # more games, more tuples, larger ones
    python3 benches/ntuple.py records --keep ntuple-bench   # from recorded games alone
    python3 benches/ntuple.py speed                         # games a second, one core and two

What is trained and measured stays in the directory of --keep, and is not done twice: a run that was stopped goes on.
Every command is printed to standard error before it runs. Seconds are those of the processor. A figure is a mean over
the seeds with the worst of them in brackets, and for an idea the gain over the first row, seed by seed, with its
standard error. Decision is the share of right choices in the solved positions that ship, first v perfect the points of
games moving first against the perfect player, both in percent.
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
    "400,000 games, lambda 90 %": ["--tuples", "200", "--settle", "400000", "--games", "400000", "--lambda", "90"],
    "1,200,000 games": ["--tuples", "200", "--settle", "1200000", "--games", "1200000"],
    "1,200,000 games, lambda 90 %": ["--tuples", "200", "--settle", "1200000", "--games", "1200000", "--lambda", "90"],
}
IDEA_BASE = ["--tuples", "100", "--settle", "300000", "--games", "300000"]
IDEAS = {
    "as usual": [],
    "plays by its weights, not their average": ["--play-by", "current"],
    "learns from the average's values": ["--targets-by", "average"],
    "20 % of games begin where an advantage was lost": ["--restarts", "20"],
    "values by the best reply in the last 30 %": ["--late-search", "30"],
    "lambda 40 %": ["--lambda", "40"],
    "lambda 90 %": ["--lambda", "90"],
    "steps that stay large": ["--last-step", "80"],
    "the same, average over 100,000 games": ["--last-step", "80", "--average-over", "100000"],
    "average over 100,000 games": ["--average-over", "100000"],
    "twice the games": ["--settle", "600000", "--games", "600000"],
    "twice the tuples": ["--tuples", "200"],
    "values by the best reply in all games": ["--late-search", "100"],
    "90 % of games begin with up to 12 random moves": ["--random-openings", "90"],
    "the same, and lambda 90 %": ["--random-openings", "90", "--lambda", "90"],
}
FOUR = ["--tuples", "100", "--members", "4", "--settle", "4800000", "--games", "4800000"]
MEMBERS = {
    "4 of 100 tuples": [*FOUR, "--random-openings", "90", "--lambda", "90"],
}
LARGER = {
    "1,200,000 games": ["--tuples", "200", "--settle", "1200000", "--games", "1200000"],
    "5,000,000 games": ["--tuples", "200", "--settle", "5000000", "--games", "5000000"],
    "400 tuples": ["--tuples", "400", "--settle", "1200000", "--games", "1200000"],
    "10 cells": ["--tuples", "200", "--cells", "10", "--settle", "1200000", "--games", "1200000"],
}
CLASSES = ["begin-easy", "begin-medium", "begin-hard", "middle-easy", "middle-medium", "end-easy"]

RECORDS = [100, 1_000, 10_000, 50_000]
# Who plays the recorded games: the bots of the arena that are there before anybody has learnt.
POOL = ["random", "greedy", "lines69", *(f"negamax:depth={depth}" for depth in (1, 2, 3, 4))]
POOL_GAMES = 50_000
# Each opening is played from both sides.
POOL_OPENINGS = POOL_GAMES // 2
POOL_OPENING_PLIES = (1, 12)
SPEED = [("70", "1"), ("100", "1"), ("200", "1"), ("70", "2"), ("200", "2")]

COLUMNS = "1234567"
DIRECTIONS = [step for step in itertools.product((-1, 0, 1), repeat=2) if step != (0, 0)]


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

    def pool(self, seed):
        """The name of a log of games of POOL."""
        openings, log = f"openings-{seed}.txt", f"games-{seed}.ndjson"

        def make():
            rng = random.Random(seed)
            lines = (opening(rng, rng.randint(*POOL_OPENING_PLIES)) for _ in range(POOL_OPENINGS))
            (self.keep / openings).write_text("".join(f"{line}\n" for line in lines))
            (self.keep / log).unlink(missing_ok=True)
            games = ["--games", POOL_GAMES, "--openings", openings, "--seed", seed, "--concurrency", 1]
            _, cpu, _ = self.run("tournament", "--format", "ladder", *POOL, *games, "--save", log)
            return cpu

        self.kept(f"games-{seed}", make)
        return log

    def points_v(self, network, plies, opponent):
        """Points in percent against a bot after every two plies, from both sides."""

        def make():
            openings = self.keep / "two-plies.txt"
            openings.write_text("".join(f"{one}{two}\n" for one in COLUMNS for two in COLUMNS))
            bot = f"ntuple:file={network}.bin,plies={plies}"
            games = ["--games", 2 * len(COLUMNS) ** 2, "--openings", openings.name, "--seed", 1]
            return json.loads(self.run("match", bot, opponent, *games, "--concurrency", 1, "--json")[0])["score"]

        return 100 * self.kept(f"{network}.v-{re.sub('[^a-z0-9]+', '-', opponent)}-{plies}", make)

    def decision(self, network, plies):
        def make():
            bot = f"ntuple:file={network}.bin,plies={plies}"
            return json.loads(self.run("measure", bot, "--solved", "--games", 0, "--json")[0])["decision"]

        return 100 * self.kept(f"{network}.decision{plies}", make)

    def mistakes(self, network, plies):
        """Mistakes in percent in each of CLASSES."""

        def make():
            bot = f"ntuple:file={network}.bin,plies={plies}"
            measured = self.run("measure", bot, "--positions", 0, "--games", 0, "--classes", "--json")[0]
            return json.loads(measured)["mistakes"]

        by_class = self.kept(f"{network}.classes{plies}", make)
        return [100 * by_class[name] for name in CLASSES]

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


def opening(rng, plies):
    """Moves of a random game of so many plies that nobody has won and in which nobody can win at once."""
    while True:
        moves = [rng.choice(COLUMNS) for _ in range(plies)]
        sides = [stones_of(moves, side) for side in (0, 1)]
        if max(map(moves.count, COLUMNS)) <= 6 and not any(map(has_three, sides)):
            return "".join(moves)


def stones_of(moves, side):
    heights = dict.fromkeys(COLUMNS, 0)
    stones = set()
    for ply, column in enumerate(moves):
        if ply % 2 == side:
            stones.add((int(column), heights[column]))
        heights[column] += 1
    return stones


def has_three(stones):
    """Whether three of four cells in a line are taken: more than is needed for a win, and simple."""
    lines = ([(x + i * right, y + i * up) for i in range(4)] for x, y in stones for right, up in DIRECTIONS)
    return any(sum(cell in stones for cell in line) >= 3 for line in lines)


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def row(*cells):
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def head(*names):
    row(*names)
    row(*("---" for _ in names))


def mean_and_worst(column, worst=min):
    return f"{statistics.mean(column):.1f} ({worst(column):.1f})"


def summary(rows, base=None):
    """Means and worsts of rows of figures, of which the first is CPU seconds; with the gains over other rows."""
    cpu, *columns = zip(*rows)
    cells = [mean_and_worst(column) for column in columns]
    if base and len(rows) > 1:
        _, *others = zip(*base)
        cells = [f"{cell}, {gain(column, other)}" for cell, column, other in zip(cells, columns, others)]
    return [f"{statistics.mean(cpu):.0f}", *cells]


def gain(column, base):
    differences = [figure - other for figure, other in zip(column, base)]
    error = statistics.stdev(differences) / len(differences) ** 0.5
    return f"{statistics.mean(differences):+.1f} ± {error:.1f}"


def strength(bench, arguments):
    plies, plies_of_games = (0, 2, 4, 6), (0, 4)
    names = [f"decision {plies}" for plies in plies] + [f"first v perfect {plies}" for plies in plies_of_games]
    head("200 tuples", "seed", "CPU s", *names)
    for name, flags in STRENGTH.items():
        rows = []
        for seed in arguments.seeds:
            flags_of_run = [*flags, "--seed", str(seed)]
            rows.append(bench.figures(flags_of_run, plies, plies_of_games, arguments.games or 20))
            row(name, seed, f"{rows[-1][0]:.0f}", *(f"{figure:.1f}" for figure in rows[-1][1:]))
        row(f"**{name}**", "mean (worst)", *summary(rows))


def ideas(bench, arguments):
    games = 20 if arguments.games is None else arguments.games
    plies, plies_of_games = (0, 2, 4), (0, 4) if games else ()
    names = [f"decision {plies}" for plies in plies] + [f"first v perfect {plies}" for plies in plies_of_games]
    head("idea", "flags", "CPU s", *names)
    base = None
    for name, flags in IDEAS.items():
        if base and arguments.only and not any(text in name for text in arguments.only):
            continue
        of_all = {**dict(zip(IDEA_BASE[::2], IDEA_BASE[1::2])), **dict(zip(flags[::2], flags[1::2]))}
        flags_of_all = [word for flag in of_all.items() for word in flag]
        rows = []
        for seed in arguments.seeds:
            flags_of_run = [*flags_of_all, "--seed", str(seed)]
            rows.append(bench.figures(flags_of_run, plies, plies_of_games, games))
        row(name, f"`{' '.join(flags)}`" if flags else "", *summary(rows, base))
        base = base or rows


def members(bench, arguments):
    plies = (0, 2, 4, 6)
    names = [f"decision {plies}" for plies in plies] + ["first v perfect 0", "4"] + [f"{name} 4" for name in CLASSES]
    head("networks", "seed", "CPU s", *names)
    for name, flags in MEMBERS.items():
        rows = []
        for seed in arguments.seeds:
            figures = bench.figures([*flags, "--seed", str(seed)], plies, (0, 4), arguments.games or 20)
            mistakes = bench.mistakes(bench.train([*flags, "--seed", str(seed)])[0], 4)
            rows.append([*figures, *mistakes])
            row(name, seed, f"{figures[0]:.0f}", *(f"{figure:.1f}" for figure in rows[-1][1:]))
        cpu, *columns = zip(*rows)
        good, bad = columns[: -len(CLASSES)], columns[-len(CLASSES) :]
        cells = [*map(mean_and_worst, good), *(mean_and_worst(column, max) for column in bad)]
        row(f"**{name}**", "mean (worst)", f"{statistics.mean(cpu):.0f}", *cells)


def larger(bench, arguments):
    plies = (0, 4, 6)
    head("networks", "CPU s", *(f"decision {plies}" for plies in plies), *(f"begin-hard {plies}" for plies in plies))
    hard = CLASSES.index("begin-hard")
    for name, flags in LARGER.items():
        rows = []
        for seed in arguments.seeds:
            figures = bench.figures([*flags, "--seed", str(seed)], plies, (), 0)
            network, _ = bench.train([*flags, "--seed", str(seed)])
            rows.append([*figures, *(bench.mistakes(network, plies)[hard] for plies in plies)])
        cpu, *columns = zip(*rows)
        cells = [mean_and_worst(column, worst) for column, worst in zip(columns, [min] * 3 + [max] * 3)]
        row(name, f"{statistics.mean(cpu):.0f}", *cells)


def records(bench, arguments):
    head("games", "CPU s", "decision 0", "4", "v depth 2, 0 plies", "v depth 4, 0 plies")
    for games in RECORDS:
        rows = []
        for seed in arguments.seeds:
            from_log = ["--tuples", "70", "--seed", str(seed), "--from", bench.pool(seed), "--games", str(games)]
            network, cpu = bench.train(from_log)
            decisions = [bench.decision(network, plies) for plies in (0, 4)]
            points = [bench.points_v(network, 0, f"negamax:depth={depth}") for depth in (2, 4)]
            rows.append([cpu, *decisions, *points])
        row(f"{games:,}", *summary(rows))


def speed(bench, arguments):
    games = 200_000
    head("tuples", "threads", "games / CPU s", "games / s of the clock", "decision 0", "4")
    for tuples, threads in SPEED:
        rows = []
        for seed in arguments.seeds:
            flags = ["--tuples", tuples, "--settle", games, "--games", games, "--seed", seed, "--threads", threads]
            train = ["train", "ntuple", *flags, "--probe-games", 0, "--anew", "--out", "speed.bin"]
            _, cpu, seconds = bench.run(*train)
            for file in bench.keep.glob("speed.decision*.json"):
                file.unlink()
            rows.append([games / cpu, games / seconds, *(bench.decision("speed", plies) for plies in (0, 4))])
        cpu, seconds, *decisions = zip(*rows)
        rates = (f"{statistics.mean(rates):,.0f} ({min(rates):,.0f})" for rates in (cpu, seconds))
        row(tuples, threads, *rates, *map(mean_and_worst, decisions))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tables = {"strength": strength, "ideas": ideas, "members": members, "larger": larger}
    tables |= {"records": records, "speed": speed}
    parser.add_argument("table", choices=tables)
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "fourfold")
    parser.add_argument("--keep", type=Path, default=Path("ntuple-bench"), help="directory of networks and figures")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    games_help = "against the perfect player, of each network and look ahead [20]; ideas: 0 for none"
    parser.add_argument("--games", type=int, help=games_help)
    only_help = "of the ideas, those whose names contain one of these"
    parser.add_argument("--only", nargs="+", metavar="TEXT", help=only_help)
    arguments = parser.parse_args()
    if not arguments.binary.exists():
        sys.exit(f"{arguments.binary} is missing: cargo build --release")
    tables[arguments.table](Bench(arguments.binary.resolve(), arguments.keep), arguments)


if __name__ == "__main__":
    main()
