"""Limits of the policy: what is known, what is asked, the verdict in words, the map's axis."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.data.sizes import LIVE_RECORDS, QUICK_RECORDS
from rwn_core.evaluation.audit import ReadSoFar
from rwn_core.masking import Prepared
from rwn_core.measures import ORDINARY, USE
from rwn_core.measures.measure import BY_VALUES, Reading
from rwn_core.measures.risk.true_matches import TrueMatches
from rwn_core.measures.sentence import tenths
from rwn_core.measures.utility.use_left import UseLeft, slope_words, verdict_left
from rwn_core.parallel.kernel_cache import LIMITS, is_ready
from rwn_core.parallel.threads import thread_count
from rwn_core.reporting.places_on_map import AXIS, POLICY
from rwn_core.tuning import Verdict
from rwn_core.tuning.verdict import ONE_MORE, counted, ends_words
from rwn_ui.background.job import Job
from rwn_ui.background.measure_worker import DrawnRelease, MeasureWorker, Question
from rwn_ui.server.messages import escaped
from rwn_ui.state.results import (
    CurrentRelease,
    Key,
    Readings,
    current_release,
    memo,
    prepared,
    release_key,
)
from rwn_ui.state.session import Session

VIEW = "tune.risk"
CHOICES = (
    POLICY,
    *(
        key
        for key, measure in rwn.MEASURES.items()
        if measure.side == "risk" and measure.better == "lower" and measure.is_share
    ),
)
"""The policy, and the risk measures of shares of which less is better, in their order."""


def axis_measure(session: Session) -> str:
    """Return the measure on the axis, or `POLICY`."""
    chosen = session.views.get(VIEW)
    return chosen if chosen in CHOICES else POLICY


def wanted(session: Session) -> tuple[str, ...]:
    """Return the measures that tiles and map need: those of the limits, and the chosen one."""
    chosen = axis_measure(session)
    limits = session.policy.measures
    return limits if chosen == POLICY or chosen in limits else (*limits, chosen)


def axis_title(key: str, records: int) -> str:
    """Title of an axis: a worst case only if every point is one."""
    return AXIS if key == POLICY else rwn.MEASURES[key].title_for(records)


def choose_axis(session: Session) -> None:
    """Draw the select box."""
    live = _reads_all(session, prepared(session).prepared)
    slower = f" With {session.data.n:,} records, slower limits follow when the sliders stop."
    session.views[VIEW] = st.selectbox(
        "Risk on the map",
        CHOICES,
        CHOICES.index(axis_measure(session)),
        format_func=partial(axis_title, records=session.data.n),
        key=session.key("tune.risk"),
        help="The policy judges by all of its limits; a single measure says nothing of the others. "
        "Worst-case linkage is an intruder who holds the original file: the best of three attacks. "
        "Distance linkage is an ordinary intruder." + ("" if live else slower),
    )


PENDING = rwn.NotApplicable("Being measured; shown when the sliders stop.")
_READY: set[str] = set()  # seen to be compiled
DISCLOSURE = "disclosure"  # the job of the Risk page


def _reads_all(session: Session, drawn: Prepared) -> bool:
    """True if every limit is read with each move; not while its kernels are to be compiled."""
    return session.data.n <= QUICK_RECORDS and drawn.masks_all_records and _compiled()


def _compiled() -> bool:
    """True if the attacks are compiled on this machine; the worker compiles them."""
    if not _READY and is_ready(LIMITS):
        _READY.add(LIMITS)
    return bool(_READY)


def readings(session: Session, current: CurrentRelease) -> dict[str, Reading | rwn.NotApplicable]:
    """Readings of the release, with those of the limits.

    `PENDING` until `follow` has had one, or until a processor is left to read it.
    """
    asked = wanted(session)
    found = shown_with_ends(current, asked)
    others = [key for key in asked if key not in found]
    release = release_key(session)
    stored: dict[str, Reading | rwn.NotApplicable] = memo(session, "limits", 8).get_or_make(
        release, dict
    )
    known = _known(session, current, others, release)
    unread = [key for key, reading in known.items() if reading is None]
    stored |= _read_where_there_is_room(current, unread)
    for key, reading in known.items():
        found[key] = reading or stored.get(key, PENDING)
    return found


class Room:
    """One place for each processor: so many pictures have their limits read at once."""

    def __init__(self) -> None:
        self.taken = 0
        self._lock = threading.Lock()

    def take(self) -> bool:
        """True if a place was free; it is taken then."""
        with self._lock:
            if self.taken >= thread_count():
                return False
            self.taken += 1
            return True

    def give_back(self) -> None:
        """Give a place back."""
        with self._lock:
            self.taken -= 1


_ROOM = Room()


def _read_where_there_is_room(current: CurrentRelease, keys: Sequence[str]) -> dict[str, Any]:
    """Return readings of limits; none where as many are read as there are processors.

    So many users then see their picture at once, and the limits follow for those who rest.
    """
    found = dict[str, Any]()
    if not _ROOM.take():
        return found
    try:
        for key in keys:
            measure = rwn.MEASURES[key]
            found[key] = measure.read(current.comparison)
    finally:
        _ROOM.give_back()
    return found


def shown_with_ends(
    current: CurrentRelease, asked: Sequence[str]
) -> dict[str, Reading | rwn.NotApplicable]:
    """Readings of the picture; those that are judged know both ends of the table."""
    found = dict(current.readings)
    for key in asked:
        shown = found.get(key)
        if isinstance(shown, Reading):
            found[key] = replace(shown, ends=rwn.MEASURES[key].ends(current.comparison))
    return found


def _known(
    session: Session, current: CurrentRelease, keys: Sequence[str], release: Key
) -> dict[str, Reading | rwn.NotApplicable | None]:
    """Known readings, or `PENDING`; None if one is to be read at once."""
    found: dict[str, Reading | rwn.NotApplicable] = {}
    job = session.user.work.jobs.get(DISCLOSURE)  # of the Risk page
    if job is not None and job.result is not None:
        attack, read = job.about
        if read == release and attack.usual(session.data):  # under the table's own keys
            found |= job.result.readings
    found |= memo(session, "limits", 8).get(release) or {}
    live = _reads_all(session, current.prepared)
    known: dict[str, Reading | rwn.NotApplicable | None] = {}
    for key in keys:
        reading = found.get(key)
        if reading is None and not live:
            reading = _read_by_worker(session, current, key)
        known[key] = reading
    return known


def _read_by_worker(
    session: Session, current: CurrentRelease, key: str
) -> Reading | rwn.NotApplicable | None:
    """Reading by the worker, or `PENDING`; None if it is to be read at once."""
    # The worker masks all records, also if the page shows a sample of them.
    by_values = rwn.MEASURES[key].effort == BY_VALUES
    if by_values and _is_read_with_moves(session, current):
        return None
    reader = session.user.work.worker
    if reader is None or reader.data is not session.data:
        return PENDING
    full = release_question(session, current, key)
    known = reader.known(full)
    if known is not None:
        return known
    first = reader.known(replace(full, begin=True))
    if isinstance(first, Reading):
        return replace(first, is_first_part=True)
    return first or PENDING


def _is_read_with_moves(session: Session, current: CurrentRelease) -> bool:
    """True if what compares values is read with each move; a first picture stands before it."""
    is_first = session.user.results.tune.picture is None
    return not is_first and _shows_all(session, current) and _compiled()


def release_question(session: Session, current: CurrentRelease, key: str) -> Question:
    """Question for one measure of a release."""
    return Question(measure=key, of=(current.params, session.seed))


def is_partial(reading: Reading | rwn.NotApplicable) -> bool:
    """True if a reading, or its second part, is pending."""
    return reading is PENDING or (isinstance(reading, Reading) and reading.is_first_part)


def questions(session: Session, current: CurrentRelease, shown: Readings) -> dict[str, Question]:
    """Open questions on this release, by measure."""
    keys = [key for key in wanted(session) if key in shown and is_partial(shown[key])]
    return {key: release_question(session, current, key) for key in keys}


def pending_keys(session: Session, shown: Readings) -> list[str]:
    """Pending readings, in words that change when one arrives."""
    missing = [key for key in wanted(session) if is_partial(shown[key])]
    return [f"{'first' if shown[key] is PENDING else 'more'} {key}" for key in missing]


def follow(session: Session) -> None:
    """Queue the open questions on the current release."""
    current = current_release(session)
    if _reads_all(session, current.prepared):  # with the picture, or once there is room
        return
    shown = readings(session, current)
    _ask(session, [*questions(session, current, shown).values()], shown)


def prefetch_limits(session: Session, current: CurrentRelease) -> None:
    """Queue the limits of a small table during a move."""
    # A large table waits for rest: the worker ends a reading before it turns to a later move.
    if not _shows_all(session, current):
        return
    if _reads_all(session, current.prepared):  # with the picture
        _ask(session, [], {})
        return
    others = [key for key in wanted(session) if key not in current.measures]
    known = _known(session, current, others, release_key(session))
    shown = {key: reading for key, reading in known.items() if reading is not None}
    _ask(session, [*questions(session, current, shown).values()], shown)


def _ask(session: Session, full: Sequence[Question], shown: Readings) -> None:
    """Queue questions on the release."""
    work = session.user.work
    if not full:
        return
    reader = work.worker
    if reader is not None and reader.data is not session.data and not reader.retarget(session.data):
        reader.cancel()
        reader = None
    if reader is None:
        reader = work.worker = MeasureWorker.start(session.data)
    # of which a lower bound is shown before an upper one is found
    bounded = [
        each
        for each in full
        if (about := rwn.MEASURES[each.measure]).begin is not None
        and about.title_for(session.data.n) != about.title
    ]
    # one broken limit is a verdict
    quick = [each for each in full if rwn.MEASURES[each.measure].effort == BY_VALUES]
    slow = [each for each in full if each not in quick and each not in bounded]
    first = [replace(each, begin=True) for each in bounded if shown[each.measure] is PENDING]
    reader.ask(*quick, *first, *slow, *bounded, drawn=partial(_drawn, session))
    if work.closed:  # its user has left meanwhile
        reader.cancel()


def _drawn(session: Session, question: Question) -> DrawnRelease | None:
    """The current release if it is the question's and its search takes long."""
    current = current_release(session)
    if question.of != (current.params, session.seed):
        return None
    known = current.prepared.known
    return None if known is None else DrawnRelease(current.masked.masked, known)


