"""Every chart drawn in all its forms, from readings made by hand: small enough to check by eye."""

import math
from typing import Any

import numpy as np

import rwn_core as rwn
from rwn_core import NotApplicable, SecretKey
from rwn_core.charts import CHARTS, Chart, several_measures
from rwn_core.evaluation import lessons
from rwn_core.evaluation.lessons import standard_errors as errors
from rwn_core.evaluation.lessons.densities import points_of
from rwn_core.evaluation.two_way import TwoWay
from rwn_core.measures.attacks.guessing import Guesses
from rwn_core.measures.attacks.true_match import KnownSets
from rwn_core.measures.attacks.worst_case import WorstLinkage
from rwn_core.measures.measure import BothFiles, Detail, Reading, Sides, with_parts
from rwn_core.measures.risk.attributes import AttributeGuesses
from rwn_core.measures.risk.nearness import NeighborhoodSizes
from rwn_core.measures.risk.outliers import RecordValues
from rwn_core.measures.risk.repeated_releases import RepeatedReleases
from rwn_core.measures.risk.true_matches import TrueMatches
from rwn_core.measures.risk.values import Extremes, Queries
from rwn_core.measures.risk.worst_linkage import Curve, SureLinks
from rwn_core.measures.statistics.distributions import Marginal
from rwn_core.measures.statistics.intervals import Band
from rwn_core.measures.utility.distributions import marginal_distances
from rwn_core.measures.utility.regressions import FittedSlopes
from rwn_core.measures.utility.relations import Components, Relations
from rwn_core.measures.utility.tables import Counts

OUTLIER = lessons.neighborhood.OUTLIER
HOSTILE = '<img src=x onerror="x()">'
"""A column name that would be markup if anything took it for HTML."""


def reading(value: float = 1.0, baseline: float | None = 2.0, **detail: Any) -> Reading:
    return Reading(value=value, baseline=baseline, detail=Detail(**detail))


def of(record: type[Detail], value: float = 1.0, baseline: float = 2.0, **detail: Any) -> Reading:
    """A reading whose detail is a record."""
    return Reading(value=value, baseline=baseline, detail=record(**detail))


def both(original: dict[str, Any], released: dict[str, Any]) -> dict[str, Any]:
    """What a detail has of both files, by its names there."""
    before = {f"{name}_original": value for name, value in original.items()}
    return before | {f"{name}_released": value for name, value in released.items()}


def index_reading(original: Any, released: Any) -> Reading:
    def told(file: np.ndarray) -> dict[str, Any]:
        most = {"max": float(np.nanmax(file)), "argmax": int(np.nanargmax(file))}
        return {"records": np.arange(len(file)), **most}

    files = [np.asarray(file, dtype=float) for file in (original, released)]
    values = {"original": files[0], "released": files[1], **both(*map(told, files))}
    return of(RecordValues, **values, sampled=False, of=len(original))


def correlation_reading(size: int = 3, first: str = "age") -> Reading:
    names = [first, *(f"v{i}" for i in range(1, size))]
    pairs = size * (size - 1) // 2
    original, released = (r + (1 - r) * np.eye(size) for r in (0.5, -0.25))
    squares = {"names": names, "original": original, "released": released}
    return of(Relations, **squares, mean_absolute_change=0.75, sign_changes=pairs, pairs=pairs)


def regression_reading(slopes: int = 2, first: str = "bmi") -> Reading:
    terms = ["(intercept)", first, *(f"x{i}" for i in range(2, slopes + 1))]
    count = np.arange(float(len(terms)))
    original = {"coefficient": count, "se": np.full(len(terms), 0.5), "r2": 0.75, "n": 241}
    released = {"coefficient": -count, "se": np.full(len(terms), 1.0), "r2": 0.5, "n": 241}
    changes = {"sign_changed": count > 0, "standardized_difference": count * 4}
    return of(FittedSlopes, response="siri", terms=terms, **both(original, released), **changes)


