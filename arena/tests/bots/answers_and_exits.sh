#!/bin/sh
# Answers one question and ends, which is no fault between games.
read -r question
echo 4
