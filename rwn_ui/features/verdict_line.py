"""The verdict in words: how many limits are kept or broken, and the nearest or worst of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import rwn_core as rwn
from rwn_core.measures.measure import Reading
from rwn_core.tuning import Verdict
from rwn_core.tuning.verdict import counted, ends_words, share_words
from rwn_ui.features import limit_queue
from rwn_ui.panel.parts import percent

NAME = "Policy"


def draw(
    policy: rwn.Policy,
    readings: Mapping[str, Reading | rwn.NotApplicable],
    verdict: Verdict,
    *,
    pending: int = 0,
) -> dict[str, Any]:
    """The policy's verdict on a release in words; `pending` limits are still being read."""
    # One broken limit is enough to know that not all are kept; nothing less is said before the end.
    beside: dict[str, Any] = {
        "detail": _ordinary(readings),
        "state": None,
        "nearest": "",
        "against": [],
    }
    first, broken = verdict.first, verdict.broken
    if pending and not broken:
        text = f"Not judged yet: {_to_follow(pending)}"
        return beside | {"label": NAME, "text": text, "help": str(limit_queue.PENDING)}
    shown = beside | {
        "label": NAME,
        "text": _headline(policy, verdict, pending),
        "help": f"{verdict.sentence} {limits_words(policy, readings, verdict)}",
    }
    if first is None:
        return shown
    title = verdict.title(first)
    nearest = f"{'worst' if broken else 'nearest'}: {title} {_words(policy, verdict, first)}"
    titles = [verdict.title(measure) for measure in broken]
    return shown | {"label": title, "nearest": nearest, "state": state(verdict), "broken": titles}


def _to_follow(pending: int) -> str:
    return f"{counted(pending, 'limit')} to follow"


def _headline(policy: rwn.Policy, verdict: Verdict, pending: int) -> str:
    """The verdict before its nearest limit."""
    limits, broken = counted(len(policy.limits), "limit"), len(verdict.broken)
    if broken:
        rest = f", {_to_follow(pending)}" if pending else ""
        return f"Not releasable: {broken} of {limits} broken{rest}"
    if not policy.limits:
        return "Not judged: the policy has no limits"
    if verdict.unread:
        return f"Not judged: {len(verdict.unread)} of {limits} cannot be judged"
    if verdict.released is not None:
        return f"Not releasable: only {100 * verdict.released:.3g} % of the records are left"
    return f"Keeps all {limits}" if len(policy.limits) > 1 else "Keeps its limit"


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
        about = rwn.MEASURES[limit.measure]
        words = f"{about.reading_title(reading)} {about.words(reading.value)}"
        if limit_queue.is_lower_bound(reading) and reading.detail.get("at_most") is not None:
            words += f", at most {about.words(reading.detail['at_most'])}"
        if reading.baseline is not None:
            words += f" (read it against {about.words(reading.baseline)})"
        used = verdict.shares.get(limit.measure)
        share = "not judged against" if used is None else share_words(used)
        ends = ends_words(limit.measure, verdict.ends.get(limit.measure, {}))
        beside = f"; {ends}" if ends else ""
        parts.append(f"{words}: {share} {about.words(limit.at_most)}{_by(limit)}{beside}.")
    linked = readings.get("distance_linkage")
    if isinstance(linked, Reading) and "distance_linkage" not in policy.measures:
        parts.append(f"Distance linkage, an ordinary intruder: {percent(linked.value)}.")
    return " ".join(parts)


def _by(limit: rwn.Limit) -> str:
    """Source of a limit."""
    source = ", ".join(part for part in (limit.source, limit.set_by) if part)
    return f" ({source})" if source else ""


def _words(policy: rwn.Policy, verdict: Verdict, first: str) -> str:
    """The judged number and its limit, such as 12 %, limit 5 %."""
    limit, words = policy.limit(first), rwn.MEASURES[first].words
    assert limit is not None
    return f"{words(verdict.values[first])}, limit {words(limit.at_most)}"


def _ordinary(readings: Mapping[str, Reading | rwn.NotApplicable]) -> str:
    linked = readings.get("distance_linkage")
    if not isinstance(linked, Reading):
        return ""
    return f"An ordinary intruder links {percent(linked.value)} of the rows"
