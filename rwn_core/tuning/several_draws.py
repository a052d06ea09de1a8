"""Several draws of a setting: what one more release uses of each limit, wherever it is judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.statistics.intervals import prediction_interval
from rwn_core.parallel import clock
from rwn_core.parallel.threads import Progress, steps, work
from rwn_core.tuning.evaluate import PreparedTables, evaluate, joined, raised, read_safely
from rwn_core.tuning.point import Point, Setting, Spread
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.verdict import RAISED, RED_TEAM, Verdict

FIRST = 1  # teaching seed of the release by which a search looks where to go
RELEASES, FEW_RELEASES = 6, 3  # that decide on a small table, and on a large one
DECISIVE = 19  # releases of a small table, of which the largest bounds one more, 9 times in 10
CLEARLY = 1.5  # times a limit
_T = TypeVar("_T")


class Late(Exception):
    """The time of a trial is over."""


Readings = Mapping[str, Reading | NotApplicable]


class Remembered(Protocol):
    """A step of a reading, done once for a release."""

    def __call__(self, about: object, name: str, do: Callable[[], _T], /) -> _T:
        """Return what was done before for this release, or do it now."""
        ...


def draws_of(records: int) -> int:
    """Return how many releases every verdict on a setting of a table rests on."""
    return RELEASES if records <= QUICK_RECORDS else FEW_RELEASES


def further_keys(count: int) -> tuple[int, ...]:
    """Return the teaching seeds of so many releases that decide: the first one has chosen.

    Of a large table the release that was read already is one of them.
    """
    first = FIRST if count < RELEASES else FIRST + 1
    return tuple(range(first, first + count))


def read_limits(
    compared: Comparison,
    policy: Policy,
    setting: Setting | None = None,
    *,
    stop: float = math.inf,
    remembered: Remembered | None = None,
    timed: Callable[[str, Callable[[], Any]], Any] = lambda name, do: do(),
) -> Readings:
    """Read the limits of a release, cheap ones first, up to one of which too much is used.

    Parameters
    ----------
    compared : Comparison
    policy : Policy
        Limits that can be judged on the table.
    setting : Setting, optional
        The resolved one that made the release: readings are then raised by what simple attacks
        achieve on it.
    stop : float
        The share of a limit after which no other one is read.
    remembered, timed : callable
        How a step is done that is remembered with the release, and one that is not.
    """
    do_once = remembered or (lambda about, name, do: compared.cached_for_release(about, do))
    read = dict[str, Reading | NotApplicable]()
    for limit in sorted(policy.limits, key=lambda each: MEASURES[each.measure].effort):
        about = MEASURES[limit.measure]
        alone = Policy(limits=(limit,))
        reading = partial(_as_far_as_needed, compared, about, alone)
        read[limit.measure] = do_once(("limit", limit), limit.measure, reading)
        if (policy.judge(read).largest or 0.0) > stop:
            return read
    if setting is None or read.keys().isdisjoint(RAISED):
        return read
    team = partial(read_safely, RED_TEAM, compared, bare=True)
    read[RED_TEAM] = do_once("simple attacks", RED_TEAM, team)
    attacked: Readings = timed("outside", partial(raised, read, compared, setting))
    return attacked


def _as_far_as_needed(
    compared: Comparison, about: Measure, alone: Policy
) -> Reading | NotApplicable:
    """Read a measure; the rest of it only where its first part does not judge its limit."""
    first = about.read(compared, begin=True, bare=True)
    if isinstance(first, NotApplicable) or alone.judge({about.key: first}).shares:
        return first  # a lower bound keeps a limit only up to its upper bound
    return about.read(compared, begin=False, bare=True)


def read_draws(
    microdata: Microdata,
    setting: Setting,
    policy: Policy,
    progress: Progress | None = None,
    *,
    until: float = math.inf,
    expected: float = 0.0,
) -> Point:
    """Draw the releases of a setting that every verdict on it rests on, and read their limits.

    They are those that a search reads of its answer, by their seeds and with simple attacks; of
    one setting they are drawn once. Of a small table more are drawn where the first few do not
    say clearly that a limit is broken.

    Parameters
    ----------
    microdata : Microdata
    setting : Setting
    policy : Policy
    progress : callable, optional
        Called with the share done, from 0 to 1.
    until, expected : float
        Processor seconds after which no draw ends, and what one is expected to take.

    Raises
    ------
    ParameterError
        The setting is refused on this table.
    Late
        The draws do not end in time; nothing is remembered of them.
    """
    setting = setting.resolved(microdata)
    judged, _ = policy.judgeable(microdata)
    if judged is None:
        return Point(setting=setting, spreads={})

    took = expected

    def in_time(keys: Sequence[int]) -> Iterator[int]:
        """Yield keys as long as the next draw ends in time."""
        nonlocal took
        for key in steps(keys):
            begin = clock.processor_seconds()
            if begin + took > until:
                raise Late
            yield key
            took = clock.processor_seconds() - begin

    def read() -> Point:
        tables = PreparedTables(microdata, [setting], metrics=1, held=1)
        limits = partial(read_limits, policy=judged, setting=setting)
        few = draws_of(microdata.n)
        now = work(progress=progress)
        with now.part(0.0, few / DECISIVE):
            keys = in_time(further_keys(few))
            first = evaluate(tables, setting, keys, judged.measures, read=limits)
        if few < RELEASES or _is_broken(judged, first):
            return first
        more = in_time(further_keys(DECISIVE)[few:])
        with now.part(few / DECISIVE, 1.0):
            return joined([first, evaluate(tables, setting, more, judged.measures, read=limits)])

    return _with_ends(microdata, microdata.cached(_key(microdata, judged, setting), read))


def _is_broken(judged: Policy, point: Point) -> bool:
    """True if a few draws say that a limit is broken: one breaks it, or one more clearly would."""
    if not all(kept_draws(judged, point)):
        return True
    return (judged.judge(point).largest or 0.0) > CLEARLY


def _with_ends(microdata: Microdata, point: Point) -> Point:
    """Add what each limit reads on the unmasked file, and where no relation is left."""
    itself = Comparison(original=microdata, masked=microdata)

    def with_its_ends(key: str, spread: Spread) -> Spread:
        return spread if spread.ends else replace(spread, ends=MEASURES[key].ends(itself))

    spreads = {key: with_its_ends(key, each) for key, each in point.spreads.items()}
    return replace(point, spreads=spreads)


def note_draws(microdata: Microdata, judged: Policy, point: Point) -> None:
    """Remember the releases of a setting that a search has read, so that none reads them again."""
    microdata.cached(_key(microdata, judged, point.setting), lambda: point)


def known_draws(microdata: Microdata, judged: Policy, setting: Setting) -> Point | None:
    """Return the draws of a setting where they were read before; None where they were not."""
    about = _key(microdata, judged, setting.resolved(microdata))
    known: Point | None = microdata.remembered(about)
    return known


def _key(microdata: Microdata, judged: Policy, setting: Setting) -> tuple[Any, ...]:
    unweighted = {variable.name: 1.0 for variable in microdata.schema.variables}
    schema = microdata.schema.with_weights(unweighted).with_slices(())
    return "several draws", schema, judged, setting


def verdict_of(microdata: Microdata, policy: Policy, point: Point) -> Verdict:
    """Judge the draws of a setting: each limit at the upper end of where one more release falls."""
    return policy.judge(_with_ends(microdata, point), policy.judgeable(microdata)[1])


@takes_tables
def judge_setting(
    microdata: Microdata,
    setting: Setting,
    policy: Policy | None = None,
    *,
    progress: Progress | None = None,
) -> Verdict:
    """Judge a setting by where one more of its releases falls, as every page and command does.

    Parameters
    ----------
    microdata : Microdata
    setting : Setting
    policy : Policy, optional
        The usual one by default.
    progress : callable, optional
        Called with the share done, from 0 to 1.

    Returns
    -------
    Verdict
        Of several releases with fixed seeds, each with the simple attacks of the red team: of up to
        1,000 records of 19, or of six that say clearly that a limit is broken; of more of three.

    Raises
    ------
    ParameterError
        The setting is refused on this table.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> weak = rwn.Setting(params=rwn.RWN(epsilon=0.0, k=2))
    >>> rwn.judge_setting(rwn.load_demo("bodyfat"), weak).headline
    'Breaks 4 of 4 limits'
    """
    policy = policy or Policy()
    return verdict_of(microdata, policy, read_draws(microdata, setting, policy, progress))


def with_file(setting: Verdict | None, file: Verdict) -> Verdict:
    """Return the verdict on a file: that on its setting, or its own where it alone breaks a limit.

    Of a setting whose further draws are not known the file's own is all there is.
    """
    alone = bool(file.broken) and setting is not None and not setting.broken
    return file if setting is None or alone else setting


def words_with_file(verdict: Verdict, file: Verdict) -> str:
    """Write the verdict on a file, and that the file itself keeps what others of its setting break.

    `verdict` is what `with_file` returned.
    """
    apart = verdict.broken and file.kept
    return f"{verdict.sentence} {file.headline}." if apart else verdict.sentence


def kept_draws(policy: Policy, point: Point) -> tuple[bool, ...]:
    """Return of each draw of a setting whether it keeps every limit."""
    return tuple(each.kept for each in draw_verdicts(policy, point))


def draw_verdicts(policy: Policy, point: Point) -> list[Verdict]:
    """Judge each draw of a setting by itself."""
    limited = [key for key in policy.measures if key in point.spreads]
    spreads = {key: point.spreads[key] for key in limited if point.spreads[key].values}
    released = point.released if point.few else None

    def judged(number: int) -> Verdict:
        one = {
            key: replace(each, values=(each.values[number],), upper=each.upper[number : number + 1])
            for key, each in spreads.items()
        }
        return policy.judge(one, released=released, params=point.setting.params)

    count = min((len(each.values) for each in spreads.values()), default=0)
    return [judged(number) for number in range(count)]


def where_one_falls(judged: Verdict, used: Sequence[float]) -> tuple[float, float]:
    """Return from where to where one more release uses its worst limit, 9 times in 10."""
    high = (judged.largest or 0.0) if judged.kept or judged.broken else math.inf
    if not math.isfinite(max(used)):
        return 0.0, high
    low, _ = prediction_interval(used, bounds=(0.0, high))
    return float(low), high