def size_reading(sizes: Any, nearest: Any, k: int | None = 5, epsilon: Any = 2.0) -> Reading:
    sizes, nearest = np.asarray(sizes), np.asarray(nearest, dtype=float)
    by_k = sizes <= (k or 0)
    told = {"epsilon": epsilon, "k": k, "governed_by_k": by_k}
    told |= {"median": float(np.median(sizes)), "share_governed_by_k": float(by_k.mean())}
    return of(NeighborhoodSizes, sizes=sizes, nearest=nearest, **told)


def components_reading() -> Reading:
    original = {"share": np.array([0.6, 0.3, 0.1]), "sd1": 1.3, "cumulative5": 1.0, "n": 4}
    released = {"share": np.array([0.5, 0.3, 0.2]), "sd1": 1.2, "cumulative5": 1.0, "n": 4}
    return of(Components, names=["a", "b", "c"], **both(original, released))


def marginal(original: Any, released: Any, difference: float = 0.1, **more: Any) -> Marginal:
    counts = {"original": np.array(original), "released": np.array(released)}
    return Marginal(**counts, difference=difference, **{"missing": Sides(0, 0)} | more)


def marginals_reading(name: str = "age") -> Reading:
    moments = {"mean": Sides(1.4, 1.3), "sd": Sides(0.8, 0.7), "missing": Sides(1, 0)}
    numeric = marginal([3, 5, 2], [4, 4, 2], edges=np.array([0.0, 0.1, 2.0, 4.0]), **moments)
    categorical = marginal([7, 3], [6, 4], levels=["blue", HOSTILE], missing=Sides(0, 2))
    both_kinds = marginal_distances({name: numeric, "eyes": categorical})
    return Reading(value=1.0, baseline=2.0, detail=both_kinds)


def map_points() -> list[dict[str, Any]]:
    return [
        {"label": "now", "loss": 0.1, "risk": 0.03, "text": "ε = 2"},
        {"label": "A", "loss": 0.05, "risk": 0.09, "text": "ε = 1"},
        {"label": "B", "loss": 0.1, "risk": 0.03, "text": HOSTILE},
    ]


REASON = NotApplicable("There is no law.")


def bayes(n: int = 50) -> Any:
    truth = np.linspace(0, 1, n)
    return of(WorstLinkage, value=0.9, sampled=n > 40, of=2 * n, truth=truth)


def attacks() -> list[dict[str, Any]]:
    return [
        {"words": "guessing", "success": 0.004, "worst": False},
        {"words": HOSTILE, "success": 0.12, "worst": False},
        {"words": "whole file", "success": None, "worst": True, "reason": "Too many records."},
        {"words": "worst", "success": 0.999, "worst": True},
    ]


def guesses() -> dict[str, Any]:
    rates = {"attack": 0.3, "guess": 0.02, "void": False}
    one = of(Guesses, 0.2, 0.0, **rates, control=0.1, attacks=50, controls=50)
    alone = of(Guesses, 0.2, 0.0, **rates, control=None, attacks=50, controls=None)
    about = {"names": ["x"], "secrets": ["y", "z"], "worst": 1, "records": np.arange(10), "of": 10}
    about |= {"people": 10.0, "sampled": False, "gains": []}
    rates = {"strategies": ["majority"] * 2, "rates": [{"majority": 0.1}, {"majority": 0.3}]}
    rates |= {"exact": np.array([0.1, 0.5]), "informed": np.array([0.2, 0.5])}
    rates |= {"ignorant": np.array([0.1, 0.3]), "control": np.array([0.2, 0.4])}
    guessed = of(AttributeGuesses, 0.5, 0.3, **about, **rates)
    found = {"singling_out": one, "linkability": alone, "inference": REASON}
    return found | {"attribute_inference": guessed}


def asked(count: int = 12) -> Any:
    steps = np.linspace(0, 1, count).tolist()
    places = list(range(count))
    words = [HOSTILE, *(f"x ≥ {i}" for i in range(1, count))]
    chances = {"none": steps, "one": steps, "one_and_target": steps[::-1]}
    chances |= {"disclosed": [None, *steps[1:]]}
    shown = {"record": places, "matches": places, "same_person": [True] * count}
    detail = Queries(
        names=["x"], secret="y", words=words, baseline=[0.1] * count, **chances, **shown
    )
    return Reading(value=0.3, baseline=2.0, detail=detail)


