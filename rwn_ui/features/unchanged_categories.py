"""Says what leaves unmasked, and which categories stay although q says that cells are modified."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import rwn_core as rwn
from rwn_core.evaluation.audit import WEAKLY_MASKED, change_from_anywhere
from rwn_core.measures import CHANGED
from rwn_core.measures.measure import Reading
from rwn_core.measures.sentence import percent
from rwn_ui.panel.parts import changed_cells
from rwn_ui.state.results import Snapshot

_MOST_NAMES = 4


def unmasked_words(now: Snapshot) -> str:
    """Say which variables leave as they are, in one sentence; empty where all are masked."""
    rounded = dict(now.setting.precision)
    reading = now.readings[CHANGED]
    if isinstance(reading, Reading) and reading.detail.share.all() and not rounded:
        return ""  # each has a cell that changed
    masked = now.release.prepared.method.masked_names(now.table)
    released = now.table.schema.released
    left = [variable.name for variable in released if variable.name not in masked]
    if not left:
        return ""
    said = [f"{name} (rounded)" if name in rounded else name for name in left]
    verb = "leaves" if len(left) == 1 else "leave"
    return f"{len(left)} of {len(released)} variables {verb} unmasked: {_listed(said)}."


def strip(now: Snapshot) -> dict[str, Any] | None:
    """The realized shares as the panel draws them, the least in words, with a warning if needed."""
    shown = changed_cells(now.readings[CHANGED], now.levers)
    law = now.release.comparison.law
    if shown is None or not shown["names"]:
        return shown
    pairs = list(zip(shown["names"], shown["share"], strict=True))
    name, share = min(pairs, key=itemgetter(1))
    least = f"least: {name} {percent(share)}"
    if law is not None and law.tied is not None:
        least += f" · ties keep {percent(law.tied.fitted.kept)} of what relates the slices"
    found = None if law is None else law.neighborhoods
    own = None if found is None else found.largest_own_weight
    words = "" if own is None else f", own donor up to {percent(own)}"
    return {**shown, "own": words, "least": least, "warning": warning(now, dict(pairs))}


def warning(now: Snapshot, shares: dict[str, float]) -> str:
    """Which variables nearly never change, why, and what helps; empty where there are none."""
    # Of a method without q those that it leaves as they are.
    q = now.levers.get("q")
    if q is None:
        same = [name for name, share in shares.items() if share == 0]
        return f"Not masked at this setting: {_listed(same)}." if same else ""
    if not q:
        return ""
    anywhere = now.table.cached("change from anywhere", lambda: change_from_anywhere(now.table))
    few = [
        name
        for name, free in anywhere.items()
        if now.table.schema.by_name[name].kind in (rwn.Kind.CATEGORICAL, rwn.Kind.ORDERED)
        and shares.get(name, 1.0) < WEAKLY_MASKED * q * free
    ]
    if not few:
        return ""
    largest = max(shares[name] for name in few)
    return (
        f"Barely masked at q = {q:g}: {_listed(few)} (at most {percent(largest)} of the cells "
        "changed). The nearest records have the same category, and so have the donors. A weight "
        "far below 1 for such a variable lets neighborhoods reach other categories; on small "
        "tables the encoding “matching” (More options) helps, too."
    )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"
