"""The session: handshake, heartbeat, resume, and the ends that are final."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from threading import Event

import pytest
from fake_server import TOKEN, FakeServer, play, until

from fourfold_bot import Client, Refused, Turn, connection
from fourfold_bot.settings import socket_url


def test_hello_presents_the_bot_and_the_token_travels_in_the_header() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer, hello = await server.connection()
        request = peer.socket.request
        assert request is not None and request.headers["Authorization"] == f"Bearer {TOKEN}"
        assert peer.socket.subprotocol == "fourfold.v1"
        assert TOKEN not in str(hello) and TOKEN not in request.path
        assert hello == {
            "type": "hello",
            "protocol": 1,
            "client": {"name": "test", "version": "7"},
            "bot": {"version": "7", "about": "a test", "language": "Python"},
            "open": True,
            "accepts": {"rated": True},
            "max_games": 3,
            "strict": True,
        }
        await peer.welcome()
        await peer.finish(client)

    play(script, about="a test", accepts={"rated": True}, max_games=3, strict=True)


def test_a_session_resumes_after_a_drop_and_the_answer_is_sent_again() -> None:
    calls: list[Turn] = []

    def choose(turn: Turn) -> int:
        calls.append(turn)
        return 5

    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("g1")
        await peer.turn("g1", "")
        assert await peer.expect_move("g1", 0) == 5
        last_seq = peer.seq
        peer.socket.transport.abort()  # before the server recorded the move
        peer, hello = await server.connection()
        assert hello["resume"] == {"session": "k3", "secret": "hush", "seq": last_seq}
        await peer.welcome(resume=hello["resume"])
        await peer.synced("g1")
        await peer.turn("g1", "")
        assert await peer.expect_move("g1", 0) == 5
        await peer.game_end("g1")
        await peer.finish(client)

    tally = play(script, choose)
    assert (tally.win, len(calls)) == (1, 1)


def test_a_move_chosen_while_the_connection_was_away_is_sent_when_it_is_back() -> None:
    is_dropped = Event()

    def choose(turn: Turn) -> int:
        assert is_dropped.wait(5)
        return 6

    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("g1")
        await peer.turn("g1", "")
        peer.socket.transport.abort()
        peer, hello = await server.connection()
        is_dropped.set()
        await peer.welcome(resume=hello["resume"])
        await peer.synced("g1")
        await peer.turn("g1", "")
        assert await peer.expect_move("g1", 0) == 6
        await peer.game_end("g1")
        await peer.finish(client)

    play(script, choose)


def test_missed_messages_count_towards_the_next_resume() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.socket.close(1012)
        peer, hello = await server.connection()
        assert hello["resume"]["seq"] == 2
        await peer.welcome(resume=hello["resume"])
        await peer.send("lobby")  # missed: 3
        await peer.synced()  # 4
        await peer.socket.close(1012)
        peer, hello = await server.connection()
        assert hello["resume"]["seq"] == 4
        await peer.welcome()
        await peer.finish(client)

    play(script)


def test_a_game_that_ended_while_the_session_was_lost_is_asked_about() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("gone")
        await peer.game("over")
        await peer.game("live", "second")
        await peer.socket.close(1012)
        peer, _ = await server.connection()
        await peer.welcome()  # not resumed
        await peer.game("live", "second")
        await peer.synced()
        assert (await peer.receive("sync"))["game"] == "gone"
        assert (await peer.receive("sync"))["game"] == "over"
        await peer.send("error", code="no_such_game", message="no such game", game="gone", fatal=False)
        await peer.game("over", status="over", result="second", reason="left")
        await peer.game_end("live", result="draw", reason="full")
        await peer.finish(client)

    tally = play(script)
    assert (tally.void, tally.loss, tally.draw, tally.win) == (1, 1, 1, 0)


@pytest.mark.parametrize(
    ("code", "text"), [(4401, "FOURFOLD_TOKEN"), (4403, "not allowed"), (4406, "update"), (4409, "newer connection")]
)
def test_a_final_close_ends_the_bot_with_the_reason(code: int, text: str) -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.socket.close(code)

    with pytest.raises(Refused, match=text):
        play(script)


@pytest.mark.parametrize("code", [1000, 1011, 1012, 4400, 4408])
def test_any_other_close_reconnects(code: int) -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.socket.close(code)
        peer, hello = await server.connection()
        assert hello["resume"]["session"] == "k3"
        await peer.welcome(resume=hello["resume"])
        await peer.finish(client)

    play(script)


def test_a_wrong_token_is_final() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        await server.connection()

    with pytest.raises(Refused, match="FOURFOLD_TOKEN"):
        play(script, token="c4b_wrong")


def test_a_missing_token_is_final_and_says_where_to_get_one() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        await server.connection()

    with pytest.raises(Refused, match="bot create"):
        play(script, token="")


def test_an_address_that_is_none_is_final() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        await server.connection()

    with pytest.raises(Refused, match="FOURFOLD_URL"):
        play(script, url="http://127.0.0.1/")


def test_a_server_that_is_not_ready_is_tried_again() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        server.refuse_with = HTTPStatus.SERVICE_UNAVAILABLE
        await until(lambda: server.refused > 0)
        server.refuse_with = None
        peer = await server.accept()
        await peer.finish(client)

    play(script)


@pytest.mark.parametrize(
    ("code", "is_final"), [("unauthorized", True), ("bad_version", True), ("bad_field", True), ("internal", False)]
)
def test_an_error_in_answer_to_hello_ends_the_attempt(code: str, is_final: bool) -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer, _ = await server.connection()
        await peer.send("error", code=code, message="no", fatal=True)
        peer = await server.accept()
        await peer.finish(client)

    if is_final:
        with pytest.raises(Refused, match=f"{code}: no"):
            play(script)
    else:
        play(script)


@pytest.mark.parametrize(("code", "close"), [("paused", 1012), ("rate_limited", 4429)])
def test_a_server_that_says_when_is_left_alone_until_then(code: str, close: int) -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        began = asyncio.get_running_loop().time()
        await peer.send("error", code=code, message="later", retry_ms=150, fatal=False)
        await peer.socket.close(close)
        peer = await server.accept()
        assert asyncio.get_running_loop().time() - began >= 0.15
        await peer.finish(client)

    play(script)


def test_silence_of_two_and_a_half_heartbeats_reconnects() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        began = asyncio.get_running_loop().time()
        peer = await server.accept(heartbeat_ms=40)
        peer.answers_pings = False
        silent = peer
        peer, hello = await server.connection()
        assert asyncio.get_running_loop().time() - began >= 2.5 * 0.04
        assert silent.pings == 1 and "resume" in hello
        await peer.welcome(resume=hello["resume"])
        await peer.finish(client)

    play(script)


def test_a_server_that_answers_pings_is_kept() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept(heartbeat_ms=10)
        await until(lambda: peer.pings >= 5)
        await peer.finish(client)  # on the first connection

    play(script)


def test_pings_are_answered_while_the_bot_thinks() -> None:
    may_answer = Event()

    def choose(turn: Turn) -> int:
        assert may_answer.wait(5)
        return 1

    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.game("g1")
        await peer.turn("g1")
        await (await peer.socket.ping())
        assert not peer.has_move("g1")
        may_answer.set()
        await peer.expect_move("g1", 0)
        await peer.game_end("g1")
        await peer.finish(client)

    play(script, choose)


def test_what_is_unknown_or_broken_is_passed_over() -> None:
    async def script(server: FakeServer, client: Client) -> None:
        peer = await server.accept()
        await peer.send("fireworks", colour="red")
        for frame in ('{"type":"turn"}', '{"type":"game","game":"g0","you":"first"}', "[1]", "{", "{}", '{"type":{}}'):
            await peer.socket.send(frame)
        await peer.game("g1", weather="fine")
        await peer.turn("g1", moon="full")
        await peer.expect_move("g1", 0)
        await peer.game_end("g1", applause=True)
        await peer.finish(client)

    assert play(script).win == 1


def test_waits_double_up_to_the_longest_with_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BACKOFF_S", (0.2, 5.0))
    for attempt, middle in [(1, 0.2), (2, 0.4), (3, 0.8), (4, 1.6), (5, 3.2), (6, 5.0), (1000, 5.0)]:
        waits = [connection.backoff_s(attempt) for _ in range(100)]
        assert 0.75 * middle <= min(waits) < max(waits) <= 1.25 * middle, attempt


@pytest.mark.parametrize(
    ("url", "completed"),
    [
        ("ws://127.0.0.1:4444", "ws://127.0.0.1:4444/api/v1/socket"),
        ("wss://a.example/", "wss://a.example/api/v1/socket"),
        ("ws://a.example/other", "ws://a.example/other"),
    ],
)
def test_an_address_without_a_path_is_completed(url: str, completed: str) -> None:
    assert socket_url(url) == completed
