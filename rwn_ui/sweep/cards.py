"""A sweep as pictures: the map of any two measures, the surface over two parameters."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, draw_reason
from rwn_core.data.rounding import precision_words
from rwn_core.data.schema import slices_words
from rwn_core.masking import SHORT_NAMES, lever_values
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.reporting.places_on_map import POLICY, axis, ends, map_points, place
from rwn_core.tuning import Point, Setting, Sweep
from rwn_ui.state.results import full_release, memo, release_key
from rwn_ui.state.session import Session
from rwn_ui.sweep.pick import picked


def draw_map(
    session: Session, sweep: Sweep, x: str, y: str, *, limit: float | None, along: str | None
) -> Chart:
    """The map of what is finished."""
    policy = session.policy
    return CHARTS["sweep_map"](
        map_points(policy, sweep, x, y),
        axis(x, session.data.n, risk=False),
        axis(y, session.data.n, risk=True),
        limit=limit,
        paths=[] if along is None else paths(sweep.points, along),
        marks=[
            *ends(session.policy, sweep, x, y),
            *_marks(session, x, y),
            *_chosen(session, sweep, x, y),
            _now(session, sweep, x, y),
        ],
    )


def _marks(session: Session, x: str, y: str) -> list[dict[str, Any]]:
    """The scenarios and the pinned settings."""
    found: list[tuple[str, str, float | None, float | None, bool]] = []
    for name, each in session.scenarios.items():
        if each.setting is not None and each.table == session.data.fingerprint:
            medians = {key: reading["median"] for key, reading in each.readings.items()}
            verdict = session.policy.judge(each.readings, each.unread)
            across, up = (verdict.largest if k == POLICY else medians.get(k) for k in (x, y))
            found.append((name, each.setting.words, across, up, bool(verdict.unread)))
    for name, pin in session.pins.items():
        judged = pin.judged(session.policy)
        share = judged.largest if judged else None
        across, up = (share if key == POLICY else pin.values.get(key) for key in (x, y))
        found.append((name, pin.text, across, up, bool(judged and judged.unread)))
    return [
        {"label": name, "text": text, "x": across, "y": up}
        for name, text, across, up, unread in found
        if across is not None and (up is not None or (y == POLICY and unread))
    ]


def _chosen(session: Session, sweep: Sweep, x: str, y: str) -> list[dict[str, Any]]:
    """The setting that the list below shows."""
    key = picked(session)
    return [
        {"label": "chosen", "text": p.setting.words}
        | {c: place(session.policy, p, m) for c, m in (("x", x), ("y", y))}
        for p in sweep
        if p.setting.key == key != session.setting.key
    ]


def _now(session: Session, sweep: Sweep, x: str, y: str) -> dict[str, Any]:
    """The present setting: as the sweep has it, or else the one release on the Tune page."""
    setting, policy = session.setting, session.policy
    point = next((p for p in sweep if p.setting.key == setting.key), None)
    if point is not None:
        values = {c: place(policy, point, m) for c, m in (("x", x), ("y", y))}
        return {"label": "now", "text": setting.words, **values}
    values = {c: _read_now(session, m) for c, m in (("x", x), ("y", y))}
    return {"label": "now", "text": f"{setting.words}, one release", **values}


def _read_now(session: Session, measure: str) -> float | None:
    """A measure of the release on the Tune page; None where reading it would be felt."""
    if measure == POLICY:
        return session.policy.judge(
            {key: _read_now(session, key) for key in session.policy.measures}
        ).largest
    current = full_release(session)
    reading = current.readings.get(measure)
    if reading is None and session.data.n <= LARGEST_DENSE:
        reading = memo("measures of the sweep", 32).get_or_make(
            (*release_key(session), measure),
            lambda: rwn.MEASURES[measure].read(current.comparison, bare=True),
        )
    return reading.value if isinstance(reading, rwn.Reading) else None


def paths(points: Sequence[Point], along: str) -> list[list[int]]:
    """Indices of settings that differ in one parameter alone, in its order."""
    groups: dict[str, list[tuple[Any, int]]] = defaultdict(list)
    for index, point in enumerate(points):
        value = getattr(point.setting.params, along, None)
        if isinstance(value, int | float):
            groups[_other_cards(point.setting, (along,))].append((value, index))
    return [[index for _, index in sorted(group)] for group in groups.values() if len(group) > 1]


def _other_cards(setting: Setting, without: Sequence[str]) -> str:
    """A setting's other parameters, in words."""
    shown = lever_values(setting.params) | setting.parameters
    held = {
        SHORT_NAMES.get(name, name): value
        for name, value in shown.items()
        if name not in without and value is not None
    }
    held |= {f"weight of {name}": weight for name, weight in setting.weights}
    parts = [] if setting.method == "rwn" else [str(setting.params.title)]
    parts += [
        f"{name} = {f'{value:g}' if isinstance(value, int | float) else value}"
        for name, value in held.items()
    ]
    parts += [precision_words(setting.precision)] * bool(setting.precision)
    return " · ".join([*parts, *([slices_words(setting.slices)] if setting.slices else [])])


