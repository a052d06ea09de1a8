"""The Utility page's picture: what an analyst still finds, as tiles, cards and tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from rwn_core import figures
from rwn_core.analysis import Verdict
from rwn_core.ensemble import Ensemble
from rwn_core.figures import CHARTS, Chart, not_applicable
from rwn_core.reading import Reading
from rwn_ui.draws import setting_of
from rwn_ui.session import Session
from rwn_ui.utility_results import Desk, Found, Sight
from rwn_ui.utility_tables import tables


def levers(session: Session) -> None:
    """Epsilon, k and q: the setting of the Tune page, moved from here too."""
    reach = session.bench().reach
    for what, label, low, high, step in (
        ("epsilon", "Radius ε (standard deviations)", 0.0, reach.epsilon, reach.step),
        ("k", "Minimum neighbors k", 1, reach.k, 1),
        ("q", "Modification probability q", 0.0, 1.0, 0.05),
    ):
        if low == high:
            continue
        key = f"utility.{session.generation}.{what}"
        if key not in st.session_state:
            st.session_state[key] = min(max(getattr(session, what), low), high)
        digits = 0 if step == 1 else max(0, -math.floor(math.log10(step)))
        form = f"%.{digits}f" if digits else "%d"
        value = st.slider(label, low, high, step=step, key=key, format=form)
        setattr(session, what, round(value, 10) if isinstance(value, float) else value)


def controls(session: Session, mine: Desk) -> None:
    """Which variables the pictures show."""
    names = [variable.name for variable in session.data.schema.released]
    session.variable = st.selectbox(
        "Variable",
        names,
        names.index(session.variable),
        key=f"utility.{session.generation}.one",
    )
    others = [name for name in names if name != session.variable]
    if others:
        chosen = mine.other if mine.other in others else others[0]
        mine.other = st.selectbox(
            "… with",
            others,
            others.index(chosen),
            key=f"utility.{session.generation}.other.{session.variable}",
            help="The two-way picture shows both variables together.",
        )


def payload(
    session: Session, mine: Desk, seen: Sight, verdicts: Sequence[Verdict]
) -> dict[str, Any]:
    """Everything the panel draws, as plain data."""
    here = setting_of(session)
    drawn, validity = mine.ensembles.get(here), mine.validities.get(here)
    state = f"{mine.other}|{drawn is not None}|{validity is not None}|{len(verdicts)}"
    return {
        "stamp": f"{session.words}|{session.seed}|{session.variable}|{state}",
        "projector": session.projector,
        "summary": {
            "text": f"{session.words} · seed {session.seed}",
            "help": "ε is a radius in standard deviations; not the epsilon of differential "
            "privacy.",
        },
        "changed": _changed(seen.readings["cells_changed"]),
        "tiles": [
            *(_tile(tile, seen, drawn) for tile in TILES),
            _pass_tile(verdicts) if verdicts else _tile(CLUSTERS, seen, drawn),
        ],
        "cards": [figures.serialise(chart) for chart in _cards(session, seen, drawn)],
        "tables": tables(seen, verdicts, drawn, validity),
    }


def _changed(reading: Found) -> dict[str, Any] | None:
    if not isinstance(reading, Reading):
        return None
    detail = reading.detail
    return {
        "names": list(detail["names"]),
        "share": [float(share) for share in detail["share"]],
        "overall": float(detail["overall"]),
        "q": detail["q"],
    }


# ---------------------------------------------------------------- tiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One headline number; `beside` says what to hold it against until draws are there."""

    label: str
    measure: str
    words: Callable[[float], str]
    help: str
    beside: Callable[[Reading, Sight], str] = lambda reading, seen: ""
    value: Callable[[Reading], float] = lambda reading: reading.value


def _expected_words(reading: Reading, seen: Sight) -> str:
    known = isinstance(seen.expected, Reading)
    return f"the setting alone: {seen.expected.value:.3f}" if known else ""


def _signed_percent(value: float) -> str:
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    return f"{sign}{100 * abs(value):.1f} %"


