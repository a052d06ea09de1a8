"""Refuses requests under another name of the server, or from a page of another site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HEALTH = "/_stcore/health"  # asked by whoever watches over the machine; it tells nothing


class OwnVisitors:
    """Hand on requests with a Host of this server and an Origin of its own page.

    Others get 403. Streamlit checks those of its websockets itself, by the same names.

    Parameters
    ----------
    app : ASGI application
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and not scope["path"].endswith(HEALTH):
            from starlette.requests import Request
            from starlette.responses import Response

            headers = Request(scope).headers
            if not is_own(headers.get("host"), headers.get("origin")):
                await Response(status_code=403)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def is_own(host: str | None, origin: str | None) -> bool:
    """True if a request names this server, and comes from its own page or from none."""
    from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

    if not is_host_allowed(host):
        return False
    if origin is None or host is None:
        return origin is None
    page = urlsplit(origin).netloc.lower()
    if not is_host_allowed(page):
        return False
    # a proxy may hand on the name without its port
    return page == host.lower() or (":" not in host and page.split(":")[0] == host.lower())


def checked(routes: list[Any]) -> list[Any]:
    """The same routes, each for own visitors only."""
    for route in routes:
        if hasattr(route, "app"):
            route.app = OwnVisitors(route.app)
    return routes
