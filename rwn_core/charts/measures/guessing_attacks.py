"""Attacks that guess from the release, compared with people outside the file and with chance."""

import math
from collections.abc import Mapping
from typing import Any

from rwn_core.charts.parts.paired_bars import Pair, bars, frame
from rwn_core.charts.parts.style import NEUTRAL, Chart, chart, percent
from rwn_core.charts.parts.tables import table
from rwn_core.measures import MEASURES, measures_of
from rwn_core.measures.measure import Reading

*GUESSES, WORST = measures_of("guesses")


def draw(readings: Mapping[str, Reading | Exception]) -> Chart:
    """Draw the attack's rate over that of a control group, or of a guess without one."""
    # A reading may be the reason why there is none.
    pairs: list[Pair] = []
    rows: list[list[Any]] = []
    for key in GUESSES:
        reading, name = readings[key], MEASURES[key].view.label
        row: list[Any] = [name, *[math.nan] * 4, str(reading)]
        if isinstance(reading, Reading):
            detail = reading.detail
            reference = detail["guess"] if detail["control"] is None else detail["control"]
            pairs.append((name, reference, detail["attack"]))
            control = math.nan if detail["control"] is None else detail["control"]
            row = [name, detail["attack"], control, detail["guess"], reading.value, ""]
        rows.append(row)
    worst = readings[WORST]
    if isinstance(worst, Reading):
        name = MEASURES[WORST].view.label
        pairs.append((name, worst.baseline, worst.value))
        guess = float(worst.detail["ignorant"][worst.detail["worst"]])
        control = math.nan if worst.detail["control"] is None else worst.baseline
        rows.append([name, worst.value, control, guess, math.nan, ""])
    controlled = [r.detail["control"] is not None for r in readings.values()
                  if isinstance(r, Reading) and "control" in r.detail]  # fmt: skip
    outlined = "people outside" if any(controlled) else "a guess"
    best = max((pair[2] or 0.0 for pair in pairs), default=0.0)
    return chart(
        "guessing_attacks",
        "Guessing about a person",
        f"at best {percent(best)}",
        "Success of singling out, linkability and inference attacks, compared with that on people "
        f"outside the file, or of a guess; the best is right for {percent(best, 1)}",
        data=bars(pairs, ("without the release's records", "attack"), before=NEUTRAL),
        layout=frame(pairs, f"attacks that are right; outlined: {outlined}"),
        large={"legend": True},
        table=table(
            ["attack", "right", "right about people outside", "guess", "risk beyond", "why not"],
            list(zip(*rows, strict=True)),
        ),
    )
