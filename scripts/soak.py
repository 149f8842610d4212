#!/usr/bin/env python3
"""Whether a daemon that is used for long grows: memory, open files, threads, disk, what waits, panics.

    cargo build --release
    python3 scripts/soak.py --minutes 1      # to see that it works
    python3 scripts/soak.py --minutes 60     # before a release
    python3 scripts/soak.py --minutes 60 --alone --svg docs/images/soak.svg     # a default daemon that nobody visits
    python3 scripts/soak.py --waves 20       # a thousand players come and go, twenty times

A daemon of its own plays by itself (ladder, learners, judge), while `fourfold load` plays games over sockets with
people who watch, and others come and go: half a handshake, a guest that vanishes, pages, feeds that are dropped. Every
two seconds /metrics and /proc are read. After the warm-up (a third of the time, at most twenty minutes) straight lines are
laid through the samples; the run fails if one rises faster than its bound. Of memory it is the least of each minute: a
search or an export takes tens of megabytes for seconds, and what counts is what is not given back. Waves are judged by the
memory of the last against that of the first, both once all have left. Standard library alone; Linux.
"""

import argparse
import base64
import json
import math
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import curves

ROOT = Path(__file__).resolve().parent.parent
SAMPLE_S = 2
WARM_UP_MAX_S = 1_200

# Growth after the warm-up that is borne, a minute: what is measured, bound, why so much.
BOUNDS = {
    "rss_floor_kib": (103, "1 MiB in ten minutes: allocators keep pages, caches fill"),
    "fds": (0.5, "connections come and go, none stays"),
    "threads": (0.5, "a pool may start a thread late"),
    "sessions": (2, "sessions of the vanished end after two minutes"),
    "writer_queue": (1, "what waits is written"),
    "bytes_per_game": (8, "a game takes as much room late as early"),
}
# In runs too short for a straight line, solver tables, networks of learners and caches are still being filled.
SHORT_S = 900
SHORT_RSS_KIB = 131_072

# After so many seconds what a wave left is given back to the system.
AFTER_WAVE_S = 20
WAVE_GROWTH_MAX = 1.15

BASICS = {
    "FOURFOLD_LOG_LEVEL": "warn",
    "FOURFOLD_METRICS_LISTEN": "127.0.0.1:{port}",
    "FOURFOLD_SERVER_RESTART_NOTICE_MS": "0",
}
BUSY = {
    "FOURFOLD_LADDER_CPU_SHARE": "20",
    "FOURFOLD_STORAGE_DURABILITY": "relaxed",
}
# Whoever comes in a wave is no flood.
OPEN = {"FOURFOLD_LIMITS_MESSAGES_PER_20S": "1000000"}
TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Daemon:
    def __init__(self, binary, data, settings):
        self.data = data
        self.metrics_port = free_port()
        settings = {**BASICS, **settings}
        environment = {name: value.format(port=self.metrics_port) for name, value in settings.items()}
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--data", str(data)]
        environment = {**os.environ, **environment}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
        self.address = self.process.stdout.readline().strip().removeprefix("listening on http://")
        if not self.address:
            sys.exit("the daemon does not start")

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=60)

    def sample(self):
        """One row of figures, or None if the daemon is gone."""
        try:
            url = f"http://127.0.0.1:{self.metrics_port}/metrics"
            text = urllib.request.urlopen(url, timeout=10).read().decode()
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            ran = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            fds = len(os.listdir(f"/proc/{self.process.pid}/fd"))
        except OSError:
            return None

        def metric(name):
            return sum(float(value) for value in re.findall(rf"^fourfold_{name}(?:{{[^}}]*}})? (\S+)", text, re.M))

        def field(name):
            return int(re.search(rf"^{name}:\s+(\d+)", status, re.M)[1])

        disk = sum(file.stat().st_size for file in self.data.glob("fourfold.db*"))
        games = metric("games_finished_total")
        return {
            "at": time.monotonic(),
            "rss_kib": field("VmRSS"),
            "threads": field("Threads"),
            "fds": fds,
            "disk": disk,
            "games": games,
            "bytes_per_game": disk / games if games else 0,
            "live": metric("live_games"),
            "sessions": metric("sessions"),
            "writer_queue": metric("writer_queue"),
            "unjudged": metric("games_unjudged"),
            "cpu_s": (int(ran[11]) + int(ran[12])) / TICKS,
            "panics": metric("panics_total") + metric("set_aside_total"),
        }


