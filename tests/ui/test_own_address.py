"""The page that Streamlit sends says where the server is, under every address of a page."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from rwn_ui.server.own_address import OwnAddress

ROOT = Path(__file__).resolve().parents[2]
PAGE = b"<html><head><title>x</title></head><body></body></html>"


def answered(path: str, *, kind: bytes = b"text/html", status: int = 200) -> list[dict]:
    """Return what is sent for a request; the app below sends a page in two parts."""
    sent: list[dict] = []

    async def app(scope, receive, send) -> None:
        asked = dict(scope["headers"])
        assert (b"accept-encoding" in asked) == path.startswith("/static")
        headers = [(b"content-type", kind), (b"content-length", b"%d" % len(PAGE))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": PAGE[:20], "more_body": True})
        await send({"type": "http.response.body", "body": PAGE[20:]})

    async def send(message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "headers": [(b"accept-encoding", b"gzip"), (b"cookie", b"a=b")],
    }
    work = OwnAddress(app, ROOT / "pages")(scope, None, send)
    with suppress(StopIteration):  # nothing in it waits; where a loop runs, it has none of its own
        work.send(None)
    return sent


@pytest.mark.parametrize("path", ["/", "/risk", "/behind/a/proxy/find"])
def test_a_page_says_where_the_server_is(path: str) -> None:
    start, body = answered(path)
    written = body["body"]
    assert written.startswith(PAGE[:20])
    assert written.index(b"BACKEND_BASE_URL") < written.index(b"</head>")
    assert dict(start["headers"])[b"content-length"] == b"%d" % len(written)
    for page in (ROOT / "pages").glob("*.py"):
        assert f'"{page.stem}"'.encode() in written


@pytest.mark.parametrize(
    ("path", "kind", "status"),
    [
        ("/static/index.js", b"text/html", 200),
        ("/risk", b"application/json", 200),
        ("/risk", b"text/html", 403),
    ],
    ids=["no page", "no text", "refused"],
)
def test_any_other_answer_stays_as_it_is(path: str, kind: bytes, status: int) -> None:
    sent = answered(path, kind=kind, status=status)
    assert b"".join(each.get("body", b"") for each in sent) == PAGE
