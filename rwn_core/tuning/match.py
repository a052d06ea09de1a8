"""Match methods: each is tuned to the same loss, so that the rest can be compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS, LeverRange, at_levers
from rwn_core.parallel.threads import Progress
from rwn_core.tuning.frontier import sign
from rwn_core.tuning.point import Point
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.trials import Plan, Trials

COARSE = 10  # parts of a lever, of which the search begins with the ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """One method, tuned by its strength.

    Attributes
    ----------
    point : Point
        The setting with what the plan's measures read.
    reached : bool
        Whether the strength can be chosen so that the measure comes as near to the value as the
        steps of the lever allow; not where even its weakest setting loses more, or its strongest
        one less.
    """

    point: Point
    reached: bool

    @property
    def method(self) -> str:
        """Key of the method."""
        return self.point.setting.method


def match(
    microdata: Microdata,
    methods: Sequence[str],
    *,
    measure: str,
    value: float,
    plan: Plan,
    progress: Progress | None = None,
) -> list[Matched]:
    """Tune several methods to the same value of one measure.

    Parameters
    ----------
    microdata : Microdata
    methods : sequence of str
        Keys of METHODS.
    measure : str
        A measure with a better side, such as "correlation".
    value : float
        The worst value that is accepted.
    plan : Plan
        What is read at the settings that are found, and on how many releases; the search draws
        the same releases.
    progress : callable, optional
        Called with the share done, from 0 to 1.

    Returns
    -------
    list of Matched
        One for each method, in their order: the strongest setting whose median is no worse than
        the value. The method's other levers stay at its standard preset.

    Raises
    ------
    ParameterError
        A method is unknown, or the measure has no better side.
    """
    better = sign(measure)
    if not math.isfinite(value):
        raise ParameterError("The value to match must be a number.")
    for key in methods:
        if key not in METHODS:
            raise ParameterError(f"There is no method {key}; known are: {', '.join(METHODS)}.")
    found = []
    for number, key in enumerate(methods):
        search = _Search(microdata, key, replace(plan, measures=(measure,)))

        def accepted(point: Point) -> bool:
            median = point.median(measure)
            return median is not None and better * median <= better * value

        place, reached = search.strongest(accepted)
        point = search.read(place, plan)
        found.append(Matched(point=point, reached=reached))
        if progress is not None:
            progress((number + 1) / len(methods))
    return found


class _Search:
    """The settings of one method along its strength.

    Parameters
    ----------
    microdata : Microdata
    method : str
    plan : Plan
    """

    def __init__(self, microdata: Microdata, method: str, plan: Plan) -> None:
        kind = METHODS[method]
        prepared = kind(**kind.start).preview(microdata)
        standard = dict(prepared.presets["Standard"])
        self._range: LeverRange = prepared.ranges[kind.strength]
        self._params = at_levers(prepared.params, standard)
        self._strength: str = kind.strength
        self.steps = math.floor((self._range.high - self._range.low) / self._range.step + 1e-9)
        self._microdata, self._plan = microdata, plan
        ends = [self._setting(place).resolved(microdata) for place in (0, self.steps)]
        self._trials = Trials(microdata, ends, plan)

    def _setting(self, place: int) -> Setting:
        number = round(self._range.low + place * self._range.step, 10)
        return Setting(params=at_levers(self._params, {self._strength: number}))

    def read(self, place: int, plan: Plan | None = None) -> Point:
        """What the measures read at a position of the strength."""
        self._trials.plan = plan or self._plan
        return self._trials.run(self._setting(place).resolved(self._microdata))

    def strongest(self, accepted: Callable[[Point], bool]) -> tuple[int, bool]:
        """The last accepted position, and whether a stronger one is not accepted.

        A few positions first: a weak setting may be worse than a stronger one (the 2015 method
        loses every record at a radius that reaches nobody).
        """
        coarse = [round(self.steps * number / COARSE) for number in range(COARSE + 1)]
        good = [place for place in dict.fromkeys(coarse) if accepted(self.read(place))]
        if not good:
            return 0, False
        low = good[-1]
        high = next((place for place in coarse if place > low), low)
        if low == high:
            return low, False
        while high - low > 1:
            middle = (low + high) // 2
            if accepted(self.read(middle)):
                low = middle
            else:
                high = middle
        return low, True
