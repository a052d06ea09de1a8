"""Measures on the key variables, original and released."""

import math
from collections.abc import Mapping
from typing import Any

from rwn_core.charts.parts.paired_bars import Pair, bars, frame
from rwn_core.charts.parts.style import Chart, chart, percent
from rwn_core.charts.parts.tables import table
from rwn_core.measures import MEASURES
from rwn_core.measures.measure import Reading

NAMES = {k: m.view.label for k, m in MEASURES.items() if "key_classes" in m.view.charts}


def draw(readings: Mapping[str, Reading | Exception]) -> Chart:
    """Draw a pair of bars for each measure; a reading may be the reason why there is none."""
    pairs: list[Pair] = []
    rows: list[tuple[Any, ...]] = []
    for key, name in NAMES.items():
        reading = readings[key]
        if isinstance(reading, Reading):
            pairs.append((name, reading.baseline, reading.value))
            rows.append((*pairs[-1], ""))
        else:
            rows.append((name, math.nan, math.nan, str(reading)))
    note = ", ".join(f"{percent(p[1])} → {percent(p[2])}" for p in pairs[:1])
    return chart(
        "key_classes",
        "Classes of equal keys",
        f"unique {note}",
        f"Seven measures on the key variables, original and released; unique records {note}",
        data=bars(pairs, ("original", "released")),
        layout=frame(pairs, "share of records"),
        large={"legend": True},
        table=table(["measure", "original", "released", "why not"], list(zip(*rows, strict=True))),
    )
