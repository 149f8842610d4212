#!/bin/sh
# Never reads, always writes what is no move.
exec yes hello
