"""The socket."""

import json

from unchanged.arena import Arena
from unchanged.daemon import HOST
from unchanged.pages import LANGUAGES
from unchanged.websocket import Socket

TIME = {"bank_ms": 60000, "increment_ms": 500, "move_ms": None}
OFFER = {"type": "open_challenge", "time": TIME, "side": "first", "key": "one"}

HELLOS = [
    ("guest", {}),
    ("bot", {"open": True}),
    ("nobody", {"protocol": 2}),
    ("nobody", {"token": "c4b_x"}),
    ("nobody", {"accepts": {"variants": 7}}),
]


def said(samples):
    """What a guest says, one thing after the other. None of it begins a game."""
    live, finished = samples.live[0], samples.games[0]
    return [
        {"type": "ping", "n": 7},
        {"type": "unseek"},
        {"type": "set", "open": True},
        {"type": "seek", "time": TIME, "rated": True},
        {"type": "seek", "time": {**TIME, "bank_ms": 5}, "rated": False},
        {"type": "challenge", "to": "nobody", "time": TIME, "rated": False},
        {"type": "challenge", "to": "ben", "time": TIME, "rated": False},
        {"type": "challenge", "to": "ben", "time": TIME, "rated": False, "games": 3},
        {"type": "play_bot", "bot": "nobody", "time": TIME},
        {"type": "play_bot", "bot": "greedy", "time": TIME, "variant": "99x99"},
        {"type": "accept", "challenge": "none"},
        {"type": "decline", "challenge": "none", "reason": "later"},
        {"type": "move", "game": "none", "ply": 0, "column": 1},
        {"type": "move", "game": finished, "ply": 0, "column": 1},
        {"type": "move", "game": 3},
        {"type": "sync", "game": live},
        {"type": "resign", "game": live},
        {"type": "rematch", "game": finished},
        {"type": "watch", "feed": "none"},
        {"type": "nonsense"},
        {"type": "hello", "protocol": 1, "client": {}},
        {**OFFER, "rated": False},
        {**OFFER, "rated": True},
        # Last: watchers are told more, whenever it is known.
        {"type": "watch", "game": samples.live[1]},
    ]


def socket(recording):
    """What the socket says to those who come and to one who errs; the pages of an offer, which only it can make."""
    with Arena(recording.binary) as arena:
        daemon = arena.fresh()
        for who, hello in HELLOS:
            client, heard = connect(daemon, arena.people[who], hello)
            recording.write(f"hello-{who}-{'-'.join(hello)}.txt", text(heard))
            client.close()
        guest, _ = connect(daemon, arena.people["guest"], {})
        guest.say("not JSON")
        spoken, offer = ["not JSON", guest.hear_until(lambda message: message["type"] == "error")], None
        for number, message in enumerate(said(arena.samples)):
            guest.say({"id": str(number), **message})
            answer = guest.hear_until(lambda message, number=number: message.get("re") == str(number))
            spoken += [message, answer]
            offer = answer["challenge"] if answer["type"] == "challenge" else offer
        address = f"127.0.0.1:{daemon.port}"
        recording.write("talk.txt", text(spoken).replace(offer, "<OFFER>").replace(address, "<ADDRESS>"))
        for language in LANGUAGES:
            for who in ("nobody", "guest"):
                html = arena.tell(f"/challenge/{offer}", who, {"Accept-Language": language}).decode()
                recording.write(f"challenge/{language}-{who}.html", html.replace(offer, "<OFFER>"))
        guest.close()
        if arena.daemon is not daemon:
            raise RuntimeError("the machine is too slow: the daemon that knew of the offer had to be replaced")


def connect(daemon, headers, hello):
    """Says hello; returns what is said until the session stands or is refused."""
    client, heard = Socket(daemon.port, {"Host": HOST, **headers}), []
    client.say({"type": "hello", "protocol": 1, "client": {"name": "test", "version": "1"}, **hello})
    while not heard or heard[-1]["type"] not in ("synced", "error"):
        heard.append(client.hear() or {"type": "error", "closed": True})
    return client, heard


def text(messages):
    return "\n".join(json.dumps(message, ensure_ascii=False) for message in messages) + "\n"
