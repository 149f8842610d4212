"""Lines of JSON as Fourfold writes them, games or labelled positions, as a Parquet file.

    pip install 'fourfold[parquet]'
    fourfold games export --data DIR | python -m fourfold.parquet - games.parquet
    python -m fourfold.parquet train.ndjson train.parquet

What is nested becomes columns with dots: `players.first.name`. The lines are read twice, first for the types, so that a
file of any length takes the memory of a few thousand lines. Lines of a match's log that are no games are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from typing import Any, BinaryIO, Iterator

#: Lines that are turned into columns at a time: some megabytes.
BATCH = 10_000


class Unreadable(ValueError):
    """A line that is no object, or whose field has another type than in the lines before."""


def flat(record: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The fields of a record, those of objects in it with dots."""
    fields: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            fields.update(flat(value, f"{prefix}{name}."))
        else:
            fields[prefix + name] = value
    return fields


def batches(lines: BinaryIO) -> Iterator[list[dict[str, Any]]]:
    """The records of a file, so many at a time."""
    batch: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise Unreadable(f"line {number}: {error}") from None
        if not isinstance(record, dict):
            raise Unreadable(f"line {number}: an object is wanted")
        if "event" in record:
            continue
        batch.append(flat(record))
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def convert(lines: BinaryIO, out: str) -> int:
    """Writes the records of a seekable file to `out` and says how many there were."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    begin, schema = lines.tell(), pa.schema([])
    for batch in batches(lines):
        found = pa.schema({name: typed(pa, name, [record.get(name) for record in batch]) for name in names(batch)})
        try:
            schema = pa.unify_schemas([schema, found], promote_options="permissive")
        except pa.ArrowException as error:
            raise Unreadable(f"the lines do not go together: {error}") from None
    # A field that is null in every line has no type of its own; one that is an object elsewhere is that object's fields.
    objects = {name[: place] for name in schema.names for place, letter in enumerate(name) if letter == "."}
    kept = [field for field in schema if field.type != pa.null() or field.name not in objects]
    schema = pa.schema([field if field.type != pa.null() else field.with_type(pa.string()) for field in kept])
    lines.seek(begin)
    written = 0
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for batch in batches(lines):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
            written += len(batch)
    return written


def names(batch: list[dict[str, Any]]) -> list[str]:
    """The fields of some records, in the order in which they come up."""
    return list(dict.fromkeys(name for record in batch for name in record))


def typed(pa: Any, name: str, values: list[Any]) -> Any:
    """The type of a column."""
    try:
        return pa.array(values).type
    except (pa.ArrowException, OverflowError) as error:
        raise Unreadable(f"`{name}` has values of several types: {error}") from None


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m fourfold.parquet", description=__doc__.splitlines()[0])
    parser.add_argument("lines", help="lines of JSON; - for standard input")
    parser.add_argument("out", help="the Parquet file")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryFile() if chosen.lines == "-" else open(chosen.lines, "rb") as file:
        if chosen.lines == "-":
            while chunk := sys.stdin.buffer.read(1 << 20):
                file.write(chunk)
            file.seek(0)
        try:
            written = convert(file, chosen.out)
        except Unreadable as error:
            parser.exit(2, f"{parser.prog}: {error}\n")
        except ImportError:
            parser.exit(2, f"{parser.prog}: pyarrow is missing: pip install 'fourfold[parquet]'\n")
    print(f"{written} lines")


if __name__ == "__main__":
    main()
