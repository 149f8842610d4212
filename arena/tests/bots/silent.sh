#!/bin/sh
# Never says anything.
exec sleep 1000
