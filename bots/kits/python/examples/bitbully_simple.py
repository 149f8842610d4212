"""The solver of PyPI's bitbully behind the dialect `simple`; it plays perfectly.

    pip install bitbully
    fourfold match 'cmd:python bitbully_simple.py' negamax:depth=8 --games 20 --startup-ms 60000
"""

import sys

from bitbully import BitBully, Board


def main() -> None:
    solver = BitBully()
    for line in sys.stdin:
        if line.strip() == "quit":
            return
        variant, _, moves = line.split()
        if variant != "7x6":
            sys.exit(f"{variant} is no board of bitbully")
        played = [] if moves == "-" else [int(digit) - 1 for digit in moves]
        print(solver.best_move(Board.from_moves(played)) + 1, flush=True)


if __name__ == "__main__":
    main()
