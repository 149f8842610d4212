-- Challenges by correspondence stand for a week, across restarts too: whom they ask.
ALTER TABLE challenge_link ADD COLUMN asked TEXT; -- the public id; nobody in particular if it is missing

-- Who accepts may choose the side.
ALTER TABLE challenge_link DROP CONSTRAINT challenge_link_side_check;
ALTER TABLE challenge_link ADD CHECK (side IN ('first', 'second', 'random', 'opponent'));

CREATE INDEX challenge_link_to ON challenge_link (asked);
