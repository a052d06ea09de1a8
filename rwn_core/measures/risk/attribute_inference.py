"""Attribute inference: success of the worst-case intruder at naming a confidential value."""

from __future__ import annotations

from rwn_core.measures.attacks.attribute_attack import PREDICTIONS, TOGETHER
from rwn_core.measures.attacks.attribute_guesses import SECRETS_OF_UNITS, best_guesses
from rwn_core.measures.attacks.likeliest_value import WORDS
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import percent


def sentence(reading: Reading, n: int) -> str:
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


MEASURE = Measure(
    key="attribute_inference",
    title="Attribute inference, worst case",
    side="risk",
    unit="share of people",
    question="For how many people does an intruder who knows everybody's key variables and the "
    f"method name the worst confidential variable correctly ({WORDS}), by the best of ten "
    "strategies?",
    sentence=sentence,
    source="Posterior of sources and donors by Bayes' rule on the method's law, row by row and of "
    "all rows together, and predictions from the keys; compared with people outside the file, or "
    "without a control group with naming the majority",
    compute=best_guesses,
    of_released=True,
    of_units=SECRETS_OF_UNITS,
    against_control=True,
    view=View(
        charts=("guessing_attacks",), label="attribute, worst case", on={"report": 30, "guesses": 4}
    ),
)
