"""Replays figures 1 to 9 of the 2022 paper: section 8 on the body fat table."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rwn_core.evaluation.epsilon_figures import (
    EPSILON_FIGURES,
    EPSILONS,
    epsilon_curves,
    measure_reading,
)
from rwn_core.evaluation.published_results.replay import (
    Found,
    Number,
    Replay,
    Request,
    mean_number,
)
from rwn_core.io.demo import load_demo
from rwn_core.masking import RWN
from rwn_core.measures.comparison import Comparison
from rwn_core.neighbors import neighbor_table
from rwn_core.neighbors.metric import coordinates
from rwn_core.randomness import SecretKey

K, SEED = 5, 1
RELEASES, FEW = 400, 20
SIZES_AT = (1.0, 2.0, 3.0, 4.0)
SMALL, LARGE = (0.0, 1.0, 2.0), (4.0, 5.0, 6.0)
_RADIUS = (
    "Radius epsilon in standard deviations of the scaled variables; not the epsilon of "
    "differential privacy."
)
_CASE = "Records are numbered in the table of 241; record 37 is case 39 of the source."


def _method(epsilon: float) -> RWN:
    return RWN(epsilon=epsilon, k=K)


def _how(count: int) -> str:
    return f"{count} releases of the 241 men at each epsilon, with q = 1 and k = {K}."


def _at(name: str, epsilon: float) -> str:
    return f"{name}, epsilon {epsilon:g}"


def _figure_1(_: Request) -> Found:
    data, raw = load_demo("bodyfat"), load_demo("bodyfat_raw")
    table = neighbor_table(coordinates(data), k=K, epsilon=max(SIZES_AT))
    numbers: dict[str, Number | str] = {
        "records": Number(value=data.n),
        "records left out": Number(value=raw.n - data.n),
    }
    pictures: list[tuple[str, Any]] = []
    for epsilon in SIZES_AT:
        within = table.narrow(k=K, epsilon=epsilon).within
        mean = _at("others within epsilon, mean", epsilon)
        numbers[mean] = Number(value=float(within.mean()))
        alone = _at("records without others within epsilon", epsilon)
        numbers[alone] = Number(value=float(np.sum(within == 0)))
        law = _method(epsilon).prepare(data).law
        comparison = Comparison(original=data, masked=data, law=law)
        pictures.append(("neighborhood_size", measure_reading("neighborhood_size", comparison)))
    notes = (
        "The paper leaves out 11 of 252 records without a list. The cleaning script that its "
        "authors published leaves out the same eleven as the rule here (demo_data/SOURCES.md).",
        _RADIUS,
    )
    return Found(numbers=numbers, pictures=tuple(pictures), notes=notes)


def _correlations(request: Request, *, epsilons: tuple[float, ...], shown: float) -> Found:
    data, count = load_demo("bodyfat"), request.repetitions(RELEASES, FEW)
    start, prepared = Comparison(original=data, masked=data), _method(shown).prepare(data)
    numbers: dict[str, Number | str] = {}
    pictures: list[tuple[str, Any]] = []
    for epsilon in epsilons:
        setting = prepared.with_levers(epsilon=epsilon)
        keys = (SecretKey.from_seed(SEED + one) for one in range(count))
        readings = [
            measure_reading("correlation", start.with_masked(setting.release(key).masked))
            for key in keys
        ]
        changes = [float(reading.value) for reading in readings]
        numbers[_at("correlation change", epsilon)] = mean_number(changes)
        if epsilon == shown:
            pictures.append(("correlation", readings[0]))
    picture = f"The picture is of one release at epsilon = {shown:g}."
    return Found(numbers=numbers, pictures=tuple(pictures), notes=(_how(count), picture, _RADIUS))


def _curves(request: Request, *, number: int) -> Found:
    count = request.repetitions(RELEASES, FEW)
    prepared = _method(2.0).prepare(load_demo("bodyfat"))
    curves = epsilon_curves(number, prepared, releases=count, epsilons=EPSILONS, seed=SEED)
    numbers: dict[str, Number | str] = {}
    for name, rows in curves.values.items():
        numbers[f"{name}, original"] = Number(value=curves.original[name])
        for epsilon, row in zip(EPSILONS, rows, strict=True):
            numbers[_at(name, epsilon)] = mean_number(row)
    if number == 9:
        rise = curves.values["first component"][0] - curves.original["first component"]
        numbers["rise of the first component, epsilon 0"] = mean_number(rise)
    shown = [curves]
    if number in (4, 5):  # the intercept has a scale of its own
        first, *others = curves.values
        shown = [
            curves.only(others, curves.title),
            curves.only([first], f"{curves.title}: intercept"),
        ]
    notes = (_how(count), *([_CASE] if curves.records else []), _RADIUS)
    pictures = tuple(("epsilon_boxes" if number == 8 else "epsilon_figure", each) for each in shown)
    return Found(numbers=numbers, pictures=pictures, notes=notes)


def _figure(number: int, title: str, run: Any) -> Replay:
    return Replay(key=f"rwn2022-figure-{number}", title=f"Figure {number}: {title}", run=run)


FIGURES: tuple[Replay, ...] = (
    _figure(1, "Nearest distance against the size of the neighborhood", _figure_1),
    _figure(
        2,
        "Correlations at a small epsilon",
        partial(_correlations, epsilons=SMALL, shown=SMALL[-1]),
    ),
    _figure(
        3,
        "Correlations at a large epsilon",
        partial(_correlations, epsilons=LARGE, shown=LARGE[-1]),
    ),
    *(
        _figure(number, f"{figure.title} over epsilon", partial(_curves, number=number))
        for number, figure in EPSILON_FIGURES.items()
    ),
)
"""Figures 1 to 9, as their captions number them."""
