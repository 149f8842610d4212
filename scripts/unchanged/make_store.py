"""Makes the fixed store in tests/data/arena: once, by the release whose form of the database it is to have.

Ids and times are new each time, so whatever was recorded before compares no more. Everything in it is played by a
daemon on a directory of its own, through HTTP and the socket, as players would.
"""

import base64
import hashlib
import hmac
import json
import random
import re
import sqlite3
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path

from unchanged.daemon import HOST, Daemon, environment
from unchanged.store import CONFIG, CREDENTIALS, DATABASE, KEY, pack, write_key
from unchanged.websocket import Socket

PASSWORD = "tea and biscuits"
FAST = {"bank_ms": 60000, "increment_ms": 500, "move_ms": None}
SLOW = {"bank_ms": 600000, "increment_ms": 5000, "move_ms": None}
# A time that no recording reaches: 1 January 2100, in milliseconds and in days since 1970.
FAR_MS, FAR_DAY = 4_102_444_800_000, 47_482

FIRST_WINS = "56757766334414541513552"
SECOND_WINS = "1316542576226255425762"
DRAW = "547125662261271266215743771576315353334444"
UNFINISHED = "44354665"

# Work goes on as fast as it can. Only the first games are judged, which takes longest.
WORK = {"learning": {"cpu_percent": 100}}
JUDGING = {**WORK, "judging": {"enabled": True, "cpu_percent": 100}}
LADDER = {**WORK, "ladder": {"enabled": True, "concurrency": 1}}


class Player:
    """Somebody who is connected."""

    def __init__(self, daemon, headers=None, **hello):
        self.socket = Socket(daemon.port, {"Host": HOST, "Origin": f"http://{HOST}", **(headers or {})})
        self.socket.say({"type": "hello", "protocol": 1, "client": {"name": "store", "version": "1"}, **hello})
        self.welcome = self.socket.hear_until(lambda message: message["type"] == "welcome")
        self.name = self.welcome["you"]["name"]
        self.asked = 0

    def ask(self, kind, **fields):
        """Asks for something and returns the answer."""
        self.asked += 1
        number = f"q{self.asked}"
        self.socket.say({"type": kind, "id": number, **fields})
        return self.socket.hear_until(lambda message: message.get("re") == number)

    def hear(self, kind):
        return self.socket.hear_until(lambda message: message["type"] == kind)

    def move(self, turn, column, info=None):
        """Answers a turn without waiting for what comes of it."""
        move = {"type": "move", "game": turn["game"], "ply": turn["ply"], "column": column}
        self.socket.say({**move, "info": info} if info else move)

    def meet(self, other, rated=True, time=FAST, **terms):
        """Challenges somebody who accepts, with the first move for oneself; returns the game."""
        offer = self.ask("challenge", to=other.name, time=time, rated=rated, side="first", **terms)
        assert offer["type"] == "challenge", offer
        other.ask("accept", challenge=offer["challenge"])
        return other.hear("game")["game"]


def play(game, players, moves, ply=0):
    """Plays the moves in turn."""
    for number, column in enumerate(moves, ply):
        answer = players[number % 2].ask("move", game=game, ply=number, column=int(column))
        assert answer["type"] == "moved", answer


def play_bots(player, opponents, rng, info=None, at_once=3, **terms):
    """Plays with each of the opponents, some at the same time, moving by lot. Two bots play a pair of rated games."""
    waiting, running, more = list(opponents), 0, set()
    while waiting or running:
        if waiting and running < at_once:
            player.socket.say({"type": "play_bot", "bot": waiting.pop(), "time": FAST, **terms})
            running += 1
            continue
        message = player.socket.hear()
        if message["type"] == "error":
            raise RuntimeError(f"{player.name}: {message}")
        pair = message.get("pair") or {"leg": 1, "of": 1}
        if message["type"] == "game" and pair["leg"] < pair["of"]:
            more.add(message["game"])
        if message["type"] == "turn":
            player.move(message, rng.choice(message["legal"]), info)
        running -= message["type"] == "game_end" and message["game"] not in more


def cookie_of(answer):
    value = next(value for name, value in answer.headers if name.lower() == "set-cookie")
    return {"Cookie": value.split(";")[0], "Origin": f"http://{HOST}"}


def post(daemon, path, body=None, headers=None):
    answer = daemon.ask(path, headers, "POST", json.dumps(body or {}).encode())
    assert answer.status < 300, (path, answer)
    return answer


def get(daemon, path):
    return json.loads(daemon.ask(path).body)


def guest_cookie():
    """That of a guest for ever: the daemon's own would end after ninety days."""
    payload = f"GuestOfAll {FAR_MS}".encode()
    signature = hmac.new(KEY.read_bytes(), b"fourfold guest 1\0" + payload, hashlib.sha256).digest()
    text = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (payload, signature))
    return {"Cookie": f"fourfold={text}"}


