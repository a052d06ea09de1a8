"""Draws the Risk page: what an intruder learns from the release of the current setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, serialise
from rwn_core.data.noun_of_table import spoken_for
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.evaluation.attack_list import attacks
from rwn_core.evaluation.control_group import control_group
from rwn_core.evaluation.disclosure import (
    Assumptions,
    Disclosure,
    disclose,
    disclose_release,
    with_keys,
    worst_records,
)
from rwn_core.measures import tiles_of
from rwn_core.measures.sentence import tenths
from rwn_core.measures.view import Tile
from rwn_ui.background.job import Job
from rwn_ui.background.progress import is_done
from rwn_ui.features import limit_queue, repeated_draws, watch_list
from rwn_ui.panel.parts import draw_tile, measure_cards, measure_tables
from rwn_ui.risk import sentences as risk_sentences
from rwn_ui.risk import warnings as risk_warnings
from rwn_ui.risk.form import Attack
from rwn_ui.server.messages import escaped
from rwn_ui.state.kept_picture import show_picture
from rwn_ui.state.results import Snapshot, current_release, memo, release_key, table_key
from rwn_ui.state.session import Session

KEPT = 8  # results of one user
WORST = "The ten records at highest risk (internal)"
_ANSWERS = ("record_risk", "guessing_attacks")  # the cards on whom, and on what is learned
FIRST = {
    "title": "Who could be found or learned about, and how?",
    "cards": 1 + len(_ANSWERS),
    "tables": ["Limits of the policy", WORST],
    "more": "More attacks, by kind of intruder",
}
"""What of the page answers its question; everything else opens by a click."""
INTERNAL = "Internal: for the data steward only. Single records and their values stay inside."


def draw(session: Session, attack: Attack) -> None:
    """The panel; for a large table after a job of the user's own."""
    if session.data.n <= QUICK_RECORDS:
        question = st.empty()  # what the page answers, before there is any picture
        if "risk" not in session.user.results.pictures:
            question.markdown(f"#### {FIRST['title']}")
        with st.container(key="attacking"), st.spinner("Attacking the release"):
            found = live(session, attack)
        question.empty()
        usual = attack.usual(session.data)
        shown = payload(session, attack, found, snapshot(session, found, usual=usual))
        show_picture(session, shown, key="risk")
    else:
        _by_job(session, attack)
    repeated_draws.follow_on_page(session)


def snapshot(
    session: Session, found: Disclosure, job: Job | None = None, *, usual: bool = True
) -> Snapshot:
    """What was found, and what Tune shows of the same release; of an earlier one that alone."""
    current = current_release(session)
    shown = dict[str, rwn.Reading | rwn.NotApplicable]()
    more = dict[str, Any]()
    if job is None or job.about[1] == release_key(session):
        shown = limit_queue.shown_with_ends(current, session.policy.measures)
        if usual:  # else intruders know other things
            more = repeated_draws.verdict_parts(session)
    now = Snapshot.take(session, current, {**shown, **found.readings}, **more)
    return now if job is None else replace(now, words=job.label, seed=job.about[1][-1])


def live(session: Session, attack: Attack) -> Disclosure:
    """Everything about the present release, kept for as long as the choices are recent."""
    held = memo(session, "risk", KEPT)
    data = session.data

    def unmasked() -> rwn.Comparison:
        keyed = with_keys(data, attack.keys)
        return rwn.Comparison(original=keyed, masked=keyed, sampling=attack.sampling)

    base = held.get_or_make(("unmasked", *table_key(data), attack.keys, attack.sampling), unmasked)
    base = base.with_key_sets(attack.key_sets).with_halves(attack.halves)
    exact = current_release(session).exact
    return held.get_or_make(
        (*table_key(data), session.params, session.seed, attack),
        lambda: disclose(
            base,
            exact.masked,
            exact.law,
            precision=dict(attack.precision),
            control=control_group(base, session.params, session.seed, dict(attack.precision)),
        ),
    )


def _by_job(session: Session, attack: Attack) -> None:
    work = session.user.work
    now = (attack, release_key(session))
    job = work.jobs.get(limit_queue.DISCLOSURE)
    st.caption(
        f"A table of {session.data.n:,} records takes a while: released rows are linked as a "
        "random sample, and the work runs in the background."
    )
    if st.button(
        "Find the risk of this setting",
        type="primary",
        disabled=work.busy,
        key=session.key("risk.start"),
    ):
        job = work.jobs[limit_queue.DISCLOSURE] = Job(
            session.words,
            disclose_release,
            words=f"Attacking the release at {session.words}",
            about=now,
            microdata=with_keys(session.data, attack.keys),
            params=session.params,
            seed=session.seed,
            assumed=Assumptions(
                **{part: getattr(attack, part) for part in ("sampling", "key_sets", "halves")},
                precision=dict(attack.precision),
                watch=session.watched,
            ),
        )
    so_far = partial(limit_queue.draw_read, session.policy)
    if is_done(job, session.key("risk.cancel"), below=so_far):
        if job.about != now:
            st.info(
                f"These numbers are of {escaped(job.label)} with the choices made then; find the "
                "risk anew for the present ones.",
                icon=":material/history:",
            )
        now_shown = snapshot(session, job.result, job, usual=job.about[0].usual(session.data))
        show_picture(session, payload(session, job.about[0], job.result, now_shown), key="risk")


