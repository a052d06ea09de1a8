"""What is expected of settings before a release is drawn, against what releases read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.forecast import forecast_sample, forecast_scan
from rwn_core.tuning import Grid, JobFolder, Plan, Setting, SweepRun, prepared, sweep
from rwn_core.tuning.forecast import EXPECTED, expected


def all_expected(data: rwn.Microdata, settings: list[Setting]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for part in expected(data, settings):
        found |= part
    return found


def large(n: int = 2_400) -> rwn.Microdata:
    random = np.random.default_rng(5)
    age = random.normal(40, 12, n)
    frame = {"age": age, "pay": age + random.normal(0, 8, n), "sex": random.choice(["f", "m"], n)}
    return rwn.Microdata.from_frame(pd.DataFrame(frame))


def test_the_figures_of_the_specification() -> None:
    data = rwn.load_demo("bodyfat")
    setting = Setting.of("rwn", {"epsilon": 3.0, "k": 5}).resolved(data)
    # the worked figures of the method's specification: 0.079 expected, 0.086 over releases
    assert all_expected(data, [setting])[setting.key]["correlation"] == pytest.approx(
        0.079, abs=0.006
    )


def test_they_are_what_releases_read_on_average() -> None:
    data = rwn.load_demo("bodyfat")
    setting = Setting.of("rwn", {"epsilon": 0.4, "k": 5, "q": 0.7}).resolved(data)
    found = all_expected(data, [setting])[setting.key]
    plan = Plan(measures=("cells_changed", "correlation", "principal_components"), releases=20)
    (point,) = sweep(data, setting, plan=plan, workers=1).points
    changed = point.spreads["cells_changed"].values
    error = 4 * np.std(changed, ddof=1) / np.sqrt(20)
    assert found["cells_changed"] == pytest.approx(np.mean(changed), abs=error)
    # a mean of absolute values: one release adds its noise, it never takes any away
    read = point.spreads["correlation"].values
    assert 0 <= found["correlation"] <= np.mean(read) + 4 * np.std(read, ddof=1) / np.sqrt(20)
    read = point.spreads["principal_components"].values
    assert found["principal_components"] == pytest.approx(np.mean(read), abs=2 * np.std(read))
    intact, shifts = [], []
    names = list(data.numeric_names)
    for seed in range(20):
        after = rwn.mask(data, setting.params, seed=seed).masked.frame
        intact.append((after == data.frame).all(axis=1).mean())
        shifts.append((after[names].mean() - data.frame[names].mean()) / data.frame[names].std())
    error = 4 * np.std(intact, ddof=1) / np.sqrt(20) + 1 / (20 * data.n)  # none, where it is rare
    assert found["expected_rows"] == pytest.approx(np.mean(intact), abs=error)
    noise = np.std(shifts, axis=0, ddof=1).mean() / np.sqrt(20)
    shift = np.abs(np.mean(shifts, axis=0)).mean()
    assert found["expected_means"] == pytest.approx(shift, abs=4 * noise)


def test_nothing_moves_at_q_zero() -> None:
    data = large()
    setting = Setting.of("rwn", {"k": 5, "q": 0.0}).resolved(data)
    found = all_expected(data, [setting])[setting.key]
    for key in set(EXPECTED) - {"expected_rows"}:
        assert found[key] == pytest.approx(0.0, abs=1e-9)
    assert found["expected_rows"] == pytest.approx(1.0)


def test_all_records_of_a_large_table_are_looked_at_where_they_are_few_enough() -> None:
    data = large()
    params = [rwn.RWN(epsilon=0.1, k=3), rwn.RWN(epsilon=0.2, k=5, q=0.5)]
    whole = forecast_scan(data, params)
    all_, same = forecast_sample(data, params)
    some, part = forecast_sample(data, params, pairs=12_000)
    assert same.n == data.n
    assert 50 < part.n < data.n
    for exact, again, near in zip(whole, all_, some, strict=True):
        assert np.allclose(exact.covariances, again.covariances)
        assert np.isclose(exact.rows_intact, again.rows_intact)
        share, of_all = near.cells_intact / part.n, exact.cells_intact / data.n
        assert np.allclose(share, of_all, atol=4 * 0.5 / np.sqrt(part.n))


def test_settings_without_a_closed_form_are_left_out() -> None:
    data = rwn.load_demo("bodyfat")
    plain = Setting.of("rwn", {"k": 5}, {"age": 2.0}).resolved(data)
    others = [
        Setting.of("rwn", {"k": 5}, precision={"age": 5.0}),
        Setting.of("rwn", {"epsilon": 0.0}),  # nobody lies within it
    ]
    found = all_expected(data, [plain, *(other.resolved(data) for other in others)])
    assert set(found) == {plain.key}


def test_an_estimate_says_from_how_many_releases_it_is() -> None:
    data = rwn.load_demo("bodyfat")
    closed, guessed = (Setting.of("rank_swapping", {"p": p}).resolved(data) for p in (0.04, 0.3))
    sample = Setting.of("sampling", {"left_out": 0.5}).resolved(data)
    found = all_expected(data, [closed, guessed, sample])
    assert "releases" not in found[closed.key]
    assert found[guessed.key]["releases"] == 100
    assert found[guessed.key]["correlation"] > found[closed.key]["correlation"] > 0
    assert found[sample.key]["correlation"] == pytest.approx(0, abs=1e-9)
    assert found[sample.key]["cells_changed"] == pytest.approx(120 / 241)


def test_the_first_worker_forecasts_a_large_table_before_its_releases(tmp_path) -> None:
    data = large()
    plan = Plan(measures=("correlation",), releases=1)
    settings = prepared(data, Grid(axes={"k": (3, 5)}), references=False)
    folder = JobFolder.open(tmp_path / "job", data, plan, settings)
    run = SweepRun(data, settings, plan, folder, workers=1, watched=True)
    run.join(60)
    found = run.forecasts()
    assert set(found) == {setting.key for setting in settings}
    when = folder.root.joinpath("forecast.json").stat().st_mtime_ns
    assert all(folder.path(setting).stat().st_mtime_ns > when for setting in settings)
    assert {name for each in found.values() for name in each} <= {*EXPECTED, "records"}
    assert SweepRun(data, settings, plan, folder, workers=1, watched=True).forecasts() == found
