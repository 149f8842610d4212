-- An arena that is moved here from elsewhere: while the row is there, not all of it has arrived, and no daemon takes it.
CREATE TABLE transfer (
    one_row  BOOLEAN PRIMARY KEY DEFAULT true CHECK (one_row),
    began_at BIGINT NOT NULL
);
