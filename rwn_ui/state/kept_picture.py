"""The last picture of a page, which stays where the present one cannot be drawn."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rwn_ui.panel import panel
from rwn_ui.server.messages import guarded
from rwn_ui.state.session import Session
from rwn_ui.state.work import KeptPicture


def show_picture(
    session: Session,
    payload: Mapping[str, Any],
    *,
    key: str,
    about: Hashable = None,
    on_pick: Callable[[str], None] | None = None,
) -> None:
    """Draw the picture of a page, and keep it until the table is left."""
    session.user.results.pictures[key] = KeptPicture(about=about, payload=payload)
    panel(payload, key=key, on_pick=on_pick)


@contextmanager
def guarded_picture(session: Session, key: str, about: Hashable = None) -> Iterator[None]:
    """Show what goes wrong inside as a sentence, and below it the last picture about the same."""
    pictures = session.user.results.pictures
    before = pictures.get(key)
    ended = False
    with guarded():
        yield
        ended = True
    drawn = pictures.get(key) is not before
    if not ended and not drawn and before is not None and before.about == about:
        panel(before.payload, key=key)
