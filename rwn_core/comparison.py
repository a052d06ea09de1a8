"""An original and one masked table, as every measure sees them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from rwn_core.cell_law import CellLaw
from rwn_core.coordinates import Metric
from rwn_core.errors import NotApplicable
from rwn_core.microdata import Microdata
from rwn_core.schema import Question

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Refused:
    """Why there is nothing to remember."""

    reason: str


class Comparison:
    """An original table beside a masked one.

    Parameters
    ----------
    original : Microdata
    masked : Microdata
        Row-aligned with the original, by this program or any other.
    law : CellLaw, optional
        What the method may do to each cell, where it is known.
    holdout : Microdata, optional
        Records of the same population that were never masked.
    question : Question, optional
        The regression to keep; the schema's by default.
    """

    __slots__ = ("_memo", "holdout", "law", "masked", "original", "question")

    def __init__(
        self,
        *,
        original: Microdata,
        masked: Microdata,
        law: CellLaw | None = None,
        holdout: Microdata | None = None,
        question: Question | None = None,
    ) -> None:
        self.original = original
        self.masked = masked
        self.law = law
        self.holdout = holdout
        self.question = original.schema.question if question is None else question
        self._memo: dict[Hashable, Any] = {}

    def with_masked(self, masked: Microdata, law: CellLaw | None = None) -> Comparison:
        """The same original beside another masked table; what `once` keeps is shared."""
        other = Comparison(
            original=self.original,
            masked=masked,
            law=law,
            holdout=self.holdout,
            question=self.question,
        )
        other._memo = self._memo
        return other

    def once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Compute what depends on the original alone, once for all masked tables.

        Parameters
        ----------
        key : hashable
        make : callable

        Returns
        -------
        Whatever `make` returned the first time; a NotApplicable is remembered too.
        """
        if key not in self._memo:
            try:
                self._memo[key] = make()
            except NotApplicable as refusal:
                # the sentence only: a kept exception would keep every caller's tables alive
                self._memo[key] = _Refused(refusal.reason)
        kept = self._memo[key]
        if isinstance(kept, _Refused):
            raise NotApplicable(kept.reason)
        result: _T = kept
        return result

    @property
    def metric(self) -> Metric:
        """The distance in the original's scales."""
        return self.once("metric", lambda: Metric.fit(self.original))
