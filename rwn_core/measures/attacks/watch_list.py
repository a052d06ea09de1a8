"""Watch list: pinned records and predicates, followed over settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.measures.attacks.predicate import Predicate, answer

LONGEST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Fate of one pinned record or predicate in a release; internal."""

    words: str
    # posterior of a record's true source, or P(exactly one released record meets a predicate); None
    # without a law
    chance: float | None
    matches: int | None  # number of released records that meet the predicate


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchList:
    """Pinned records (counted from 0) and predicates, in the order in which they were pinned."""

    records: tuple[int, ...] = ()
    predicates: tuple[Predicate, ...] = ()

    def with_record(self, record: int, n: int) -> WatchList:
        """Return the list with one more record; ParameterError if it is full."""
        if not 0 <= record < n:
            raise ParameterError(f"The record to watch must be a number from 1 to {n:,}.")
        if record in self.records:
            return self
        self._refuse_more()
        return replace(self, records=(*self.records, record))

    def with_predicate(self, predicate: Predicate) -> WatchList:
        """Return the list with one more predicate."""
        if predicate in self.predicates:
            return self
        self._refuse_more()
        return replace(self, predicates=(*self.predicates, predicate))

    @property
    def empty(self) -> bool:
        """True if nothing is pinned."""
        return not (self.records or self.predicates)

    def _refuse_more(self) -> None:
        if len(self.records) + len(self.predicates) >= LONGEST:
            raise ParameterError(
                f"The watch list holds at most {LONGEST} entries; take one off first."
            )

    def named(self) -> list[Watched]:
        """Return the entries without results."""
        texts = [*map(_record_words, self.records), *(each.words for each in self.predicates)]
        return [Watched(words=words, chance=None, matches=None) for words in texts]

    def follow(self, original: Microdata, masked: Microdata, law: Law | None) -> list[Watched]:
        """Return every entry's results in an aligned release; only pinned rows are linked."""
        return [
            *_records(self.records, masked, law),
            *(_predicate(predicate, original, masked, law) for predicate in self.predicates),
        ]


def _record_words(record: int) -> str:
    return f"record {record + 1}"


def _records(records: tuple[int, ...], masked: Microdata, law: Law | None) -> list[Watched]:
    chances: list[float | None] = [None] * len(records)
    if law is not None and records:
        rows = np.array(records)
        belief = posteriors(law, masked, rows)
        chances = [float(belief[record, place]) for place, record in enumerate(records)]
    return [
        Watched(words=_record_words(record), chance=chance, matches=None)
        for record, chance in zip(records, chances, strict=True)
    ]


def _predicate(
    predicate: Predicate, original: Microdata, masked: Microdata, law: Law | None
) -> Watched:
    chance = None if law is None else answer(law, predicate).exactly_one
    matches = int(predicate.matches(original, masked).sum())
    return Watched(words=predicate.words, chance=chance, matches=matches)
