"""All finished settings as a table that can be sorted, searched and saved; a row chooses one."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

import rwn_core as rwn
from rwn_core.measures.statistics.intervals import range_words
from rwn_core.reporting.places_on_map import best as best_settings
from rwn_core.tuning import Point, SweepRun
from rwn_ui.state.session import Session
from rwn_ui.sweep.pick import pick


def draw(session: Session, run: SweepRun) -> None:
    """A line for each setting; what was chosen elsewhere is not marked in it."""
    points = run.sweep().points
    if not points:
        return
    measures = run.plan.measures
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

        st.dataframe(
            frame(
                session,
                points,
                measures,
                best_settings(session.policy, run.sweep(), *_axes(session)),
            ),
            key=key,
            hide_index=True,
            on_select=choose,
            selection_mode="single-row",
        )


def _axes(session: Session) -> tuple[str, str]:
    return session.views["x"], session.views["y"]


def frame(
    session: Session, points: tuple[Point, ...], measures: tuple[str, ...], best: set[str]
) -> pd.DataFrame:
    """One line for each setting: in words, its verdict, and the median of every measure."""
    rows = []
    for point in points:
        verdict = session.policy.judge_point(point)
        row: dict[str, Any] = {
            "setting": point.setting.words,
            "keeps all limits": "yes" if verdict.kept else "no",
            "on the frontier": "yes" if point.setting.key in best else "no",
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
