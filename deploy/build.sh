#!/bin/sh
# The daemon as releases have it: built twice, the second time by a profile of what the first did under load. Less
# processor time a move for twice the time to build (docs/performance.md has the figures).
#
#   deploy/build.sh [TARGET]        default: this machine's; the binary is target/profiled/TARGET/release/fourfold
#
# Needs what a plain build needs, Rust's LLVM tools (`rustup component add llvm-tools`), Python 3 and two cores: the load
# has one for itself.
set -eu
cd "$(dirname "$0")/.."

host=$(rustc --version --verbose | sed -n 's/^host: //p')
target=${1:-$host}
work=$PWD/target/profiled
merge=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata
if ! [ -x "$merge" ]; then
    echo 'deploy/build.sh: Rust has no llvm-profdata: rustup component add llvm-tools' >&2
    exit 1
fi

# Pages of memory have up to 64 KiB on some kernels of aarch64; the allocator must know the largest.
case $target in aarch64-*) export JEMALLOC_SYS_WITH_LG_PAGE=16 ;; esac

# Builds the daemon in a folder with an argument for the crates that a move passes: `build FOLDER ARGUMENT`.
build() {
    RUSTC_WRAPPER=$PWD/deploy/profiled-rustc.sh PROFILED=$2 CARGO_TARGET_DIR=$1 \
        cargo build --release --locked --bin fourfold --target "$target"
}

build "$work/watched" -Cprofile-generate="$work/seen"
# What the build's own programs have left is no load.
rm -rf "$work/seen" "$work/profile"

# A thousand players as fast as they can; some at their ease; some beside watchers, bots, learners and the judge.
(cd benches/relay && cargo build --release --locked)
train() {
    LLVM_PROFILE_FILE="$work/seen/%p.profraw" python3 benches/server.py \
        --daemon "$work/watched/$target/release/fourfold" --pairs 1 "$@" >&2
}
train --connections 1000 --rate 0 --seconds 10
train --connections 100 --rate 2000
train --connections 100 --rate 0 --watchers 1000 --busy
"$merge" merge --output "$work/profile" "$work"/seen/*.profraw

build "$work" -Cprofile-use="$work/profile"
