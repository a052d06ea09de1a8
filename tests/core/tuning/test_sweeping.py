"""A sweep reads what an audit of the same releases reads, whoever computes it."""

from __future__ import annotations

import orjson
import pytest

import rwn_core as rwn
from rwn_core import Grid, ParameterError, Plan, Setting, sweep
from rwn_core.neighbors import find as find_module
from rwn_core.tuning.sweep import JobFolder

MEASURES = ("correlation", "distance_linkage", "neighborhood_size")
PLAN = Plan(measures=MEASURES, releases=3, seed=7)
GRID = Grid(axes={"epsilon": (0, 2), "k": (3, 5), "q": (0.5, 1)})


@pytest.fixture(scope="module")
def found(bodyfat):
    return sweep(bodyfat, GRID, plan=PLAN, workers=1)


def test_it_reads_what_an_audit_reads(bodyfat, found) -> None:
    assert len(found) == 8
    assert all(0 < point.seconds < 60 for point in found)
    for point in found:
        for number in range(3):
            release = rwn.mask(bodyfat, point.setting.params, seed=7 + number)
            audit = rwn.audit(bodyfat, release, measures=MEASURES)
            for key in MEASURES:
                assert point.spreads[key].values[number] == audit[key].value


def test_weights_of_a_setting_are_weights_of_the_table(bodyfat) -> None:
    heavy = bodyfat.with_weights({"age": 3.0})
    written = sweep(bodyfat, Setting.of("rwn", {"k": 5}, {"age": 3.0}), plan=PLAN, workers=1)
    own = sweep(heavy, Setting.of("rwn", {"k": 5}), plan=PLAN, workers=1)
    assert written.points[0].to_dict() | {"seconds": 0} == own.points[0].to_dict() | {"seconds": 0}
    release = rwn.mask(heavy, rwn.RWN(k=5), seed=7)
    value = rwn.audit(heavy, release, measures=["distance_linkage"])["distance_linkage"].value
    assert written.points[0].spreads["distance_linkage"].values[0] == value


def test_every_release_is_rounded_before_it_is_measured(bodyfat) -> None:
    steps = {"age": 10, "weight": 25, "siri": 5}
    axes = {"k": (5,), "q": (0.7,)}
    keys = ("bayes_linkage", "marginals", "cells_changed", "intruder_levels")
    plan = Plan(measures=keys, releases=2, seed=7)
    exact, coarse = sweep(
        bodyfat, Grid(axes=axes, precision=({}, steps)), plan=plan, workers=1
    ).points
    for number in range(2):
        release = rwn.mask(bodyfat, coarse.setting.params, precision=steps, seed=7 + number)
        audit = rwn.audit(bodyfat, release, measures=keys)
        for key in keys:
            assert coarse.spreads[key].values[number] == audit[key].value
    # twelve exact variables link everybody all the same, the keys do not
    assert coarse.median("bayes_linkage") <= exact.median("bayes_linkage")
    assert coarse.median("intruder_levels") < exact.median("intruder_levels")
    assert coarse.median("marginals") > exact.median("marginals")


def test_any_method_can_be_swept_beside_another(bodyfat) -> None:
    grids = [Grid(axes={"k": (5,)}), Grid(axes={"epsilon": (3.0,), "q": (0.5,)}, method="nbrs2015")]
    points = sweep(bodyfat, grids, plan=PLAN, workers=1).points
    assert [point.setting.method for point in points] == ["rwn", "nbrs2015"]
    release = rwn.mask(bodyfat, rwn.NBRS2015(epsilon=3.0, q=0.5), seed=9)
    value = rwn.audit(bodyfat, release, measures=["correlation"])["correlation"].value
    assert points[1].spreads["correlation"].values[2] == value
    sizes = rwn.audit(bodyfat, release, measures=["neighborhood_size"])["neighborhood_size"]
    written = points[1].spreads["neighborhood_size"]
    assert written.reason == getattr(sizes, "reason", None)
    assert (written.values or (None,))[-1] == getattr(sizes, "value", None)


