#!/usr/bin/env python3
"""Shows whether a change to the code changed anything that can be seen from outside.

    cargo build --release
    scripts/unchanged.py record /tmp/before --binary target/release/fourfold
    ... change the code, build again ...
    scripts/unchanged.py compare /tmp/before --binary target/release/fourfold

`record` writes down what the program prints and serves, as text: help, manual, schemas, pages in all languages,
answers of the HTTP interface and the socket, exports and verifications, counts of nodes. Pages and answers are those
of a daemon on a copy of the store in tests/data/arena, in which nothing happens while it is read. What differs from
one recording to the next is replaced by its name, see unchanged/placeholders.py. `compare` records again, shows what
differs, and ends with 1 if anything does. Only recordings of the same machine compare.

Needs Python 3.10 or newer with SQLite 3.37 or newer, and nothing else. Takes about half a minute.

`make-store` makes the store anew, which is not needed until there is another form of the database.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from unchanged import commands, differences, files, interface, pages, talk
from unchanged.recording import Recording

# Each writes into a folder of its own name.
PARTS = {
    "wire": files.wire,
    "migrations": files.migrations,
    "help": commands.help_texts,
    "commands": commands.outputs,
    "store": commands.store,
    "bench": commands.bench,
    "schemas": interface.schemas,
    "pages": pages.pages,
    "api": interface.api,
    "assets": pages.assets,
    "socket": talk.socket,
}


def parts_of(text):
    names = text.split(",")
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: the parts are {', '.join(PARTS)}")
    return names


def binary_of(text):
    path = Path(text).resolve()
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no program at {text}: cargo build --release makes one")
    return path


def record(directory, binary, parts):
    for part in parts:
        print(f"recording {part}", file=sys.stderr, flush=True)
        PARTS[part](Recording(directory / part, binary))


def check_directory(directory):
    """Only what was recorded is ever overwritten."""
    strangers = [path.name for path in directory.iterdir() if path.name not in PARTS] if directory.exists() else []
    if strangers:
        raise SystemExit(f"unchanged.py: {directory} holds something else than a recording: {', '.join(strangers[:5])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["record", "compare", "make-store"])
    parser.add_argument("directory", nargs="?", type=Path, help="the recording; make-store has none")
    parser.add_argument("--binary", type=binary_of, required=True, help="the program to look at")
    parser.add_argument("--only", type=parts_of, default=list(PARTS), metavar="PART,...", help=", ".join(PARTS))
    arguments = parser.parse_args()
    if arguments.verb == "make-store":
        from unchanged.make_store import make

        return make(arguments.binary)
    if arguments.directory is None:
        parser.error(f"{arguments.verb} needs the directory of a recording")
    if arguments.verb == "record":
        check_directory(arguments.directory)
        for part in arguments.only:
            shutil.rmtree(arguments.directory / part, ignore_errors=True)
        record(arguments.directory, arguments.binary, arguments.only)
        return 0
    missing = [part for part in arguments.only if not (arguments.directory / part).is_dir()]
    if missing:
        raise SystemExit(f"unchanged.py: {arguments.directory} has no recording of {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as now:
        record(Path(now), arguments.binary, arguments.only)
        return differences.show(arguments.directory, Path(now), arguments.only)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"unchanged.py: {error}")
