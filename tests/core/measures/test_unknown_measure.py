"""The refusal of an unknown measure names the nearest, and not all."""

from __future__ import annotations

import pytest

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.measures import MEASURES, no_measure


def test_the_nearest_are_named_and_where_all_are() -> None:
    assert "near it: correlation," in no_measure("corelation")
    assert "bayes_linkage" in no_measure("linkage")
    assert no_measure("nope").endswith("docs/reference/measures.md lists all.")
    for key in ("corelation", "linkage", "nope", ""):
        assert sum(known in no_measure(key) for known in MEASURES) < 10


def test_an_audit_refuses_with_it() -> None:
    table = rwn.load_demo("bodyfat")
    with pytest.raises(
        ParameterError, match="There is no measure corelation; near it: correlation"
    ):
        rwn.audit(table, table, measures=["corelation"])
