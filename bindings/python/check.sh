#!/bin/sh
# Builds the wheel, installs it in an environment of its own, and runs the tests, those of Gymnasium and PettingZoo among
# them. DIR is where all of that goes; it is kept, so that the next time is quicker.
set -eu
cd "$(dirname "$0")"
dir=${DIR:-target/check}
mkdir -p "$dir"
[ -x "$dir/venv/bin/python" ] || python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet maturin numpy pytest gymnasium pettingzoo pyarrow
"$dir/venv/bin/maturin" build --quiet --release --locked --interpreter "$dir/venv/bin/python" --out "$dir/dist"
"$dir/venv/bin/pip" install --quiet --force-reinstall --no-deps "$dir"/dist/fourfold-*.whl
"$dir/venv/bin/python" -m pytest -q tests
