"""Tables made of a table: what they share with it unchecked, and what is checked again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rwn_core.data import microdata as microdata_module
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import SchemaError
from rwn_core.neighbors.metric import discretely_weighted
from tests.core.data.every_type import BASE


def test_taking_records_keeps_types_and_schema() -> None:
    microdata = Microdata.from_frame(BASE)
    taken = microdata.take(np.array([2, 0, 2]))
    assert taken.frame["x"].tolist() == [3.0, 1.5, 3.0]
    assert (taken.frame.dtypes == microdata.frame.dtypes).all()
    assert taken.schema is microdata.schema


def test_another_schema_is_checked_and_weights_are_not_content() -> None:
    microdata = Microdata.from_frame(BASE)
    changed = microdata.with_schema(microdata.schema.replace_variable("x", role=Role.KEY))
    assert changed.fingerprint == microdata.fingerprint
    assert changed.notices == microdata.notices
    with pytest.raises(SchemaError, match="Column t holds texts"):
        microdata.with_schema(microdata.schema.replace_variable("t", kind=Kind.COUNT))
    assert microdata.with_weights({"x": 3.0}).schema.variable("x").weight == 3


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the columns that pass the gate from now on."""
    seen: list[str] = []
    check = microdata_module.check_column

    def counted(column: pd.Series, variable: Variable) -> None:
        seen.append(variable.name)
        check(column, variable)

    monkeypatch.setattr(microdata_module, "check_column", counted)
    return seen


LIKE = {
    "weights": lambda data: data.with_weights({"x": 3.0}),
    "a schema with weights": lambda data: data.with_schema(data.schema.with_weights({"x": 3.0})),
    "weights that shrink": discretely_weighted,
    "groups": lambda data: data.with_schema(data.schema.replace_variable("x", group="g")),
    "a question": lambda data: data.with_schema(
        replace(data.schema, question=Question(response="x", predictors=("t",)))
    ),
}


@pytest.mark.parametrize("change", LIKE.values(), ids=LIKE)
def test_what_says_nothing_of_the_values_shares_them_unchecked(
    checks: list[str], change: Callable[[Microdata], Microdata]
) -> None:
    microdata = Microdata.from_frame(BASE)
    kept = {name: microdata.array(name) for name in microdata.names}
    matrix = microdata.matrix(microdata.numeric_names)
    checks.clear()
    changed = change(microdata)
    assert not checks
    assert changed.schema != microdata.schema
    assert changed.notices == microdata.notices
    assert all(changed.array(name) is array for name, array in kept.items())
    assert changed.matrix(changed.numeric_names) is matrix


def test_another_kind_role_or_order_is_checked(checks: list[str]) -> None:
    plain = Microdata.from_frame(BASE)
    ordered = plain.with_schema(plain.schema.replace_variable("t", kind=Kind.ORDERED))
    assert ordered.codes("t")[0].tolist() == [0, -1, 1]
    for microdata, changes in (
        (plain, {"kind": Kind.ORDERED}),
        (plain, {"role": Role.IDENTIFIER}),
        (ordered, {"levels": ("b", "a")}),
    ):
        checks.clear()
        changed = microdata.with_schema(microdata.schema.replace_variable("t", **changes))
        assert checks == list(microdata.names)
    assert changed.codes("t")[0].tolist() == [1, -1, 0]


def test_what_is_said_of_a_table_is_what_its_description_says() -> None:
    """A kind that is chosen, taken back and chosen again leaves nothing behind."""
    frame = pd.DataFrame({"x": [1.0, 2.5, 3.0], "g": ["low", "mid", "high"]})
    data = Microdata.from_frame(frame, notices=("The file has a title.",))
    said = "g is ordered by the alphabet; give its levels for another order."
    ordered = data.schema.replace_variable("g", kind="ordered")
    for _ in range(3):
        data = data.with_schema(ordered)
        assert data.notices == ("The file has a title.", said)
        data = data.with_schema(data.schema.replace_variable("x", role="key"))
        assert data.notices.count(said) == 1
        data = data.with_schema(data.schema.replace_variable("g", kind="categorical", levels=None))
        assert data.notices == ("The file has a title.",)
