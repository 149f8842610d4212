"""Looks one move ahead: wins at once, else blocks at once, else keeps away from under a threat; the centre first."""

import argparse

from fourfold_bot import Position, Turn, other, run


def choose(turn: Turn) -> int:
    position, opponent = turn.position(), other(turn.side)
    columns = turn.centre_first()
    wins = [column for column in columns if position.wins(column)]
    blocks = [column for column in columns if position.wins(column, opponent)]
    safe = [column for column in columns if not gives_a_win(position, column)]
    return (wins or blocks or safe or columns)[0]


def gives_a_win(position: Position, column: int) -> bool:
    """Tests whether our stone in `column` is the step from which the opponent completes a line."""
    return position.play(column).wins(column)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, metavar="N", help="stop after N games")
    run(choose, name="tactical", version="1", games=parser.parse_args().games)
