"""Differential privacy: epsilon of a method, or the delta that no epsilon covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.laws.privacy import Privacy
from rwn_core.measures.attacks.value_survival import appearance
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import percent

_NAMED = 4  # variables named in a sentence


def statement(promises: Mapping[tuple[str, ...], Privacy]) -> str:
    """Say which epsilon each unit of variables has, or why it has none."""
    without = {unit: each for unit, each in promises.items() if np.isinf(each.epsilon)}
    parts = [
        f"{_and(unit)} {each.epsilon:.3g}" for unit, each in promises.items() if unit not in without
    ]
    if not without:
        total = sum(each.epsilon for each in promises.values())
        return (
            f"The release is differentially private, record by record, with epsilon = {total:.3g}, "
            f"the sum over the variables: {_some(parts)}. Levels and matrices are declared; it "
            "holds among tables in which each declared level has two records or more."
        )
    reasons: dict[str, list[str]] = {}
    for unit, each in without.items():
        reasons.setdefault(each.because, []).append(_and(unit))
    because = "; ".join(
        f"{'each of ' * (len(names) > 1)}{_some(names)} {reason}"
        for reason, names in reasons.items()
    )
    alone = f" By itself each other variable has an epsilon: {_some(parts)}." if parts else ""
    return f"The release is not differentially private for any epsilon: {because}.{alone}"


def _and(unit: tuple[str, ...]) -> str:
    return " with ".join(unit) if len(unit) < 3 else f"the group of {_some(unit)}"


def _some(parts: Sequence[str]) -> str:
    more = len(parts) - _NAMED
    last = f"{more} more" if more > 0 else parts[-1]
    shown = parts[:_NAMED] if more > 0 else parts[:-1]
    return f"{', '.join(shown)} and {last}" if shown else last


def compute(comparison: Comparison) -> Reading:
    """Return the smallest delta that (epsilon, delta)-differential privacy would need."""
    law = comparison.required_law()
    promises = law.privacy()
    deltas = [
        _delta(law, unit) if np.isinf(each.epsilon) else 0.0 for unit, each in promises.items()
    ]
    known = [delta for delta in deltas if delta is not None]
    epsilons = [float(each.epsilon) for each in promises.values()]
    detail = {
        "names": [", ".join(unit) for unit in promises],
        "delta": deltas,
        "epsilon": [None if np.isinf(epsilon) else epsilon for epsilon in epsilons],
        "total_epsilon": None if np.isinf(sum(epsilons)) else sum(epsilons),
        "statement": statement(promises),
    }
    return Reading(value=max([0.0, *known]), baseline=0.0, detail=detail)


def _delta(law: Law, unit: tuple[str, ...]) -> float | None:
    """Return P(a value appears that is impossible without one record); None if it has no table."""
    try:
        table, columns = law.likelihood_columns(unit, law.original, np.arange(law.original.n))
    except NotApplicable:
        return None
    alone = np.bincount(columns, minlength=table.shape[1]) == 1
    if law.keeps_value_counts(unit[0]):
        return float(alone.any())
    return float(np.clip(appearance(table)[alone].max(initial=0.0), 0.0, 1.0))


def sentence(reading: Reading, n: int) -> str:
    """Say which epsilon covers the release, or how likely none does."""
    total = reading.detail["total_epsilon"]
    if total is not None:
        return (
            f"It is differentially private with epsilon = {total:.3g}: each record's released "
            f"values are at most e^{total:.3g} times as likely as if it were anybody else's, among "
            "tables in which each declared level has two records or more."
        )
    if reading.value <= 0:
        return "No epsilon covers it: some released values exclude some people, or nearly so."
    return (
        f"No epsilon covers it: with probability {percent(reading.value)} the release shows a "
        "value that would be impossible without one person."
    )


MEASURE = Measure(
    key="differential_privacy",
    title="Distance from differential privacy",
    side="risk",
    unit="delta, at least",
    question="How likely is the release to show a value that would be impossible without one "
    "person, so that no epsilon covers it?",
    sentence=sentence,
    source="Dwork et al. 2006 (epsilon, delta); Shlomo and Skinner 2012 for transition matrices; "
    "survival of a value that one record alone has",
    compute=compute,
)
