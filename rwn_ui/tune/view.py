"""The Tune page's picture, and the answers to the browser's edits that redraw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import orjson

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, chart_marks, draw_reason, serialise, with_pins
from rwn_core.data.noun_of_table import spoken_for
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.errors import RWNError
from rwn_core.measures import UTILITY
from rwn_core.measures.measure import Reading
from rwn_core.measures.utility.distributions import one_marginal
from rwn_core.measures.utility.regressions import REGRESSION
from rwn_core.reporting.places_on_map import POLICY
from rwn_core.reporting.readable import judged as judged_scenarios
from rwn_core.tuning import SearchAnswer, Verdict
from rwn_core.tuning.verdict import COMING
from rwn_ui.features import (
    advice,
    analysis_plan_results,
    limit_queue,
    repeated_draws,
    unchanged_categories,
)
from rwn_ui.panel.parts import measure_cards, stamp
from rwn_ui.server.endpoint import ADDRESS
from rwn_ui.state import address
from rwn_ui.state.results import (
    CurrentRelease,
    PreparedTable,
    Readings,
    Snapshot,
    current_release,
    is_drawn,
    memo,
    prepared,
)
from rwn_ui.state.session import Session
from rwn_ui.state.work import FIND
from rwn_ui.tune import question, tiles
from rwn_ui.widgets import live_sliders

Around = tuple[Any, ...] | None
"""The choices that the page has drawn around its picture; None where it has to be drawn again."""


def snapshot(session: Session, current: CurrentRelease) -> Snapshot:
    """All that a release has brought, read once."""
    readings = limit_queue.readings(session, current)
    scenarios = ((name, session.scenarios.get(name)) for name in session.compared)
    compared = {name: each for name, each in scenarios if each is not None}
    registered = session.analysis_plan.analyses
    marks = memo(session, "marks", 8)
    wanted = limit_queue.wanted(session)
    keys = {name: (each.setting and each.setting.key, each.seed) for name, each in compared.items()}
    return Snapshot.take(
        session,
        current,
        readings,
        axis=limit_queue.axis_measure(session),
        pending=tuple(key for key in wanted if limit_queue.is_partial(readings[key])),
        **repeated_draws.found(session),
        plan=analysis_plan_results.verdicts(session, current.comparison) if registered else (),
        compared=compared,
        marks={name: marks.get(key) or {} for name, key in keys.items()},
    )


def payload(session: Session, current: CurrentRelease, *, moved: bool = False) -> dict[str, Any]:
    """Everything the panel draws, as plain data; a move leaves the tables behind cards out."""
    now = snapshot(session, current)
    cards = [_map(now, small_map(session, now.axis))]
    for card, reading in _charts(now):
        if isinstance(reading, Reading):
            key = card["key"]
            marks = {name: each[key] for name, each in now.marks.items() if key in each}
            card = with_pins(card, marks, reading)
        cards.append(card)
    cards = _spoken(now.table.schema, cards)
    shown = {
        **now.header(),
        "address": address.address(session),
        "labels": {each.name: each.label for each in now.table.schema.released if each.label},
        "changed": unchanged_categories.strip(now),
        "verdict": tiles.verdict(now) | {"quick": advice.panel_part(session)},
        "tiles": [*tiles.draw(now), *([analysis_plan_results.tile(now.plan)] if now.plan else [])],
        "cards": [serialise(chart | {"table": None}) for chart in cards],
        "tables": [
            {"title": f"{chart['title']}: coefficients and standard errors", **chart["table"]}
            for chart in cards
            if chart["key"] == REGRESSION.key and "reason" not in chart
        ],
    }
    if shown["tables"]:
        shown["first"] = {"cards": len(cards), "tables": [], "more": "Numbers of the regression"}
    waits = pending(session, now.readings, coming=now.coming == COMING)
    waiting = bool(now.pending or {"advice", "start", "presets", repeated_draws.WAITS} & {*waits})
    about = {"stamp": stamp(now.words, shown), "waits": waits, "waiting": waiting}
    shown = _spoken(now.table.schema, shown)
    return {**about, **shown, **({} if moved else {"cards": list(map(serialise, cards))})}


def _spoken(schema: rwn.Schema, shown: object) -> Any:
    """Return words of the records; of persons, as most tables are, they are as they stand."""
    return shown if schema.record is None else spoken_for(schema, shown)


def pending(session: Session, readings: Readings, *, coming: bool) -> list[str]:
    """Return what the picture waits for, in words that change when something arrives.

    `coming`: whether further draws are.
    """
    waits = [*limit_queue.pending_keys(session, readings), *advice.pending(session)]
    if coming:
        waits.append(repeated_draws.WAITS)
    return waits


def follow(session: Session) -> None:
    """Have read what the picture waits for, and keep what was found."""
    limit_queue.follow(session)
    advice.follow(session)
    repeated_draws.follow_verdict(session)


def keep_marks(session: Session, current: CurrentRelease) -> None:
    """Remember what the charts show of the release, for when its scenario is compared."""
    marks = {
        str(card["key"]): chart_marks(card, reading)
        for card, reading in _charts(snapshot(session, current))
        if isinstance(reading, Reading)
    }
    memo(session, "marks", 8).keep((session.setting.key, session.seed), marks)


def _charts(now: Snapshot) -> list[tuple[Chart, Reading | rwn.NotApplicable]]:
    """Each chart after the map, with the reading that it draws."""
    bands = partial(repeated_draws.bands, now.draws)
    shown = one_marginal(now.release.comparison, now.variable)
    cards = measure_cards("tune", now.readings, bands, one=(now.variable, shown))
    return [
        (question.with_form(now.table, card) if card["key"] == REGRESSION.key else card, reading)
        for card, reading in cards
    ]


def _map(now: Snapshot, found: list[dict[str, Any]]) -> Chart:
    """The map with this release, what a search has found, and the compared scenarios."""
    axis = now.axis
    loss = now.readings[UTILITY]
    readings = now.readings
    verdict = _known_verdict(now)
    height: float | rwn.NotApplicable | None = None  # of the release on the risk axis
    if verdict is not None and axis != POLICY:
        height = reading.value if isinstance(reading := readings[axis], Reading) else reading
    elif verdict is not None:
        none = rwn.NotApplicable(replace(verdict, released=None).sentence)
        height = verdict.largest if verdict.shares else none
    for why in (height, loss):
        if isinstance(why, rwn.NotApplicable):
            return draw_reason("Risk–utility map", str(why), "risk_utility_map")
    assert isinstance(loss, Reading)
    here = {"loss": loss.value, "risk": height, "text": now.words}
    points = [{"label": "now", **here, **_place_of(verdict)}, *_compared(now)]
    of_limits = axis == POLICY
    limit = now.policy.limit(axis)
    drawn_at = None if limit is None else limit.at_most
    if of_limits:
        drawn_at = 1.0
    called = limit_queue.axis_title(axis, now.table.n)
    return CHARTS["risk_utility_map"](
        points,
        drawn_at,
        found,
        repeated_draws.map_points(now.policy, now.draws, axis),
        risk=called if of_limits else called.lower(),
        of_limits=of_limits,
    )


def _known_verdict(now: Snapshot) -> Verdict | None:
    """The verdict on the setting; None while limits of its only draw are still read."""
    return now.verdict if now.of_setting is not None or not now.pending else None


def _place_of(verdict: Verdict | None) -> dict[str, Any]:
    """Whether limits are kept, where that is known, and how many were not read."""
    if verdict is None:
        return {"kept": None, "unread": 0}
    return {
        "kept": None if verdict.mark == "one draw" else verdict.kept,
        "unread": len(verdict.unread),
    }


def _compared(now: Snapshot) -> list[dict[str, Any]]:
    """The compared scenarios that have a place on the map."""
    points = []
    for name, lost in now.before(UTILITY):
        scenario = now.compared[name]
        (verdict,) = judged_scenarios([scenario], now.policy)
        one = scenario.readings.get(now.axis, {}).get("median")
        risk = verdict.largest if now.axis == POLICY else one
        unread = len(verdict.unread) if now.axis == POLICY else 0
        if risk is not None or unread:
            place = {"loss": lost["median"], "risk": risk, "kept": verdict.kept, "unread": unread}
            words = scenario.setting.words if scenario.setting else ""
            text = f"{words}, judged at the upper end of where one more release falls"
            points.append({"label": name, **place, "text": text})
    return points


def small_map(session: Session, risk: str) -> list[dict[str, Any]]:
    """Settings that this user's search has read, where the axis has the limits it looked within."""
    job = session.user.work.jobs.get(FIND)
    if risk != POLICY or job is None or job.about[1] != session.policy:
        return []
    answer: SearchAnswer | None = job.result or job.so_far
    if answer is None:
        return []

    def places() -> list[dict[str, Any]]:
        return [
            {
                "label": "",
                "loss": each.point.median(UTILITY),
                "risk": each.used,
                "text": each.setting.words,
                "frontier": each.kept,
            }
            for each in answer.settings
            if each.point.median(UTILITY) is not None
        ]

    return memo(session, "found settings", 2).get_or_make((id(job), answer.tried), places)


