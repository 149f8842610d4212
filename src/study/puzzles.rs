//! Puzzles with proofs: positions of recorded games in which one column alone keeps the win or the draw.
//!
//! [`mining`] finds them in judged games and works out the solution with the solver's longest resistance; [`grading`]
//! says how hard they are; [`choosing`] picks the one of the day and the next one; [`attempt`] checks what somebody
//! plays; [`runs`] has those who solve one after the other; [`themes`] says what they are about, [`theme_index`] keeps
//! it; [`trial`] puts them to bots before people try them; [`shipped`] has those that come with the program. All of
//! that is pure. [`service`], [`themed`] and [`rush`] bring it together for HTTP; they are kept by
//! [`crate::storage::puzzles`].

pub(crate) mod attempt;
pub(crate) mod choosing;
pub(crate) mod grading;
pub(crate) mod mining;
pub(crate) mod runs;
pub(crate) mod rush;
pub(crate) mod service;
pub(crate) mod shipped;
pub(crate) mod theme_index;
pub(crate) mod themed;
pub(crate) mod themes;
pub(crate) mod trial;
