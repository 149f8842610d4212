"""What one hostile client does, each way for itself: endless coroutines that use up what they can.

A process of its own, so that it takes no time from those who measure, and with the least right to the processor: what an
attacker computes is computed elsewhere. `attackers.py SOURCE PORT VICTIM [NAMES]` attacks until standard input ends, and
then prints what it came to. Each attack returns only by an exception and is begun again. A
refusal is no reason to stop: an attacker tries on, no faster than `PAUSE_S` after being refused, so that the machine's
time goes to attacks that get through.
"""

import asyncio
import itertools
import json
import os
import random
import sys

from wire import Address, Closed, Socket, request

PAUSE_S = 0.05
NICENESS = 19
# Between two messages of whoever wants to stay: 100 in 20 s are heard.
MESSAGE_S = 0.25
HOUR_BANK = {"bank_ms": 86_400_000, "increment_ms": 0, "move_ms": None}
EXTREMES = [0, -1, 1, 2, 2**31, 2**32 - 1, 2**32, 2**53, 2**63, 2**64 - 1, 10**30, 1.5, 1e300, "", "x" * 900, [], {}, None, True]


async def answered(socket, re):
    """Waits for the answer to a request, and whether it was let through."""
    async with asyncio.timeout(20):
        while True:
            message = await socket.receive()
            if message.get("re") == re:
                return message["type"] != "error"


async def offers(address, victim):
    """Challenges to one player, as many as go, again and again, within the messages that one connection may send."""
    socket, _ = await Socket.hello(address)
    for number in itertools.count():
        time = {"bank_ms": 60_000 + number % 50_000, "increment_ms": 0, "move_ms": None}
        await socket.send(type="challenge", id=f"o{number}", to=victim, time=time, rated=False)
        await answered(socket, f"o{number}")
        await asyncio.sleep(MESSAGE_S)


async def links(address, _victim):
    """Open challenges by guests that leave at once."""
    socket, _ = await Socket.hello(address)
    for number in range(40):
        await socket.send(type="open_challenge", id=f"l{number}", time=HOUR_BANK, rated=False)
        await answered(socket, f"l{number}")
    socket.close()


async def analyses(address, _victim):
    """Positions that the solver takes long for, each a new one."""
    while True:
        columns = [str(column) for column in range(1, 10) for _ in range(2)]
        random.shuffle(columns)
        status, _, _ = await request(address, "GET", f"/api/v1/positions/{''.join(columns[:16])}?variant=9x6")
        if status != 200:
            await asyncio.sleep(PAUSE_S)


async def games(address, _victim):
    """Games of a day against bots that hold much memory, left at once."""
    for bot in itertools.cycle(["alphabeta", "cutoff", "mcts", "perfect", "negamax"]):
        socket, _ = await Socket.hello(address)
        for number in range(16):
            await socket.send(type="play_bot", id=f"g{number}", bot=bot, time=HOUR_BANK, rated=True, side="second")
        await answered(socket, "g15")
        socket.close()
        await asyncio.sleep(PAUSE_S)


async def sign_ins(address, _victim):
    """One's own right password, again and again: each costs a hash."""
    name = f"own{random.randrange(10**9)}"
    await request(address, "POST", "/api/v1/accounts", {"name": name, "password": "correct horse battery"})
    while True:
        status, _, _ = await request(
            address, "POST", "/api/v1/sessions", {"name": name, "password": "correct horse battery"}
        )
        if status >= 400:
            await asyncio.sleep(PAUSE_S)


async def puzzle_tries(address, _victim):
    """Tries of puzzles by a new guest each time: a row and a grade for each."""
    _, _, text = await request(address, "GET", "/api/v1/puzzles/daily")
    puzzle = json.loads(text)["puzzle"]["id"]
    while True:
        status, _, _ = await request(address, "POST", f"/api/v1/puzzles/{puzzle}/attempts", {"moves": "1"})
        if status >= 400:
            await asyncio.sleep(PAUSE_S)


