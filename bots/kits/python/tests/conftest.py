import pytest

from fourfold_bot import connection


@pytest.fixture(autouse=True)
def short_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reconnects at once, so that tests of it are quick; how the waits grow is tested in test_connection.py."""
    monkeypatch.setattr(connection, "BACKOFF_S", (0.01, 0.05))
