"""Checks and ranges of a least number of records k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking.lever import LeverRange


def check_k(k: int, name: str = "k") -> None:
    """Refuse what is no least number of records."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ParameterError(f"{name} must be a whole number of at least 1.")


def check_records(k: int, microdata: Microdata) -> None:
    """Refuse more records than a table has."""
    if k > microdata.n:
        raise ParameterError(
            f"k must be at most the number of records, {microdata.n:,}; take a smaller one."
        )


def check_known(k: int, microdata: Microdata, names: Sequence[str]) -> None:
    """Refuse more records than have a value of some numeric variable."""
    for name in names:
        known = int((~np.isnan(microdata.values(name))).sum())
        if 0 < known < k:
            raise ParameterError(
                f"k must be at most {known:,}, the number of records with a value of {name}; "
                "take a smaller one, or take the variable out of the masking."
            )


def range_of_known(params: Any, microdata: Microdata) -> LeverRange:
    """Return how far k goes if each masked numeric variable must have k values."""
    values = (microdata.values(name) for name in params.masked_names(microdata))
    known = [int((~np.isnan(each)).sum()) for each in values]
    most = min((count for count in known if count), default=1)
    return LeverRange(low=1, high=min(most, max(2, microdata.n // 2)), step=1)


def range_of_groups(params: Any, microdata: Microdata) -> LeverRange:
    """Return how far k goes if groups hold k records."""
    return LeverRange(low=1, high=min(microdata.n, 100), step=1)


def range_of_classes(params: Any, microdata: Microdata) -> LeverRange:
    """Return how far k goes if classes hold k records and there are two or more."""
    return LeverRange(low=1, high=max(2, microdata.n // 2), step=1)
