"""A masking method prepares a table once and draws releases of it at will."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.data.slices import Slices
from rwn_core.laws.expectations import Expectations
from rwn_core.laws.law import Law
from rwn_core.masking.lever import Lever, LeverRange
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Masked:
    """Hold a method's work: the masked table with what the steward may know about it.

    Attributes
    ----------
    masked : Microdata
        Row-aligned with the original, or with those of its records that are shown.
    donors : ndarray of int64, shape (n, p), or None
        Who gave each cell its value; -1 where it became missing. As confidential as the
        original.
    law : Law or None
        The exact law of the method, where it has one.
    """

    masked: Microdata
    donors: NDArray[np.int64] | None = field(repr=False)
    law: Law | None = field(repr=False)

    def rounded(self, precision: Mapping[str, float]) -> Masked:
        """Round the released values, and the law with them.

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


class Prepared(Protocol):
    """A table made ready for releases of one setting, and of others nearby."""

    @property
    def microdata(self) -> Microdata:
        """The original, n records."""

    @property
    def params(self) -> Any:
        """The setting."""

    @property
    def records(self) -> NDArray[np.int64]:
        """The records that `release` masks, ascending, shape (m,): all, or random ones."""

    @property
    def masks_all_records(self) -> bool:
        """Whether `release` masks all records."""

    @property
    def ranges(self) -> Mapping[str, LeverRange]:
        """How far each lever goes on this table, by its name."""

    @property
    def presets(self) -> Mapping[str, Mapping[str, float]]:
        """Starting points: a value of each lever, by the name of the preset."""

    @property
    def law(self) -> Law | None:
        """The exact law of every release; None where there is none before a key is drawn.

        Raises
        ------
        ParameterError
            The setting is refused on this table.
        """

    @property
    def expectations(self) -> Expectations | None:
        """What is expected of every cell of a method without a law; None where nothing is known.

        Raises
        ------
        ParameterError
            The setting is refused on this table.
        """

    @property
    def known(self) -> Any:
        """What spares another process the search, once a release was drawn; None for nothing."""

    def recalling(self, known: Any) -> Self:
        """The same setting where another process has made the search: its law is at hand."""

    @property
    def is_quick(self) -> bool:
        """Whether a release takes milliseconds, or a search comes first."""

    def is_quick_for(self, key: SecretKey) -> bool:
        """Whether a release of this key does, for which a search may have been made before."""

    def with_levers(self, **levers: Any) -> Self:
        """The same table at another position of the levers; what was prepared is shared.

        Levers that are left out stay; None is for a lever that is not used.

        Raises
        ------
        ParameterError
        """

    def with_slices(self, slices: Slices) -> Self:
        """The same table with these variables travelling together, and every other one alone.

        Distances do not depend on who shares a donor: what was prepared is shared.

        Raises
        ------
        ParameterError
        """

    def release(
        self, key: SecretKey, *, threads: int | None = None, progress: Progress | None = None
    ) -> Masked:
        """Draw a release.

        Parameters
        ----------
        key : SecretKey
            The same key draws the same cells, however the table was prepared.
        threads : int, optional
            RWN_THREADS or all processors by default; it changes the time, never the release.
        progress : callable, optional
            Called with the share done, from 0 to 1. What it raises stops the work.

        Returns
        -------
        Masked

        Raises
        ------
        ParameterError
        """

    def resampled(self, rows: NDArray[np.int64]) -> Prepared:
        """A bootstrap sample of the records, in which nobody's copies are neighbors of each other.

        Parameters
        ----------
        rows : ndarray of int64, shape (m,)
            The original's record of each record of the sample, ascending.
        """


class Method(Protocol):
    """What every method's parameter record offers.

    Attributes
    ----------
    method : str
        Its key in METHODS.
    title : str
    levers : tuple of Lever
        What sliders move.
    strength : str
        The lever along which it is swept against other methods.
    start : mapping of str to float
        Positions of levers that are no setting to choose, only one that any table takes.
    uses_weights, uses_slices : bool
        Whether a release depends on the variables' weights, and on which of them travel together.
    releases_true_rows : bool
        Whether every released row is one person's true record.
    spares_variables : bool
        Whether a masked variable may stay as it is: the method changes only values that stand out.
    moves_missing : bool
        Whether who lacks a value in the original may have one in the release: missing values are
        masked like values.
    """

    method: ClassVar[str]
    title: ClassVar[str]
    levers: ClassVar[tuple[Lever, ...]]
    strength: ClassVar[str]
    start: ClassVar[Mapping[str, float]]
    uses_weights: ClassVar[bool]
    uses_slices: ClassVar[bool]
    releases_true_rows: ClassVar[bool]
    moves_missing: ClassVar[bool]
    spares_variables: ClassVar[bool]

    @property
    def has_forecast(self) -> bool:
        """Whether expectations have closed forms."""

    def prepare(
        self,
        microdata: Microdata,
        *,
        settings: Sequence[Any] = (),
        records: NDArray[np.int64] | None = None,
        threads: int | None = None,
        budget: float | None = None,
    ) -> Prepared:
        """Make a table ready for releases of this setting.

        Parameters
        ----------
        microdata : Microdata
        settings : sequence of Method, optional
            Others of its family that will be asked for, too: what they share is stored.
        records : ndarray of int64, optional
            Only these are masked; their donors come from everybody. With `settings` only.
        threads : int, optional
        budget : float, optional
            Bytes that may be stored.

        Returns
        -------
        Prepared

        Raises
        ------
        ParameterError
        """

    def begin_preview(
        self,
        microdata: Microdata,
        *,
        progress: Progress | None = None,
        cancel: Event | None = None,
    ) -> Prepared | None:
        """Make random records ready for a first picture, in a fraction of the time of `preview`.

        Returns
        -------
        Prepared or None
            None where `preview` takes no longer.
        """

    def preview(
        self,
        microdata: Microdata,
        *,
        progress: Progress | None = None,
        cancel: Event | None = None,
        begun: Any = None,
    ) -> Prepared:
        """Make a table ready for a screen: every position of the levers, random records of many.

        Parameters
        ----------
        microdata : Microdata
        progress : callable, optional
            Called with the share done, from 0 to 1.
        cancel : threading.Event, optional
            Set from anywhere to stop the work.
        begun : Prepared, optional
            What `begin_preview` of this setting has made of the table; it shortens the work.

        Returns
        -------
        Prepared

        Raises
        ------
        Cancelled, ParameterError
        """

    def masked_names(self, microdata: Microdata) -> tuple[str, ...]:
        """Return the variables of which this setting may change a cell, whatever is drawn."""

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """What the steward should know of this setting on a table, in sentences."""

    def cautions(self) -> list[str]:
        """What a careful steward must bear in mind at this setting, most pressing first."""
