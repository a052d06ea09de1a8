"""Questions with one true answer: probability that the release returns that person's row."""

import math

import numpy as np

from rwn_core.charts.parts.paired_bars import Pair, bars, frame
from rwn_core.charts.parts.style import NEUTRAL, Chart, chart, percent
from rwn_core.charts.parts.tables import table
from rwn_core.measures.measure import Reading

_SHOWN = 9


def draw(reading: Reading) -> Chart:
    """Draw the predicates that are answered most often; internal, since they hold values."""
    detail = reading.detail
    target = np.asarray(detail["one_and_target"], dtype=float)
    order = np.argsort(-target, kind="stable")
    pairs: list[Pair] = [
        (detail["words"][index], detail["one"][index], float(target[index]))
        for index in order[:_SHOWN].tolist()
    ]
    count = len(target)
    fields = ("words", "none", "one", "one_and_target", "disclosed", "matches", "same_person")
    columns = [[detail[name][index] for index in order.tolist()] for name in fields]
    columns[4] = [math.nan if value is None else value for value in columns[4]]
    columns[6] = ["yes" if same else "no" for same in columns[6]]
    return chart(
        "queries",
        "Query attack (internal)",
        f"{count} questions · mean {percent(reading.value, 1)}",
        f"For {count} questions with one person as the original answer, the chance that the "
        f"release answers with exactly that person's row; the mean is {percent(reading.value, 1)}",
        data=bars(pairs, ("exactly one match", "and it is that person"), before=NEUTRAL),
        layout=frame(pairs, "probability", length=30),
        large={"legend": True},
        table=table(
            [
                "question",
                "no match",
                "exactly one",
                "and that person",
                "confidential value learned",
                "matches now",
                "that person now",
            ],
            columns,
            rank=3,
        ),
    )
