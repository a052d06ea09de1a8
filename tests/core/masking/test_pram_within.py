"""PRAM within strata: values are drawn among records that are alike in chosen variables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.masking import PRAM

# north knows no boats; south has both, and one record says nothing
FRAME = pd.DataFrame(
    {
        "region": ["north"] * 6 + ["south"] * 8,
        "way": ["car", "car", "car", "car", "foot", "foot"] + ["boat", "boat", "car"] * 2
        + ["foot", None],
    }
)  # fmt: skip
DATA = Microdata.from_frame(FRAME)


def listed(params: PRAM) -> pd.DataFrame:
    """P(each way | record), under the law."""
    table, values = params.prepare(DATA).law.table("way")
    return pd.DataFrame(table.toarray(), columns=values)


def test_the_chances_are_those_of_the_stratum() -> None:
    chances = listed(PRAM(change=0.3, spread="margins", within="region"))
    assert chances.loc[0, ["car", "foot"]].tolist() == pytest.approx([0.7 + 0.3 * 4 / 6, 0.1])
    assert chances.loc[6, ["boat", "car", "foot"]].tolist() == pytest.approx(
        [0.7 + 0.3 * 4 / 7, 0.3 * 2 / 7, 0.3 / 7]
    )
    assert (chances.loc[:5, "boat"] == 0).all()
    assert chances.loc[13].tolist()[-1] == 1.0  # missing stays missing


@pytest.mark.parametrize("spread", ["even", "margins"])
def test_the_invariant_form_keeps_the_shares_of_each_stratum(spread: str) -> None:
    chances = listed(PRAM(change=0.5, spread=spread, alpha=0.8, within="region"))
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    for region in ("north", "south"):
        here = FRAME["region"] == region
        counts = chances[here].sum()
        for way, count in FRAME.loc[here, "way"].value_counts().items():
            assert counts[way] == pytest.approx(count)


def test_who_lacks_the_strata_does_not_know_the_law() -> None:
    law = PRAM(change=0.3, within="region").prepare(DATA).law
    schema = DATA.schema.__class__(variables=(DATA.schema.variable("way"),))
    with pytest.raises(NotApplicable, match="law is not known"):
        law.restricted_to(Microdata(DATA.frame[["way"]], schema))
    with pytest.raises(NotApplicable, match="more than their own values"):
        law.unit_chances(("way",), DATA, np.arange(2), DATA)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"within": "way", "variables": "way"}, "must not share"),
        ({"within": "town"}, "released variables, not town"),
        ({"within": "region,way"}, "name fewer in within"),
        ({"within": "region", "matrices": {"way": [[1.0]]}}, "within"),
    ],
)
def test_what_cannot_be_is_refused(options: dict, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        PRAM(**options).prepare(DATA)
