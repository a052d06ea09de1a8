"""The one door of all searches: what may change, what is wanted, and the best within its seconds.

Each way to look, a line of strengths, a descent over slices or a ranking of all kinds, has its own
file; all of them end with a `SearchAnswer`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.data.variable import NamedParameters
from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS, RWN, SoftRWN, at_levers, lever_values
from rwn_core.masking.lever import neutral_levers
from rwn_core.masking.sliced_method import NEAR_ALL_LEFT
from rwn_core.parallel import clock
from rwn_core.parallel.pace import Part
from rwn_core.parallel.threads import Progress
from rwn_core.tuning.answer import FoundSetting, SearchAnswer
from rwn_core.tuning.on_all_records import SEARCHED, on_all_records, safest_of_rwn
from rwn_core.tuning.point import Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.recommend import CONFIRMED, FINE, OFTEN_BEST, ranking, recommend, unfit
from rwn_core.tuning.seek_slices import each_kernel, kernels_refused, seek_slices
from rwn_core.tuning.slice_presets import PRESETS, SliceRanges, masked_names, preset_slices
from rwn_core.tuning.strength import MOST_LOST, TableSearch
from rwn_core.tuning.verdict import not_judged
from rwn_core.tuning.ways import WAYS, in_way, way_of

_COUNTS, _SHARES = (3, 10, 40), (0.5, 1.0)  # what is tried of a lever besides where it stands
SECONDS = 60.0
_UNKEPT = "No strength that was tried keeps every limit and leaves a tenth of each part of the use."


@dataclass(frozen=True, slots=True, kw_only=True)
class Space(NamedParameters):
    """The choices that a search may change, apart from the strength, which it always may.

    Attributes
    ----------
    setting : Setting, optional
        Where to begin; what may not change has its value here, or what is usual of a method. RWN
        with k = 5 by default.
    slices : bool
        Which variables share a donor: usual slices first, on up to 1,000 records, then steps from
        the best of them, as `seek_slices` takes.
    kernels : bool
        Even, soft and balanced neighborhoods, of the method rwn.
    methods : bool
        The method. Each is read at its best strength, also where another one loses less, so that
        methods can be compared at the same limits or at the same loss.
    levers : tuple of str
        Names of other parameters that may change, such as k and q.
    by_prediction : bool
        Slices by prediction, besides slices drawn apart. The policy must have limits on attribute
        gain and true matches.
    tie : bool
        Tied slices, of the method soft RWN, besides slices drawn apart.
    lose_at_most : float, optional
        The share of each part of the use that may be lost: the setting that uses least of the
        limits is sought. Without it the setting that keeps all limits and leaves most of the part
        that has least left.
    ranges : SliceRanges, optional
        Where slices are looked for.
    known : SearchAnswer, optional
        An earlier answer for the same policy and space that ran out of time: the search goes on
        from there.

    Examples
    --------
    >>> Space(slices=True).kernels
    False
    """

    setting: Setting | None = None
    slices: bool = False
    kernels: bool = False
    methods: bool = False
    levers: tuple[str, ...] = ()
    by_prediction: bool = False
    tie: bool = False
    lose_at_most: float | None = None
    ranges: SliceRanges | None = None
    known: SearchAnswer | None = None

    gone: ClassVar[Mapping[str, str]] = {"chain": NEAR_ALL_LEFT}

    def __post_init__(self) -> None:
        """Check the loss."""
        if self.lose_at_most is not None and not 0 <= self.lose_at_most <= 1:
            raise ParameterError("lose_at_most must be a fraction from 0 to 1, such as 0.1.")

    def starts(self, microdata: Microdata, *, own: bool = False) -> Iterator[Setting]:
        """Yield the settings that are tried along their strength, usual ones first.

        With `own` a soft kernel that is tried besides the first may copy a record's own values.
        """
        start = self.setting or Setting(params=RWN(epsilon=1.0, k=5))
        slicings, kernels = [start.slices], [start.params]
        if self.slices:
            slicings += [preset_slices(microdata, each) for each in (*OFTEN_BEST, *PRESETS)]
        if self.kernels and not kernels_refused(start.params):
            kernels += reversed(each_kernel(start.params, own=own))
        slicings, kernels = list(dict.fromkeys(slicings)), list(dict.fromkeys(kernels))
        # few changes first: where the time ends early, each kernel and the first slices were tried
        for one, two in sorted(product(range(len(slicings)), range(len(kernels))), key=sum):
            # parameters as they are, then with other values of the levers that may change
            params = kernels[two]
            values = self._tried_values(params, microdata)
            for each in product(*values.values()):
                moved = at_levers(params, dict(zip(values, each, strict=True)))
                yield replace(start, params=moved, slices=slicings[one])
        soft = start.params if start.method == SoftRWN.method else SoftRWN(own=True, balance=1.0)
        usual = [preset_slices(microdata, each) for each in PRESETS]
        for way, slices in product(self._ways(), dict.fromkeys([start.slices, *usual])):
            setting = replace(start, params=in_way(soft, way), slices=slices)
            with suppress(ParameterError):  # slices that are not to be predicted or tied
                params.check(setting.applied_to(microdata))
                yield setting
        if self.methods:
            yield from _in_other_methods(start)

    def _ways(self) -> list[str]:
        """Return the ways of related slices that are tried."""
        wanted = set()
        if self.by_prediction:
            wanted.add("by_prediction")
        if self.tie:
            wanted.add("tie")
        return [key for key, way in WAYS.items() if not wanted.isdisjoint(way.parameters)]

    def _tried_values(self, params: Any, microdata: Microdata) -> dict[str, list[float]]:
        """Return the values that are tried of each lever that may change, its own one first."""
        own = lever_values(params)
        names = [x for x in own if x in self.levers and x != params.strength]
        ranges = params.preview(microdata).ranges if names else {}
        values = {}
        for name in names:
            ends = ranges[name]
            tried = _COUNTS if ends.step == 1 else [part * ends.high for part in _SHARES]
            rounded = [round(ends.clip(x), 10) for x in tried]
            values[name] = list(dict.fromkeys([own[name], *rounded]))
        return values


def _in_other_methods(start: Setting) -> Iterator[Setting]:
    """Yield a setting in every other method, with what that method reads of it."""
    for method in METHODS.values():
        if method.method != start.method:
            params = method(**neutral_levers(method))
            slices = start.slices if method.uses_slices else None
            weights = start.weights if method.uses_weights else ()
            yield replace(start, params=params, slices=slices, weights=weights)


@takes_tables
def search(
    microdata: Microdata,
    policy: Policy | None = None,
    space: Space | None = None,
    *,
    seconds: float = SECONDS,
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
        Of processor time, after which nothing more is tried, so that a busy machine gives the same
        answer later. An answer is read on releases that chose nothing.
    workers : int, optional
        Processes of a search for slices; one for each processor by default.
    progress : callable, optional
        Called with the share done, from 0 to 1. Its method `found`, where it has one, is called
        with each answer so far that is better than those before.

    Returns
    -------
    SearchAnswer
        With all settings that were read on as many records as the best one.

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
    policy, space = policy or Policy(), space or Space(slices=True, kernels=True)
    tried = (
        SoftRWN(by_prediction=True)
        if space.by_prediction
        else space.setting and space.setting.params
    )
    if lacks := policy.unjudged(tried):
        raise ParameterError(lacks)
    if not seconds >= 0:
        raise ParameterError("seconds must be at least 0.")
    last_moment = clock.processor_seconds() + seconds
    end = last_moment - (1 - SEARCHED) * seconds
    part = Part(progress, 0.0, SEARCHED)
    gathered = dict[tuple[int, str], FoundSetting]()
    tell = part.found
    last = list[SearchAnswer]()

    def with_all(answer: SearchAnswer) -> SearchAnswer:
        """Return an answer with all settings found before on as many records.

        Where none was read on all records in time, that on a part of them is the answer.
        """
        if answer.loss is None and last:
            return replace(last[-1], so_far=False, late=answer.late, unfit=answer.unfit)
        last.append(answer)
        gathered.update({(answer.records, e.setting.key): e for e in reversed(answer.settings)})
        first = {each.setting.key for each in answer.settings[:1]}
        others = [e for (n, key), e in gathered.items() if n == answer.records and key not in first]
        others.sort(key=lambda e: e.rank if space.lose_at_most is None else (e.share, *e.rank))
        return replace(answer, settings=(*answer.settings[:1], *others))

    part.found = lambda answer: tell(with_all(answer))
    if space.known is not None:
        with_all(space.known)
    if replace(space, known=None) == Space(slices=True, kernels=True):
        return with_all(recommend(microdata, policy, within=seconds, progress=part))

    def finished(answer: SearchAnswer) -> SearchAnswer:
        """Return an answer that was read on all records, before it is reported."""
        safest = () if space.lose_at_most is not None else _safest(microdata, policy, space)
        left = last_moment - clock.processor_seconds()
        return with_all(on_all_records(microdata, policy, answer, safest, left))

    # of a large table slices are looked for on a sample
    wider = space.methods or space.levers or space.by_prediction or space.tie
    descends = space.slices and space.lose_at_most is None and not wider
    many = microdata.n > QUICK_RECORDS
    ranges = space.ranges or SliceRanges()
    start = space.setting
    answer = None
    if not (descends and many):
        answer = with_all(_along_lines(microdata, policy, space, end, part))
        start = answer.setting
        ranges = replace(ranges, starts=[answer.slices] if answer.settings else None)
    # of a small one slices are joined and variables moved where the lines took half of the time
    left = end - clock.processor_seconds()
    descends = descends and (many or len(masked_names(microdata)) > 1)
    if answer is not None and (not descends or left <= seconds / 2):
        return finished(replace(answer, late=answer.late or descends))
    ranges = replace(ranges, kernels=space.kernels and many, seconds=left)
    how: dict[str, Any] = {"setting": start, "workers": workers, "progress": part}
    found = with_all(seek_slices(microdata, policy, ranges=ranges, **how))
    if answer is None or (found.reached and found.settings[0].rank < answer.settings[0].rank):
        return finished(replace(found, tried=found.tried + (answer.tried if answer else 0)))
    return finished(replace(with_all(answer), late=answer.late or found.late))


def _safest(microdata: Microdata, policy: Policy, space: Space) -> tuple[Setting, ...]:
    """Return a setting of each way that a space has; the strongest place of each is its safest."""
    if space == Space(slices=True, kernels=True):
        slices = preset_slices(microdata, OFTEN_BEST[0])
        return tuple(safest_of_rwn(slices, policy, records=microdata.n))
    ways = dict[Any, Setting]()
    for start in space.starts(microdata, own=policy.needs_own):
        params = start.params
        apart = way_of(params) == "apart"
        alone = replace(start, slices=()) if space.slices and apart else start
        ways.setdefault((params.method, way_of(params), getattr(params, "balance", 0.0)), alone)
    return tuple(ways.values())


def _best_on_a_part(
    part: TableSearch, starts: Sequence[Setting], tell: Callable[[], None]
) -> list[Setting]:
    """Rank starts on a part of a large table; return the few to be tried on all records."""
    ranks = list[tuple[Any, int]]()
    for number, start in enumerate(starts):
        found = part.look(start)
        if found:
            ranks.append((found.rank, number))
        if part.tried:
            tell()
    return [starts[number] for _, number in sorted(ranks)[:CONFIRMED]] or list(starts[:1])


def _along_lines(
    microdata: Microdata, policy: Policy, space: Space, end: float, progress: Part
) -> SearchAnswer:
    """Try every start of a space along its strength, as far as the time goes."""
    judged, apart = policy.judgeable(microdata)
    if judged is None:
        raise ParameterError(f"No limit can be judged on this table:{not_judged(apart)}")
    starts = list(space.starts(microdata, own=policy.needs_own))
    known = space.known
    begin = clock.processor_seconds()
    first = 0 if known is None else max(known.tried - 1, 0)
    kept = starts if space.levers else starts[:1] if space.setting else []
    # a method that is refused is named, and read only where a loss is what is equal
    why = unfit(microdata, judged) if space.methods else {}
    closed = why if space.lose_at_most is None else {}
    table = TableSearch(
        microdata=microdata,
        policy=judged,
        until=end,
        places=FINE,
        within=space.lose_at_most,
        stays=frozenset(each.method for each in kept),
        looked=first,
        tried=[] if known is None else list(known.settings),
    )
    shared: dict[str, Any] = {"unread": apart, "unfit": why}

    def answer(**more: Any) -> SearchAnswer:
        best = table.best[0]
        note = f"It was read on {best.releases:,} releases."
        return table.answer(policy, judged, microdata.n, note=note, **shared, **more)

    if microdata.n > QUICK_RECORDS and known is None and not space.methods and len(starts) > 1:
        part = ranking(microdata, judged, begin, end - begin)
        part.within = table.within
        part.stays = table.stays

        def tell() -> None:
            more: dict[str, Any] = {"so_far": True, "confirmed": False, **shared}
            progress.found(part.answer(policy, judged, microdata.n, **more))

        starts = _best_on_a_part(part, starts, tell)
        times = microdata.n / part.microdata.n
        table.took = {name: each * times for name, each in part.took.items()}
    for number, start in enumerate(starts[first:], start=first + 1):
        if start.method in closed and start is not starts[0]:
            continue
        # the first is read whole, even where it keeps nothing; others where they may be better
        equal = space.methods or not any(each.kept for each in table.tried)
        table.look(start, MOST_LOST if equal else None)
        if table.tried:
            progress.found(answer(so_far=number < len(starts)))
        passed = (clock.processor_seconds() - begin) / max(end - begin, 1e-9)
        progress(min(max(number / len(starts), passed), 1.0))
    table.attack()
    if not table.tried and not table.incomplete:
        few = "No setting leaves enough of the use: there may be little to keep."
        open_ = f"No setting has an answer for each limit.{not_judged(table.unread)}"
        reason = open_ if table.unread else few
        return SearchAnswer(goal=policy, reason=reason, tried=table.looked, unread=apart)
    if space.methods and not table.incomplete:
        read = {each.setting.method for each in table.tried}
        shared["unfit"] = why | {e.method: _UNKEPT for e in starts if e.method not in {*read, *why}}
    if table.tried:
        return answer(late=table.incomplete)
    late = "Nothing was tried in time."
    n = microdata.n
    return SearchAnswer(goal=policy, reason=late, late=True, records=n, of=n, **shared)
