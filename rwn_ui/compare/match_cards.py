"""Matched methods as the panels draw them: a map, one table of all measures, their pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, draw_reason, serialise
from rwn_core.measures.measure import Reading
from rwn_core.tuning import Point
from rwn_core.tuning.match import Loss, Matched
from rwn_core.tuning.paired_comparison import best_methods
from rwn_core.tuning.point import ranges_words
from rwn_ui.compare.cards import verdict_words
from rwn_ui.compare.match_sentences import method, setting, title
from rwn_ui.features.setting_sentences import reading_words
from rwn_ui.state.session import Session

BEST = "★"
PICTURES = {
    "Correlations": "correlation",
    "Coefficients": "regression",
    "Distributions": "distribution",
}
"""What is shown of one release of each matched setting, and by which chart."""


def match_map(
    session: Session, matched: Sequence[Matched], to: Loss | rwn.Policy, x: str, y: str
) -> dict[str, Any]:
    """The map with a curve for each method."""
    limit = session.policy.limit(y)
    drawn = CHARTS["method_map"](
        [
            {
                "name": method(each.method),
                "points": [_spot(point, x, y) for point in each.path if _is_read(point, x, y)],
                "matched": _spot(each.point, x, y),
            }
            for each in matched
        ],
        _axis(x, session.data.n, risk=False),
        _axis(y, session.data.n, risk=True),
        aim=to.value if isinstance(to, Loss) and to.measure == x else None,
        limit=None if limit is None else limit.at_most,
    )
    return {"single": True, "cards": [serialise(drawn)]}


def placed(each: Matched, x: str, y: str) -> bool:
    """True if the matched setting has a place on the map."""
    return _is_read(each.point, x, y)


def _is_read(point: Point, x: str, y: str) -> bool:
    """True if both have a reading: a limit is not read if a quicker one is broken."""
    return None not in (point.median(x), point.median(y))


def _spot(point: Point, x: str, y: str) -> dict[str, Any]:
    across, up = point.spreads.get(x), point.spreads.get(y)
    return {
        "text": point.setting.words,
        "x": point.median(x),
        "y": point.median(y),
        "x_interval": None if across is None else _interval(across),
        "y_interval": None if up is None else _interval(up),
    }


def _interval(spread: Any) -> Any:
    return spread.interval if spread.values else None


def _axis(measure: str, records: int, *, risk: bool) -> dict[str, Any]:
    about = rwn.MEASURES[measure]
    riskier = "lower" if about.better == "higher" else "higher"
    return {
        "title": about.title_for(records),
        "unit": about.unit,
        "falls": riskier == "lower" if risk else about.better == "lower",
        "share": about.is_share,
    }


def match_table(session: Session, matched: Sequence[Matched]) -> dict[str, Any]:
    """Every measure of every method, the best of each marked."""
    stated = [each.point.stated() for each in matched]
    rows = [["setting", *(setting(each.point) for each in matched)]]
    rows.append(["strength reaches the aim", *("yes" if m.reached else "no" for m in matched)])
    for key in dict.fromkeys(key for each in matched for key in each.point.spreads):
        leading = best_methods(matched, key)
        cells = [
            f"{reading_words(key, one.get(key))}{f' {BEST}' if each.method in leading else ''}"
            for each, one in zip(matched, stated, strict=True)
        ]
        rows.append([f"{title(key, session.data.n)} {_arrow(key)}".strip(), *cells])
    verdicts = [verdict_words(session.policy.judge_point(each.point)) for each in matched]
    rows.append(["policy: limits that are broken", *verdicts])
    rows.append(["in brackets", *(ranges_words(one) for one in stated)])
    return {
        "tables": [
            {
                "title": "Every measure of every method",
                "columns": ["measure", *(method(each.method) for each in matched)],
                "rows": rows,
                "file": "matched-methods.csv",
                "caption": "Median over the releases and, in brackets, between which values one "
                "more release should fall 9 times in 10. ↓ lower is better, ↑ higher is better, "
                f"{BEST} the best median; a difference counts only where the intervals are apart.",
            }
        ]
    }


def _arrow(key: str) -> str:
    return {"lower": "↓", "higher": "↑", "neutral": ""}[rwn.MEASURES[key].better]


def match_pictures(matched: Sequence[Matched], what: str, variable: str) -> dict[str, Any]:
    """One picture for each method, of one release of its matched setting."""
    return {"cards": [serialise(_picture(each, what, variable)) for each in matched]}


def _picture(each: Matched, what: str, variable: str) -> Chart:
    chart = PICTURES[what]
    reading = each.pictures["marginals" if chart == "distribution" else chart]
    name = method(each.method)
    if not isinstance(reading, Reading):
        return draw_reason(name, str(reading), chart)
    more = (variable,) if chart == "distribution" else ()
    drawn = CHARTS[chart](reading, *more)
    return {**drawn, "title": name}
