"""Settings, grids and sweeps: read as an audit reads, whoever computes it."""

import os
import signal
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import Grid, ParameterError, Plan, Setting, sweep
from rwn_core.errors import NotWritten, RWNError
from rwn_core.masking.lever import neutral_levers
from rwn_core.neighbors import find as find_module
from rwn_core.tuning.evaluate import SettingPool, evaluate, prepare_worker
from rwn_core.tuning.goal_seek import Step, around
from rwn_core.tuning.sweep import JobFolder, parse_values, prepared


def test_a_setting_survives_as_plain_data() -> None:
    setting = Setting.of("rwn", {"epsilon": 2.0, "k": 5, "q": 0.5}, {"age": 2.0})
    assert Setting.from_dict(setting.to_dict()) == setting
    assert setting.words == "ε = 2 · k = 5 · q = 0.5 · weight of age = 2"


def test_a_setting_in_words_has_the_title_of_its_method() -> None:
    for key, method in rwn.METHODS.items():
        words = Setting(params=method(**neutral_levers(method))).words
        assert key == "rwn" or words.startswith(f"{method.title} · ")
        assert key not in words


def test_a_release_precision_is_part_of_a_setting() -> None:
    exact = Setting.of("rwn", {"k": 5})
    setting = Setting.of("rwn", {"k": 5}, precision={"weight": 10, "age": 5})
    assert setting.precision == (("age", 5.0), ("weight", 10.0))
    assert Setting.from_dict(setting.to_dict()) == setting
    assert setting.words == "k = 5 · q = 1 · age in steps of 5, weight in steps of 10"
    assert setting.key != exact.key
    assert setting.key == Setting.of("rwn", {"k": 5}, {}, {"age": 5.0, "weight": 10.0}).key
    assert setting.resolved(rwn.load_demo("bodyfat")).precision == setting.precision
    # points of sweeps that know nothing of rounding are found again
    assert "precision" not in exact.to_dict()


@pytest.mark.parametrize("step", [0, -1, float("nan"), float("inf"), "5", None, True])
def test_a_setting_refuses_a_step_that_is_none(step: object) -> None:
    with pytest.raises(ParameterError, match="precision of age must be a number above 0"):
        Setting.of("rwn", {"k": 5}, precision={"age": step})


@pytest.mark.parametrize("name", ["nowhere", "test"])
def test_a_step_of_no_number_is_refused_at_the_table(name: str) -> None:
    with pytest.raises(ParameterError, match=f"{name} is no numeric variable"):
        Setting.of("rwn", {"k": 5}, precision={name: 1.0}).resolved(rwn.load_demo("pima"))


def test_equal_settings_have_one_key_whatever_the_type_of_their_numbers() -> None:
    assert Setting.of("rwn", {"epsilon": 2, "q": 1}).key == Setting.of("rwn", {"epsilon": 2.0}).key
    assert Setting.of("rwn", {"epsilon": 2}).key != Setting.of("rwn", {"epsilon": 2.5}).key
    assert Setting.of("rwn", {"k": 5}).key != Setting.of("rwn", {"k": 5}, {"age": 0.0}).key


def test_resolved_weights_are_the_tables_unless_the_setting_says_otherwise() -> None:
    data = rwn.load_demo("bodyfat").with_weights({"age": 3.0, "neck": 2.0})
    setting = Setting.of("rwn", {"k": 5}, {"age": 1.0}).resolved(data)
    assert setting.weights == (("neck", 2.0),)
    weighted = setting.applied_to(data)
    assert weighted.schema.variable("age").weight == 1.0
    assert weighted.schema.variable("neck").weight == 2.0


