"""Random swapping: counts stay, pairs are as many as asked for, and only the rare may take part."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.masking import RandomSwapping, mask


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
