#!/usr/bin/env python3
"""What nodes add: one that plays alone against three, each with the same small share of the processor.

    cargo build --release && (cd benches/relay && cargo build --release)
    python3 benches/cluster.py                        # 3 pairs, a quarter of a core for each node
    python3 benches/cluster.py --quota 0.2 --connections 600 --pairs 5
    python3 benches/cluster.py --peer target/old/fourfold    # another build in the same turns
    python3 benches/cluster.py --against montecarlo --connections 100    # people against a bot of the house that thinks

The node that leads has a core to itself, whose caches are its own as those of a machine are; all others, PostgreSQL, NATS and the
load share what is left. Players of a game are at different nodes. *Three* spreads them over all
nodes, *apart* over those that stand by, so that the one that leads has no connection of its own; *one, by another* is a
node of two that passes everything on, for what a move costs there. Linux only, and as root: quotas are control groups.
"""

import argparse
import json
import os
import pwd
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from server import HERE, Load, free_port

GROUPS = Path("/sys/fs/cgroup")
# Short, so that who has used up its share waits for little.
PERIOD_US = 10_000
NODES = 3
CORES = sorted(os.sched_getaffinity(0))


def on(cores):
    return ["taskset", "-c", ",".join(map(str, cores))]


LEADS_ON, OTHERS_ON = on(CORES[:1]), on(CORES[1:])

SETTINGS = """
[server]
listen = "127.0.0.1:{port}"
data = "{data}"
[storage]
url = "{url}"
[cluster]
bus = "{bus}"
node = "node-{number}"
[limits]
messages_per_20s = 1000000
games_per_player = 64
[metrics]
enabled = false
[ladder]
enabled = false
[learning]
enabled = false
[judging]
enabled = false
[log]
level = "warn"
"""


