"""The Tune page's panel, which asks until all is known."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import orjson

from rwn_ui.features import limit_queue
from rwn_ui.state.results import current_release
from rwn_ui.state.session import Session
from rwn_ui.tune import view as tune_view


def until(true: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for something, which may take long beside other work."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def shown(session: Session) -> dict[str, Any]:
    """What the panel is given."""
    return tune_view.payload(session, current_release(session))


def match_map(payload: dict[str, Any]) -> dict[str, Any]:
    """The first of its cards."""
    return orjson.loads(payload["cards"][0])


def followed(session: Session) -> dict[str, Any]:
    """What the panel gets in the end, asking again and again as it does."""
    end = time.monotonic() + 180
    while shown(session)["waiting"]:
        assert time.monotonic() < end
        limit_queue.follow(session)
        time.sleep(0.02)
    return shown(session)
