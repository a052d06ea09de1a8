"""Random swapping: counts stay, pairs are as many as asked for, and only the rare may take part."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import ParameterError
from rwn_core.io.demo import load_demo
from rwn_core.masking import RandomSwapping, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison


@pytest.fixture(scope="module")
def data() -> Microdata:
    rng = np.random.default_rng(1)
    n = 301
    frame = pd.DataFrame(
        {
            "g": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
            "h": rng.choice(["u", "v"], n),
            "id": [f"person {i}" for i in range(n)],
            "x": rng.normal(size=n),
        }
    )
    return Microdata.from_frame(frame)


def with_roles(data: Microdata, **changes: dict[str, object]) -> Microdata:
    from dataclasses import replace

    variables = tuple(replace(v, **changes.get(v.name, {})) for v in data.schema.variables)
    return data.with_schema(replace(data.schema, variables=variables))


@pytest.mark.parametrize("pairs", ["disjoint", "successive"])
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_every_variable_keeps_its_values_exactly(data, pairs, share):
    method = RandomSwapping(share=share, pairs=pairs)
    masked = mask(data, method, seed=2).masked
    for name in data.names:
        before, after = (table.frame[name].value_counts().to_dict() for table in (data, masked))
        assert before == after
    assert masked.frame["x"].equals(data.frame["x"])
    moved = (masked.frame["id"] != data.frame["id"]).sum()
    assert moved == 2 * int(share * 301 / 2) if pairs == "disjoint" else 0 < moved <= share * 301
    law = method.prepare(data).law
    for name in ("g", "h"):
        table, _ = law.table(name)
        own = law.table(name)[0].sum(axis=0)
        np.testing.assert_allclose(own, data.frame[name].value_counts().sort_index(), rtol=1e-12)
        np.testing.assert_allclose(table.sum(axis=1), 1.0)


def test_variables_have_pairs_of_their_own_unless_they_are_a_group(data):
    grouped = with_roles(data, g={"group": "one"}, h={"group": "one"})
    apart, together = (
        mask(each, RandomSwapping(share=0.5, variables="g,h"), seed=4).masked.frame
        for each in (data, grouped)
    )
    joint = data.frame.groupby(["g", "h"]).size()
    assert together.groupby(["g", "h"]).size().equals(joint)
    assert not apart.groupby(["g", "h"]).size().equals(joint)
    units = RandomSwapping(variables="g,h").prepare(grouped).law.units()
    assert ("g", "h") in units


def test_only_rare_records_take_part(data):
    keyed = with_roles(data, g={"role": Role.KEY}, h={"role": Role.KEY})
    size = keyed.frame.groupby(["g", "h"])["x"].transform("size").to_numpy()
    rare = size < size[size > size.min()].min()
    method = RandomSwapping(share=1.0, rarer_than=int(size.min()) + 1, variables="id")
    prepared = method.prepare(keyed)
    masked = mask(keyed, method, seed=5).masked
    moved = (masked.frame["id"] != keyed.frame["id"]).to_numpy()
    assert moved.any()
    assert not moved[~rare].any()
    law = prepared.law
    np.testing.assert_array_equal(law.retained("id")[~rare], 1.0)
    assert np.all(law.retained("id")[rare] < 0.1)
    assert "only they are swapped" in method.remarks(keyed, law)[-1]
    with pytest.raises(ParameterError, match="needs key variables"):
        RandomSwapping(rarer_than=2).prepare(data)


def test_nobody_rare_means_nothing_is_swapped(data):
    keyed = with_roles(data, h={"role": Role.KEY})
    method = RandomSwapping(share=1.0, rarer_than=2)
    assert mask(keyed, method, seed=6).masked.frame.equals(keyed.frame)
    assert method.prepare(keyed).law.rows_unchanged().min() == 1


def test_a_value_of_one_person_is_in_the_release_for_certain(data):
    release = mask(data, RandomSwapping(share=0.5), seed=7)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    assert MEASURES["membership"].compute(comparison).value == pytest.approx(1.0)


def test_a_table_of_numbers_is_swapped_too():
    data = load_demo("bodyfat")
    masked = mask(data, RandomSwapping(share=1.0), seed=8).masked
    for name in data.names:
        np.testing.assert_array_equal(np.sort(masked.values(name)), np.sort(data.values(name)))


def test_numbers_can_be_released_rounded():
    data = load_demo("pima")
    method = RandomSwapping(share=1.0, variables=("age", "test"))
    release = mask(data, method, precision={"age": 10}, seed=9)
    table, values = release.law.table("age")
    assert set(release.masked.frame["age"]) <= set(values)
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    assert release.law.restricted_to(data).units() == release.law.units()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"share": 20}, "not a percentage"),
        ({"share": 1.5}, "not a percentage"),
        ({"share": -0.1}, "share must be a number from 0 to 1"),
        ({"share": True}, "share must be a number"),
        ({"pairs": "some"}, "pairs must be one of: disjoint, successive"),
        ({"rarer_than": -1}, "rarer_than must be a whole number"),
        ({"rarer_than": True}, "rarer_than must be a whole number"),
        ({"variables": "g,,h"}, "separate them by commas"),
        ({"variables": ("g", "g")}, "each variable once"),
        ({"others": "drop"}, "others must be one of"),
    ],
)
def test_what_is_no_setting_is_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        RandomSwapping(**options)


def test_variables_must_be_there_and_be_masked(data):
    for name in ("nobody", "x"):
        shown = with_roles(data, x={"masked": False})
        with pytest.raises(ParameterError, match=f"{name} is no variable that is to be masked"):
            RandomSwapping(variables=(name,)).prepare(shown)
    schema = Schema(variables=(Variable(name="x", kind=Kind.CONTINUOUS, role=Role.IDENTIFIER),))
    hidden = Microdata.from_frame(data.frame[["x"]], schema)
    with pytest.raises(ParameterError, match="direct identifier"):
        RandomSwapping().prepare(hidden)
