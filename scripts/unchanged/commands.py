"""What the commands of the program print."""

import json
import re
import subprocess
import tempfile
from pathlib import Path

from unchanged import store as fixed
from unchanged.daemon import environment

COMMAND_SECONDS = 300
SHELLS = ("bash", "elvish", "fish", "powershell", "zsh")

# Games that end in different ways, and positions without an end.
GAME = "44354445773331355"
SHORT = "4455667"

# Equal on every machine: bots are bounded by nodes or depth, and draw by a seed.
OUTPUTS = [
    "bots",
    "bots --json",
    f"solve --threads 1 {SHORT[:5]} {GAME[:12]}",
    f"solve --columns --no-book --threads 1 {GAME[:14]}",
    f"solve --threads 1 --weak {GAME[:9]}",
    "solve --threads 1 --variant 5x4 1234",
    "solve 9",
    f"review {GAME}",
    f"review {SHORT}",
    f"move --bot negamax:depth=6 {GAME[:7]}",
    f"move --bot lines69 {GAME[:8]}",
    f"move --bot random:seed=7 {SHORT[:3]}",
    "move --bot nobody",
    "match negamax:depth=4 negamax:depth=2,ties=random --games 20 --seed 7 --concurrency 1 --json",
    "match mcts greedy --games 4 --nodes 500 --seed 7 --concurrency 1",
    "match random lines69 --games 10 --seed 3 --concurrency 1 --variant 6x5 --events",
    "tournament random greedy negamax:depth=2 --format round-robin --games 4 --seed 7 --concurrency 1 --json",
    "measure greedy lines69 --solved --games 0 --json",
    "train memory --teacher negamax:depth=2 --games 30 --seed 1 --probe-games 10 --exact-positions 20 --json",
    "book openings",
    "play --first negamax:depth=4 --second lines69 --moves 44 --plain",
    "classic lines69 YRY",
    "rate none.ndjson",
    "serve --listen nowhere",
    "serve --config none.toml",
    "games verify --data none",
    "",
]


def run(binary, arguments, home):
    return subprocess.run(
        # Help names the program as it was called.
        ["fourfold", *arguments],
        executable=binary,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(home),
        cwd=home,
        timeout=COMMAND_SECONDS,
    )


def transcript(binary, arguments, home):
    """What a command prints, with its exit code: as a script would see it."""
    done = run(binary, arguments, home)
    texts = [f"$ fourfold {' '.join(arguments)}\n".encode(), done.stdout]
    texts += [b"--- standard error\n", done.stderr] if done.stderr else []
    text = b"".join([*texts, f"--- exit code {done.returncode}\n".encode()])
    return text.replace(str(home).encode(), b"<DIRECTORY>")


def help_texts(recording):
    """The help of all commands, found by reading it; completions and the manual."""
    with tempfile.TemporaryDirectory() as home:
        waiting = [[]]
        while waiting:
            command = waiting.pop()
            for flag in ("-h", "--help"):
                text = transcript(recording.binary, [*command, flag], home)
                recording.write("-".join(["fourfold", *command]) + f"{flag}.txt", text)
            waiting += [[*command, name] for name in subcommands(text.decode())]
        for shell in SHELLS:
            recording.write(f"completions.{shell}", run(recording.binary, ["completions", shell], home).stdout)
        recording.write("fourfold.1", run(recording.binary, ["man"], home).stdout)
        recording.write("version.txt", transcript(recording.binary, ["--version"], home))


def subcommands(text):
    """The names under the heading `Commands:`; deeper lines go on with a description."""
    section = re.search(r"^Commands:\n((?: .*\n)+)", text, re.MULTILINE)
    names = re.findall(r"^  (\S+)", section[1], re.MULTILINE) if section else []
    return [name for name in names if name != "help"]


def outputs(recording):
    """What commands print that need no daemon and are equal on every machine."""
    with tempfile.TemporaryDirectory() as home:
        for line in OUTPUTS:
            recording.write(f"{line or 'nothing'}.txt", transcript(recording.binary, line.split(), home))


def store(recording):
    """What is read and changed in a data directory without a daemon: verifications, exports, learners, accounts."""
    with tempfile.TemporaryDirectory() as home:
        samples = fixed.Samples(fixed.unpack(Path(home) / "data"))
        game = samples.learnt
        verifications = ["games verify", "games verify --json", "memory verify", "memory verify --json"]
        lines = [*verifications, "bots", f"review {game}", f"memory show --bot memory --game {game}"]
        lines += [f"games export --format {form}" for form in ("ndjson", "pgn", "csv")]
        lines += [f"memory show --bot {bot}" for bot in ("memory", "memory-spectator", "memory-windows@5", "nobody")]
        lines += ["memory show --bot ntuple-live --limit 20 --json", "memory export - --bot memory"]
        lines += ["memory export - --bot memory-windows@2", "games export --out all.ndjson"]
        lines += ["games export --after 211 --out last.ndjson"]
        # These read the files that were just exported.
        of_files = ["rate all.ndjson", "rate all.ndjson --rated --bots --json", "puzzles last.ndjson"]
        changes = [f"admin void {samples.thought} --reason enough", "account create emil", "bot token nobody"]
        changes += ["bot token adabot --revoke", *verifications]
        for folder, group in (("before", lines), ("files", of_files), ("after", changes)):
            for line in group:
                data = [] if folder == "files" else ["--data", "data"]
                text = transcript(recording.binary, [*line.split(), *data], home)
                recording.write(f"{folder}/{line}.txt", text)


def bench(recording):
    """Counts that a refactoring must not move; times are left out."""
    positions = fixed.ROOT / "tests" / "data" / "positions"
    sets = [str(path) for path in sorted(positions.glob("*easy.tsv"))]
    counted = {"search": ["search"], "search-11": ["search", "--depth", "11"], "solver": ["solver"]}
    counted["solver-easy"] = ["solver", "--rows", "200", "--positions", *sets]
    counted["playouts"] = ["playouts", "--games", "1000000"]
    with tempfile.TemporaryDirectory() as home:
        for name, arguments in counted.items():
            done = run(recording.binary, ["bench", *arguments, "--json"], home)
            if done.returncode:
                raise RuntimeError(f"bench {name}: {done.stderr.decode()}")
            figures = without_times(json.loads(done.stdout))
            recording.write(f"{name}.json", json.dumps(figures, indent=2) + "\n")


def without_times(figures):
    """The figures without those that say how fast they came."""
    if isinstance(figures, list):
        return [without_times(each) for each in figures]
    if not isinstance(figures, dict):
        return figures
    return {name: without_times(value) for name, value in figures.items() if "second" not in name}