def come_and_go(address, stop, seed):
    """Strangers: nobody is patient, few are polite."""
    host, port = address.rsplit(":", 1)
    rng = random.Random(seed)
    pages = ["/", "/leaderboard", "/games", "/api/v1/live", "/api/v1/games?limit=200", "/api/v1/live/feed", "/nothing"]

    def dial():
        return socket.create_connection((host, int(port)), timeout=5)

    def half_a_request():
        with dial() as stream:
            stream.sendall(b"GET / HT")

    def page():
        with dial() as stream:
            path = rng.choice(pages)
            stream.sendall(f"GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n".encode())
            stream.recv(rng.choice([1, 65_536]))

    def guest():
        key = base64.b64encode(rng.randbytes(16)).decode()
        upgrade = (
            f"GET /api/v1/socket HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: fourfold.v1\r\n\r\n"
        )
        time_control = {"bank_ms": 10_000, "increment_ms": 0, "move_ms": None}
        messages = [
            {"type": "hello", "protocol": 1, "client": {}},
            rng.choice([
                {"type": "seek", "time": time_control, "rated": False, "opponents": ["human"]},
                {"type": "open_challenge", "time": time_control, "rated": False},
                {"type": "play_bot", "bot": "random", "time": time_control},
                {"type": "watch", "feed": rng.choice(["lobby", "tv", "ladder", "results"])},
            ]),
        ]
        with dial() as stream:
            stream.sendall(upgrade.encode())
            stream.recv(4_096)
            for message in messages:
                stream.sendall(masked(json.dumps(message).encode()))
            time.sleep(rng.uniform(0, 1))

    while not stop.is_set():
        try:
            rng.choice([half_a_request, page, page, guest])()
        except OSError:
            pass  # refused, cut off or too slow: that is the daemon's right
        stop.wait(rng.uniform(0.05, 0.5))


def masked(payload):
    """A text frame as a client sends it; the mask of zeros changes nothing."""
    length = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
    return b"\x81" + length + bytes(4) + payload


def play(binary, address, stop):
    """Whole games, as long as it lasts."""
    seed = 0
    while not stop.is_set():
        seed += 1
        command = [binary, "load", "--url", f"ws://{address}", "--connections", "20", "--spectators", "10"]
        command += ["--games", "100", "--think-ms", "20", "--seed", str(seed), "--json"]
        subprocess.run(command, capture_output=True, check=False)


