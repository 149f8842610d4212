//! The rules between the parts, which are mostly absences: read off the sources, so that no one has to remember them.
//!
//! [`walls`] has the order of the wings and finds circles, [`pure`] and [`places`] say who may know what, [`noise`]
//! what makes sources hard to read, [`forgotten`] what nothing would miss, [`recipes`] what an addition leaves out,
//! [`documents`] what must agree with the program, [`promises`] what each promise is shown by. `ARCHITECTURE.md` says
//! why. [`tree`] and [`imports`] read the sources; every rule is shown to fail once, by [`breaches`].

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod breaches;
mod documents;
mod forgotten;
mod imports;
mod noise;
mod places;
mod planted;
mod promises;
mod pure;
mod recipes;
mod scan;
mod source;
mod tree;
mod walls;
