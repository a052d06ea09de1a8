"""A notebook's end of the widgets' protocol: what Python sends is kept until it is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import comm
import orjson
import pytest
from comm.base_comm import BaseComm

from rwn_ui.notebook.widget import TuneWidget

SENT: dict[str, list[tuple[dict[str, Any], list[bytes]]]] = {}
"""Messages to the browser, by comm."""


class KeptComm(BaseComm):
    """A comm without a kernel, whose messages are kept."""

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **_: Any
    ) -> None:
        SENT.setdefault(self.comm_id, []).append((data or {}, [*(buffers or ())]))


@contextmanager
def kept_messages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(comm, "create_comm", lambda *args, **more: KeptComm(*args, **more))
        SENT.clear()
        yield


def taken(widget: TuneWidget) -> list[tuple[dict[str, Any], list[bytes]]]:
    """Custom messages to the browser since the last look: content and buffers."""
    sent = SENT.pop(widget.comm.comm_id, [])
    return [(data["content"], buffers) for data, buffers in sent if data.get("method") == "custom"]


def deliver(widget: TuneWidget, message: dict[str, Any]) -> None:
    content = {"data": {"method": "custom", "content": message}}
    widget.comm.handle_msg({"content": content, "buffers": []})


def answered(widget: TuneWidget, view: str = "one", **question: Any) -> Any:
    """Picture, or the note where there is none, that answers a question of a view."""
    deliver(widget, {"id": f"{view}.1", "view": view, **question})
    for content, buffers in taken(widget):
        if content.get("id") == f"{view}.1":
            return orjson.loads(buffers[0]) | content if buffers else content.get("note")
    raise AssertionError("no answer")
