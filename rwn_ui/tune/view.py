"""The Tune page's picture, and the answers to the browser's edits that draw it anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import orjson

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, chart_marks, draw_reason, serialise, with_pins
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.errors import RWNError
from rwn_core.evaluation.draws import Ensemble
from rwn_core.measures import CHANGED, UTILITY
from rwn_core.measures.measure import Reading
from rwn_core.measures.utility.distributions import one_marginal
from rwn_core.measures.utility.regressions import REGRESSION
from rwn_core.reporting.places_on_map import POLICY
from rwn_core.tuning import SearchAnswer, Verdict
from rwn_ui.features import (
    advice,
    analysis_plan_results,
    limit_queue,
    repeated_draws,
    unchanged_categories,
)
from rwn_ui.panel.parts import measure_cards, radius_note, stamp
from rwn_ui.server.endpoint import ADDRESS
from rwn_ui.state import address
from rwn_ui.state.results import (
    CurrentRelease,
    PreparedTable,
    current_release,
    is_drawn,
    memo,
    prepared,
    release_key,
)
from rwn_ui.state.session import Pin, Session
from rwn_ui.state.work import FIND, as_user, user_endpoint, user_results, user_state, user_work
from rwn_ui.tune import question, tiles
from rwn_ui.tune.tiles import Readings
from rwn_ui.widgets import live_sliders


def payload(session: Session, current: CurrentRelease) -> dict[str, Any]:
    """Everything the panel draws, as plain data."""
    limit_queue.complete_pins(session)
    readings = limit_queue.readings(session, current)
    verdict = session.policy.judge(readings, released=current.retained_share, params=current.params)
    made = repeated_draws.drawn(session)
    one, words = one_marginal(current.comparison, session.variable), session.words
    unread = limit_queue.first_pending(session, readings) is not None
    registered = session.analysis_plan.analyses
    judged = analysis_plan_results.verdicts(session, current.comparison) if registered else ()
    cards = [_map(readings, session, None if unread else verdict, made, words)]
    for card, reading in _charts(readings, session, one, made):
        if session.pins and isinstance(reading, Reading):
            key, pins = card["key"], session.pins.items()
            marks = {name: each.marks[key] for name, each in pins if key in each.marks}
            card = with_pins(card, marks, reading)
        cards.append(card)
    shown = {
        "projector": session.projector,
        "address": address.address(session),
        "table": session.name,
        "labels": {each.name: each.label for each in session.data.schema.released if each.label},
        "summary": {
            "text": f"{words} · seed {session.seed}" + repeated_draws.words(made),
            "help": radius_note(session.levers),
        },
        "changed": unchanged_categories.strip(session, readings[CHANGED], current.comparison.law),
        "verdict": tiles.verdict(session, readings, verdict)
        | {"quick": advice.panel_part(session)},
        "tiles": [
            *tiles.draw(session, current, readings, made),
            *([analysis_plan_results.tile(judged)] if judged else []),
        ],
        "cards": [serialise(chart) for chart in cards],
        "tables": [
            {"title": f"{chart['title']}: coefficients and standard errors", **chart["table"]}
            for chart in cards
            if chart["key"] == REGRESSION.key and "reason" not in chart
        ],
    }
    waits = pending(session, readings)
    more = {
        "waits": waits,
        "waiting": bool(
            unread
            or limit_queue.pin_questions(session)
            or {"advice", "start", "presets"} & {*waits}
        ),
    }
    return {"stamp": stamp(words, shown), **more, **shown}


def pending(session: Session, readings: Readings) -> list[str]:
    """Return what the picture waits for, in words that change when something arrives."""
    return [*limit_queue.pending_keys(session, readings), *advice.pending(session)]


def pin(session: Session, current: CurrentRelease) -> Pin:
    """The current setting, to be compared with later ones."""
    values, readings = {}, limit_queue.readings(session, current)
    waits = limit_queue.questions(session, current, readings)
    for key, tile in tiles.chosen(session).items():
        reading = readings[key]
        if isinstance(reading, Reading) and key not in waits:
            values[key] = tile.value(reading)
    one = one_marginal(current.comparison, session.variable)
    pinned = Pin(
        text=session.words,
        marks={
            str(card["key"]): chart_marks(card, reading)
            for card, reading in _charts(readings, session, one, repeated_draws.drawn(session))
            if isinstance(reading, Reading)
        },
        values=values,
        pending=tuple(waits),
        params=current.params,
        seed=session.seed,
        about=release_key(session),
    )
    return limit_queue.with_readings(
        pinned, {key: readings[key] for key in session.policy.measures if key not in waits}
    )


def _charts(
    readings: Readings,
    session: Session,
    shown: Reading | rwn.NotApplicable,
    made: Ensemble | None,
) -> list[tuple[Chart, Reading | rwn.NotApplicable]]:
    """Each chart after the map, with the reading that it draws."""
    bands = partial(repeated_draws.bands, made)
    cards = measure_cards("tune", readings, bands, {"distribution": (session.variable,)}, one=shown)
    return [
        (question.with_form(session, card) if card["key"] == REGRESSION.key else card, reading)
        for card, reading in cards
    ]


def _map(
    readings: Readings,
    session: Session,
    verdict: Verdict | None,
    made: Ensemble | None,
    words: str,
) -> Chart:
    """The map with this release, and whether it keeps the policy once that is known."""
    axis, loss = limit_queue.axis_measure(session), readings[UTILITY]
    height: float | rwn.NotApplicable | None = None  # of the release on the risk axis
    if verdict is not None and axis != POLICY:
        height = reading.value if isinstance(reading := readings[axis], Reading) else reading
    elif verdict is not None:
        none = rwn.NotApplicable(replace(verdict, released=None).sentence)
        height = verdict.largest if verdict.shares else none
    for why in (height, loss):
        if isinstance(why, rwn.NotApplicable):
            return draw_reason("Risk-utility map", str(why), "risk_utility_map")
    assert isinstance(loss, Reading)
    now = {"loss": loss.value, "risk": height, "text": words}
    judged = {"kept": verdict and verdict.kept, "unread": len(verdict.unread) if verdict else 0}
    points = [{"label": "now", **now, **judged}, *_pins(session, axis)]
    of_limits, limit = axis == POLICY, session.policy.limit(axis)
    called = limit_queue.axis_title(axis, session.data.n)
    return CHARTS["risk_utility_map"](
        points,
        1.0 if of_limits else None if limit is None else limit.at_most,
        small_map(session.policy, axis),
        repeated_draws.map_points(session.policy, made, axis),
        risk=called if of_limits else called.lower(),
        of_limits=of_limits,
    )


def _pins(session: Session, axis: str) -> list[dict[str, Any]]:
    """The pinned settings that have a place on the map."""
    points = []
    for name, pinned in session.pins.items():
        values, verdict = pinned.values, pinned.judged(session.policy)
        largest, met = (verdict.largest, verdict.kept) if verdict else (None, None)
        risk = largest if axis == POLICY else values.get(axis)
        unread = len(verdict.unread) if verdict and axis == POLICY else 0
        if UTILITY in values and (risk is not None or unread):
            place = {"loss": values[UTILITY], "risk": risk, "kept": met, "unread": unread}
            points.append({"label": name, **place, "text": pinned.text})
    return points


def small_map(policy: rwn.Policy, risk: str) -> list[dict[str, Any]]:
    """Settings that this user's search has read, where the axis has the limits it looked within."""
    job = user_work().jobs.get(FIND)
    answer = None if job is None or job.about[1] != policy else job.result or job.so_far
    if answer is None or risk != POLICY:
        return []
    return memo("found settings", 2).get_or_make((id(job), answer.tried), lambda: _few(answer))


