-- Orders for the whole arena, in the log of all that operators do, and players who may play but ask nobody.

PRAGMA user_version = 11;

ALTER TABLE player ADD COLUMN muted_because TEXT; -- none of whoever is not muted
ALTER TABLE player ADD COLUMN muted_until INTEGER; -- none if it does not end by itself

-- What actions there are is known to the program, which refuses to read others: a list here would have to be made anew
-- with each.
CREATE TABLE wider_audit (
    number  INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    action  TEXT NOT NULL CHECK (action <> ''),
    subject TEXT NOT NULL, -- what it was done to: the id of a game or of a player, a network, or the arena
    detail  TEXT, -- to what name, what text
    until   INTEGER, -- when it ends by itself
    reason  TEXT NOT NULL CHECK (reason <> ''),
    by_whom TEXT -- unknown of old entries
) STRICT;

INSERT INTO wider_audit (number, at, action, subject, detail, reason, by_whom)
SELECT number, at, action, subject, detail, reason, by_whom FROM audit;

DROP TABLE audit;
ALTER TABLE wider_audit RENAME TO audit;

CREATE UNIQUE INDEX audit_void ON audit (subject) WHERE action = 'void';

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
