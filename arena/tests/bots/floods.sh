#!/bin/sh
# Answers once, and then writes on and on, to both of its streams.
read -r question
echo 4
read -r question
yes >&2 &
exec yes ''