def _few(answer: SearchAnswer) -> list[dict[str, Any]]:
    return [
        {
            "label": "",
            "loss": each.loss,
            "risk": each.used,
            "text": each.setting.words,
            "frontier": each.kept,
        }
        for each in answer.settings
        if each.loss is not None
    ]


def open_endpoint(session: Session) -> dict[str, str]:
    """Answer the page from now on; where and by which token it asks."""
    user = user_state()

    def answer(question: Mapping[str, Any]) -> bytes | None:
        """Return the picture after edits, or with what was waited for; None for a run to draw."""
        with as_user(user):
            if question["table"] != str(session.table_version):
                return None
            if "edits" in question:
                return on_edits(session, question["edits"])
            return on_wait(session, question["seq"])

    user_endpoint().open(answer)
    table = str(session.table_version)
    return {"address": ADDRESS, "token": user_endpoint().token, "table": table}


def on_edits(session: Session, edits: Sequence[Mapping[str, Any]]) -> bytes | None:
    """The picture after some edits; None where one is refused, or the search is shown by a run."""
    try:
        apply_edits(session, edits)
    except RWNError:  # a run says why
        return None
    table = prepared(session)
    if len(table.prepared.records) > LIVE_RECORDS and not table.is_quick(session.masking):
        return None
    return after_edits(session, table)


