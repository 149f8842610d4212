"""The HTTP interface for programs."""

import hashlib
import io
import json
import re
import tarfile

from unchanged.arena import Arena
from unchanged.pages import POSITIONS

DOCUMENTS = ("openapi.json", "protocol.schema.json")


def schemas(recording):
    """The descriptions that the daemon publishes of its own interface."""
    with Arena(recording.binary) as arena:
        for name in DOCUMENTS:
            # As it comes, and as one can read it.
            recording.write(f"{name}.txt", arena.tell(f"/api/v1/{name}"))
            described = json.loads(arena.ask(f"/api/v1/{name}").body)
            recording.write(name, json.dumps(described, indent=1, ensure_ascii=False) + "\n")


def api(recording):
    """Every GET that the daemon describes, with every parameter that it describes; refusals, figures, kits."""
    with Arena(recording.binary) as arena:
        described = json.loads(arena.ask("/api/v1/openapi.json").body)
        for template, operations in described["paths"].items():
            if "get" in operations and not template.endswith(DOCUMENTS):
                get(recording, arena, template, operations["get"])
        for number, (line, who, headers, body) in enumerate(odd_requests(arena), 1):
            method, path = line.split()
            answer = arena.tell(path, who, headers, method=method, body=body)
            recording.write(f"odd/{number:02}-{method}-{path.rpartition('/')[2]}.txt", answer)
        recording.write("metrics.txt", metrics(arena))
        for kit in ("python", "javascript", "rust"):
            recording.write(f"kits/{kit}.txt", contents(arena.ask(f"/kits/{kit}.tar").body))


# ---- what is described ----


def get(recording, arena, template, operation):
    whole = not template.endswith("/feed")
    people = ["nobody", "ada", "guest"] if "/puzzles/" in template else ["nobody"]
    if operation.get("security"):
        people = ["nobody", "ada", "guest", "bot"]
    for path in addresses(template, operation, arena.samples):
        for who in people:
            name = "/".join(["get", *([] if who == "nobody" else [who]), path.removeprefix("/api/v1/")])
            recording.write(f"{name}.txt", arena.tell(path, who, whole=whole))


def addresses(template, operation, samples):
    """The addresses to ask for, with samples for what is variable in path and query."""
    if template == "/api/v1/live/feed":
        # It says nothing until a game ends. How feeds look shows that of a game.
        return []
    paths = [template]
    if part := re.search(r"\{(\w+)\}", template):
        paths = [template.replace(part[0], value) for value in path_values(template, part[1], samples)]
    queries = [parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "query"]
    return paths + [f"{paths[0]}?{name}={value}" for name in queries for value in query_values(name, samples)]


def path_values(template, name, samples):
    kind = template.removeprefix("/api/v1/").partition("/")[0]
    if template.endswith("/feed"):
        return [samples.live[0], samples.games[0]]
    known = {
        "bots name": ["adabot"],
        "players name": ["ada", "memory", "memory@5", "adabot", "nobody"],
        "positions moves": POSITIONS,
        "games id": [*samples.all_games(), "none"],
        "tournaments id": [*samples.tournaments, "none"],
        "puzzles id": [*samples.puzzles, "none"],
    }
    return sample(known, f"{kind} {name}")


def query_values(name, samples):
    known = {
        "limit": ["2", "200", "0", "many"],
        "cursor": ["20", "x"],
        "variant": ["5x4", "8x7x5", "99x99"],
        "list": ["all", "people", "bots", "none"],
        "house": ["true", "false", "perhaps"],
        "player": ["ada", "memory", "nobody"],
        "since": ["2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z", "yesterday"],
        "after": [samples.puzzles[0], "none"],
    }
    return sample(known, name)


def sample(known, name):
    if name not in known:
        raise RuntimeError(f"the daemon describes `{name}`, of which there are no samples: add some to {__file__}")
    return known[name]


# ---- what is not ----


