"""What each risk number says, in one plain sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import rwn_core as rwn
from rwn_core.evaluation.disclosure import Answers
from rwn_core.measures.measure import Reading

Sentence = Callable[[Reading, int], str]


def percent(share: float) -> str:
    """A share for a sentence; only all is 100 %."""
    if 0.995 <= share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %" if share in (0, 1) or share >= 0.1 else f"{100 * share:.2g} %"


def people(share: float, n: int) -> str:
    """How many of the records that is."""
    count = share * n
    if count == 0:
        return f"none of {n:,} records"
    return f"{count:,.0f} of {n:,} records" if count >= 1 else f"fewer than 1 of {n:,} records"


def _fill(template: str) -> Sentence:
    """A sentence of {people} or {share} of the value, {base} of what it is read against, {keys}."""

    def sentence(reading: Reading, n: int) -> str:
        count = people(reading.value, n)
        return template.format(
            people=count,
            People=count.capitalize(),
            share=percent(reading.value),
            base=percent(reading.baseline or 0),
            keys=", ".join(map(str, reading.detail.get("names", ()))),
        )

    return sentence


SENTENCES: Mapping[str, Sentence] = {
    "bayes_linkage": lambda r, n: (
        f"Somebody who holds the original file and knows the method links {people(r.value, n)} "
        f"rightly; for {percent(r.detail['top5'])} of all the right one is among five candidates."
    ),
    "intruder_levels": _fill(
        "Knowing only {keys} of everybody, and the neighborhoods, is enough to link {people}."
    ),
    "whole_file_linkage": _fill(
        "Linking all rows at once by {keys}, each person once, finds {people}."
    ),
    "repeated_releases": _fill(
        "Three releases of this table would give away at least {people} by the keys."
    ),
    "distance_linkage": _fill(
        "Taking the nearest original for the source, as common tools do, finds {people}."
    ),
    "mahalanobis_linkage": _fill(
        "With a distance that knows how the masking moves the numbers together it finds {people}."
    ),
    "global_linkage": _fill(
        "Giving each original one row, at the smallest total distance, finds {people}."
    ),
    "probabilistic_linkage": _fill("Weighing which of {keys} agree finds {people}."),
    "membership": lambda r, n: (
        f"On average a person's own unique values appear with probability {percent(r.value)}; for "
        f"{percent(r.detail['above_nine_tenths'])} of the people that is nearly certain."
    ),
    "attribute_inference": lambda r, n: (
        f"An informed intruder names a confidential value rightly with probability "
        f"{percent(r.value)}; {_strangers(r)}from the release's distribution alone it is "
        f"{percent(float(r.detail['ignorant'].mean()))}."
    ),
    "differential_privacy": _fill(
        "No epsilon covers it: with probability {share} the release shows a value that would be "
        "impossible without one person."
    ),
    "misclassification": _fill(
        "A row that has exactly a person's key values is that person's with probability {share} "
        "on average, against {base} unmasked."
    ),
    "extremes": _fill(
        "Of the largest and smallest original values {share} are expected in the release; each is "
        "a real value of a real person, up to the release precision."
    ),
    "queries": lambda r, n: (
        f"Asked one of {len(r.detail['words'])} questions that one person answers, the release "
        f"answers with exactly that person's row with probability {percent(r.value)}."
    ),
    "homogeneity": lambda r, n: (
        f"For {people(r.value, n)} nearly the whole neighborhood has the record's own "
        "confidential value"
        + (": no linkage is needed to learn it." if r.value else ", so that a link is needed.")
    ),
    "uniqueness": _fill(
        "{People} are alone with their key values (original: {base}); with masked keys that is no "
        "proof of identity."
    ),
    "k_anonymity": _fill(
        "{People} share their key values with fewer than two others (original: {base})."
    ),
    "l_diversity": _fill("For {people} everybody with the same keys has one confidential value."),
    "t_closeness": lambda r, n: (
        f"Confidential values of people with equal keys depart from everybody's by "
        f"{r.value:.2f} on average (0 is none, 1 is as far as possible)."
    ),
    "individual_risk": _fill("Who takes released keys for true expects to identify {people}."),
    "suda": _fill("Up to three key variables single out {people}."),
    "loglinear_risk": lambda r, n: (
        f"Matching unique rows with the population gives {r.value * n:,.1f} right matches in "
        "expectation"
        + (
            "."
            if r.detail["population"] > n
            else ", if the file is the whole population (give its size or sampling weights)."
        )
    ),
    "interval_disclosure": _fill(
        "For {people} every number lies within 0.05 standard deviations of the person's own."
    ),
    "closest_record": lambda r, n: (
        f"A released row is {r.value:.2f} standard deviations from the nearest original; "
        f"neighboring originals are {r.baseline or 0:.2f} apart. "
        f"{_copies(len(r.detail['exact_copies']))}"
    ),
    "cells_changed": _fill(
        "{share} of the values differ from the record's own; what stays the same is either kept "
        "or a donor's equal value."
    ),
    "neighborhood_size": lambda r, n: (
        f"The donor of a typical record's value is one of {r.value:,.0f} others"
        + (
            f"; {percent(r.detail['share_governed_by_k'])} of the records have fewer than "
            f"{r.detail['k']} within ε."
            if r.detail["k"] is not None
            else "."
        )
    ),
    "nearest_distance": lambda r, n: (
        f"A typical released record is {r.value:.2f} standard deviations from the nearest other "
        f"one, against {r.baseline or 0:.2f} in the original: far from all others is easy to find."
    ),
    "cooks_distance": lambda r, n: (
        f"The record that sways the regression most has a Cook's distance of {r.value:.3g} "
        f"(original: {r.baseline or 0:.3g}); a large one stands out."
    ),
    "mahalanobis": lambda r, n: (
        f"The record farthest from the middle lies {r.value:.3g} away (original: "
        f"{r.baseline or 0:.3g}); who is known to be extreme is looked for there."
    ),
    "singling_out": lambda r, n: _beyond(r, "Conditions read off the release single people out"),
    "linkability": lambda r, n: _beyond(r, "Two halves of a record meet in one released row"),
    "inference": lambda r, n: _beyond(r, "The nearest row tells a confidential value"),
}


def _copies(count: int) -> str:
    if count == 1:
        return "1 row is an exact copy."
    return f"{count:,} rows are exact copies." if count else "No row is an exact copy."


def _strangers(reading: Reading) -> str:
    if reading.detail["control"] is None:
        return ""
    return f"for people who are not in the file it is {percent(reading.baseline or 0)}, "


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
            share = measure.bounds == (0.0, 1.0) and "distance" not in measure.unit
            against = "–" if reading.baseline is None else _short(reading.baseline, share=share)
            value = _short(reading.value, share=share)
            # a number and its percent sign stay on one line
            words = (sentence(reading, n) + sample(reading)).replace(" %", "\N{NO-BREAK SPACE}%")
            found.append([measure.title, value, against, words])
        else:
            found.append([measure.title, "n/a", "–", str(reading)])
    return found


def sample(reading: Reading) -> str:
    """Between which shares the number lies, where only some rows were looked at."""
    if reading.interval is None or not reading.detail.get("sampled"):
        return ""
    low, high = (f"{100 * end:.1f}" for end in reading.interval)
    return f" From a random sample of {len(reading.detail['records']):,} rows: {low} to {high} %."


def _short(number: float, *, share: bool) -> str:
    if not share:
        return f"{number:.3g}"
    digits = f"{100 * number:.2g}" if number < 0.1 else f"{100 * number:.1f}"
    return f"{digits}\N{NO-BREAK SPACE}%"