class Quota:
    """A share of the processor, by control groups of either version."""

    def __init__(self, name, cores):
        is_new = (GROUPS / "cgroup.controllers").exists()
        self.group = (GROUPS if is_new else GROUPS / "cpu") / f"fourfold-{os.getpid()}-{name}"
        self.group.mkdir()
        limit = int(cores * PERIOD_US)
        if is_new:
            (self.group / "cpu.max").write_text(f"{limit} {PERIOD_US}")
            # What is theirs they have, whatever else runs on the machine.
            (self.group / "cpu.weight").write_text("10000")
        else:
            (self.group / "cpu.shares").write_text("262144")
            (self.group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (self.group / "cpu.cfs_quota_us").write_text(str(limit))

    def hold(self, pid):
        (self.group / "cgroup.procs").write_text(str(pid))

    def end(self):
        for _ in range(50):
            try:
                return self.group.rmdir()
            except OSError:
                time.sleep(0.1)


class Ground:
    """The database and the bus."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="bench-cluster-"))
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        self.programs = programs[-1] if programs else Path(shutil.which("initdb")).parent
        self.user = pwd.getpwnam("postgres" if os.geteuid() == 0 else os.environ["USER"])
        os.chown(self.directory, self.user.pw_uid, self.user.pw_gid)
        data = self.directory / "database"
        self.run([self.programs / "initdb", "--auth=trust", "--no-sync", "--username=arena", "-D", data])
        options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={self.directory}", "-c", "max_connections=200"]
        self.database = self.start([self.programs / "postgres", "-D", data, *options], as_user=True)
        self.bus_port = free_port()
        path = f"{os.environ['PATH']}:/usr/sbin"
        nats = [shutil.which("nats-server", path=path), "-a", "127.0.0.1", "-p", str(self.bus_port)]
        self.bus = self.start(nats)
        self.made = 0

    def run(self, command):
        done = subprocess.run([str(word) for word in command], user=self.user.pw_uid, cwd="/", capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)

    def start(self, command, as_user=False):
        user = self.user.pw_uid if as_user else None
        return subprocess.Popen([str(word) for word in [*OTHERS_ON, *command]], user=user, cwd="/",
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def new_database(self):
        self.made += 1
        deadline = time.monotonic() + 20
        while True:
            command = [self.programs / "createdb", "-h", self.directory, "-U", "arena", f"arena{self.made}"]
            done = subprocess.run([str(word) for word in command], cwd="/", capture_output=True)
            if done.returncode == 0:
                socket = str(self.directory).replace("/", "%2F")
                return f"postgres://arena@{socket}/arena{self.made}"
            if time.monotonic() > deadline:
                raise SystemExit(done.stderr.decode())
            time.sleep(0.1)

    def end(self):
        self.bus.terminate()
        self.database.send_signal(signal.SIGINT)
        self.database.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


class Cluster:
    """Nodes of one arena, of which the first leads."""

    def __init__(self, ground, binary, nodes, quota):
        self.url = ground.new_database()
        self.binary, self.nodes, self.quotas, self.ports = binary, [], [], []
        self.directory = Path(tempfile.mkdtemp(prefix="bench-nodes-"))
        for number in range(nodes):
            data, port = self.directory / f"node-{number}", free_port()
            data.mkdir(mode=0o700)
            if number:
                shutil.copy(self.directory / "node-0" / "secret.key", data)
            settings = self.directory / f"{number}.toml"
            bus = f"nats://127.0.0.1:{ground.bus_port}"
            settings.write_text(SETTINGS.format(port=port, data=data, url=self.url, bus=bus, number=number))
            log = open(self.directory / f"{number}.log", "w")
            pinned = OTHERS_ON if number else LEADS_ON
            node = subprocess.Popen([*pinned, binary, "serve", "--config", str(settings)], stdout=log, stderr=log)
            self.nodes.append(node)
            self.ports.append(port)
            self.wait_for(number + 1)
        for number, node in enumerate(self.nodes):
            held = Quota(f"{ground.made}-{number}", quota)
            held.hold(node.pid)
            self.quotas.append(held)

    def wait_for(self, nodes):
        deadline = time.monotonic() + 30
        environment = {**os.environ, "FOURFOLD_STORAGE_URL": self.url}
        while time.monotonic() < deadline:
            done = subprocess.run([self.binary, "cluster", "status", "--json"], capture_output=True, text=True, env=environment)
            if done.returncode == 0:
                roles = [node["role"] for node in json.loads(done.stdout)["nodes"]]
                if "leads" in roles and len(roles) == nodes:
                    return
            time.sleep(0.2)
        raise SystemExit(f"nodes do not come up: see {self.directory}")

    def ran(self):
        """Seconds on the processor, of the one that leads and of all others together."""
        seconds = []
        for node in self.nodes:
            tasks = Path(f"/proc/{node.pid}/task").iterdir()
            seconds.append(sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9)
        return seconds[0], sum(seconds[1:])

    def end(self):
        for node in self.nodes:
            node.kill()
            node.wait()
        for quota in self.quotas:
            quota.end()
        shutil.rmtree(self.directory, ignore_errors=True)


def figures(report, before, after):
    """What a load says, and the processor time of the nodes, which ran so long before and after."""
    moves = max(report["moves"], 1)
    leads, others = ((end - begin) / moves * 1e6 for begin, end in zip(before, after))
    return {"moves/s": report["moves_per_s"], "CPU us/move, leads": leads, "CPU us/move, others": others}


def play_house(ground, binary, nodes, through, options):
    """One cluster, and people at some of its nodes who each play a bot of the house. Their moves count; the bot makes as many."""
    cluster = Cluster(ground, binary, nodes, options.quota)
    try:
        command = [*OTHERS_ON, binary, "load", "--json", "--against", options.against, "--games", "1000000"]
        for number in through:
            command += ["--url", f"ws://127.0.0.1:{cluster.ports[number]}"]
        command += ["--connections", str(options.connections)]
        before = cluster.ran()
        load = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        time.sleep(options.warm_up + options.seconds)
        load.send_signal(signal.SIGINT)
        report = json.loads(load.communicate()[0])
        after = cluster.ran()
    finally:
        cluster.end()
    return figures(report, before, after) | {
        "acknowledged, p50 ms": report["ack_ms"]["p50"],
        "acknowledged, p99 ms": report["ack_ms"]["p99"],
        "errors": sum(report["errors"].values()),
    }


def play(ground, binary, nodes, through, options):
    """One cluster, one load through some of its nodes; a flat dictionary of figures."""
    if options.against:
        return play_house(ground, binary, nodes, through, options)
    cluster = Cluster(ground, binary, nodes, options.quota)
    try:
        addresses = ",".join(f"127.0.0.1:{cluster.ports[number]}" for number in through)
        arguments = [addresses, options.connections, options.rate, options.warm_up, options.seconds]
        load = Load(arguments, OTHERS_ON)
        for phase in ["connected", "seated"]:
            load.expect(phase)
            load.go_on()
        load.expect("measuring")
        before = cluster.ran()
        load.expect("measured")
        after = cluster.ran()
        load.go_on()
        report = load.report()
    finally:
        cluster.end()
    return figures(report, before, after) | {
        "set-ups/s": report["set_ups_per_s"],
        "until both, p50 ms": report["both_us"]["p50"] / 1e3,
        "until both, p99 ms": report["both_us"]["p99"] / 1e3,
        "errors": report["errors"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--daemon", default=str(HERE.parent / "target/release/fourfold"))
    parser.add_argument("--peer", help="another build, measured in the same turns")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--quota", type=float, default=0.25, help="cores for each node")
    parser.add_argument("--connections", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--warm-up", type=float, default=2)
    parser.add_argument("--rate", type=float, default=0, help="moves a second; 0: all they can")
    parser.add_argument("--against", help="a bot of the house that all players play, in place of each other")
    options = parser.parse_args()
    if len(CORES) < 2:
        raise SystemExit("the node that leads needs a core to itself: two cores at least")
    if not 0 < options.quota <= 1:
        parser.error("--quota: more than 0 and at most 1, for the node that leads has one core")
    builds = [("", options.daemon)] + ([("peer: ", options.peer)] if options.peer else [])
    shapes = [("one", 1, [0]), ("one, by another", 2, [1]), ("three", NODES, [0, 1, 2]), ("apart", NODES, [1, 2])]
    runs = {}
    ground = Ground()
    try:
        for _ in range(options.pairs):
            for build, binary in builds:
                for shape, nodes, through in shapes:
                    runs.setdefault(build + shape, []).append(play(ground, binary, nodes, through, options))
    finally:
        ground.end()
    first = next(iter(runs.values()))
    print("| nodes | " + " | ".join(first[0]) + " | moves/s against one |")
    print("|---" * (len(first[0]) + 2) + "|")
    for name, measured in runs.items():
        cells = [f"{statistics.median(run[key] for run in measured):,.1f}" for key in first[0]]
        ratio = statistics.median(run["moves/s"] / one["moves/s"] for run, one in zip(measured, first))
        print(f"| {name} | " + " | ".join(cells) + f" | {ratio:.2f} |")


if __name__ == "__main__":
    main()
