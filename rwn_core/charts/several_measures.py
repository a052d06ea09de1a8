"""Charts of several measures: classes of equal keys, and guesses about a person."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rwn_core.measures import MEASURES, measures_of
from rwn_core.measures.attacks.guessing import Guesses
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.paired_bars import Pair, bars, frame
from rwn_core.measures.drawing.tables import table
from rwn_core.measures.measure import Reading

NAMES = {k: m.label for k, m in MEASURES.items() if m.shared == "key_classes"}


def draw_key_classes(readings: Mapping[str, Reading[Any] | Exception]) -> style.Chart:
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
    note = ", ".join(f"{style.percent(p[1])} → {style.percent(p[2])}" for p in pairs[:1])
    return style.chart(
        "key_classes",
        "Classes of equal keys",
        f"unique {note}",
        f"Seven measures on the key variables, original and released; unique records {note}",
        data=bars(pairs, ("original", "released")),
        layout=frame(pairs, "share of records"),
        large={"legend": True},
        table=table(["measure", "original", "released", "why not"], list(zip(*rows, strict=True))),
    )


# Attacks that guess from the release, compared with people outside the file and with chance

*GUESSES, WORST = measures_of("guesses")


def draw_guessing_attacks(readings: Mapping[str, Reading[Any] | Exception]) -> style.Chart:
    """Draw the attack's rate over that of a control group, or of a guess without one."""
    # A reading may be the reason why there is none.
    pairs: list[Pair] = []
    rows: list[list[Any]] = []
    for key in GUESSES:
        reading = readings[key]
        name = MEASURES[key].label
        row: list[Any] = [name, *[math.nan] * 4, str(reading)]
        if isinstance(reading, Reading):
            detail: Guesses = reading.detail
            alone = detail.control is None
            pairs.append((name, detail.guess if alone else detail.control, detail.attack))
            control = math.nan if alone else detail.control
            row = [name, detail.attack, control, detail.guess, reading.value, ""]
        rows.append(row)
    worst = readings[WORST]
    if isinstance(worst, Reading):
        name = MEASURES[WORST].label
        pairs.append((name, worst.baseline, worst.value))
        guess = float(worst.detail.ignorant[worst.detail.worst])
        control = math.nan if worst.detail.control is None else worst.baseline
        rows.append([name, worst.value, control, guess, math.nan, ""])
    drawn = [readings[key] for key in (*GUESSES, WORST)]
    found = [each for each in drawn if isinstance(each, Reading)]
    controlled = any(each.detail.control is not None for each in found)
    outlined = "people outside" if controlled else "a guess"
    best = max((pair[2] or 0.0 for pair in pairs), default=0.0)
    return style.chart(
        "guessing_attacks",
        "Guessing about a person",
        f"at best {style.percent(best)}",
        "Success of singling out, linkability and inference attacks, compared with that on people "
        f"outside the file, or of a guess; the best is right for {style.percent(best, 1)}",
        data=bars(pairs, ("without the release's records", "attack"), before=style.NEUTRAL),
        layout=frame(pairs, f"attacks that are right; outlined: {outlined}"),
        large={"legend": True},
        table=table(
            ["attack", "right", "right about people outside", "guess", "risk beyond", "why not"],
            list(zip(*rows, strict=True)),
        ),
    )
