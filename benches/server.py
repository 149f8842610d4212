#!/usr/bin/env python3
"""What a move costs: the daemon against a bare relay, in turn, in the same minutes.

    cargo build --release && (cd benches/relay && cargo build --release)
    python3 benches/server.py                       # 5 pairs at 1,000 connections, some four minutes
    python3 benches/server.py --pairs 3 --connections 20 --rate 0
    python3 benches/server.py --pairs 3 --connections 10000 --rate 0 20000 --idle-seconds 10
    python3 benches/server.py --pairs 3 --connections 100 --rate --watchers 1000 10000 --stalled 0 20
    python3 benches/server.py --peer target/old/fourfold    # another build in the same turns

The server has one core and the load the other. Each figure is the median of all pairs; the ratio is the median of the
pairs' ratios, which says more on a machine that others use too. Linux only: it reads /proc.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
RELAY = HERE / "relay" / "target" / "release"
SERVER_CORE, LOAD_CORE = "0", "1"
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")

# Beside a crowd: so few moves a second that what is measured is the crowd.
WATCHED_RATE = 200

# Whoever plays against the clock of a benchmark is no abuser.
QUIET = """
[server]
listen = "127.0.0.1:{port}"
data = "{data}"
[limits]
messages_per_20s = 1000000
games_per_player = 64
[metrics]
listen = "127.0.0.1:{metrics}"
[ladder]
enabled = {busy}
[learning]
enabled = {busy}
[judging]
enabled = {busy}
[log]
level = "warn"
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A server on its core, and what the system knows of it."""

    def __init__(self, kind, binary, options):
        self.port = free_port()
        self.data = None
        pinned = ["taskset", "-c", SERVER_CORE]
        if kind == "relay":
            command = [*pinned, *binary, f"127.0.0.1:{self.port}"]
        else:
            self.data = tempfile.mkdtemp(prefix="bench-", dir=options.data)
            config = Path(self.data) / "bench.toml"
            busy = "true" if options.busy else "false"
            values = dict(port=self.port, data=self.data, metrics=free_port(), busy=busy)
            config.write_text(QUIET.format(**values))
            command = [*pinned, binary, "serve", "--config", str(config)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise SystemExit(f"{binary} does not listen")
                time.sleep(0.05)
        time.sleep(0.5)

    def resident(self):
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * PAGE

    def threads(self):
        """Seconds on the processor and voluntary waits, by the threads' names."""
        found = {}
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                name = (task / "comm").read_text().strip()
                ran = int((task / "schedstat").read_text().split()[0]) / 1e9
                status = (task / "status").read_text()
            except OSError:
                continue
            waits = int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])
            seconds, before = found.get(name, (0.0, 0))
            found[name] = (seconds + ran, before + waits)
        return found

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.data:
            shutil.rmtree(self.data, ignore_errors=True)


class SystemCalls:
    """Counts the system calls of a process, if `perf` may."""

    def __init__(self, pid):
        self.out = tempfile.NamedTemporaryFile(mode="r", prefix="perf-")
        command = ["perf", "stat", "-x,", "-o", self.out.name, "-e", "raw_syscalls:sys_enter", "-p", str(pid)]
        try:
            self.perf = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except OSError:
            self.perf = None

    def count(self):
        if self.perf is None:
            return None
        self.perf.send_signal(signal.SIGINT)
        self.perf.wait()
        for line in Path(self.out.name).read_text().splitlines():
            if "sys_enter" in line and line.split(",")[0].isdigit():
                return int(line.split(",")[0])
        return None


class Load:
    """The load, which says when a phase has begun, and waits for a word to go on."""

    def __init__(self, arguments, pinned=()):
        command = [str(word) for word in [*pinned, RELAY / "load", *arguments]]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def expect(self, phase):
        line = self.process.stdout.readline().strip()
        if line != phase:
            raise SystemExit(f"the load says {line!r} in place of {phase!r}")

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def report(self):
        """What it has measured, once it was told to go on for the last time."""
        report = json.loads(self.process.stdout.readline())
        self.process.wait()
        return report


