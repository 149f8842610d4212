#!/bin/sh
# Dies of telling its limits: kilobytes of data, seconds of processor time.
read -r question
echo 4
read -r question
echo "data $(ulimit -d) cpu $(ulimit -t) token ${FOURFOLD_TOKEN:-none}" >&2
exit 1
