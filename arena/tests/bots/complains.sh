#!/bin/sh
# Writes 5 MB to standard error before each answer.
column=4
while read -r variant budget moves; do
    [ "$variant" = quit ] && exit
    head -c 5000000 /dev/zero | tr '\0' '!' >&2
    case $moves in
    *44*4*) column=3 ;;
    esac
    echo "$column"
done
