"""Sample uniques on known values that a row of the release shows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rwn_core.charts.parts.paired_bars import Pair, bars, frame
from rwn_core.charts.parts.style import NEUTRAL, Chart, chart, percent
from rwn_core.charts.parts.tables import table
from rwn_core.measures.measure import Reading

_BARS = 7


def draw(reading: Reading) -> Chart:
    """Draw the stated and the worst sets of variables: shares found and read."""
    sets, stated = reading.detail["sets"], reading.detail["stated"]
    names = [", ".join(each) for each in sets["names"]]
    shares = np.asarray(sets["read"], dtype=float)
    if reading.detail["secret"] is None:
        shares = np.asarray(sets["found"], dtype=float)
    others = stated + np.argsort(-shares[stated:], kind="stable")
    shown = [*range(min(stated, _BARS)), *others.tolist()][:_BARS]
    read = [None if sets["secret"][at] is None else float(sets["read"][at]) for at in shown]
    pairs: list[Pair] = [
        (names[at], sets["found"][at], each) for at, each in zip(shown, read, strict=True)
    ]
    worst = percent(reading.value, 1)
    what = "read truly" if reading.detail["secret"] else "found"
    if reading.detail["level"] is not None:
        what = f"of {reading.detail['level']['secret']} = {reading.detail['level']['level']}"
    return chart(
        "true_matches",
        "True matches",
        f"outlined: found · {what} {worst}",
        f"Of the people who are alone with some values, the share who are found in the release by "
        f"exactly these, and whose own confidential value the row shows; at worst {worst} {what}",
        data=bars(pairs, ("found", "read truly"), before=NEUTRAL),
        layout=frame(pairs, "people who are alone with them"),
        large={"legend": True},
        table=_table(sets, names, shares),
    )


def _table(sets: Any, names: list[str], shares: Any) -> dict[str, Any]:
    expected = [math.nan if each is None else each for each in sets["expected"]]
    columns = ["known", "people alone", "found", "found, expected", "read truly", "by chance"]
    cells = [names, sets["people"], sets["found"], expected, sets["read"], sets["chance"]]
    return table(columns, cells, by=("largest", shares))
