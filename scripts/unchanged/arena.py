"""The arena of the fixed store, asked by different people."""

import tempfile
import time
from pathlib import Path

from unchanged.daemon import HOST, Daemon
from unchanged.store import CONFIG, Samples, credentials, unpack

# The games in progress wait a minute for their players before clocks run. A daemon is not asked for so long.
LIFE_SECONDS = 40
READY_SECONDS = 60
# The solver says when it is busy; what it has solved until then it knows at the next attempt.
ATTEMPTS = 30

# The length follows from the body, the connection from what of a body was read before it was refused.
LEFT_OUT = {"date", "content-length", "connection"}
TEXTS = ("text/", "image/svg+xml", "application/json", "application/x-ndjson", "application/schema+json")


def people():
    """Whoever asks, by the headers that say so."""
    known = credentials()
    return {
        "nobody": {},
        "ada": {"Cookie": known["session"], "Origin": f"http://{HOST}"},
        "guest": {"Cookie": known["guest"], "Origin": f"http://{HOST}"},
        "bot": {"Authorization": f"Bearer {known['bot']}"},
    }


class Arena:
    """A daemon on a copy of the fixed store, replaced by another on a fresh copy before anything changes by itself."""

    def __init__(self, binary):
        self.binary = binary
        self.people = people()
        self.home = tempfile.TemporaryDirectory()
        self.daemon = None
        self.copies = 0
        data = unpack(Path(self.home.name) / "samples")
        self.samples = Samples(data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.daemon:
            self.daemon.stop()
        self.home.cleanup()

    def fresh(self):
        """A daemon that nobody has asked anything yet."""
        if self.daemon:
            self.daemon.stop()
        self.copies += 1
        self.started = time.monotonic()
        self.daemon = Daemon(self.binary, CONFIG, unpack(Path(self.home.name) / f"data-{self.copies}"))
        while not self.is_ready():
            if time.monotonic() > self.started + READY_SECONDS:
                raise RuntimeError("the daemon does not show what is in its store")
            time.sleep(0.2)
        return self.daemon

    def is_ready(self):
        """Some parts read the store after the start: ratings, the games to watch."""
        ranking = self.daemon.ask("/api/v1/leaderboard?list=bots").body.decode()
        live = self.daemon.ask("/api/v1/live").body.decode()
        tv = self.daemon.ask("/embed/tv").body.decode()
        games = self.samples.live
        has_ratings = '"fit":{' in ranking
        return has_ratings and all(game in live for game in games) and any(game in tv for game in games)

    def ask(self, path, who="nobody", headers=None, **request):
        for _ in range(ATTEMPTS):
            if self.daemon is None or time.monotonic() > self.started + LIFE_SECONDS:
                self.fresh()
            answer = self.daemon.ask(path, {**self.people[who], **(headers or {})}, **request)
            if answer.status != 503:
                return answer
            time.sleep(1)
        raise RuntimeError(f"{path}: the daemon stays busy")

    def tell(self, path, who="nobody", headers=None, method="GET", **request):
        """What was asked and what was answered, as text."""
        answer = self.ask(path, who, headers, method=method, **request)
        lines = [f"{method} {path} as {who}", *(f"> {name}: {value}" for name, value in (headers or {}).items())]
        lines += [f"{answer.status} {answer.reason}"]
        lines += [f"{name.lower()}: {value}" for name, value in answer.headers if name.lower() not in LEFT_OUT]
        kind = dict((name.lower(), value) for name, value in answer.headers).get("content-type", "text/")
        body = answer.body if kind.startswith(TEXTS) else f"({len(answer.body)} bytes)\n".encode()
        return "\n".join(lines).encode() + b"\n\n" + body
