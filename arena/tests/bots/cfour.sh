#!/bin/sh
# Speaks `cfour` and always drops on the file in the argument.
file=$1
while read -r word rest; do
    case $word in
    uci) printf 'id name drops\noption name UCI_Variant type combo default cfour var cfour\nuciok\n' ;;
    isready) echo readyok ;;
    position) position=$rest ;;
    go)
        rank=1
        rest=$position
        while case $rest in *"P@$file"*) true ;; *) false ;; esac; do
            rest=${rest#*"P@$file"} rank=$((rank + 1))
        done
        printf 'info depth 1\nbestmove P@%s%s\n' "$file" "$rank"
        ;;
    quit) exit ;;
    esac
done
