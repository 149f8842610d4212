#!/usr/bin/env python3
"""A small network learns from exact labels, step by step as in a notebook: data, training, and what it is worth.

    pip install numpy
    fourfold dataset --positions 100000 --plies 12-36 --out train.ndjson --sheet train.md
    fourfold dataset --positions 5000 --plies 12-36 --seed 2 --exclude train.ndjson --out test.ndjson
    python3 examples/learn.py train.ndjson test.ndjson --out net.npz
    fourfold measure "mine=cmd:python3 examples/learn.py --play net.npz" random greedy --positions 200 --games 0
    fourfold match "mine=cmd:python3 examples/learn.py --play net.npz" random --games 200 --sprt 0,100 --save m.ndjson
    fourfold report m.ndjson --out m.html

The dataset takes ten minutes of one core, the training one. After that the network finds a best column in 64 % of the test
positions and keeps the value in 84 %; of `measure`'s positions with something to lose it decides 62 % rightly (random 32 %,
greedy 72 %). It won all of the 32 games against `random` that the test took, and lost 26 of 32 against `greedy`.

The network sees two planes of stones and says how good each column is; the label is which columns are best. It needs
nothing but numpy. With --play it answers in the dialect `simple`: a line of moves in, a column out.
"""

import argparse
import json
import sys

import numpy as np

CELLS, COLUMNS, HIDDEN, BATCH = 42, 7, 256, 256


def planes(boards):
    """Stones of the side to move and of its opponent, side by side."""
    cells = np.array([[int(cell) for cell in board] for board in boards], dtype=np.int8)
    return np.concatenate([cells == 1, cells == 2], axis=1).astype(np.float32)


def load(path):
    """Inputs, how the label is shared out among the best columns, and which columns can be played."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    best = np.zeros((len(lines), COLUMNS), dtype=np.float32)
    legal = np.zeros((len(lines), COLUMNS), dtype=bool)
    keeps = np.zeros((len(lines), COLUMNS), dtype=bool)
    for row, line in enumerate(lines):
        for column in line["best"]:
            best[row, column - 1] = 1 / len(line["best"])
        for column, score in enumerate(line["columns"]):
            legal[row, column] = score is not None
            keeps[row, column] = score is not None and np.sign(score) == line["value"]
    return planes([line["board"] for line in lines]), best, legal, keeps


class Network:
    """Two layers, a softmax over the legal columns."""

    def __init__(self, rng):
        self.w1 = rng.normal(0, np.sqrt(2 / (2 * CELLS)), (2 * CELLS, HIDDEN)).astype(np.float32)
        self.b1 = np.zeros(HIDDEN, np.float32)
        self.w2 = rng.normal(0, np.sqrt(1 / HIDDEN), (HIDDEN, COLUMNS)).astype(np.float32)
        self.b2 = np.zeros(COLUMNS, np.float32)

    def parameters(self):
        return [self.w1, self.b1, self.w2, self.b2]

    def scores(self, inputs, legal):
        self.hidden = np.maximum(inputs @ self.w1 + self.b1, 0)
        return np.where(legal, self.hidden @ self.w2 + self.b2, -1e9)

    def gradients(self, inputs, best, legal):
        scores = self.scores(inputs, legal)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        error = (odds - best) / len(inputs)
        back = (error @ self.w2.T) * (self.hidden > 0)
        return [inputs.T @ back, back.sum(axis=0), self.hidden.T @ error, error.sum(axis=0)]


def mirrored(inputs, best, legal, rng):
    """Half of a batch in the mirror: the data have each pair of mirror images once."""
    flip = rng.random(len(inputs)) < 0.5
    boards = inputs.reshape(-1, 2, 6, 7).copy()
    boards[flip] = boards[flip, :, :, ::-1]
    best, legal = best.copy(), legal.copy()
    best[flip], legal[flip] = best[flip, ::-1], legal[flip, ::-1]
    return boards.reshape(len(inputs), -1), best, legal


def train(options):
    rng = np.random.default_rng(options.seed)
    inputs, best, legal, _ = load(options.train)
    test_inputs, test_best, test_legal, test_keeps = load(options.test)
    network = Network(rng)
    moments = [(np.zeros_like(p), np.zeros_like(p)) for p in network.parameters()]
    step = 0
    for epoch in range(options.epochs):
        order = rng.permutation(len(inputs))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            batch = mirrored(inputs[chosen], best[chosen], legal[chosen], rng)
            step += 1
            # Adam, with a rate that falls to nothing.
            rate = 1e-3 * (1 - epoch / options.epochs)
            for parameter, (mean, square), gradient in zip(network.parameters(), moments, network.gradients(*batch)):
                mean += 0.1 * (gradient - mean)
                square += 0.001 * (gradient**2 - square)
                parameter -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        chosen = network.scores(test_inputs, test_legal).argmax(axis=1)
        rows = np.arange(len(chosen))
        optimal = (test_best[rows, chosen] > 0).mean()
        good = test_keeps[rows, chosen].mean()
        print(f"epoch {epoch + 1}: optimal {optimal:.1%}, keeps the value {good:.1%} of {len(chosen)}", flush=True)
    np.savez(options.out, *network.parameters())


def play(path):
    """The dialect `simple`: a line with board, milliseconds and moves in, a line with a column out."""
    network = Network(np.random.default_rng(0))
    with np.load(path) as kept:
        network.w1, network.b1, network.w2, network.b2 = (kept[f"arr_{index}"] for index in range(4))
    for line in sys.stdin:
        columns = [[] for _ in range(COLUMNS)]
        _variant, _milliseconds, moves = line.split()
        moves = moves.strip("-")
        for ply, digit in enumerate(moves):
            columns[int(digit) - 1].append(ply % 2)
        mine = len(moves) % 2
        cells = [0] * CELLS
        for column, stones in enumerate(columns):
            for row, side in enumerate(stones):
                cells[7 * row + column] = 1 if side == mine else 2
        legal = np.array([[len(stones) < 6 for stones in columns]])
        print(int(network.scores(planes([cells]), legal).argmax()) + 1, flush=True)


def main():
    parser = argparse.ArgumentParser(description="Trains a small network on datasets, or plays with one.")
    parser.add_argument("train", nargs="?", help="a dataset to learn from")
    parser.add_argument("test", nargs="?", help="a dataset that shares nothing with it")
    parser.add_argument("--out", default="net.npz")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--play", metavar="NET", help="play with this network")
    options = parser.parse_args()
    if options.play:
        play(options.play)
    elif options.train and options.test:
        train(options)
    else:
        parser.error("two datasets, or --play NET")


if __name__ == "__main__":
    main()
