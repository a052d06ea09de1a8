"""What a masking method returns, and the one call that runs any of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import Steps, check_precision, rounded, steps_by_name
from rwn_core.errors import ParameterError
from rwn_core.io.write import file_format, table_bytes, write_atomically
from rwn_core.mechanism.cell_law import CellLaw
from rwn_core.parallel.threads import thread_count
from rwn_core.randomness import SecretKey, random_order

Order = Literal["shuffled", "original"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Masked:
    """A method's work: the masked table with what the steward may know about it.

    Attributes
    ----------
    masked : Microdata
        Row-aligned with the original.
    donors : ndarray of int64, shape (n, p), or None
        Who gave each cell its value; -1 where it became missing. As confidential as the
        original.
    law : CellLaw or None
        The exact law of the method, where it has one.
    """

    masked: Microdata
    donors: NDArray[np.int64] | None = field(repr=False)
    law: CellLaw | None = field(repr=False)

    def rounded(self, precision: Mapping[str, float]) -> Masked:
        """The same work with released values rounded, and the law of the rounded values.

        Parameters
        ----------
        precision : mapping of str to float
            The step of each rounded variable, in its own unit.

        Returns
        -------
        Masked
            Donors stay as they are: who gave a value does not depend on how it is written.
        """
        if not precision:
            return self
        law = None if self.law is None else self.law.rounded(precision)
        return replace(self, masked=rounded(self.masked, precision), law=law)


class Parameters(Protocol):
    """What every method's parameter record offers."""

    method: ClassVar[str]

    def apply(
        self,
        microdata: Microdata,
        key: SecretKey,
        *,
        threads: int,
        progress: Callable[[float], None] | None,
    ) -> Masked:
        """Mask the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounded:
    """A method that rounds what it releases: for all that take a method's parameters.

    Attributes
    ----------
    params : Parameters
    precision : mapping of str to float, or the same as pairs
        The step of each rounded variable, in its own unit; kept as pairs, sorted by name.

    Raises
    ------
    ParameterError
        A step is not a number above 0.

    Examples
    --------
    >>> from rwn_core.masking import RWN
    >>> Rounded(params=RWN(k=5), precision={"age": 5}).precision
    (('age', 5.0),)
    """

    params: Any
    precision: Steps | Mapping[str, float]

    def __post_init__(self) -> None:
        """Keep the steps as plain data, which can be a key."""
        object.__setattr__(self, "precision", steps_by_name(dict(self.precision)))

    @property
    def method(self) -> str:
        """Key of the method."""
        return str(self.params.method)

    def apply(
        self,
        microdata: Microdata,
        key: SecretKey,
        *,
        threads: int = 1,
        progress: Callable[[float], None] | None = None,
    ) -> Masked:
        """Mask the table, and round."""
        check_precision(microdata, dict(self.precision))  # refuse before the search, not after it
        work: Masked = self.params.apply(microdata, key, threads=threads, progress=progress)
        return work.rounded(dict(self.precision))


def unrounded(params: Any) -> tuple[Any, dict[str, float]]:
    """A method's own parameters, and the precision that `Rounded` adds to them."""
    if isinstance(params, Rounded):
        return params.params, dict(params.precision)
    return params, {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """A masked table, still row-aligned with its original: for the steward's own audit.

    Attributes
    ----------
    masked : Microdata
    method : str
        Key of the method.
    params : Parameters
    fingerprint : str
        Of the original table.
    donors : ndarray of int64, shape (n, p), or None
    law : CellLaw or None
        Of the released values: after rounding, that of rounded ones.
    order : ndarray of int64, shape (n,)
        The secret row order of the published file.
    precision : tuple of (str, float)
        The step of each rounded variable; empty where values are released as they are.
    """

    masked: Microdata
    method: str
    params: Any
    fingerprint: str
    donors: NDArray[np.int64] | None = field(repr=False)
    law: CellLaw | None = field(repr=False)
    order: NDArray[np.int64] = field(repr=False)
    precision: Steps = ()

    def published(self, order: Order = "shuffled") -> Microdata:
        """The table as it may leave the house: rows in secret order by default."""
        if order == "shuffled":
            return self.masked.take(self.order)
        if order == "original":
            return self.masked
        raise ParameterError("order must be one of: shuffled, original.")

    def to_bytes(self, format: str, order: Order = "shuffled") -> bytes:
        """The published file's bytes.

        Parameters
        ----------
        format : {"csv", "parquet"}
        order : {"shuffled", "original"}
            The original order names each record; keep such a file inside.
        """
        return table_bytes(self.published(order).frame, format)

    def publish(self, path: str | Path, order: Order = "shuffled") -> Path:
        """Write the release, all or nothing.

        Parameters
        ----------
        path : str or Path
            Ends in .csv or .parquet.
        order : {"shuffled", "original"}

        Returns
        -------
        Path

        Raises
        ------
        ReleaseError
            The file could not be written; an older file of that name is still whole.
        """
        target = Path(path)
        return write_atomically(target, self.to_bytes(file_format(target), order))


def mask(
    microdata: Microdata,
    params: Parameters,
    *,
    precision: Mapping[str, float] | None = None,
    seed: int | SecretKey | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Release:
    """Mask a table.

    Parameters
    ----------
    microdata : Microdata
    params : Parameters
        A method's parameter record, such as ``RWN(epsilon=2.0, k=5, q=1.0)``.
    precision : mapping of str to float, optional
        Release precision, such as ``{"age": 5}``: each of these variables is rounded to
        multiples of its step. Who gives a value does not depend on it.
    seed : int or SecretKey, optional
        Left out: a fresh 256-bit secret that is forgotten. A small integer is for teaching and
        for repeating a trial; it is no secret.
    threads : int, optional
        RWN_THREADS or all processors by default. It changes the time, never the release.
    progress : callable, optional
        Called with the share done, from 0 to 1.

    Returns
    -------
    Release

    Raises
    ------
    ParameterError
    """
    threads = thread_count(threads)
    plain, own = unrounded(params)
    steps = steps_by_name({**own, **(precision or {})})
    check_precision(microdata, dict(steps))  # refuse before the search, not after it
    if seed is None:
        key = SecretKey.fresh()
    else:
        key = seed if isinstance(seed, SecretKey) else SecretKey.from_seed(seed)
    work: Masked = plain.apply(microdata, key, threads=threads, progress=progress)
    work = work.rounded(dict(steps))
    return Release(
        masked=work.masked,
        method=plain.method,
        params=plain,
        fingerprint=microdata.fingerprint,
        donors=work.donors,
        law=work.law,
        order=random_order(key, work.masked.n),
        precision=steps,
    )