def open_endpoint(session: Session, around: Around) -> dict[str, str]:
    """Answer the page from now on; where and by which token it asks."""

    def answer(question: Mapping[str, Any]) -> bytes | None:
        """Return the picture after edits, or with what was waited for; None for a run to draw."""
        if question["table"] != str(session.table_version):
            return None
        if "card" in question:
            return whole_card(session, question["card"])
        if "edits" in question:
            return on_edits(session, question["edits"], around)
        return on_wait(session, question["seq"], around)

    session.user.endpoint.open(answer)
    table = str(session.table_version)
    return {"address": ADDRESS, "token": session.user.endpoint.token, "table": table}


def whole_card(session: Session, key: str) -> bytes | None:
    """One card of the present picture with its table, for its full view."""
    cards = payload(session, current_release(session))["cards"]
    return next((card.encode() for card in cards if orjson.loads(card)["key"] == key), None)


def on_edits(
    session: Session, edits: Sequence[Mapping[str, Any]], around: Around = None
) -> bytes | None:
    """The picture after some edits; None where one is refused, or the search is shown by a run."""
    try:
        apply_edits(session, edits)
    except RWNError:  # a run says why
        return None
    table = prepared(session)
    if len(table.prepared.records) > LIVE_RECORDS and not table.is_quick(session.masking):
        return None
    return after_edits(session, table, around)


