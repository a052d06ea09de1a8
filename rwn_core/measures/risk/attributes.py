"""Attributes: naming a confidential variable, and what the release adds to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.attribute_attack import (
    PREDICTIONS,
    STRATEGIES,
    TOGETHER,
    Success,
    gain,
    outside_rate,
)
from rwn_core.measures.attacks.attribute_guesses import SECRETS_OF_UNITS, AttributeAttack
from rwn_core.measures.attacks.guessing import attacked_people, control_sample
from rwn_core.measures.attacks.left_out_people import PeopleLeftOut
from rwn_core.measures.attacks.likeliest_value import WORDS
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Detail, Measure, Reading, some_of
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.intervals import wilson_interval
from rwn_core.measures.statistics.key_variables import required_confidential

# Attribute inference: success of the worst-case intruder at naming a confidential value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttributeGuesses(Detail):
    """The details of naming a confidential value from the key variables and the method.

    Attributes
    ----------
    names : list of str
        The key variables.
    secrets : list of str, length m
        The confidential variables.
    worst : int
        Which of them is named most beyond the baseline; of a gain, to which the file adds most.
    strategies : list of str, length m
        The key of each one's best strategy, of STRATEGIES.
    rates : list of mapping of str to float, length m
        The success of each strategy.
    exact, informed, ignorant : ndarray of float64, shape (m,)
        Success at the exact value, by the best strategy, and by naming the majority.
    control : ndarray of float64, shape (m,), optional
        Success of the same strategies on people outside the file.
    gains : list of mapping, length m
        Each one's `attribute_attack.gain`, with its level by name.
    people : float
        People with a value of the worst variable.
    attack : float, optional
        Of a gain, the success that it is read from.
    """

    secrets: list[str]
    worst: int
    strategies: list[str]
    rates: list[Mapping[str, float]]
    exact: Floats
    informed: Floats
    ignorant: Floats
    control: Floats | None
    gains: list[dict[str, Any]]
    people: float
    attack: float | None = None


NO_OUTSIDE = "Success on people outside the file cannot be read."


def best_guesses(comparison: Comparison) -> Reading[AttributeGuesses]:
    """Return the mean success of the best strategy, cached for all measures that read it."""
    # its baseline is the same strategies' success on people outside, or naming the majority
    return comparison.cached_for_release("attribute guesses", lambda: _best_guesses(comparison))


def _described_gains(
    tried: AttributeAttack, found: Sequence[Success], outside: Sequence[Any] | None
) -> list[dict[str, Any]]:
    """Return the gain on each secret, with its scope and the level that is named best."""
    gains = []
    for at, (secret, levels, success) in enumerate(
        zip(tried.secrets, tried.levels, found, strict=True)
    ):
        described = gain(success, outside[at] if outside else ())
        described["scope"] = _scope(tried.law, secret, success, described)
        _name_level(described["naming"], levels)
        gains.append(described)
    return gains


def _best_guesses(comparison: Comparison) -> Reading[AttributeGuesses]:
    required_confidential(comparison)
    tried = AttributeAttack(comparison, comparison.required_law("The worst case"))
    people = released_rows(comparison.original, comparison.masked)
    total = len(people)
    if total > QUICK_RECORDS:
        people = np.sort(attacked_people(comparison, QUICK_RECORDS))
    found = tried.on_people(people)
    outside = _outside(comparison, tried, people)
    gains = _described_gains(tried, found, outside)
    # what an intruder names best need not be what the file adds most to
    worst = 0
    if len(found) > 1:
        named = gains if comparison.holdout is not None else [gain(each) for each in found]
        worst = int(np.argmax([each["value"] for each in named]))
    best = [each.best for each in found]
    control = None
    if outside is not None:  # the success of the same strategies, or the majority
        control = np.array([outside_rate(*each)[0] for each in zip(outside, best, strict=True)])
    informed = np.array([each.rates[each.best] for each in found])
    ignorant = np.array([each.rates["majority"] for each in found])
    value = float(informed[worst])
    attacked = gains[worst]["people"]
    return Reading(
        value=value,
        baseline=float((ignorant if control is None else control)[worst]),
        interval=wilson_interval(value * attacked, attacked) if len(people) < total else None,
        detail=AttributeGuesses(
            names=list(tried.keys),
            secrets=list(tried.secrets),
            worst=worst,
            strategies=best,
            rates=[each.rates for each in found],
            exact=np.array([max(each.exact.values()) for each in found]),
            informed=informed,
            ignorant=ignorant,
            control=control,
            gains=gains,
            people=attacked,
            scope=gains[worst]["scope"],
            **some_of(people, total),
        ),
    )


def _name_level(naming: dict[str, Any], levels: Sequence[object] | None) -> None:
    """Write the level that is named itself, where its place among the levels stands."""
    if levels is not None and naming["level"] is not None:
        naming["level"] = levels[naming["level"]]


def _outside(
    comparison: Comparison, tried: AttributeAttack, people: Integers
) -> list[list[Success]] | None:
    """Return success on people outside: those left out, or the same as if each were."""
    outsiders = control_sample(comparison)
    law = tried.law
    try:
        if outsiders is None:
            return PeopleLeftOut(tried, people).successes()
        return tried.on_outsiders(outsiders)
    except NotApplicable as refusal:
        # slices that know each other keep relations, which disclose nothing: without people
        # outside it is unknown what their rows tell
        if law.tied is not None or law.later:
            raise NotApplicable(f"{NO_OUTSIDE} {refusal.reason}") from refusal
    return None  # naming the majority is then the baseline, and the gain is one at most


def _scope(law: Law, secret: str, found: Success, gained: Mapping[str, Any]) -> str:
    """Say how much of a gain comes from neighborhoods that the secret itself helped to choose."""
    if law.neighborhoods is None or not law.original.schema.by_name[secret].weight:
        return ""
    by_keys = ("nearest", *PREDICTIONS)  # by rows and keys alone
    rates = [
        min(rate, found.at_most.get(key, 1.0))
        for key, rate in found.rates.items()
        if key.removesuffix(TOGETHER) in by_keys
    ]
    attained = max([0.0, *[rate - gained["reference"] for rate in rates]])
    if attained >= gained["value"]:
        return ""
    points = 100 * (gained["value"] - attained)
    return (
        f" This is an upper bound: {secret} has a weight in the distance, so neighborhoods depend "
        f"on it, and of the gain of {100 * gained['value']:.2g} % up to {points:.2g} points are "
        "what these tell an intruder who knows them. By near rows and models alone it is at "
        f"least {100 * attained:.2g} %; weight 0 on {secret} leaves it out of the distance."
    )


def attribute_inference_sentence(reading: Reading[AttributeGuesses], n: int) -> str:
    """Say how often an informed intruder names the worst variable, and by which strategy."""
    detail = reading.detail
    worst = reading.detail.worst
    best = detail.strategies[worst]
    outside = ""
    who = reading.unit_words
    if detail.control is not None:
        outside = f"for {who} who are not in the file it is {percent(reading.baseline or 0)}, "
    if len(detail.secrets) > 1:
        outside = f"no other confidential variable gains more; {outside}"
    return (
        f"An informed intruder names {detail.secrets[worst]} correctly for "
        f"{percent(reading.value)} of the {who}, by {STRATEGIES[best]}, and its exact value for "
        f"{percent(float(detail.exact[worst]))}; {outside}naming what most rows say is right "
        f"for {percent(float(detail.ignorant[worst]))}.{_also(best)}{detail.scope}"
    )


def gains_table(reading: Reading[AttributeGuesses], _: int) -> dict[str, Any]:
    """Return the gain in naming each confidential variable, and its worst level."""
    detail = reading.detail
    rows = []
    for at in np.argsort([-each["value"] for each in detail.gains], kind="stable").tolist():
        gained = detail.gains[at]
        # the worst level, and recall and precision of naming it
        naming = gained["naming"]
        worst = ["–", "–", "–"]
        if naming["score"]:
            level = "all" if naming["level"] is None else naming["level"]
            level += f", {percent(naming['certainty'])} sure" if naming["certainty"] else ""
            worst = [level, *(percent(naming["right"] / naming[of]) for of in ("people", "named"))]
        rates = (float(detail.informed[at]), float(detail.exact[at]), gained["reference"])
        rows.append([detail.secrets[at], *map(percent, rates), *worst, percent(gained["value"])])
    return {
        "title": "Which confidential value is disclosed?",
        "columns": [
            "confidential",
            "named correctly",
            "exact value",
            "without the release",
            "worst level",
            "named of it",
            "names that are right",
            "gain",
        ],
        "rows": rows,
        "caption": "Named correctly: the share of people, by the best strategy. Worst level: "
        "recall and precision of naming its people, or people an intruder is sure of. "
        "Gain: the larger one of both, beyond the baseline. The largest gain decides.",
    }


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
    about="value",
    tables=(gains_table,),
    shared="guessing_attacks",
    label="attribute, worst case",
    places={"tables of values": 3, "report": 30, "guesses": 4},
)


# Attribute gain: success of naming a confidential value beyond the baseline


def compute_attribute_gain(comparison: Comparison) -> Reading[AttributeGuesses]:
    """Return the largest gain of a confidential variable; below 0 if the baseline is better."""
    # The gain is success less baseline, or the score of naming one level or sure records, whichever
    # is larger.
    detail = best_guesses(comparison).detail
    worst = int(np.argmax([each["value"] for each in detail.gains]))
    gain = detail.gains[worst]
    more = {"people": gain["people"], "attack": gain["attack"], "scope": gain["scope"]}
    detail = replace(detail, worst=worst, **more)
    return Reading(value=gain["value"], baseline=0.0, interval=gain["interval"], detail=detail)


def attribute_gain_sentence(reading: Reading[AttributeGuesses], n: int) -> str:
    """Say how much the release adds to naming the worst confidential variable."""
    detail = reading.detail
    gain = detail.gains[detail.worst]
    secret = detail.secrets[detail.worst]
    attack, reference = gain["attack"], gain["reference"]
    unit_words = reading.unit_words
    who = "for an intruder who names the most frequent value"
    if detail.control is not None:
        who = f"for {unit_words} who are not in the file"
    both = f"an informed intruder is right for {percent(attack)}, {who} it is {percent(reference)}"
    if reading.value <= 0:
        return f"The release adds nothing to naming a confidential value: {both}."
    # two digits of a share in percent, or all of them
    low, high = (
        f"{100 * x:.2g}" if abs(x) < 0.995 else f"{100 * x:.0f}"
        for x in reading.interval or (reading.value, reading.value)
    )
    more = f"{percent(reading.value)} more of the {unit_words} (95 % interval {low} to {high} %)"
    if gain["of_all"]:
        return (
            f"The release discloses {secret} of {more}: {both}. The best way is "
            f"{STRATEGIES[gain['strategy']]}.{_also(gain['strategy'])}{detail.scope}"
        )
    # how many people of a level are named, and how many of the names are correct
    naming = gain["naming"]
    level = gain["naming"]["level"]
    recall, right = naming["right"] / naming["people"], naming["right"] / naming["named"]
    named = f"Of the {secret} of"
    sure = naming["certainty"]
    if level is not None:
        named = f"The worst level is {secret} = {level}: of its"
    elif sure:
        named = f"An intruder who names {secret} only where he is {percent(sure)} sure or more: of"
    return (
        f"{named} {naming['people']:,.0f} {unit_words} {percent(recall)} are named correctly, and "
        f"{percent(right)} of the names are right. Beyond chance the release discloses {secret} "
        f"of {more}. The best way is {STRATEGIES[naming['strategy']]}."
        f"{_also(naming['strategy'])} Of all {unit_words} {both}.{detail.scope}"
    )


def _also(strategy: str) -> str:
    predicts = strategy.removesuffix(TOGETHER) in PREDICTIONS
    return " Such a prediction says something about people outside of the file, too." * predicts


ATTRIBUTE_GAIN = Measure(
    key="attribute_gain",
    usual_limit=0.05,
    raised_by="attribute",
    title="Attribute gain",
    at_least="Attribute gain, at least",
    bounds=(-1.0, 1.0),
    unit="share of people beyond the baseline",
    question="For how many more people, or people of the worst level, does an intruder who knows "
    "everybody's key variables and the method name the worst confidential variable correctly "
    f"({WORDS}) than without the release's records?",
    sentence=attribute_gain_sentence,
    source="Attribute inference minus its baseline (people who are not in the file: a control "
    "group, with the interval of Newcombe 1998, method 10, or each person of the file as if the "
    "own rows and values were not in the release; of too many, naming the majority), or recall "
    "times precision beyond chance of naming one level, or of naming where the posterior is at "
    "least .5, .8 or .95 (precision: lower bound of Clopper and Pearson 1934); rows and models "
    "that name no more people than luck does, at three standard errors, count as nothing",
    compute=compute_attribute_gain,
    of_released=True,
    of_units=SECRETS_OF_UNITS,
    about="value",
    places={"report": 99, "worst cases": 8},
)
