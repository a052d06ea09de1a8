"""Questions about one person: the search that finds them, and a release's answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import NotApplicable
from rwn_core.masking import NBRS2015, RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.predicate import (
    Condition,
    Predicate,
    answer,
    simplest_between,
    single_record_predicates,
)
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk.repeated_releases import simulate


def staff() -> Microdata:
    """One female engineer among ten people."""
    frame = pd.DataFrame(
        {
            "sex": ["f", "m", "m", "m", "f", "f", "f", "m", "m", "f"],
            "job": ["engineer", *["engineer"] * 3, *["clerk"] * 6],
            "age": [40, 30, 35, 50, 28, 61, 45, 33, 44, 52],
            "wage": [9.0, 4, 5, 6, 3, 2, 4, 3, 5, 4],
        }
    )
    schema = Schema(
        variables=(
            Variable(name="sex", kind=Kind.CATEGORICAL, role=Role.KEY),
            Variable(name="job", kind=Kind.CATEGORICAL, role=Role.KEY),
            Variable(name="age", kind=Kind.COUNT, role=Role.KEY),
            Variable(name="wage", kind=Kind.CONTINUOUS, role=Role.CONFIDENTIAL),
        )
    )
    return Microdata.from_frame(frame, schema)


def test_the_lone_female_engineer_is_found():
    data = staff()
    found = single_record_predicates(data, ["sex", "job", "age"])
    words = {predicate.words: record for predicate, record in found}
    assert words["sex = f and job = engineer"] == 0
    for predicate, record in found:
        assert np.flatnonzero(predicate.matches(data, data)).tolist() == [record]


def test_the_answer_agrees_with_simulated_releases():
    data = staff()
    law = RWN(k=3, q=0.7).prepare(data).release(mask_key()).law
    predicate = single_record_predicates(data, ["sex", "job"])[0][0]
    expected, _ = answer(law, predicate)
    generator = np.random.default_rng(3)
    counts = np.array(
        [predicate.matches(data, simulate(law, generator)).sum() for _ in range(1500)]
    )
    for count in range(3):
        share, chance = (counts == count).mean(), expected[count]
        assert abs(share - chance) < 4 * np.sqrt(chance * (1 - chance) / 1500) + 1e-9


def mask_key():
    from rwn_core.randomness import SecretKey

    return SecretKey.from_seed(1)


def test_query_attack_reading():
    data = staff()
    release = mask(data, RWN(k=3, q=0.5), seed=4)
    reading = MEASURES["queries"].compute(
        Comparison(original=data, masked=release.masked, law=release.law)
    )
    detail = reading.detail
    assert detail.secret == "wage"
    place = detail.words.index("sex = f and job = engineer")
    assert detail.record[place] == 0
    assert 0 < detail.one_and_target[place] <= detail.one[place] <= 1
    assert 0 <= detail.disclosed[place] <= detail.one[place] + 1e-12
    assert reading.baseline == 1.0


def in_one_group(data: Microdata, names: tuple[str, ...]) -> Microdata:
    schema = data.schema
    for name in names:
        schema = schema.replace_variable(name, group="together")
    return data.with_schema(schema)


LONE = Predicate(
    conditions=(
        Condition(name="sex", sign="is", value="f"),
        Condition(name="job", sign="is", value="engineer"),
    )
)
TOLD_BY = {
    "whole rows, all modified": (RWN(k=4, q=1.0), ("sex", "job", "age", "wage")),
    "whole rows": (RWN(k=4, q=0.5), ("sex", "job", "age", "wage")),
    "secret beside one condition": (RWN(k=6, q=0.8), ("sex", "wage")),
    "no groups": (RWN(k=4, q=0.8), ()),
    "2015, whole rows": (NBRS2015(epsilon=4.0, q=0.9), ("sex", "job", "age", "wage")),
    "2015, no groups": (NBRS2015(epsilon=4.0, q=0.9), ()),
}


@pytest.mark.parametrize("case", TOLD_BY)
def test_what_a_lone_match_tells_agrees_with_simulated_releases(case):
    """A secret that shares its donor with a condition comes from somebody who fulfils it."""
    params, together = TOLD_BY[case]
    data = in_one_group(staff(), together)
    law = params.prepare(data).release(mask_key()).law
    fits = data.values("wage") == 9.0
    alone = np.clip(answer(law, LONE)[1], 0.0, 1.0)
    stated = float(alone @ LONE.tells(law, "wage", fits))
    generator, releases, hits = np.random.default_rng(3), 700, 0
    for _ in range(releases):
        masked = simulate(law, generator)
        matches = np.flatnonzero(LONE.matches(data, masked))
        hits += len(matches) == 1 and masked.values("wage")[matches[0]] == 9.0
    error = np.sqrt(max(stated * (1 - stated), 1e-4) / releases)
    assert abs(hits / releases - stated) < 4 * error
    if case == "whole rows, all modified":  # it is not as if the secret had a donor of its own
        apart = float(alone @ np.asarray(law.probabilities @ fits))
        assert abs(hits / releases - apart) > 10 * error


def test_no_lone_member():
    data = Microdata.from_frame(pd.DataFrame({"g": ["a", "a", "b", "b"], "h": ["u"] * 4}))
    law = mask(data, RWN(k=1), seed=1).law
    with pytest.raises(NotApplicable, match="exactly one person"):
        MEASURES["queries"].compute(Comparison(original=data, masked=data, law=law))


@given(
    st.floats(-1e9, 1e9, allow_nan=False, width=32), st.floats(-1e9, 1e9, allow_nan=False, width=32)
)
def test_a_limit_lies_strictly_between_two_values(one, other):
    found = simplest_between(one, other)
    assert min(one, other) < found < max(one, other) or found == other


def test_found_questions_print_no_value_of_a_record(bodyfat):
    found = single_record_predicates(bodyfat, ["weight", "abdomen", "neck"])
    cuts = [
        c for predicate, _ in found for c in predicate.conditions if len(predicate.conditions) == 1
    ]
    assert cuts
    for cut in cuts:
        assert cut.value not in bodyfat.values(cut.name)
        assert len(f"{cut.value:g}") <= 6