def payload(session: Session, attack: Attack, found: Disclosure, now: Snapshot) -> dict[str, Any]:
    """Everything the panel draws, as plain data."""
    shown = now.header(f" · keys: {', '.join(attack.keys)}")
    shown["summary"]["help"] = f"{INTERNAL} {shown['summary']['help']}".rstrip()
    schema = session.data.schema
    whole = shown | {
        "stamp": f"{now.words}|{now.seed}|{attack}|{session.watched}|{session.table_version}",
        "verdict": limit_queue.draw_verdict(
            now.policy, now.readings, now.verdict, records=now.table.n, coming=now.coming
        ),
        "tiles": [_tile(now, measure, tile) for measure, tile in tiles_of("risk").items()],
        "cards": [serialise(spoken_for(schema, chart)) for chart in cards(found)],
        "tables": _tables(session, attack, found, now),
        "first": FIRST,
    }
    spoken: dict[str, Any] = spoken_for(schema, whole)
    return spoken


def _tile(now: Snapshot, measure: str, tile: Tile) -> dict[str, Any]:
    reading = now.readings[measure]
    bound = limit_queue.is_lower_bound(reading)
    label = tile.label.replace("Worst case", "At least") if bound else tile.label
    shown = draw_tile(tile, reading, label)
    if isinstance(reading, rwn.Reading):
        shown["help"] = risk_sentences.said(measure, reading, now.table.n) + (
            "" if reading.baseline is None else f" Read it against {reading.baseline:.3g}."
        )
        if (limit := now.policy.limit(measure)) is not None:
            unread = ", not judged" if measure in now.verdict.unread else ""
            most = tenths(limit.at_most) if limit.at_most else "nobody"
            shown["limit"] = f"limit: {most}{unread}"
            shown["state"] = "over" if measure in now.verdict.broken else None
    return shown


def cards(found: Disclosure) -> list[Chart]:
    """The pictures: who links how many, whom, and what is learned; then all others."""
    drawn = [card for card, _ in measure_cards("risk", found.readings, lambda _: {})]
    drawn.sort(key=lambda card: card["key"] not in _ANSWERS)
    return [CHARTS["linkage_attacks"](attacks(found.readings)), *drawn]


def _tables(
    session: Session, attack: Attack, found: Disclosure, now: Snapshot
) -> list[dict[str, Any]]:
    n = now.table.n
    worst = worst_records(found.readings)
    tables = [
        *risk_sentences.tables(found.readings, n),
        *measure_tables("tables of values", found.readings, n),
        _warnings(session, attack, found),
        risk_sentences.limits(now) if now.policy.limits else None,
        *measure_tables("tables of keys", found.readings, n),
        risk_sentences.repetition(found),
        _worst(worst) if worst else None,
        watch_list.table(session, found, live=n <= QUICK_RECORDS) if session.watched else None,
    ]
    named = []
    for table in filter(None, tables):  # the name of each file says that it stays inside
        title = table["title"].removesuffix("(internal)").lower()
        words = "".join(c if c.isalnum() else " " for c in title)
        named.append({**table, "file": f"{'-'.join(words.split())}-internal.csv"})
    return named


def _warnings(session: Session, attack: Attack, found: Disclosure) -> dict[str, Any]:
    masked = [v for v in session.data.schema.released if v.masked]
    together = {name for names in session.slices for name in names}
    separate = [v for v in masked if v.group is None and v.name not in together]
    numbers = [v.name for v in session.data.schema.released if v.kind is rwn.Kind.CONTINUOUS]
    digits = not set(numbers) <= set(dict(attack.precision))
    sentences = risk_warnings.warnings(
        session.params, found.readings, digits=digits, separate=len(separate)
    )
    return {
        "title": "What to bear in mind at this setting",
        "columns": ["", "warning"],
        "rows": [[str(number + 1), text] for number, text in enumerate(sentences)],
    }


def _worst(worst: Sequence[dict[str, float]]) -> dict[str, Any]:
    return {
        "title": WORST,
        "columns": [
            "record",
            "probability of its own row",
            "originals that could have released it",
            "own values appear",
            "SUDA score",
        ],
        "rows": [
            [
                str(int(row["record"]) + 1),
                f"{row['truth']:.3f}",
                str(int(row["candidates"])),
                _known(row["appears"], ".3f"),
                _known(row["special"], ".4g"),
            ]
            for row in worst
        ],
        "caption": f"{INTERNAL} The first column of numbers is an intruder's posterior of the true "
        "record, by the stronger of both ways of *Linked over one half*. Among equal risks those "
        "come first whose own values appear.",
    }


def _known(value: float, form: str) -> str:
    return "–" if value != value else format(value, form)
