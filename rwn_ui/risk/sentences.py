"""The Risk page's table of what each number says, in one plain sentence."""

from __future__ import annotations

import rwn_core as rwn
from rwn_core.evaluation.attack_list import Answers
from rwn_core.measures.measure import Reading


def rows(readings: Answers, n: int) -> list[list[str]]:
    """Measure, its number, what it is read against, and the sentence; every measure that is read.

    Parameters
    ----------
    readings : mapping of str to Reading or NotApplicable
    n : int
        Number of records.
    """
    found = []
    for key, reading in readings.items():
        measure = rwn.MEASURES[key]
        if isinstance(reading, Reading):
            share = measure.bounds == (0.0, 1.0) and "distance" not in measure.unit
            against = "–" if reading.baseline is None else _short(reading.baseline, share=share)
            value = _short(reading.value, share=share)
            # a number and its percent sign stay on one line
            words = said(key, reading, n).replace(" %", "\N{NO-BREAK SPACE}%")
            found.append([measure.title_of(reading), value, against, words])
        else:
            found.append([measure.title, "n/a", "–", str(reading)])
    return found


def said(key: str, reading: Reading, n: int) -> str:
    """The measure's own sentence, and between which shares it lies where rows were sampled."""
    sentence = rwn.MEASURES[key].sentence
    assert sentence is not None  # a measure of risk has one
    return sentence(reading, n) + _sample(reading)


def _sample(reading: Reading) -> str:
    if reading.interval is None or not reading.detail.get("sampled"):
        return ""
    low, high = (f"{100 * end:.1f}" for end in reading.interval)
    return f" From a random sample of {len(reading.detail['records']):,} rows: {low} to {high} %."


def _short(number: float, *, share: bool) -> str:
    if not share:
        return f"{number:.3g}"
    digits = f"{100 * number:.2g}" if number < 0.1 else f"{100 * number:.1f}"
    return f"{digits}\N{NO-BREAK SPACE}%"
