"""Match methods: each is read at the same loss, so that the rest can be compared.

A method with coarse steps of strength has no setting with that loss. Its readings are those of
the two neighboring steps, linearly between their sorted releases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.masking import METHODS, SHORT_NAMES, no_method
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import UNRELATED, Reading
from rwn_core.parallel.threads import Progress
from rwn_core.tuning.evaluate_settings import Plan
from rwn_core.tuning.point import Point, Setting, Spread
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.short_words import SPACE, short_setting
from rwn_core.tuning.slice_presets import PRESETS, preset_slices
from rwn_core.tuning.strength_search import Loss, StrengthSearch

__all__ = ["PICTURES", "Loss", "Matched", "Refused", "match"]

PICTURES = ("correlation", "regression", "marginals")
"""What is read of one release of each setting that is found, with all that its chart draws."""


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
class Refused:
    """A method that cannot mask the table."""

    method: str  # key of the candidate
    reason: str  # why, in one sentence


def candidate(params: Any, slices: str = "") -> str:
    """Return the key of a method with its soft kernel and its preset of slices.

    >>> from rwn_core.masking import RWN
    >>> candidate(RWN(kernel="gaussian", balance=1.0), "whole")
    'rwn gaussian balanced whole'
    """
    words = [str(params.method)]
    if getattr(params, "kernel", "even") != "even":
        words += [params.kernel, *["balanced"] * bool(params.balance)]
    return " ".join([*words, slices]).rstrip()


def parse_candidate(key: str) -> tuple[Any, str]:
    """Return the parameters of a key, with neutral levers, and its preset of slices."""
    method, *words = key.split() or [""]
    if method not in METHODS:
        raise ParameterError(no_method(method))
    slices = next((word for word in words if word in PRESETS), "")
    kernel = [word for word in words if word != slices]
    if kernel:
        params = METHODS[method](kernel=kernel[0], balance=float("balanced" in kernel))
    else:
        params = METHODS[method](**neutral_levers(METHODS[method]))
    if candidate(params, slices) != key:
        raise ParameterError(
            f"There is no candidate {key}; known slices are: {', '.join(PRESETS)}."
        )
    return params, slices


def match(
    microdata: Microdata,
    methods: Sequence[str | Any],
    to: Loss | Policy,
    *,
    plan: Plan,
    along: Sequence[str] = (),
    progress: Progress | None = None,
) -> list[Matched | Refused]:
    """Tune methods to one loss or policy."""
    # A method is a key such as "rwn gaussian balanced whole", or parameters with their options.
    starts = [parse_candidate(key) if isinstance(key, str) else (key, "") for key in methods]
    _refuse_empty(microdata, to)
    measures = to.measures if isinstance(to, Policy) else (to.measure,)
    tried = replace(plan, measures=tuple(dict.fromkeys((*measures, *along))))
    found: list[Matched | Refused] = []
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
            found.append(Refused(method=candidate(params, slices), reason=str(refusal)))
        tell(1.0)
    return found


def _refuse_empty(microdata: Microdata, to: Loss | Policy) -> None:
    """Refuse what says nothing of this table."""
    if isinstance(to, Policy):
        for measure, why in to.judgeable(microdata)[1].items():
            raise ParameterError(f"{MEASURES[measure].title}: {why}")
        return
    about = MEASURES[to.measure]
    ends = about.ends(Comparison(original=microdata, masked=microdata))
    if about.side == "utility" and UNRELATED in ends and to.allows(ends[UNRELATED]):
        raise ParameterError(
            f"{about.title} at worst {to.value:.3g} is an empty aim: a file without any relation "
            f"reads {ends[UNRELATED]:.3g}. Choose a stricter value."
        )


def _tuned(search: StrengthSearch, to: Loss | Policy, plan: Plan) -> Matched:
    """The setting that is sought, with what the plan reads there and at the next step."""
    if isinstance(to, Policy):
        position, reached = search.weakest(to)
        point, pictures = search.final(position, plan, PICTURES)
        return Matched(point=point, reached=reached, path=search.path, pictures=pictures)
    position, reached = search.strongest(to)
    point, pictures = search.final(position, plan, PICTURES)
    tuned = Matched(point=point, reached=False, path=search.path, pictures=pictures)
    if not reached:
        return tuned
    beyond, _ = search.final(position + 1, plan, ())
    near, far = (each.median(to.measure) for each in (point, beyond))
    if near is None or far is None:
        return tuned  # nothing is read at the next step: no loss lies between
    return replace(tuned, reached=True, beyond=beyond, share=(to.value - near) / (far - near))
