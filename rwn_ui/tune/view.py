"""The Tune page's picture: readings become tiles, cards and tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, chart_marks, draw_reason, serialise, with_pins
from rwn_core.evaluation.repeated_draws import Ensemble
from rwn_core.measures import UTILITY
from rwn_core.measures.measure import Reading
from rwn_core.measures.utility.marginals import one_marginal
from rwn_core.reporting.places_on_map import POLICY
from rwn_core.tuning import Verdict
from rwn_ui.features import (
    advice,
    analysis_plan_results,
    axis_choice,
    limit_queue,
    repeated_draws,
    sweep_points,
    unchanged_categories,
)
from rwn_ui.panel.parts import radius_note, stamp
from rwn_ui.state import address
from rwn_ui.state.prepared_table import MIXED, CurrentRelease
from rwn_ui.state.results import release_key
from rwn_ui.state.session import Pin, Session
from rwn_ui.tune import question, tiles
from rwn_ui.tune.tiles import Readings

CARDS = (
    "neighborhood_size",
    "nearest_distance",
    "correlation",
    "regression",
    "principal_components",
    "cooks_distance",
    "mahalanobis",
    "distribution",
)
"""The charts after the map, each of the measure of its name, the last of one variable."""


def payload(session: Session, current: CurrentRelease) -> dict[str, Any]:
    """Everything the panel draws, as plain data."""
    limit_queue.complete_pins(session)
    readings = limit_queue.readings(session, current)
    verdict = session.policy.judge_readings(readings, released=current.retained_share)
    made = repeated_draws.drawn(session)
    one = one_marginal(current.comparison, session.variable)
    unread = limit_queue.first_pending(session, readings) is not None
    cards = [
        _map(readings, session, None if unread else verdict, made),
        *_cards(readings, session, one, made),
    ]
    shown = {
        "projector": session.projector,
        "address": address.address(session),
        "table": session.name,
        "summary": {
            "text": f"{session.words} · seed {session.seed}" + repeated_draws.words(made),
            "help": radius_note(session.levers),
        },
        "changed": unchanged_categories.strip(
            session, readings["cells_changed"], current.comparison.law
        ),
        "verdict": tiles.verdict(session, readings, verdict)
        | {"quick": advice.panel_part(session)},
        "tiles": [
            *tiles.draw(session, current, readings, made),
            *_analysis_plan(session, current),
        ],
        "cards": [serialise(chart) for chart in cards],
        "tables": [
            _table(chart)
            for chart in cards
            if chart["key"] == "regression" and "reason" not in chart
        ],
    }
    waits = pending(session, readings)
    more = {
        "waits": waits,
        "waiting": bool(
            unread or limit_queue.pin_questions(session) or {"advice", "start", "curves"} & {*waits}
        ),
    }
    return {"stamp": stamp(session.words, shown), **more, **shown}


def pending(session: Session, readings: Readings) -> list[str]:
    """Return what the picture waits for, in words that change when something arrives."""
    curves = ["curves"] * tiles.lacks_curves(session)
    return [*limit_queue.pending_keys(session, readings), *advice.pending(session), *curves]


def _analysis_plan(session: Session, current: CurrentRelease) -> list[dict[str, Any]]:
    """A tile more where analyses are registered."""
    if not session.analysis_plan.analyses:
        return []
    verdicts = analysis_plan_results.verdicts(session, current.comparison)
    return [analysis_plan_results.tile(verdicts)] if verdicts else []


def pin(session: Session, current: CurrentRelease) -> Pin:
    """The current setting, to be compared with later ones."""
    values, readings = {}, limit_queue.readings(session, current)
    waits = limit_queue.questions(session, current, readings)
    for tile in tiles.chosen(session):
        reading = readings[tile.measure]
        if isinstance(reading, Reading) and tile.measure not in waits:
            values[tile.measure] = tile.value(reading)
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


def _cards(
    readings: Readings,
    session: Session,
    shown: Reading | rwn.NotApplicable,
    made: Ensemble | None,
) -> list[Chart]:
    """The charts of readings and of the variable that is `shown`, with the pins' marks."""
    cards = []
    for card, reading in _charts(readings, session, shown, made):
        key = card["key"]
        pins = {name: pin.marks[key] for name, pin in session.pins.items() if key in pin.marks}
        if pins and isinstance(reading, Reading):
            card = with_pins(card, pins, reading)
        cards.append(card)
    return cards


