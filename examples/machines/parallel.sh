#!/bin/sh
# Plays a match or a tournament in N parts with GNU parallel, joins them and prints the table.
#
#   examples/machines/parallel.sh 8 match negamax:depth=6 negamax:depth=8 --games 400 --seed 7
#
# FOURFOLD names the program, DIR the directory for the logs, PARALLEL_FLAGS what else parallel is told: with
# PARALLEL_FLAGS='--sshloginfile hosts --return {}.ndjson' the parts go to other machines. Run again after an
# interruption, it goes on with the parts that are not finished.
set -eu
parts=$1
shift
fourfold=${FOURFOLD:-fourfold}
dir=${DIR:-parts}
mkdir -p "$dir"
# A new process for each part; one game at a time, as the parts share the processors.
seq "$parts" | parallel --halt now,fail=1 ${PARALLEL_FLAGS:-} \
    "$fourfold" "$@" --concurrency 1 --shard "{}/$parts" --save "$dir/{}.ndjson" --resume '>' "$dir/{}.txt"
rm -f "$dir/joined.ndjson"
seq -f "$dir/%g.ndjson" "$parts" | xargs "$fourfold" games join --out "$dir/joined.ndjson"
"$fourfold" log "$dir/joined.ndjson"
