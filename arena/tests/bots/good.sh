#!/bin/sh
# Speaks `simple` and plays well-behaved: the column nearest to the centre that has room.
is_full() { # moves, column: whether the column was played six times
    rest=$1 count=0
    while case $rest in *"$2"*) true ;; *) false ;; esac; do
        rest=${rest#*"$2"} count=$((count + 1))
    done
    [ "$count" -ge 6 ]
}
while read -r variant budget moves; do
    [ "$variant" = quit ] && exit
    for column in 4 3 5 2 6 1 7; do
        is_full "$moves" "$column" || break
    done
    echo "$column"
done
