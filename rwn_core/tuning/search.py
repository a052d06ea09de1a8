"""The one door of all searches: what may change, what is wanted, and the best within its seconds.

Each way to look, a line of strengths, a descent over slices or a ranking of all kinds, has its own
file; all of them end with a `SearchAnswer`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import NamedParameters
from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS, RWN
from rwn_core.masking.lever import neutral_levers
from rwn_core.parallel.threads import Progress
from rwn_core.tuning.answer import SearchAnswer, answers_to
from rwn_core.tuning.point import Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.recommend import FINE, WITHIN, recommend
from rwn_core.tuning.seek_slices import each_kernel, kernels_refused, seek_slices
from rwn_core.tuning.slice_presets import PRESETS, SliceRanges, preset_slices
from rwn_core.tuning.strength import MOST_LOST, TableSearch
from rwn_core.tuning.verdict import not_judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Space(NamedParameters):
    """Say what a search may change; the strength it always may.

    Attributes
    ----------
    setting : Setting, optional
        Where to begin; what may not change stays as it is here, or as is usual of a method. RWN
        with k = 5 by default.
    slices : bool
        Which variables share a donor.
    kernels : bool
        Even, soft and balanced neighborhoods, of the method rwn.
    methods : bool
        The method.
    lose_at_most : float, optional
        The share of the relations that may be lost: the setting that uses least of the limits is
        sought. Without it the setting that keeps all limits and loses least.
    ranges : SliceRanges, optional
        Where slices are looked for.

    Examples
    --------
    >>> Space(slices=True).kernels
    False
    """

    setting: Setting | None = None
    slices: bool = False
    kernels: bool = False
    methods: bool = False
    lose_at_most: float | None = None
    ranges: SliceRanges | None = None

    def __post_init__(self) -> None:
        """Check the loss."""
        if self.lose_at_most is not None and not 0 <= self.lose_at_most <= 1:
            raise ParameterError("lose_at_most must be a fraction from 0 to 1, such as 0.1.")

    def starts(self, microdata: Microdata) -> Iterator[Setting]:
        """Yield the settings that are tried along their strength, usual ones first."""
        start = self.setting or Setting(params=RWN(epsilon=1.0, k=5))
        slicings = [start.slices]
        if self.slices:
            slicings += [preset_slices(microdata, each) for each in PRESETS]
        soft = self.kernels and not kernels_refused(start.params)
        for params in each_kernel(start.params) if soft else (start.params,):
            for slices in dict.fromkeys(slicings):
                yield replace(start, params=params, slices=slices)
        for method in METHODS.values() if self.methods else ():
            yield replace(start, params=method(**neutral_levers(method)))


@takes_tables
def search(
    microdata: Microdata,
    policy: Policy | None = None,
    space: Space | None = None,
    *,
    seconds: float = WITHIN,
    workers: int | None = None,
    progress: Progress | None = None,
) -> SearchAnswer:
    """Find the best setting within what may change: the best so far when the time is over.

    Parameters
    ----------
    microdata : Microdata
    policy : Policy, optional
        The usual one by default.
    space : Space, optional
        What may change: by default everything of RWN, and another method is named where it is
        better, as `recommend` does.
    seconds : float
        After which nothing more is tried. An answer is read on releases that chose nothing.
    workers : int, optional
        Processes of a search for slices; one for each processor by default.
    progress : callable, optional
        Called with the share done, from 0 to 1. Its method `found`, where it has one, is called
        with each answer so far that is better than those before.

    Returns
    -------
    SearchAnswer

    Raises
    ------
    ParameterError
        No limit can be judged on this table, no variable is to be masked, or a setting is refused.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> policy = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.1),))
    >>> search(rwn.load_demo("bodyfat"), policy, Space()).kept
    True
    """
    policy, everything = policy or Policy(), Space(slices=True, kernels=True)
    space = space or everything
    if space == everything:
        return recommend(microdata, policy, within=seconds)
    if space.slices and not space.methods and space.lose_at_most is None:
        ranges = replace(space.ranges or SliceRanges(), kernels=space.kernels, seconds=seconds)
        return seek_slices(
            *(microdata, policy),
            setting=space.setting,
            ranges=ranges,
            workers=workers,
            progress=progress,
        )
    judged, apart = policy.judgeable(microdata)
    if judged is None:
        raise ParameterError(f"No limit can be judged on this table:{not_judged(apart)}")
    table = TableSearch(
        microdata=microdata,
        policy=judged,
        until=time.monotonic() + seconds,
        places=FINE,
        within=space.lose_at_most,
        stays=space.setting.method if space.setting else "",
    )
    starts, tell = list(space.starts(microdata)), answers_to(progress)
    n, late = microdata.n, "Nothing was tried in time."
    answer = SearchAnswer(goal=policy, reason=late, unread=apart, records=n, of=n)
    for number, start in enumerate(starts):
        # the first is read whole, even where it keeps nothing; others where they may be better
        table.look(start, None if any(each.kept for each in table.tried) else MOST_LOST)
        if table.best:
            best = table.best[0]
            answer = replace(
                answer,
                reason="",
                settings=tuple(table.best),
                reached=best.kept,
                confirmed=best.releases > 1,
                so_far=number + 1 < len(starts),
                tried=table.looked,
                note=f"It loses {best.lost} of the relations, on {best.releases:,} releases.",
            )
            tell(answer)
        if progress is not None:
            progress((number + 1) / len(starts))
    if not table.best and not table.late:
        reason = "No setting loses few enough relations: there may be few to keep."
        return SearchAnswer(goal=policy, reason=reason, tried=table.looked, unread=apart)
    return replace(answer, so_far=False, late=table.late)
