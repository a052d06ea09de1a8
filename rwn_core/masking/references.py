"""The two ends of every map as methods: the original data, and nothing but their marginals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.masking import RWN, Masked
from rwn_core.mechanism.donors import column_streams, copy_from_donors
from rwn_core.randomness import SecretKey, uniforms


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The original data, released as they are."""

    method: ClassVar[str] = "original"

    def apply(
        self,
        microdata: Microdata,
        key: SecretKey,
        *,
        threads: int = 1,
        progress: Callable[[float], None] | None = None,
    ) -> Masked:
        """Keep every value: randomization within neighborhoods at q = 0."""
        return RWN(k=1, q=0.0).apply(microdata, key, threads=threads, progress=progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffled:
    """No data: every variable in a random order of its own, so that only its marginal is left."""

    method: ClassVar[str] = "no data"

    def apply(
        self,
        microdata: Microdata,
        key: SecretKey,
        *,
        threads: int = 1,
        progress: Callable[[float], None] | None = None,
    ) -> Masked:
        """Shuffle each column by itself; those of one group together."""
        records = np.arange(microdata.n)
        orders = [
            np.argsort(uniforms(key, records, stream)[0], kind="stable")
            for stream in column_streams(microdata)
        ]
        donors = np.column_stack(orders)
        return Masked(masked=copy_from_donors(microdata, donors), donors=donors, law=None)


REFERENCES: Mapping[str, Any] = MappingProxyType(
    {method.method: method for method in (Original, Shuffled)}
)
"""By key. They are no masking methods: nobody releases them."""
