"""Answers what a page asks beside Streamlit's runs, at an address of the same server.

A run, and what the browser does about one, costs more than most pictures. A page that only wants
its picture anew asks here; what it cannot be told here it has a run for.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import orjson

from rwn_core.errors import log_fault
from rwn_ui.server.visitors import checked

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

ADDRESS = "rwn/answer"
KEPT = "rwn.answers"
"""Where Streamlit keeps them, among what it keeps of a user."""
LONGEST = 20_000  # bytes of a question
Answer = Callable[[Mapping[str, Any]], bytes | None]


class Busy(Exception):
    """Nothing is answered now."""


class Answers:
    """What one user's page is told between two runs; nothing while its picture is being drawn.

    Attributes
    ----------
    token : str
        Names these answers in a question. Only the page of this user is told it.
    """

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)
        self._answer: Answer | None = None
        self._lock = threading.Lock()
        _ALL[self.token] = self

    def begin(self, answer: Answer) -> None:
        """Answer from now on, in a thread of the server's, one question after another."""
        with self._lock:
            self._answer = answer

    def end(self) -> None:
        """Answer no more; what is being answered is done when this returns."""
        with self._lock:
            self._answer = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Answer nothing meanwhile; what is being answered is done when this begins."""
        with self._lock:
            yield

    def ask(self, question: Mapping[str, Any]) -> bytes | None:
        """The answer; None where a run has to give it.

        Raises
        ------
        Busy
            Something is being drawn, changed or answered: it may be asked again.
        """
        if not self._lock.acquire(blocking=False):
            raise Busy
        try:
            if self._answer is None:
                raise Busy
            return self._answer(question)
        finally:
            self._lock.release()


_ALL: WeakValueDictionary[str, Answers] = WeakValueDictionary()
"""By their tokens; an entry goes with what Streamlit keeps of its user."""


def add_route() -> None:
    """Have Streamlit's server know the address; called before it starts."""
    from starlette.routing import Route
    from streamlit import config
    from streamlit.runtime.state.session_state import SessionState
    from streamlit.web.server.starlette import starlette_app

    callbacks = held_during(SessionState.on_script_will_rerun)
    SessionState.on_script_will_rerun = callbacks  # type: ignore[method-assign]

    made = starlette_app.create_streamlit_routes

    def with_answers(runtime: Any) -> list[Any]:
        base = (config.get_option("server.baseUrlPath") or "").strip("/")
        path = "/".join(("", base, ADDRESS) if base else ("", ADDRESS))
        return checked([Route(path, _respond, methods=["POST"]), *made(runtime)])

    starlette_app.create_streamlit_routes = with_answers


def held_during(callbacks: Callable[..., None]) -> Callable[..., None]:
    """Streamlit's callbacks of widgets, which change choices before a run has begun."""

    def alone(state: Any, *given: Any, **named: Any) -> None:
        with state[KEPT].held() if KEPT in state else nullcontext():
            callbacks(state, *given, **named)

    return alone


async def _respond(request: Request) -> Response:
    """Answer a question; 204 where a run has to, 202 where it may be asked again."""
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect
    from starlette.responses import Response

    text = b""
    try:
        async for part in request.stream():
            text += part
            if len(text) > LONGEST:
                return Response(status_code=413)
    except ClientDisconnect:  # nobody waits for it: no fault
        return Response(status_code=204)
    try:
        found = await run_in_threadpool(_answer, text)
    except Busy:
        return Response(status_code=202)
    if found is None:
        return Response(status_code=204)
    # Streamlit would compress it, which takes longer than to draw it
    headers = {"Content-Encoding": "identity", "Cache-Control": "no-store"}
    return Response(found, media_type="application/octet-stream", headers=headers)


def _answer(text: bytes) -> bytes | None:
    try:
        question = orjson.loads(text)
        asked = _ALL.get(question["token"])
    except (ValueError, KeyError, TypeError):  # from nobody's page
        return None
    try:
        return None if asked is None else asked.ask(question)
    except Busy:
        raise
    except Exception as error:  # the run that follows says what is wrong
        log_fault(error)
        return None
