"""Tell Streamlit's client where the server is, so that it does not look for it under each page.

Opened by the address of a page, `/risk`, the client asks for `/risk/_stcore/health` first, and only
after that 404 for `/_stcore/health`: two errors in the browser's console on every such visit.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SCRIPT = """<script>
(() => {
  const parts = location.pathname.split("/");
  if (["", ...%s].includes(parts.at(-1))) parts.pop();
  const base = location.origin + parts.join("/") + "/";
  window.__streamlit = { BACKEND_BASE_URL: base, HOST_CONFIG_BASE_URL: base };
})();
</script></head>"""
"""What stands before Streamlit's own scripts; the pages' names take the place of the sign."""


FORMER = {"sweep"}
"""Names of pages that are gone, whose addresses go on to others."""
_IN_PARTS = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
"""Headers by which an answer would be packed, or no whole page."""


class OwnAddress:
    """A filter that writes where the server is into the page that Streamlit sends.

    Parameters
    ----------
    app : ASGI application
    pages : path
        The folder of the pages, whose names end an address.
    """

    def __init__(self, app: ASGIApp, pages: Path) -> None:
        self.app = app
        names = sorted({each.stem for each in pages.glob("*.py")} | FORMER)
        self.names = frozenset(names)
        self.script = (_SCRIPT % json.dumps(names)).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; of the page of the app with the script in its head."""
        name = str(scope.get("path", "")).rpartition("/")[2]
        page = scope["type"] == "http" and (not name or name in self.names)
        if not page or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        whole = [each for each in scope["headers"] if each[0] not in _IN_PARTS]
        await self.app({**scope, "headers": whole}, receive, _Written(send, self.script))


class _Written:
    """A sender of an answer; one that is HTML is held until it is whole, and written anew."""

    def __init__(self, send: Send, script: bytes) -> None:
        self.send, self.script = send, script
        self.start: Message | None = None
        self.body = b""

    async def __call__(self, message: Message) -> None:
        from starlette.datastructures import Headers, MutableHeaders

        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            if message["status"] == 200 and kind.startswith("text/html"):
                self.start = message
                return
        if self.start is None or message["type"] != "http.response.body":
            await self.send(message)
            return
        self.body += message.get("body", b"")
        if message.get("more_body", False):
            return
        body = self.body.replace(b"</head>", self.script, 1)
        headers = MutableHeaders(scope=self.start)
        headers["content-length"] = str(len(body))
        await self.send(self.start)
        await self.send({"type": "http.response.body", "body": body})
