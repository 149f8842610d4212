"""The games: turns, several at once, wrong answers, hooks, and leaving in good order."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any, Callable, NoReturn

import pytest
from fake_server import FakeServer, play, until

from fourfold_bot import Client, Clock, GameEnd, Hooks, Problem, Refused, Turn


def test_a_turn_reaches_choose_whole_and_its_column_goes_back() -> None:
    seen: list[Turn] = []

    def choose(turn: Turn) -> int:
        seen.append(turn)
        return 3

    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("g1", "second", "4")
        await peer.turn("g1", "4")
        assert await peer.expect_move("g1", 1) == 3
        await peer.game_end("g1")
        await peer.finish(client)

    assert play(script, choose).loss == 1
    assert seen == [Turn("g1", 1, "4", [1, 2, 3, 4, 5, 6, 7], Clock(60_000, 59_210), 60_000, 3, "7x6")]


def test_a_slow_game_does_not_hold_up_another() -> None:
    is_other_done = threading.Event()

    def choose(turn: Turn) -> int:
        if turn.game == "slow":
            assert is_other_done.wait(5)
        return 1

    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        for game in ("slow", "quick"):
            await peer.game(game)
            await peer.turn(game)
        await peer.expect_move("quick", 0)
        is_other_done.set()
        await peer.expect_move("slow", 0)
        await peer.game_end("slow")
        await peer.game_end("quick")
        await peer.finish(client)

    assert play(script, choose).win == 2


def test_an_opponent_is_asked_for_games_until_all_are_played() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer, hello = await server.connection()
        assert hello["open"] is False
        await peer.welcome()
        await peer.synced()
        for games, names in ((2, ["g1", "g2"]), (1, ["g3"])):
            asked = await peer.receive("challenge")
            assert (asked["to"], asked["games"], asked["rated"]) == ("negamax-6", games, False)
            assert asked.get("opening") == ({"kind": "balanced"} if games == 2 else None)
            assert asked["time"] == {"bank_ms": 60_000, "increment_ms": 500, "move_ms": None}
            await peer.send("challenge", re=asked["id"], challenge="c1")
            await peer.send("challenge_end", challenge="c1", how="accepted")
            for name in names:
                await peer.game(name)
                if name == "g3":
                    assert (await peer.receive("bye"))["drain"] is True
                await peer.game_end(name)
        await peer.socket.close(1000)

    assert play(script, opponent="negamax-6", games=3).win == 3


def test_an_opponent_that_is_busy_is_asked_again_and_one_that_is_not_there_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fourfold_bot.client.ASK_AGAIN_S", 0.0)

    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.receive("challenge")
        await peer.send("challenge_end", challenge="c1", how="declined", reason="busy")
        asked = await peer.receive("challenge")
        await peer.send("error", re=asked["id"], code="no_such_player", message="nobody is called nobody")

    with pytest.raises(Refused, match="nobody does not play: nobody is called nobody"):
        play(script, opponent="nobody")


def test_whole_games_are_played_side_by_side() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        games = [peer.referee(f"g{seed}", you, seed) for seed, you in enumerate(["first", "second", "first", "second"])]
        results.extend(await asyncio.gather(*games))
        await peer.finish(client)

    results: list[str] = []
    tally = play(script, lambda turn: turn.centre_first()[0])
    assert tally.win == results[0::2].count("first") + results[1::2].count("second")
    assert tally.win + tally.draw + tally.loss == 4


def _raise(error: BaseException) -> NoReturn:
    raise error


@pytest.mark.parametrize(
    ("choose", "code"),
    [
        (lambda turn: 4, "illegal_choice"),  # full
        (lambda turn: 0, "illegal_choice"),
        (lambda turn: None, "illegal_choice"),
        (lambda turn: "3", "illegal_choice"),
        (lambda turn: 3.0, "illegal_choice"),
        (lambda turn: next(iter(())), "choose_failed"),  # StopIteration, which futures refuse
        (lambda turn: _raise(ValueError("a bug")), "choose_failed"),
        (lambda turn: sys.exit(1), "choose_failed"),
    ],
)
def test_a_wrong_choice_is_reported_and_replaced_by_the_most_central_column(
    choose: Callable[[Turn], Any], code: str
) -> None:
    problems: list[Problem] = []

    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("g1", moves="444444")
        await peer.turn("g1", "444444")
        assert await peer.expect_move("g1", 6) == 3
        await peer.game_end("g1")
        await peer.finish(client)

    play(script, choose, Hooks(on_error=problems.append))
    assert [(problem.code, problem.game) for problem in problems] == [(code, "g1")]


def test_what_counts_as_an_integer_is_a_column() -> None:
    class Number:
        def __index__(self) -> int:
            return 6

    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.turn("g1")
        assert await peer.expect_move("g1", 0) == 6
        await peer.game_end("g1")
        await peer.finish(client)

    play(script, lambda turn: Number())


def test_what_was_thought_goes_with_the_move() -> None:
    thought = {"depth": 5, "note": "forced"}

    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.turn("g1")
        move = await peer.receive_move("g1")
        assert (move["column"], move["info"]) == (3, thought)
        await peer.game_end("g1")
        await peer.finish(client)

    play(script, lambda turn: (3, thought))


def test_a_move_that_the_server_calls_illegal_is_replaced_by_another_column() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("g1")
        await peer.turn("g1")
        for retries_left, column in [(2, 4), (1, 3)]:
            move = await peer.receive_move("g1")
            assert move["column"] == column
            error = {"code": "illegal_move", "message": "no", "game": "g1", "retries_left": retries_left}
            await peer.send("error", re=move["id"], fatal=False, **error)
        assert await peer.expect_move("g1", 0) == 5
        await peer.game_end("g1")
        await peer.finish(client)

    play(script, lambda turn: 4)


def test_an_error_about_an_earlier_move_does_not_touch_the_present_one() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("g1")
        await peer.turn("g1")
        late = (await peer.receive_move("g1"))["id"]
        await peer.turn("g1", "11")
        await peer.expect_move("g1", 2)
        await peer.send("error", re=late, code="illegal_move", message="no", game="g1", fatal=False)
        await peer.game_end("g1")
        await peer.finish(client)
        assert not peer.has_move("g1")

    play(script)


def test_a_move_that_came_too_fast_is_sent_again_after_retry_ms() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("g1")
        await peer.turn("g1")
        move = await peer.receive_move("g1")
        began = asyncio.get_running_loop().time()
        await peer.send("error", re=move["id"], code="rate_limited", message="slow down", retry_ms=100, fatal=False)
        assert await peer.receive_move("g1") == move
        assert asyncio.get_running_loop().time() - began >= 0.1
        await peer.game_end("g1")
        await peer.finish(client)

    play(script)


def test_a_turn_without_its_game_is_answered_all_the_same() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.turn("g1", "4")
        await peer.expect_move("g1", 1)
        await peer.game_end("g1", "second")
        await peer.finish(client)

    assert play(script).win == 1


def test_challenges_are_accepted_and_declined_when_leaving() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.send("challenge", challenge="c1")
        assert (await peer.receive("accept"))["challenge"] == "c1"
        await peer.game("g1")
        await peer.turn("g1")
        await peer.expect_move("g1", 0)
        client.drain()
        assert (await peer.receive("bye"))["drain"] is True
        await peer.send("challenge", challenge="c2")
        decline = await peer.receive("decline")
        assert (decline["challenge"], decline["reason"]) == ("c2", "later")
        await peer.turn("g1", "11")
        await peer.expect_move("g1", 2)  # drained is not gone: the game goes on
        await peer.game_end("g1")
        await peer.socket.close(1000)

    assert play(script).win == 1


def test_a_draining_bot_that_loses_its_connection_comes_back_for_its_games_only() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("g1")
        await until(lambda: client.is_connected)
        client.drain()
        await peer.receive("bye")
        await peer.socket.close(1012)
        peer, hello = await server.connection()
        assert hello["open"] is False
        await peer.welcome(resume=hello["resume"])
        await peer.synced()
        await peer.game_end("g1", "draw")
        await peer.leave()

    assert play(script).draw == 1


def test_drain_without_games_or_connection_ends_at_once() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        await server.connection()
        client.drain()

    assert play(script).win == 0


def test_stop_leaves_games_behind() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("g1")
        await peer.turn("g1")
        await peer.expect_move("g1", 0)
        client.stop()
        await peer.socket.wait_closed()

    assert play(script).win == 0


def test_the_last_game_that_was_asked_for_is_announced_when_it_starts() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("g1")
        await peer.game("g2", "second")
        assert (await peer.receive("bye"))["drain"] is True
        await peer.game_end("g2")
        await peer.game_end("g1")
        await peer.socket.close(1000)

    tally = play(script, games=2)
    assert (tally.win, tally.loss) == (1, 1)


@pytest.mark.parametrize(
    ("more", "rating"),
    [
        ({"rating": {"first": {"before": 1210, "after": 1222.4}}}, "rating 1210 -> 1222"),
        ({"rating": {"first": {"before": None, "after": 1500}}}, "rating new -> 1500"),
        ({"unrated_because": "same_owner"}, "unrated (same_owner)"),
    ],
)
def test_a_finished_game_prints_one_line(more: dict[str, Any], rating: str, capsys: pytest.CaptureFixture[str]) -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("g1")
        await peer.game_end("g1", **more)
        await peer.game_end("g1", **more)  # repeated
        await peer.finish(client)

    play(script)
    assert capsys.readouterr().out == f"g1: win against rival (resign), {rating}\n"


def test_the_hooks_of_a_game_run_in_its_thread_in_order() -> None:
    calls: list[tuple[str, int]] = []

    def note(what: str) -> None:
        calls.append((what, threading.get_ident()))

    def choose(turn: Turn) -> int:
        note("choose")
        return 1

    def on_game_end(end: GameEnd) -> None:
        note(f"{end.result} against {end.game.opponent.name if end.game.opponent else None}")
        raise ValueError("a hook's bug costs nothing")

    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("g1")
        await peer.turn("g1")
        await peer.expect_move("g1", 0)
        await peer.game_end("g1")
        await peer.finish(client)

    play(script, choose, Hooks(lambda game: note(f"start {game.id}"), on_game_end))
    assert [what for what, _ in calls] == ["start g1", "choose", "win against rival"]
    assert {thread for _, thread in calls}.isdisjoint({threading.get_ident()})
    assert len({thread for _, thread in calls}) == 1
