"""Nothing public is said of a release that shows each of its people."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ReleaseError
from rwn_core.reporting.leak_check import refuse_identifiers


def table(n: int = 40, **columns: object) -> Microdata:
    numbers = np.random.default_rng(3)
    frame = pd.DataFrame({"x": numbers.normal(size=n), "g": numbers.choice(["a", "b"], n)})
    return Microdata.from_frame(frame.assign(**columns))


def test_an_ordinary_table_passes() -> None:
    refuse_identifiers(table(10))
    refuse_identifiers(table(place=[f"place {i // 2}" for i in range(40)]))


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        ([f"ada{i}@example.org" for i in range(40)], "e-mail addresses"),
        ([f"Zaphod {i}" for i in range(40)], "the name or number of a record"),
        ([f"Zaphod {min(i, 35)}" for i in range(40)], "the name or number of a record"),
        ([None] * 20 + [f"Zaphod {i}" for i in range(20)], "the name or number of a record"),
    ],
)
def test_texts_that_name_people_are_refused_without_being_said(
    texts: list[str | None], what: str
) -> None:
    with pytest.raises(ReleaseError, match=f"variable who looks like {what}") as refusal:
        refuse_identifiers(table(who=texts))
    assert "make it an identifier, which no release holds, and mask again" in str(refusal.value)
    assert "Zaphod" not in str(refusal.value)
    assert "example.org" not in str(refusal.value)


def test_as_an_identifier_it_is_in_no_release_and_passes() -> None:
    data = table(who=[f"Zaphod {i}" for i in range(40)])
    refuse_identifiers(data.with_schema(data.schema.replace_variable("who", role="identifier")))


def test_a_table_of_few_records_is_refused() -> None:
    with pytest.raises(ReleaseError, match="fewer than 10 records, so that each of them shows"):
        refuse_identifiers(table(9))
