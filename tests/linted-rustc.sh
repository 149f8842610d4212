#!/bin/sh
# What ./test.sh has Cargo call in place of rustc for our own crates: `linted-rustc.sh RUSTC ARGUMENT…`. Clippy compiles
# what it lints, and a warning is an error.
exec clippy-driver "$@" -Dwarnings
