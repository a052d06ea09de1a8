"""The page of measures: what each asks, in which unit, and what it says of one release."""

from __future__ import annotations

import math

import rwn_core as rwn
from rwn_core.evaluation.audit import compare
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading

_BEGINNING = """
# Measures

Every measure of `rwn_core.MEASURES`, in the order of the screen. `rwn audit --measure KEY` and
`rwn.audit(data, release, measures=["KEY"])` read them. A measure that has no answer says why.

The sentences are those of the Risk page for one release: `bodyfat` under
`RWN(epsilon=2.0, k=5, q=1.0)` with seed 7.
"""
_SIDES = {"utility": "Utility", "risk": "Disclosure risk"}
_BETTER = {
    "lower": "lower is better",
    "higher": "higher is better",
    "neutral": "neither end is better",
}


def page() -> str:
    """The page's text."""
    example = _example()
    parts = [_BEGINNING.strip()]
    for side, title in _SIDES.items():
        parts.append(f"## {title}")
        parts += [_entry(m, example) for m in rwn.MEASURES.values() if m.side == side]
    return "\n\n".join(parts)


def _example() -> Comparison:
    data = rwn.load_demo("bodyfat")
    return compare(data, rwn.mask(data, rwn.RWN(epsilon=2.0, k=5, q=1.0), seed=7))


def _entry(measure: Measure, example: Comparison) -> str:
    lines = [
        f"### `{measure.key}`\n",
        f"**{measure.title}.** {measure.question}\n",
        f"- Unit: {measure.unit}; {_bounds(measure.bounds)}; {_BETTER[measure.better]}.",
    ]
    if measure.sentence is not None:
        reading = measure.read(example)
        said = str(reading)
        if isinstance(reading, Reading):
            said = measure.sentence(reading, example.original.n)
        lines.append(f"- For example: “{said}”")
    lines.append(f"- Source: {measure.source.rstrip('.')}.")
    return "\n".join(lines)


def _bounds(bounds: tuple[float, float]) -> str:
    low, high = bounds
    if math.isinf(low) and math.isinf(high):
        return "any number"
    if math.isinf(high):
        return f"at least {low:g}"
    return f"at most {high:g}" if math.isinf(low) else f"{low:g} to {high:g}"
