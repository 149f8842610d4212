#!/usr/bin/env python3
"""Plants faults and says which of them the tests notice.

    scripts/planted.py                   all of tests/planted.toml
    scripts/planted.py H2 M6             those of some findings or rows
    scripts/planted.py --list            what there is to plant

All faults go into one copy of the tree, each behind a switch in the environment, so that one build serves all of them
and each is tried alone. The copy and what is built of it stay in target/planted; what cargo has built of other
people's crates is taken over by hard links. The first run takes some minutes, mostly to build.

Exit code 1 if a fault is not noticed, or if a test fails without any.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "target" / "planted"
TREE = PLACE / "tree"
# The switch. Not FOURFOLD_..., which the daemon would take for a setting.
SWITCH = "PLANTED_FAULT"
# A test that hangs has noticed: one that waits in paused time for what does not come any more waits for ever. The
# slowest that are named take ten seconds.
SECONDS_MAX = 120
# What of the tree is built, and by which arguments of cargo.
TARGETS = [
    ("src/", ["--package=fourfold", "--lib"]),
    ("engine/src/", ["--package=fourfold-engine", "--lib"]),
    ("arena/src/", ["--package=fourfold-arena", "--lib"]),
    ("arena/tests/programs", ["--package=fourfold-arena", "--test=programs"]),
    ("bots/src/", ["--package=fourfold-bots", "--lib"]),
    ("bots/tests/it/", ["--package=fourfold-bots", "--test=it"]),
    ("tests/it/", ["--package=fourfold", "--test=it"]),
    ("tests/command_line", ["--package=fourfold", "--test=command_line"]),
    ("tests/programs", ["--package=fourfold", "--test=programs"]),
]


def read_faults(wanted):
    faults = tomllib.loads((ROOT / "tests/planted.toml").read_text())["fault"]
    for number, fault in enumerate(faults):
        fault["switch"] = f"{number}"
    if wanted:
        faults = [fault for fault in faults if set(fault["row"]) & set(wanted)]
    return faults


def replacement(fault):
    """What stands in the place of the text."""
    switch = (
        "({ static ON: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| "
        f'std::env::var_os("{SWITCH}").is_some_and(|on| on == "{fault["switch"]}")); *ON }})'
    )
    text = fault["text"]
    if "instead" in fault:
        return f"(if {switch} {{ {fault['instead']} }} else {{ {text} }})"
    if fault.get("left_out"):
        return f"if !{switch} {{ {text} }}"
    return re.sub(r"\bPLANTED\b", lambda _: switch, fault["by"])


def read_tree():
    """All files of the repository, those that are not committed too."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()
    return {name: (ROOT / name).read_bytes() for name in listed if (ROOT / name).is_file()}


def plant(files, faults):
    for fault in faults:
        text = files[fault["file"]].decode()
        if text.count(fault["text"]) != 1:
            sys.exit(f"{fault['file']} has this {text.count(fault['text'])} times: {fault['text']}")
        files[fault["file"]] = text.replace(fault["text"], replacement(fault)).encode()


def write_tree(files):
    """Files that are as they were keep their times, so that little is built again."""
    for old in [path for path in TREE.rglob("*") if path.is_file()] if TREE.exists() else []:
        if str(old.relative_to(TREE)) not in files:
            old.unlink()
    for name, content in files.items():
        path = TREE / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            shutil.copymode(ROOT / name, path)


def take_over_dependencies():
    """Other people's crates are the same there."""
    built, here = ROOT / "target/debug", PLACE / "debug"
    if here.exists() or not built.exists():
        return
    for part in ["build", ".fingerprint", "deps"]:
        shutil.copytree(
            built / part, here / part, copy_function=os.link, symlinks=True,
            ignore=lambda _, names: [name for name in names if "fourfold" in name],
        )


def find_tests(faults):
    """The target of each test that is named."""
    sources = [path for base in ["src", "tests", "engine", "arena", "bots"] for path in (ROOT / base).rglob("*.rs")]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text() for path in sources if "target" not in path.parts}
    declared = {}
    for place, text in texts.items():
        for name in re.findall(r"\bfn (\w+)[(<]", text):
            declared.setdefault(name, set()).add(place)
    found = {}
    for name in {test for fault in faults for test in fault["tests"]}:
        places = declared.get(name, ())
        targets = [target for start, target in TARGETS if any(place.startswith(start) for place in places)]
        if not targets:
            sys.exit(f"there is no test {name}")
        found[name] = targets
    return found


