"""The fixed store: where it is, how it is packed and unpacked."""

import gzip
import json
import os
import shutil
import sqlite3
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARENA = ROOT / "tests" / "data" / "arena"
# Settings under which nothing happens while the store is read.
CONFIG = ARENA / "reading.toml"
CREDENTIALS = ARENA / "credentials.json"
PACKED = ARENA / "fourfold.db.gz"
KEY = ARENA / "secret.key"

DATABASE = "fourfold.db"


def credentials():
    return json.loads(CREDENTIALS.read_text())


def write_key(data):
    """The daemon refuses a key that others may read, and checkouts keep no such modes."""
    path = data / KEY.name
    path.write_bytes(KEY.read_bytes())
    path.chmod(0o600)


def unpack(data):
    """Makes a data directory that a daemon can use, and change: it is a copy."""
    data.mkdir(mode=0o700)
    write_key(data)
    with gzip.open(PACKED) as packed, open(data / DATABASE, "wb") as database:
        shutil.copyfileobj(packed, database)
    os.chmod(data / DATABASE, 0o600)
    return data


def pack(data):
    # Without name and time, so that equal databases have equal files.
    with open(PACKED, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write((data / DATABASE).read_bytes())


class Samples:
    """Names and ids of the fixed store, by what they are good for."""

    def __init__(self, data):
        self.database = sqlite3.connect(data / DATABASE)
        finished = "FROM settlement s JOIN game g ON g.key = s.game"
        ends = "(SELECT coalesce(max(reason), '') FROM event e WHERE e.game = g.key)"
        self.players = self.column("SELECT name FROM player ORDER BY name")
        self.learners = self.column("SELECT name FROM learner ORDER BY name")
        self.tournaments = self.column("SELECT id FROM tournament ORDER BY key")
        self.puzzles = self.column("SELECT id FROM puzzle WHERE game IS NOT NULL ORDER BY id LIMIT 3")
        self.puzzles += self.column("SELECT id FROM puzzle WHERE game IS NULL ORDER BY id LIMIT 2")
        self.live = self.column("SELECT id FROM game JOIN live_game ON game = key ORDER BY key")
        # The first of each kind of game: by its end, board, and why it was not rated.
        self.games = self.column(
            f"SELECT g.id {finished} WHERE s.number IN (SELECT min(s.number) {finished} "
            f"GROUP BY g.variant, g.rated, s.unrated_because, {ends}, s.result) ORDER BY s.number"
        )
        # From which the learner that played it has learnt.
        (self.learnt,) = self.column(
            f"SELECT g.id {finished} JOIN lesson l ON l.number = s.number JOIN learner n ON n.key = l.learner "
            "JOIN player p ON p.name = n.name AND p.key IN (g.first_player, g.second_player) ORDER BY s.number LIMIT 1"
        )
        # About whose moves a remote bot said what it thought.
        (self.thought,) = self.column(
            f"SELECT g.id {finished} JOIN player p ON p.name = 'adabot' AND p.key IN (g.first_player, g.second_player) "
            "JOIN event e ON e.game = g.key AND e.info LIKE '%a guess%' ORDER BY s.number LIMIT 1"
        )
        self.database.close()

    def all_games(self):
        return list(dict.fromkeys([*self.games, *self.live, self.learnt, self.thought]))

    def column(self, sql):
        return [value for (value,) in self.database.execute(sql)]
