"""Attribute inference: what the worst-case intruder learns of a person's confidential value."""

from __future__ import annotations

from rwn_core.measures.attacks.attribute_guesses import best_guesses
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import percent


def sentence(reading: Reading, n: int) -> str:
    """Say what an informed intruder learns and how, beside one who knows less."""
    found = zip(reading.detail["secrets"], reading.detail["strategy_words"], strict=True)
    how = "; ".join(f"{name} by {words}" for name, words in found)
    outside = ""
    if reading.detail["control"] is not None:
        outside = f"for people who are not in the file it is {percent(reading.baseline or 0)}, "
    return (
        f"An informed intruder names a confidential value rightly for {percent(reading.value)} of "
        f"the people ({how}); {outside}naming what most rows say is right for "
        f"{percent(float(reading.detail['ignorant'].mean()))}."
    )


MEASURE = Measure(
    key="attribute_inference",
    title="Attribute inference, worst case",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="share of people",
    question="For how many people does an intruder who knows everybody's key variables and the "
    "method name a confidential value rightly (a number within 0.1 standard deviations), by the "
    "best of five strategies?",
    sentence=sentence,
    source="Posterior of sources and donors by Bayes' rule on the method's law; beside people who "
    "are not in the file, or without a control group beside naming the majority",
    compute=best_guesses,
    of_released=True,
)
