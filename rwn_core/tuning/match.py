"""Match methods: each is tuned to the same loss, so that the rest can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.masking import METHODS
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.ends import UNRELATED
from rwn_core.measures.measure import Reading
from rwn_core.parallel.threads import Progress
from rwn_core.tuning.evaluate_settings import Plan
from rwn_core.tuning.point import Point
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.strength_search import Loss, StrengthSearch

__all__ = ["PICTURES", "Loss", "Matched", "Refused", "match"]

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
        """Key of the method, with the kernel where that is soft."""
        return candidate(self.point.setting.params)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A method that cannot mask the table.

    Attributes
    ----------
    method : str
        Its key, with the kernel where that is soft.
    reason : str
        Why, in one sentence.
    """

    method: str
    reason: str


def candidate(params: Any) -> str:
    """Return the key of a method, with the kernel where that is soft, such as "rwn gaussian".

    >>> from rwn_core.masking import RWN
    >>> candidate(RWN(kernel="gaussian", balance=1.0))
    'rwn gaussian balanced'
    """
    if getattr(params, "kernel", "even") == "even":
        return str(params.method)
    return f"{params.method} {params.kernel}{' balanced' if params.balance else ''}"


def match(
    microdata: Microdata,
    methods: Sequence[str | Any],
    to: Loss | Policy,
    *,
    plan: Plan,
    along: Sequence[str] = (),
    progress: Progress | None = None,
) -> list[Matched | Refused]:
    """Tune methods, by key or as parameters such as a soft kernel's, to one loss or policy."""
    for key in methods:
        if isinstance(key, str) and key not in METHODS:
            raise ParameterError(f"There is no method {key}; known are: {', '.join(METHODS)}.")
    _refuse_empty(microdata, to)
    measures = to.measures if isinstance(to, Policy) else (to.measure,)
    tried = replace(plan, measures=tuple(dict.fromkeys((*measures, *along))))
    found: list[Matched | Refused] = []
    for number, key in enumerate(methods):

        def tell(share: float, number: int = number) -> None:
            if progress is not None:
                progress((number + share) / len(methods))

        try:
            found.append(_tuned(StrengthSearch(microdata, key, tried, tell), to, plan))
        except ParameterError as refusal:
            name = key if isinstance(key, str) else candidate(key)
            found.append(Refused(method=name, reason=str(refusal)))
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
    """The setting that is sought, with what the plan reads there."""
    if isinstance(to, Policy):
        position, reached = search.weakest(to)
    else:
        position, reached = search.strongest(to)
    point, pictures = search.final(position, plan, PICTURES)
    return Matched(point=point, reached=reached, path=search.path, pictures=pictures)
