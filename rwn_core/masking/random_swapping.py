"""Random data swapping: random pairs of records exchange a value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import LEVELS
from rwn_core.laws.donors import copy_columns
from rwn_core.laws.invariants import Keeps
from rwn_core.laws.rank_swaps import whole_part
from rwn_core.laws.separate_law import SeparateLaw
from rwn_core.laws.transition_law import Transition, one_pool, value_numbers
from rwn_core.laws.transition_matrix import disjoint_share, successive_share
from rwn_core.masking.lever import Lever, LeverRange, check_share
from rwn_core.masking.method import Method, Prepared
from rwn_core.masking.option import Others, maskable, name_tuple, require_masked
from rwn_core.neighbors.record_draws import order_by, two_uniforms
from rwn_core.randomness import SecretKey

Pairs = Literal["disjoint", "successive"]

LARGEST = 100.0  # swaps for each two records; beyond, nothing of the order is left


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSwapping(Method):
    """The parameters of random data swapping.

    Of the N records that take part, Q = share N / 2 random pairs exchange their value of a
    variable; each variable, or group of variables, has pairs of its own. Every variable keeps
    exactly the values that it has, and all that binds it to others shrinks by the factor 1 - c.
    Records with a missing value take no part.

    Parameters
    ----------
    share : float
        The share of the records that exchange a value: a fraction from 0 (nothing is masked) to
        1, and no percentage. Successive swaps may be up to 100 for each two records.
    pairs : {"disjoint", "successive"}
        No record is in two pairs, c = 2 Q / (N - 1); or each pair is drawn from all records and
        exchanges what it has by then, c = 1 - (1 - 2 / (N - 1))^Q.
    variables : tuple of str
        What is exchanged; categories by default, or all variables where there are none. As a text:
        names with commas.
    others : {"keep", "refuse"}
        What happens to variables without categories, where none are named: they are released
        unmasked, or the table is refused.

    Raises
    ------
    ParameterError

    When to use
    -----------
    For categories of which published counts must not change by one, as in a census, where tables of
    two variables may weaken by a known factor.

    What it destroys
    ----------------
    Relations: what binds an exchanged variable to others shrinks by the factor 1 - c, and
    combinations that cannot be, such as a married child, arise. A value that only one person has is
    in the release for certain. By default numbers are not exchanged where there are categories.

    References
    ----------
    Dalenius and Reiss 1982; Shlomo and Skinner 2010, with transition matrices of row sums 1.

    Examples
    --------
    >>> RandomSwapping(share=0.1, variables=("region",)).pairs
    'disjoint'
    """

    share: float = 0.2
    pairs: Pairs = "disjoint"
    variables: tuple[str, ...] | str = ()
    others: Others = "keep"

    method: ClassVar[str] = "random_swapping"
    title: ClassVar[str] = "Random swapping"
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            name="share",
            title="Swapped records (share)",
            help="How many records exchange their value with a random other; at 0 nothing is "
            "masked.",
            largest=LARGEST,
            range=lambda params, _: LeverRange(
                low=0.0, high=1.0 if params.pairs == "disjoint" else 5.0, step=0.05
            ),
            presets={"Light": 0.05, "Standard": 0.2, "Strong": 1.0},
        ),
    )
    uses_slices: ClassVar[bool] = True
    keeps: ClassVar[tuple[Keeps, ...]] = (
        Keeps(what="records", when={"share": 0}),
        Keeps(what="rows"),
    )
    warns: ClassVar[tuple[str, ...]] = (
        "Counts of every single variable stay exact; relations between variables shrink, and "
        "impossible combinations may arise.",
        "A value that only one person has is in the release for certain.",
    )

    def check_setting(self) -> None:
        """Check the options that are the method's own."""
        check_share("share", self.share, 1.0 if self.pairs == "disjoint" else LARGEST)

    def masked_names(self, microdata: Microdata) -> tuple[str, ...]:
        """Return the variables that the method masks on a table."""
        if self.variables:
            return require_masked(microdata, name_tuple(self.variables))
        every = not any(v.masked and v.kind in LEVELS for v in microdata.schema.released)
        return maskable(microdata, lambda v: every or v.kind in LEVELS, self.others, "categories")

    def _taking_part(self, table: Prepared, unit: tuple[str, ...]) -> Integers:
        """The records that may be in a pair, ascending."""
        cells = table.microdata.frame[list(unit)]
        return table.cached(("pairs", unit), lambda: np.flatnonzero(cells.notna().all(axis=1)))

    def _swaps(self, n: int) -> int:
        return whole_part(self.share * n / 2) if n > 1 else 0

    def draw(self, table: Prepared, key: SecretKey) -> Microdata:
        """The table with exchanged values."""
        microdata = table.microdata
        donors = {}
        for stream, unit in self.moved_together(microdata).items():
            some = self._taking_part(table, unit)
            n = len(some)
            swaps = self._swaps(len(some))
            if self.pairs == "disjoint":  # the first pairs of a random order change places
                order = order_by(*two_uniforms(key, some, stream))
                one, other = order[: 2 * swaps : 2], order[1 : 2 * swaps : 2]
                places = np.arange(n)
                places[one], places[other] = other, one
            else:  # random pairs of places, one swap after the other
                uniform = two_uniforms(key, np.arange(swaps), stream)
                first = (uniform[0] * n).astype(np.int64)
                second = (uniform[1] * (n - 1)).astype(np.int64)
                second += second >= first
                listed = list(range(n))
                for left, right in zip(first.tolist(), second.tolist(), strict=True):
                    listed[left], listed[right] = listed[right], listed[left]
                places = np.array(listed, dtype=np.int64)
            given = table.records.copy()
            given[some] = some[places]
            donors.update(dict.fromkeys(unit, given))
        return copy_columns(microdata, donors)

    def law(self, table: Prepared) -> SeparateLaw:
        """Independent transitions of all units of variables."""
        microdata = table.microdata
        parts = []
        share_of = disjoint_share if self.pairs == "disjoint" else successive_share
        for unit in self.moved_together(microdata).values():
            some = self._taking_part(table, unit)
            own = table.cached(("numbers", unit), partial(value_numbers, microdata, unit))
            share = share_of(self._swaps(len(some)), len(some))
            changing = np.zeros(microdata.n, dtype=bool)
            changing[some] = True
            pool = one_pool(share, own, changing)
            part = Transition(original=microdata, unit=unit, choice=pool, keeps_value_counts=True)
            parts.append(part)
        return SeparateLaw.of_changes(microdata, parts)