def after_edits(session: Session, table: PreparedTable, around: Around = None) -> bytes:
    """The picture of the present setting, while a slider may still be dragged."""
    repeated_draws.drop_overtaken(session)
    current = current_release(session, table=table)
    if not session.user.results.tune.held:
        limit_queue.prefetch_limits(session, current)
    return orjson.dumps(message(session, render(session, current), around, table))


def apply_edits(session: Session, edits: Sequence[Mapping[str, Any]]) -> None:
    """Apply edits in their order; each that is not held can be undone."""
    for edit in edits:
        session.user.results.note(held=bool(edit.get("held")))
        live_sliders.apply_edit(session, edit)
        note_choice(session)


def note_choice(session: Session) -> None:
    """Record an undo step, unless a slider is dragged or its table is being prepared."""
    if not session.user.results.tune.held and session.user.work.preparation is None:
        session.record_undo()


def take(session: Session, edits: Sequence[Mapping[str, Any]]) -> None:
    """Apply edits that could not be posted; the run that follows draws them, or says why not."""
    with session.user.endpoint.paused():
        try:
            apply_edits(session, edits)
            if not edits and is_drawn(session):  # a wait that could not be posted
                follow(session)
        except Exception as refusal:  # a callback must not fail
            session.user.results.note(refusal=refusal)


def on_wait(session: Session, seq: int, around: Around = None) -> bytes | None:
    """The picture with what was waited for, empty until it has arrived; None after a newer one."""
    shown = session.user.results.tune.picture
    if seq != session.user.endpoint.seq or shown is None or not is_drawn(session):
        return None
    follow(session)
    current = current_release(session)
    coming = repeated_draws.are_coming(session)
    readings = limit_queue.readings(session, current)
    if pending(session, readings, coming=coming) == shown["waits"]:
        return b""
    return orjson.dumps(message(session, render(session, current), around))


def render(session: Session, current: CurrentRelease) -> dict[str, Any]:
    """The picture of the present setting, kept for the runs that follow."""
    shown = payload(session, current, moved=True)
    session.user.results.note(picture=shown)
    return shown


def message(
    session: Session,
    shown: Mapping[str, Any],
    around: Around = None,
    table: PreparedTable | None = None,
) -> dict[str, Any]:
    """Return a picture with its number, the controls, and whether the page has to run again."""
    controls = live_sliders.controls(session, table or prepared(session))
    session.user.results.note(controls=controls)
    return {
        **shown,
        "seq": session.user.endpoint.next_seq(),
        "controls": controls,
        "page": around != page_state(session),
    }


def last_message(session: Session) -> dict[str, Any]:
    """Return the last good picture with its controls; without a picture, what there is of both."""
    screen = session.user.results.tune
    return {
        **(screen.picture or {}),
        "seq": session.user.endpoint.next_seq(),
        "controls": screen.controls or {},
        "page": False,  # the page was drawn just now
    }


def page_state(session: Session) -> tuple[Any, ...]:
    """Return the choices that the page shows outside of the picture and its controls."""
    setting = session.setting
    choice = session.table_version, session.family, setting.precision, setting.slices
    coming = session.user.work.preparation is not None
    return *choice, session.edit_version, coming, advice.start(session) is not None
