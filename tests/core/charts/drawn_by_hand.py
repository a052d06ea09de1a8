"""Every chart of the catalogue drawn from readings made by hand, in all the forms it takes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, several_measures
from rwn_core.evaluation.lessons import (
    analyst,
    choose,
    disclosure,
    edges,
    intruder,
    neighborhood,
    sampling,
    theorem,
)
from rwn_core.evaluation.lessons import standard_errors as errors
from rwn_core.evaluation.lessons.densities import points_of
from rwn_core.measures.measure import Reading, with_parts
from rwn_core.measures.statistics.distributions import Marginal
from rwn_core.measures.utility.distributions import marginal_distances
from rwn_core.randomness import SecretKey
from tests.core.charts import hand_made_readings as made


def the_theorem(epsilon: float = 0.8) -> theorem.Theorem:
    table = rwn.RWN(epsilon=epsilon, k=1).prepare(points_of("normal", 60))
    return theorem.theorem(table, record=6)


def the_disclosure(q: float) -> disclosure.DisclosedPerson:
    data = disclosure.table()
    ready = rwn.RWN(epsilon=0.0, k=3, q=q).prepare(data)
    return disclosure.disclosure(ready, data, person="Anna")


def the_analyst(tied: bool = False) -> analyst.Analyst:
    return analyst.analyst(analyst.table(errors.sample(0), tied=tied), rwn.RWN(epsilon=0.0, k=5))


def the_trade(top: float) -> choose.Trade:
    epsilon = np.arange(4.0)
    loss, share = np.array([0.1, 0.2, 0.4, 0.9]), np.array([top, 3.0, 0.9, 0.2])
    return choose.Trade(epsilon=epsilon, loss=loss, share=share, now=2, accepted=0.5)


def the_intruder(known: int = 3) -> intruder.Intruder:
    table = rwn.RWN(epsilon=0.0, k=5).prepare(rwn.load_demo("bodyfat"))
    return intruder.intruder(table.release(SecretKey.from_seed(1)), row=0, known=known)


def the_neighborhood(record: int, weight: float = 0.1) -> neighborhood.Neighborhood:
    table = rwn.RWN(epsilon=0.6, k=5).prepare(neighborhood.table(weight))
    return neighborhood.neighborhood(table, record=record)


def the_edges(**options: Any) -> edges.Edges:
    setting = rwn.RWN(**options) if options else rwn.SoftRWN()
    return edges.edges(edges.table(), setting, record=3)


def the_errors() -> errors.StandardErrors:
    slope, error = np.array([1.0, 2.0, 1.1]), np.array([0.2, 0.3, 0.1])
    side = errors.Slopes(slope=slope, error=error)
    return errors.StandardErrors(original=side, released=side)


STEPS = np.linspace(0.1, 3.0, 40)
TALL = np.linspace(0.0, 3.0, 5_000)
NOW = {"label": "now", "loss": 0.1, "risk": 0.5, "text": ""}


class With(dict[str, Any]):
    """Options of a chart, the last of what it is drawn from."""


OF_LIMITS = With(of_limits=True)


def outlying(value: float) -> np.ndarray:
    """Forty values of which one lies far away."""
    values = STEPS / 100
    values[16] = value
    return values


def levels(count: int) -> Reading:
    counts = np.arange(count, 0, -1)
    shown = Marginal(
        levels=[f"level {i}" for i in range(count)],
        original=counts,
        released=counts[::-1].copy(),
        difference=0.5,
        missing_original=0,
        missing_released=0,
    )
    return Reading(value=1.0, baseline=2.0, detail=marginal_distances({"job": shown}))


def changed(plain: Reading, **detail: Any) -> Reading:
    return with_parts(plain, **detail)


def at_least() -> list[dict[str, Any]]:
    return [{**attack, "at_least": attack["worst"]} for attack in made.attacks()]


def holes() -> Reading:
    shown = made.correlation_reading()
    square = shown.detail.released
    square[1, :] = square[:, 1] = np.nan
    return shown


def swept() -> list[dict[str, Any]]:
    return [
        {"label": "", "loss": 0.1, "risk": 0.1, "text": "a", "frontier": True},
        {"label": "", "loss": 0.05, "risk": 0.2, "text": "b", "frontier": True},
        {"label": "", "loss": 0.2, "risk": math.nan, "text": "c", "frontier": False},
    ]


_bands = {
    "correlation": (made.correlation_reading(first=made.HOSTILE), made.correlation_band()),
    "regression": (
        made.regression_reading(first=made.HOSTILE),
        {
            "coefficient_released": made.band([-1.0, -2.0, -3.0], [0.0, 0.0, -1.0]),
            "se_released": made.band([0.9] * 3, [1.1] * 3),
        },
    ),
    "principal_components": (
        made.components_reading(),
        {
            "share_released": made.band([0.4, 0.2, 0.1], [0.6, 0.4, 0.3]),
            "cumulative_released": made.band([0.4, 0.7, 1.0], [0.6, 0.9, 1.0]),
        },
    ),
    "cooks_distance": (made.index_reading(STEPS, STEPS / 2), {"max_released": made.band(1.2, 4.0)}),
    "mahalanobis": (made.index_reading(STEPS, STEPS / 2), {"max_released": made.band(1.2, 4.0)}),
    "nearest_distance": (made.index_reading(STEPS, STEPS + 1), {"value": made.band(1.2, 1.4)}),
    "quantiles": (
        made.quantile_reading([made.HOSTILE, "b"]),
        {"change": made.band(np.full((2, 3), -0.1), np.full((2, 3), 1))},
    ),
    "two_way": (made.points_reading(first=made.HOSTILE), (0.1, 0.4)),
    "subgroups": (made.subgroup_reading(), {"released": made.band([3, 4], [30, 31])}),
}


def _forms() -> dict[str, tuple[Any, ...]]:
    """What each chart is drawn from, by its key and the form that it takes."""
    return {
        "risk_utility_map": (made.map_points(), 0.05),
        "neighborhood_size": (made.size_reading(np.arange(5, 45), STEPS),),
        "nearest_distance": (made.index_reading(STEPS, STEPS + 1),),
        "correlation": (made.correlation_reading(first=made.HOSTILE),),
        "regression": (made.regression_reading(first=made.HOSTILE),),
        "principal_components": (made.components_reading(),),
        "cooks_distance": (made.index_reading(STEPS, STEPS / 2),),
        "mahalanobis": (made.index_reading(STEPS, STEPS / 2),),
        "distribution": (made.marginals_reading(made.HOSTILE), made.HOSTILE),
        "risk_utility_map: all limits": (
            made.map_points(), 1.0, With(risk="share of a limit", of_limits=True)
        ),
        "risk_utility_map: no limit": (made.map_points(), None),
        "risk_utility_map: kept": ([{**NOW, "kept": True}], 1.0, OF_LIMITS),
        "risk_utility_map: not kept": ([{**NOW, "risk": 19.9, "kept": False}], 1.0, OF_LIMITS),
        "risk_utility_map: not judged": ([{**NOW, "kept": False, "unread": 2}], 1.0, OF_LIMITS),
        "risk_utility_map: on the line": ([{**NOW, "risk": 0.99}], 0.05),
        "risk_utility_map: true ends": ([{**NOW, "loss": 0.99, "risk": 0.99}], 0.05),
        "risk_utility_map: coinciding": ([{**NOW, "label": name} for name in "ABC"], 0.05),
        "risk_utility_map: no place": ([{**NOW, "loss": math.nan}], 0.05),
        "risk_utility_map: risk follows": ([{**NOW, "loss": 0.3, "risk": None}, NOW], 0.05),
        "risk_utility_map: sweep": (made.map_points(), 0.05, swept()),
        "neighborhood_size: by k": (made.size_reading([5, 9, 5, 30], [2.5, 1.0, 3.0, 0.5]),),
        "neighborhood_size: large k": (made.size_reading([60, 60], [2.5, 1.0], k=60),),
        "neighborhood_size: no k": (made.size_reading([60, 60], [2.5, 1.0], k=None),),
        "neighborhood_size: no radius": (made.size_reading([5, 9], [2.5, 1.0], epsilon=None),),
        "neighborhood_size: wide": (made.size_reading([1, 900], [0.1, 7.0], k=2, epsilon=8.0),),
        "neighborhood_size: many": (made.size_reading(np.full(5_000, 7), TALL),),
        "neighborhood_size: outlier": (made.size_reading(np.arange(5, 45), outlying(5021.0)),),
        "nearest_distance: whiskers": (made.index_reading([*range(1, 10), 17], [2.0] * 10),),
        "nearest_distance: sample": (
            changed(made.index_reading([1.0, 2.0], [1.0, 2.0]), sampled=True, of=9_000),
        ),
        "correlation: 15": (made.correlation_reading(15),),
        "correlation: 40": (made.correlation_reading(40),),
        "correlation: missing": (holes(),),
        "association": (
            changed(made.correlation_reading(), coefficient=np.add.outer(*2 * [[0, 0, 1]])),
        ),
        "regression: poisson": (changed(made.regression_reading(), family="poisson"),),
        "regression: many": (made.regression_reading(slopes=30),),
        "regression: turned": (
            changed(made.regression_reading(), sign_changed=np.array([True, False, False])),
        ),
        "cooks_distance: close": (made.index_reading([0.1, 0.9, 0.2], [0.1, 0.88, 0.2]),),
        "cooks_distance: closer": (made.index_reading([0.1, 0.88, 0.2], [0.1, 0.9, 0.2]),),
        "cooks_distance: numbers": (
            changed(
                made.index_reading([0.1, 0.9], [0.3, 0.1]),
                records_original=np.array([4, 9]),
                argmax_original=9,
            ),
        ),
        "cooks_distance: outlier": (made.index_reading(outlying(5.5), STEPS / 100),),
        "mahalanobis: many": (made.index_reading(TALL, TALL * 0.5),),
        "distribution: levels": (made.marginals_reading(), "eyes"),
        "distribution: 10 levels": (levels(10), "job"),
        "distribution: 11 levels": (levels(11), "job"),
        "distribution: 300 levels": (levels(300), "job"),
        "distribution: draws": (
            made.marginals_reading(made.HOSTILE),
            made.HOSTILE,
            {f"released {made.HOSTILE}": made.band([1, 2, 3], [4, 9, 6])},
        ),
        "distribution: levels and draws": (
            made.marginals_reading(),
            "eyes",
            {"released eyes": made.band([5, 3], [7, 5])},
        ),
        "correlation_change": (made.correlation_reading(first=made.HOSTILE), np.full((3, 3), 0.4)),
        "correlation_change: this draw": (made.correlation_reading(),),
        "correlation_change: draws": (
            made.correlation_reading(first=made.HOSTILE),
            np.full((3, 3), 0.4),
            made.correlation_band(),
        ),
        "quantiles": (made.quantile_reading([made.HOSTILE, "b"]),),
        "quantiles: many": (made.quantile_reading([f"v{place}" for place in range(30)]),),
        "subgroups": (made.subgroup_reading(),),
        "subgroups: many": (made.subgroup_reading(40, expected=False),),
        "two_way": (made.points_reading(first=made.HOSTILE),),
        "two_way: many": (made.points_reading(3000),),
        "two_way: table": (made.table_reading(),),
        **{f"{key}: draws": drawn_from for key, drawn_from in _bands.items()},
        "true_matches": (made.matches(),),
        "true_matches: no secret": (made.matches(None, 3),),
        "precision_recall": (made.sure(),),
        "precision_recall: one point": (made.sure(1),),
        "linkage_attacks": (made.attacks(),),
        "linkage_attacks: at least": (at_least(),),
        "record_risk": (made.bayes(),),
        "record_risk: sample": (made.bayes(60),),
        "repeated_releases": (made.releases(),),
        "repeated_releases: a bound": (made.releases("at least"),),
        "key_classes": (made.classes(),),
        "key_classes: tiny": ({key: made.shares(0.0001, 0.5) for key in several_measures.NAMES},),
        "guessing_attacks": (made.guesses(),),
        "queries": (made.asked(),),
        "extreme_values": (made.ends(),),
        "sweep_map: several limits": (
            made.SPOTS, made.LOSS, made.SHARE, With(limit=0.12, marks=made.MARKS)
        ),
        "sweep_map: one limit": (made.SPOTS, made.LOSS, made.RISK, With(limit=0.2)),
        "sweep_map: turned": (made.SPOTS, made.RISK, {**made.RISK, "falls": True}),
        "lesson_disclosure": (the_disclosure(0.0), 3),
        "lesson_disclosure: answered": (the_disclosure(1.0), 3, True),
        "lesson_analyst": (the_analyst(),),
        "lesson_analyst: refused": (the_analyst(tied=True),),
        "lesson_choose": (the_trade(90.0),),
        "lesson_theorem": (the_theorem(),),
        "lesson_intruder": (the_intruder(),),
        "lesson_intruder: answered": (the_intruder(), True),
        "lesson_neighborhood": (the_neighborhood(19),),
        "lesson_neighborhood: outlier": (the_neighborhood(neighborhood.OUTLIER, weight=1.0),),
        "lesson_standard_errors": (the_errors(),),
        "lesson_edges": (the_edges(),),
        "lesson_edges: hard": (the_edges(epsilon=1.0, k=10),),
        "lesson_edges_loads": (the_edges(),),
        "lesson_sampling": (sampling.sampling(fraction=0.02, keys=11, change=0.2),),
    }  # fmt: skip


def every_chart() -> dict[str, Chart]:
    """Draw all of them."""
    drawn = {}
    for form, given in _forms().items():
        options = given[-1] if isinstance(given[-1], With) else {}
        drawn[form] = CHARTS[form.partition(":")[0]](*given[: -1 if options else None], **options)
    return drawn
