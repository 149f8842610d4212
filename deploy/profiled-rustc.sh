#!/bin/sh
# What deploy/build.sh has Cargo call in place of rustc: `profiled-rustc.sh RUSTC ARGUMENT…`. Crates that a move passes get
# PROFILED as an argument more. All others are compiled as always: a solver, a bot or a hash of passwords that no load has
# tried would count as idle, and be made small in place of fast.
set -eu
rustc=$1
shift
crate=
for argument; do
    [ "$crate" != --crate-name ] || { crate=$argument; break; }
    crate=$argument
done
case $crate in
    fourfold | bytes | futures_util | hashbrown | mio | rusqlite | serde | serde_core | serde_json | tokio | \
        tokio_tungstenite | tokio_util | tracing | tracing_core | tracing_subscriber | tungstenite)
        exec "$rustc" "$@" "$PROFILED"
        ;;
esac
exec "$rustc" "$@"