def _shows_all(session: Session, current: CurrentRelease) -> bool:
    """True if the records are few enough to be shown and masked with every move."""
    return session.data.n <= LIVE_RECORDS and current.prepared.masks_all_records


def is_lower_bound(reading: Reading | rwn.NotApplicable) -> bool:
    """True if a reading is only a lower bound of the worst case."""
    return isinstance(reading, Reading) and reading.detail.standing == "at least"


def draw_verdict(
    policy: rwn.Policy,
    readings: Mapping[str, Reading | rwn.NotApplicable],
    verdict: Verdict,
    *,
    records: int,
    pending: int = 0,
    coming: str = "",
) -> dict[str, Any]:
    """The policy's verdict on a release in words; `pending` limits are still being read.

    Its worst number is also told in people, of so many records.

    `coming` says what is still to be read where all that is known is one draw.
    """
    # One broken limit is enough to know that not all are kept; nothing less is said before the end.
    linked = readings.get(ORDINARY)
    left = use_left(readings)
    common: dict[str, Any] = {
        "detail": f"An ordinary intruder links {tenths(linked.value)} of the rows"
        if isinstance(linked, Reading)
        else "",
        "price": "" if left is None else slope_words(left),
        "state": None,
        "nearest": "",
        "against": [],
        "is_final": not pending,
    }
    first, broken = verdict.first, verdict.broken
    follow = f"{counted(pending, 'limit')} to follow" if pending else ""
    if pending and not broken:
        text = verdict_left(f"Not judged yet: {follow}", left, kept=False)
        return common | {"label": "Policy", "text": text, "help": str(PENDING)}
    later = coming if verdict.mark == "one draw" else ""
    words = "; ".join(filter(None, [verdict.headline, follow, later]))
    text = verdict_left(words, left, kept=verdict.kept)
    of_limits = limits_words(policy, readings, verdict)
    of_left = "" if left is None else "What is left is of the release shown."
    shown = common | {
        "label": "Policy",
        "text": text,
        "help": " ".join(filter(None, [verdict.sentence, of_limits, of_left])),
        "is_final": not follow and not later,
    }
    if first is None:
        return shown
    title = verdict.title(first)
    limit = policy.limit(first)
    write = rwn.MEASURES[first].words
    assert limit is not None
    where = f" {ONE_MORE}" if verdict.draws > 1 else ""
    value = verdict.values[first]
    numbers = f"{write(value)}{where}, limit {write(limit.at_most)}"
    people = _in_people(first, readings.get(first), records, limit, value)
    nearest = f"{'worst' if broken else 'nearest'}: {title} {numbers}{people}"
    titles = [verdict.title(measure) for measure in broken]
    return shown | {
        "label": title,
        "nearest": nearest,
        "state": verdict_state(verdict, left),
        "broken": titles,
    }


