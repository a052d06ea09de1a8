"""The Utility page's picture: what an analyst still finds, as tiles, cards and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from rwn_core.charts import serialise
from rwn_core.evaluation.forecast.curve import Axis
from rwn_core.evaluation.forecast.statistic import CHANGE, moments_of
from rwn_core.evaluation.registered_analysis import Verdict
from rwn_core.evaluation.repeated_draws import Ensemble
from rwn_core.measures.measure import Reading
from rwn_ui.features import analysis_plan_results, repeated_draws_results
from rwn_ui.features.repeated_draws_results import setting_of
from rwn_ui.messages import plain
from rwn_ui.state.session import Session
from rwn_ui.tune.view import changed_cells, stamp
from rwn_ui.utility.cards import cards
from rwn_ui.utility.results import PENDING, Desk, Sight
from rwn_ui.utility.tables import tables


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
    _choose_moment(session, mine)


_PARAMETERS: Mapping[str, Axis] = {"radius ε": "epsilon", "neighbors k": "k", "probability q": "q"}


def _choose_moment(session: Session, mine: Desk) -> None:
    """What the expected curve shows, and over which parameter."""
    data, pair = session.data, (session.variable, mine.other)
    key = f"utility.{session.generation}.moment.{'.'.join(pair)}"
    options = moments_of(data, *pair)
    kinds = [moment.kind for moment in options]
    place = kinds.index(mine.moment.kind) if mine.moment.kind in kinds else 0
    chosen = st.selectbox(
        "Expected curve of",
        options,
        place,
        format_func=lambda moment: moment.label,
        key=key,
        help="In closed form, before any draw: the picture holds this draw against it.",
    )
    levels = []
    for name, rare in zip(chosen.names[: len(chosen.levels)], chosen.levels, strict=True):
        known = list(data.codes(name)[1])
        at = known.index(rare)
        levels.append(st.selectbox(f"Level of {plain(name)}", known, at, key=f"{key}.{name}"))
    mine.moment = replace(chosen, levels=tuple(levels))
    names = list(_PARAMETERS)
    over = st.selectbox(
        "… over",
        names,
        list(_PARAMETERS.values()).index(mine.axis),
        key=f"utility.{session.generation}.axis",
    )
    mine.axis = _PARAMETERS[over]


def payload(
    session: Session, mine: Desk, seen: Sight, verdicts: Sequence[Verdict]
) -> dict[str, Any]:
    """Everything the panel draws, as plain data."""
    here = setting_of(session)
    drawn, validity = mine.ensembles.get(here), mine.validities.get(here)
    shown = {
        "projector": session.projector,
        "summary": {
            "text": f"{session.words} · seed {session.seed}{repeated_draws_results.words(drawn)}",
            "help": "ε is a radius in standard deviations; not the epsilon of differential "
            "privacy.",
        },
        "changed": changed_cells(seen.readings["cells_changed"]),
        "tiles": [
            *(_tile(tile, seen, drawn) for tile in TILES),
            analysis_plan_results.tile(verdicts) if verdicts else _tile(CLUSTERS, seen, drawn),
        ],
        "cards": [serialise(chart) for chart in cards(session, mine, seen, drawn)],
        "tables": tables(seen, verdicts, drawn, validity, mine.standings.get(here, ())),
    }
    return {"stamp": stamp(session.words, shown), **shown}


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
    part: str = ""  # of the detail, where the tile does not show the value


def _expected_words(reading: Reading, seen: Sight) -> str:
    if seen.now is None:
        return ""
    alone = CHANGE.expected(seen.now, seen.comparison.original)
    return f"the setting alone: {alone:.3f}"


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
        "the setting leads to without the noise of a draw, before any rounding.",
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
        part="total_change",
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
        wait = reading is PENDING
        return {**shown, "released": "…" if wait else "n/a", "help": str(reading)}
    beside = tile.beside(reading, seen)
    spread = (
        None if drawn is None else repeated_draws_results.spread(drawn, tile.measure, tile.part)
    )
    if spread is not None:
        low, high = spread
        of = "" if seen.comparison.file is None else " of all"  # a job draws the whole table
        beside = f"9 of 10 draws{of}: {tile.words(low)} to {tile.words(high)}".replace("-", "−")
    released = tile.words(tile.value(reading)).replace("-", "−")
    return {**shown, "released": released, "limit": beside}
