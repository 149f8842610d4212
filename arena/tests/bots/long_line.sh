#!/bin/sh
# Answers once, then with a line of 20 MB.
read -r question
echo 4
read -r question
head -c 20000000 /dev/zero | tr '\0' x
echo
