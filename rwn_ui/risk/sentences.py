"""The Risk page's tables of what each number says, in one plain sentence."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.evaluation.attack_list import Answers

_ROW = (
    "bayes_linkage",
    "linked_over_half",
    "largest_linkage",
    "intruder_levels",
    "whole_file_linkage",
    "abstaining_linkage",
    "repeated_releases",
    "distance_linkage",
    "mahalanobis_linkage",
    "global_linkage",
    "probabilistic_linkage",
    "misclassification",
    "individual_risk",
    "replicated_uniques",
    "loglinear_risk",
    "linkability",
)
_VALUE = (
    "membership",
    "attribute_inference",
    "attribute_gain",
    "true_matches",
    "red_team",
    "differential_privacy",
    "extremes",
    "queries",
    "homogeneity",
    "posterior_odds",
    "interval_disclosure",
    "inference",
    "singling_out",
)
_COLUMNS = ["measure", "value", "read against", "in plain words"]


def tables(readings: Answers, n: int) -> list[dict[str, Any]]:
    """Statement of each number, in three tables by question."""
    # A measure that answers neither of the first two questions is in the third.
    others = [key for key in readings if key not in (*_ROW, *_VALUE)]
    groups = (
        (
            "Whose row is it?",
            [key for key in readings if key in _ROW],
            "Read against: a guess among all records, or the same attack on people who are not in "
            "the file, as the words say.",
        ),
        (
            "What is learned about a person?",
            [key for key in readings if key in _VALUE],
            "Read against: a guess, the original, or the same attack on people who are not in the "
            "file, as the words say. Guessing and inference are tried on a release of four fifths "
            "of the records, so that the others can be those people.",
        ),
        (
            "Who stands out, and what has masking changed?",
            others,
            "Read against: the original table. By themselves these numbers say nothing of a link; "
            "they show where to look.",
        ),
    )
    return [
        {
            "title": title,
            "columns": _COLUMNS,
            "rows": rows({key: readings[key] for key in keys}, n),
            "caption": caption,
        }
        for title, keys, caption in groups
    ]


def rows(readings: Answers, n: int) -> list[list[str]]:
    """Measure, number, baseline and sentence of every measure that is read."""
    found = []
    for key, reading in readings.items():
        measure = rwn.MEASURES[key]
        if isinstance(reading, rwn.Reading):
            share = measure.bounds == (0.0, 1.0) and "distance" not in measure.unit
            against = "–" if reading.baseline is None else _short(reading.baseline, share=share)
            value = _short(reading.value, share=share)
            # a number and its percent sign stay on one line
            words = said(key, reading, n).replace(" %", "\N{NO-BREAK SPACE}%")
            found.append([measure.reading_title(reading), value, against, words])
        else:
            found.append([measure.title, "n/a", "–", str(reading)])
    return found


def said(key: str, reading: rwn.Reading, n: int) -> str:
    """The measure's own sentence, and between which shares it lies where rows were sampled."""
    sentence = rwn.MEASURES[key].sentence
    assert sentence is not None  # a measure of risk has one
    return sentence(reading, n) + _sample(reading)


def _sample(reading: rwn.Reading) -> str:
    if reading.interval is None or not getattr(reading.detail, "sampled", False):
        return ""
    low, high = (f"{100 * end:.1f}" for end in reading.interval)
    return f" From a random sample of {len(reading.detail.records):,} rows: {low} to {high} %."


def _short(number: float, *, share: bool) -> str:
    if not share:
        return f"{number:.3g}"
    digits = f"{100 * number:.2g}" if number < 0.1 else f"{100 * number:.1f}"
    return f"{digits}\N{NO-BREAK SPACE}%"
