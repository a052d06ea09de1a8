"""One setting of a sweep, picked in its map or table: loaded into Tune, or kept as a scenario."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

import rwn_core as rwn
from rwn_core.measures.statistics.intervals import range_words
from rwn_core.reporting.places_on_map import POLICY, place
from rwn_core.reporting.places_on_map import best as best_settings
from rwn_core.tuning import Point, SweepRun
from rwn_core.tuning.point import few_words, short_setting
from rwn_ui.features.scenario_trial import as_scenario
from rwn_ui.features.setting_sentences import value_words
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work
from rwn_ui.widgets.buttons import load_button

RISKS = ("distance_linkage", "bayes_linkage")  # no intruder is shown without the other


def pick(session: Session, key: str) -> None:
    """Choose a setting that was clicked on the map; nothing else changes."""
    # Streamlit calls it before a part of the page, where a message would take the place of what
    # stands first on the page.
    run = user_work().sweep
    if run is not None and any(point.setting.key == key for point in run.sweep()):
        st.session_state[session.key("sweep.picked")] = key


def picked(session: Session) -> str | None:
    """The key of the chosen setting; None before the list was drawn."""
    key: str | None = st.session_state.get(session.key("sweep.picked"))
    return key


def draw(session: Session, run: SweepRun) -> None:
    """The chosen setting: a list, the frontier first, and what can be done with it."""
    sweep = run.sweep()
    if not len(sweep):
        return
    x, y = session.views["x"], session.views["y"]
    best = best_settings(session.policy, sweep, x, y)
    ranked = sorted(sweep, key=lambda p: _rank(session, p, x, y, best))
    points = {point.setting.key: point for point in ranked}
    key = session.key("sweep.picked")
    if st.session_state.get(key) not in points:
        st.session_state[key] = next(iter(points))
    left, press, keep = st.columns([6, 1.3, 1.3], vertical_alignment="bottom")
    chosen = left.selectbox(
        "Setting (✓ keeps all limits, ▲ does not, ? not judged, ● frontier); a click on the map "
        "chooses one",
        list(points),
        key=key,
        format_func=lambda k: _line(session, points[k], x, y, best),
    )
    load_button(
        *(session, "Load into Tune", points[chosen].setting),
        key=session.key("sweep.load"),
        place=press,
        width="stretch",
    )
    with keep.popover("Save scenario", width="stretch"):
        _save(session, points[chosen])
    if few := few_words(sweep):
        st.caption(few)


def _rank(session: Session, point: Point, x: str, y: str, best: set[str]) -> tuple[Any, ...]:
    """Settings that meet all limits first; among them the frontier, by utility."""
    loss, verdict = point.median(x), session.policy.judge(point)
    if loss is None or place(session.policy, point, y) is None:
        return (True, True, 0.0)
    sign = -1 if rwn.MEASURES[x].better == "higher" else 1
    return (not verdict.kept, point.setting.key not in best, sign * loss)


def _line(session: Session, point: Point, x: str, y: str, best: set[str]) -> str:
    """A row of the list: verdict and numbers first, then the setting in few words."""
    verdict = session.policy.judge(point)
    mark = {"kept": "✓", "broken": "▲", "not judged": "?"}[verdict.state]
    mark += "●" if point.setting.key in best else ""
    if y == POLICY:
        used = "not judged" if verdict.largest is None else f"{verdict.largest:.2g} × limit"
        risks = [used]
    else:
        shown = dict.fromkeys((y, *(RISKS if y in RISKS else ())))
        risks = [_words(point, key) for key in shown if key == y or key in point.spreads]
    numbers = [_words(point, x), *risks]
    return f"{mark} {' · '.join(numbers)} · {short_setting(point.setting)}"


def _words(point: Point, measure: str) -> str:
    """The median of a measure in words; where one more release falls says the table."""
    reading = point.stated().get(measure)
    words = "not applicable" if reading is None else value_words(measure, reading["median"])
    spread = point.spreads.get(measure)
    called = rwn.MEASURES[measure].title if spread is None else spread.title
    return f"{called} {words}"


def _save(session: Session, point: Point) -> None:
    name = st.text_input("Name", key=session.key("sweep.save.name"), max_chars=60)
    note = st.text_area("Note", key=session.key("sweep.save.note"), height=68)
    if st.button("Save", key=session.key("sweep.save"), disabled=not name.strip()):
        session.scenarios[name.strip()] = as_scenario(session, name.strip(), note, point)
        st.toast(escaped(f"Scenario {name.strip()} is on the Compare page."))


def draw_table(session: Session, run: SweepRun) -> None:
    """A line for each setting; what was chosen elsewhere is not marked in it."""
    points = run.sweep().points
    if not points:
        return
    with st.expander("All settings as a table"):
        st.caption(
            "A click on a column's name sorts by it, one at the left end of a line chooses its "
            "setting. Of each measure the median over the releases is shown; shares in percent. "
            f"Limits are judged at the upper end of the {range_words(run.plan.releases)}."
        )
        key = session.key(f"sweep.table.{len(points)}")

        def choose() -> None:
            rows = st.session_state[key].selection.rows
            if rows:
                pick(session, points[rows[0]].setting.key)

        x, y = session.views["x"], session.views["y"]
        best = best_settings(session.policy, run.sweep(), x, y)
        st.dataframe(
            frame(session, points, run.plan.measures, best),
            key=key,
            lazy=False,
            hide_index=True,
            on_select=choose,
            selection_mode="single-row",
        )


def frame(
    session: Session, points: tuple[Point, ...], measures: tuple[str, ...], best: set[str]
) -> pd.DataFrame:
    """One line for each setting: in words, its verdict, and the median of every measure."""
    rows = []
    for point in points:
        verdict = session.policy.judge(point)
        row: dict[str, Any] = {
            "setting": point.setting.words,
            "keeps all limits": ("no", "yes")[verdict.kept],
            "on the frontier": ("no", "yes")[point.setting.key in best],
            "records released, %": _percent(point.released, share=True),
            "largest share of a limit, %": _percent(verdict.largest, share=True),
        }
        for measure in measures:
            share = rwn.MEASURES[measure].is_share
            title = rwn.MEASURES[measure].title_for(session.data.n)
            name = f"{title}, %" if share else title
            row[name] = _percent(point.median(measure), share=share)
        rows.append(row)
    return pd.DataFrame(rows)


def _percent(value: float | None, *, share: bool) -> float | None:
    """A number of four digits, of a share in percent."""
    return None if value is None else float(f"{value * (100 if share else 1):.4g}")
