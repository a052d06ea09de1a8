"""Inference: the confidential value of the released row nearest in the keys as a guess."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.attribute_guesses import SECRETS_OF_UNITS
from rwn_core.measures.attacks.guessing import (
    Closest,
    attacked_people,
    control_sample,
    guess_reading,
)
from rwn_core.measures.attacks.likeliest_value import is_category, secret_values, secret_weights
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import beyond_a_guess
from rwn_core.measures.statistics.key_variables import key_names, required_confidential
from rwn_core.neighbors.distance import TIE

RELATIVE = 0.05  # of the true value within which a guessed number is right


def right_guesses(truth: Floats, guesses: Floats, *, numeric: bool) -> Booleans:
    """Return True for guesses of the same category or within 5 %, shape (m, v)."""
    # `truth` has shape (m, 1), `guesses` (1, v); NaN is never right.
    with np.errstate(invalid="ignore"):
        right = (
            np.abs(guesses - truth) <= RELATIVE * np.abs(truth) * (1 + TIE)
            if numeric
            else guesses == truth
        )
    return np.asarray(right, dtype=bool)


def compute(comparison: Comparison) -> Reading:
    """Return the risk that the nearest released row discloses a value, beyond the control."""
    secret = required_confidential(comparison)[0]
    keys = tuple(name for name in key_names(comparison) if name != secret)
    if not keys:
        raise NotApplicable("No key variable other than the confidential one is left.")
    original = comparison.original
    numeric = not is_category(original, secret)
    closest = Closest(comparison, keys)
    released = secret_values(original, comparison.masked, secret)

    def successes(people: Microdata, units: Integers | None = None) -> tuple[float, int]:
        truth = secret_values(original, people, secret)
        ties, weights = closest.ties(closest.people(people)), secret_weights(truth, units)
        right = right_guesses(truth[:, None], released[closest.rows][None], numeric=numeric)
        shares = (ties & right).sum(axis=1) / ties.sum(axis=1)
        return float((weights * shares).sum()), round(float(weights.sum()))

    chosen = attacked_people(comparison)
    people = original.take(chosen)
    units = None if comparison.units is None else comparison.units[chosen]
    attacked, control = successes(people, units), control_sample(comparison)
    if attacked[1] == 0:
        raise NotApplicable(f"Nobody who is attacked has a value of {secret}.")
    on_control = None if control is None else successes(control)
    truth = secret_values(original, people, secret)
    right = right_guesses(truth[:, None], released[None], numeric=numeric)
    guess = right[~np.isnan(truth)].mean()
    if units is not None:  # the different values of a person count the same
        guess = np.average(right.mean(axis=1), weights=secret_weights(truth, units))
    return guess_reading(
        attacked,
        on_control if on_control is not None and on_control[1] else None,
        float(guess),
        names=list(keys),
        secret=secret,
    )


MEASURE = Measure(
    key="inference",
    title="Inference",
    side="risk",
    unit="risk beyond control",
    question="How often does the released row nearest in the key variables tell a person's "
    "confidential value, more often than for people who are not in the file?",
    sentence=beyond_a_guess("The nearest row tells a confidential value"),
    source="WP216 (2014), inference; prior work: Giomi et al. 2023; a number within 5 % is right; "
    "without a control group, beyond a random guess",
    compute=compute,
    of_released=True,
    of_units=SECRETS_OF_UNITS,
    against_control=True,
    view=View(charts=("guessing_attacks",), label="inference", on={"report": 30, "guesses": 3}),
)