TILES = (
    Tile(
        label="Mean |Δ correlation|",
        measure="correlation",
        words=lambda value: f"{value:.3f}",
        beside=_expected_words,
        help="Mean absolute change over all pairs of numeric variables: of this draw, and what "
        "the setting leads to without the noise of a draw.",
    ),
    Tile(
        label="Interval overlap",
        measure="ci_overlap",
        words=lambda value: f"{value:.2f}",
        beside=lambda reading, seen: (
            f"{reading.detail['disjoint']} of {len(reading.detail['terms']) - 1} slopes apart"
        ),
        help="Mean overlap of the slopes' 95 % confidence intervals: 1 is the same, 0 touching, "
        "below 0 apart.",
    ),
    Tile(
        label="Median |Δ slope| / SE",
        measure="regression",
        words=lambda value: f"{value:.2f}",
        beside=lambda reading, seen: (
            f"{int(sum(reading.detail['sign_changed'][1:]))} of "
            f"{len(reading.detail['terms']) - 1} signs changed"
        ),
        help="Median change of the regression's slopes, in the original's standard errors.",
    ),
    Tile(
        label="Small groups",
        measure="subgroups",
        words=_signed_percent,
        value=lambda reading: float(reading.detail["total_change"]),
        beside=lambda reading, seen: f"{reading.detail['vanished']} vanished",
        help="Change of the size of all levels, pairs of levels and tails that hold at most a "
        "tenth of the records. Rare values shrink: donors are mostly of the majority.",
    ),
    Tile(
        label="Propensity ratio",
        measure="pmse",
        words=lambda value: f"{value:.2f}",
        beside=lambda reading, seen: "2: like a fresh sample",
        help="How well a model of all pairs of variables tells released records from original "
        "ones (pMSE), over what chance gives. 0 is no difference at all.",
    ),
)
CLUSTERS = Tile(
    label="Clusters agree",
    measure="clustering",
    words=lambda value: f"{value:.2f}",
    beside=lambda reading, seen: "1: the same clusters",
    help="Agreement of five clusters found in the release with the original's (adjusted Rand "
    "index).",
)


def _tile(tile: Tile, seen: Sight, drawn: Ensemble | None) -> dict[str, Any]:
    reading = seen.readings[tile.measure]
    shown: dict[str, Any] = {"label": tile.label, "help": tile.help, "state": None, "against": []}
    if not isinstance(reading, Reading):
        return {**shown, "released": "n/a", "help": str(reading)}
    beside = tile.beside(reading, seen)
    if drawn is not None and tile.measure in drawn.values and tile.measure != "subgroups":
        low, high = drawn.interval(tile.measure)
        beside = f"9 of 10 draws: {tile.words(low)} – {tile.words(high)}".replace("-", "−")
    released = tile.words(tile.value(reading)).replace("-", "−")
    return {**shown, "released": released, "limit": beside}


def _pass_tile(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    passed = sum(verdict.passed for verdict in verdicts)
    return {
        "label": "Day pass",
        "released": f"{passed} of {len(verdicts)}",
        "state": "ok" if passed == len(verdicts) else "over",
        "limit": "all within tolerance"
        if passed == len(verdicts)
        else f"{len(verdicts) - passed} beyond tolerance",
        "help": "The registered analyses whose answer stays within its tolerance on this release.",
        "against": [],
    }


# ---------------------------------------------------------------- cards


def _cards(session: Session, seen: Sight, drawn: Ensemble | None) -> list[Chart]:
    def card(key: str, title: str, reading: Found, draw: Callable[[Reading], Chart]) -> Chart:
        if isinstance(reading, Reading):
            return draw(reading)
        return not_applicable.draw(title, str(reading), key)

    readings, expected = seen.readings, seen.expected
    setting = expected.detail["expected"] if isinstance(expected, Reading) else None
    correlation = readings["correlation"]

    def curve(reading: Reading) -> Chart:
        if not isinstance(correlation, Reading):
            return not_applicable.draw("Expected loss over ε", str(correlation), "expected_curve")
        interval = drawn.interval("correlation") if drawn is not None else None
        return figures.expected_curve.draw(reading, correlation, interval)

    fit = "regression"
    if not isinstance(readings[fit], Reading) and _known(readings["generalized_regression"]):
        fit = "generalized_regression"
    return [
        card("correlation", "Correlations", correlation, CHARTS["correlation"]),
        card(
            "correlation_change",
            "Change of correlations",
            correlation,
            lambda reading: figures.correlation_change.draw(reading, setting),
        ),
        card("expected_curve", "Expected loss over ε", expected, curve),
        card("regression", "Regression", readings[fit], CHARTS["regression"]),
        card(
            "principal_components",
            "Principal components",
            readings["principal_components"],
            CHARTS["principal_components"],
        ),
        card("subgroups", "Small groups", readings["subgroups"], figures.subgroups.draw),
        card(
            "distribution",
            "Distributions",
            readings["marginals"],
            lambda reading: CHARTS["distribution"](reading, session.variable),
        ),
        card("two_way", "Two variables", seen.relation, figures.two_way.draw),
        card("quantiles", "Shift of quantiles", readings["quantiles"], figures.quantiles.draw),
    ]


def _known(reading: Found) -> bool:
    return isinstance(reading, Reading)
