"""The tile of the policy: the limit that is nearest to breaking or most broken, with its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import rwn_core as rwn
from rwn_core.measures.measure import Reading
from rwn_core.tuning import Verdict
from rwn_core.tuning.goal import number_words
from rwn_core.tuning.verdict import ends_words, share_words
from rwn_ui.features import limit_queue
from rwn_ui.panel.tile import blank, percent

NAME = "Policy"
LINKED = ("bayes_linkage", "linked_over_half")  # beside them an ordinary intruder is shown


def draw(
    policy: rwn.Policy,
    readings: Mapping[str, Reading | rwn.NotApplicable],
    *,
    released: float | None = None,
    wait: str = "",
) -> dict[str, Any]:
    """The verdict on a release as a tile; `wait` says that limits are still being read.

    Too few records `released`, of which this is the share, keep nothing. One broken limit is enough
    to know that not all are kept; nothing less is said before the end.
    """
    verdict = policy.judge_readings(readings, released=released)
    if wait and not verdict.broken:
        return blank(NAME, released="…", help=wait) | {"limit": _ordinary(readings)}
    help = f"{verdict.sentence} {limits_words(policy, readings, verdict)}"
    if verdict.first is None:
        missing = "no limits" if not policy.limits else "not judged"
        return blank(NAME, released="n/a", help=help) | {"limit": missing}
    shown = blank(verdict.title(verdict.first), released=_words(policy, verdict), help=help)
    below = _below(verdict, readings, waits=bool(wait))
    broken = [verdict.title(measure) for measure in verdict.broken]
    return shown | {"state": state(verdict), "limit": below, "broken": broken}


def state(verdict: Verdict) -> str | None:
    """The mark of a verdict: kept only where all limits were judged and are kept."""
    return "over" if verdict.broken else "kept" if verdict.kept else None


def limits_words(
    policy: rwn.Policy, readings: Mapping[str, Reading | rwn.NotApplicable], verdict: Verdict
) -> str:
    """Every limit with its share, and the linkage by distance."""
    parts = []
    for limit in policy.limits:
        reading = readings.get(limit.measure)
        if not isinstance(reading, Reading):
            continue
        called = rwn.MEASURES[limit.measure].reading_title(reading)
        words = f"{called} {_value(limit.measure, reading.value)}"
        if limit_queue.is_lower_bound(reading) and reading.detail.get("at_most") is not None:
            words += f", at most {_value(limit.measure, reading.detail['at_most'])}"
        if reading.baseline is not None:
            words += f" (read it against {_value(limit.measure, reading.baseline)})"
        used = verdict.shares.get(limit.measure)
        share = "not judged against" if used is None else share_words(used)
        ends = ends_words(limit.measure, verdict.ends.get(limit.measure, {}))
        beside = f"; {ends}" if ends else ""
        at_most = _value(limit.measure, limit.at_most)
        parts.append(f"{words}: {share} {at_most}{_by(limit)}{beside}.")
    linked = readings.get("distance_linkage")
    if isinstance(linked, Reading) and "distance_linkage" not in policy.measures:
        parts.append(f"Distance linkage, an ordinary intruder: {percent(linked.value)}.")
    return " ".join(parts)


def _by(limit: rwn.Limit) -> str:
    """Source of a limit."""
    source = ", ".join(part for part in (limit.source, limit.set_by) if part)
    return f" ({source})" if source else ""


def _words(policy: rwn.Policy, verdict: Verdict) -> str:
    """The judged number and its limit, such as 12 %, limit 5 %."""
    first = str(verdict.first)
    limit = policy.limit(first)
    assert limit is not None
    return f"{_value(first, verdict.values[first])}, limit {_value(first, limit.at_most)}"


def _value(measure: str, value: float) -> str:
    return number_words(measure, value)


def _below(
    verdict: Verdict, readings: Mapping[str, Reading | rwn.NotApplicable], *, waits: bool
) -> str:
    """Words after the mark: the share, and the ordinary intruder after the worst case."""
    assert verdict.largest is not None
    if verdict.unread:
        some = f", {len(verdict.unread)} {'to follow' if waits else 'not judged'}"
    elif verdict.released is not None and not verdict.broken:
        some = f", with {100 * verdict.released:.3g} % of the records"
    else:
        some = "" if verdict.broken else f", all {len(verdict.shares)} kept"
    words = f"{share_words(verdict.largest).removesuffix(' of').replace('times', '×')}{some}"
    beside = _ordinary(readings) if verdict.first in LINKED else ""
    return f"{words} · {beside}" if beside else words


def _ordinary(readings: Mapping[str, Reading | rwn.NotApplicable]) -> str:
    linked = readings.get("distance_linkage")
    return f"ordinary {percent(linked.value)}" if isinstance(linked, Reading) else ""