def varied(settings: Sequence[Setting]) -> list[str]:
    """The numbers that a sweep varies."""
    levers = [name for each in settings for name in lever_values(each.params)]
    return [
        name
        for name in dict.fromkeys([*levers, *(n for s in settings for n in s.parameters)])
        if len({v for s in settings if _number(v := getattr(s.params, name, None))}) > 1
    ]


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def slices(settings: Sequence[Setting], across: str, down: str) -> list[str]:
    """The other parameters' combinations, in words, of methods that have these two."""
    both = (across, down)
    return list(dict.fromkeys(_other_cards(each, both) for each in settings if _has(each, both)))


def fullest(found: Sequence[str], sweep: Sweep, across: str, down: str) -> str:
    """The combination with most finished settings, the last of equals."""
    both = (across, down)
    done = Counter(_other_cards(p.setting, both) for p in sweep if _has(p.setting, both))
    return max(reversed(found), key=lambda each: done[each]) if done else found[0]


def _has(setting: Setting, names: Sequence[str]) -> bool:
    """True if the method of a setting has these parameters, with a number each."""
    return all(_number(getattr(setting.params, name, None)) for name in names)


def draw_surface(
    settings: Sequence[Setting],
    sweep: Sweep,
    about: Mapping[str, Any],
    where: tuple[str, str, str],
    *,
    limit: float | None,
    forecasts: Mapping[str, Mapping[str, float]],
) -> Chart:
    """A measure over two parameters, at one combination of the others."""
    (across, down, others), measure = where, about["measure"]
    both = (across, down)
    chosen = [s for s in settings if _has(s, both) and _other_cards(s, both) == others]
    if not chosen:
        return draw_reason(about["title"], "No setting has these parameters.", "parameter_surface")
    columns = sorted({getattr(s.params, across) for s in chosen})
    rows = sorted({getattr(s.params, down) for s in chosen})
    known = {point.setting.key: point.median(measure) for point in sweep}
    square = np.full((len(rows), len(columns)), np.nan)
    forecast = np.zeros(square.shape, dtype=bool)
    for setting in chosen:
        values = (getattr(setting.params, down), getattr(setting.params, across))
        cell = rows.index(values[0]), columns.index(values[1])
        forecast[cell] = setting.key not in known or measure not in rwn.MEASURES
        expected = forecasts.get(setting.key, {}).get(measure)
        value = expected if forecast[cell] else known[setting.key]
        square[cell] = np.nan if value is None else value
    return CHARTS["parameter_surface"](
        square,
        {"title": SHORT_NAMES.get(across, across), "values": columns},
        {"title": SHORT_NAMES.get(down, down), "values": rows},
        {**about, "where": others},
        limit=limit,
        forecast=forecast & np.isfinite(square),
    )
