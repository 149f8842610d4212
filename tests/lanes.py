#!/usr/bin/env python3
"""Which programs Cargo has built of tests, as lines `LANE|FOLDER|PROGRAM`.

    cargo test --workspace --no-run --message-format=json-render-diagnostics | tests/lanes.py

Those of the lane `computes` compute, and no clock is asked how long they took: they may run beside others. All others
are of the lane `waits`, new ones as well.
"""

import json
import sys
from pathlib import Path

# By their names in Cargo.toml, or of their packages.
COMPUTING = {"simulation", "tidy", "positions", "fourfold_engine", "fourfold_bots"}

programs = []
for line in sys.stdin:
    built = json.loads(line)
    if built.get("executable") and built["profile"]["test"]:
        folder = Path(built["manifest_path"]).parent
        lane = "computes" if built["target"]["name"] in COMPUTING else "waits"
        programs.append((lane, folder, built["executable"]))
for lane, folder, program in sorted(programs):
    print(lane, folder, program, sep="|")
