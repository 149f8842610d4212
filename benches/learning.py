#!/usr/bin/env python3
"""Whether learning delays games: how long moves wait for their acknowledgement, beside a busy learner and without one.

    cargo build --release
    python3 benches/learning.py [--rounds 40] [--practice-pause-ms 500 | --no-practice] [--binary target/release/fourfold]

Two daemons on data of their own, one whose learners practise and learn as much as the settings let them, one that does
not learn. They take turns: while one is loaded, the other is stopped (SIGSTOP), so that only one learns or plays at a
time, and what else the machine does meets both. The figure is the ratio of the medians of the rounds' p99, of which the
bar is 1.2; the quartiles beside them say what the machine adds by itself. Beside it stands the geometric mean of the
ratios round by round, with the interval that holds it with 95 % certainty.
"""

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMON = {
    "FOURFOLD_LADDER_ENABLED": "false",
    "FOURFOLD_METRICS_ENABLED": "false",
    "FOURFOLD_LOG_LEVEL": "warn",
}
BUSY = {"FOURFOLD_LEARNING_PRACTICE_GAMES": "1000000"}
QUIET = {"FOURFOLD_LEARNING_ENABLED": "false"}


class Daemon:
    def __init__(self, binary, directory, environment):
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--data", str(directory)]
        environment = {**os.environ, **COMMON, **environment}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
        self.url = self.process.stdout.readline().strip().removeprefix("listening on http://")
        self.sleep()

    def sleep(self):
        self.process.send_signal(signal.SIGSTOP)

    def wake(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        self.wake()
        self.process.terminate()
        self.process.wait()


def load(binary, daemon, games, seed):
    """One window: plays games against a daemon that is awake; gives p50 and p99 in milliseconds."""
    daemon.wake()
    command = [binary, "load", "--url", f"ws://{daemon.url}", "--connections", "20", "--think-ms", "20"]
    command += ["--games", str(games), "--seed", str(seed), "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    daemon.sleep()
    return report["ack_ms"]["p50"], report["ack_ms"]["p99"]


def busy_settings(arguments):
    settings = {**BUSY, "FOURFOLD_LEARNING_PRACTICE_PAUSE_MS": str(arguments.practice_pause_ms)}
    if arguments.no_practice:
        settings["FOURFOLD_LEARNING_PRACTICE_GAMES"] = "0"
    return settings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--games", type=int, default=60, help="of each window")
    parser.add_argument("--practice-pause-ms", type=int, default=0, help="between practice games; it ships with 500")
    parser.add_argument("--no-practice", action="store_true", help="learn from the load's games alone")
    parser.add_argument("--binary", default=str(ROOT / "target" / "release" / "fourfold"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        busy = Daemon(arguments.binary, Path(directory) / "busy", busy_settings(arguments))
        quiet = Daemon(arguments.binary, Path(directory) / "quiet", QUIET)
        windows = {"busy": [], "quiet": []}
        try:
            for number in range(arguments.rounds):
                pair = [("busy", busy), ("quiet", quiet)]
                for name, daemon in pair if number % 2 == 0 else reversed(pair):
                    windows[name].append(load(arguments.binary, daemon, arguments.games, number + 1))
        finally:
            busy.stop()
            quiet.stop()
    for name, rounds in windows.items():
        p50, p99 = (statistics.quantiles(column, n=4) for column in zip(*rounds))
        print(f"{name:5}  p50 {p50[1]:.2f} ms  p99 {p99[1]:.2f} ms ({p99[0]:.2f} to {p99[2]:.2f}), {len(rounds)} windows")
    medians = [statistics.median(p99 for _, p99 in windows[name]) for name in ("busy", "quiet")]
    print(f"p99 beside a busy learner: {medians[0] / medians[1]:.2f} of that without")
    logs = [math.log(busy[1] / quiet[1]) for busy, quiet in zip(windows["busy"], windows["quiet"])]
    middle, error = statistics.mean(logs), statistics.stdev(logs) / len(logs) ** 0.5
    low, mean, high = (math.exp(middle + bound * error) for bound in (-1.96, 0, 1.96))
    print(f"round by round: {mean:.2f} ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
