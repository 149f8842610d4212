//! What is hashed of games from before there was a chain, read from their rows.

/// Selects the next games with what is hashed of them, [`crate::storage::chain::content`], above a number, at most so
/// many. The arguments are how the engine writes a line feed, and its parameters.
macro_rules! select_contents {
    ($line_feed:literal, $above:literal, $limit:literal) => {
        concat!(
            "SELECT n.number, concat_ws(",
            $line_feed,
            ", n.number, g.id, f.id, s.id, g.variant, coalesce(g.bank_ms || '', '-'), g.increment_ms, \
             coalesce(g.move_ms || '', '-'), CASE WHEN g.rated THEN 1 ELSE 0 END, \
             coalesce(g.unrated_because, '-'), coalesce(g.first_footing, '-'), coalesce(g.second_footing, '-'), \
             g.opening_kind, g.opening_moves, coalesce(g.pair_id, '-'), coalesce(g.pair_leg || '', '-'), \
             coalesce(g.pair_of || '', '-'), g.started_at, n.moves, n.result, coalesce(e.reason, '-'), \
             coalesce(e.at_fault, '-'), n.ended_at) || ",
            $line_feed,
            " AS content FROM settlement n JOIN game g ON g.key = n.game \
             JOIN player f ON f.key = g.first_player JOIN player s ON s.key = g.second_player \
             LEFT JOIN event e ON e.game = n.game \
             AND e.seq = (SELECT max(l.seq) FROM event l WHERE l.game = n.game) WHERE n.number > ",
            $above,
            " ORDER BY n.number LIMIT ",
            $limit
        )
    };
}
pub(in crate::storage) use select_contents;