def play(kind, binary, options, rate, seconds, counts_calls=False, crowd=()):
    """One server, one load; a flat dictionary of figures."""
    server = Server(kind, binary, options)
    try:
        at_start = server.resident()
        arguments = [f"127.0.0.1:{server.port}", options.connections, rate, options.warm_up, seconds, *crowd]
        load = Load(arguments, ["taskset", "-c", LOAD_CORE])
        expect, go_on = load.expect, load.go_on
        expect("connected")
        time.sleep(0.5)
        idle = server.resident()
        go_on()
        expect("seated")
        time.sleep(0.5)
        seated = server.resident()
        ran = sum_of(threads_of(server.process.pid))
        time.sleep(options.idle_seconds)
        idle_share = (sum_of(threads_of(server.process.pid)) - ran) / options.idle_seconds
        go_on()
        if sum(crowd):
            expect("watching")
            time.sleep(0.5)
            watched = server.resident()
            go_on()
        expect("measuring")
        calls = SystemCalls(server.process.pid) if counts_calls else None
        before, load_before = server.threads(), sum_of(threads_of(load.process.pid))
        expect("measured")
        after, load_after = server.threads(), sum_of(threads_of(load.process.pid))
        made = calls.count() if calls else None
        go_on()
        report = load.report()
        after_load = server.resident()
    finally:
        server.stop()
    moves = max(report["moves"], 1)
    figures = {
        "moves/s": report["moves_per_s"],
        "slowest pair / median pair": report["fairness"],
        "set-ups/s": report["set_ups_per_s"],
        "until both, p50 us": report["both_us"]["p50"],
        "until both, p99 us": report["both_us"]["p99"],
        "until both, p99.9 us": report["both_us"]["p999"],
        "acknowledged, p50 us": report["acked_us"]["p50"],
        "acknowledged, p99 us": report["acked_us"]["p99"],
        "until the last watcher, p50 us": report["last_watcher_us"]["p50"],
        "until the last watcher, p99 us": report["last_watcher_us"]["p99"],
        "errors": report["errors"],
        "load CPU us/move": (load_after - load_before) / moves * 1e6,
        "KB per idle connection": (idle - at_start) / options.connections / 1e3,
        "KB per seated connection": (seated - at_start) / options.connections / 1e3,
        "idle with all seated, % of a core": idle_share * 100,
        "MB at start": at_start / 1e6,
        "MB with all connected": idle / 1e6,
        "MB with all seated": seated / 1e6,
        "MB after the load": after_load / 1e6,
    }
    if sum(crowd):
        figures["MB more after it was played"] = (after_load - watched) / 1e6
    total = waits = 0
    for name, (ran, waited) in sorted(after.items()):
        ran_before, waited_before = before.get(name, (0.0, 0))
        cost = (ran - ran_before) / moves * 1e6
        total, waits = total + cost, waits + waited - waited_before
        if cost >= 0.05:
            figures[f"  of it {name}"] = cost
    figures["CPU us/move"] = total
    figures["wake-ups/move"] = waits / moves
    if made:
        figures["system calls/move"] = made / moves
    return figures


def threads_of(pid):
    return [int((task / "schedstat").read_text().split()[0]) / 1e9 for task in Path(f"/proc/{pid}/task").iterdir()]


def sum_of(values):
    return sum(values)


def compare(title, sides, options, rate, crowd=()):
    """Alternates the sides and prints a table."""
    runs = {name: [] for name, *_ in sides}
    for _ in range(options.pairs):
        for name, kind, binary in sides:
            runs[name].append(play(kind, binary, options, rate, options.seconds, crowd=crowd))
    for name, kind, binary in [] if crowd else sides:
        counted = play(kind, binary, options, rate, min(options.seconds, 3), counts_calls=True)
        if "system calls/move" in counted:
            runs[name][0]["system calls/move"] = counted["system calls/move"]
    print(f"\n## {title}\n")
    names = list(runs)
    print("| figure | " + " | ".join(names) + " | " + " | ".join(f"{n} / {names[0]}" for n in names[1:]) + " |")
    print("|---" * (2 * len(names)) + "|")
    keys = []
    for name in names:
        keys += [key for run in runs[name] for key in run if key not in keys]
    for key in sorted(set(keys), key=lambda key: (not key.startswith("CPU"), not key.startswith("  of"), keys.index(key))):
        cells, ratios = [], []
        for name in names:
            values = [run[key] for run in runs[name] if run.get(key) is not None]
            cells.append(f"{statistics.median(values):,.2f}" if values else "")
        for name in names[1:]:
            pairs = zip(runs[names[0]], runs[name])
            both = [b[key] / a[key] for a, b in pairs if a.get(key) and b.get(key) is not None]
            ratios.append(f"{statistics.median(both):.2f}" if both else "")
        print(f"| {key} | " + " | ".join(cells + ratios) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--daemon", default=str(HERE.parent / "target/release/fourfold"))
    parser.add_argument("--peer", help="another daemon, measured in the same turns")
    parser.add_argument("--node", action="store_true", help="and a relay by Node and ws; (cd benches/relay/node && npm ci)")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--idle-seconds", type=float, default=3, help="how long nobody moves, to see what that costs")
    parser.add_argument("--warm-up", type=float, default=1)
    parser.add_argument("--rate", type=float, nargs="*", default=[0, 5000], help="moves a second; 0: all it can")
    parser.add_argument("--watchers", type=int, nargs="*", default=[], help="so many watch one game, in a table of their own")
    parser.add_argument("--stalled", type=int, nargs="*", default=[], help="so many ask to watch, and read nothing")
    parser.add_argument("--busy", action="store_true", help="with ladder, learners and judge")
    parser.add_argument("--data", help="where databases are made, on the disk that is meant")
    options = parser.parse_args()
    sides = [("relay", "relay", [str(RELAY / "relay")])]
    if options.node:
        sides.append(("Node ws", "relay", ["node", str(HERE / "relay/node/relay.js")]))
    if options.peer:
        sides.append(("before", "daemon", options.peer))
    sides.append(("daemon", "daemon", options.daemon))
    for rate in options.rate:
        pace = "as fast as it can" if rate == 0 else f"{rate:,.0f} moves/s"
        compare(f"{options.connections:,} connections, {pace}", sides, options, rate)
    for watchers in options.watchers:
        title = f"{options.connections:,} connections, {WATCHED_RATE:,.0f} moves/s, {watchers:,} watchers"
        compare(title, sides, options, WATCHED_RATE, (watchers, 0))
    for stalled in options.stalled:
        title = f"{options.connections:,} connections, as fast as it can, {stalled:,} stalled watchers"
        compare(title, sides, options, 0, (0, stalled))


if __name__ == "__main__":
    main()
