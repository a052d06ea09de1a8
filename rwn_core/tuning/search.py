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
from rwn_core.masking import METHODS, RWN, Method, SoftRWN, at_levers, lever_values
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

    def _tried_values(self, params: Method, microdata: Microdata) -> dict[str, list[float]]:
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


OF_RWN = Space(slices=True, kernels=True)
"""Everything of RWN but its levers, and another method is named where it is better."""


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
    policy = policy or Policy()
    space = space or OF_RWN
    _refuse(policy, space, seconds)
    last_moment = clock.processor_seconds() + seconds
    best = BestSoFar(least_share=space.lose_at_most is not None)
    part = Part(progress, 0.0, SEARCHED)
    tell = part.found
    part.found = lambda answer: tell(best.with_others(answer))
    if space.known is not None:
        best.with_others(space.known)
    if replace(space, known=None) == OF_RWN:
        return best.with_others(recommend(microdata, policy, within=seconds, progress=part))
    looked = _Looking(
        microdata=microdata,
        policy=policy,
        space=space,
        seconds=seconds,
        end=last_moment - (1 - SEARCHED) * seconds,
        workers=workers,
        progress=part,
        best=best,
    )
    answer = looked.answer()
    # it is read on all records, before it is reported
    safest = () if space.lose_at_most is not None else _safest(microdata, policy, space)
    left = last_moment - clock.processor_seconds()
    return best.with_others(on_all_records(microdata, policy, answer, safest, left))


def _refuse(policy: Policy, space: Space, seconds: float) -> None:
    """Refuse limits that are not enough to judge what a space has, and a time below 0."""
    tried = None if space.setting is None else space.setting.params
    if space.by_prediction:
        tried = SoftRWN(by_prediction=True)
    if lacks := policy.unjudged(tried):
        raise ParameterError(lacks)
    if not seconds >= 0:
        raise ParameterError("seconds must be at least 0.")


class BestSoFar:
    """The best answer of a search, and all settings that were found on the way to it."""

    def __init__(self, *, least_share: bool) -> None:
        self.least_share = least_share  # whether the setting that uses least of the limits is best
        # by the number of records that they were read on, and the key of the setting
        self.found = dict[tuple[int, str], FoundSetting]()
        self.last: SearchAnswer | None = None

    def with_others(self, answer: SearchAnswer) -> SearchAnswer:
        """Return an answer with all settings found before on as many records.

        Where none was read on all records in time, that on a part of them is the answer.
        """
        if answer.loss is None and self.last is not None:
            return replace(self.last, so_far=False, late=answer.late, unfit=answer.unfit)
        self.last = answer
        for each in reversed(answer.settings):
            self.found[answer.records, each.setting.key] = each
        first = answer.settings[:1]
        known = {each.setting.key for each in first}
        others = [
            each
            for (records, key), each in self.found.items()
            if records == answer.records and key not in known
        ]
        others.sort(key=self._rank)
        return replace(answer, settings=(*first, *others))

    def _rank(self, found: FoundSetting) -> tuple[Any, ...]:
        """Return what settings are sorted by, the best first."""
        return (found.share, *found.rank) if self.least_share else found.rank


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looking:
    """A search along lines of strengths and by steps from slices to others."""

    microdata: Microdata
    policy: Policy
    space: Space
    seconds: float
    end: float  # processor seconds, at which nothing more is tried
    workers: int | None
    progress: Part
    best: BestSoFar

    def answer(self) -> SearchAnswer:
        """Return the best of both ways, as far as the time goes."""
        if self._steps_between_slices and self._many:
            # of a large table slices are looked for on a sample
            return self._by_steps(self.space.setting, None)
        lines = _along_lines(self.microdata, self.policy, self.space, self.end, self.progress)
        answer = self.best.with_others(lines)
        # of a small one slices are joined and variables moved where the lines took half of the time
        left = self.end - clock.processor_seconds()
        steps = self._steps_between_slices and len(masked_names(self.microdata)) > 1
        if not steps:
            return answer
        if left <= self.seconds / 2:
            return replace(answer, late=True)
        starts = [answer.slices] if answer.settings else None
        found = self._by_steps(answer.setting, starts)
        if found.reached and found.settings[0].rank < answer.settings[0].rank:
            return replace(found, tried=found.tried + answer.tried)
        return replace(self.best.with_others(answer), late=answer.late or found.late)

    @property
    def _many(self) -> bool:
        """True if settings are looked for on a part of the records first."""
        return self.microdata.n > QUICK_RECORDS

    @property
    def _steps_between_slices(self) -> bool:
        """True if nothing but slices and kernels may change, with as little lost as can be."""
        space = self.space
        wider = space.methods or space.levers or space.by_prediction or space.tie
        return bool(space.slices and space.lose_at_most is None and not wider)

    def _by_steps(self, start: Setting | None, starts: Sequence[Any] | None) -> SearchAnswer:
        """Look for slices by steps from a setting; `starts` are slices that they begin at."""
        left = self.end - clock.processor_seconds()
        own = self.space.ranges or SliceRanges()
        kernels = self.space.kernels and self._many
        ranges = replace(own, kernels=kernels, seconds=left)
        if not self._many:
            ranges = replace(ranges, starts=starts)
        found = seek_slices(
            self.microdata,
            self.policy,
            ranges=ranges,
            setting=start,
            workers=self.workers,
            progress=self.progress,
        )
        return self.best.with_others(found)