def _charts(
    readings: Readings,
    session: Session,
    shown: Reading | rwn.NotApplicable,
    made: Ensemble | None,
) -> list[tuple[Chart, Reading | rwn.NotApplicable]]:
    """Each chart after the map, with the reading that it draws."""
    cards: list[tuple[Chart, Reading | rwn.NotApplicable]] = []
    for key in CARDS:
        if key == "correlation" and MIXED in readings:
            key = MIXED  # correlations would leave its categories out
        measure = "marginals" if key == "distribution" else key
        reading = shown if key == "distribution" else readings[measure]
        bands = repeated_draws.bands(made, measure)
        if key == "neighborhood_size" and isinstance(reading, rwn.NotApplicable):
            continue  # the method has none
        if not isinstance(reading, Reading):
            card = draw_reason(rwn.MEASURES[measure].title, str(reading), key)
            card = question.with_form(session, card) if key == "regression" else card
        elif key == "distribution":
            card = CHARTS[key](reading, session.variable, **bands)
        else:
            card = CHARTS[key](reading, **bands)
        cards.append((card, reading))
    return cards


def _map(
    readings: Readings, session: Session, verdict: Verdict | None, made: Ensemble | None
) -> Chart:
    """The map with this release, and whether it keeps the policy once that is known."""
    axis, loss = axis_choice.measure(session), readings[UTILITY]
    height = None if verdict is None else _height(axis, readings, verdict)
    for why in (height, loss):
        if isinstance(why, rwn.NotApplicable):
            return draw_reason("Risk-utility map", str(why), "risk_utility_map")
    assert isinstance(loss, Reading)
    now = {"loss": loss.value, "risk": height, "text": session.words}
    judged = {"kept": verdict and verdict.kept, "unread": len(verdict.unread) if verdict else 0}
    points = [{"label": "now", **now, **judged}, *_pins(session, axis)]
    of_limits, limit = axis == POLICY, session.policy.limit(axis)
    called = axis_choice.title(axis, session.data.n)
    return CHARTS["risk_utility_map"](
        points,
        1.0 if of_limits else None if limit is None else limit.at_most,
        sweep_points.small_map(session.policy, axis),
        repeated_draws.map_points(session.policy, made, axis),
        risk=called if of_limits else called.lower(),
        of_limits=of_limits,
    )


def _height(axis: str, readings: Readings, verdict: Verdict) -> float | rwn.NotApplicable:
    """Position of the release on the risk axis, or the reason for none."""
    if axis != POLICY:
        reading = readings[axis]
        return reading.value if isinstance(reading, Reading) else reading
    if verdict.largest is None:
        return rwn.NotApplicable(replace(verdict, released=None).sentence)
    return verdict.largest


def _pins(session: Session, axis: str) -> list[dict[str, Any]]:
    """The pinned settings that have a place on the map."""
    points = []
    for name, pinned in session.pins.items():
        values, verdict = pinned.values, pinned.judged(session.policy)
        largest, kept = (verdict.largest, verdict.kept) if verdict else (None, None)
        risk = largest if axis == POLICY else values.get(axis)
        if UTILITY in values and risk is not None:
            place = {"loss": values[UTILITY], "risk": risk, "kept": kept}
            points.append({"label": name, **place, "text": pinned.text})
    return points


def _table(chart: Chart) -> dict[str, Any]:
    """A chart's own table, for the page below the cards."""
    return {"title": f"{chart['title']}: coefficients and standard errors", **chart["table"]}