def with_floors(samples):
    """The samples, each with the least memory of its minute."""
    minutes = {}
    for sample in samples:
        minutes.setdefault(sample["at"] // 60, []).append(sample["rss_kib"])
    return [{**sample, "rss_floor_kib": min(minutes[sample["at"] // 60])} for sample in samples]


def slope(samples, name):
    """Growth a minute by least squares."""
    xs = [(sample["at"] - samples[0]["at"]) / 60 for sample in samples]
    ys = [sample[name] for sample in samples]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - x_mean) ** 2 for x in xs)
    return sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys)) / spread if spread else 0.0


def judge(samples, seconds):
    """Prints what was measured; whether all bounds hold."""
    is_short = seconds < SHORT_S
    failed = False
    samples = with_floors(samples)
    print(f"{'':16}{'first':>12}{'last':>12}{'most':>12}{'a minute':>12}{'bound':>10}")
    for name in samples[0]:
        if name == "at":
            continue
        first, last, rise = samples[0][name], samples[-1][name], slope(samples, name)
        bound, verdict = "", ""
        if name in BOUNDS and not is_short:
            bound = BOUNDS[name][0]
            verdict = "" if rise <= bound else f"FAILED: {BOUNDS[name][1]}"
        elif name == "rss_kib":
            verdict = "" if last - first <= SHORT_RSS_KIB else f"FAILED: more than {SHORT_RSS_KIB} KiB"
        elif name == "panics":
            verdict = "" if last == 0 else "FAILED: must stay 0"
        failed |= bool(verdict)
        most = max(sample[name] for sample in samples)
        print(f"{name:16}{first:12.0f}{last:12.0f}{most:12.0f}{rise:12.2f}{bound:>10} {verdict}")
    if is_short:
        print(f"under {SHORT_S // 60} minutes only memory and panics are judged")
    if samples[-1]["games"] <= samples[0]["games"]:
        failed = True
        print("FAILED: no games were played")
    return not failed


def drawn(samples, heading):
    """The whole run as curves."""
    minutes = [(sample["at"] - samples[0]["at"]) / 60 for sample in samples]

    def each_minute(name):
        """What a figure has risen by, minute by minute."""
        ends = [max(at for at, minute in enumerate(minutes) if minute <= end) for end in range(int(minutes[-1]) + 1)]
        rises = [samples[b][name] - samples[a][name] for a, b in zip(ends, ends[1:])]
        return [minutes[end] for end in ends[1:]], rises

    curve = lambda name, scale: (minutes, [sample[name] / scale for sample in samples])
    at, games = each_minute("games")
    _, ran = each_minute("cpu_s")
    return curves.draw(heading, [
        ("memory, MB", *curve("rss_kib", 1e6 / 1024)),
        ("disk, MB", *curve("disk", 1e6)),
        ("games", *curve("games", 1)),
        ("games a minute", at, games),
        ("processor, % of a core", at, [seconds / 60 * 100 for seconds in ran]),
        ("games not judged yet", *curve("unjudged", 1)),
    ])


def come_in_waves(options):
    """A thousand players come, play and leave, again and again; whether memory stays where it was."""
    with tempfile.TemporaryDirectory() as directory:
        quiet = {f"FOURFOLD_{part}_ENABLED": "false" for part in ("LADDER", "LEARNING", "JUDGING")}
        daemon = Daemon(options.binary, Path(directory) / "data", {**OPEN, **quiet})
        levels = []
        try:
            for wave in range(options.waves):
                command = [options.binary, "load", "--url", f"ws://{daemon.address}", "--connections", "1000"]
                command += ["--games", "1000", "--seed", str(wave + 1), "--json"]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                time.sleep(AFTER_WAVE_S)
                sample = daemon.sample()
                levels.append(sample["rss_kib"] * 1024 / 1e6)
                print(f"wave {wave + 1:2}: {levels[-1]:6.1f} MB, {sample['sessions']:.0f} sessions, {sample['games']:.0f} games"
                      + ("" if done.returncode == 0 else f", the load ended with {done.returncode}"), flush=True)
        finally:
            daemon.stop()
    growth = levels[-1] / levels[0]
    print(f"after the last {growth:.2f} times what it was after the first; at most {WAVE_GROWTH_MAX}")
    return growth <= WAVE_GROWTH_MAX


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--strangers", type=int, default=8, help="who come and go at the same time")
    parser.add_argument("--alone", action="store_true", help="a default daemon, without players and strangers")
    parser.add_argument("--waves", type=int, help="nothing but so many waves of a thousand players")
    parser.add_argument("--svg", metavar="FILE", help="draw the whole run there")
    parser.add_argument("--binary", default=str(ROOT / "target/release/fourfold"))
    parser.add_argument("--json", metavar="FILE", help="write all samples there")
    parser.add_argument("--judge", metavar="FILE", help="run nothing: judge these samples of an earlier run")
    options = parser.parse_args()
    if options.judge:
        samples = [json.loads(line) for line in Path(options.judge).read_text().splitlines()]
        sys.exit(0 if judge(samples, math.inf) else 1)
    if options.waves:
        sys.exit(0 if come_in_waves(options) else 1)
    seconds = options.minutes * 60
    warm_up = min(seconds / 3, WARM_UP_MAX_S)
    samples, all_samples, stop = [], [], threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as directory:
        daemon = Daemon(options.binary, Path(directory) / "data", {} if options.alone else BUSY)
        workers = [] if options.alone else [threading.Thread(target=play, args=(options.binary, daemon.address, stop))]
        for seed in range(0 if options.alone else options.strangers):
            workers.append(threading.Thread(target=come_and_go, args=(daemon.address, stop, seed)))
        for worker in workers:
            worker.start()
        began, code = time.monotonic(), None
        try:
            while time.monotonic() - began < seconds:
                time.sleep(SAMPLE_S)
                sample = daemon.sample()
                if sample is None:
                    print(f"FAILED: the daemon does not answer, exit code {daemon.process.poll()}")
                    break
                all_samples.append(sample)
                if sample["at"] - began >= warm_up:
                    samples.append(sample)
        finally:
            stop.set()
            for worker in workers:
                worker.join()
            code = daemon.stop()
        verified = subprocess.run(
            [options.binary, "games", "verify", "--data", str(daemon.data)], capture_output=True, text=True, check=False
        )
    if options.json:
        Path(options.json).write_text("\n".join(json.dumps(sample) for sample in samples) + "\n")
    if options.svg and all_samples:
        whose = "a default daemon, alone" if options.alone else "a daemon that is used"
        Path(options.svg).write_text(drawn(all_samples, f"{options.minutes:g} minutes of {whose}"))
    is_good = len(samples) > 2 and judge(samples, seconds)
    print(verified.stdout.strip() or verified.stderr.strip())
    if code != 0 or verified.returncode != 0:
        print(f"FAILED: exit codes {code} of the daemon, {verified.returncode} of games verify")
        is_good = False
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