@pytest.mark.parametrize(
    ("method", "parameters", "word"),
    [
        ("swap", {}, "no method swap"),
        ("rwn", {"epsilonn": 1}, "no parameter epsilonn"),
        ("nbrs2015", {}, "needs"),
        ("rwn", {"k": 0}, "k must be"),
    ],
)
def test_what_a_method_does_not_know_is_refused(method: str, parameters: dict, word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        Setting.of(method, parameters)


def test_a_grid_is_every_combination_once() -> None:
    grid = Grid(axes={"epsilon": (0, 1, 2), "k": (3, 5), "q": (0.5, 1)}, weights=({}, {"age": 2}))
    assert len(grid) == len(grid.settings()) == 24
    assert len(Grid(axes={"k": (3, 3.0 and 3)}).settings()) == 1
    both = prepared(
        rwn.load_demo("bodyfat"),
        [grid, Grid(axes={"epsilon": (1.0,)}, method="nbrs2015"), *grid.settings()],
    )
    assert len(both) == 25


def test_a_grid_tries_every_precision_with_every_setting() -> None:
    grid = Grid(axes={"k": (3, 5)}, precision=({}, {"age": 5}, {"age": 5.0}), weights=({},))
    assert len(grid) == 6
    assert [setting.words for setting in grid.settings()] == [
        "k = 3 · q = 1",
        "k = 5 · q = 1",
        "k = 3 · q = 1 · age in steps of 5",
        "k = 5 · q = 1 · age in steps of 5",
    ]


def test_steps_between_settings_keep_the_precision() -> None:
    one = Setting.of("rwn", {"k": 3, "epsilon": 1.0}, {"age": 2.0}, {"age": 5})
    near = around(one, {"k": Step(2.0, 1, 50)})
    assert {each.precision for each in near} == {one.precision}
    assert {each.weights for each in near} == {one.weights}


@pytest.mark.parametrize(
    ("grid", "why"),
    [
        ({"axes": {"k": ()}}, "at least one value of k"),
        ({"axes": {"k": range(1, 201), "epsilon": range(200)}}, "40,000 settings"),
        ({"axes": {"k": (3,)}, "precision": ()}, "at least one release precision"),
        ({"axes": {}, "slices": ()}, "at least one choice of slices"),
        ({"axes": {"epsilon": (1,), "mm": (3,)}, "method": ("rwn", "nbrs2015")},
         "None of the methods rwn, nbrs2015 has a parameter m"),
        ({"axes": {"epsilon": (1,)}, "method": ("rwn", "none")}, "There is no method none"),
        ({"axes": {"epsilon": (1,)}, "method": ()}, "at least one method"),
    ],
)  # fmt: skip
def test_a_grid_is_refused(grid, why) -> None:
    with pytest.raises(ParameterError, match=why):
        Grid(**grid)


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


@pytest.fixture
def place(bodyfat, tmp_path: Path) -> Path:
    """The folder of a sweep of which half is done."""
    folder = tmp_path / "job"
    sweep(bodyfat, GRID.settings()[:4], plan=PLAN, workers=1, folder=folder)
    return folder


def points_in(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*.json") if path.name != "manifest.json"]


def test_a_folder_resumes_and_leaves_what_is_done(bodyfat, found, place) -> None:
    kept = {path.name: path.stat().st_mtime_ns for path in place.iterdir()}
    again = sweep(bodyfat, GRID, plan=PLAN, workers=1, folder=place)
    for name, when in kept.items():
        if name != "manifest.json":
            assert (place / name).stat().st_mtime_ns == when
    assert again.frame().equals(found.frame())


def holds_metrics_only(reading: dict[str, Any]) -> None:
    """Hold that a reading in a file is numbers of the releases, and of the table at most two."""
    ends = {"unmasked", "unrelated"}  # of the table, a number each
    assert set(reading) - ends == {"values", "baseline", "reason"}
    assert all(isinstance(reading[end], float) for end in ends & set(reading))
    assert len(reading["values"]) <= PLAN.releases


def test_a_folder_holds_metrics_only(bodyfat, place) -> None:
    sweep(bodyfat, GRID, plan=PLAN, workers=1, folder=place)
    assert orjson.loads((place / "manifest.json").read_bytes())["measures"] == list(MEASURES)
    for path in points_in(place):
        document = orjson.loads(path.read_bytes())
        assert set(document) == {"setting", "readings", "shown", "seconds"}
        for reading in document["readings"].values():
            holds_metrics_only(reading)


def test_a_damaged_point_of_a_folder_is_made_again(bodyfat, found, place) -> None:
    sweep(bodyfat, GRID, plan=PLAN, workers=1, folder=place)
    points_in(place)[0].write_bytes(b'{"setting": {')
    assert sweep(bodyfat, GRID, plan=PLAN, workers=1, folder=place).frame().equals(found.frame())


def test_a_folder_of_something_else_is_refused(bodyfat, place, tmp_path) -> None:
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


WORKED_PLAN = Plan(measures=("correlation", "distance_linkage"), releases=4)
WORKED_GRID = Grid(axes={"epsilon": (0, 2), "q": (0.5, 1), "k": (5,)}, weights=({}, {"age": 2.0}))


@pytest.fixture(scope="module")
def whole(bodyfat) -> pd.DataFrame:
    """What one process reads."""
    return sweep(bodyfat, WORKED_GRID, plan=WORKED_PLAN, workers=1).frame()


class Stop(Exception):
    """What a caller ends a sweep with."""


def test_workers_give_the_same_numbers(bodyfat, whole) -> None:
    shares: list[float] = []
    apart = sweep(bodyfat, WORKED_GRID, plan=WORKED_PLAN, workers=2, progress=shares.append)
    assert apart.frame().equals(whole)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


# by day with one process; workers give the same numbers, says the test above
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_a_sweep_that_is_ended_loses_no_finished_point(bodyfat, whole, tmp_path, workers) -> None:
    place = tmp_path / "job"

    def end(share: float) -> None:
        if share > 0.6:
            raise Stop

    with pytest.raises(Stop):
        sweep(bodyfat, WORKED_GRID, plan=WORKED_PLAN, workers=workers, folder=place, progress=end)
    kept = {path: path.stat().st_mtime_ns for path in place.glob("*.json")}
    assert 1 < len(kept) < 1 + len(WORKED_GRID.settings())
    done = sweep(bodyfat, WORKED_GRID, plan=WORKED_PLAN, workers=1, folder=place)
    assert done.complete
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    assert done.frame().equals(whole)


@pytest.mark.nightly  # test_policy::test_a_killed_worker_ends_the_search_with_a_sentence
def test_a_killed_worker_ends_the_sweep_with_a_sentence(bodyfat, tmp_path, monkeypatch) -> None:
    place = tmp_path / "job"
    began = SettingPool.points

    def killed(pool: SettingPool, *asked: Any) -> Any:
        if len(list(place.glob("*.json"))) > 1:
            for pid in pool._pool.pids:
                os.kill(pid, signal.SIGKILL)
        return began(pool, *asked)

    monkeypatch.setattr(SettingPool, "points", killed)
    with pytest.raises(RWNError, match="memory"):
        sweep(bodyfat, WORKED_GRID, plan=WORKED_PLAN, workers=2, folder=place)
    monkeypatch.undo()
    assert 1 < len(list(place.glob("*.json"))) < 1 + len(WORKED_GRID.settings())
    assert sweep(bodyfat, WORKED_GRID, plan=WORKED_PLAN, workers=1, folder=place).complete


def test_a_point_that_cannot_be_written_is_not_blamed_on_memory(bodyfat, tmp_path) -> None:
    folder = JobFolder(tmp_path / "job", bodyfat, WORKED_PLAN)
    first = sweep(bodyfat, WORKED_GRID.settings()[0], plan=WORKED_PLAN, workers=1).points[0]
    folder.path(first.setting).mkdir()  # where its file should go
    with pytest.raises(NotWritten, match="could not be written"):
        sweep(bodyfat, WORKED_GRID, plan=WORKED_PLAN, workers=1, folder=tmp_path / "job")


@pytest.mark.parametrize("text", ["0:1:0", "0:1:-0.5", "2:1", "a:b", "1:2:3:4", "0:inf"])
def test_values_that_end_nowhere_are_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="The list must be values with commas"):
        parse_values(text)


def test_a_worker_answers_with_what_is_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RWN_THREADS", "1")  # which it sets
    monkeypatch.setattr("threadpoolctl.threadpool_limits", lambda threads: None)
    data = rwn.load_demo("pima").take(range(60))
    setting = Setting.of("rwn", {"epsilon": 1.0, "k": 5}).resolved(data)
    about = setting, (1,), ("bayes_linkage",)
    answered = prepare_worker(data, (), 1)(about, lambda share: None)
    here = evaluate(data, *about)
    assert (answered.setting, answered.spreads) == (setting, here.spreads)
