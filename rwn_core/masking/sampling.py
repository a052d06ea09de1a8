"""Sampling: a random part of the records is released unmasked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.laws.donors import NO_DONOR, copy_from_donors
from rwn_core.laws.invariants import ORDERED, Keeps
from rwn_core.laws.law import Law
from rwn_core.laws.row_mixture import SampleLaw
from rwn_core.masking.lever import Lever, LeverRange
from rwn_core.masking.method import Method, Prepared
from rwn_core.neighbors.record_draws import random_order
from rwn_core.randomness import SELECTION_STREAM, SecretKey


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSample(Method):
    """The parameters of simple random sampling.

    Of n records, floor(n * left_out) random ones are left out; the others are released
    unmasked. Row by row with the original, the left-out records have no values.

    Parameters
    ----------
    left_out : float
        The share of records that are not released, from 0 to less than 1.

    Raises
    ------
    ParameterError

    When to use
    -----------
    For a large register of which a part is enough, when no intruder knows the part's members. It is
    often taken before another method.

    What it destroys
    ----------------
    Precision: with the share f of the records, standard errors grow by 1 / sqrt(f), and rare groups
    may be missing. It masks nothing of what is released: a person known to be in the sample
    is found, with every value true.

    References
    ----------
    Hundepool et al. 2012, section 3.3.1; Shlomo and Skinner 2012 (sampling alone is not
    differentially private).

    Examples
    --------
    >>> RandomSample(left_out=0.5).left_out
    0.5
    """

    left_out: float = 0.5

    method: ClassVar[str] = "sampling"
    title: ClassVar[str] = "Sampling"
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            name="left_out",
            title="Share of records left out",
            short="left out",
            help="A random part of the records is released unmasked; at 0 all of them are.",
            range=LeverRange(low=0.0, high=0.95, step=0.05),
            presets={"Light": 0.1, "Standard": 0.5, "Strong": 0.9},
        ),
    )
    releases_true_rows: ClassVar[bool] = True
    spares_variables: ClassVar[bool] = True
    drops_lost_rows: ClassVar[bool] = True
    keeps: ClassVar[tuple[Keeps, ...]] = (
        Keeps(what="records", when={"left_out": 0}),
        Keeps(what="support"),
        Keeps(what="order", kinds=ORDERED),
    )
    warns: ClassVar[tuple[str, ...]] = (
        "Released records are true records: sampling protects only by the doubt whether "
        "somebody else in the population is like them. It is not differentially private.",
    )

    def check_setting(self) -> None:
        """Refuse to leave out all records."""
        if self.left_out == 1:
            raise ParameterError("left_out must be a number from 0 to less than 1.")

    def check(self, microdata: Microdata) -> None:
        """Refuse a table of identifiers alone."""
        if not microdata.schema.released:
            raise ParameterError("Every variable is a direct identifier; nothing can be released.")

    def count(self, n: int) -> int:
        """Return the number of records left out; at least one is released."""
        return min(int(np.floor(n * self.left_out + 1e-9)), n - 1)

    def draw(self, table: Prepared, key: SecretKey) -> Microdata:
        """The table without the values of the left-out records."""
        n = table.microdata.n
        p = len(table.microdata.schema.released)
        donors = np.tile(np.arange(n)[:, np.newaxis], (1, p))
        donors[random_order(key, n, SELECTION_STREAM)[: self.count(n)]] = NO_DONOR
        return copy_from_donors(table.microdata, donors)

    def masked_names(self, microdata: Microdata) -> tuple[str, ...]:
        """Return no variable: records are left out, and the others stay unmasked."""
        return ()

    def moved_together(self, microdata: Microdata) -> dict[int, tuple[str, ...]]:
        """Return all columns: a record is left out with all of them."""
        return {0: tuple(variable.name for variable in microdata.schema.released)}

    def law(self, table: Prepared) -> SampleLaw:
        """Each record is kept as a whole or lost as a whole."""
        n = table.microdata.n
        return SampleLaw(table.microdata, self.count(n) / n)

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return a remark on the number of records released."""
        n = microdata.n
        return [f"{n - self.count(n):,} of {n:,} records are released, unmasked"]
