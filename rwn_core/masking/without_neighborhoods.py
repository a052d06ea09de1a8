"""Methods that need no neighborhoods share how a table is prepared for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from threading import Event
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.slices import Slices
from rwn_core.laws.expectations import Expectations
from rwn_core.laws.law import Law
from rwn_core.masking.lever import LeverRange, at_levers, family
from rwn_core.masking.method import Masked, Prepared
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey

_T = TypeVar("_T")


class TableMethod(ABC):
    """A method that masks a table as a whole: what it decides, and what such methods share."""

    __slots__ = ()

    start: ClassVar[Mapping[str, float]] = MappingProxyType({})
    has_forecast: ClassVar[bool] = True
    uses_weights: ClassVar[bool] = False
    uses_slices: ClassVar[bool] = False
    releases_true_rows: ClassVar[bool] = False
    moves_missing: ClassVar[bool] = False
    spares_variables: ClassVar[bool] = False

    @abstractmethod
    def check(self, microdata: Microdata) -> None:
        """Refuse a table that the setting cannot mask.

        Raises
        ------
        ParameterError
        """

    def masked_names(self, microdata: Microdata) -> tuple[str, ...]:
        """Return the variables that the method may change; see `Method.masked_names`."""
        return tuple(v.name for v in microdata.schema.released if v.masked)

    @abstractmethod
    def draw(self, table: PreparedTable, key: SecretKey) -> Microdata:
        """The masked table of a key, row-aligned with the original."""

    def law(self, table: PreparedTable) -> Law | None:
        """The exact law of a release; None where the method has none."""
        return None

    def expectations(self, table: PreparedTable) -> Expectations | None:
        """What is expected of every cell, where there is no law; None where nothing is known."""
        return None

    @abstractmethod
    def ranges_on(self, microdata: Microdata) -> Mapping[str, LeverRange]:
        """How far each lever goes on a table."""

    @abstractmethod
    def presets_on(self, microdata: Microdata) -> Mapping[str, Mapping[str, float]]:
        """Starting points: a value of each lever, by the name of the preset."""

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """What the steward should know of this setting on a table; nothing."""
        return []

    def cautions(self) -> list[str]:
        """What a careful steward must bear in mind at this setting; nothing."""
        return []

    def prepare(
        self,
        microdata: Microdata,
        *,
        settings: Sequence[Any] = (),
        records: NDArray[np.int64] | None = None,
        threads: int | None = None,
        budget: float | None = None,
    ) -> PreparedTable:
        """Make a table ready for releases; see `Method.prepare`. All records are masked."""
        self.check(microdata)
        return PreparedTable(self, microdata)

    def begin_preview(self, microdata: Microdata, **options: Any) -> None:
        """Nothing: all records are ready at once; see `Method.begin_preview`."""
        return None

    def preview(
        self,
        microdata: Microdata,
        *,
        progress: Progress | None = None,
        cancel: Event | None = None,
        begun: Any = None,
    ) -> PreparedTable:
        """Make a table ready for a screen; see `Method.preview`."""
        return self.prepare(microdata)


class PreparedTable:
    """A table, a setting, and what the settings of its family have worked out together.

    Parameters
    ----------
    params : TableMethod
    microdata : Microdata
    shared : dict, optional
        What `once` keeps.
    """

    masks_all_records = True
    is_quick = True
    known = None

    def __init__(
        self, params: Any, microdata: Microdata, shared: dict[Hashable, Any] | None = None
    ) -> None:
        self.params, self.microdata = params, microdata
        self._shared: dict[Hashable, Any] = {} if shared is None else shared

    def is_quick_for(self, key: SecretKey) -> bool:
        """Always; see `Prepared`."""
        return True

    def recalling(self, known: Any) -> Self:
        """There is no search; see `Prepared`."""
        return self

    def once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Work out what no lever changes, the first time only."""
        if key not in self._shared:
            self._shared[key] = make()
        result: _T = self._shared[key]
        return result

    @property
    def records(self) -> NDArray[np.int64]:
        """The records that a release masks: all; see `Prepared`."""
        return np.arange(self.microdata.n)

    @cached_property
    def ranges(self) -> Mapping[str, LeverRange]:
        """How far each lever goes; see `Prepared`."""
        ranges: Mapping[str, LeverRange] = self.params.ranges_on(self.microdata)
        return ranges

    @cached_property
    def presets(self) -> Mapping[str, Mapping[str, float]]:
        """Starting points; see `Prepared`."""
        presets: Mapping[str, Mapping[str, float]] = self.params.presets_on(self.microdata)
        return presets

    @cached_property
    def law(self) -> Law | None:
        """The exact law of every release; see `Prepared`."""
        law: Law | None = self.params.law(self)
        return law

    @property
    def expectations(self) -> Expectations | None:
        """What is expected of every cell, where there is no law; see `Prepared`."""
        about: Expectations | None = self.params.expectations(self)
        return about

    def with_levers(self, **levers: Any) -> Self:
        """The same table at another position of the levers; see `Prepared`."""
        params = at_levers(self.params, levers)
        assert family(params) == family(self.params)
        params.check(self.microdata)
        return type(self)(params, self.microdata, self._shared)

    def with_slices(self, slices: Slices) -> Self:
        """The same setting on a table with other slices; see `Prepared`."""
        microdata = self.microdata.with_slices(slices)
        self.params.check(microdata)
        return type(self)(self.params, microdata)

    def release(
        self, key: SecretKey, *, threads: int | None = None, progress: Progress | None = None
    ) -> Masked:
        """Draw a release; see `Prepared`."""
        masked = self.params.draw(self, key)
        if progress is not None:
            progress(1.0)
        return Masked(masked=masked, donors=None, law=self.law)

    def resampled(self, rows: NDArray[np.int64]) -> Prepared:
        """A bootstrap sample, which is masked like any table; see `Prepared`."""
        again: Prepared = self.params.prepare(self.microdata.take(rows))
        return again
