"""k-PRAM: numbers are redrawn within intervals that hold at least k records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata, value_codes
from rwn_core.laws.donors import copy_columns
from rwn_core.laws.group_law import RedrawWithinGroups
from rwn_core.laws.invariants import Keeps
from rwn_core.laws.separate_law import SeparateLaw
from rwn_core.masking.intervals import intervals
from rwn_core.masking.lever import Lever, check_known, count_lever, range_of_known
from rwn_core.masking.method import NumberMethod, Prepared
from rwn_core.masking.option import Others
from rwn_core.randomness import SecretKey

Draw = Literal["resample", "permute", "uniform"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KPRAM(NumberMethod):
    """The parameters of k-PRAM.

    The range of each numeric variable is cut into as many intervals of equal length as leave at
    least k records in each; within an interval every record's value is drawn anew. Group sizes are
    kept exactly. Missing values stay missing.

    Parameters
    ----------
    k : int
        Records in every interval, at least 1; 1 for none that is drawn.
    draw_from : {"resample", "permute", "uniform"}
        What is drawn: one of the interval's records, each as likely; the interval's values in a
        random order; or one of its different values, each as likely.
    others : {"keep", "refuse"}
        What happens to variables that have no numbers: they are released unmasked, or the
        table is refused.

    Raises
    ------
    ParameterError

    When to use
    -----------
    For single numbers, where k people in every interval are asked for and counts of the intervals
    must stay exact.

    What it destroys
    ----------------
    Everything within an interval: a number misses its true value by twice the interval's variance,
    on average of the squares. Intervals have equal length, so that one far outlier may leave a
    single interval for all records, which is a random order. Relations between variables shrink,
    because each is drawn by itself. Categories are not masked at all.

    References
    ----------
    Biswal, Arbuckle, Kulik, "Disclosure Metrics Born From Statistical Evaluations of Data
    Utility".

    Examples
    --------
    >>> KPRAM(k=10).draw_from
    'resample'
    """

    k: int = 10
    draw_from: Draw = "resample"
    others: Others = "keep"

    method: ClassVar[str] = "k_pram"
    title: ClassVar[str] = "k-PRAM"
    levers: ClassVar[tuple[Lever, ...]] = (
        count_lever(
            "Records in every interval k",
            help="The range of a variable is cut into intervals of at least k records; 1: none.",
            range=range_of_known,
            presets={"Light": 5, "Standard": 10, "Strong": 50},
        ),
    )
    keeps: ClassVar[tuple[Keeps, ...]] = (
        Keeps(what="records", when={"k": 1}),
        Keeps(what="support"),
        Keeps(what="values", when={"draw_from": "permute"}),
    )
    warns: ClassVar[tuple[str, ...]] = (
        "k counts records in an interval of one variable; several variables together may still "
        "single a person out, and a far outlier makes the intervals long for everybody.",
    )

    def check(self, microdata: Microdata) -> None:
        """Refuse a table without numbers, or of fewer than k records."""
        check_known(self.k, microdata, self.masked_names(microdata))

    def _groups(self, table: Prepared, name: str) -> Integers:
        """The interval of each record; missing values are one by themselves."""
        values = table.microdata.values(name)
        return table.cached(("groups", name, self.k), partial(intervals, values, self.k))

    def _drawn(self, microdata: Microdata) -> tuple[str, ...]:
        return self.masked_names(microdata) if self.k > 1 else ()

    def draw(self, table: Prepared, key: SecretKey) -> Microdata:
        """The table with redrawn numbers."""
        microdata = table.microdata
        donors = {}
        for name in self._drawn(microdata):
            about = self._groups(table, name), value_codes(microdata, name)[0]
            donors[name] = _donors(*about, table.uniforms(key, name), self.draw_from)
        return copy_columns(microdata, donors)

    def law(self, table: Prepared) -> SeparateLaw:
        """Values drawn within their interval."""
        microdata = table.microdata
        parts = []
        for name in self._drawn(microdata):
            codes, values = value_codes(microdata, name)
            group = np.zeros(len(values), dtype=np.int64)
            group[codes] = self._groups(table, name)
            # values of an interval are equally likely, or by the number of their records
            counts = np.bincount(codes, minlength=len(values)).astype(np.float64)
            weight = np.ones(len(values)) if self.draw_from == "uniform" else counts
            parts.append(
                RedrawWithinGroups(
                    original=microdata,
                    names=(name,),
                    group=group,
                    chance=weight / np.bincount(group, weight)[group],
                    keeps_value_counts=self.draw_from == "permute",
                )
            )
        return SeparateLaw.of_changes(microdata, parts)


def _donors(group: Integers, codes: Integers, uniform: Floats, draw_from: str) -> Integers:
    """Return the donor of each record."""
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    starts = np.cumsum(sizes) - sizes
    if draw_from == "permute":
        shuffled = np.lexsort((uniform[1], uniform[0], group))
        donors = np.empty(len(group), dtype=np.int64)
        donors[order] = shuffled
        return donors
    if draw_from == "uniform":  # one record for each different value
        order = np.lexsort((codes, group))  # values do not cross groups
        order = order[np.flatnonzero(np.diff(codes[order], prepend=-1))]
        sizes = np.bincount(group[order], minlength=len(sizes))
        starts = np.cumsum(sizes) - sizes
    rank = np.minimum((uniform[0] * sizes[group]).astype(np.int64), sizes[group] - 1)
    return np.asarray(order[starts[group] + rank], dtype=np.int64)
