-- Players, credentials, games, ratings.
--
-- Internal keys are integers, so that games in progress are neighbours on disk; public ids are text.
-- Times are milliseconds since 1970, UTC; ratings are thousandths of an Elo point.
-- A game's event log is the truth. What `settlement`, `rating_entry`, `player_game` and `rating` hold follows from the
-- logs in the order of the settlement numbers, and `fourfold games verify` recomputes it.

PRAGMA application_id = 0x43345634; -- "C4V4"
PRAGMA user_version = 1;

CREATE TABLE player (
    key        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL COLLATE NOCASE UNIQUE,
    kind       TEXT NOT NULL CHECK (kind IN ('human', 'bot', 'guest')),
    house      INTEGER NOT NULL CHECK (house IN (0, 1)),
    owner      INTEGER REFERENCES player (key),
    password   TEXT, -- PHC string
    version    TEXT,
    about      TEXT,
    url        TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX player_of_owner ON player (owner) WHERE owner IS NOT NULL;
CREATE INDEX player_of_house ON player (house) WHERE house = 1;

-- Only valid or expired credentials: a revoked one is deleted.
CREATE TABLE token (
    key        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    player     INTEGER NOT NULL REFERENCES player (key),
    kind       TEXT NOT NULL CHECK (kind IN ('bot', 'session')),
    digest     BLOB NOT NULL UNIQUE CHECK (length(digest) = 32), -- SHA-256 of the secret
    created_at INTEGER NOT NULL,
    expires_at INTEGER
) STRICT;

CREATE INDEX token_of_player ON token (player);

-- What is fixed when a game begins.
CREATE TABLE game (
    key             INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    first_player    INTEGER NOT NULL REFERENCES player (key),
    second_player   INTEGER NOT NULL REFERENCES player (key),
    variant         TEXT NOT NULL,
    bank_ms         INTEGER,
    increment_ms    INTEGER NOT NULL,
    move_ms         INTEGER,
    rated           INTEGER NOT NULL CHECK (rated IN (0, 1)),
    unrated_because TEXT,
    opening_kind    TEXT NOT NULL CHECK (opening_kind IN ('none', 'balanced', 'given')),
    opening_moves   TEXT NOT NULL,
    pair_id         TEXT,
    pair_leg        INTEGER,
    pair_of         INTEGER,
    started_at      INTEGER NOT NULL,
    CHECK ((pair_id IS NULL) = (pair_leg IS NULL) AND (pair_id IS NULL) = (pair_of IS NULL))
) STRICT;

CREATE INDEX rated_game_between
    ON game (min(first_player, second_player), max(first_player, second_player), started_at) WHERE rated = 1;

-- Games that have not finished, so that a start need not look through all others.
CREATE TABLE live_game (
    game INTEGER PRIMARY KEY REFERENCES game (key)
) STRICT;

-- The append-only log. Numbers are dense from 1 in each game.
CREATE TABLE event (
    game        INTEGER NOT NULL REFERENCES game (key),
    seq         INTEGER NOT NULL CHECK (seq >= 1),
    kind        TEXT NOT NULL CHECK (kind IN ('move', 'takeback', 'paused', 'finished')),
    first_ms    INTEGER NOT NULL, -- what the sides have left after it
    second_ms   INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    column_no   INTEGER, -- of a move, from 1
    spent_ms    INTEGER,
    credited_ms INTEGER,
    info        TEXT, -- what the bot thought, private to its owner
    plies       INTEGER, -- of a takeback
    result      TEXT, -- of the end
    reason      TEXT,
    at_fault    TEXT,
    PRIMARY KEY (game, seq),
    CHECK ((kind = 'move') = (column_no IS NOT NULL)),
    CHECK ((kind = 'takeback') = (plies IS NOT NULL)),
    CHECK ((kind = 'finished') = (result IS NOT NULL AND reason IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TRIGGER event_is_not_changed BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'the log of a game is append-only'); END;

CREATE TRIGGER event_is_not_deleted BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'the log of a game is append-only'); END;

-- One row for each finished game. Numbers are dense from 1, in the order of the commits.
CREATE TABLE settlement (
    number          INTEGER PRIMARY KEY,
    game            INTEGER NOT NULL UNIQUE REFERENCES game (key),
    result          TEXT NOT NULL CHECK (result IN ('first', 'second', 'draw', 'void')),
    moves           TEXT NOT NULL, -- all on the board at the end, the opening's included
    unrated_because TEXT,
    ended_at        INTEGER NOT NULL
) STRICT;

CREATE INDEX settlement_ended ON settlement (ended_at);

-- A player's finished games in their order.
CREATE TABLE player_game (
    player INTEGER NOT NULL REFERENCES player (key),
    number INTEGER NOT NULL REFERENCES settlement (number),
    PRIMARY KEY (player, number)
) STRICT, WITHOUT ROWID;

-- What a rated game did to the rating of either player.
CREATE TABLE rating_entry (
    player   INTEGER NOT NULL REFERENCES player (key),
    variant  TEXT NOT NULL,
    number   INTEGER NOT NULL REFERENCES settlement (number),
    opponent INTEGER NOT NULL REFERENCES player (key),
    before   INTEGER NOT NULL,
    delta    INTEGER NOT NULL,
    after    INTEGER NOT NULL,
    PRIMARY KEY (player, variant, number),
    UNIQUE (number, player),
    CHECK (after = before + delta)
) STRICT, WITHOUT ROWID;

CREATE INDEX rating_entry_between ON rating_entry (player, opponent, variant, number) WHERE player < opponent;

-- The fold of a player's entries.
CREATE TABLE rating (
    player  INTEGER NOT NULL REFERENCES player (key),
    variant TEXT NOT NULL,
    rating  INTEGER NOT NULL,
    games   INTEGER NOT NULL,
    wins    INTEGER NOT NULL,
    draws   INTEGER NOT NULL,
    losses  INTEGER NOT NULL,
    PRIMARY KEY (player, variant),
    CHECK (games = wins + draws + losses)
) STRICT, WITHOUT ROWID;

CREATE INDEX rating_of_variant ON rating (variant, rating DESC);
