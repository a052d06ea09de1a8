"""What each risk number says, in one plain sentence, and the warnings that a setting calls for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import rwn_core as rwn
from rwn_core.disclosure import Answers
from rwn_core.reading import Reading
from rwn_core.transitions import WHY_NO_PRIVACY_EPSILON

Sentence = Callable[[Reading, int], str]


def percent(share: float) -> str:
    """A share for a sentence."""
    return f"{100 * share:.0f} %" if share in (0, 1) or share >= 0.1 else f"{100 * share:.2g} %"


def people(share: float, n: int) -> str:
    """How many of the records that is."""
    count = share * n
    if count == 0:
        return f"none of {n:,} records"
    return f"{count:,.0f} of {n:,} records" if count >= 1 else f"fewer than 1 of {n:,} records"


def _keys(reading: Reading) -> str:
    return ", ".join(reading.detail["names"])


SENTENCES: Mapping[str, Sentence] = {
    "bayes_linkage": lambda r, n: (
        f"Somebody who holds the original file and knows the method links {people(r.value, n)} "
        f"rightly; five guesses each find {percent(r.detail['top5'])}."
    ),
    "intruder_levels": lambda r, n: (
        f"Knowing only {_keys(r)} of everybody, and the neighborhoods, is enough to link "
        f"{people(r.value, n)}."
    ),
    "whole_file_linkage": lambda r, n: (
        f"Linking all rows at once by {_keys(r)}, each person once, finds {people(r.value, n)}."
    ),
    "repeated_releases": lambda r, n: (
        f"Three releases of this table would give away at least {people(r.value, n)} by the keys."
    ),
    "distance_linkage": lambda r, n: (
        f"Taking the nearest original for the source, as common tools do, finds "
        f"{people(r.value, n)}."
    ),
    "mahalanobis_linkage": lambda r, n: (
        f"With a distance that knows how the masking moves the numbers together it finds "
        f"{people(r.value, n)}."
    ),
    "global_linkage": lambda r, n: (
        f"Giving each original one row, at the smallest total distance, finds {people(r.value, n)}."
    ),
    "probabilistic_linkage": lambda r, n: (
        f"Weighing which of {_keys(r)} agree finds {people(r.value, n)}."
    ),
    "membership": lambda r, n: (
        f"On average a person's own unique values appear with probability {percent(r.value)}; for "
        f"{percent(r.detail['above_nine_tenths'])} of the people that is nearly certain."
    ),
    "attribute_inference": lambda r, n: (
        f"An informed intruder names a confidential value rightly with probability "
        f"{percent(r.value)}; from the release's distribution alone it is "
        f"{percent(r.baseline or 0)}."
    ),
    "differential_privacy": lambda r, n: (
        f"No epsilon covers it: with probability {percent(r.value)} the release shows a value "
        "that would be impossible without one person."
    ),
    "misclassification": lambda r, n: (
        f"A row that has exactly a person's key values is that person's with probability "
        f"{percent(r.value)} on average, against {percent(r.baseline or 0)} unmasked."
    ),
    "extremes": lambda r, n: (
        f"Of the largest and smallest original values {percent(r.value)} are expected in the "
        "release; they are real values of real people."
    ),
    "queries": lambda r, n: (
        f"Asked one of {len(r.detail['words'])} questions that one person answers, the release "
        f"answers with exactly that person's row with probability {percent(r.value)}."
    ),
    "homogeneity": lambda r, n: (
        f"For {people(r.value, n)} nearly the whole neighborhood has the record's own "
        "confidential value: no linkage is needed to learn it."
    ),
    "uniqueness": lambda r, n: (
        f"{people(r.value, n).capitalize()} are alone with their key values "
        f"(original: {percent(r.baseline or 0)}); with masked keys that is no proof of identity."
    ),
    "k_anonymity": lambda r, n: (
        f"{people(r.value, n).capitalize()} share their key values with fewer than two others "
        f"(original: {percent(r.baseline or 0)})."
    ),
    "l_diversity": lambda r, n: (
        f"For {people(r.value, n)} everybody with the same keys has one confidential value."
    ),
    "t_closeness": lambda r, n: (
        f"Confidential values of people with equal keys depart from everybody's by "
        f"{r.value:.2f} on average (0 is none, 1 is as far as possible)."
    ),
    "individual_risk": lambda r, n: (
        f"Who takes released keys for true expects to identify {people(r.value, n)}."
    ),
    "suda": lambda r, n: f"Up to three key variables single out {people(r.value, n)}.",
    "loglinear_risk": lambda r, n: (
        f"Matching unique rows with the population gives {r.value * n:,.1f} right matches in "
        "expectation"
        + (
            "."
            if r.detail["population"]
            else ", if the file is the whole population (give its size)."
        )
    ),
    "interval_disclosure": lambda r, n: (
        f"For {people(r.value, n)} every number lies within 0.05 standard deviations of the "
        "person's own."
    ),
    "closest_record": lambda r, n: (
        f"A released row is {r.value:.2f} standard deviations from the nearest original; "
        f"neighboring originals are {r.baseline or 0:.2f} apart. {len(r.detail['exact_copies'])} "
        "rows are exact copies."
    ),
    "singling_out": lambda r, n: _beyond(r, "Conditions read off the release single people out"),
    "linkability": lambda r, n: _beyond(r, "Two halves of a record meet in one released row"),
    "inference": lambda r, n: _beyond(r, "The nearest row tells a confidential value"),
}


def _beyond(reading: Reading, what: str) -> str:
    detail = reading.detail
    other = "strangers" if detail["control"] is not None else "a guess"
    reference = detail["guess"] if detail["control"] is None else detail["control"]
    void = " The attack is no better than a guess." if detail["void"] else ""
    return (
        f"{what} in {percent(detail['attack'])} of {detail['attacks']} attacks, for {other} in "
        f"{percent(reference)}.{void}"
    )


def rows(readings: Answers, n: int) -> list[list[str]]:
    """Measure, its number, what it is read against, and the sentence."""
    found = []
    for key, sentence in SENTENCES.items():
        reading = readings[key]
        measure = rwn.MEASURES[key]
        if isinstance(reading, Reading):
            against = "–" if reading.baseline is None else f"{reading.baseline:.3g}"
            found.append([measure.title, f"{reading.value:.3g}", against, sentence(reading, n)])
        else:
            found.append([measure.title, "n/a", "–", str(reading)])
    return found


def warnings(params: rwn.RWN, readings: Answers, *, rounding: bool, groups: int) -> list[str]:
    """The warnings of the method that apply to this setting, most pressing first."""
    told: list[str] = []
    worst, ordinary = _value(readings, "bayes_linkage"), _value(readings, "distance_linkage")
    if worst is not None and ordinary is not None and worst > 2 * ordinary and worst > 0.2:
        told.append(
            f"Ordinary linkage finds {percent(ordinary)} of the records, a person who knows the "
            f"original data {percent(worst)}: each exact value names its donor. "
            "Larger neighborhoods at q = 1, rounding, or fewer variables help."
        )
    if params.q == 0:
        told.append("q = 0 masks nothing: the release is the original.")
    elif params.q < 1:
        told.append(
            f"At q = {params.q:g} every cell keeps its own value with probability "
            f"{1 - params.q:.2g} at least, also the extremes; kept values identify."
        )
    else:
        told.append(
            "At q = 1 nobody keeps a unique own value, but the values are real values of near "
            "neighbors, and donors reveal the neighborhood."
        )
    if not rounding:
        told.append("Values are released with all their digits; long decimals are identifiers.")
    told.append(
        "One release only: each further release of this table, at any setting, adds evidence."
    )
    told.append(WHY_NO_PRIVACY_EPSILON + " There is no membership protection either.")
    told.append(
        "The key of a release is a secret: whoever has it undoes the row order and knows which "
        "cells are original. A seed of the trial is none."
    )
    told += _of_the_table(readings, groups)
    told.append(
        "Small groups shrink, means drift toward dense regions, and standard errors that are "
        "computed from the release are too small."
    )
    return told


def _of_the_table(readings: Answers, groups: int) -> list[str]:
    told = []
    shared = _value(readings, "homogeneity")
    if shared:
        told.append(
            f"In {percent(shared)} of the neighborhoods nearly everybody has one confidential "
            "value: it is disclosed without any linkage."
        )
    sizes = readings["neighborhood_size"]
    if isinstance(sizes, Reading) and sizes.detail["share_governed_by_k"] > 0.5:
        told.append(
            f"The radius plays no part for {percent(sizes.detail['share_governed_by_k'])} of the "
            "records: only their k nearest give values."
        )
    if isinstance(sizes, Reading) and sizes.value > 0.5 * len(sizes.detail["sizes"]):
        told.append("The typical neighborhood is more than half the file: little utility is left.")
    if groups == 0:
        told.append(
            "Variables that are computed from others (sums, ratios, dummies of one answer) take "
            "values of different donors unless they form a group: edit rules may break."
        )
    return told


def _value(readings: Answers, key: str) -> float | None:
    reading: Any = readings[key]
    return reading.value if isinstance(reading, Reading) else None
