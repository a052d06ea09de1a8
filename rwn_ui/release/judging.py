"""The second step: the release is drawn in a separate process, and that very file is judged."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

import rwn_core as rwn
from rwn_core import io
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.evaluation.audit import untouched_words
from rwn_core.io.format_limits import losses
from rwn_core.measures import ORDINARY
from rwn_core.measures.utility.use_left import UseLeft
from rwn_core.reporting.judged_release import JudgedRelease, judge_release
from rwn_core.reporting.release_record import recorded_left, shared_words
from rwn_core.tuning.several_draws import verdict_of, words_with_file
from rwn_core.tuning.verdict import ONE_MORE
from rwn_ui.background.job import Job
from rwn_ui.background.progress import taken
from rwn_ui.features import limit_queue, repeated_draws
from rwn_ui.release.steps import about, drawn, still_asked
from rwn_ui.server.messages import escaped, informed, redraw, refused, succeeded, warned
from rwn_ui.state.own_machine import on_own_machine
from rwn_ui.state.session import Session
from rwn_ui.state.work import Drawn

JOB = "release"


def draw(session: Session, is_next: bool) -> None:
    """Offer to draw a release, and wait for it."""
    last = drawn(session)
    place = st.container()
    # progress and Cancel while it is drawn; then it is kept, or says why there is none
    _take(session)
    say_of_last(session)
    if last is None:
        st.caption("The masked table on Tune is another draw and does not leave.")
    chosen = st.segmented_control(
        "Format of the file",
        [each.key for each in io.writable()],
        default=io.FORMATS[0].key,
        key=session.key("release.format"),
    )
    key_file = _key_file(session)
    place.button(
        "Draw the release and judge it" if last is None else "Draw another release",
        type="primary" if is_next else "secondary",
        key=session.key("release.draw"),
        disabled=session.user.work.busy or bool(still_asked(session)),
        on_click=_begin_judging,
        args=(session, chosen or io.FORMATS[0].key, key_file),
    )


def _take(session: Session) -> None:
    """Show how far the drawing is; take the release once it is there."""
    work = session.user.work
    so_far = partial(limit_queue.draw_read, session.policy)
    cancel = session.key("release.cancel")
    job = taken(work.jobs, JOB, cancel, below=so_far, before="No release: ")
    if job is None:
        return
    result: JudgedRelease = job.result
    number = work.draws[job.about] = work.draws.get(job.about, 0) + 1
    work.drawn = Drawn(judged=result, about=job.about, number=number)
    if result.draws is not None:
        of_setting = verdict_of(session.data, session.policy, result.draws)
        repeated_draws.note_judged(session, result.setting, of_setting, result.draws)
    redraw()  # the steps above say more now


def say_of_last(session: Session) -> None:
    """Warn of a release that is in no ledger, and say if the last one is of other choices."""
    latest = session.user.work.drawn
    if latest is None:
        return
    if latest.left and latest.entry is None:
        st.warning(
            "Files of the last release have left and it is not in the ledger: sign it before "
            "another is drawn, or add its internal record with rwn ledger add."
        )
    if drawn(session) is None:
        informed(
            "The release that was drawn last is of another setting, policy or table. Draw one of "
            "the present setting, or go back to the other."
        )


def _key_file(session: Session) -> str:
    """Folder of the stored secret on the steward's machine; empty if it is forgotten."""
    if not on_own_machine():
        return ""
    return st.text_input(
        "New file on this machine that keeps the release's secret (empty: it is forgotten)",
        key=session.key("release.keyfile"),
        placeholder="forgotten",
        help="With the secret the release can be drawn again, byte for byte: rwn reproduce. Who "
        "has it and the original can undo the release: keep it sealed, away from both.",
    ).strip()


def _begin_judging(session: Session, form: str, key_file: str) -> None:
    """Begin to draw, with a fresh secret that is forgotten or kept in a new file."""
    if key_file and not Path(key_file).is_absolute():
        refused("The key file must be given with its whole path, from the root on.")
        return
    draws = repeated_draws.judged_draws(session)
    session.user.work.jobs[JOB] = Job(
        session.words,
        judge_release,
        words="Drawing the release and reading it",
        about=about(session),
        microdata=session.data,
        params=session.masking,
        format=form,
        policy=session.policy,
        further=session.data.n <= LIVE_RECORDS,
        known=None if draws is None else draws[0],
        key_file=Path(key_file) if key_file else None,
        plan=session.analysis_plan,
        ledger=Path(session.release.ledger) if session.release.ledger else None,
    )


