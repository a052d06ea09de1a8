"""True fragments in closed form: against enumeration in fractions, and simulated releases."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.masking import NBRS2015, RWN
from rwn_core.measures import read
from rwn_core.measures.attacks.value_survival import fragments
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk.repeated_releases import simulate
from rwn_core.randomness import SecretKey


def together(table: Microdata, names: tuple[str, ...]) -> Microdata:
    schema = table.schema
    for name in names:
        schema = schema.replace_variable(name, group="together")
    return table.with_schema(schema)


def chances(law: Law) -> list[list[Fraction]]:
    """P(row i takes its unit from record t), in fractions and by the definition."""
    neighborhoods, n = law.neighborhoods, law.original.n
    starts, records = neighborhoods.pairs()
    q = Fraction(float(law.q[0])).limit_denominator(100)
    table = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        table[i][i] += 1 - q
        members = records[starts[i] : starts[i + 1]].tolist()
        for t in members:
            table[i][t] += q / len(members)
    return table


def enumerated(law: Law) -> list[tuple[Fraction, Fraction]]:
    """Over all tables of donors: P(a person's fragment appears), and the expected rows."""
    table, n = chances(law), law.original.n
    appears, rows = [Fraction(0)] * n, [Fraction(0)] * n
    choices = [[t for t in (*range(n), None) if t is None or table[i][t]] for i in range(n)]
    for donors in product(*choices):
        chance = prod(
            (1 - sum(row) if t is None else row[t] for row, t in zip(table, donors, strict=True)),
            start=Fraction(1),
        )
        for t in set(donors) - {None}:
            appears[t] += chance
            rows[t] += chance * donors.count(t)
    return list(zip(appears, rows, strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_the_closed_form_is_what_all_tables_of_donors_say(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 6))
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.permutation(n) * 1.0})
    table = together(Microdata.from_frame(frame), ("a", "b"))
    q = [0.25, 0.5, 1.0][seed % 3]
    params = NBRS2015(epsilon=1.5, q=q) if seed % 4 == 3 else RWN(k=int(rng.integers(1, 3)), q=q)
    law = params.prepare(table).release(SecretKey.from_seed(1)).law
    appears, rows = fragments(law, ("a", "b"))
    by_hand = enumerated(law)
    assert appears == pytest.approx([float(one) for one, _ in by_hand], abs=1e-12)
    assert rows == pytest.approx([float(each) for _, each in by_hand], abs=1e-12)


@pytest.fixture(scope="module")
def grouped(bodyfat: Microdata) -> Microdata:
    return together(bodyfat, ("age", "weight", "height"))


@pytest.mark.parametrize("params", [RWN(epsilon=4.0, k=5, q=0.8), NBRS2015(epsilon=4.0, q=0.8)])
def test_simulated_releases_show_as_many_as_expected(grouped, params):
    law = params.prepare(grouped).release(SecretKey.from_seed(1)).law
    generator, start = np.random.default_rng(5), Comparison(original=grouped, masked=grouped)
    seen, expected = [], []
    for _ in range(40):
        sets = read("true_matches", start.with_masked(simulate(law, generator), law)).detail
        assert sets.known.sets[0] == ("age", "weight", "height")
        seen.append(sets.found[0])
        expected.append(sets.expected[0])  # of those who leave, where rows are lost
    error = np.std(seen, ddof=1) / np.sqrt(len(seen))
    assert abs(np.mean(seen) - np.mean(expected)) < 3 * error
    assert sets.expected[5] is None  # no three others share a donor
    # who adds the rows up instead errs: two rows may show the same person
    _, rows = fragments(law, ("age", "weight", "height"))
    leave = np.mean(expected) / sets.expected[0]
    assert abs(np.mean(seen) - leave * np.minimum(rows, 1.0).mean()) > 5 * error


def test_no_neighborhoods_no_fragments(e1_law):
    law = e1_law(0.5)
    law.neighborhoods = None
    with pytest.raises(NotApplicable, match="needs neighborhoods"):
        fragments(law, ("x",))