def people(daemon):
    """Accounts, and games among people of every kind of end."""
    names = ("ada", "ben", "cleo", "dora")
    register = [post(daemon, "/api/v1/accounts", {"name": name, "password": PASSWORD}) for name in names]
    cookies = {name: cookie_of(answer) for name, answer in zip(names, register)}
    for name in ("ben", "cleo"):
        # Their games, and those of cleo's bot, teach nobody: every lesson adds some kilobytes to the store.
        answer = daemon.ask("/api/v1/account/learning", cookies[name], "PUT", b'{"allowed":false}')
        assert answer.status < 300, answer
    ada, ben, dora = (Player(daemon, cookies[name]) for name in ("ada", "ben", "dora"))
    play(ada.meet(ben), (ada, ben), FIRST_WINS)
    play(ben.meet(ada), (ben, ada), DRAW)
    play(ben.meet(ada, rated=False, opening={"kind": "given", "moves": "44"}), (ben, ada), "55663", ply=2)
    game = ada.meet(ben, games=2)
    play(game, (ada, ben), SECOND_WINS)
    game = ada.socket.hear_until(lambda it: it["type"] == "game" and it["game"] != game)["game"]
    play(game, (ben, ada), "44435")
    ada.ask("resign", game=game)
    game = ada.meet(ben, rated=False)
    play(game, (ada, ben), "4433")
    ada.ask("react", game=game, emoji=ada.welcome["reactions"][0])
    ada.socket.say({"type": "takeback", "game": game})
    ben.hear("takeback_offer")
    ben.socket.say({"type": "takeback_answer", "game": game, "yes": True})
    ben.ask("resign", game=game)
    game = ada.meet(ben)
    ada.ask("abort", game=game)
    game = dora.meet(ben, time={"bank_ms": None, "increment_ms": 0, "move_ms": 1000})
    play(game, (dora, ben), "4455667")
    dora.hear("game_end")
    for variant, moves in (("5x4", "12345"), ("8x7x5", "55443361")):
        game = ada.meet(ben, variant=variant)
        play(game, (ada, ben), moves)
        ben.ask("resign", game=game)
    guest = Player(daemon, guest_cookie())
    play(guest.meet(ben, rated=False), (guest, ben), "4141414")
    # On connections of their own, which have heard nothing of the games before.
    play_bots(Player(daemon, guest_cookie()), ["greedy"], random.Random(1), rated=False)
    play_bots(Player(daemon, cookies["ada"]), ["memory"] * 3, random.Random(2), rated=True)
    play_bots(Player(daemon, cookies["ben"]), ["perfect", "lines69"], random.Random(3), rated=True)
    dora.socket.close()
    daemon.ask("/api/v1/account", cookies["dora"], "DELETE", json.dumps({"password": PASSWORD}).encode())
    return cookies


def authors(daemon, cookies):
    """A bot of ada's with games, thoughts, faults and a self-test, and one of cleo's. Returns their tokens."""
    tokens = {}
    for owner, name in (("ada", "adabot"), ("cleo", "cleobot")):
        tokens[name] = json.loads(post(daemon, "/api/v1/bots", {"name": name}, cookies[owner]).body)["token"]
    about = {"version": "1.2", "about": "moves by lot", "url": "https://fourfold.example/adabot"}
    bot = Player(daemon, token=tokens["adabot"], bot=about, open=True)
    thought = {"score": 12, "depth": 3, "nodes": 456, "pv": "4455", "note": "a guess"}
    play_bots(bot, ["greedy"], random.Random(4), info=thought, rated=True)
    play_bots(bot, ["random", "greedy"], random.Random(5), variant="5x4", rated=True)
    bot.socket.say({"type": "play_bot", "bot": "random", "time": FAST, "rated": False})
    turn = bot.hear("turn")
    for _ in range(3):
        bot.ask("move", game=turn["game"], ply=turn["ply"], column=77)
    post(daemon, "/api/v1/bots/adabot/self-test", None, cookies["ada"])
    rng = random.Random(6)
    while json.loads(daemon.ask("/api/v1/bots/adabot/self-test", cookies["ada"]).body)["running"]:
        time.sleep(0.3)
        bot.socket.say({"type": "ping", "n": 1})
        while (message := bot.socket.hear()) is not None and message["type"] != "pong":
            if message["type"] == "turn":
                bot.move(message, rng.choice(message["legal"]))
        if message is None:
            # The test cuts the connection to see whether a bot comes back.
            bot = Player(daemon, token=tokens["adabot"], bot=about, open=True)
    return tokens


def hold(binary, daemon, home, name):
    """Holds a tournament to its end."""
    command = [binary, "hold", name, "--json", "--data", str(daemon.data)]
    held = json.loads(subprocess.run(command, check=True, capture_output=True, env=environment(home)).stdout)
    wait(lambda: get(daemon, f"/api/v1/tournaments/{held['id']}")["status"] == "complete")


def puzzles(daemon, cookie):
    """Some solved, some not, by ada."""
    daily = get(daemon, "/api/v1/puzzles/daily")["puzzle"]["id"]
    line = json.loads(post(daemon, f"/api/v1/puzzles/{daily}/solution").body)["line"]
    post(daemon, f"/api/v1/puzzles/{daily}/attempts", {"moves": line[::2]}, cookie)
    for _ in range(3):
        other = json.loads(daemon.ask("/api/v1/puzzles/next", cookie).body)["puzzle"]["id"]
        post(daemon, f"/api/v1/puzzles/{other}/solution", None, cookie)
    return daily