def build(targets, cargo):
    """The programs of the targets, each by its arguments."""
    command = [*cargo, "test", "--no-run", "--locked", "--message-format=json"]
    command += sorted({argument for target in targets for argument in target})
    print("building:", " ".join(command), flush=True)
    built = subprocess.run(
        command, cwd=TREE, stdout=subprocess.PIPE, text=True, env={**os.environ, "CARGO_TARGET_DIR": str(PLACE)},
    )
    programs = {}
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-message" and message["message"]["level"] == "error":
            print(message["message"]["rendered"], file=sys.stderr)
        if message.get("reason") == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
            folder, target = Path(message["manifest_path"]).parent, message["target"]
            package = "fourfold" if folder == TREE else f"fourfold-{folder.name}"
            kind = "--lib" if "lib" in target["kind"] else f"--test={target['name']}"
            programs[f"--package={package}", kind] = (message["executable"], folder)
    if built.returncode:
        sys.exit("a fault does not compile")
    return programs


def try_test(program, name, switch):
    """How many tests of that name ran, and whether all passed; None if they did not end."""
    executable, folder = program
    environment = {key: value for key, value in os.environ.items() if key != SWITCH}
    environment["RUST_BACKTRACE"] = "0"
    if switch is not None:
        environment[SWITCH] = switch
    run = subprocess.Popen(
        [executable, name], cwd=folder, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )
    try:
        said, _ = run.communicate(timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired:
        # With the daemons that it has started.
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        return 1, None
    verdicts = re.findall(rf"^test (?:\S*::)?{name} (?:- should panic )?\.\.\. (\w+)", said, re.MULTILINE)
    ran = [verdict for verdict in verdicts if verdict != "ignored"]
    # A test that takes the whole process along has noticed, too.
    died = run.returncode not in (0, 101) and not ran
    return (1, False) if died else (len(ran), all(verdict == "ok" for verdict in ran))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", nargs="*", help="findings and rows whose faults are planted")
    parser.add_argument("--list", action="store_true", help="says what there is, and plants nothing")
    parser.add_argument("--cargo", default="cargo", help="the command that builds")
    arguments = parser.parse_args()
    faults = read_faults(arguments.row)
    if not faults:
        sys.exit("there is no such row")
    if arguments.list:
        for fault in faults:
            print(f"{', '.join(fault['row'])}: {fault['what']} ({fault['file']}): {', '.join(fault['tests'])}")
        return
    began = time.monotonic()
    tests = find_tests(faults)
    files = read_tree()
    # All of them, whichever are tried: so the copy is built once.
    plant(files, read_faults([]))
    write_tree(files)
    take_over_dependencies()
    programs = build(sorted({tuple(target) for targets in tests.values() for target in targets}), arguments.cargo.split())
    print(f"built after {time.monotonic() - began:.0f} s", flush=True)

    def outcome(name, switch):
        ran = [try_test(programs[tuple(target)], name, switch) for target in tests[name]]
        if sum(count for count, _ in ran) == 0:
            return "did not run"
        if any(passed is None for _, passed in ran):
            return "hangs"
        return "passes" if all(passed for _, passed in ran) else "fails"

    def try_sound(name):
        sound = outcome(name, None)
        if sound != "passes":
            print(f"WITHOUT ANY FAULT {name} {sound}", flush=True)
        return sound == "passes"

    def try_fault(fault):
        outcomes = {name: outcome(name, fault["switch"]) for name in fault["tests"]}
        missed = [name for name, what in outcomes.items() if what not in ("fails", "hangs")]
        hung = "hangs" in outcomes.values()
        verdict = f"NOT CAUGHT by {', '.join(missed)}" if missed else "caught by waiting in vain" if hung else "caught"
        print(f"{verdict}: {', '.join(fault['row'])}: {fault['what']}", flush=True)
        return not missed

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = [*pool.map(try_sound, sorted(tests)), *pool.map(try_fault, faults)]
    bad = results.count(False)
    print(f"{len(faults)} faults, {bad} not as they should be, after {time.monotonic() - began:.0f} s")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