def after_edits(session: Session, table: PreparedTable) -> bytes:
    """The picture of the present setting, while a slider may still be dragged."""
    current = current_release(session, table=table)
    if not user_results().last.get("held"):
        limit_queue.prefetch_limits(session, current)
    return orjson.dumps(message(session, render(session, current), table))


def apply_edits(session: Session, edits: Sequence[Mapping[str, Any]]) -> None:
    """Apply edits in their order; each that is not held can be undone."""
    last = user_results().last
    for edit in edits:
        last["held"] = bool(edit.get("held"))
        live_sliders.apply_edit(session, edit)
        note_choice(session)


def note_choice(session: Session) -> None:
    """Record an undo step, unless a slider is dragged or its table is being prepared."""
    if not user_results().last.get("held") and user_work().preparation is None:
        session.record_undo()


def take(session: Session, edits: Sequence[Mapping[str, Any]]) -> None:
    """Apply edits that could not be posted; the run that follows draws them, or says why not."""
    with user_endpoint().paused():
        try:
            apply_edits(session, edits)
            if not edits and is_drawn(session):  # a wait that could not be posted
                limit_queue.follow(session)
                advice.follow(session)
        except Exception as refusal:  # a callback must not fail
            user_results().last["refusal"] = refusal


def on_wait(session: Session, seq: int) -> bytes | None:
    """The picture with what was waited for, empty until it has arrived; None after a newer one."""
    last = user_results().last
    if seq != user_endpoint().seq or "tune" not in last or not is_drawn(session):
        return None
    limit_queue.follow(session)
    limit_queue.complete_pins(session)
    advice.follow(session)
    current = current_release(session)
    if pending(session, limit_queue.readings(session, current)) == last["tune"]["waits"]:
        return b""
    return orjson.dumps(message(session, render(session, current)))


def render(session: Session, current: CurrentRelease) -> dict[str, Any]:
    """The picture of the present setting, kept for the runs that follow."""
    shown = user_results().last["tune"] = payload(session, current)
    return shown


def message(
    session: Session, shown: Mapping[str, Any], table: PreparedTable | None = None
) -> dict[str, Any]:
    """Return a picture with its number, the controls, and whether the page has to run again."""
    return {
        **shown,
        "seq": user_endpoint().next_seq(),
        "controls": live_sliders.controls(session, table or prepared(session)),
        "page": user_results().last.get("page") != page_state(session),
    }


def page_state(session: Session) -> tuple[Any, ...]:
    """Return the choices that the page shows outside of the picture and its controls."""
    setting = session.setting
    choice = session.family, setting.precision, setting.slices
    asked, coming = session.data.schema.question, user_work().preparation is not None
    return *choice, asked, session.edit_version, coming, advice.start(session) is not None
