"""Pages, and what they load."""

import hashlib
import re

from unchanged.arena import Arena
from unchanged.daemon import HOST

LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "nl", "pl", "ja", "zh")
POSITIONS = ("-", "44", "4435", "44354665", "443546657733", "1212121", "44444444", "9", "x")

# Every kind of page, as whoever comes along sees it. Read in all languages.
KINDS = """
    / /leaderboard /leaderboard?list=people /leaderboard?list=bots&by=learners /bots /bots/new /bots/editor /bots/gallery /seasons /tournaments/new /class /class/ABCDEF /duel/none-d /account /account/mail /account/reset /offline
    /rules /settings /learn /learn/rules /learn/zugzwang /learn/glossary /glossary /puzzles/rush /puzzles/rush/board
    /privacy /status /find
    /player/ada /player/memory /player/memory@2 /player/adabot /learning /teach /friends /correspondence /invite /invite?to=ada /learning/memory /learning/ntuple-live
    /puzzles /puzzles?theme=fork /puzzles?theme=none /puzzles/daily /puzzle/{puzzle} /tournaments /tournament/{tournament} /tv
    /wall /embed/tv /embed/{learnt} /game/{live} /game/{learnt} /game/{game} /analysis /analysis/44354665
    /analysis/12?variant=5x4 /studies /study/new
    /docs /docs/playing /docs/images/soak.svg /nothing-here
"""
# Those that say something else to ada, who has an account, a bot and a game in progress. In all languages too.
OF_ADA = "/ /account /friends /bots/new /bot/adabot /puzzles /puzzle/{puzzle} /player/ada /game/{live} /game/{thought}"

# What needs no other language: other addresses, wrong ones, and those that lead elsewhere.
OTHERS = """
    /leaderboard?list=bots /leaderboard?by=house /leaderboard?by=others /leaderboard?variant=5x4 /leaderboard?list=none
    /player/ada?variant=5x4 /player/memory?before=40 /player/nobody /player/x /learning/memory@2 /learning/greedy
    /find?for=ADA /find?for=ad /find?for=nobody /terms /imprint /bot/adabot /bot/nobody /tournament/none /season/none /puzzle/none /puzzles/next /puzzles/next?after=none /game/none
    /game/a%20b /embed/none /challenge/none /challenge/abc/qr.svg /docs/none /p/4435 /p/12?variant=5x4
    /analysis?moves=4435 /analysis?moves=https://{host}/game/{game} /analysis?moves=/game/none
    /analysis?variant=9x9x9x9 /analysis/4%204 /analysis/123?variant=6x5
"""


def addresses(block, samples):
    named = {"game": samples.games[0], "live": samples.live[0], "learnt": samples.learnt, "thought": samples.thought}
    named |= {"puzzle": samples.puzzles[0], "tournament": samples.tournaments[0], "host": HOST}
    return [address.format(**named) for address in block.split()]


def pages(recording):
    """All kinds of pages in all languages; all players, documents, and games of every kind in English."""
    with Arena(recording.binary) as arena:
        for language in LANGUAGES:
            for who, block in (("nobody", KINDS), ("ada", OF_ADA), ("guest", "/account")):
                for path in addresses(block, arena.samples):
                    page(recording, arena, path, who, language)
        for path in more(arena):
            page(recording, arena, path, "nobody", "en")
        for headers in ({"Cookie": "lang=fr; theme=dark"}, {"Accept-Language": "sv, pl;q=0.7, en;q=0.3"}):
            recording.write(f"chosen/{'-'.join(headers.values())}.html", arena.tell("/bots", headers=headers))
        recording.write("chosen/address.html", arena.tell("/bots?lang=it"))


def more(arena):
    """The addresses in English that are not among the kinds."""
    samples = arena.samples
    paths = [f"/player/{name}" for name in samples.players] + [f"/learning/{name}" for name in samples.learners]
    paths += [f"/tournament/{tournament}{part}" for tournament in samples.tournaments for part in ("", "/table", "/wall")]
    paths += [f"/{kind}/{game}" for kind in ("game", "embed") for game in samples.all_games()]
    paths += [f"/puzzle/{puzzle}" for puzzle in samples.puzzles] + [f"/analysis/{moves}" for moves in POSITIONS]
    paths += re.findall(r'href="(/docs/[\w-]+)"', arena.ask("/docs").body.decode())
    paths += addresses(OTHERS, samples)
    kinds = addresses(KINDS, samples)
    return [path for path in dict.fromkeys(paths) if path not in kinds]


def page(recording, arena, path, who, language):
    position = path.removeprefix("/analysis/")
    if position != path:
        # The page would come without values if the solver took its time; what it has solved it keeps.
        arena.ask(f"/api/v1/positions/{position}")
    folder = language if who == "nobody" else f"{language}/{who}"
    name = path.strip("/") or "index"
    recording.write(f"{folder}/{name}.html", arena.tell(path, who, {"Accept-Language": language}))


def assets(recording):
    """All scripts, styles and pictures, found by following links from the pages, with their digests."""
    with Arena(recording.binary) as arena:
        waiting = {"/service-worker.js", "/static/none.js"}
        for path in addresses(KINDS, arena.samples):
            for language in LANGUAGES if path == "/" else ("en",):
                html = arena.ask(path, headers={"Accept-Language": language}).body.decode()
                waiting |= set(re.findall(r'"(/static/[^"#]+)', html))
        rows, seen = [], set()
        while waiting:
            path = waiting.pop()
            seen.add(path)
            answer = arena.ask(path)
            headers = {name.lower(): value for name, value in answer.headers}
            digest = hashlib.sha256(answer.body).hexdigest()
            row = [path, answer.status, headers.get("content-type"), headers.get("cache-control"), digest]
            rows.append(" ".join(map(str, row)) + "\n")
            waiting |= links(path, answer.body) - seen
        recording.write("list.txt", "".join(sorted(rows)))


def links(path, body):
    """The files beside it that a script or style names."""
    if not path.startswith("/static/v-") or not path.endswith((".js", ".css", ".webmanifest")):
        return set()
    names = re.findall(r"""["'(](?:\./)?([\w/-]+\.(?:js|css|svg|png|woff2))["')#]""", body.decode())
    return {f"{path.rpartition('/')[0]}/{name}" for name in names}
