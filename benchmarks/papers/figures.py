"""Replays figures 1 to 9 of the 2022 paper: section 8 on the body fat table."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.papers.replay import (
    Found,
    Number,
    Replay,
    Request,
    mean_number,
)
from rwn_core.evaluation.figure_curves import (
    CURVES,
    EPSILONS,
    PAPER_FIGURES,
    correlation_reading,
    figure_curves,
)
from rwn_core.io.demo import load_demo
from rwn_core.masking import RWN
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
    prepared = _method(max(SIZES_AT)).prepare(data)
    numbers: dict[str, Number | str] = {
        "records": Number(value=data.n),
        "records left out": Number(value=raw.n - data.n),
    }
    for epsilon in SIZES_AT:
        law = prepared.with_levers(epsilon=epsilon).law
        assert law is not None
        assert law.neighborhoods is not None
        within = law.neighborhoods.within
        mean = _at("others within epsilon, mean", epsilon)
        numbers[mean] = Number(value=float(within.mean()))
        alone = _at("records without others within epsilon", epsilon)
        numbers[alone] = Number(value=float(np.sum(within == 0)))
    notes = (
        "The paper leaves out 11 of 252 records without a list. The cleaning script that its "
        "authors published leaves out the same eleven as the rule here (demo_data/SOURCES.md).",
        _RADIUS,
    )
    return Found(numbers=numbers, notes=notes)


def _correlations(request: Request, *, epsilons: tuple[float, ...]) -> Found:
    data = load_demo("bodyfat")
    count = request.repetitions(RELEASES, FEW)
    prepared = _method(epsilons[-1]).prepare(data)
    numbers: dict[str, Number | str] = {}
    for epsilon in epsilons:
        setting = prepared.with_levers(epsilon=epsilon)
        keys = (SecretKey.from_seed(SEED + one) for one in range(count))
        changes = [float(correlation_reading(setting, key).value) for key in keys]
        numbers[_at("correlation change", epsilon)] = mean_number(changes)
    return Found(numbers=numbers, notes=(_how(count), _RADIUS))


def _curves(request: Request, *, number: int) -> Found:
    count = request.repetitions(RELEASES, FEW)
    prepared = _method(2.0).prepare(load_demo("bodyfat"))
    curves = figure_curves(number, prepared, releases=count, seed=SEED)
    numbers: dict[str, Number | str] = {}
    for name, rows in curves.values.items():
        numbers[f"{name}, original"] = Number(value=curves.original[name])
        for epsilon, row in zip(EPSILONS, rows, strict=True):
            numbers[_at(name, epsilon)] = mean_number(row)
    if number == 9:
        rise = curves.values["first component"][0] - curves.original["first component"]
        numbers["rise of the first component, epsilon 0"] = mean_number(rise)
    notes = (_how(count), *([_CASE] if curves.records else []), _RADIUS)
    return Found(numbers=numbers, notes=notes)


def _figure(number: int, title: str, run: Any) -> Replay:
    return Replay(key=f"rwn2022-figure-{number}", title=f"Figure {number}: {title}", run=run)


FIGURES: tuple[Replay, ...] = (
    _figure(1, PAPER_FIGURES[1].title, _figure_1),
    _figure(2, "Correlations at a small epsilon", partial(_correlations, epsilons=SMALL)),
    _figure(3, "Correlations at a large epsilon", partial(_correlations, epsilons=LARGE)),
    *(
        _figure(
            number, f"{PAPER_FIGURES[number].title} over epsilon", partial(_curves, number=number)
        )
        for number in CURVES
    ),
)
"""Figures 1 to 9, as their captions number them."""