def test_a_refused_setting_is_a_reason_and_no_failure(bodyfat) -> None:
    settings = [*(Setting.of("rwn", each) for each in ({"epsilon": 0.0}, {"k": 241}, {"k": 5}))]
    plan = Plan(measures=("correlation", "prediction"), releases=2)
    points = sweep(bodyfat, settings, plan=plan, workers=1).points
    assert points[2].spreads["prediction"].median is None
    assert "held-out" in points[2].spreads["prediction"].reason
    assert "no other record within epsilon" in points[0].spreads["correlation"].reason
    assert "k must be" in points[1].spreads["correlation"].reason
    assert points[2].median("correlation") is not None


def test_a_measure_that_fails_does_not_end_the_sweep(bodyfat, monkeypatch) -> None:
    secret = "sentinel-078-05-1120"

    def fail(self, comparison, **how):
        raise ValueError(secret)

    monkeypatch.setattr(type(rwn.MEASURES["correlation"]), "read", fail)
    point = sweep(bodyfat, Setting.of("rwn", {"k": 5}), plan=PLAN, workers=1).points[0]
    assert "ValueError" in point.spreads["correlation"].reason
    assert secret not in point.spreads["correlation"].reason


def test_one_table_of_neighbors_serves_all_settings_of_a_metric(bodyfat, monkeypatch) -> None:
    made = []
    original = find_module.neighbor_table

    def counted(*arguments, **more):
        made.append(1)
        return original(*arguments, **more)

    monkeypatch.setattr(find_module, "neighbor_table", counted)
    grid = Grid(axes={"epsilon": (0, 1, 2), "k": (3, 5)}, weights=({}, {"age": 2.0}))
    sweep(bodyfat, grid, plan=PLAN, workers=1)
    assert len(made) == 2


def test_the_folder_resumes_and_holds_metrics_only(bodyfat, found, tmp_path) -> None:
    place = tmp_path / "job"
    half = GRID.settings()[:4]
    sweep(bodyfat, half, plan=PLAN, workers=1, folder=place)
    kept = {path.name: path.stat().st_mtime_ns for path in place.iterdir()}
    again = sweep(bodyfat, GRID, plan=PLAN, workers=1, folder=place)
    for name, when in kept.items():
        if name != "manifest.json":
            assert (place / name).stat().st_mtime_ns == when
    assert again.frame().equals(found.frame())
    allowed = {"setting", "readings", "shown", "seconds"}
    for path in place.glob("*.json"):
        document = orjson.loads(path.read_bytes())
        if path.name == "manifest.json":
            assert document["measures"] == list(MEASURES)
            continue
        assert set(document) == allowed
        for reading in document["readings"].values():
            ends = {"unmasked", "unrelated"}  # of the table, a number each
            assert set(reading) - ends == {"values", "baseline", "reason"}
            assert all(isinstance(reading[end], float) for end in ends & set(reading))
            assert len(reading["values"]) <= PLAN.releases


def test_a_damaged_point_is_made_again(bodyfat, found, tmp_path) -> None:
    place = tmp_path / "job"
    sweep(bodyfat, GRID, plan=PLAN, workers=1, folder=place)
    victim = next(path for path in place.glob("*.json") if path.name != "manifest.json")
    victim.write_bytes(b'{"setting": {')
    assert sweep(bodyfat, GRID, plan=PLAN, workers=1, folder=place).frame().equals(found.frame())


def test_a_folder_of_something_else_is_refused(bodyfat, tmp_path) -> None:
    place = tmp_path / "job"
    sweep(bodyfat, GRID.settings()[:1], plan=PLAN, workers=1, folder=place)
    other = Plan(measures=MEASURES, releases=3, seed=8)
    with pytest.raises(ParameterError, match="another table"):
        sweep(bodyfat, GRID, plan=other, workers=1, folder=place)
    (tmp_path / "letters.txt").write_text("x", encoding="utf-8")
    with pytest.raises(ParameterError, match="other files"):
        JobFolder(tmp_path, bodyfat, PLAN)


@pytest.mark.parametrize(
    "wrong", [{"measures": ()}, {"measures": ("x",)}, {"releases": 0}, {"seed": -1}]
)
def test_a_plan_checks_itself(wrong: dict) -> None:
    with pytest.raises(ParameterError):
        Plan(**{"measures": MEASURES, **wrong})
