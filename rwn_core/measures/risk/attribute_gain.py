"""Attribute gain: what the release adds to what an intruder could name without its records."""

from __future__ import annotations

from rwn_core.measures.attacks.attribute_guesses import best_guesses
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.intervals import newcombe


def compute(comparison: Comparison) -> Reading:
    """Success of attribute inference minus its baseline; below 0 where the baseline does better."""
    found = best_guesses(comparison)
    reference = float(found.baseline or 0.0)
    people = int(found.detail["people"])
    outside = people if found.detail["control"] is None else int(found.detail["control_people"])
    return Reading(
        value=found.value - reference,
        baseline=0.0,
        interval=newcombe((found.value * people, people), (reference * outside, outside)),
        detail={**found.detail, "attack": found.value, "reference": reference},
    )


def sentence(reading: Reading, n: int) -> str:
    """Say what the release adds, beside both numbers that it is the difference of."""
    attack, reference = reading.detail["attack"], reading.detail["reference"]
    who = "for people who are not in the file" if reading.detail["control"] is not None else (
        "for one who names what most rows say"
    )  # fmt: skip
    both = f"an informed intruder is right for {percent(attack)}, {who} it is {percent(reference)}"
    if reading.value <= 0:
        return f"The release adds nothing to naming a confidential value: {both}."
    low, high = reading.interval or (reading.value, reading.value)
    return (
        f"The release tells a confidential value of {percent(reading.value)} more of the people "
        f"(95 % interval {100 * low:.2g} to {100 * high:.2g} %): {both}."
    )


MEASURE = Measure(
    key="attribute_gain",
    title="Attribute gain",
    side="risk",
    better="lower",
    bounds=(-1.0, 1.0),
    unit="share of people beyond the baseline",
    question="For how many more people does an intruder who knows everybody's key variables and "
    "the method name a confidential value rightly than without the release's records?",
    sentence=sentence,
    source="Attribute inference minus its baseline: people who are not in the file, or without a "
    "control group naming the majority; interval of Newcombe 1998, method 10",
    compute=compute,
    of_released=True,
)
