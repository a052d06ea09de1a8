"""Search a method's strength for the setting that loses as much as accepted, or keeps a policy."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.masking import LeverRange, at_levers
from rwn_core.measures.measure import Reading
from rwn_core.parallel.threads import Progress
from rwn_core.tuning.evaluate_settings import Plan, Trials
from rwn_core.tuning.frontier import sign
from rwn_core.tuning.point import Point, Setting
from rwn_core.tuning.policy import Policy, refuse_percentage

COARSE = 10  # parts of a lever, of which the search begins with the ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """State the loss of utility, or the risk, that all methods are tuned to.

    Attributes
    ----------
    measure : str
        A measure with a better side, such as "correlation".
    value : float
        The worst value that is accepted.

    Raises
    ------
    ParameterError
        The measure is unknown or has no better side, or the value is no number.
    """

    measure: str
    value: float

    def __post_init__(self) -> None:
        """Check both."""
        sign(self.measure)
        if not math.isfinite(self.value):
            raise ParameterError("The value to match must be a number.")
        refuse_percentage(self.measure, self.value)

    def accepts(self, point: Point) -> bool:
        """True if a setting's median is no worse than the value."""
        median = point.median(self.measure)
        return median is not None and self.allows(median)

    def allows(self, value: float) -> bool:
        """True if a reading is no worse than the value."""
        better = sign(self.measure)
        return better * value <= better * self.value


class StrengthSearch:
    """The settings of one method along its strength.

    Parameters
    ----------
    microdata : Microdata
    start : Setting
        Of its parameters the levers are moved; its slices stay.
    plan : Plan
        What is read at each of them.
    progress : callable
    """

    def __init__(
        self, microdata: Microdata, start: Setting, plan: Plan, progress: Progress
    ) -> None:
        prepared = start.params.preview(microdata)
        standard = dict(prepared.presets["Standard"])
        self._start = start
        self._strength: str = start.params.strength
        self._range: LeverRange = prepared.ranges[self._strength]
        self._params = at_levers(prepared.params, standard)
        self.steps = math.floor((self._range.high - self._range.low) / self._range.step + 1e-9)
        self._microdata, self._plan, self._progress = microdata, plan, progress
        ends = [self._setting(position).resolved(microdata) for position in (0, self.steps)]
        self._trials = Trials(microdata, ends, plan)
        self._known: dict[int, Point] = {}
        self._cost: dict[str, float] = {}  # processor seconds of a measure, when it was last read

    def final(
        self, position: int, plan: Plan, pictures: Sequence[str]
    ) -> tuple[Point, dict[str, Reading | NotApplicable]]:
        """All that a plan reads at a position, and some measures of its first release."""
        self._trials.plan = plan
        setting = self._setting(position).resolved(self._microdata)
        return self._trials.run(setting), self._trials.first(setting, pictures) if pictures else {}

    @property
    def path(self) -> tuple[Point, ...]:
        """The points read, from the weakest position to the strongest."""
        return tuple(point for _, point in sorted(self._known.items()))

    def _setting(self, position: int) -> Setting:
        number = round(self._range.low + position * self._range.step, 10)
        return replace(self._start, params=at_levers(self._params, {self._strength: number}))

    def read(self, position: int) -> Point:
        """Read the measures at a position of the strength."""
        if position not in self._known:
            self._add(position, self._plan.measures)
        return self._known[position]

    def _add(self, position: int, measures: Sequence[str]) -> Point:
        """Read more measures at a position."""
        setting = self._setting(position).resolved(self._microdata)
        self._trials.plan = replace(self._plan, measures=tuple(measures))
        point, before = self._trials.run(setting), self._known.get(position)
        if before is not None:
            spreads = {**before.spreads, **point.spreads}
            point = replace(point, spreads=spreads, seconds=before.seconds + point.seconds)
        self._known[position] = point
        self._progress(min(len(self._known) / self._expected, 0.95))
        return point

    def keeps(self, position: int, policy: Policy) -> bool:
        """True if a position meets all limits; quick ones are read first."""
        others = [key for key in self._plan.measures if key not in policy.measures]
        if others:
            self._add(position, others)
        for limit in sorted(policy.limits, key=lambda each: self._cost.get(each.measure, 0.0)):
            before = time.process_time()
            point = self._add(position, [limit.measure])
            self._cost[limit.measure] = time.process_time() - before
            if not Policy(limits=(limit,)).judge(point).kept:
                return False
        return True

    @property
    def _expected(self) -> float:
        """About how many positions are read, and the one that is found once more."""
        halves = math.log2(max(self.steps / COARSE, 1))
        return len(self._coarse) + math.ceil(halves) + 1

    def strongest(self, to: Loss) -> tuple[int, bool]:
        """The last accepted position, and whether a stronger one is not accepted."""
        for each in self._coarse:
            self.read(each)
        if not self._accepted(to):
            self._approach(to)
        good = self._accepted(to)
        if not good:
            return self._least(to), False
        beyond = [each for each in sorted(self._known) if each > good[-1]]
        if not beyond:
            return good[-1], False
        return self._between(good[-1], beyond[0], lambda at: to.accepts(self.read(at))), True

    def _accepted(self, to: Loss) -> list[int]:
        """The accepted ones of the positions that were read, ascending."""
        return [each for each in sorted(self._known) if to.accepts(self._known[each])]

    def _least(self, to: Loss) -> int:
        """The position that loses least of those that were read; the weakest of equals."""
        better = sign(to.measure)

        def loss(position: int) -> float:
            median = self._known[position].median(to.measure)
            return math.inf if median is None else better * median

        return min(sorted(self._known), key=loss)

    def _approach(self, to: Loss) -> None:
        """Look for an accepted position around the one that loses least, by halves."""
        step = max(self.steps // COARSE, 1)
        while step > 1 and not self._accepted(to):
            step = (step + 1) // 2
            middle = self._least(to)
            for each in (middle - step, middle + step):
                if 0 <= each <= self.steps:
                    self.read(each)

    def weakest(self, policy: Policy) -> tuple[int, bool]:
        """The first position that keeps a policy, and whether there is one; else the strongest."""

        def meets(position: int) -> bool:
            return self.keeps(position, policy)

        before = None
        for each in self._coarse:
            if meets(each):
                return (each if before is None else self._between(each, before, meets)), True
            before = each
        return self.steps, False

    @property
    def _coarse(self) -> list[int]:
        """A few positions to begin with, ascending."""
        return sorted({round(self.steps * part / COARSE) for part in range(COARSE + 1)})

    def _between(self, good: int, bad: int, accepted: Callable[[int], bool]) -> int:
        """The accepted position next to one that is not, by halves."""
        while abs(good - bad) > 1:
            middle = (good + bad) // 2
            if accepted(middle):
                good = middle
            else:
                bad = middle
        return good
