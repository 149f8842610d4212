#!/bin/sh
# Speaks `board42`: prints the move for the column in the middle, or writes it to a file if it is called so.
board=$2
[ "${#board}" -eq 42 ] || exit 1
case $1 in
print) printf 'thinking\nMove 4\n' ;;
write) echo "Move 4" >Move.txt ;;
nothing) ;;
esac
