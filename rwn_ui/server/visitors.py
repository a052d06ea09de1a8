"""Refuse requests without the token, under another name of the server, or from another site."""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from streamlit import config

from rwn_ui.server.environment import PROXY_HEADER, TOKEN
from rwn_ui.server.safety import ADDRESS

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEALTH = "/_stcore/health"  # for monitoring of the machine; it tells nothing


HEADERS = {
    "content-security-policy": "default-src 'self'; script-src 'self' 'unsafe-inline' "
    "'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self' ws: wss: data: blob:; worker-src 'self' blob:; "
    "frame-src 'self' blob: data:; object-src 'none'; base-uri 'self'; frame-ancestors 'self'",
    "referrer-policy": "no-referrer",  # an address may hold the token
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
}
"""What every answer says to the browser: nothing comes from another host, no other site frames."""


class OwnVisitors:
    """A filter that passes requests with a Host of this server, its own Origin, and its token.

    Others get 403, websockets too: Streamlit's own check would look up its address outside. The
    token comes in the opened address, is put into a cookie and leaves the address; a proxy sends it
    as a header instead.

    Parameters
    ----------
    app : ASGI application
    token : str
        Empty where every account of this machine may come in.
    proxied : bool
        True if only the header of a proxy is accepted.
    """

    def __init__(self, app: ASGIApp, token: str = "", *, proxied: bool = False) -> None:
        self.app, self.token, self.proxied = app, token, proxied

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] not in ("http", "websocket") or scope["path"].endswith(HEALTH):
            await self.app(scope, receive, send)
            return
        from starlette.datastructures import Headers, MutableHeaders
        from starlette.responses import RedirectResponse, Response
        from starlette.websockets import WebSocketClose

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        headers = Headers(scope=scope)
        # the port is in the cookie's name: a browser sends the cookies of all ports of a host
        cookie = f"rwn-{(scope.get('server') or ('', 0))[1]}"
        asked = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        opened = scope["type"] == "http" and not self.proxied and self._is(dict(asked).get(TOKEN))
        known = headers.get(PROXY_HEADER) if self.proxied else _cookie(headers, cookie)
        if not is_own(headers.get("host"), headers.get("origin")) or not (
            opened or not self.token or self._is(known)
        ):
            refusal = Response(status_code=403) if scope["type"] == "http" else WebSocketClose()
            await refusal(scope, receive, with_headers)
        elif self.token and opened:
            others = urlencode([(name, value) for name, value in asked if name != TOKEN])
            answer = RedirectResponse(f"?{others}" if others else "./", status_code=303)
            answer.set_cookie(cookie, self.token, httponly=True, samesite="lax")
            await answer(scope, receive, with_headers)
        else:
            await self.app(scope, receive, with_headers)

    def _is(self, given: str | None) -> bool:
        """True if a text is the token; the time does not say how much of it is right."""
        return given is not None and hmac.compare_digest(given.encode(), self.token.encode())


def _cookie(headers: Headers, name: str) -> str | None:
    """Return the value of a cookie; None without it."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return None if found is None else found.value


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
