"""Endpoint of the server that answers a page between two of Streamlit's runs."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import orjson

from rwn_core.errors import log_fault

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

ADDRESS = "rwn/tune"
LONGEST = 20_000  # bytes of a request
WAIT_S = 20.0  # of a post for what a picture lacks
REST_S = 0.1  # without an edit, before slow readings are started
PATIENCE_S = 1.0  # that an edit waits for a run which draws
Answer = Callable[[Mapping[str, Any]], bytes | None]


class Endpoint:
    """The answers to one user's page, one after another; none while a run changes a choice."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)  # in each request; only the user's page has it
        self.seq = 0  # number of the last picture
        self._answer: Answer | None = None
        self._lock = threading.RLock()
        _ALL[self.token] = self

    def next_seq(self) -> int:
        """Number of the next picture; also after a new start of the server it is a larger one."""
        self.seq = max(self.seq + 1, time.time_ns() // 1000)
        return self.seq

    def open(self, answer: Answer) -> None:
        """Answer from now on, in a thread of the server, one request after another."""
        with self._lock:
            self._answer = answer

    def close(self) -> None:
        """Stop answering; return when the last answer is complete."""
        with self._lock:
            self._answer = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Answer nothing meanwhile; begin when the last answer is complete."""
        with self._lock:
            yield

    def handle(self, request: Mapping[str, Any]) -> bytes | None:
        """Return the answer; None if a run has to give it."""
        if not self._lock.acquire(timeout=PATIENCE_S):
            return None
        try:
            return None if self._answer is None else self._answer(request)
        finally:
            self._lock.release()


_ALL: WeakValueDictionary[str, Endpoint] = WeakValueDictionary()
"""By token; an entry ends with the state of its user."""


def route() -> Route:
    """Return the route of the endpoint, under any base path of the server."""
    from starlette.routing import Route

    return Route(f"/{{base:path}}{ADDRESS}", _respond, methods=["POST"])


async def _respond(request: Request) -> Response:
    """Answer a request with a picture; 204 where there is none."""
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect
    from starlette.responses import Response

    text = b""
    try:
        async for part in request.stream():
            text += part
            if len(text) > LONGEST:
                return Response(status_code=413)
    except ClientDisconnect:  # no client waits for it: no fault
        return Response(status_code=204)
    end = time.monotonic() + WAIT_S
    pause = REST_S
    if b'"edits"' not in text:
        await asyncio.sleep(REST_S)
    found = await run_in_threadpool(_answer, text)
    while found == b"" and time.monotonic() < end and not await request.is_disconnected():
        await asyncio.sleep(pause)
        pause = min(1.2 * pause, 1.0)
        found = await run_in_threadpool(_answer, text)
    if not found:
        return Response(status_code=204)
    # Streamlit would compress it, which takes longer than to draw it
    headers = {"Content-Encoding": "identity", "Cache-Control": "no-store"}
    return Response(found, media_type="application/octet-stream", headers=headers)


def _answer(text: bytes) -> bytes | None:
    try:
        question = orjson.loads(text)
        endpoint = _ALL.get(question["token"])
    except (ValueError, KeyError, TypeError):  # from no page of this program
        return None
    try:
        return None if endpoint is None else endpoint.handle(question)
    except Exception as error:  # the run that follows says what is wrong
        log_fault(error)
        return None