def odd_requests(arena):
    """Refusals, and what changes nothing: what is asked for, by whom, with which headers and body."""
    foreign = {"Origin": "http://elsewhere.example"}
    etag = dict(arena.ask("/api/v1/openapi.json").headers)["etag"]
    puzzle = f"/api/v1/puzzles/{arena.samples.puzzles[0]}"
    solution = json.loads(arena.ask(f"{puzzle}/solution", method="POST", body=b"{}").body)["line"]
    tried = [solution[::2], *"1234567x"]
    moves = json.loads(arena.ask(puzzle).body)["puzzle"]["moves"]
    for column in "1234567":
        # What refutes a wrong move is left out if the solver takes its time; what it has solved it keeps.
        arena.ask(f"/api/v1/positions/{moves}{column}")
    return [
        ("GET /api/v1/openapi.json", "nobody", {"If-None-Match": etag}, None),
        ("HEAD /", "nobody", {}, None),
        ("GET /api", "nobody", {}, None),
        ("GET /api/v2/games", "nobody", {}, None),
        ("GET /api/v1/games?limit=1&limit=2", "nobody", {}, None),
        ("GET /api/v1/games?token=c4b_x", "nobody", {}, None),
        ("GET /api/v1/bots/@me", "bot", {}, None),
        ("GET /api/v1/bots/@me/faults?limit=1", "bot", {}, None),
        ("GET /api/v1/account", "nobody", {"Authorization": "Bearer c4b_wrong"}, None),
        ("GET /api/v1/account", "nobody", {"Authorization": "Basic x"}, None),
        ("GET /api/v1/socket", "nobody", {}, None),
        ("GET /favicon.ico", "nobody", {}, None),
        ("GET /kits/cobol.tar", "nobody", {}, None),
        ("POST /", "nobody", {}, b"{}"),
        ("DELETE /api/v1/games", "nobody", {}, None),
        ("POST /api/v1/sessions", "nobody", {}, b'{"name":"ada","password":"not her password"}'),
        ("POST /api/v1/sessions", "nobody", {}, b'{"name":"ada"}'),
        ("POST /api/v1/sessions", "nobody", {}, b'{"name":"ada","name":"ben"}'),
        ("POST /api/v1/sessions", "nobody", {}, b"[1]"),
        ("POST /api/v1/sessions", "nobody", {}, b'{"name":"%s"}' % (b"x" * 20_000)),
        ("POST /api/v1/sessions", "nobody", {"Content-Type": "text/plain"}, b"x"),
        ("POST /api/v1/sessions", "nobody", {"Content-Encoding": "gzip"}, b"x"),
        ("POST /api/v1/sessions", "nobody", foreign, b"{}"),
        ("POST /api/v1/accounts", "nobody", {}, b'{"name":"ADA","password":"long enough"}'),
        ("POST /api/v1/accounts", "nobody", {}, b'{"name":"guest-1","password":"long enough"}'),
        ("POST /api/v1/accounts", "nobody", {}, b'{"name":"a b","password":"long enough"}'),
        ("POST /api/v1/accounts", "nobody", {}, b'{"name":"emil","password":"short"}'),
        ("POST /api/v1/bots", "guest", {}, b'{"name":"mybot"}'),
        ("POST /api/v1/bots", "ada", {}, b'{"name":"greedy"}'),
        ("POST /api/v1/bots/cleobot/tokens", "ada", {}, b"{}"),
        ("POST /api/v1/bots/adabot/self-test", "ada", {}, b"{}"),
        ("PUT /api/v1/account/password", "ada", {}, b'{"password":"wrong one","new_password":"long enough"}'),
        ("PUT /api/v1/account/learning", "ada", foreign, b'{"allowed":true}'),
        ("DELETE /api/v1/account", "ada", {}, b'{"password":"not her password"}'),
        (f"POST {puzzle}/hints", "nobody", {}, b'{"moves":""}'),
        (f"POST {puzzle}/solution", "nobody", {}, b"{}"),
        *[(f"POST {puzzle}/attempts", "nobody", {}, json.dumps({"moves": moves}).encode()) for moves in tried],
    ]


def metrics(arena):
    """Names and meanings of the figures for operators; the figures themselves count what was asked."""
    logged = re.search(r"metrics are served.*?127\.0\.0\.1:(\d+)", "".join(arena.fresh().log))
    if not logged:
        raise RuntimeError("the daemon's log does not say where its metrics are served")
    answer = arena.daemon.ask("/metrics", port=int(logged[1]))
    described = [line for line in answer.body.decode().splitlines() if line.startswith("#")]
    return "\n".join([dict(answer.headers)["content-type"], *described]) + "\n"


def contents(archive):
    """Modes, times, digests and names of the files of an archive."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        members = [file for file in files if file.isfile()]
        digests = [hashlib.sha256(files.extractfile(file).read()).hexdigest() for file in members]
    rows = zip(members, digests)
    return "".join(f"{file.mode:o} {file.mtime:.0f} {digest}  {file.name}\n" for file, digest in rows)
