"""A release is a masked table with its method, its secret row order and its rounding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import Steps, check_precision, steps_by_name
from rwn_core.data.slices import Slices
from rwn_core.errors import ParameterError
from rwn_core.io.write import file_format, table_bytes, write_atomically
from rwn_core.masking.lever import Lever
from rwn_core.masking.method import Masked, Method, Prepared
from rwn_core.mechanism.law import Law
from rwn_core.parallel.threads import Progress, thread_count
from rwn_core.randomness import SecretKey, random_order

Order = Literal["shuffled", "original"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounded:
    """A method that rounds what it releases: for all that take a method's parameters.

    Attributes
    ----------
    params : Method
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

    @property
    def title(self) -> str:
        """Title of the method."""
        return str(self.params.title)

    @property
    def levers(self) -> tuple[Lever, ...]:
        """Levers of the method."""
        levers: tuple[Lever, ...] = self.params.levers
        return levers

    @property
    def strength(self) -> str:
        """The method's lever against which it is swept."""
        return str(self.params.strength)

    @property
    def start(self) -> Mapping[str, float]:
        """Positions of levers that any table takes."""
        start: Mapping[str, float] = self.params.start
        return start

    @property
    def has_forecast(self) -> bool:
        """Rounded values have none."""
        return False

    def prepare(self, microdata: Microdata, **options: Any) -> PreparedRounded:
        """Make a table ready for releases; see `Method.prepare`."""
        check_precision(microdata, dict(self.precision))  # refuse before the search, not after it
        settings = [unrounded(each)[0] for each in options.pop("settings", ())]
        made = self.params.prepare(microdata, settings=settings, **options)
        return PreparedRounded(made, self.precision)

    def preview(self, microdata: Microdata, **options: Any) -> PreparedRounded:
        """Make a table ready for a screen; see `Method.preview`."""
        check_precision(microdata, dict(self.precision))
        return PreparedRounded(self.params.preview(microdata, **options), self.precision)

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """What the method itself remarks."""
        remarks: list[str] = self.params.remarks(microdata, law)
        return remarks

    def cautions(self) -> list[str]:
        """What the method itself cautions."""
        cautions: list[str] = self.params.cautions()
        return cautions


class PreparedRounded:
    """A table made ready by a method, whose releases are rounded.

    Parameters
    ----------
    exact : Prepared
    precision : mapping of str to float, or the same as pairs
    """

    def __init__(self, exact: Prepared, precision: Steps | Mapping[str, float]) -> None:
        self.exact, self.precision = exact, dict(precision)

    def __getattr__(self, name: str) -> Any:
        """What rounding does not change: the table, its records, the levers' ranges."""
        return getattr(self.exact, name)

    @property
    def params(self) -> Rounded:
        """The setting."""
        return Rounded(params=self.exact.params, precision=self.precision)

    @property
    def law(self) -> Law | None:
        """The exact law of the rounded values."""
        law = self.exact.law
        return None if law is None else law.rounded(self.precision)

    def at(self, **levers: Any) -> PreparedRounded:
        """The same table at another position of the levers; see `Prepared`."""
        return PreparedRounded(self.exact.at(**levers), self.precision)

    def with_slices(self, slices: Slices) -> PreparedRounded:
        """The same table with other slices; see `Prepared`."""
        return PreparedRounded(self.exact.with_slices(slices), self.precision)

    def release(
        self, key: SecretKey, *, threads: int | None = None, progress: Progress | None = None
    ) -> Masked:
        """Draw a release and round it; see `Prepared`."""
        return self.exact.release(key, threads=threads, progress=progress).rounded(self.precision)

    def resampled(self, rows: NDArray[np.int64]) -> PreparedRounded:
        """A bootstrap sample; see `Prepared`."""
        return PreparedRounded(self.exact.resampled(rows), self.precision)


def unrounded(params: Any) -> tuple[Any, dict[str, float]]:
    """A method's own parameters, and the precision that `Rounded` adds to them."""
    if isinstance(params, Rounded):
        return params.params, dict(params.precision)
    return params, {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """Hold a masked table, row-aligned with its original: for the steward's own audit.

    Attributes
    ----------
    masked : Microdata
    method : str
        Key of the method.
    params : Method
    fingerprint : str
        Of the original table.
    donors : ndarray of int64, shape (n, p), or None
    law : Law or None
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
    law: Law | None = field(repr=False)
    order: NDArray[np.int64] = field(repr=False)
    precision: Steps = ()

    def published(self, order: Order = "shuffled") -> Microdata:
        """The table as it may leave the house: rows in secret order by default."""
        if order == "shuffled":
            return self.masked.take(self._published_rows(self.order))
        if order == "original":
            return self.masked.take(self._published_rows(np.arange(self.masked.n)))
        raise ParameterError("order must be one of: shuffled, original.")

    def _published_rows(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of a file in some order: those without any value only where they say so."""
        if not getattr(self.params, "drops_lost_rows", False):
            return order
        lost = self.masked.frame.isna().all(axis=1).to_numpy()
        return order[~lost[order]]

    def to_bytes(self, format: str, order: Order = "shuffled") -> bytes:
        """The published file's bytes.

        Parameters
        ----------
        format : str
            Key of a file format, such as "csv" or "parquet".
        order : {"shuffled", "original"}
            The original order names each record; keep such a file inside.
        """
        table = self.published(order)
        return table_bytes(table.frame, format, table.schema)

    def publish(self, path: str | Path, order: Order = "shuffled") -> Path:
        """Write the release, all or nothing.

        Parameters
        ----------
        path : str or Path
            Its ending says the format, such as .csv or .parquet.
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
    params: Method,
    *,
    precision: Mapping[str, float] | None = None,
    seed: int | SecretKey | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Mask a table.

    Parameters
    ----------
    microdata : Microdata
    params : Method
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
    setting, own = unrounded(params)
    steps = steps_by_name({**own, **(precision or {})})
    check_precision(microdata, dict(steps))  # refuse before the search, not after it
    if seed is None:
        key = SecretKey.fresh()
    else:
        key = seed if isinstance(seed, SecretKey) else SecretKey.from_seed(seed)
    work = setting.prepare(microdata).release(key, threads=threads, progress=progress)
    work = work.rounded(dict(steps))
    return Release(
        masked=work.masked,
        method=setting.method,
        params=setting,
        fingerprint=microdata.fingerprint,
        donors=work.donors,
        law=work.law,
        order=random_order(key, work.masked.n),
        precision=steps,
    )
