"""Small tables for searches of seconds, and releases that are made to break a limit."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

import rwn_core as rwn
from rwn_core.measures.attacks.red_team import prediction
from rwn_core.tuning import Setting, goal_seek
from rwn_core.tuning.evaluate import SettingPool
from rwn_core.tuning.point import Point

# its room has functions of these names
evaluate, module = (
    import_module(f"rwn_core.tuning.{name}") for name in ("evaluate", "seek_slices")
)


def part_of(demo: str, names: list[str]) -> rwn.Microdata:
    """Some variables of a demo."""
    data = rwn.load_demo(demo)
    variables = tuple(data.schema.variable(name) for name in names)
    schema = replace(data.schema, variables=variables, question=None)
    return rwn.Microdata.from_frame(data.frame[names], schema)


@pytest.fixture(scope="module")
def bodyfat() -> rwn.Microdata:
    return rwn.load_demo("bodyfat")


@pytest.fixture(scope="module")
def few() -> rwn.Microdata:
    """Six variables of the demo: a search of seconds."""
    return part_of("bodyfat", ["siri", "age", "weight", "abdomen", "hip", "knee"])


@pytest.fixture(scope="module")
def small() -> rwn.Microdata:
    """Four of them, where weights are searched, too."""
    return part_of("bodyfat", ["siri", "age", "weight", "abdomen"])


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer releases behind what is chosen and stated."""
    monkeypatch.setattr(module, "_STATED", 19)
    monkeypatch.setattr(module, "_CHOOSING", 10)


@pytest.fixture(autouse=True)
def small_forests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """By day simple attacks grow small forests; at night those of a release."""
    if request.node.get_closest_marker("nightly") is None:
        monkeypatch.setattr(prediction, "TREES", 3)


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer releases that rank the settings of a recommendation, and small forests that attack."""
    monkeypatch.setattr(import_module("rwn_core.tuning.recommend"), "_STEPS", 20_000)
    monkeypatch.setattr(prediction, "TREES", 3)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer rounds of a goal seek, and releases behind what it states."""
    monkeypatch.setattr(goal_seek, "_ROUNDS", 1)
    monkeypatch.setattr(goal_seek, "_STATED", 19)


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Setting], bool]], None]:
    """Fresh releases of some settings break the limit on linkage."""
    stated = evaluate.stated

    def refuse(refused: Callable[[Setting], bool]) -> None:
        def planted(crew: SettingPool, setting: Setting, *more: Any) -> tuple[Point, str]:
            point, note = stated(crew, setting, *more)
            if not refused(setting):
                return point, note
            spread = point.spreads["distance_linkage"]
            broken = replace(spread, values=(0.09,) * len(spread.values))
            return replace(point, spreads={**point.spreads, "distance_linkage": broken}), note

        monkeypatch.setattr(evaluate, "stated", planted)

    return refuse
