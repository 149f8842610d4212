#!/bin/sh
# Answers the first question with the first argument and all others with the second.
answer=$1
while read -r question; do
    echo "$answer"
    answer=$2
done