def _in_people(
    measure: str,
    reading: Reading[Any] | rwn.NotApplicable | None,
    records: int,
    limit: rwn.Limit,
    value: float,
) -> str:
    """Return a share and its limit as numbers of people, in brackets; nothing of other numbers."""
    if not isinstance(reading, Reading) or not rwn.MEASURES[measure].unit.startswith("share of"):
        return ""
    if value < 0:
        return ""
    size, words = counted_people(reading, records)
    # whole people on the side of the limit where the share is
    found = round(value * size, 6)
    count = math.floor(found) if value <= limit.at_most else math.ceil(found)
    said = "fewer than 1" if 0 < found < 1 else f"{count:,}"
    return f" ({said} of {size:,} {words}, limit {math.floor(limit.at_most * size):,})"


def counted_people(reading: Reading[Any], records: int) -> tuple[int, str]:
    """Return of how many people, households or records a reading is a share, and their word."""
    if isinstance(reading.detail, TrueMatches):  # of those who are alone with what is known
        return int(reading.detail.people[reading.detail.worst]), reading.detail.unit_words
    if reading.people:
        return reading.people, reading.unit_words
    return records, "records"


def use_left(readings: Mapping[str, Reading | rwn.NotApplicable]) -> UseLeft | None:
    """What a release leaves of the use; None where nothing of it was read."""
    reading = readings.get(USE)
    if not isinstance(reading, Reading) or not isinstance(reading.detail, UseLeft):
        return None
    return reading.detail


