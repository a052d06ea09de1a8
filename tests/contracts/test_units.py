"""Risk does not depend on units: a column times a million, or a millionth, changes no reading."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from rwn_core import measures
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind, Role
from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS, Method, at_levers, mask
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures import MEASURES, read
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Detail, Reading
from tests.contracts.dominance_attacks import linkers, worst_linkage
from tests.contracts.dominance_cases import table

N = 90
RISKS = [key for key, measure in MEASURES.items() if measure.side == "risk"]
FACTORS = (1e6, 1e-6)
CHAIN = 0.005  # what a chain of permutations, which float noise leads elsewhere, may differ by


def in_other_units(data: Microdata) -> Microdata:
    """The numbers that are not rounded, in turn a million times as large and as small."""
    names = [v.name for v in data.schema.variables if v.kind is Kind.CONTINUOUS]
    factors = {name: FACTORS[place % 2] for place, name in enumerate(names)}
    frame = data.frame.assign(**{name: data.frame[name] * by for name, by in factors.items()})
    return Microdata.from_frame(frame, data.schema)


def amounts() -> Microdata:
    """Ages, a normal number, amounts of money of very different size and sex; all are keys."""
    rng = np.random.default_rng(5)
    n = 200
    frame = pd.DataFrame({"age": rng.integers(18, 90, n), "b": rng.normal(size=n)})
    for name, size in (("u", 2e6), ("v", 5e7), ("w", 5e6)):
        spread = np.exp(0.6 * frame["b"] + 0.8 * rng.normal(size=n))
        frame[name] = np.round(spread * size)
    data = Microdata.from_frame(frame.assign(sex=rng.choice(["m", "f"], n)))
    for name in data.names:
        data = data.with_schema(data.schema.replace_variable(name, role=Role.KEY))
    return data


def setting(method: str, data: Microdata) -> Method | None:
    """A method a fifth along the lever of its strength; None where it does not take the table."""
    kind = METHODS[method]
    start = kind(**neutral_levers(kind))
    try:
        lever = start.prepare(data).ranges[kind.strength]
    except ParameterError:
        return None
    value = lever.low + 0.2 * (lever.high - lever.low)
    whole = next(each.whole_number for each in kind.levers if each.name == kind.strength)
    moved: Method = at_levers(start, {kind.strength: round(value) if whole else round(value, 3)})
    return moved


def released(data: Microdata, params: Method) -> Comparison:
    release = mask(data, params, seed=3)
    return Comparison(original=data, masked=release.masked, law=release.law)


@cache
def tables() -> dict[str, Microdata]:
    return {name: table(name).take(np.arange(N)) for name in ("bodyfat", "holes")}


def differences(data: Microdata, params: Method) -> list[str]:
    one, two = (released(each, params) for each in (data, in_other_units(data)))
    wrong = []
    for key in RISKS:
        first, second = (measures.MEASURES[key].read(each, bare=True) for each in (one, two))
        if not isinstance(first, Reading) or not isinstance(second, Reading):
            if type(first) is not type(second):
                wrong.append(f"{key} has an answer in one unit only")
            continue
        chain = "weighed" in {getattr(x.detail, "attack", "") for x in (first, second)}
        if second.value != pytest.approx(first.value, rel=1e-6, abs=CHAIN if chain else 1e-9):
            wrong.append(f"{key}: {first.value} is {second.value} in other units")
    return wrong


def check(method: str, names: Iterable[str]) -> int:
    """Hold a method's risks on these tables; how many the method takes."""
    tried = 0
    for name in names:
        params = setting(method, tables()[name])
        if params is not None:
            tried += 1
            assert differences(tables()[name], params) == []
    return tried


@pytest.mark.parametrize("method", METHODS)
def test_no_risk_depends_on_the_unit_of_a_column(method: str) -> None:
    """On a table with categories and empty cells, or else one of numbers."""
    assert check(method, ["holes"]) or check(method, ["bodyfat"])


@pytest.mark.nightly
@pytest.mark.parametrize("method", METHODS)
def test_no_risk_of_numbers_alone_depends_on_their_unit(method: str) -> None:
    assert check(method, ["bodyfat"])


def test_a_reading_that_depends_on_units_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: distances of values as they are, not in standard deviations."""

    def unscaled(comparison: Comparison) -> Reading:
        names = [v.name for v in comparison.original.schema.released if v.kind is Kind.CONTINUOUS]
        gaps = [
            np.nan_to_num(each.matrix(names)) for each in (comparison.original, comparison.masked)
        ]
        apart = ((gaps[0][:, None] - gaps[1][None]) ** 2).sum(axis=2)
        return Reading(value=float((apart.argmin(axis=0) == np.arange(N)).mean()), detail=Detail())

    planted = {**MEASURES, "suda": replace(MEASURES["suda"], compute=unscaled)}
    monkeypatch.setattr(measures, "MEASURES", planted)
    data = tables()["bodyfat"]
    params = setting("additive_noise", data)
    assert params is not None
    assert differences(data, params)


@pytest.mark.parametrize("method", METHODS)
def test_no_linkage_is_above_the_worst_case_whatever_the_units(method: str) -> None:
    data = amounts()
    params = setting(method, data)
    if params is None:
        pytest.skip("the method does not take this table")
    comparison = released(data, params)
    worst = worst_linkage(comparison)
    team = read("red_team", comparison)
    assert isinstance(team, Reading)
    if worst:
        above = [x for x in linkers(comparison) if worst[x.knows] < x.floor]
        assert not above
        link = team.detail.identity  # of the released rows, which may be few
        assert link.certain * link.people / data.n <= worst["all"]
