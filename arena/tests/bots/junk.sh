#!/bin/sh
# Speaks `cfour`, but thinks aloud without end.
while read -r word rest; do
    case $word in
    uci) echo uciok ;;
    isready) echo readyok ;;
    go) yes "info string thinking about it" ;;
    quit) exit ;;
    esac
done
