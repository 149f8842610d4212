#!/bin/sh
# Answers at once the first time, then after 0.6 seconds.
pause=0
while read -r question; do
    sleep "$pause"
    pause=0.6
    echo 4
done
