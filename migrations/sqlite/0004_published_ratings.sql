-- What operators did, and the ratings as they were last published.

PRAGMA user_version = 4;

-- What operators did and why. Append-only: together with the logs of the games, it is what everything follows from. A
-- voided game counts for no rating and teaches nobody; its settlement says `voided`.
CREATE TABLE audit (
    number  INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    action  TEXT NOT NULL CHECK (action IN ('void')),
    subject TEXT NOT NULL, -- what it was done to: the id of a game
    reason  TEXT NOT NULL CHECK (reason <> '')
) STRICT;

CREATE UNIQUE INDEX audit_void ON audit (subject) WHERE action = 'void';

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

-- How far the published ratings go. One row.
CREATE TABLE publication (
    key      INTEGER PRIMARY KEY CHECK (key = 1),
    revision INTEGER NOT NULL, -- grows whenever games count no more that did: what was fitted before is not stored then
    up_to    INTEGER -- number of the last settlement that they rest on; none if there are none
) STRICT;

INSERT INTO publication (key, revision) VALUES (1, 0);

-- The joint fits, in thousandths of an Elo point.
CREATE TABLE published_rating (
    variant TEXT NOT NULL,
    list    TEXT NOT NULL CHECK (list IN ('all', 'bots')),
    player  INTEGER NOT NULL REFERENCES player (key),
    elo     INTEGER NOT NULL,
    error   INTEGER NOT NULL, -- standard error
    games   INTEGER NOT NULL, -- that count: repeated ones once, halves of pairs not at all
    PRIMARY KEY (variant, list, player)
) STRICT, WITHOUT ROWID;