def wait(is_done, seconds=300):
    end = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > end:
            raise TimeoutError("the daemon does not come to an end with its work")
        time.sleep(0.5)


def is_settled(daemon, judged=False):
    """Whether everything that finished is learnt and measured, and judged if asked for."""
    with closing(sqlite3.connect(f"file:{daemon.data / DATABASE}?mode=ro", uri=True)) as database:
        (last,) = database.execute("SELECT max(number) FROM settlement").fetchone()
        covered = [number for (number,) in database.execute("SELECT covered FROM learner")]
        covered += [number for (number,) in database.execute("SELECT covered FROM judging") if judged]
        (unmeasured,) = database.execute("SELECT count(*) FROM learner_version WHERE decision IS NULL").fetchone()
        (stale,) = database.execute("SELECT sum(stale) FROM learner").fetchone()
    return set(covered) == {last} and unmeasured == 0 and stale == 0


def adjust(path, session, daily):
    """What would end or change with the calendar is moved to where no recording comes."""
    digest = hashlib.sha256(session.encode()).digest()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("DELETE FROM token WHERE kind = 'session' AND digest <> ?", (digest,))
        database.execute("UPDATE token SET expires_at = ? WHERE kind = 'session'", (FAR_MS,))
        # Of those that were there when a day began one is drawn: there is only one.
        database.execute("UPDATE puzzle SET made_at = iif(id = ?, 0, ?)", (daily, FAR_MS))
        database.execute("UPDATE puzzle_streak SET day = ?", (FAR_DAY,))
        # Of those that are as hard as suits somebody one is drawn: no two are equally hard, or equally far from 1200.
        database.execute(
            "UPDATE puzzle SET prior = 1000 + 11 * place "
            "FROM (SELECT key, row_number() OVER (ORDER BY prior, id) AS place FROM puzzle) AS ranked "
            "WHERE ranked.key = puzzle.key"
        )
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def settings(home, **sections):
    """The configuration for reading, with other values for some keys."""
    text = CONFIG.read_text()
    for section, keys in sections.items():
        for key, value in keys.items():
            line = f"{key} = {json.dumps(value)}"
            part = re.search(rf"^\[{section}\]\n(?:[^\[].*\n|\n)*", text, re.MULTILINE)
            changed, count = re.subn(rf"^{key} = .*$", line, part[0], flags=re.MULTILINE)
            changed = changed if count else part[0].replace("\n", f"\n{line}\n", 1)
            text = text.replace(part[0], changed)
    path = Path(home) / "making.toml"
    path.write_text(text)
    return path


def make(binary):
    with tempfile.TemporaryDirectory() as home:
        data = Path(home) / "data"
        data.mkdir(mode=0o700)
        write_key(data)
        with Daemon(binary, settings(home, **JUDGING), data) as daemon:
            cookies = people(daemon)
            tokens = authors(daemon, cookies)
            for name in ("Evening round", "Knockout"):
                hold(binary, daemon, home, name)
            daily = puzzles(daemon, cookies["ada"])
            wait(lambda: is_settled(daemon, judged=True))
        with Daemon(binary, settings(home, **WORK), data) as daemon:
            rated = ["memory@0", "memory@2", "memory@5", "memory", "ntuple-live@0", "ntuple-live@5", "random", "greedy"]
            quick = Player(daemon, token=tokens["cleobot"], bot={"version": "1"})
            play_bots(quick, rated * 11, random.Random(7), rated=True)
        with Daemon(binary, settings(home, **LADDER), data) as daemon:
            wait(lambda: get(daemon, "/api/v1/games?limit=1")["items"][0]["players"]["first"]["name"] != "cleobot")
        with Daemon(binary, settings(home, **WORK), data) as daemon:
            game = get(daemon, "/api/v1/games?limit=1")["items"][0]["id"]
            command = [binary, "admin", "void", game, "--reason", "a fault", "--data", str(data)]
            subprocess.run(command, check=True, capture_output=True, env=environment(home))
            wait(lambda: is_settled(daemon))
            time.sleep(40)  # the published ratings are stored every half minute
            wait(lambda: is_settled(daemon))
        with Daemon(binary, CONFIG, data) as daemon:
            ada, ben, cleo = (Player(daemon, cookies[name]) for name in ("ada", "ben", "cleo"))
            play(ada.meet(ben, time=SLOW), (ada, ben), UNFINISHED)
            play(ben.meet(cleo, time=SLOW, rated=False), (ben, cleo), UNFINISHED[::-1][:5])
        session = cookies["ada"]["Cookie"].split("=", 1)[1]
        adjust(data / DATABASE, session, daily)
        credentials = {
            "about": "For tests only: these open nothing but the arena of this directory.",
            "session": cookies["ada"]["Cookie"],
            "guest": guest_cookie()["Cookie"],
            "bot": tokens["adabot"],
        }
        CREDENTIALS.write_text(json.dumps(credentials, indent=2) + "\n")
        pack(data)
