"""Attributes: naming a confidential variable, and what the release adds to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rwn_core.measures.attacks.attribute_attack import PREDICTIONS, STRATEGIES, TOGETHER
from rwn_core.measures.attacks.attribute_guesses import SECRETS_OF_UNITS, best_guesses
from rwn_core.measures.attacks.likeliest_value import WORDS
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import percent

# Attribute inference: success of the worst-case intruder at naming a confidential value


def attribute_inference_sentence(reading: Reading, n: int) -> str:
    """Say how often an informed intruder names the worst variable, and by which strategy."""
    detail = reading.detail
    worst = int(detail["worst"])
    outside = ""
    if detail["control"] is not None:
        outside = f"for people who are not in the file it is {percent(reading.baseline or 0)}, "
    if len(detail["secrets"]) > 1:
        outside = f"no other confidential variable gains more; {outside}"
    also = ""
    if detail["strategies"][worst].removesuffix(TOGETHER) in PREDICTIONS:
        also = " Such a prediction says something about people outside of the file, too."
    return (
        f"An informed intruder names {detail['secrets'][worst]} correctly for "
        f"{percent(reading.value)} of the {detail.get('unit_words', 'people')}, by "
        f"{detail['strategy_words'][worst]}, and its exact value for "
        f"{percent(float(detail['exact'][worst]))}; {outside}naming what most rows say is right "
        f"for {percent(float(detail['ignorant'][worst]))}.{also}{detail.get('scope', '')}"
    )


ATTRIBUTE_INFERENCE = Measure(
    key="attribute_inference",
    title="Attribute inference, worst case",
    unit="share of people",
    question="For how many people does an intruder who knows everybody's key variables and the "
    f"method name the worst confidential variable correctly ({WORDS}), by the best of ten "
    "strategies?",
    sentence=attribute_inference_sentence,
    source="Posterior of sources and donors by Bayes' rule on the method's law, row by row and of "
    "all rows together, and predictions from the keys; compared with people outside the file, or "
    "without a control group with naming the majority",
    compute=best_guesses,
    of_released=True,
    of_units=SECRETS_OF_UNITS,
    against_control=True,
    view=View(
        charts=("guessing_attacks",),
        label="attribute, worst case",
        places={"report": 30, "guesses": 4},
    ),
)


# Attribute gain: success of naming a confidential value beyond the baseline


def compute_attribute_gain(comparison: Comparison) -> Reading:
    """Return the largest gain of a confidential variable; below 0 if the baseline is better."""
    # The gain is success less baseline, or the score of naming one level or sure records, whichever
    # is larger.
    found = best_guesses(comparison)
    worst = int(found.detail["worst"])
    gain = found.detail["gains"][worst]
    return Reading(
        value=gain["value"],
        baseline=0.0,
        interval=gain["interval"],
        detail={
            **found.detail,
            "attack": gain["attack"],
            "reference": gain["reference"],
            "secret": found.detail["secrets"][worst],
            "gain": gain,
        },
    )


def attribute_gain_sentence(reading: Reading, n: int) -> str:
    """Say how much the release adds to naming the worst confidential variable."""
    detail = reading.detail
    gain, secret = detail["gain"], detail["secret"]
    attack, reference = gain["attack"], gain["reference"]
    who = "for people who are not in the file" if detail["control"] is not None else (
        "for an intruder who names the most frequent value"
    )  # fmt: skip
    both = f"an informed intruder is right for {percent(attack)}, {who} it is {percent(reference)}"
    if reading.value <= 0:
        return f"The release adds nothing to naming a confidential value: {both}."
    low, high = reading.interval or (reading.value, reading.value)
    ends = f"{_digits(low)} to {_digits(high)} %"
    unit_words = reading.unit_words
    more = f"{percent(reading.value)} more of the {unit_words} (95 % interval {ends})"
    if gain["of_all"]:
        return (
            f"The release discloses {secret} of {more}: {both}. "
            f"The best way is {_how(gain['strategy'])}{detail.get('scope', '')}"
        )
    naming = gain["naming"]
    return (
        f"{naming_words(secret, naming, unit_words)}. Beyond chance the release discloses {secret} "
        f"of {more}. The best way is {_how(naming['strategy'])} Of all {unit_words} {both}."
        f"{detail.get('scope', '')}"
    )


def naming_words(secret: str, naming: Mapping[str, Any], unit_words: str = "people") -> str:
    """Say how many people of a level are named, and how many of the names are correct."""
    recall, right = naming["right"] / naming["people"], naming["right"] / naming["named"]
    who = f"Of the {secret} of"
    if naming["level"] is not None:
        who = f"The worst level is {secret} = {naming['level']}: of its"
    elif naming["certainty"]:
        who = f"An intruder who names {secret} only where he is {percent(naming['certainty'])} sure"
        who = f"{who} or more: of"
    return (
        f"{who} {naming['people']:,.0f} {unit_words} {percent(recall)} are named correctly, and "
        f"{percent(right)} of the names are right"
    )


def _digits(share: float) -> str:
    return f"{100 * share:.2g}" if abs(share) < 0.995 else f"{100 * share:.0f}"


def _how(strategy: str) -> str:
    if strategy.removesuffix(TOGETHER) not in PREDICTIONS:
        return f"{STRATEGIES[strategy]}."
    return (
        f"{STRATEGIES[strategy]}. Such a prediction says something about people outside of the "
        "file, too."
    )


ATTRIBUTE_GAIN = Measure(
    key="attribute_gain",
    title="Attribute gain",
    bounds=(-1.0, 1.0),
    unit="share of people beyond the baseline",
    question="For how many more people, or people of the worst level, does an intruder who knows "
    "everybody's key variables and the method name the worst confidential variable correctly "
    f"({WORDS}) than without the release's records?",
    sentence=attribute_gain_sentence,
    source="Attribute inference minus its baseline (people who are not in the file, or without a "
    "control group naming the majority; interval of Newcombe 1998, method 10), or recall times "
    "precision beyond chance of naming one level, or of naming where the posterior is at least "
    ".5, .8 or .95 (precision: lower bound of Clopper and Pearson 1934); rows and models that name "
    "no more people than luck does, at three standard errors, count as nothing",
    compute=compute_attribute_gain,
    of_released=True,
    of_units=SECRETS_OF_UNITS,
    view=View(places={"report": 99, "worst cases": 8}),
)
