"""Candidates for a start on all records of a small table: a part may show other things."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.tuning.point import Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.strength_trial import MOST_LOST, PreparedTables, StrengthTrial

_CHECKS = 3  # places at which further releases are read and attacked
_CLOSER = 0.95  # of the least loss so far: what a candidate must come below to be followed


@dataclass(slots=True, kw_only=True)
class WholeTable:
    """The search on all records: most candidates end after one reading, as they cannot lose less.

    Attributes
    ----------
    microdata : Microdata
    policy : Policy
        Its limits that can be judged.
    steps : int
        Releases and readings that are left.
    looked : int
        Settings tried.
    """

    microdata: Microdata
    policy: Policy
    steps: int
    looked: int = 0
    nearest: list[tuple[float, Setting]] = field(default_factory=list)
    _found: list[tuple[float, int, Setting]] = field(default_factory=list)
    _tables: PreparedTables = field(default_factory=PreparedTables)
    _seen: set[tuple[object, ...]] = field(default_factory=set)

    @property
    def least(self) -> float:
        """The least loss at which a candidate kept all limits, the largest useful one before."""
        return min((loss for loss, _, _ in self._found), default=MOST_LOST)

    def look(self, candidate: Setting) -> bool:
        """Try a candidate; True if it keeps all limits on further releases and loses less."""
        own = kind(candidate.resolved(self.microdata))
        if self.steps <= 0 or own in self._seen:
            return False
        self._seen.add(own)
        most = _CLOSER * self.least if self._found else MOST_LOST
        try:
            trial = StrengthTrial(self.microdata, candidate, self.policy, tables=self._tables)
            place = _steady(trial, most)
            loss = 1.0 if place is None else trial.mean_loss(place)
        except ParameterError:
            return False
        self.looked += 1
        self.steps -= trial.steps
        if place is None:
            self.nearest.extend(trial.nearest())
            return False
        self._found.append((loss, place, trial.at(place)))
        return loss <= most

    def best(self) -> Iterator[tuple[float, Setting]]:
        """Yield loss and setting of what keeps all limits, the least loss first."""
        for loss, _, setting in sorted(self._found, key=lambda each: each[:2]):
            yield loss, setting


def _steady(trial: StrengthTrial, most: float) -> int | None:
    """Return a place near the weakest at which further releases keep all limits, too."""
    place, strongest = trial.weakest(most), trial.strongest(most)
    for _ in range(_CHECKS):
        if place is None or strongest is None or place > strongest:
            return None
        used = trial.used(place)
        if used <= 1:
            return place
        # one release must use so much less of its limits as others used too much
        share = (trial.verdict(place).largest or 0.0) / used
        further = trial.weakest_using(share, strongest) if share > 0 else place + 1
        place = further if further is None else max(further, place + 1)
    return None


def kind(setting: Setting) -> tuple[object, ...]:
    """Return what a setting is apart from its strength."""
    params = setting.params
    balanced = getattr(params, "balance", 0.0) > 0
    return params.method, getattr(params, "kernel", ""), balanced, setting.slices


def look_at(table: WholeTable, candidates: Iterable[Setting]) -> Setting | None:
    """Try candidates; the last one that lost less than those before."""
    best = None
    for each in candidates:
        if table.look(each):
            best = each
    return best
