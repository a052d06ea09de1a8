"""Match methods: each is read at the same loss, so that the rest can be compared.

A method with coarse steps of strength has no setting with that loss. Its readings are those of
the two neighboring steps, linearly between their sorted releases.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, get_args

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.masking import (
    METHODS,
    SHORT_NAMES,
    LeverRange,
    at_levers,
    fixed_options,
    in_present_names,
    no_method,
)
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import UNRELATED, Reading
from rwn_core.neighbors.kernel import Shape
from rwn_core.parallel.threads import Progress
from rwn_core.tuning.evaluate import Plan, PreparedTables, evaluate, read_all
from rwn_core.tuning.goal import sign
from rwn_core.tuning.point import SPACE, Point, Setting, Spread, short_setting
from rwn_core.tuning.policy import Policy, refuse_percentage
from rwn_core.tuning.slice_presets import PRESETS, preset_slices
from rwn_core.tuning.strength import TURN, edge

COARSE = 10  # parts of a lever, of which the search begins with the ends
PICTURES = ("correlation", "regression", "marginals")
"""What is read of one release of each setting that is found, with all that its chart draws."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedLoss:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """One method, tuned by its strength."""

    # the setting with what the plan's measures read: the strongest that loses no more than is
    # accepted, or the weakest that keeps a policy
    point: Point
    # whether the strength could be chosen: not where every setting that was tried loses more than
    # is accepted or the strongest one less, or where no setting keeps the policy
    reached: bool
    beyond: Point | None = None  # the next step of the strength, which loses more than is accepted
    # how far the accepted loss lies from the setting towards that step, from 0 to 1
    share: float = 0.0
    slices: str = ""  # preset of the slices; empty for the table's own
    # the settings that the search read, from the weakest to the strongest, with what is matched and
    # the measures that were asked for along the strength
    path: tuple[Point, ...] = ()
    # what `PICTURES` read of the first release of the setting
    pictures: Mapping[str, Reading | NotApplicable] = field(default_factory=dict, repr=False)

    @property
    def method(self) -> str:
        """Key of the candidate."""
        return candidate(self.point.setting.params, self.slices)

    @property
    def words(self) -> str:
        """The setting, or the two steps between which the readings lie, after the method's title.

        >>> from rwn_core.masking import Microaggregation
        >>> near, far = (
        ...     Point(setting=Setting(params=Microaggregation(k=k)), spreads={}) for k in (2, 3)
        ... )
        >>> Matched(point=near, reached=True, beyond=far, share=0.5).words
        'k between 2 and 3'
        """
        params = self.point.setting.params
        words = short_setting(self.point.setting).removeprefix(f"{params.title} · ")
        if self.beyond is None:
            return words
        near, far = (
            getattr(each.setting.params, params.strength) for each in (self.point, self.beyond)
        )
        short = SHORT_NAMES.get(params.strength, params.strength)
        return words.replace(f"{short}{SPACE}{near:g}", f"{short} between {near:g} and {far:g}", 1)

    @property
    def at_loss(self) -> Point:
        """Return the setting with its readings at the loss that is accepted, which are compared."""
        if self.beyond is None:
            return self.point
        released = (1 - self.share) * self.point.released + self.share * self.beyond.released
        spreads = {
            key: between(spread, self.beyond.spreads[key], self.share)
            for key, spread in self.point.spreads.items()
        }
        return replace(self.point, spreads=spreads, shown=(released,))


def between(one: Spread, other: Spread, share: float) -> Spread:
    """Readings at a share of the way from one setting to another, release by sorted release.

    >>> one = Spread(measure="correlation", values=(0.1, 0.3))
    >>> between(one, Spread(measure="correlation", values=(0.5, 0.3)), 0.25).values
    (0.15, 0.35)
    """
    if not (one.values and other.values):
        return replace(one, values=(), upper=(), reason=one.reason or other.reason)
    bound = one.is_bound or other.is_bound
    known = all(each.upper or not each.is_bound for each in (one, other))
    upper = _mixed(one.upper or one.values, other.upper or other.values, share)
    return replace(
        one,
        values=_mixed(one.values, other.values, share),
        is_bound=bound,
        upper=upper if bound and known else (),
        by=one.by or other.by,
    )


def _mixed(one: Sequence[float], other: Sequence[float], share: float) -> tuple[float, ...]:
    pairs = zip(sorted(one), sorted(other), strict=True)
    return tuple(round((1 - share) * a + share * b, 12) for a, b in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmatched:
    """A method that cannot mask the table."""

    method: str  # key of the candidate
    reason: str  # why, in one sentence


def candidate(params: Any, slices: str = "") -> str:
    """Return the key of a method with its kernel, its balance and its preset of slices.

    >>> from rwn_core.masking import SoftRWN
    >>> candidate(SoftRWN(kernel="exponential", balance=1.0), "whole")
    'soft_rwn exponential balanced whole'
    """
    kernel = fixed_options(params).get("kernel", "")
    balance = "balanced" if getattr(params, "balance", 0.0) else ""
    return " ".join(filter(None, (str(params.method), kernel, balance, slices)))


def parse_candidate(key: str) -> tuple[Any, str]:
    """Return the parameters of a key, with neutral levers, and its preset of slices."""
    method, *words = key.split() or [""]
    if method not in METHODS:
        raise ParameterError(no_method(method))
    slices = next((word for word in words if word in PRESETS), "")
    kernel = next((word for word in words if word in get_args(Shape)), "")
    if set(words) - {slices, kernel, "balanced"}:
        raise ParameterError(
            f"There is no candidate {key}; known slices are: {', '.join(PRESETS)}."
        )
    given: dict[str, Any] = {"kernel": kernel} if kernel else {}
    given |= {"balance": 1.0} if "balanced" in words else {}
    method, given = in_present_names(method, given)
    return METHODS[method](**{**neutral_levers(METHODS[method]), **given}), slices


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

    Attributes
    ----------
    known : dict of int to Point
        What was read, by position.
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
        # a few positions to begin with, ascending
        self._coarse = sorted({round(self.steps * part / COARSE) for part in range(COARSE + 1)})
        self._microdata, self._plan, self._progress = microdata, plan, progress
        ends = [self._setting(position) for position in (0, self.steps)]
        self._tables = PreparedTables(microdata, ends, metrics=1)
        self.known: dict[int, Point] = {}

    def final(
        self, position: int, plan: Plan, pictures: Sequence[str]
    ) -> tuple[Point, Mapping[str, Reading | NotApplicable]]:
        """All that a plan reads at a position, and some measures of its first release."""
        setting = self._setting(position)
        point = evaluate(self._tables, setting, plan.keys, plan.measures)
        first = self._tables.compared(setting, plan.seed) if pictures else None
        return point, {} if first is None else read_all(first, pictures)

    def _setting(self, position: int) -> Setting:
        number = round(self._range.low + position * self._range.step, 10)
        moved = replace(self._start, params=at_levers(self._params, {self._strength: number}))
        return moved.resolved(self._microdata)

    def read(self, position: int) -> Point:
        """Read the measures at a position of the strength."""
        if position not in self.known:
            self._add(position, self._plan.measures)
        return self.known[position]

    def _add(self, position: int, measures: Sequence[str]) -> Point:
        """Read more measures at a position."""
        setting = self._setting(position)
        point = evaluate(self._tables, setting, self._plan.keys, measures)
        before = self.known.get(position)
        if before is not None:
            spreads = {**before.spreads, **point.spreads}
            point = replace(point, spreads=spreads, seconds=before.seconds + point.seconds)
        self.known[position] = point
        # about how many positions are read, and the one that is found once more
        expected = len(self._coarse) + math.ceil(math.log2(max(self.steps / COARSE, 1))) + 1
        self._progress(min(len(self.known) / expected, 0.95))
        return point

    def keeps(self, position: int, policy: Policy) -> bool:
        """True if a position meets all limits; quick ones are read first."""
        others = [key for key in self._plan.measures if key not in policy.measures]
        if others:
            self._add(position, others)
        for limit in sorted(policy.limits, key=lambda each: TURN.get(each.measure, len(TURN))):
            point = self._add(position, [limit.measure])
            if not Policy(limits=(limit,)).judge(point).kept:
                return False
        return True

    def strongest(self, to: MatchedLoss) -> tuple[int, bool]:
        """The last accepted position, and whether a stronger one is not accepted."""
        better = sign(to.measure)

        def accepted() -> list[int]:
            return [each for each in sorted(self.known) if to.accepts(self.known[each])]

        def least() -> int:
            """The position read that loses least; the weakest of equals."""
            medians = {at: self.known[at].median(to.measure) for at in sorted(self.known)}
            losses = {at: math.inf if m is None else better * m for at, m in medians.items()}
            return min(losses, key=losses.__getitem__)

        for each in self._coarse:
            self.read(each)
        # around the one that loses least an accepted one is looked for, by halves
        step = max(self.steps // COARSE, 1)
        while step > 1 and not accepted():
            step = (step + 1) // 2
            middle = least()
            for each in (middle - step, middle + step):
                if 0 <= each <= self.steps:
                    self.read(each)
        good = accepted()
        if not good:
            return least(), False
        beyond = [each for each in sorted(self.known) if each > good[-1]]
        if not beyond:
            return good[-1], False
        return edge(good[-1], beyond[0], lambda at: to.accepts(self.read(at))), True

    def weakest(self, policy: Policy) -> tuple[int, bool]:
        """The first position that keeps a policy, and whether there is one; else the strongest."""

        def meets(position: int) -> bool:
            return self.keeps(position, policy)

        before = None
        for each in self._coarse:
            if meets(each):
                return (each if before is None else edge(each, before, meets)), True
            before = each
        return self.steps, False


def match(
    microdata: Microdata,
    methods: Sequence[str | Any],
    to: MatchedLoss | Policy,
    *,
    plan: Plan,
    along: Sequence[str] = (),
    progress: Progress | None = None,
) -> list[Matched | Unmatched]:
    """Tune methods to one loss or policy."""
    # A method is a key such as "soft_rwn balanced whole", or parameters with their options.
    starts = [parse_candidate(key) if isinstance(key, str) else (key, "") for key in methods]
    # refuses what says nothing of this table
    if isinstance(to, Policy):
        for measure, why in to.judgeable(microdata)[1].items():
            raise ParameterError(f"{MEASURES[measure].title}: {why}")
    elif (about := MEASURES[to.measure]).side == "utility":
        end = about.ends(Comparison(original=microdata, masked=microdata)).get(UNRELATED)
        if end is not None and to.allows(end):
            raise ParameterError(
                f"{about.title} at worst {to.value:.3g} is an empty aim: a file without any "
                f"relation reads {end:.3g}. Choose a stricter value."
            )
    measures = to.measures if isinstance(to, Policy) else (to.measure,)
    tried = replace(plan, measures=tuple(dict.fromkeys((*measures, *along))))
    found: list[Matched | Unmatched] = []
    tried_before: list[Setting] = []
    for number, (params, slices) in enumerate(starts):

        def tell(share: float, number: int = number) -> None:
            if progress is not None:
                progress((number + share) / len(methods))

        try:
            together = preset_slices(microdata, slices) if slices else None
            start = Setting(params=params, slices=together).resolved(microdata)
            if start in tried_before:
                raise ParameterError("Its slices are those of a method above.")
            tried_before.append(start)
            matched = _tuned(StrengthSearch(microdata, start, tried, tell), to, plan)
            found.append(replace(matched, slices=slices))
        except ParameterError as refusal:
            found.append(Unmatched(method=candidate(params, slices), reason=str(refusal)))
        tell(1.0)
    return found


def _tuned(search: StrengthSearch, to: MatchedLoss | Policy, plan: Plan) -> Matched:
    """The setting that is sought, with what the plan reads there and at the next step."""
    position, reached = search.weakest(to) if isinstance(to, Policy) else search.strongest(to)
    point, pictures = search.final(position, plan, PICTURES)
    path = tuple(search.known[at] for at in sorted(search.known))  # weakest first
    kept = reached and isinstance(to, Policy)
    tuned = Matched(point=point, reached=kept, path=path, pictures=pictures)
    if isinstance(to, Policy) or not reached:
        return tuned
    beyond, _ = search.final(position + 1, plan, ())
    near, far = (each.median(to.measure) for each in (point, beyond))
    if near is None or far is None:
        return tuned  # nothing is read at the next step: no loss lies between
    return replace(tuned, reached=True, beyond=beyond, share=(to.value - near) / (far - near))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedComparison:
    """Two methods, measure by measure."""

    # one, other: keys of the methods
    one: str
    other: str
    # better, worse: measures on which every end of where one more release of the first falls is
    # better, or worse, than every end of the other's
    better: tuple[str, ...]
    worse: tuple[str, ...]
    open: tuple[str, ...]  # measures that both have an answer to and that say neither


def compare_pair(one: Matched, other: Matched, measures: Sequence[str]) -> PairedComparison:
    """Hold one method against another."""
    better, worse, undecided = [], [], []
    for key in measures:
        mine, others = one.at_loss.spreads.get(key), other.at_loss.spreads.get(key)
        if mine is None or others is None or not (mine.values and others.values):
            continue
        if MEASURES[key].better == "neutral":
            continue
        if beats(mine, others):
            better.append(key)
        elif beats(others, mine):
            worse.append(key)
        else:
            undecided.append(key)
    return PairedComparison(
        one=one.method,
        other=other.method,
        better=tuple(better),
        worse=tuple(worse),
        open=tuple(undecided),
    )


def beats(one: Spread, other: Spread) -> bool:
    """True if one is better than another beyond the intervals of one more release."""
    if one.interval is None or other.interval is None or one.is_bound:
        return False
    if sign(one.measure) > 0:
        return one.interval[1] < other.interval[0]
    return one.interval[0] > other.interval[1]


def best_methods(found: Sequence[Matched], measure: str) -> list[str]:
    """The compared methods with the best median of a measure, of two or more that have one."""
    compared = {each.method: each.at_loss.median(measure) for each in found if each.reached}
    known = {key: value for key, value in compared.items() if value is not None and isfinite(value)}
    if len(known) < 2 or MEASURES[measure].better == "neutral":
        return []
    top = min(sign(measure) * value for value in known.values())
    return [key for key, value in known.items() if sign(measure) * value == top]
