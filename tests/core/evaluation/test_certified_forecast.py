"""Certified linkage before a release: by law and a priori, against releases and the measure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.errors import NotApplicable
from rwn_core.evaluation import certified_forecast
from rwn_core.evaluation.certified_forecast import forecast_certified
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.law import Law
from rwn_core.masking import RWN, SoftRWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.tuning.evaluate import Plan, PreparedTables, evaluate
from rwn_core.tuning.point import Setting
from tests.core.measures.test_certified_linkage import described


def soft(width: float = 3.0, cap: float = 1.0, balance: float = 0.0) -> RWN:
    return SoftRWN(
        kernel="exponential",
        bandwidth="absolute",
        width=width,
        cap=cap,
        own=True,
        balance=balance,
    )


def normal(n: int = 80, seed: int = 0) -> Microdata:
    values = np.random.default_rng(seed).normal(size=(n, 4))
    data = Microdata.from_frame(pd.DataFrame(values, columns=list("abcd")))
    return data.with_slices((("a", "b"), ("c", "d")))


def law_of(data: Microdata, params: RWN) -> Law:
    law = params.prepare(data).law
    assert law is not None
    return law


def by_release(data: Microdata, params: RWN, seeds: range) -> list[float]:
    values = []
    for seed in seeds:
        made = mask(data, params, seed=seed)
        found = MEASURES["certified_linkage"].read(
            Comparison(original=data, masked=made.masked, law=made.law)
        )
        assert isinstance(found, Reading)
        values.append(found.value)
    return values


def in_blocks(data: Microdata, params: RWN) -> CellLaw:
    """The law of a large table, of a small one."""
    kernel = params.ball.kernel
    found = AllDonors.of_points(params.points(data), kernel).neighborhoods()
    return CellLaw(data, found, np.ones(len(data.schema.released)))


@pytest.mark.parametrize("params", [soft(), soft(balance=1.0), soft(1.0, cap=0.2)])
def test_it_is_above_the_certificates_of_releases_and_not_far(params: RWN) -> None:
    """Ratios that hold for every draw are smaller than those of one."""
    data = normal()
    known, drawn = forecast_certified(law_of(data, params)), by_release(data, params, range(6))
    assert len(known) == 3
    assert min(known) >= max(drawn) * 0.9
    assert np.mean(drawn) <= np.mean(known) <= 6 * np.mean(drawn)


def test_bodyfat_in_two_slices_is_as_published_with_the_method() -> None:
    """.448 and .084 at widths 2 and 4, mean of three draws."""
    data = rwn.load_demo("bodyfat")
    names = list(data.frame)
    data = data.with_slices((tuple(names[:8]), tuple(names[8:])))
    for width, expected in ((2.0, 0.448), (4.0, 0.084)):
        found = np.mean(forecast_certified(law_of(data, soft(width))))
        assert found == pytest.approx(expected, rel=0.06)


def test_blocks_say_what_the_law_says_where_values_are_unique() -> None:
    data = normal(60)
    by_law = forecast_certified(law_of(data, soft()))
    a_priori = forecast_certified(in_blocks(data, soft()), rows=60)
    np.testing.assert_allclose(a_priori, by_law, rtol=1e-3)
    # a sample of the rows is about as high
    some = forecast_certified(in_blocks(data, soft()), rows=40)
    assert np.mean(some) == pytest.approx(np.mean(by_law), rel=0.2)


def test_records_of_one_household_are_no_cover() -> None:
    frame = normal(30).frame.assign(h=np.arange(30) // 3)
    alone = Microdata.from_frame(frame)
    together = described(alone, h={"role": Role.HOUSEHOLD})
    without = described(alone, h={"role": Role.IDENTIFIER}).with_slices((("a", "b"), ("c", "d")))
    assert np.mean(forecast_certified(law_of(together, soft()))) > 1.5 / 30
    in_rows = forecast_certified(in_blocks(together, soft()), rows=30)
    assert np.mean(in_rows) > np.mean(forecast_certified(in_blocks(alone, soft()), rows=30))
    # an identifier that repeats is a unit, too
    assert forecast_certified(law_of(without, soft())) != forecast_certified(
        law_of(normal(30), soft())
    )


def test_what_cannot_be_certified_is_refused() -> None:
    data = normal(30)
    for law in (None, law_of(data, RWN(k=5)), law_of(data, SoftRWN(kernel="exponential"))):
        with pytest.raises(NotApplicable):
            forecast_certified(law)
    kept = in_blocks(data, soft())
    kept.q = np.full(4, 0.5)
    with pytest.raises(NotApplicable, match="q = 1"):
        forecast_certified(kept)


def test_a_sweep_reads_a_setting_by_its_law_and_draws_nothing_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = normal()
    setting = Setting(params=soft()).resolved(data)
    plan = Plan(measures=("certified_linkage", "wasserstein"), releases=2)
    point = evaluate(data, setting, plan.keys, plan.measures)
    expected = float(np.mean(forecast_certified(law_of(data, soft()))))
    assert point.spreads["certified_linkage"].values == (expected,)
    assert len(point.spreads["wasserstein"].values) == 2
    monkeypatch.setattr(PreparedTables, "compared", None)
    alone = evaluate(data, setting, plan.keys, ("certified_linkage",))
    assert alone.median("certified_linkage") == expected


def test_draws_are_apart_from_those_of_releases() -> None:
    assert certified_forecast.FIRST_SEED > 1_000_000 * 10
