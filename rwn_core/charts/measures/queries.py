"""Questions with one true answer: probability that the release returns that person's row."""

import numpy as np

from rwn_core.charts.parts.paired_bars import Pair, bars, frame
from rwn_core.charts.parts.style import NEUTRAL, Chart, chart, percent
from rwn_core.charts.parts.tables import known, table
from rwn_core.measures.measure import Reading

_SHOWN = 9
_COLUMNS = {
    "question": "words",
    "no match": "none",
    "exactly one": "one",
    "and that person": "one_and_target",
    "confidential value learned": "disclosed",
    "matches now": "matches",
    "that person now": "same_person",
}


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
    columns = [known([detail[name][index] for index in order]) for name in _COLUMNS.values()]
    columns[-1] = ["yes" if same else "no" for same in columns[-1]]
    return chart(
        "queries",
        "Query attack (internal)",
        f"{count} questions · mean {percent(reading.value, 1)}",
        f"For {count} questions with one person as the original answer, the chance that the "
        f"release answers with exactly that person's row; the mean is {percent(reading.value, 1)}",
        data=bars(pairs, ("exactly one match", "and it is that person"), before=NEUTRAL),
        layout=frame(pairs, "probability", length=30),
        large={"legend": True},
        table=table(list(_COLUMNS), columns, rank=3),
    )
