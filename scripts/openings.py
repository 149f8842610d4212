#!/usr/bin/env python3
"""Prints random openings on 7x6, one a line, for `--openings`: games that begin late are judged quickly.

    scripts/openings.py --plies 16 --count 3000 --seed 7 > openings.txt

Each is drawn by chance, wins are taken and stopped, and nobody has a line or could complete one at once.
"""

import argparse
import random

WIDTH, HEIGHT, CONNECT = 7, 6, 4
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def wins(columns, column, side):
    """Whether a stone of this side in the column completes a line."""
    x, y = column, len(columns[column])

    def owned(x, y):
        return 0 <= x < WIDTH and 0 <= y < len(columns[x]) and columns[x][y] == side

    for dx, dy in DIRECTIONS:
        length = 1
        for sign in (1, -1):
            reach = 1
            while owned(x + sign * reach * dx, y + sign * reach * dy):
                reach += 1
            length += reach - 1
        if length >= CONNECT:
            return True
    return False


def opening(rng, plies):
    """One opening, or none where it came to a win."""
    columns, moves = [[] for _ in range(WIDTH)], ""
    for ply in range(plies + 1):
        legal = [column for column in range(WIDTH) if len(columns[column]) < HEIGHT]
        urgent = [column for side in (ply % 2, 1 - ply % 2) for column in legal if wins(columns, column, side)]
        if ply == plies:
            return None if urgent else moves
        if urgent and wins(columns, urgent[0], ply % 2):
            return None
        column = urgent[0] if urgent else rng.choice(legal)
        columns[column].append(ply % 2)
        moves += str(column + 1)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plies", type=int, default=16)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    rng, found = random.Random(options.seed), set()
    while len(found) < options.count:
        moves = opening(rng, options.plies)
        if moves and moves not in found:
            found.add(moves)
            print(moves)


if __name__ == "__main__":
    main()