def show_verdict(session: Session, last: Drawn) -> None:
    """The verdict on the file, limit by limit, and on further releases."""
    judged = last.judged
    left = use_left(judged)
    words = words_with_file(judged.verdict, judged.own)
    if judged.verdict.kept and left is not None and left.below_half:
        warned(f"{words} Little is left of the use. {left.sentence}.")
    elif judged.verdict.mark == "one draw":
        informed(f"{words} {_sentence(left)}")
    elif judged.verdict.kept:
        succeeded(f"{words} {_sentence(left)}")
    elif last.approval is not None:
        warned(f"Not releasable without an exception. {words} {_sentence(left)}")
    else:
        refused(
            f"Refused. {words} {_sentence(left)} Change the setting on Tune and "
            "draw again; or somebody answers for an exception below, with name and reason."
        )
    if judged.untouched:
        st.error(escaped(f"Refused. {untouched_words(judged.untouched)}."))
    columns = ("measure", "this release", "read it against", ONE_MORE, "at most", "uses")
    rows = _limit_rows(session.policy, judged)
    limits = {name: [row[i] for row in rows] for i, name in enumerate(columns)}
    st.dataframe(limits, lazy=False, hide_index=True)
    shared = shared_words(judged.document["table"])
    st.caption(escaped(" ".join([*shared, *_about_draws(session, last)])))
    st.caption("SHA-256 of the file")
    st.code(judged.sha256, language=None, wrap_lines=True)


def _limit_rows(policy: rwn.Policy, judged: JudgedRelease) -> list[tuple[str, ...]]:
    """The limits with the shares that are used of them, and the ordinary intruder."""
    rows = list[tuple[str, ...]]()
    verdict = judged.verdict
    for limit in policy.limits:
        key = limit.measure
        write = rwn.MEASURES[key].words
        uses = f"{verdict.uses(key)} the limit" if key in verdict.shares else "not judged"
        value, baseline = _read(judged, key)
        value = write(judged.own.values[key]) if key in judged.own.values else value
        known = key in verdict.values and verdict.draws > 1
        more = write(verdict.values[key]) if known else "–"
        rows.append((verdict.title(key), value, baseline, more, write(limit.at_most), uses))
    if ORDINARY not in policy.measures:
        title = f"{rwn.MEASURES[ORDINARY].title}, an ordinary intruder"
        rows.append((title, *_read(judged, ORDINARY), "–", "no limit", ""))
    return rows


def use_left(judged: JudgedRelease) -> UseLeft | None:
    """What the file leaves of the use; None where nothing of it was read."""
    return recorded_left(judged.document)


def _sentence(left: UseLeft | None) -> str:
    """What is left, as a sentence; empty where it is not known."""
    return "" if left is None else f"{left.sentence}."


def _read(judged: JudgedRelease, measure: str) -> tuple[str, str]:
    """A measure's value and its baseline, in words."""
    reading = judged.document["readings"].get(measure, {})
    numbers = (reading.get("value"), reading.get("baseline"))
    value, baseline = ("–" if n is None else rwn.MEASURES[measure].words(n) for n in numbers)
    return value, baseline


def _about_draws(session: Session, last: Drawn) -> list[str]:
    """Notes on the draw of the release."""
    judged = last.judged
    words = [
        f"A file of {len(judged.content):,} bytes ({judged.format}), rows in secret order, drawn "
        f"with {judged.document['file']['key']}. The numbers are of this very file."
    ]
    if judged.further:
        words.append(
            f"Of {len(judged.further)} further draws of the setting, {sum(judged.further)} "
            f"keep{'s' if sum(judged.further) == 1 else ''} the policy."
        )
    elif session.data.n > LIVE_RECORDS:
        words.append("On a table of this size no further draws are read to judge the setting.")
    if last.number > 1:
        words.append(
            f"It is release {last.number} that was drawn of this setting; who draws until the "
            "limits are kept has chosen one, so the number stands in the internal record."
        )
    words += [
        f"{cells:,} texts of {name} begin as a formula of a spreadsheet would; each got an "
        "apostrophe before it."
        for name, cells in judged.guarded.items()
    ]
    return [*words, *losses(session.data, io.format_of_key(judged.format))]
