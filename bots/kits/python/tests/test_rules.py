"""The board helpers, checked against boards drawn by hand."""

import pytest

from fourfold_bot import Position, Turn, Variant, centre_first
from fourfold_bot.turn import Message


def turn_after(moves: str, variant: str = "7x6") -> Turn:
    legal = Position.from_moves(moves, Variant.parse(variant)).legal()
    message: Message = {"game": "g1", "ply": len(moves), "moves": moves, "legal": legal, "variant": variant}
    return Turn.read(message | {"budget_ms": 1000})


def test_the_board_has_its_bottom_row_first_and_sides_take_turns() -> None:
    board = turn_after("4453").board()
    assert len(board) == 6 and all(len(row) == 7 for row in board)
    assert board[0] == [None, None, "second", "first", "first", None, None]
    assert board[1] == [None, None, None, "second", None, None, None]
    assert not any(cell for row in board[2:] for cell in row)


def test_the_side_of_a_turn_is_the_side_to_move() -> None:
    assert [turn_after(moves).side for moves in ("", "4", "44")] == ["first", "second", "first"]


def test_a_position_draws_itself_top_row_first() -> None:
    assert str(Position.from_moves("1213", Variant.parse("4x3x3"))) == ". . . .\nX . . .\nX O O ."


@pytest.mark.parametrize(("text", "expected"), [("7x6", (7, 6, 4)), ("9x6", (9, 6, 4)), ("5x4x3", (5, 4, 3))])
def test_a_variant_is_read(text: str, expected: tuple[int, int, int]) -> None:
    variant = Variant.parse(text)
    assert (variant.width, variant.height, variant.line) == expected


@pytest.mark.parametrize("text", ["", "7", "7x", "axb", "7x6x4x2"])
def test_what_is_no_variant_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Variant.parse(text)


def test_columns_beyond_nine_are_base_36_digits() -> None:
    assert Position.from_moves("a", Variant(10, 4)).cell(10, 1) == "first"


@pytest.mark.parametrize("moves", ["8", "0", "1111111", "-"])
def test_an_illegal_move_string_is_refused(moves: str) -> None:
    with pytest.raises(ValueError):
        Position.from_moves(moves)


@pytest.mark.parametrize(
    ("moves", "column", "variant", "expected"),
    [
        ("415263", 7, "7x6", True),  # a row, at its right end: d e f g
        ("415273", 6, "7x6", True),  # a row, in its gap: d e _ g
        ("121212", 1, "7x6", True),  # a column
        ("1212", 1, "7x6", False),  # three are not enough
        ("1212", 1, "7x6x3", True),  # unless three are asked for
        ("1223343474", 4, "7x6", True),  # rising: a1 b2 c3 d4
        ("7665545414", 4, "7x6", True),  # falling: g1 f2 e3 d4
        ("1122334", 4, "7x6", True),  # for Second, above First's row: a2 b2 c2 d2
        ("111111", 1, "7x6", False),  # full
        ("51627", 1, "7x6", False),  # a row does not wrap round the edge: e f g, then a
    ],
)
def test_a_winning_column_is_recognised(moves: str, column: int, variant: str, expected: bool) -> None:
    assert Position.from_moves(moves, Variant.parse(variant)).wins(column) is expected


def test_a_win_of_either_side_is_seen_whoever_moves() -> None:
    position = Position.from_moves("41424")  # First has three on column 4, Second is to move
    assert (position.wins(4, "first"), position.wins(4, "second"), position.wins(4)) == (True, False, False)


def test_a_full_column_is_not_legal() -> None:
    assert Position.from_moves("333333").legal() == [1, 2, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("columns", "width", "expected"),
    [([1, 2, 3, 4, 5, 6, 7], 7, [4, 3, 5, 2, 6, 1, 7]), ([1, 2, 3, 4], 4, [2, 3, 1, 4]), ([7, 1, 2], 7, [2, 1, 7])],
)
def test_columns_are_sorted_from_the_centre(columns: list[int], width: int, expected: list[int]) -> None:
    assert centre_first(columns, Variant(width, 6)) == expected