def _safest(microdata: Microdata, policy: Policy, space: Space) -> tuple[Setting, ...]:
    """Return a setting of each way that a space has; the strongest place of each is its safest."""
    if space == OF_RWN:
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
    lines = _Lines(microdata, policy, space, end, progress)
    if lines.ranks_on_a_part:
        lines.rank_on_a_part()
    lines.look()
    return lines.answer()


class _Lines:
    """The starts of a space, and what was read along the strength of each."""

    def __init__(
        self, microdata: Microdata, policy: Policy, space: Space, end: float, progress: Part
    ) -> None:
        judged, apart = policy.judgeable(microdata)
        if judged is None:
            raise ParameterError(f"No limit can be judged on this table:{not_judged(apart)}")
        self.policy = policy
        self.judged = judged
        self.space = space
        self.begin = clock.processor_seconds()
        self.end = end
        self.progress = progress
        self.starts = list(space.starts(microdata, own=policy.needs_own))
        self.first = 0  # of the starts that are looked at
        known = list[FoundSetting]()
        if space.known is not None:
            self.first = max(space.known.tried - 1, 0)
            known += space.known.settings
        # a method that is refused is named, and read only where a loss is what is equal
        self.unfit = unfit(microdata, judged) if space.methods else {}
        self.unread = apart
        self.table = TableSearch(
            microdata=microdata,
            policy=judged,
            until=end,
            places=FINE,
            within=space.lose_at_most,
            stays=frozenset(each.method for each in self._kept_starts()),
            looked=self.first,
            tried=known,
        )

    def _kept_starts(self) -> Sequence[Setting]:
        """Return the starts whose method stays in the answer, whatever else is better."""
        if self.space.levers:
            return self.starts
        return self.starts[:1] if self.space.setting else ()

    @property
    def ranks_on_a_part(self) -> bool:
        """True if several starts of a large table are ranked on some of its records first."""
        fresh = self.space.known is None and not self.space.methods
        return fresh and self.table.microdata.n > QUICK_RECORDS and len(self.starts) > 1

    def rank_on_a_part(self) -> None:
        """Leave the few starts that are best on a part of the records."""
        microdata = self.table.microdata
        part = ranking(microdata, self.judged, self.begin, self.end - self.begin)
        part.within = self.table.within
        part.stays = self.table.stays

        def tell() -> None:
            found = part.answer(
                self.policy,
                self.judged,
                microdata.n,
                so_far=True,
                confirmed=False,
                unread=self.unread,
                unfit=self.unfit,
            )
            self.progress.found(found)

        self.starts = _best_on_a_part(part, self.starts, tell)
        times = microdata.n / part.microdata.n
        self.table.guessed = {name: each * times for name, each in part.took.items()}

    def look(self) -> None:
        """Look at each start, tell what was found so far, and attack the best."""
        for number, start in enumerate(self.starts[self.first :], start=self.first + 1):
            if self._is_closed(start):
                continue
            self.table.look(start, self._most_lost)
            if self.table.tried:
                self.progress.found(self._read(so_far=number < len(self.starts)))
            passed = clock.processor_seconds() - self.begin
            share_of_time = passed / max(self.end - self.begin, 1e-9)
            self.progress(min(max(number / len(self.starts), share_of_time), 1.0))
        self.table.attack()

    def _is_closed(self, start: Setting) -> bool:
        """True if the method of a start is refused; the first one is read all the same."""
        if self.space.lose_at_most is not None or start is self.starts[0]:
            return False
        return start.method in self.unfit

    @property
    def _most_lost(self) -> float | None:
        """What a start may lose to be read whole: the first anything, others less than the best."""
        some_kept = any(each.kept for each in self.table.tried)
        return MOST_LOST if self.space.methods or not some_kept else None

    def _read(self, *, so_far: bool = False, late: bool = False) -> SearchAnswer:
        """Return what was read so far as an answer."""
        table = self.table
        answer = table.answer(
            self.policy,
            self.judged,
            table.microdata.n,
            note=f"It was read on {table.best[0].releases:,} releases.",
            so_far=so_far,
            unread=self.unread,
            unfit=self.unfit,
        )
        return replace(answer, late=late)

    def answer(self) -> SearchAnswer:
        """Return what was found, or why nothing was."""
        table = self.table
        if not table.tried and not table.incomplete:
            return self._nothing()
        if self.space.methods and not table.incomplete:
            read = {each.setting.method for each in table.tried}
            unkept = [e.method for e in self.starts if e.method not in {*read, *self.unfit}]
            self.unfit = self.unfit | dict.fromkeys(unkept, _UNKEPT)
        if table.tried:
            return self._read(late=table.incomplete)
        n = table.microdata.n
        return SearchAnswer(
            goal=self.policy,
            reason="Nothing was tried in time.",
            late=True,
            records=n,
            of=n,
            unread=self.unread,
            unfit=self.unfit,
        )

    def _nothing(self) -> SearchAnswer:
        """Say why no setting was read."""
        reason = "No setting leaves enough of the use: there may be little to keep."
        if self.table.unread:
            reason = f"No setting has an answer for each limit.{not_judged(self.table.unread)}"
        looked = self.table.looked
        return SearchAnswer(goal=self.policy, reason=reason, tried=looked, unread=self.unread)