async def seeks(address, _victim):
    """Seeks that pair with nobody's, each replacing the one before."""
    socket, _ = await Socket.hello(address)
    for number in itertools.count():
        time = {"bank_ms": 100_000 + random.randrange(900_000), "increment_ms": 0, "move_ms": None}
        await socket.send(type="seek", id=f"s{number}", time=time, rated=False)
        if not await answered(socket, f"s{number}"):
            await asyncio.sleep(PAUSE_S)


async def sessions(address, _victim):
    """Sessions without end: hello and away, without a word."""
    while True:
        socket, _ = await Socket.hello(address)
        socket.close()


async def spectators(address, _victim):
    """Watches everything and reads nothing."""
    socket, _ = await Socket.hello(address)
    for feed in ("lobby", "tv", "ladder", "results"):
        await socket.send(type="watch", feed=feed)
    await asyncio.sleep(60)
    socket.close()


async def exports(address, _victim):
    """Reads the whole of the games, and of pages that search."""
    for page in itertools.cycle(["/api/v1/games.ndjson", "/leaderboard", "/learning", "/puzzles", "/bots", "/tournaments"]):
        await request(address, "GET", page)


async def half_requests(address, _victim):
    """A header that never ends."""
    reader, writer = await address.connect()
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n")
    await reader.read()
    writer.close()


async def nonsense(address, _victim):
    """Every message with the extremes of every type in every field."""
    bases = [
        dict(type="challenge", to="random", time=dict(HOUR_BANK), rated=True, games=2),
        dict(type="open_challenge", time=dict(HOUR_BANK), rated=False, games=2),
        dict(type="play_bot", bot="random", time=dict(HOUR_BANK), side="first", variant="7x6"),
        dict(type="seek", time=dict(HOUR_BANK), rated=False, rating=[0, 9]),
        dict(type="move", game="g1", ply=1, column=4),
        dict(type="set", open=True, max_games=4, accepts={"bank_ms": [0, 1]}),
        dict(type="watch", game="g1"),
        dict(type="ping", n=1),
        dict(type="react", game="g1", emoji="x"),
    ]
    socket, _ = await Socket.hello(address)
    try:
        while True:
            message = dict(random.choice(bases))
            field = random.choice(list(message))
            if isinstance(message[field], dict) and random.random() < 0.8:
                inner = dict(message[field])
                inner[random.choice(list(inner))] = random.choice(EXTREMES)
                message[field] = inner
            elif field != "type":
                message[field] = random.choice(EXTREMES)
            await socket.send(**message)
            await asyncio.sleep(0.02)
    finally:
        socket.close()


# How many of each run at the same time: together the 64 connections that one address may have.
ALL = [
    (offers, 9),
    (links, 2),
    (analyses, 10),
    (games, 6),
    (sign_ins, 8),
    (puzzle_tries, 4),
    (seeks, 6),
    (sessions, 4),
    (spectators, 4),
    (exports, 3),
    (half_requests, 4),
    (nonsense, 4),
]


async def forever(attack, address, victim, tally):
    """Runs one attack until it is cancelled, whatever becomes of its connections."""
    while True:
        try:
            await attack(address, victim)
            tally["rounds"] += 1
        except (Closed, OSError, TimeoutError, asyncio.IncompleteReadError, ValueError, KeyError):
            tally["cut"] += 1
            await asyncio.sleep(PAUSE_S)


async def main(source, port, victim, names):
    address, chosen = Address(source, port), [one for one in ALL if not names or one[0].__name__ in names]
    tallies = {attack.__name__: {"rounds": 0, "cut": 0} for attack, _ in chosen}
    tasks = [
        asyncio.create_task(forever(attack, address, victim, tallies[attack.__name__]))
        for attack, number in chosen
        for _ in range(number)
    ]
    await asyncio.to_thread(sys.stdin.read)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(json.dumps(tallies))


if __name__ == "__main__":
    os.nice(NICENESS)
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]))
