-- Players who are kept out, and a log of all that operators do.

PRAGMA user_version = 10;

ALTER TABLE player ADD COLUMN banned_because TEXT; -- none of whoever is not banned
ALTER TABLE player ADD COLUMN banned_until INTEGER; -- none if it does not end by itself

CREATE TABLE longer_audit (
    number  INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    action  TEXT NOT NULL CHECK (action IN ('void', 'ban', 'unban', 'rename', 'reset_password', 'sign_out')),
    subject TEXT NOT NULL, -- what it was done to: the id of a game or of a player
    detail  TEXT, -- until when, to what name
    reason  TEXT NOT NULL CHECK (reason <> ''),
    by_whom TEXT -- unknown of old entries
) STRICT;

INSERT INTO longer_audit (number, at, action, subject, reason)
SELECT number, at, action, subject, reason FROM audit;

DROP TABLE audit;
ALTER TABLE longer_audit RENAME TO audit;

CREATE UNIQUE INDEX audit_void ON audit (subject) WHERE action = 'void';

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
