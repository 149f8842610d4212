"""Plays any legal column. Shows how little a bot needs: `choose`, and a call of `run`."""

import argparse
import random

from fourfold_bot import Turn, run


def choose(turn: Turn) -> int:
    return random.choice(turn.legal)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Plays any legal column.")
    parser.add_argument("--games", type=int, metavar="N", help="stop after N games")
    run(choose, name="random", version="1", games=parser.parse_args().games)
