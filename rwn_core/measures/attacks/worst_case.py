"""Worst case of linkage: the best of single rows, one assignment and the joint posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.data.sizes import ATTACKED_PAIRS
from rwn_core.measures.aligned import released_rows
from rwn_core.measures.attacks.assignment import (
    LARGEST_ASSIGNMENT,
    AllRows,
    blocks,
    joint_posterior_success,
)
from rwn_core.measures.attacks.posterior import (
    Linkage,
    candidates_before,
    row_sample,
    weigh,
)
from rwn_core.measures.attacks.upper_bound import InformedIntruder, UpperBound, assigned
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.sentence import people, percent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorstCase:
    """Attacks on one release by an intruder who knows the method.

    Attributes
    ----------
    links : Linkage
        Row by row.
    linked : ndarray of int64, shape (n,), or None
        Original of each row in the most likely assignment; None if the table is too large.
    at_once : float or None
        Share of correct links of the assignment, with equal rows exchanged at random.
    together : AllRows or None
        Linkage by the joint posterior; None if the table is too large for that, too.
    bound : UpperBound or None
        Upper bound, if the table is too large.
    """

    links: Linkage
    linked: Integers | None
    at_once: float | None
    together: AllRows | None
    bound: UpperBound | None = None

    @property
    def earned(self) -> bool:
        """True if all attacks were tried on every row; else the success is a lower bound."""
        return self.at_once is not None

    @property
    def joint_success(self) -> float | None:
        """Expected share of correct links by the joint posterior."""
        return None if self.together is None else self.together.share

    @property
    def success(self) -> float:
        """Largest share of correct links; row by row if not all attacks were tried."""
        if not self.earned:
            return self.links.success
        return max(self.links.success, self.at_once or 0.0, self.joint_success or 0.0)

    @property
    def attack(self) -> str:
        """The best attack: single rows, the assignment, or the joint posterior."""
        if self.success == self.links.success:
            return "rows"
        return "file" if self.success == self.at_once else "weighed"

    @property
    def at_most(self) -> float | None:
        """Upper bound of linkage success; None if unknown."""
        if self.earned:
            return self.success
        return None if self.bound is None else max(self.bound.at_most, self.success)

    @property
    def detail(self) -> dict[str, Any]:
        """Detail of a reading."""
        return {
            "row_by_row": self.links.success,
            "at_once": self.at_once,
            "weighed": self.joint_success,
            "attack": self.attack,
            "standing": "worst" if self.earned else "at least",
            "estimate": None if self.earned else self.joint_success,
            "at_most": self.at_most,
            "told": None if self.bound is None else self.bound.detail,
        }


def worst_case(
    comparison: Comparison,
    names: Sequence[str] | None = None,
    *,
    work: int = ATTACKED_PAIRS,
    bounded: bool = True,
) -> WorstCase:
    """Run all attacks of an intruder who knows some variables (default: all), cached."""
    # `work`: see `row_sample`; the upper bound is computed only if `bounded`
    known = _known(comparison, names)
    tried, told = comparison.cached_for_release(
        ("worst case", known, work), lambda: _all(comparison, known, work=work)
    )
    if told is None or not bounded:
        return tried
    bound = comparison.cached_for_release(("told parts", known, work), told.upper_bound)
    return replace(tried, bound=bound)


def _known(comparison: Comparison, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the released variables that the intruder knows."""
    released = [variable.name for variable in comparison.original.schema.released]
    known = set(released if names is None else names)
    return tuple([name for name in released if name in known])


def _all(
    comparison: Comparison, known: tuple[str, ...], *, work: int
) -> tuple[WorstCase, InformedIntruder | None]:
    """Run the attacks; also return the bound's state if some were skipped."""
    law, masked = comparison.required_law("The worst case"), comparison.masked
    aligned = masked.n == law.original.n
    told = None
    if aligned and masked.n > LARGEST_ASSIGNMENT:
        told = InformedIntruder(law, comparison, known)
    per_row = candidates_before(law, known, work)
    released = released_rows(law.original, masked)
    sample = row_sample(masked.n, per_row, work=work, leaving=released)
    links, belief = weigh(law, masked, known, sample, None if told is None else told.add_rows)
    linked = at_once = together = None
    if belief is not None and aligned:
        parts = blocks(belief)
        together = joint_posterior_success(
            comparison, belief, parts, np.isin(np.arange(masked.n), released)
        )
        if parts.affordable:
            linked, at_once = assigned(comparison, known, belief, parts)
    found = WorstCase(links=links, linked=linked, at_once=at_once, together=together)
    return found, None if found.earned else told


_WAYS = {
    "rows": "looking at one row at a time",
    "weighed": "naming the most likely original of each row given all rows",
    "file": "by giving all rows to originals at once, each original one row",
}


def linked(reading: Reading, n: int, who: str) -> str:
    """Say which intruder links how many records by which attack; without a full stop."""
    detail, count = reading.detail, people(reading.value, n)
    alone = percent(detail["row_by_row"])
    if detail["standing"] == "at least":
        more = _more(detail) + _at_most(detail)
        rows = f"one row at a time{_some(detail)}"
        return f"{who} links at least {count} correctly in expectation, looking at {rows}; {more}"
    others = {
        "rows": f"one row at a time: {alone}",
        "weighed": f"all rows by the joint posterior: {_share(detail['weighed'])}",
        "file": f"all rows given to originals at once: {_share(detail['at_once'])}",
    }
    del others[detail["attack"]]
    how = f"{_WAYS[detail['attack']]} ({', '.join(others.values())})"
    return f"{who} links {count} correctly in expectation, {how}"


def _some(detail: Mapping[str, Any]) -> str:
    """Return the number of linked rows, if not all were linked."""
    rows, of = detail.get("rows", 0), detail.get("of", 0)
    return f" (of {rows:,} random rows, to all {of:,} originals)" if rows < of else ""


def _at_most(detail: Mapping[str, Any]) -> str:
    """Return the upper bound, with the parts that it rests on."""
    told = detail.get("told")
    if told is None:
        return ""
    most = percent(detail["at_most"])
    if told["parts"] == 1:  # there is nothing to tell
        return f"; no attack that was tried links more than {most}, an estimate"
    return (
        f"; with each row's part of the file ({told['parts']:,} parts) known, "
        f"{percent(told['share'])} are linked: without it at most {most}, an estimate"
    )


def _share(value: float | None) -> str:
    return "not known" if value is None else percent(value)


def _more(detail: Mapping[str, Any]) -> str:
    if detail["estimate"] is None:
        return "the table is too large for the joint posterior of all rows"
    estimate = percent(detail["estimate"])
    return f"by the joint posterior of all rows about {estimate}, an estimate"
