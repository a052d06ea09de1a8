"""Finding T10: which requests the server answers, by the headers Host and Origin."""

from __future__ import annotations

import pytest
from streamlit import config

from rwn_ui.server.visitors import is_own


@pytest.mark.parametrize(
    ("host", "origin", "own"),
    [
        ("127.0.0.1:8501", None, True),
        ("localhost:8501", "http://localhost:8501", True),
        ("LOCALHOST:8501", "http://localhost:8501", True),
        ("data.example.org", "https://data.example.org", True),
        ("data.example.org", "https://data.example.org:8443", True),
        ("data.example.org:8443", "https://data.example.org:8443", True),
        ("localhost:8501", "http://localhost:9000", False),
        ("localhost:8501", "http://127.0.0.1:8501", False),
        ("localhost:8501", "null", False),
        ("localhost:8501", "", False),
        ("localhost:8501", "http://localhost:8501@evil.example", False),
        ("localhost:8501", "http://localhost.evil.example:8501", False),
        ("data.example.org", "https://evil.example", False),
        ("other.example.org", "https://other.example.org", False),
        ("evil.example", "https://evil.example", False),
        ("evil.example", None, False),
        (None, None, False),
        (None, "http://localhost:8501", False),
    ],
)
def test_only_the_servers_own_pages_are_answered(
    monkeypatch: pytest.MonkeyPatch, host: str | None, origin: str | None, own: bool
) -> None:
    names = ["127.0.0.1", "localhost", "data.example.org", "other.example.org"]
    given = {"server.allowedHosts": names, "browser.serverAddress": "data.example.org"}
    real = config.get_option
    monkeypatch.setattr(
        config,
        "get_option",
        lambda name: given[name] if name in given else real(name),
    )
    assert is_own(host, origin) is own
