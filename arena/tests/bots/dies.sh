#!/bin/sh
# Answers once and dies at the second question, with an explanation.
read -r question
echo 4
read -r question
echo "cannot go on" >&2
exit 3
