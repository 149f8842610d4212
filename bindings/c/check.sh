#!/bin/sh
# Builds the library with its header, and a program of C and of C++ with them.
set -eu
cd "$(dirname "$0")"
target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --release --locked
# What Rust's own library needs of the system.
libs="-lpthread -ldl -lm"
cc -std=c11 -Wall -Wextra -Werror -Iinclude tests/check.c "$target/release/libfourfold.a" $libs -o "$target/check-c"
"$target/check-c"
c++ -Wall -Wextra -Werror -Wno-missing-field-initializers -x c++ -Iinclude tests/check.c -x none \
    "$target/release/libfourfold.a" $libs -o "$target/check-cpp"
"$target/check-cpp"
