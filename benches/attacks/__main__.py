#!/usr/bin/env python3
"""What everybody else notices while one address attacks in every way at once.

    cargo build --release
    python3 benches/attacks [--minutes 10] [--binary target/release/fourfold] [--only offers,games]

A daemon of its own, whose limits by address count for this machine too. First a quiet fifth of the time, then all
attacks of `attackers.py` from 127.0.0.66, within the 64 connections that an address may have. Meanwhile others on other
loopback addresses play, sign in, ask and come back (`bystanders.py`); the player to whom all offers go plays for points. It
is measured how long moves of others wait. At the end the attackers go, memory and disk are read again, and `fourfold
games verify` looks at everything. Ends with 1 if something of it is out of bounds. Python 3.11, nothing else.
"""

import argparse
import asyncio
import json
import math
import os
import re
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import attackers  # noqa: E402
from bystanders import RATED_GAMES, Bystanders  # noqa: E402
from wire import Address, Closed, request  # noqa: E402

ROOT = HERE.parents[1]
VICTIM = "victim"
# Bounds: what a stranger may cost everybody, beside what the quiet part takes: its games are stored too.
P99_RATIO_MAX = 2.0
MEMORY_MIB_MAX = 256
DISK_MIB_PER_MINUTE_MAX = 5
# Fewer acknowledged moves say nothing about the hundredth of them that waited longest.
ACKS_MIN = 100
ENVIRONMENT = {
    "FOURFOLD_LIMITS_LOOPBACK_EXEMPT": "false",
    "FOURFOLD_LADDER_ENABLED": "false",
    "FOURFOLD_LEARNING_ENABLED": "false",
    "FOURFOLD_LOG_LEVEL": "warn",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Daemon:
    def __init__(self, binary, data):
        self.binary, self.data, self.process, self.port = binary, data, None, 0
        self.metrics_port = free_port()

    async def start(self):
        command = [self.binary, "serve", "--listen", "127.0.0.1:0", "--data", self.data]
        log = open(Path(self.data).with_suffix(".log"), "w")  # noqa: SIM115: for as long as the daemon
        environment = {**os.environ, **ENVIRONMENT, "FOURFOLD_METRICS_LISTEN": f"127.0.0.1:{self.metrics_port}"}
        self.process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=log, env=environment
        )
        line = (await self.process.stdout.readline()).decode().strip()
        self.port = int(line.rsplit(":", 1)[1])

    def memory_mib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def disk_mib(self):
        return sum(file.stat().st_size for file in Path(self.data).rglob("*") if file.is_file()) / 2**20

    async def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), 60)


async def output(*command):
    """A command's exit code, and what it says."""
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    text, error = await process.communicate()
    return process.returncode, text.decode() + (error.decode() if process.returncode else "")


async def waits_within(bystanders, seconds):
    """The median and the 99th percentile of how long moves wait, in milliseconds, over this time."""
    bystanders.acks.clear()
    await asyncio.sleep(seconds)
    acks = sorted(bystanders.acks)
    if len(acks) < ACKS_MIN:
        print(f"only {len(acks)} moves were made in {seconds:.0f} s", file=sys.stderr)
        return math.inf, math.inf
    return acks[len(acks) // 2], acks[len(acks) * 99 // 100]


async def panics(daemon):
    """The daemon's own count over all its parts; None, which is out of bounds, if it does not say."""
    try:
        status, _, text = await request(Address("127.0.0.1", daemon.metrics_port), "GET", "/metrics")
    except (OSError, TimeoutError, Closed):
        return None
    counts = re.findall(r"^fourfold_panics_total(?:\{[^}]*\})? (\d+)$", text, re.M)
    return sum(map(int, counts)) if status == 200 and counts else None


async def measure(binary, data, minutes, chosen):
    daemon = Daemon(binary, data)
    await daemon.start()
    victim = Address("127.0.0.1", daemon.port)
    bystanders = Bystanders(victim)
    calm = [asyncio.create_task(bystanders.keep(one)) for one in bystanders.all(VICTIM)]
    empty, began = daemon.disk_mib(), time.monotonic()
    quiet_p50, quiet = await waits_within(bystanders, minutes * 12)
    memory, disk = daemon.memory_mib(), daemon.disk_mib()
    usual = (disk - empty) / (time.monotonic() - began) * 60

    attack = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "attackers.py"), "127.0.0.66", str(daemon.port), VICTIM, *chosen,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    began = time.monotonic()
    attacked_p50, attacked = await waits_within(bystanders, minutes * 60)
    most, grown = daemon.memory_mib(), (daemon.disk_mib() - disk) / (time.monotonic() - began) * 60
    tallies, _ = await asyncio.wait_for(attack.communicate(b""), 60)
    for task in calm:
        task.cancel()
    await asyncio.gather(*calm, return_exceptions=True)
    await asyncio.sleep(20)
    status, _, _ = await request(victim, "GET", "/readyz")
    panicked = await panics(daemon)
    after = daemon.memory_mib()
    code = await daemon.stop()
    verified, said = await output(binary, "games", "verify", "--data", data)

    ratio = attacked / quiet
    rated = bystanders.counts[RATED_GAMES]
    bad = {what: count for what, count in sorted(bystanders.counts.items()) if what.startswith("bad")}
    rows = [
        ("p50 of moves, quiet and attacked", f"{quiet_p50:.1f} and {attacked_p50:.1f} ms"),
        ("p99 of moves, quiet and attacked", f"{quiet:.1f} and {attacked:.1f} ms"),
        ("their ratio", f"{ratio:.2f}", ratio <= P99_RATIO_MAX),
        ("memory: quiet, attacked, 20 s later", f"{memory:.0f}, {most:.0f}, {after:.0f} MiB", most <= memory + MEMORY_MIB_MAX),
        ("disk a minute: quiet, attacked", f"{usual:.1f}, {grown:.1f} MiB", grown <= usual + DISK_MIB_PER_MINUTE_MAX),
        ("ready at the end", str(status), status == 200),
        ("panics", str(panicked), panicked == 0),
        ("exit code", str(code), code == 0),
        ("games verify", said.strip().splitlines()[-1] if said.strip() else "nothing", verified == 0),
        (RATED_GAMES, str(rated), rated > 0),
        ("what happened to others and must not", json.dumps(bad), not bad),
    ]
    for what, value, *fine in rows:
        print(f"{what:40} {value}{'' if not fine else '  ok' if fine[0] else '  OUT OF BOUNDS'}")
    print("others:", dict(sorted(bystanders.counts.items())))
    print("longest waits of others, s:", {what: round(max(waits), 2) for what, waits in sorted(bystanders.waits.items())})
    print("attacks, rounds and connections cut:", tallies.decode().strip())
    return all(fine[0] for _, _, *fine in rows if fine)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, help="length of the attack [10]")
    parser.add_argument("--binary", default=str(ROOT / "target/release/fourfold"))
    parser.add_argument("--only", help="names of attacks, separated by commas [all]")
    arguments = parser.parse_args()
    names = [attack.__name__ for attack, _ in attackers.ALL]
    chosen = arguments.only.split(",") if arguments.only else []
    if any(one not in names for one in chosen):
        parser.error(f"--only: one of {', '.join(names)}")
    with tempfile.TemporaryDirectory() as directory:
        fine = asyncio.run(measure(arguments.binary, f"{directory}/data", arguments.minutes, chosen))
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
