"""The two ends of every map as methods: the original data, and nothing but their marginals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import NamedParameters
from rwn_core.laws.donors import copy_from_donors
from rwn_core.laws.ends import shuffled_donors
from rwn_core.masking import RWN, Lever, Masked, Method, Prepared
from rwn_core.randomness import SecretKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Original(NamedParameters):
    """The original data, released as they are: randomization within neighborhoods at q = 0."""

    method: ClassVar[str] = "original"
    title: ClassVar[str] = "Original data"
    levers: ClassVar[tuple[Lever, ...]] = ()

    def prepare(self, microdata: Microdata, **options: Any) -> Prepared:
        """Make a table ready; see `Method.prepare`."""
        return RWN(k=1, q=0.0).prepare(microdata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffled(Method):
    """No data: every variable in a random order of its own, so that only its marginal is left."""

    method: ClassVar[str] = "no data"
    title: ClassVar[str] = "No data"
    levers: ClassVar[tuple[Lever, ...]] = ()
    has_forecast: ClassVar[Any] = False
    uses_slices: ClassVar[bool] = True

    def draw(self, table: Prepared, key: SecretKey) -> Masked:
        """Shuffle each column, those of one group together."""
        donors = shuffled_donors(table.microdata, key)
        masked = copy_from_donors(table.microdata, donors)
        return Masked(masked=masked, donors=donors, law=None)


BASELINE_METHODS: Mapping[str, Any] = MappingProxyType(
    {method.method: method for method in (Original, Shuffled)}
)
"""By key. They are no masking methods: nobody releases them."""
