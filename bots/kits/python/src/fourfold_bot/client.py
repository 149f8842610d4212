"""One bot and its games.

Built on asyncio, not on threads: one loop carries every game, heartbeat and time limit without a lock. Only the bot's
own code runs in threads (`worker.py`). Three rules of the protocol keep this file small: a `turn` holds the whole
position, a turn that is due comes again after a reconnect, and sending a move twice is harmless. So nothing that is
sent needs to be queued or acknowledged here.
"""

from __future__ import annotations

import asyncio
import logging
import operator
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Coroutine

from .connection import Connection, Refused
from .duels import Duel, DuelEnd, play_through
from .settings import Choose, Hooks, Settings, Tally, socket_url
from .turn import Game, GameEnd, Message, Problem, Resigned, Turn
from .worker import Outcome, Worker

PROTOCOL = 1
SERIES_MAX = 100  # games that one challenge asks for
CHALLENGE = "challenge"  # the `id` of our own
ASK_AGAIN_S = 3.0  # until an opponent that is busy is asked again, or one whose games a lost session may have ended

log = logging.getLogger("fourfold_bot")


@dataclass
class _LiveGame:
    game: Game
    worker: Worker
    turn: Turn | None = None  # the latest
    column: int | None = None  # our answer to it; None while thinking
    info: Message | None = None  # what `choose` thought, for the bot's owner
    refused: set[int] = field(default_factory=set)  # columns the server called illegal in it
    fault: Resigned | None = None  # by which the bot resigned
    is_confirmed: bool = True  # false after a session was lost, until the server names the game again


