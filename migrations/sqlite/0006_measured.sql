-- How well the live learner decided after some number of games.

PRAGMA user_version = 6;

-- Thousandths of positions that can be spoilt in which it keeps the result; none where it was not measured.
ALTER TABLE learner_point ADD COLUMN decision INTEGER CHECK (decision BETWEEN 0 AND 1000);
