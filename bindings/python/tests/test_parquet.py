"""Games and positions as Parquet."""

import io
import json

import pytest

pq = pytest.importorskip("pyarrow.parquet")

from fourfold import parquet  # noqa: E402


def lines(*records):
    return io.BytesIO("".join(f"{json.dumps(record)}\n" for record in records).encode())


def test_records_come_back_with_the_types_that_they_had(tmp_path):
    out = str(tmp_path / "games.parquet")
    game = {"id": "a", "players": {"first": {"name": "ä"}}, "moves": "44", "clocks": [[1, 2]], "ratings": None}
    rated = {**game, "ratings": {"first": {"before": 1500}}, "elo": 1.5}
    assert parquet.convert(lines({"event": "plan"}, game, rated, {**game, "elo": 2, "void": None}), out) == 3
    table = pq.read_table(out)
    assert table.column("players.first.name").to_pylist() == ["ä", "ä", "ä"]
    assert table.column("clocks").to_pylist()[0] == [[1, 2]]
    assert table.column("ratings.first.before").to_pylist() == [None, 1500, None]
    assert table.column("elo").to_pylist() == [None, 1.5, 2.0]
    assert table.column("void").to_pylist() == [None, None, None]
    assert "ratings" not in table.column_names


def test_types_that_come_late_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "BATCH", 2)
    out = str(tmp_path / "late.parquet")
    records = [{"n": None}] * 5 + [{"n": 7, "new": [1, None]}]
    assert parquet.convert(lines(*records), out) == 6
    table = pq.read_table(out)
    assert table.column("n").to_pylist() == [None] * 5 + [7]
    assert table.column("new").to_pylist() == [None] * 5 + [[1, None]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'{"a": 1}\n[1]\n', "line 2: an object"),
        (b'{"a": 1}\n{"a"\n', "line 2: "),
        (b'{"a": 1}\n{"a": "x"}\n', "`a` has values of several types"),
        (b'{"a": 99999999999999999999999}\n', "`a`"),
    ],
)
def test_what_makes_no_sense_is_named(tmp_path, text, words):
    with pytest.raises(parquet.Unreadable, match=words):
        parquet.convert(io.BytesIO(text), str(tmp_path / "no.parquet"))


def test_the_command_says_what_is_wrong_and_exits_with_2(tmp_path, capsys):
    broken = tmp_path / "broken.ndjson"
    broken.write_text("{")
    with pytest.raises(SystemExit) as ended:
        parquet.main([str(broken), str(tmp_path / "out.parquet")])
    assert ended.value.code == 2
    assert "line 1" in capsys.readouterr().err
