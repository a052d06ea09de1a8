"""The Risk page's tables of the field: uniqueness beside links, models of keys, intervals."""

from __future__ import annotations

from typing import Any

from rwn_core.disclosure import Answers
from rwn_core.reading import Reading
from rwn_ui.risk_words import percent

Table = dict[str, Any]


def field(readings: Answers) -> list[Table]:
    """The tables that have something to say."""
    made = (_linked(readings), _loglinear(readings), _intervals(readings))
    return [table for table in made if table is not None]


def _linked(readings: Answers) -> Table | None:
    """Being unique is neither needed nor enough to be linked."""
    reading = readings["uniqueness"]
    if not isinstance(reading, Reading) or reading.detail["table"] is None:
        return None
    rows = [
        [
            "unique" if cell["unique_original"] else "shared",
            "unique" if cell["unique_released"] else "shared",
            f"{cell['records']:,}",
            percent(cell["linked"] / cell["records"]),
        ]
        for cell in reading.detail["table"]
        if cell["records"]
    ]
    return {
        "title": "Unique on the keys, and linked by them at worst",
        "columns": ["original keys", "released keys", "records", "linked rightly"],
        "rows": rows,
        "caption": "With masked keys a class of one is no proof of identity, and a class of ten no "
        "protection.",
    }


def _loglinear(readings: Answers) -> Table | None:
    reading = readings["loglinear_risk"]
    if not isinstance(reading, Reading):
        return None
    detail = reading.detail
    rows = [
        [
            name,
            *(
                f"{detail[f'{what}_{side}']:,.4g}"
                for what in ("uniques", "tau1", "tau2", "leakage")
            ),
        ]
        for name, side in (("original", "original"), ("released", "released"))
    ]
    last = detail["path"][-1]
    model = ", ".join(last["interactions"]) or "main effects only"
    out = f" Left out: {', '.join(detail['left_out'])}." if detail["left_out"] else ""
    return {
        "title": f"Log-linear risk on {', '.join(detail['names'])}",
        "columns": [
            "file",
            "sample uniques",
            "of them unique in the population (τ1)",
            "right matches expected (τ2)",
            "leakage (τ1 / uniques)",
        ],
        "rows": rows,
        "caption": f"Model of the released counts: {model}; check B of τ2 {last['check2']:.3g}, "
        f"{last['z']:.2g} standard deviations (above 2: too simple, the risk is overestimated). "
        f"Numbers are grouped by their quantiles; {detail['cells']:,} cells.{out}",
    }


def _intervals(readings: Answers) -> Table | None:
    reading = readings["interval_disclosure"]
    if not isinstance(reading, Reading):
        return None
    detail = reading.detail
    rows = [["all numbers within 0.05 SD", percent(reading.value)]]
    if detail["ranks"] is not None:
        rows.append(["all ranks within 1 to 10 %, mean", percent(float(detail["ranks"].mean()))])
    if detail["robust"] is not None:
        rows.append(["any number in its robust interval", percent(detail["robust"][0])])
        rows.append(["… and no other released row near", percent(detail["robust"][1])])
    caption = detail["robust_reason"] if detail["robust"] is None else ""
    return {
        "title": "Interval disclosure",
        "columns": ["released beside its own record", "share of records"],
        "rows": rows,
        "caption": caption or "Robust intervals widen with the record's outlyingness.",
    }
