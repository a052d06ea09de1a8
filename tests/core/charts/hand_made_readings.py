"""Readings made by hand, one per chart: small enough to check by eye."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rwn_core.charts import CHARTS, Chart
from rwn_core.measures.measure import Reading

HOSTILE = '<img src=x onerror="x()">'
"""A column name that would be markup if anything took it for HTML."""


def reading(value: float = 1.0, baseline: float | None = 2.0, **detail: Any) -> Reading:
    return Reading(value=value, baseline=baseline, detail=detail)


def index_reading(original: Any, released: Any) -> Reading:
    original, released = np.asarray(original, dtype=float), np.asarray(released, dtype=float)
    return reading(
        original=original,
        released=released,
        records_original=np.arange(len(original)),
        records_released=np.arange(len(released)),
        max_original=float(np.nanmax(original)),
        argmax_original=int(np.nanargmax(original)),
        max_released=float(np.nanmax(released)),
        argmax_released=int(np.nanargmax(released)),
        sampled=False,
        of=len(original),
    )


def correlation_reading(size: int = 3, first: str = "age") -> Reading:
    names = [first, *(f"v{i}" for i in range(1, size))]
    original = np.full((size, size), 0.5)
    released = np.full((size, size), -0.25)
    for square in (original, released):
        np.fill_diagonal(square, 1.0)
    return reading(
        names=names,
        original=original,
        released=released,
        mean_absolute_change=0.75,
        sign_changes=size * (size - 1) // 2,
        pairs=size * (size - 1) // 2,
    )


def regression_reading(slopes: int = 2, first: str = "bmi") -> Reading:
    terms = ["(intercept)", first, *(f"x{i}" for i in range(2, slopes + 1))]
    count = len(terms)
    return reading(
        response="siri",
        terms=terms,
        coefficient_original=np.arange(count, dtype=float),
        se_original=np.full(count, 0.5),
        coefficient_released=-np.arange(count, dtype=float),
        se_released=np.full(count, 1.0),
        sign_changed=np.arange(count) > 0,
        standardized_difference=np.arange(count) * 4.0,
        r2_original=0.75,
        r2_released=0.5,
        n_original=241,
        n_released=241,
    )


def size_reading(
    sizes: Any, nearest: Any, k: int | None = 5, epsilon: float | None = 2.0
) -> Reading:
    sizes = np.asarray(sizes)
    by_k = sizes <= (k or 0)
    return reading(
        sizes=sizes,
        nearest=np.asarray(nearest, dtype=float),
        epsilon=epsilon,
        k=k,
        governed_by_k=by_k,
        median=float(np.median(sizes)),
        share_governed_by_k=float(by_k.mean()),
    )


def components_reading() -> Reading:
    return reading(
        names=["a", "b", "c"],
        share_original=np.array([0.6, 0.3, 0.1]),
        share_released=np.array([0.5, 0.3, 0.2]),
        sd1_original=1.3,
        sd1_released=1.2,
        cumulative5_original=1.0,
        cumulative5_released=1.0,
    )


def marginals_reading(name: str = "age") -> Reading:
    numeric = {
        "kind": "numeric",
        "edges": np.array([0.0, 1.0, 2.0, 4.0]),
        "original": np.array([3, 5, 2]),
        "released": np.array([4, 4, 2]),
        "difference": 0.1,
        "mean_original": 1.4,
        "mean_released": 1.3,
        "sd_original": 0.8,
        "sd_released": 0.7,
        "missing_original": 1,
        "missing_released": 0,
    }
    categorical = {
        "kind": "categorical",
        "levels": ["blue", HOSTILE],
        "original": np.array([7, 3]),
        "released": np.array([6, 4]),
        "difference": 0.1,
        "missing_original": 0,
        "missing_released": 2,
    }
    return reading(variables={name: numeric, "eyes": categorical})


def map_points() -> list[dict[str, Any]]:
    return [
        {"label": "now", "utility": 0.9, "risk": 0.03, "text": "ε = 2"},
        {"label": "A", "utility": 0.95, "risk": 0.09, "text": "ε = 1"},
        {"label": "B", "utility": 0.9, "risk": 0.03, "text": HOSTILE},
    ]


def _all_charts() -> dict[str, Callable[[], Chart]]:
    steps = np.linspace(0.1, 3.0, 40)
    return {
        "risk_utility_map": lambda: CHARTS["risk_utility_map"](map_points(), 0.05),
        "neighborhood_size": lambda: CHARTS["neighborhood_size"](
            size_reading(np.arange(5, 45), steps)
        ),
        "nearest_distance": lambda: CHARTS["nearest_distance"](index_reading(steps, steps + 1)),
        "correlation": lambda: CHARTS["correlation"](correlation_reading(first=HOSTILE)),
        "regression": lambda: CHARTS["regression"](regression_reading(first=HOSTILE)),
        "principal_components": lambda: CHARTS["principal_components"](components_reading()),
        "cooks_distance": lambda: CHARTS["cooks_distance"](index_reading(steps, steps / 2)),
        "mahalanobis": lambda: CHARTS["mahalanobis"](index_reading(steps, steps / 2)),
        "distribution": lambda: CHARTS["distribution"](marginals_reading(HOSTILE), HOSTILE),
    }


ALL_CHARTS = _all_charts()
