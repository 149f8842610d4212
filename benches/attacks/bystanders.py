"""Those who only want to play while somebody attacks: what they meet is what the measurement is about."""

import asyncio
import itertools
import json
import time
from collections import Counter

from wire import Closed, Socket, request

HOUSE_BOTS = ["random", "negamax", "mcts", "perfect"]
BANK = {"bank_ms": 20_000, "increment_ms": 0, "move_ms": None}
# Pairs of people whose moves are timed, and how long they think: together as many games as one address may begin.
PAIRS = 4
THINK_S = 0.25
# Between two games with a bot of the house.
REST_S = 4
PASSWORD = "correct horse battery"


def answer_to(turn):
    """A move, the same for the same position."""
    column = turn["legal"][turn["ply"] * 5 % len(turn["legal"])]
    return {"type": "move", "game": turn["game"], "ply": turn["ply"], "column": column}


class Bystanders:
    """The counts of all of them. A key that begins with `bad` is what must not happen."""

    def __init__(self, address):
        self.address = address
        self.counts = Counter()
        self.waits = {}
        # How long moves waited, in milliseconds; whoever measures empties it.
        self.acks = []

    def note(self, what, began=None):
        self.counts[what] += 1
        if began is not None:
            self.waits.setdefault(what, []).append(time.monotonic() - began)

    async def register(self, name):
        status = 503
        while status == 503:
            status, _, _ = await request(
                self.address, "POST", "/api/v1/accounts", {"name": name, "password": PASSWORD}
            )
            await asyncio.sleep(0.5)

    async def signs_in(self, name):
        """Signs in again and again, and expects to be let in."""
        await self.register(name)
        while True:
            began = time.monotonic()
            status, _, _ = await request(
                self.address, "POST", "/api/v1/sessions", {"name": name, "password": PASSWORD}
            )
            self.note("signed in" if status < 300 else f"bad: sign-in answered {status}", began)
            await asyncio.sleep(20)

    async def analyses(self):
        """Asks what a position is worth every three seconds."""
        for number in itertools.count():
            moves = "4" * 4 + str(number % 7 + 1) + str(number // 7 % 7 + 1) + str(number // 49 % 7 + 1)
            began = time.monotonic()
            status, _, text = await request(self.address, "GET", f"/api/v1/positions/{moves}")
            busy = status in (429, 503) and "retry" in text
            self.note("analysed" if status in (200, 400) else "busy" if busy else f"bad: analysis {status}", began)
            await asyncio.sleep(3)

    async def named(self, name):
        """Comes and goes under the name that is attacked, and expects to be let in each time."""
        cookie = await self.cookie(name)
        while True:
            began = time.monotonic()
            try:
                socket, _ = await Socket.hello(self.address, cookie=cookie)
                await socket.until("synced")
                self.note("came back", began)
                await asyncio.sleep(5)
                socket.close()
            except Closed as closed:
                self.note(f"bad: the attacked player is closed with {closed.code}")
                await asyncio.sleep(1)

    async def plays(self, bot):
        """Games against a bot of the house: it must never lose on time."""
        socket, _ = await Socket.hello(self.address)
        while True:
            began = time.monotonic()
            await socket.send(type="play_bot", id="p", bot=bot, time=BANK, side="second", rated=False)
            await self.game(socket, bot, began)
            await asyncio.sleep(REST_S)

    async def game(self, socket, bot, began):
        while True:
            async with asyncio.timeout(60):
                message = await socket.receive()
            match message["type"]:
                case "error" if message.get("re") == "p":
                    self.note(f"bad: no game with {bot}: {message['code']}")
                    return
                case "turn":
                    await asyncio.sleep(THINK_S)
                    await socket.send(**answer_to(message))
                case "game_end":
                    lost = message["reason"] == "time" and message.get("by") == "first"
                    self.note(f"bad: {bot} lost on time" if lost else "games with house bots", began)
                    return

    async def duels(self, name):
        """Two people who play each other without end; how long their moves wait for the acknowledgement is kept."""
        pair = [(await Socket.hello(self.address, cookie=await self.cookie(f"{name}-{side}"))) for side in "ab"]
        (ann, _), (bob, welcome) = pair
        challenge = {"to": welcome["you"]["name"], "time": BANK, "rated": False, "side": "first"}

        async def accepts():
            while True:
                offer = await bob.until("challenge", "turn", "moved", "game_end", seconds=90)
                if offer["type"] == "challenge" and "re" not in offer:
                    await bob.send(type="accept", challenge=offer["challenge"])
                await self.moves(bob, offer)

        async def challenges():
            await ann.send(type="challenge", **challenge)
            while True:
                message = await ann.until("turn", "moved", "game_end", "challenge_end", seconds=90)
                await self.moves(ann, message)
                refused = message["type"] == "challenge_end" and message["how"] != "accepted"
                if refused:
                    self.note(f"bad: a challenge between friends was {message['how']}")
                if refused or message["type"] == "game_end":
                    await ann.send(type="challenge", **challenge)

        await asyncio.gather(accepts(), challenges())

    async def moves(self, socket, message):
        if message["type"] == "turn":
            await asyncio.sleep(THINK_S)
            socket.sent = (message["game"], message["ply"], time.monotonic())
            await socket.send(**answer_to(message))
        elif message["type"] == "moved" and getattr(socket, "sent", None):
            game, ply, sent = socket.sent
            if (message["game"], message["ply"]) == (game, ply + 1):
                self.acks.append((time.monotonic() - sent) * 1_000)
                socket.sent = None

    async def cookie(self, name):
        """An account of this name, signed in."""
        await self.register(name)
        headers = {}
        while "set-cookie" not in headers:
            # All bystanders begin at once, and only so many of one address may wait for a hash.
            _, headers, _ = await request(
                self.address, "POST", "/api/v1/sessions", {"name": name, "password": PASSWORD}
            )
            await asyncio.sleep(0.5)
        return headers["set-cookie"].split(";")[0]

    async def ready(self):
        while True:
            status, _, text = await request(self.address, "GET", "/readyz")
            self.note("ready" if status == 200 else f"bad: not ready: {text[:80]}")
            await asyncio.sleep(2)

    def all(self, name):
        yield self.signs_in(name + "-too")
        yield self.analyses()
        yield self.named(name)
        yield self.ready()
        yield from (self.plays(bot) for bot in HOUSE_BOTS)
        yield from (self.duels(f"duel{number}") for number in range(PAIRS))

    async def keep(self, coroutine):
        """Runs one of them; what ends it is bad, whatever it is."""
        try:
            await coroutine
        except (Closed, OSError, TimeoutError, KeyError, json.JSONDecodeError) as error:
            self.note(f"bad: a bystander met {type(error).__name__} {error}"[:100])
