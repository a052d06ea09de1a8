"""The watch list: records and predicates that a data steward pins and follows over settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rwn_core.cell_law import CellLaw
from rwn_core.errors import ParameterError
from rwn_core.intruder.posterior import Linkage
from rwn_core.intruder.predicates import Predicate, answer
from rwn_core.microdata import Microdata

LONGEST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What became of one pinned record or predicate in a release; internal.

    Attributes
    ----------
    words : str
    chance : float or None
        Of a record: the intruder's probability of its true source, or None where its row was not
        in the sample. Of a predicate: P(exactly one released record fulfils it).
    matches : int or None
        How many released records fulfil the predicate in this release.
    """

    words: str
    chance: float | None
    matches: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchList:
    """Pinned records (counted from 0) and predicates, in the order in which they were pinned."""

    records: tuple[int, ...] = ()
    predicates: tuple[Predicate, ...] = ()

    def with_record(self, record: int, n: int) -> WatchList:
        """The list with one more record.

        Raises
        ------
        ParameterError
            There is no such record, or the list is full.
        """
        if not 0 <= record < n:
            raise ParameterError(f"The record to watch must be a number from 1 to {n:,}.")
        if record in self.records:
            return self
        self._refuse_more()
        return replace(self, records=(*self.records, record))

    def with_predicate(self, predicate: Predicate) -> WatchList:
        """The list with one more predicate."""
        if predicate in self.predicates:
            return self
        self._refuse_more()
        return replace(self, predicates=(*self.predicates, predicate))

    def _refuse_more(self) -> None:
        if len(self.records) + len(self.predicates) >= LONGEST:
            raise ParameterError(
                f"The watch list holds at most {LONGEST} entries; take one off first."
            )

    def follow(
        self, original: Microdata, masked: Microdata, law: CellLaw | None, links: Linkage | None
    ) -> list[Watched]:
        """What became of every entry in a release."""
        return [
            *(_record(record, links) for record in self.records),
            *(_predicate(predicate, original, masked, law) for predicate in self.predicates),
        ]


def _record(record: int, links: Linkage | None) -> Watched:
    chance = None
    if links is not None:
        place = (links.rows == record).nonzero()[0]
        chance = float(links.truth[place[0]]) if place.size else None
    return Watched(words=f"record {record + 1}", chance=chance, matches=None)


def _predicate(
    predicate: Predicate, original: Microdata, masked: Microdata, law: CellLaw | None
) -> Watched:
    chance = None if law is None else answer(law, predicate).exactly_one
    matches = int(predicate.matches(original, masked).sum())
    return Watched(words=predicate.words, chance=chance, matches=matches)
