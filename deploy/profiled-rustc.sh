#!/bin/sh
# What deploy/build.sh has Cargo call in place of rustc: `profiled-rustc.sh RUSTC ARGUMENT…`. Crates that a move or a new
# connection passes get PROFILED as an argument more. All others are compiled as always: a solver, a bot or a hash
# of passwords that no load has tried would count as idle, and be made small in place of fast.
set -eu
rustc=$1
shift
crate=
for argument; do
    [ "$crate" != --crate-name ] || { crate=$argument; break; }
    crate=$argument
done
case $crate in
    fourfold | axum | axum_core | base64 | bytes | chacha20 | data_encoding | futures_channel | futures_util | hashbrown | \
        http | httparse | hyper | hyper_util | indexmap | matchit | mio | prometheus_client | rand | rusqlite | serde | \
        serde_core | serde_json | serde_path_to_error | sha1 | sharded_slab | slab | smallvec | tokio | tokio_tungstenite | \
        tokio_util | tower | tower_http | tracing | tracing_core | tracing_subscriber | tungstenite)
        exec "$rustc" "$@" "$PROFILED"
        ;;
esac
exec "$rustc" "$@"
