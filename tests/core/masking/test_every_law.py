"""What the law of a method says of an intruder's success is how often he succeeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS
from rwn_core.measures.attacks.posterior import link
from tests.core.masking.method_tables import demo, key, prepared
from tests.holding import hold


def attacked(name: str) -> tuple[str, ...]:
    """Few variables, so that the attack neither always succeeds nor never."""
    return {"bodyfat": ("siri", "age"), "pima": ("pregnant", "age", "test", "insulin"),
            "cps1988": ("education", "ethnicity", "smsa", "region", "parttime")}[name]  # fmt: skip


def excess(made: Any, names: tuple[str, ...], releases: int, law: Any = None) -> float:
    """Analytic success less simulated success, in standard errors."""
    expected, counted = [], []
    for seed in range(releases):
        masked = made.release(key(seed)).masked
        links = link(law or made.law, masked, names)
        expected.append(links.best)
        counted.append(links.top1)
    apart = np.mean(expected, axis=1) - np.mean(counted, axis=1)
    by_row = np.subtract(expected, counted)
    error = max(apart.std(ddof=1) / np.sqrt(releases), by_row.std() / np.sqrt(by_row.size))
    return float(apart.mean() / max(error, 1e-9))


@pytest.mark.parametrize("name", ["bodyfat", "pima", "cps1988"])
@pytest.mark.parametrize("method", METHODS)
def test_the_attack_succeeds_as_often_as_the_law_says(method, name):
    try:
        made = prepared(method, demo(name))
    except ParameterError as refusal:
        pytest.skip(str(refusal))
    if made.law is None:
        pytest.skip("The method has no law.")
    assert abs(excess(made, attacked(name), 12)) < 3


def test_a_law_of_another_setting_does_not_say_how_often_it_succeeds():
    """The same for planted laws, of half the strength."""

    def rule(case: str) -> None:
        method, name = case.split(" on ")
        made = prepared(method, demo(name))
        strength = made.params.strength
        other = made.with_levers(**{strength: getattr(made.params, strength) / 2})
        names = ("wage", "region") if method == "record_swapping" else attacked(name)
        assert abs(excess(made, names, 12, other.law)) > 3

    hold(rule, ["random_swapping on cps1988", "record_swapping on cps1988", "pram on cps1988",
                "additive_noise on bodyfat"])  # fmt: skip
