"""Refuse requests without an entry, under another name of the server, or from another site."""

from __future__ import annotations

import asyncio
from html import escape
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from streamlit import config

from rwn_ui.server.entry import Codes, Entry, ProxySecret
from rwn_ui.server.environment import CODE, PROXY_HEADER
from rwn_ui.server.peer import account_of
from rwn_ui.server.safety import ADDRESS

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEALTH = "/_stcore/health"  # for monitoring of the machine; it tells nothing
_LOOK_EACH_S = 0.05
_LOOKS = 20
"""A code that is not known is looked for so often: a browser may be there before the code."""

HEADERS = {
    "content-security-policy": "default-src 'self'; script-src 'self' 'unsafe-inline' "
    "'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self' ws: wss: data: blob:; worker-src 'self' blob:; "
    "frame-src 'self' blob: data:; object-src 'none'; base-uri 'self'; frame-ancestors 'self'",
    "referrer-policy": "no-referrer",  # an address may hold a code
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
}
"""What every answer says to the browser: nothing comes from another host, no other site frames."""

REFUSED = (
    "This browser was not let in. Press Enter in the terminal where rwn app runs: it shows an "
    "address that lets one browser in, once and within a minute.\n"
)
"""What a refused person reads; a program behind a proxy reads nothing."""


class OwnVisitors:
    """A filter that passes requests with a Host of this server, its own Origin, and an entry.

    Others get 403, websockets too: Streamlit's own check would look up its address outside. A code
    comes in the opened address, once, and is exchanged for a cookie of another value; a proxy sends
    its secret as a header instead.

    Parameters
    ----------
    app : ASGI application
    entry : Codes, ProxySecret or None
        None where every account of this machine may come in.
    """

    def __init__(self, app: ASGIApp, entry: Entry) -> None:
        self.app, self.entry = app, entry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] not in ("http", "websocket") or scope["path"].endswith(HEALTH):
            await self.app(scope, receive, send)
            return
        from starlette.datastructures import MutableHeaders

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._hear(scope)
        await self._answer(scope)(scope, receive, with_headers)

    def _answer(self, scope: Scope) -> ASGIApp:
        """Return what answers a request: the app, a page that forwards to it, or a refusal."""
        from starlette.datastructures import Headers
        from starlette.responses import RedirectResponse

        headers = Headers(scope=scope)
        if not is_own(headers.get("host"), headers.get("origin")):
            return self._refusal(scope)
        if self.entry is None:
            return self.app
        if isinstance(self.entry, ProxySecret):
            sent = headers.get(PROXY_HEADER)
            known = sent is not None and self.entry.knows(sent)
            return self.app if known else self._refusal(scope)
        code, forward = _code_and_rest(scope)
        name = _cookie_name(scope)
        account = account_of(scope.get("client"), scope.get("server"))
        value = None if code is None else self.entry.exchange(code, account)
        if value is not None:
            return _welcome(forward, name, value)
        cookie = _cookie(headers, name)
        if cookie is None or not self.entry.knows(cookie, account):
            return self._refusal(scope)
        return self.app if code is None else RedirectResponse(forward, status_code=303)

    async def _hear(self, scope: Scope) -> None:
        """Wait until the launcher's word of a code has come through the pipe, a second at most."""
        if not isinstance(self.entry, Codes):
            return
        code, _ = _code_and_rest(scope)
        if code is None:
            return
        for _ in range(_LOOKS):
            if self.entry.has_heard(code):
                return
            await asyncio.sleep(_LOOK_EACH_S)

    def _refusal(self, scope: Scope) -> ASGIApp:
        from starlette.responses import PlainTextResponse
        from starlette.websockets import WebSocketClose

        if scope["type"] == "websocket":
            return WebSocketClose()
        words = REFUSED if isinstance(self.entry, Codes) else ""
        return PlainTextResponse(words, status_code=403)


def _code_and_rest(scope: Scope) -> tuple[str | None, str]:
    """Return the code of an address that is opened, if it has one, and the address without it."""
    query = scope.get("query_string", b"").decode("latin-1")
    asked = parse_qsl(query, keep_blank_values=True)
    rest = urlencode([(name, value) for name, value in asked if name != CODE])
    opens = scope["type"] == "http" and scope["method"] == "GET"
    return dict(asked).get(CODE) if opens else None, f"?{rest}" if rest else "./"


def _welcome(forward: str, cookie: str, value: str) -> Response:
    """Give a browser its cookie, and send it on to an address that has no code."""
    from starlette.responses import HTMLResponse

    # A redirect would go on with the request of the page that forwarded to this one, which lies in
    # a file: browsers send no strict cookie with it. A page of this server asks anew.
    page = (
        '<!doctype html><meta charset="utf-8"><title>RWN</title>'
        f'<meta http-equiv="refresh" content="0;url={escape(forward)}">'
        f'<a href="{escape(forward)}">Open RWN</a>'
    )
    answer = HTMLResponse(page, headers={"Cache-Control": "no-store"})
    answer.set_cookie(cookie, value, httponly=True, samesite="strict")
    return answer


def _cookie_name(scope: Scope) -> str:
    """Return a name with the port: a browser sends the cookies of all ports of a host."""
    return f"rwn-{(scope.get('server') or ('', 0))[1]}"


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
