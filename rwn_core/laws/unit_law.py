"""The law of one unit, variables that are drawn together, and its differential privacy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.errors import NotApplicable
from rwn_core.laws.moments import Moments

Unit = tuple[str, ...]
"""Names of variables that are drawn together."""


class Privacy(NamedTuple):
    """The local differential privacy of some variables that are drawn together."""

    # largest log ratio of what two true values make of one released value; infinite for none
    epsilon: float
    # why it is so large, or why there is none: continues a sentence after the variable's name
    because: str


STILL_MISSING = Privacy(np.inf, "keeps its missing values where they are")
NORMAL_NOISE = Privacy(
    np.inf,
    "has normal noise, under which some released values are as much likelier for one person than "
    "for another as one likes",
)
FROM_FILE = Privacy(np.inf, "takes its values, or their chances, from the file")
UNMASKED = Privacy(np.inf, "is released unmasked")
OR_NOT_AT_ALL = Privacy(np.inf, "is released unmasked, or not at all")
FROM_DONORS = Privacy(
    np.inf,
    "can only take a record's own value or those of its donors, so one person's change can make a "
    "released value impossible that was possible before",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitLaw(ABC):
    """The law of variables that are drawn together, apart from all others."""

    original: Microdata  # never rounded
    names: tuple[str, ...] = ()  # the variables
    # whether every release has as many of each value as the original
    keeps_value_counts: bool = False
    precision: Mapping[str, float] = field(default_factory=dict)  # the steps of rounded variables

    @property
    @abstractmethod
    def privacy(self) -> Privacy:
        """The local differential privacy of the variables."""

    @property
    @abstractmethod
    def retained(self) -> Floats:
        """P(no value changes), shape (n,)."""

    @cached_property
    def _written(self) -> Microdata:
        """The original as a release would write it."""
        return rounded(self.original, self.precision)

    @abstractmethod
    def chances(self, masked: Microdata, rows: Integers, people: Microdata | None = None) -> Floats:
        """Return the likelihoods of rows for each person, shape (m, people.n)."""

    @abstractmethod
    def moments(self) -> Moments:
        """Return mean and spread of the released numbers."""

    def table(self) -> tuple[sparse.csr_array, list[Any]]:
        """P(each value is released for each record), shape (n, V), and the values."""
        raise NotApplicable("Noise can release any number, so its values cannot be listed.")

    def restricted_to(self, names: frozenset[str]) -> Self:
        """The law of some of the variables."""
        some = tuple(name for name in self.names if name in names)
        return self if some == self.names else replace(self, names=some)

    def rounded(self, precision: Mapping[str, float]) -> Self:
        """The law of the values after rounding; a second rounding stands for both."""
        own = {name: step for name, step in precision.items() if name in self.names}
        return replace(self, precision={**self.precision, **own}) if own else self
