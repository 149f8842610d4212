#!/bin/sh
# Speaks `aigames`: nothing is said but in answer to an action.
while read -r word rest; do
    [ "$word" = action ] && echo "place_disc 3"
done