def verdict_state(verdict: Verdict, left: UseLeft | None = None) -> str | None:
    """The mark of a verdict: kept only where several draws were judged by all limits and keep them.

    Where a share of the use is below a half, keeping them is "costly".
    """
    if verdict.kept and left is not None and left.below_half:
        return "costly"
    return {"broken": "over", "kept": "kept"}.get(verdict.mark)


def limits_words(
    policy: rwn.Policy, readings: Mapping[str, Reading | rwn.NotApplicable], verdict: Verdict
) -> str:
    """Every limit with its share, and the linkage by distance."""
    parts = []
    for limit in policy.limits:
        reading = readings.get(limit.measure)
        if not isinstance(reading, Reading):
            continue
        about = rwn.MEASURES[limit.measure]
        words = f"{about.reading_title(reading)} {about.words(reading.value)}"
        if verdict.draws > 1 and limit.measure in verdict.values:
            words += f", {ONE_MORE} {about.words(verdict.values[limit.measure])}"
        if is_lower_bound(reading) and reading.detail.at_most is not None:
            words += f", at most {about.words(reading.detail.at_most)}"
        if reading.baseline is not None:
            words += f" (read it against {about.words(reading.baseline)})"
        judged = limit.measure in verdict.shares
        share = verdict.uses(limit.measure) if judged else "not judged against"
        ends = ends_words(limit.measure, verdict.bounds[limit.measure].ends)
        reached = f"; {ends}" if ends else ""
        parts.append(f"{words}: {share} {about.words(limit.at_most)} ({limit.origin}){reached}.")
    linked = readings.get(ORDINARY)
    if isinstance(linked, Reading) and ORDINARY not in policy.measures:
        parts.append(f"Distance linkage, an ordinary intruder: {tenths(linked.value)}.")
    return " ".join(parts)


def draw_read(policy: rwn.Policy, job: Job) -> None:
    """Say what a judgement has read so far, while it runs and after Cancel."""
    read: ReadSoFar | None = job.so_far
    if read is not None:
        st.caption(escaped(read_words(policy, read, running=job.running)))


def read_words(policy: rwn.Policy, read: ReadSoFar, *, running: bool) -> str:
    """Write the limits that were read, and the measure that is read now."""
    limits = [
        f"{about.title_as(standing)} {about.words(value)} (limit {about.words(limit.at_most)})"
        for limit in policy.limits
        if limit.measure in read.values
        for about, (value, standing) in [(rwn.MEASURES[limit.measure], read.values[limit.measure])]
    ]
    now = f"Reading now: {read.title_now}. " if running else ""
    if not limits:
        return f"{now}No limit is read yet."
    open_ = len(policy.limits) - len(limits)
    more = f" {open_} of {len(policy.limits)} limits are open." if open_ else ""
    return f"{now}So far: {'; '.join(limits)}.{more}"
