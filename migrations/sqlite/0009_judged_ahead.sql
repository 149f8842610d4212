-- Games at which the judge has looked out of their order: those of people, while it is behind.

PRAGMA user_version = 9;

-- Numbers above `judging.covered`. A game goes from here when the judge comes to it in its order.
CREATE TABLE judged_ahead (
    number INTEGER PRIMARY KEY REFERENCES settlement (number)
) STRICT;
