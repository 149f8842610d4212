//! The `fourfold` binary.
fn main() {}