def ends(variables: int = 3) -> Any:
    names = [name for i in range(variables) for name in [f"v{i}" if i else HOSTILE] * 2]
    count = len(names)
    sides = ["largest", "smallest"] * variables
    same = {"value": 1.0, "record": 0, "holders": 1, "survival": 0.5, "own_row": 0.0, "released": 1}
    each = {part: [value] * count for part, value in same.items()}
    copies = [1.0] * (count - 1) + [None]
    detail = Extremes(name=names, side=sides, **each, copies=copies)
    return Reading(value=0.5, baseline=2.0, detail=detail)


NINE = {"names": ["age"], "records": np.arange(9), "sampled": False, "of": 9}


def releases(standing: str = "worst") -> Any:
    shares = {"releases": [1, 2, 3, 4, 5], "same_order": np.linspace(0.1, 1, 5), "shuffled": 0.1}
    return of(RepeatedReleases, 0.9, **shares, standing=standing, **NINE)


def matches(secret: str | None = "siri", sets: int = 12) -> Any:
    steps = np.linspace(0, 1, sets)
    names = [(f"v{i}", "b", "c") for i in range(1, sets)]
    known = KnownSets(((HOSTILE, "age"), *names), 2, 0, sets, sets)
    each = {
        "people": np.arange(sets),
        "valued": np.arange(sets),
        "found": steps,
        "read": steps / 2,
        "chance": steps / 10,
    }
    each |= {"secret": [secret] * sets, "shares": steps if secret is None else steps * 0.4}
    level = None if secret is None else {"secret": secret, "level": HOSTILE}
    return of(TrueMatches, 1.0, 0.1, known=known, **each, worst=sets - 1, few=None, level=level)


def sure(points: int = 5) -> Any:
    steps = np.linspace(1, 0.2, points), np.linspace(0.1, 0.9, points), np.linspace(1, 0.4, points)
    curves = {"all": Curve(*steps), "keys": Curve(*steps)}
    return of(SureLinks, 0.1, **curves, by_keys=0.1, success=0.5, **NINE)


def quantile_reading(names: list[str]) -> Reading:
    nothing = np.zeros((len(names), 3))
    change = np.linspace(-0.3, 0.2, nothing.size).reshape(nothing.shape)
    files = {"original": nothing, "released": nothing, "change": change}
    return of(BothFiles, 0.1, names=names, columns=[0.05, 0.5, 0.95], **files)


def subgroup_reading(count: int = 2) -> Reading:
    sizes = np.arange(10, 10 + count)
    names = [HOSTILE, *(f"g{place}" for place in range(1, count))]
    files = {"original": sizes, "released": sizes - 5, "change": -5 / sizes}
    return of(Counts, 0.2, names=names, **files, total_change=-0.45, vanished=0)


def points_reading(records: int = 30, first: str = "age") -> Reading:
    values = np.random.default_rng(1).normal(size=(records, 2))
    files = {"original": values, "released": values[::-1] * 0.9}
    files |= both({"correlation": 0.5}, {"correlation": None})
    return of(TwoWay, 0.1, kind="points", names=[first, "bmi"], **files)


def band(low: Any, high: Any) -> Band:
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    return Band(low=low, median=(low + high) / 2, high=high)


def correlation_band(size: int = 3) -> dict[str, Band]:
    low = np.full((size, size), -0.4)
    low[1, 0] = low[0, 1] = -0.1  # the draw's -0.25 lies outside
    return {"released": band(low, np.full((size, size), 0.0))}


LOSS = {"title": "Correlations", "unit": "mean change", "falls": True, "share": False}
RISK = {"title": "Linkage", "unit": "share", "falls": False, "share": True}
SHARE = {"title": "of a limit", "unit": "1 is all", "falls": False, "share": False}
SHARE |= {"of_limits": True}


def spot(key: str, x: float | None, y: float | None, *, frontier: bool = False) -> dict:
    pair = None if x is None else (x - 0.01, x + 0.01)
    at = {"x": x, "y": y, "x_interval": pair, "y_interval": None}
    more = {"frontier": frontier, "kept": key == "b", "released": 0.25 if key == "c" else 1.0}
    return {"key": key, "text": HOSTILE + key, **at, **more}