class Client:
    """Plays with one `choose` until it is drained, stopped, refused, or has played its games."""

    def __init__(self, choose: Choose, settings: Settings, hooks: Hooks = Hooks()) -> None:
        self.tally = Tally()
        self._choose, self._settings, self._hooks = choose, settings, hooks
        self._connection = Connection(socket_url(settings.url), settings.token, self._hello, self._on_message)
        self._games: dict[str, _LiveGame] = {}  # live ones
        self._started = 0  # games so far, for `Settings.games`
        self._faults = 0  # games in a row that `choose` resigned
        self._owed = 0  # games of our challenge that have not begun, while it stands
        self._is_draining = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._playing: asyncio.Task[Any] | None = None
        self._duel: asyncio.Task[DuelEnd] | None = None
        self._handlers: dict[str, Callable[[Message], Awaitable[None]]] = {
            "welcome": self._on_welcome,
            "synced": self._on_synced,
            "game": self._on_game,
            "turn": self._on_turn,
            "game_end": self._on_game_end,
            "challenge": self._on_challenge,
            "challenge_end": self._on_challenge_end,
            "notice": self._on_notice,
            "error": self._on_error,
        }

    @property
    def is_connected(self) -> bool:
        """Whether the server has welcomed the bot and the connection still stands."""
        return self._connection.is_open

    async def play(self) -> Tally:
        """Plays until drained or stopped, or through `games` games; raises `Refused` if the server will not have it."""
        if not self._settings.token:
            raise Refused("no token: export FOURFOLD_TOKEN=c4b_… (`fourfold bot create` prints it)")
        self._playing, self._errors = asyncio.current_task(), Worker("errors")
        try:
            await self._connection.run(is_done=lambda: self._is_draining and not self._games)
            while self._tasks:  # the last on_game_end may still be saving what it learned
                await asyncio.wait(self._tasks)
        except asyncio.CancelledError:
            if self._playing is not None:
                raise  # cancelled by someone else, not by `stop`
        finally:
            self._playing = None
            if self._duel is not None:
                self._duel.cancel()
            for worker in [self._errors, *(live.worker for live in self._games.values())]:
                worker.end()
        if self._duel is not None and self._duel.done() and not self._duel.cancelled():
            self._duel.result()  # raises `Refused` if there was none
        return self.tally

    def drain(self) -> int:
        """Asks for no new games; `play` returns when the last one has ended. Returns how many are live."""
        self._is_draining = True
        if self._connection.is_open:
            self._spawn(self._connection.send("bye", drain=True))
        elif not self._games:
            self.stop()
        return len(self._games)

    def stop(self) -> None:
        """Makes `play` return at once. Games still live are left to the server's rule on absence."""
        if self._playing is not None:
            playing, self._playing = self._playing, None
            playing.cancel()

    def _hello(self) -> Message:
        want = self._settings
        hello: Message = {
            "protocol": PROTOCOL,
            "client": {"name": want.name, "version": want.version},
            "bot": _without_none(
                {"version": want.version, "about": want.about, "url": want.source, "language": "Python"}
            ),
            "open": (not want.has_opponent if want.open is None else want.open) and not self._is_draining,
            "accepts": want.accepts,
            "max_games": want.max_games,
            "strict": want.strict or None,
        }
        return _without_none(hello)

    # --- the session ---

    async def _on_message(self, message: Message) -> None:
        """Unknown types are ignored, as the protocol asks."""
        if (handler := self._handlers.get(message["type"])) is not None:
            await handler(message)

    async def _on_welcome(self, message: Message) -> None:
        is_resumed = bool(message.get("resumed"))
        for live in self._games.values():
            live.is_confirmed = is_resumed
        log.info("%s as %s", "resumed" if is_resumed else "connected", message["you"]["name"])
        if not is_resumed:
            self._owed = 0
        if self._is_draining:
            await self._connection.send("bye", drain=True)

    async def _on_synced(self, _message: Message) -> None:
        """Asks about games that the server did not name again after a lost session: they ended without us."""
        for game in [game for game, live in self._games.items() if not live.is_confirmed]:
            await self._connection.send("sync", game=game)
        if self._settings.duel is not None and self._duel is None:
            self._begin_duel(self._settings.duel)
        if self._started == 0:
            await self._ask_for_games()
        else:
            self._spawn(self._ask_later(ASK_AGAIN_S))  # the games of before may go on by themselves

    def _begin_duel(self, duel: Duel) -> None:
        """Has the server play it beside what else goes on; with its end everything ends."""
        self._duel = asyncio.ensure_future(play_through(self._settings.url, self._settings.token, duel))
        self._duel.add_done_callback(self._on_duel_end)

    def _on_duel_end(self, duel: asyncio.Task[DuelEnd]) -> None:
        if duel.cancelled():
            return
        if duel.exception() is None:
            print(duel.result(), flush=True)
            self.drain()
        else:
            self.stop()

    async def _ask_for_games(self) -> None:
        """Challenges the opponent of the settings, unless games go on, or are still to come."""
        want = self._settings
        if want.opponent is None or self._is_draining or self._games or self._owed:
            return
        left = min(SERIES_MAX if want.games is None else want.games - self._started, SERIES_MAX)
        self._owed = left - left % 2 if left > 1 else 1  # the protocol has one game, or pairs
        # Pairs begin from drawn positions, with both colours: two bots that draw no lots would repeat themselves.
        opening = {} if self._owed == 1 else {"opening": {"kind": "balanced"}}
        terms = {"time": want.time, "rated": want.rated, "games": self._owed, **opening}
        await self._connection.send("challenge", id=CHALLENGE, to=want.opponent, **terms)

    async def _ask_later(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._ask_for_games()

    async def _on_challenge(self, message: Message) -> None:
        """Takes every challenge, for the server sends only such as `accepts` allows; none if it has an opponent."""
        if "re" in message:
            return  # our own, echoed
        if self._is_draining or self._settings.has_opponent:
            await self._connection.send("decline", challenge=message["challenge"], reason="later")
        else:
            await self._connection.send("accept", challenge=message["challenge"])

    async def _on_challenge_end(self, message: Message) -> None:
        if self._owed and not self._games and message["how"] != "accepted":
            why = message.get("reason") or message["how"]
            await self._not_taken(why, in_time=why in ("later", "busy"))

    async def _not_taken(self, why: str, in_time: bool) -> None:
        self._owed = 0
        if not in_time:
            raise Refused(f"{self._settings.opponent} does not play: {why}")
        self._spawn(self._ask_later(ASK_AGAIN_S))

    async def _on_notice(self, message: Message) -> None:
        log.info("notice: %s in %s ms", message.get("code"), message.get("in_ms"))

    # --- games ---

    async def _on_game(self, message: Message) -> None:
        if message.get("you") is None:
            return  # watched, not played
        if message.get("status") == "over":
            await self._on_game_end(message)
        elif (live := self._games.get(message["game"])) is not None:
            live.is_confirmed = True
        else:
            self._start(Game.read(message))

    def _start(self, game: Game) -> _LiveGame:
        live = self._games[game.id] = _LiveGame(game, Worker(f"game {game.id}"))
        self._call_hook(live.worker, self._hooks.on_game_start, game)
        self._started += 1
        self._owed = max(0, self._owed - 1)
        if self._started == self._settings.games:
            self.drain()  # now and not after its end, or the server might start one game too many
        return live

    async def _on_game_end(self, message: Message) -> None:
        live = self._games.get(message["game"])
        if live is not None:
            self._finish(live, GameEnd.read(live.game, message))
            await self._ask_for_games()

    def _finish(self, live: _LiveGame, end: GameEnd) -> None:
        del self._games[end.game.id]
        self.tally.add(end.result)
        print(end, flush=True)
        self._call_hook(live.worker, self._hooks.on_game_end, end)
        live.worker.end()
        self._faults = 0 if live.fault is None else self._faults + 1
        if self._faults == self._settings.faults_max:
            raise Refused(f"{self._faults} games in a row were lost by a fault of the bot")

    # --- turns ---

    async def _on_turn(self, message: Message) -> None:
        turn = Turn.read(message)
        live = self._games.get(turn.game) or self._start(Game(turn.game, turn.side, variant=turn.variant))
        if live.fault is not None:
            await self._resign(live, live.fault)  # it was lost with the connection
        elif live.turn is not None and live.turn.ply == turn.ply:
            await self._send_move(live)  # due again after a reconnect; if still thinking, the answer is on its way
        else:
            live.turn, live.column, live.refused = turn, None, set()
            self._spawn(self._answer(live, turn, live.worker.call(self._choose, turn)))

    async def _answer(self, live: _LiveGame, turn: Turn, chosen: Awaitable[Outcome]) -> None:
        """Sends what `choose` comes to. What is not a legal column is replaced by the most central one and reported: a
        bug costs a move, not the game."""
        choice, error = await chosen
        if isinstance(error, Resigned):
            if live.turn is turn and self._games.get(turn.game) is live:
                await self._resign(live, error)
            return
        column, info = _as_choice(choice)
        is_legal = error is None and column in turn.legal
        if not is_legal:
            self._report(_blunder(turn, choice, error), error)
        if live.turn is turn and self._games.get(turn.game) is live:
            live.column = column if is_legal else turn.centre_first()[0]
            live.info = info if is_legal else None
            await self._send_move(live)

    async def _resign(self, live: _LiveGame, fault: Resigned) -> None:
        live.fault = fault
        self._report(Problem("resigned", fault.note, live.game.id))
        await self._connection.send("resign", game=live.game.id, fault={"kind": fault.kind, "note": fault.note})

    async def _send_move(self, live: _LiveGame) -> None:
        if live.turn is not None and live.column is not None:
            game, ply = live.game.id, live.turn.ply
            thought = {} if live.info is None else {"info": live.info}
            await self._connection.send("move", id=f"{game}:{ply}", game=game, ply=ply, column=live.column, **thought)

    # --- errors ---

    async def _on_error(self, message: Message) -> None:
        code, game, retry_ms = message["code"], message.get("game"), message.get("retry_ms")
        if message.get("re") == CHALLENGE:
            await self._not_taken(message.get("message", code), in_time=retry_ms is not None)
            return
        self._report(Problem(code, message.get("message", ""), game))
        live = self._refused_move(message)
        if live is not None and code == "illegal_move":
            await self._try_another_column(live)
        elif live is not None and retry_ms is not None:
            self._spawn(self._send_move_later(live, retry_ms))
        elif code == "no_such_game" and game in self._games:
            lost = self._games[game]
            self._finish(lost, GameEnd(lost.game, "void", code, moves=""))

    def _refused_move(self, message: Message) -> _LiveGame | None:
        """Finds the game whose open move an error is about: `re` repeats the `id` that `_send_move` made."""
        game, _, ply = str(message.get("re", "")).rpartition(":")
        live = self._games.get(game)
        if live is None or live.turn is None or live.column is None or str(live.turn.ply) != ply:
            return None
        return live

    async def _try_another_column(self, live: _LiveGame) -> None:
        """Happens only if `legal` was wrong. The third illegal move would lose the game, so what was refused is not
        tried again."""
        if live.turn is None or live.column is None:
            return
        live.refused.add(live.column)
        left = [column for column in live.turn.centre_first() if column not in live.refused]
        if left:
            live.column = left[0]
            await self._send_move(live)

    async def _send_move_later(self, live: _LiveGame, retry_ms: int) -> None:
        turn = live.turn
        await asyncio.sleep(retry_ms / 1000)
        if live.turn is turn and self._games.get(live.game.id) is live:
            await self._send_move(live)

    def _report(self, problem: Problem, error: BaseException | None = None) -> None:
        log.warning("%s in game %s: %s", problem.code, problem.game or "-", problem.message, exc_info=error)
        self._call_hook(self._errors, self._hooks.on_error, problem)

    # --- work beside the reading of messages ---

    def _call_hook(self, worker: Worker, hook: Callable[[Any], object] | None, argument: object) -> None:
        """Queues a call at once, so that hooks keep their order; what it raises is only logged."""
        if hook is not None:
            self._spawn(_log_failure(worker.call(hook, argument)))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Starts a task; the set keeps it from being collected before it is done."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _log_failure(call: Awaitable[Outcome]) -> None:
    _, error = await call
    if error is not None:
        log.error("a hook raised", exc_info=error)


def _blunder(turn: Turn, choice: object, error: BaseException | None) -> Problem:
    at = f"at {turn.moves or '-'}"
    if error is not None:
        return Problem("choose_failed", f"choose raised {error!r} {at}", turn.game)
    return Problem("illegal_choice", f"choose returned {choice!r} {at}, legal are {turn.legal}", turn.game)


def _as_choice(choice: Any) -> tuple[int | None, Message | None]:
    """Takes a column, or a pair of a column and what the bot thought."""
    if isinstance(choice, tuple) and len(choice) == 2 and isinstance(choice[1], dict):
        return _as_column(choice[0]), choice[1]
    return _as_column(choice), None


def _as_column(choice: Any) -> int | None:
    """Takes whatever counts as an integer, NumPy's included; None for the rest."""
    try:
        return operator.index(choice)
    except TypeError:
        return None


def _without_none(fields: Message) -> Message:
    return {key: value for key, value in fields.items() if value is not None}
