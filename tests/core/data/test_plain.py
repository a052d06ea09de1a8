"""One reader of plain data: a fault is one sentence with the key, what it must be, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rwn_core.data.plain import read_plain
from rwn_core.data.variable import Role
from rwn_core.errors import RWNError, SchemaError
from rwn_core.masking import METHODS
from rwn_core.reporting.context import Context
from rwn_core.reporting.scenario import Decision, Scenario
from rwn_core.tuning import Policy


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """Hold a part."""

    size: int
    share: float = 0.5
    role: Role = Role.OTHER


@dataclass(frozen=True, kw_only=True)
class Leaves:
    """Hold a list."""

    leaves: tuple[Leaf, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Hold a whole."""

    file_format: ClassVar[str] = "tree 1"
    name: str
    tall: bool = False
    branches: Leaves = field(default_factory=Leaves, metadata={"in_file": "branch"})
    weights: Mapping[str, float] = field(default_factory=dict)
    method: str | tuple[str, ...] = "rwn"
    top: Leaf | None = None
    rest: Any = None


def test_a_record_is_read_by_its_hints_and_names_in_the_file() -> None:
    plain = {
        "format": "tree 1",
        "name": "oak",
        "branch": [{"size": 1}, {"size": 2, "share": 1, "role": "key"}],
        "weights": {"a": 1, "b": 0.5},
        "method": ["rwn", "pram"],
        "top": None,
    }
    branches = Leaves(leaves=(Leaf(size=1), Leaf(size=2, share=1, role=Role.KEY)))
    assert read_plain(Tree, plain, "tree") == Tree(
        name="oak", branches=branches, weights={"a": 1, "b": 0.5}, method=("rwn", "pram")
    )


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ([], "The tree must be a table with: name, tall, branch, weights, method, top, rest."),
        ({}, "The tree has no name; state it."),
        ({"name": 3}, "The name of the tree must be a text; correct it."),
        ({"name": "x", "leaf": 1}, "The tree has the unknown field leaf; known are: name, tall, "),
        ({"name": "x", "branches": []}, "The tree has the unknown field branches; known are: name"),
        ({"name": "x", "tall": 1}, "The tall of the tree must be true or false; correct it."),
        ({"name": "x", "branch": {}}, "The branch of the tree must be a list; correct it."),
        ({"name": "x", "branch": "ab"}, "The branch of the tree must be a list; correct it."),
        ({"name": "x", "branch": [{}]}, "The branch[1] of the tree has no size; state it."),
        ({"name": "x", "branch": [{"size": True}]}, "The branch[1].size of the tree must be a wh"),
        ({"name": "x", "branch": [{"size": 1.0}]}, "The branch[1].size of the tree must be a wh"),
        ({"name": "x", "weights": {"a": "1"}}, "The weights.a of the tree must be a number; corr"),
        ({"name": "x", "weights": [1]}, "The weights of the tree must be a table; correct it."),
        ({"name": "x", "method": 3}, "The method of the tree must be a list; correct it."),
        ({"name": "x", "top": {"size": 1, "role": "x"}}, "The top.role of the tree must be one of"),
        ({"name": "x", "top": {"size": 1, "format": 1}}, "The top of the tree has the unknown fi"),
    ],
)
def test_a_fault_is_one_sentence(wrong: Any, why: str) -> None:
    with pytest.raises(SchemaError) as refused:
        read_plain(Tree, wrong, "tree", refusal=SchemaError)
    assert str(refused.value).startswith(why)
    assert str(refused.value).endswith(".")


NAMES = st.sampled_from([
    *("name", "note", "seed", "setting", "method", "parameters", "weights", "precision", "slices"),
    *("sweep", "axes", "measures", "limit", "measure", "at_most", "analysis_plan", "kind", "watch"),
    *("tolerance", "variables", "readings", "scenario", "chosen", "participants", "context"),
    *("intruder_test", "by", "day", "hours", "claims", "purpose"),
])  # fmt: skip
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("kind", [Scenario, Decision, Context, Policy])
@given(plain=PLAIN)
def test_whatever_a_file_holds_it_is_read_or_refused_in_a_sentence(kind: Any, plain: Any) -> None:
    faults = []
    try:
        read_plain(kind, plain, "file")
    except RWNError as refusal:  # of the reader, or a value that its record refuses
        faults.append(str(refusal))
    assert all(each.endswith(".") for each in faults)


WEIRD = (None, True, -1, 2.5, "", "x", [], [1], [["a"]], [[["a"]]], {}, {"a": 1}, [{}])


@pytest.mark.parametrize("method", METHODS)
def test_no_value_of_a_parameter_is_a_fault_of_the_program(method: str) -> None:
    for each in fields(METHODS[method]):
        for value in WEIRD:
            setting = {"method": method, "parameters": {each.name: value}}
            axes = {each.name: [value]}
            sweep = {"method": method, "measures": ["correlation"], "axes": axes}
            for document in ({"setting": setting}, {"sweep": sweep}):
                with suppress(RWNError):
                    Scenario.from_dict(document)
