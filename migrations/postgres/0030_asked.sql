-- Challenges by correspondence stand for a week, across restarts too: whom they ask.
ALTER TABLE challenge_link ADD COLUMN asked TEXT; -- the public id; nobody in particular if it is missing

CREATE INDEX challenge_link_to ON challenge_link (asked);
