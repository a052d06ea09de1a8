"""A method with a release precision: what it releases is rounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import Steps, check_precision, steps_by_name
from rwn_core.data.slices import Slices
from rwn_core.laws.law import Law
from rwn_core.masking.lever import Lever
from rwn_core.masking.method import Masked, Prepared
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey


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

    def begin_preview(self, microdata: Microdata, **options: Any) -> PreparedRounded | None:
        """Make some records ready for a first picture; see `Method.begin_preview`."""
        check_precision(microdata, dict(self.precision))
        begun = self.params.begin_preview(microdata, **options)
        return None if begun is None else PreparedRounded(begun, self.precision)

    def preview(
        self, microdata: Microdata, *, begun: PreparedRounded | None = None, **options: Any
    ) -> PreparedRounded:
        """Make a table ready for a screen; see `Method.preview`."""
        check_precision(microdata, dict(self.precision))
        inner = None if begun is None else begun.exact
        made = self.params.preview(microdata, begun=inner, **options)
        return PreparedRounded(made, self.precision)

    def masked_names(self, microdata: Microdata) -> tuple[str, ...]:
        """Return the variables that the method itself may change."""
        names: tuple[str, ...] = self.params.masked_names(microdata)
        return names

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

    def with_levers(self, **levers: Any) -> PreparedRounded:
        """The same table at another position of the levers; see `Prepared`."""
        return PreparedRounded(self.exact.with_levers(**levers), self.precision)

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
