"""Match methods: each is tuned to the same loss, so that the rest can be compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.masking import METHODS, LeverRange, at_levers
from rwn_core.measures.measure import Reading
from rwn_core.parallel.threads import Progress
from rwn_core.tuning.frontier import sign
from rwn_core.tuning.point import Point
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.trials import Plan, Trials

COARSE = 10  # parts of a lever, of which the search begins with the ends
PICTURES = ("correlation", "regression", "marginals")
"""What is read of one release of each setting that is found, with all that its chart draws."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """One method, tuned by its strength.

    Attributes
    ----------
    point : Point
        The setting with what the plan's measures read.
    reached : bool
        Whether the strength could be chosen: not where every setting that was tried loses more
        than is accepted or the strongest one less, or where no setting keeps the policy.
    path : tuple of Point
        The settings that the search read, from the weakest to the strongest, with what is
        matched and the measures that were asked for along the strength.
    pictures : mapping of str to Reading or NotApplicable
        What `PICTURES` read of the first release of the setting.
    """

    point: Point
    reached: bool
    path: tuple[Point, ...] = ()
    pictures: Mapping[str, Reading | NotApplicable] = field(default_factory=dict, repr=False)

    @property
    def method(self) -> str:
        """Key of the method."""
        return self.point.setting.method


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A method that cannot mask the table.

    Attributes
    ----------
    method : str
        Its key.
    reason : str
        Why, in one sentence.
    """

    method: str
    reason: str


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

    def accepts(self, point: Point) -> bool:
        """Whether a setting's median is no worse than the value."""
        median, better = point.median(self.measure), sign(self.measure)
        return median is not None and better * median <= better * self.value


def match(
    microdata: Microdata,
    methods: Sequence[str],
    to: Loss | Policy,
    *,
    plan: Plan,
    along: Sequence[str] = (),
    progress: Progress | None = None,
) -> list[Matched | Refused]:
    """Tune several methods to the same loss, or to the same policy.

    Parameters
    ----------
    microdata : Microdata
    methods : sequence of str
        Keys of METHODS.
    to : Loss or Policy
    plan : Plan
        What is read at the settings that are found, and on how many releases; the search draws
        the same releases.
    along : sequence of str
        Measures that are read, beside what is matched, at every setting that the search tries.
    progress : callable, optional
        Called with the share done, from 0 to 1.

    Returns
    -------
    list of Matched or Refused
        One for each method, in their order: the strongest setting that the loss accepts, or the
        weakest that keeps all limits of the policy. The method's other levers stay at its standard
        preset. A method that cannot mask the table says why.

    Raises
    ------
    ParameterError
        A method or a measure is unknown.
    """
    for key in methods:
        if key not in METHODS:
            raise ParameterError(f"There is no method {key}; known are: {', '.join(METHODS)}.")
    measures = to.measures if isinstance(to, Policy) else (to.measure,)
    tried = replace(plan, measures=tuple(dict.fromkeys((*measures, *along))))
    found: list[Matched | Refused] = []
    for number, key in enumerate(methods):

        def tell(share: float, number: int = number) -> None:
            if progress is not None:
                progress((number + share) / len(methods))

        try:
            found.append(_Search(microdata, key, tried, tell).found(to, plan))
        except ParameterError as refusal:
            found.append(Refused(method=key, reason=str(refusal)))
        tell(1.0)
    return found


class _Search:
    """The settings of one method along its strength.

    Parameters
    ----------
    microdata : Microdata
    method : str
    plan : Plan
        What is read at each of them.
    progress : callable
    """

    def __init__(self, microdata: Microdata, method: str, plan: Plan, progress: Progress) -> None:
        kind = METHODS[method]
        prepared = kind(**kind.start).preview(microdata)
        standard = dict(prepared.presets["Standard"])
        self._range: LeverRange = prepared.ranges[kind.strength]
        self._params = at_levers(prepared.params, standard)
        self._strength: str = kind.strength
        self.steps = math.floor((self._range.high - self._range.low) / self._range.step + 1e-9)
        self._microdata, self._plan, self._progress = microdata, plan, progress
        ends = [self._setting(position).resolved(microdata) for position in (0, self.steps)]
        self._trials = Trials(microdata, ends, plan)
        self._known: dict[int, Point] = {}

    def found(self, to: Loss | Policy, plan: Plan) -> Matched:
        """The setting that is sought, with what the plan reads there."""
        if isinstance(to, Policy):
            position, reached = self.weakest(lambda point: to.judge_point(point).kept)
        else:
            position, reached = self.strongest(to)
        self._trials.plan = plan
        setting = self._setting(position).resolved(self._microdata)
        return Matched(
            point=self._trials.run(setting),
            reached=reached,
            path=tuple(point for _, point in sorted(self._known.items())),
            pictures=self._trials.first(setting, PICTURES),
        )

    def _setting(self, position: int) -> Setting:
        number = round(self._range.low + position * self._range.step, 10)
        return Setting(params=at_levers(self._params, {self._strength: number}))

    def read(self, position: int) -> Point:
        """What the measures read at a position of the strength."""
        if position not in self._known:
            setting = self._setting(position).resolved(self._microdata)
            self._known[position] = self._trials.run(setting)
            self._progress(min(len(self._known) / self._expected, 0.95))
        return self._known[position]

    @property
    def _expected(self) -> float:
        """About how many positions are read, and the one that is found once more."""
        halves = math.log2(max(self.steps / COARSE, 1))
        return len(self._coarse) + math.ceil(halves) + 1

    def strongest(self, to: Loss) -> tuple[int, bool]:
        """The last accepted position, and whether a stronger one is not accepted.

        Where none is accepted, the position that loses least.
        """
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
        return self._between(good[-1], beyond[0], to.accepts), True

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

    def weakest(self, accepted: Callable[[Point], bool]) -> tuple[int, bool]:
        """The first accepted position, and whether there is one; else the strongest."""
        before = None
        for each in self._coarse:
            if accepted(self.read(each)):
                return (each if before is None else self._between(each, before, accepted)), True
            before = each
        return self.steps, False

    @property
    def _coarse(self) -> list[int]:
        """A few positions to begin with, ascending.

        A weak setting may be worse than a stronger one: the 2015 method loses every record at a
        radius that reaches nobody.
        """
        return sorted({round(self.steps * part / COARSE) for part in range(COARSE + 1)})

    def _between(self, good: int, bad: int, accepted: Callable[[Point], bool]) -> int:
        """The accepted position next to one that is not, by halves."""
        while abs(good - bad) > 1:
            middle = (good + bad) // 2
            if accepted(self.read(middle)):
                good = middle
            else:
                bad = middle
        return good
