"""Has the policy's limits read, and chooses the risk on the map's axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

import rwn_core as rwn
from rwn_core.masking import Method
from rwn_core.measures.measure import Reading
from rwn_core.tuning.policy import QUICK
from rwn_ui.background.on_demand import OnDemand, Question, ReleaseAtHand
from rwn_ui.state.prepared_table import CurrentRelease
from rwn_ui.state.results import current_release, memo, prepared, release_key, table_key
from rwn_ui.state.session import Session
from rwn_ui.state.work import own_work

LARGEST_LIVE = 1000  # records up to which the worst case keeps up with a slider
LARGEST_READ = 300_000  # cells of a table of which a quick limit is read with every move
REST = 200  # milliseconds without a move, before slower ones are asked for
SHORT_REST = 50  # the same, of a table of at most `SMALL` cells
SMALL = 100_000
SOON, LATE = 150, 2000  # milliseconds between two questions whether it has been
BESIDE = 50  # the same, where it is asked beside the runs of the page
PENDING = rwn.NotApplicable("A moment: on a table of this size it follows when the sliders rest.")
VIEW = "tune.risk"
DISCLOSURE = "disclosure"  # the job of the Risk page
POLICY = "policy"  # on the axis: the largest share of a limit that is used
AXIS = "largest share of a limit used"
CHOICES = (
    POLICY,
    *(
        key
        for key, measure in rwn.MEASURES.items()
        if measure.side == "risk" and measure.better == "lower" and measure.is_share
    ),
)
"""The policy, and the risk measures of shares of which less is better, in their order."""


Readings = Mapping[str, Reading | rwn.NotApplicable]


def measure(session: Session) -> str:
    """The measure on the axis, or the policy."""
    chosen = session.views.get(VIEW)
    return chosen if chosen in CHOICES else POLICY


def wanted(session: Session) -> tuple[str, ...]:
    """The measures that the tiles and the map need: those of the limits, and the chosen one."""
    chosen = measure(session)
    return tuple(dict.fromkeys((*session.policy.measures, *(c for c in (chosen,) if c != POLICY))))


def title(key: str, records: int) -> str:
    """What people call what an axis shows: a worst case only where every point is one."""
    return AXIS if key == POLICY else rwn.MEASURES[key].title_for(records)


def choose(session: Session) -> None:
    """Let the user choose it."""
    keys = CHOICES
    why = ""
    if session.data.n > LARGEST_LIVE or not prepared(session).prepared.masks_all_records:
        why = f" With {session.data.n:,} records slower limits follow when the sliders rest."
    session.views[VIEW] = st.selectbox(
        "Risk on the map",
        keys,
        keys.index(measure(session)),
        format_func=partial(title, records=session.data.n),
        key=f"tune.{session.generation}.risk",
        help="The policy judges by all of its limits; a single measure says nothing of the others. "
        "Worst-case linkage is an intruder who holds the original file, by the best of three "
        "attacks; distance linkage is an ordinary one." + why,
    )


def readings(session: Session, current: CurrentRelease) -> dict[str, Reading | rwn.NotApplicable]:
    """The release's readings with what the limits need among them, each read once for a setting.

    Of a large table they are `PENDING` until `follow` has had them read.
    """
    found = dict(current.readings)
    for key in wanted(session):
        shown = found.get(key)
        if shown is None:
            found[key] = _read(session, current, key)
        elif isinstance(shown, Reading):
            found[key] = rwn.MEASURES[key].between_ends(shown, current.comparison)
    return found


def _read(session: Session, current: CurrentRelease, key: str) -> Reading | rwn.NotApplicable:
    reading = _at_hand(session, current, key)
    if reading is None:
        about, brief = rwn.MEASURES[key], key in QUICK  # of which the number alone is shown here
        name = (*release_key(session), key)
        reading = memo("limits", 32).once(name, lambda: about.read(current.comparison, begin=brief))
    return reading


def _at_hand(
    session: Session, current: CurrentRelease, key: str
) -> Reading | rwn.NotApplicable | None:
    """What is known of a measure, or that it is to come; None where it is to be read here."""
    read: Reading | rwn.NotApplicable | None = memo("limits", 32).get((*release_key(session), key))
    return read or found_on_risk(session, key) or _read_beside(session, current, key)


def _read_beside(
    session: Session, current: CurrentRelease, key: str
) -> Reading | rwn.NotApplicable | None:
    """What was read in the background, or that it is to come; None where it is read at once.

    There all records are masked, also where only some of a very large table are shown.
    """
    if session.data.n <= LARGEST_LIVE and prepared(session).prepared.masks_all_records:
        return None
    if key in QUICK and _fits(session, LARGEST_READ):
        return None
    reader = own_work().on_demand
    if reader is None or reader.data is not session.data:
        return PENDING
    whole = _question(session, current, key)
    known = reader.known(whole)
    if known is not None:
        return known
    begun = reader.known(replace(whole, begin=True))
    if isinstance(begun, Reading):
        if _may_turn(begun, session.policy.limit(key)):
            return PENDING
        return replace(begun, detail={**begun.detail, "begun": True})
    return begun or PENDING


def _may_turn(begun: Reading, limit: rwn.Limit | None) -> bool:
    """Whether more than a first look at a few rows may well find a limit kept that it breaks."""
    low = 0.0 if begun.interval is None else begun.interval[0]
    if limit is None or not begun.detail.get("follows"):
        return False
    return limit.share(begun.value) > 1 >= limit.share(low)


def found_on_risk(session: Session, key: str) -> Reading | rwn.NotApplicable | None:
    """What the Risk page's job has found about this release under the table's own keys."""
    job = own_work().jobs.get(DISCLOSURE)
    if job is None or job.result is None:
        return None
    attack, release = job.about
    if release != release_key(session) or not attack.usual(session.data):
        return None
    reading: Reading | rwn.NotApplicable | None = job.result.readings.get(key)
    return reading


def _question(session: Session, current: CurrentRelease, key: str) -> Question:
    return of_release(current.params, session.seed, key)


def of_release(params: Method, seed: int, key: str) -> Question:
    """What is asked of any release."""
    return Question(measure=key, params=params, seed=seed, begin=key in QUICK)


def to_come(reading: Reading | rwn.NotApplicable) -> bool:
    """Whether a reading, or more of it, is still to come."""
    return reading is PENDING or (isinstance(reading, Reading) and "begun" in reading.detail)


def questions(session: Session, current: CurrentRelease, shown: Readings) -> dict[str, Question]:
    """What is still to be asked of this release, by the measures of which it is to come."""
    keys = [key for key in wanted(session) if key in shown and to_come(shown[key])]
    return {key: _question(session, current, key) for key in keys}


def pending(session: Session, shown: Readings) -> str | None:
    """The first measure of which something is still to come; None where all is there."""
    return next((key for key in wanted(session) if to_come(shown[key])), None)


def waits(session: Session, shown: Readings) -> list[str]:
    """What is still to come, in words that stay the same until more has arrived."""
    missing = [key for key in wanted(session) if to_come(shown[key])]
    here = [f"{'first' if shown[key] is PENDING else 'more'} {key}" for key in missing]
    return here + [f"pin {key}" for pin in session.pins.values() for key in pin.to_come]


def again(session: Session, current: CurrentRelease, shown: Readings) -> int | None:
    """Milliseconds after which to ask for what is to come; None where all is `shown`.

    First once the sliders rest, then soon, and ever less often where it takes long. What counts is
    what is shown: an answer may arrive while the page is drawn.
    """
    waits = [*questions(session, current, shown).values(), *of_pins(session)]
    if not waits:
        return None
    reader = own_work().on_demand
    rest = SHORT_REST if _fits(session, SMALL) else REST
    if reader is None:
        return rest
    waited = reader.waited(waits[0])
    if waited is None:
        begun = any(reader.known(_question(session, current, k)) for k in wanted(session))
        return SOON if begun else rest
    return round(min(max(SOON, 1000 * waited / 4), LATE))


def follow(session: Session, *, begin: bool = True) -> bool:
    """Have them read for the setting on screen, one after another in the background.

    Returns
    -------
    bool
        Whether they are; not where a process is to begin, and `begin` forbids it.
    """
    current = current_release(session)
    shown = readings(session, current)
    return _ask(session, [*questions(session, current, shown).values()], shown, begin=begin)


def begin_ahead(session: Session) -> bool:
    """Have the process, where there is one, begin with what it will be asked at rest.

    Returns
    -------
    bool
        Whether it does: only where it is soon done, as it ends what it has begun before it turns
        to a later move. What is drawn meanwhile does not wait for it, nor it for that.
    """
    if not _fits(session, LARGEST_READ):
        return False
    current = current_release(session)
    others = [key for key in wanted(session) if key not in current.measures]
    at_hand = {key: _at_hand(session, current, key) for key in others}
    shown = {key: reading for key, reading in at_hand.items() if reading is not None}
    return _ask(session, [*questions(session, current, shown).values()], shown, begin=False)


def _ask(session: Session, whole: Sequence[Question], shown: Readings, *, begin: bool) -> bool:
    """Have the process read what these ask, and what pins wait for; whether it will."""
    pinned, work = of_pins(session), own_work()
    if not whole and not pinned:
        return True
    reader = work.on_demand
    if reader is not None and reader.data is not session.data and not reader.turn_to(session.data):
        if begin:
            reader.cancel()
        reader = None
    if reader is None:
        if not begin:
            return False
        reader = work.on_demand = OnDemand.start(session.data)
    in_two = [each for each in whole if _in_two(each.measure, session.data.n)]
    quick = [each for each in whole if each.measure in QUICK]  # one broken limit is a verdict
    slow = [each for each in whole if each not in quick and each not in in_two]
    begun = [replace(each, begin=True) for each in in_two if shown[each.measure] is PENDING]
    further = [each for each in pinned if each not in whole]
    questions = (*quick, *begun, *slow, *in_two, *further)
    return reader.ask(*questions, begin=begin, drawn=partial(_drawn, session))


def _drawn(session: Session, question: Question) -> ReleaseAtHand | None:
    """The release on screen, if it is the question's, and searching for it takes long."""
    current = current_release(session)
    if (question.params, question.seed) != (current.params, session.seed):
        return None
    known = current.prepared.known
    return None if known is None else ReleaseAtHand(current.masked.masked, known)


def of_pins(session: Session) -> list[Question]:
    """What is to come of settings of this table that were put aside."""
    here = table_key(session.data)
    return [
        of_release(pin.params, pin.seed, key)
        for pin in session.pins.values()
        if pin.params is not None and pin.about[: len(here)] == here
        for key in pin.to_come
    ]


def _fits(session: Session, cells: int) -> bool:
    """Whether the table has so few cells, and all of its records are shown."""
    here = session.data.n * len(session.data.schema.released)
    return here <= cells and prepared(session).prepared.masks_all_records


def _in_two(key: str, records: int) -> bool:
    """Whether a lower bound is shown before an upper one is found."""
    about = rwn.MEASURES[key]
    return about.begin is not None and about.title_for(records) != about.title


def bound(reading: Reading | rwn.NotApplicable) -> bool:
    """Whether a reading is no worst case but a lower bound of it."""
    return isinstance(reading, Reading) and reading.detail.get("standing") == "at least"