SPOTS = [
    spot("a", 0.05, 0.2, frontier=True),
    spot("b", 0.1, 0.1, frontier=True),
    spot("c", 0.12, 0.15),
    spot("d", None, 0.1),
]
MARKS = [
    {"label": "now", "text": "ε = 1", "x": 0.07, "y": 0.12},
    {"label": "Careful", "text": "ε = 2", "x": 0.11, "y": 0.11},
]


def the_disclosure(q: float) -> lessons.disclosure.DisclosedPerson:
    data = lessons.disclosure.table()
    ready = rwn.RWN(epsilon=0.0, k=3, q=q).prepare(data)
    return lessons.disclosure.disclosure(ready, data, person="Anna")


def the_trade(top: float) -> lessons.choose.Trade:
    epsilon = np.arange(4.0)
    loss, share = np.array([0.1, 0.2, 0.4, 0.9]), np.array([top, 3.0, 0.9, 0.2])
    return lessons.choose.Trade(epsilon=epsilon, loss=loss, share=share, now=2, accepted=0.5)


def the_intruder(known: int = 3) -> lessons.intruder.Intruder:
    table = rwn.RWN(epsilon=0.0, k=5).prepare(rwn.load_demo("bodyfat"))
    return lessons.intruder.intruder(table.release(SecretKey.from_seed(1)), row=0, known=known)


def the_neighborhood(record: int, weight: float = 0.1) -> lessons.neighborhood.Neighborhood:
    table = rwn.RWN(epsilon=0.6, k=5).prepare(lessons.neighborhood.table(weight))
    return lessons.neighborhood.neighborhood(table, record=record)


def the_edges(**options: Any) -> lessons.edges.Edges:
    setting = rwn.RWN(**options) if options else rwn.SoftRWN()
    return lessons.edges.edges(lessons.edges.table(), setting, record=3)


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
    names = [f"level {i}" for i in range(count)]
    shown = marginal(counts, counts[::-1], 0.5, levels=names)
    return Reading(value=1.0, baseline=2.0, detail=marginal_distances({"job": shown}))


SLOPES = {
    "coefficient_released": band([-1.0, -2.0, -3.0], [0.0, 0.0, -1.0]),
    "se_released": band([0.9] * 3, [1.1] * 3),
}
SHARES = {
    "share_released": band([0.4, 0.2, 0.1], [0.6, 0.4, 0.3]),
    "cumulative_released": band([0.4, 0.7, 1.0], [0.6, 0.9, 1.0]),
}
_bands = {
    "correlation": (correlation_reading(first=HOSTILE), correlation_band()),
    "regression": (regression_reading(first=HOSTILE), SLOPES),
    "principal_components": (components_reading(), SHARES),
    "cooks_distance": (index_reading(STEPS, STEPS / 2), {"max_released": band(1.2, 4.0)}),
    "mahalanobis": (index_reading(STEPS, STEPS / 2), {"max_released": band(1.2, 4.0)}),
    "nearest_distance": (index_reading(STEPS, STEPS + 1), {"value": band(1.2, 1.4)}),
    "quantiles": (
        quantile_reading([HOSTILE, "b"]),
        {"change": band(np.full((2, 3), -0.1), np.full((2, 3), 1))},
    ),
    "two_way": (points_reading(first=HOSTILE), (0.1, 0.4)),
    "subgroups": (subgroup_reading(), {"released": band([3, 4], [30, 31])}),
}


