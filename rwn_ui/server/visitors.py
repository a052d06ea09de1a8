"""Refuses requests under another name of the server, or from a page of another site."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from streamlit import config

from rwn_ui.server.safety import ADDRESS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HEALTH = "/_stcore/health"  # for monitoring of the machine; it tells nothing


class OwnVisitors:
    """Hand on requests with a Host of this server and an Origin of its own page.

    Others get 403, websockets too: Streamlit's own check would look up its address outside.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] in ("http", "websocket") and not scope["path"].endswith(HEALTH):
            from starlette.datastructures import Headers
            from starlette.responses import Response
            from starlette.websockets import WebSocketClose

            headers = Headers(scope=scope)
            if not is_own(headers.get("host"), headers.get("origin")):
                refusal = Response(status_code=403) if scope["type"] == "http" else WebSocketClose()
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)


def is_own(host: str | None, origin: str | None) -> bool:
    """True if a request names this server, and comes from its own page or from none."""
    if not _is_named(host):
        return False
    if origin is None or host is None:
        return origin is None
    page = urlsplit(origin).netloc.lower()
    # of other names Streamlit would ask outside whether they are this machine's
    pages = {ADDRESS, "localhost", str(config.get_option("browser.serverAddress")).lower()}
    if not _is_named(page) or urlsplit(origin).hostname not in pages:
        return False
    # a proxy may hand on the name without its port
    return page == host.lower() or (":" not in host and page.split(":")[0] == host.lower())


def _is_named(host: str | None) -> bool:
    """True if a Host header, with or without a port, is one of the server's names."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # a number in range
    except ValueError:
        return False
    plain = parts.netloc == host and "@" not in parts.netloc
    names = {str(each).lower() for each in config.get_option("server.allowedHosts")}
    return bool(host) and plain and parts.hostname in names
