"""Attacks ask a law for its components, never for its type: a mixture that no method has."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.forecast import forecast_law
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.law import MixtureComponent
from rwn_core.measures.attacks.posterior import likelihoods
from rwn_core.measures.attacks.predicate import Condition, Predicate
from rwn_core.measures.risk.membership import fingerprints
from rwn_core.measures.risk.repeated_releases import bhattacharyya, simulate
from rwn_core.neighbors import find_neighborhoods
from rwn_core.neighbors.metric import coordinates
from tests.core.laws.cell_probability import probability

CORE = Path(__file__).parents[3] / "rwn_core"
OWN_FILES = {"cell_law.py", "row_mixture_law.py", "donors.py"}
WEIGHTS = (0.5, 0.2, 0.3)
Q = ((0.0, 0.0), (1.0, 0.4), (0.3, 0.8))  # of each component's variables


class ThreeWays(CellLaw):
    """A row comes about in one of three ways."""

    def components(self) -> tuple[MixtureComponent, ...]:
        return tuple(
            MixtureComponent(weight, CellLaw(self.original, self.neighborhoods, np.array(q)))
            for weight, q in zip(WEIGHTS, Q, strict=True)
        )


@pytest.fixture
def data() -> Microdata:
    return Microdata.from_frame(
        pd.DataFrame({"x": [0.0, 0.0, 1.0, 2.0, 3.0, 7.0], "y": [1.0, 2.0, 2.0, 3.0, 3.0, 8.0]})
    )


@pytest.fixture
def law(data) -> ThreeWays:
    mean_q = np.array(WEIGHTS) @ np.array(Q)
    return ThreeWays(data, find_neighborhoods(coordinates(data), k=2, epsilon=0.4), mean_q)


def rows_of(law: CellLaw) -> tuple[list[tuple[float, float]], np.ndarray]:
    """All rows there may be, and each record's probability to release them, by the definition."""
    values = [law.table(name)[1] for name in ("x", "y")]
    rows = list(product(*values))
    chances = np.zeros((law.original.n, len(rows)))
    for weight, cells in law.components():
        for place, (x, y) in enumerate(rows):
            for i in range(law.original.n):
                both = probability(cells, i, "x", x) * probability(cells, i, "y", y)
                chances[i, place] += weight * both
    return rows, chances


def test_a_row_is_as_likely_as_its_components_make_it(data, law):
    rows, chances = rows_of(law)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    masked = Microdata(pd.DataFrame(rows, columns=["x", "y"]), data.schema)
    found, logs = likelihoods(law, masked, np.arange(len(rows)))
    np.testing.assert_allclose(found.toarray() * np.exp(logs), chances, atol=1e-14)
    of_one = likelihoods(CellLaw(data, law.neighborhoods, law.q), masked, np.arange(len(rows)))
    assert not np.allclose(of_one[0].toarray() * np.exp(of_one[1]), chances, atol=1e-3)


def test_questions_are_answered_over_all_components(data, law):
    rows, chances = rows_of(law)
    fits = np.array([x <= 1.0 for x, _ in rows])
    tells = np.array([y == 2.0 for _, y in rows])
    asked = Predicate(conditions=(Condition(name="x", sign="at most", value=1.0),))
    expected = chances[:, fits].sum(axis=1)
    np.testing.assert_allclose(asked.chances(law), expected, atol=1e-14)
    both = chances[:, fits & tells].sum(axis=1)
    given = np.divide(both, expected, out=np.zeros(6), where=expected > 0)
    np.testing.assert_allclose(asked.tells(law, "y", data.values("y") == 2.0), given, atol=1e-14)


def test_two_records_are_at_most_as_alike_as_is_said(law):
    _, chances = rows_of(law)
    exact = np.sqrt(chances) @ np.sqrt(chances).T
    found = bhattacharyya(law)
    assert (found >= exact - 1e-12).all()
    assert found.min() < 0.9


def test_releases_are_drawn_way_by_way(data, law):
    draws, generator = 6000, np.random.default_rng(4)
    rows, chances = rows_of(law)
    number = {row: place for place, row in enumerate(rows)}
    seen = np.zeros_like(chances)
    shown = np.zeros(6)
    own_values = data.matrix(["x", "y"])
    alone = (own_values[:, None] == own_values).sum(axis=1) == 1
    for _ in range(draws):
        released = simulate(law, generator).frame[["x", "y"]].to_numpy()
        for i, row in enumerate(map(tuple, released)):
            seen[i, number[row]] += 1
        again = (own_values[:, None] == released).any(axis=1)
        shown += (alone & again).any(axis=1)
    noise = 5 * np.sqrt(chances * (1 - chances) / draws) + 1e-12
    assert (np.abs(seen / draws - chances) <= noise).all()
    appears, own = fingerprints(law)
    assert own.tolist() == [1, 0, 1, 1, 1, 2]
    assert (np.abs(shown / draws - appears) <= 5 * np.sqrt(0.25 / draws)).all()
    of_one, _ = fingerprints(CellLaw(data, law.neighborhoods, law.q))
    assert (np.abs(shown / draws - of_one) > 5 * np.sqrt(0.25 / draws)).any()


def test_what_needs_independent_cells_says_so(law):
    with pytest.raises(NotApplicable, match="independently"):
        _ = law.independent
    with pytest.raises(ParameterError, match="independently"):
        forecast_law(law)
    assert CellLaw(law.original, law.neighborhoods, law.q).independent.q is law.q


def test_nobody_asks_a_law_for_its_type():
    asks = re.compile(r"isinstance\(.*Law\b|type\(.*law\)")
    for path in CORE.rglob("*.py"):
        if path.parent.name != "laws" and path.name not in OWN_FILES:
            assert not asks.search(path.read_text(encoding="utf-8")), path