def _forms() -> dict[str, tuple[Any, ...]]:
    """What each chart is drawn from, by its key and the form that it takes."""
    holes = correlation_reading()
    holes.detail.released[1, :] = holes.detail.released[:, 1] = np.nan
    classes = {key: reading(0.4, 0.6) for key in several_measures.NAMES} | {"t_closeness": REASON}
    north = {
        "original": np.array([[5, 5, 1], [4, 4, 1]]),
        "released": np.array([[7, 3, 1], [8, 0, 1]]),
    }
    levels_of = {"rows": ["north", HOSTILE], "columns": ["yes", "no", "(missing)"]}
    table = of(TwoWay, 0.25, kind="table", names=["region", HOSTILE], **levels_of, **north)
    slopes = errors.Slopes(slope=np.array([1.0, 2.0, 1.1]), error=np.array([0.2, 0.3, 0.1]))
    sweep = [
        {"label": "", "loss": 0.1, "risk": 0.1, "text": "a", "frontier": True},
        {"label": "", "loss": 0.05, "risk": 0.2, "text": "b", "frontier": True},
        {"label": "", "loss": 0.2, "risk": math.nan, "text": "c", "frontier": False},
    ]
    normal = rwn.RWN(epsilon=0.8, k=1).prepare(points_of("normal", 60))
    return {
        "risk_utility_map": (map_points(), 0.05),
        "neighborhood_size": (size_reading(np.arange(5, 45), STEPS),),
        "nearest_distance": (index_reading(STEPS, STEPS + 1),),
        "correlation": (correlation_reading(first=HOSTILE),),
        "regression": (regression_reading(first=HOSTILE),),
        "principal_components": (components_reading(),),
        "cooks_distance": (index_reading(STEPS, STEPS / 2),),
        "mahalanobis": (index_reading(STEPS, STEPS / 2),),
        "distribution": (marginals_reading(HOSTILE), HOSTILE),
        "risk_utility_map: all limits": (
            map_points(), 1.0, With(risk="share of a limit", of_limits=True)
        ),
        "risk_utility_map: no limit": (map_points(), None),
        "risk_utility_map: kept": ([{**NOW, "kept": True}], 1.0, OF_LIMITS),
        "risk_utility_map: not kept": ([{**NOW, "risk": 19.9, "kept": False}], 1.0, OF_LIMITS),
        "risk_utility_map: not judged": ([{**NOW, "kept": False, "unread": 2}], 1.0, OF_LIMITS),
        "risk_utility_map: on the line": ([{**NOW, "risk": 0.99}], 0.05),
        "risk_utility_map: true ends": ([{**NOW, "loss": 0.99, "risk": 0.99}], 0.05),
        "risk_utility_map: coinciding": ([{**NOW, "label": name} for name in "ABC"], 0.05),
        "risk_utility_map: no place": ([{**NOW, "loss": math.nan}], 0.05),
        "risk_utility_map: risk follows": ([{**NOW, "loss": 0.3, "risk": None}, NOW], 0.05),
        "risk_utility_map: sweep": (map_points(), 0.05, sweep),
        "neighborhood_size: by k": (size_reading([5, 9, 5, 30], [2.5, 1.0, 3.0, 0.5]),),
        "neighborhood_size: large k": (size_reading([60, 60], [2.5, 1.0], k=60),),
        "neighborhood_size: no k": (size_reading([60, 60], [2.5, 1.0], k=None),),
        "neighborhood_size: no radius": (size_reading([5, 9], [2.5, 1.0], epsilon=None),),
        "neighborhood_size: wide": (size_reading([1, 900], [0.1, 7.0], k=2, epsilon=8.0),),
        "neighborhood_size: many": (size_reading(np.full(5_000, 7), TALL),),
        "neighborhood_size: outlier": (size_reading(np.arange(5, 45), outlying(5021.0)),),
        "nearest_distance: whiskers": (index_reading([*range(1, 10), 17], [2.0] * 10),),
        "nearest_distance: sample": (
            with_parts(index_reading([1.0, 2.0], [1.0, 2.0]), sampled=True, of=9_000),
        ),
        "correlation: 15": (correlation_reading(15),),
        "correlation: 40": (correlation_reading(40),),
        "correlation: missing": (holes,),
        "association": (
            with_parts(correlation_reading(), coefficient=np.add.outer(*2 * [[0, 0, 1]])),
        ),
        "regression: poisson": (with_parts(regression_reading(), family="poisson"),),
        "regression: many": (regression_reading(slopes=30),),
        "regression: turned": (
            with_parts(regression_reading(), sign_changed=np.array([True, False, False])),
        ),
        "cooks_distance: close": (index_reading([0.1, 0.9, 0.2], [0.1, 0.88, 0.2]),),
        "cooks_distance: closer": (index_reading([0.1, 0.88, 0.2], [0.1, 0.9, 0.2]),),
        "cooks_distance: numbers": (
            with_parts(
                index_reading([0.1, 0.9], [0.3, 0.1]),
                records_original=np.array([4, 9]),
                argmax_original=9,
            ),
        ),
        "cooks_distance: outlier": (index_reading(outlying(5.5), STEPS / 100),),
        "mahalanobis: many": (index_reading(TALL, TALL * 0.5),),
        "distribution: levels": (marginals_reading(), "eyes"),
        "distribution: 10 levels": (levels(10), "job"),
        "distribution: 11 levels": (levels(11), "job"),
        "distribution: 300 levels": (levels(300), "job"),
        "distribution: draws": (
            marginals_reading(HOSTILE),
            HOSTILE,
            {f"released {HOSTILE}": band([1, 2, 3], [4, 9, 6])},
        ),
        "distribution: levels and draws": (
            marginals_reading(),
            "eyes",
            {"released eyes": band([5, 3], [7, 5])},
        ),
        "correlation_change": (correlation_reading(first=HOSTILE),),
        "correlation_change: draws": (
            correlation_reading(first=HOSTILE),
            correlation_band(),
        ),
        "quantiles": (quantile_reading([HOSTILE, "b"]),),
        "quantiles: many": (quantile_reading([f"v{place}" for place in range(30)]),),
        "subgroups": (subgroup_reading(),),
        "subgroups: many": (subgroup_reading(40),),
        "two_way": (points_reading(first=HOSTILE),),
        "two_way: many": (points_reading(3000),),
        "two_way: table": (table,),
        **{f"{key}: draws": drawn_from for key, drawn_from in _bands.items()},
        "true_matches": (matches(),),
        "true_matches: no secret": (matches(None, 3),),
        "precision_recall": (sure(),),
        "precision_recall: one point": (sure(1),),
        "linkage_attacks": (attacks(),),
        "linkage_attacks: at least": (
            [{**attack, "at_least": attack["worst"]} for attack in attacks()],
        ),
        "record_risk": (bayes(),),
        "record_risk: sample": (bayes(60),),
        "repeated_releases": (releases(),),
        "repeated_releases: a bound": (releases("at least"),),
        "key_classes": (classes,),
        "key_classes: tiny": ({key: reading(0.0001, 0.5) for key in several_measures.NAMES},),
        "guessing_attacks": (guesses(),),
        "queries": (asked(),),
        "extreme_values": (ends(),),
        "sweep_map: several limits": (
            SPOTS, LOSS, SHARE, With(limit=0.12, marks=MARKS)
        ),
        "sweep_map: one limit": (SPOTS, LOSS, RISK, With(limit=0.2)),
        "sweep_map: turned": (SPOTS, RISK, {**RISK, "falls": True}),
        "lesson_disclosure": (the_disclosure(0.0), 3),
        "lesson_disclosure: answered": (the_disclosure(1.0), 3, True),
        "lesson_choose": (the_trade(90.0),),
        "lesson_ties": (the_trade(12.0),),
        "lesson_theorem": (lessons.theorem.theorem(normal, record=6),),
        "lesson_intruder": (the_intruder(),),
        "lesson_intruder: answered": (the_intruder(), True),
        "lesson_neighborhood": (the_neighborhood(19),),
        "lesson_neighborhood: outlier": (the_neighborhood(OUTLIER, weight=1.0),),
        "lesson_standard_errors": (errors.StandardErrors(original=slopes, released=slopes),),
        "lesson_edges": (the_edges(),),
        "lesson_edges: hard": (the_edges(epsilon=1.0, k=10),),
        "lesson_edges_loads": (the_edges(),),
        "lesson_sampling": (lessons.sampling.sampling(fraction=0.02, keys=11, change=0.2),),
    }  # fmt: skip


def every_chart() -> dict[str, Chart]:
    """Draw all of them."""
    drawn = {}
    for form, given in _forms().items():
        options = given[-1] if isinstance(given[-1], With) else {}
        drawn[form] = CHARTS[form.partition(":")[0]](*given[: -1 if options else None], **options)
    return drawn
