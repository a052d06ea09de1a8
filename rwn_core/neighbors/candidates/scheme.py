"""Whom a record may have for a neighbor: everybody, or a random few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rwn_core.errors import ParameterError

Candidates = Literal["exact", "sample", "pairs", "partition"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """The candidates that neighborhoods are taken from.

    Parameters
    ----------
    neighbors : {"exact", "sample", "pairs", "partition"}
        Everybody; a random sample of m records (Method 1); about m random partners of each
        record (Method 2); the record's own part of u random ones (Method 3).
    m : int, optional
        Sample size, or mean number of partners. With "partition": only about m random partners
        within the part.
    u : int, optional
        Number of parts.
    fresh : bool
        With "sample": another sample for each record, instead of one for all.

    Raises
    ------
    ParameterError

    References
    ----------
    Perry, Matloff, Tendick 2022, section 11.
    """

    neighbors: Candidates = "exact"
    m: int | None = None
    u: int | None = None
    fresh: bool = False

    def __post_init__(self) -> None:
        """Check what does not depend on the table."""
        if self.neighbors not in get_args(Candidates):
            raise ParameterError(f"neighbors must be one of: {', '.join(get_args(Candidates))}.")
        for name, users in (("m", ("sample", "pairs", "partition")), ("u", ("partition",))):
            value = getattr(self, name)
            if value is not None and self.neighbors not in users:
                raise ParameterError(f"{name} needs neighbors to be one of: {', '.join(users)}.")
            if value is not None and not _whole(value):
                raise ParameterError(f"{name} must be a whole number of at least 1.")
        for name, user in (("m", "sample"), ("m", "pairs"), ("u", "partition")):
            if self.neighbors == user and getattr(self, name) is None:
                raise ParameterError(f"neighbors={user} needs {name}.")
        if self.fresh and self.neighbors != "sample":
            raise ParameterError("fresh needs neighbors to be sample.")

    @property
    def exact(self) -> bool:
        """Whether everybody is a candidate."""
        return self.neighbors == "exact"

    def check(self, n: int, k: int | None) -> None:
        """Refuse what does not fit a table of n records.

        Raises
        ------
        ParameterError
        """
        least = (k or 0) + 1
        if self.neighbors == "sample":
            most = n - 1 if self.fresh else n
            _check_between("m", self.m, least, most)
        elif self.neighbors == "pairs":
            _check_between("m", self.m, 1, n - 1)
        elif self.neighbors == "partition":
            _check_between("u", self.u, 1, n // max(least, 2))
            if self.m is not None and self.u is not None:
                _check_between("m", self.m, 1, n // self.u - 1)


def _whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 1


def _check_between(name: str, value: int | None, least: int, most: int) -> None:
    if value is not None and not least <= value <= most:
        raise ParameterError(
            f"{name} must be a whole number from {least:,} to {most:,} for this table and k."
        )
