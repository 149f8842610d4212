"""Those who only want to play while somebody attacks: what they meet is what the measurement is about."""

import asyncio
import itertools
import json
import random
import time
from collections import Counter

from wire import Address, Closed, Socket, request

HOUSE_BOTS = ["random", "negamax", "mcts", "perfect"]
BANK = {"bank_ms": 20_000, "increment_ms": 0, "move_ms": None}
# Pairs of people whose moves are timed, and how long they think. Each pair has an address of its own: a game of eleven
# seconds costs it two of the 600 games that it may begin in ten minutes, and the games with bots cost theirs as many again.
PAIRS = 4
PAIR_NETWORK = "127.0.1."
THINK_S = 0.25
# Whom the attacked player plays for points, from networks of their own: else the games would not count.
RIVALS = {"rival-a": "127.0.0.67", "rival-b": "127.0.0.68"}
RATED_BANK = {"bank_ms": 120_000, "increment_ms": 0, "move_ms": None}
# Two of them play 20 rated games a day, and should not be through with them too soon.
RATED_THINK_S = 1.5
RATED_GAMES = "rated games of the attacked player"
# Between two games with a bot of the house.
REST_S = 4
PASSWORD = "correct horse battery"


def move(turn, column):
    return {"type": "move", "game": turn["game"], "ply": turn["ply"], "column": column}


def answer_to(turn):
    """A move, the same for the same position: it comes to the longest game that there is."""
    return move(turn, turn["legal"][turn["ply"] * 5 % len(turn["legal"])])


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

    async def register(self, name, address=None):
        status = 503
        while status == 503:
            body = {"name": name, "password": PASSWORD}
            status, _, _ = await request(address or self.address, "POST", "/api/v1/accounts", body)
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

    async def attacked(self, name):
        """Plays for points under the name that is attacked, and comes back after each stone."""
        cookie = await self.cookie(name)
        rivals = [self.keep(self.rival(rival, source, name)) for rival, source in RIVALS.items()]
        await asyncio.gather(self.comes_and_goes(cookie), *rivals)

    async def comes_and_goes(self, cookie):
        """Expects to be let in each time, and to be cut off never."""
        while True:
            began = time.monotonic()
            try:
                socket, _ = await Socket.hello(self.address, cookie=cookie)
                is_back = False
                while True:
                    async with asyncio.timeout(90):
                        message = await socket.receive()
                    if message["type"] == "synced":
                        self.note("came back", began)
                        is_back = True
                    elif message["type"] == "challenge":
                        await self.answer(socket, message)
                    elif message["type"] == "turn":
                        await asyncio.sleep(RATED_THINK_S)
                        await socket.send(**move(message, random.choice(message["legal"])))
                        if is_back:
                            await socket.until("moved", "game_end")
                            break
                socket.close()
            except Closed as closed:
                self.note(f"bad: the attacked player is closed with {closed.code}")
                await asyncio.sleep(1)

    async def answer(self, socket, offer):
        if offer["from"]["name"] in RIVALS:
            await socket.send(type="accept", challenge=offer["challenge"])
        else:
            self.note("offers of strangers heard")

    async def rival(self, name, source, victim):
        """Plays the attacked player for points, and sees how their games end."""
        address = Address(source, self.address.port)
        socket, _ = await Socket.hello(address, cookie=await self.cookie(name, address))
        challenge = {"type": "challenge", "id": "c", "to": victim, "time": RATED_BANK, "rated": True, "side": "first"}
        await socket.send(**challenge)
        began = time.monotonic()
        while True:
            message = await socket.until("turn", "game_end", "challenge_end", "error", seconds=150)
            match message["type"]:
                case "turn":
                    await asyncio.sleep(RATED_THINK_S)
                    await socket.send(**move(message, random.choice(message["legal"])))
                    continue
                case "game_end":
                    self.rated_game(message, began)
                case "challenge_end" if message["how"] == "accepted":
                    continue
                case "challenge_end":
                    self.note(f"bad: an offer to the attacked player was {message['how']}")
                case "error":
                    self.note(f"bad: no game with the attacked player: {message['code']}")
            await asyncio.sleep(1)
            await socket.send(**challenge)
            began = time.monotonic()

    def rated_game(self, end, began):
        """What became of a game for points, in which nobody gives up and nobody is slow."""
        why = end.get("unrated_because")
        if end["reason"] not in ("four", "full"):
            self.note(f"bad: a rated game ended by {end['reason']} of {end.get('by')}")
        elif why == "pair_limit":
            self.note("games beyond those that two may rate in a day", began)
        else:
            self.note(f"bad: a rated game does not count: {why}" if why else RATED_GAMES, began)

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

    async def duels(self, name, address):
        """Two people who play each other without end; how long their moves wait for the acknowledgement is kept."""
        cookies = [await self.cookie(f"{name}-{side}", address) for side in "ab"]
        pair = [await Socket.hello(address, cookie=cookie) for cookie in cookies]
        (ann, _), (bob, welcome) = pair
        challenge = {"to": welcome["you"]["name"], "time": BANK, "rated": False, "side": "first"}

        async def accepts():
            while True:
                offer = await bob.until("challenge", "turn", "moved", "game_end", "error", seconds=90)
                if offer["type"] == "error":
                    self.note(f"bad: a friend's challenge cannot be accepted: {offer['code']}")
                if offer["type"] == "challenge" and "re" not in offer:
                    await bob.send(type="accept", challenge=offer["challenge"])
                await self.moves(bob, offer)

        async def challenges():
            await ann.send(type="challenge", **challenge)
            while True:
                message = await ann.until("turn", "moved", "game_end", "challenge_end", "error", seconds=90)
                await self.moves(ann, message)
                refused = message["type"] == "error" or message.get("how", "accepted") != "accepted"
                if refused:
                    self.note(f"bad: a challenge between friends: {message.get('code', message.get('how'))}")
                    await asyncio.sleep(1)
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

    async def cookie(self, name, address=None):
        """An account of this name, signed in."""
        await self.register(name, address)
        headers = {}
        while "set-cookie" not in headers:
            # Many bystanders begin at once, and only so many of one address may wait for a hash.
            body = {"name": name, "password": PASSWORD}
            _, headers, _ = await request(address or self.address, "POST", "/api/v1/sessions", body)
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
        yield self.attacked(name)
        yield self.ready()
        yield from (self.plays(bot) for bot in HOUSE_BOTS)
        for number in range(1, PAIRS + 1):
            yield self.duels(f"duel{number}", Address(f"{PAIR_NETWORK}{number}", self.address.port))

    async def keep(self, coroutine):
        """Runs one of them; what ends it is bad, whatever it is."""
        try:
            await coroutine
        except (Closed, OSError, TimeoutError, KeyError, json.JSONDecodeError) as error:
            self.note(f"bad: a bystander met {type(error).__name__} {error}"[:100])
