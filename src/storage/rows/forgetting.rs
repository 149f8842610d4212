//! Which games lose what bots thought.

/// The keys of games among bots of the house, above a number and up to one: the names of both parameters.
macro_rules! of_house {
    ($above:literal, $last:literal) => {
        concat!(
            "(SELECT n.game FROM settlement n JOIN game g ON g.key = n.game \
             JOIN player f ON f.key = g.first_player JOIN player s ON s.key = g.second_player \
             WHERE n.number > ",
            $above,
            " AND n.number <= ",
            $last,
            " AND f.house AND s.house)"
        )
    };
}
pub(crate) use of_house;
