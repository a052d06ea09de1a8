"""Risk in the population that a sample stands for, and special uniques."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from typing import Any, NamedTuple

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.units import people_in
from rwn_core.data.variable import LEVELS
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, codes, numbers, released_rows
from rwn_core.measures.measure import Detail, Measure, Reading, Sides, class_measure
from rwn_core.measures.sentence import filled, people, percent
from rwn_core.measures.statistics.key_variables import (
    ROWS_OF_UNITS,
    SHARES_OF_UNITS,
    cell_codes,
    class_sizes,
    class_totals,
    classes,
    counts_of_classes,
    finer,
    key_cells,
    key_names,
    mean_reading,
    once,
    owners,
)
from rwn_core.measures.statistics.population import (
    PitmanLaw,
    PopulationRisk,
    expected_inverse,
    file_risk,
    fitted_risk,
    individual_risk,
    pitman,
    pitman_law,
    pitman_range,
    probability_unique,
    slopes_of_inverse,
)

# Individual risk: expected re-identifications by the key variables of a sample

INDIVIDUAL_RISK_WORTH = (
    "In simulated populations the truth was 0.3 to 1.2 times this estimate, and 0.6 to 12 times "
    "that of Benedetti and Franconi."
)


def compute_individual_risk(comparison: Comparison) -> Reading[PopulationRisk]:
    """Return the mean individual risk of the released records under the comparison's sampling."""
    keys = key_names(comparison)
    sampling = comparison.sampling
    many, population = _people(comparison)
    tables = (comparison.original, comparison.masked)
    found = []
    leaving = released_rows(*tables)
    rows = (np.arange(comparison.original.n), leaving)
    sides = zip(tables, key_cells(comparison, keys), rows, owners(comparison), strict=True)
    for table, every, some, units in sides:
        weights = sampling.record_weights(comparison.original, table)
        risk = np.zeros(table.n)
        cells = every[some]
        sizes = class_sizes(cells, units)
        totals = class_totals(cells, weights[some], units)
        law = PitmanLaw(1.0, 1.0)  # a file that is the population leaves no person unseen
        if weights.sum() > len(weights):
            law = pitman_law(np.sort(counts_of_classes(cells, units)))
        risk[some] = fitted_risk(sizes, totals, law, float(once(cells, units).sum()))
        each = once(cells[:, :0], units)  # a unit counts by the mean of its rows
        matches = (
            float((one * each).sum()) for one in (risk[some], individual_risk(sizes, totals))
        )
        found.append((risk, int((sizes == 1).sum()), float(risk.max()), *matches))
    risks, uniques, largest, expected, older = (Sides(*both) for both in zip(*found, strict=True))
    detail = PopulationRisk(
        names=list(keys),
        risk=risks,
        population=population,
        uniques=uniques,
        expected=expected,
        largest=largest,
        older=older,
        caveat=INDIVIDUAL_RISK_WORTH if population > many else "",
    )
    return mean_reading(Sides(risks.original, risks.released[leaving]), comparison, detail)


def _people(comparison: Comparison) -> tuple[int, float]:
    """Return how many people the file has, and the population that it stands for."""
    original = comparison.original
    many = people_in(comparison.original)
    return many, float(comparison.sampling.record_weights(original, original).mean()) * many


def individual_risk_sentence(reading: Reading[PopulationRisk], n: int) -> str:
    """Say how many matches are correct, by which model, and the precision of the estimate."""
    detail = reading.detail
    right = people(reading.value, n)
    who = "An intruder who takes released keys for true is right about"
    if not detail.caveat:
        return f"{who} {right}, if the file is the whole population: one in each class."
    return (
        f"{who} {right} by a model of the population (Pitman); by another (Benedetti and "
        f"Franconi) about {detail.older.released:,.0f}. {detail.caveat}"
    )


INDIVIDUAL_RISK = class_measure(
    key="individual_risk",
    title="Expected re-identifications",
    question="About how many records does an intruder identify who finds people by their key "
    "values in the release and takes these for true?",
    sentence=individual_risk_sentence,
    source="E(1 / F | f) of Pitman's sampling formula (Pitman 1995, Hoshino 2001) and that of "
    "Benedetti and Franconi 1998; with the file as the population it is 1 / (class size)",
    compute=compute_individual_risk,
    of_units=SHARES_OF_UNITS,
    about="row",
    label="expected re-identified",
    recorded=("expected_original", "expected_released"),
    places={"report": 20},
)


# Special uniques (SUDA): records that few key variables single out

ALONE = 1.5  # units in a class of one, up to rounding
LARGEST = 3  # key variables of a minimal unique that is looked for
MOST_KEYS = 10


def scores(cells: Integers, units: Integers | None = None) -> tuple[Floats, Integers, Floats]:
    """Return each record's SUDA score, its smallest minimal unique, and shares of variables."""
    # Shapes (n,), (n,) (0 where a record has none) and (n, m): the share of the score from minimal
    # uniques with each variable; a row's sum is above 1 where they have several.
    # Elliot, Manning, Ford 2002; Manning, Haglin, Keane 2008. A minimal unique of size k adds the
    # product of (m - i), i = k, ..., LARGEST. Missing (-1) is a value.
    n, m = cells.shape
    score, smallest, parts = np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros((n, m))
    unique: dict[tuple[int, ...], Booleans] = {(): np.zeros(n, dtype=bool)}
    groups: dict[tuple[int, ...], Integers] = {(): np.zeros(n, dtype=np.int64)}
    for size in range(1, min(LARGEST, m) + 1):
        weight = float(np.prod([max(m - i, 1) for i in range(size, LARGEST + 1)]))
        for chosen in combinations(range(m), size):
            # a class of one that fewer of these variables single out is nobody else's
            already = np.logical_or.reduce([unique[c] for c in combinations(chosen, size - 1)])
            unique[chosen] = already
            left = np.flatnonzero(~already)
            if not left.size:
                continue
            # the classes of all variables but the last are known
            group = finer(groups[chosen[:-1]][left], cells[left, chosen[-1]])
            own = None if units is None else units[left]
            alone = np.bincount(group, once(group[:, np.newaxis], own))[group] < ALONE
            special = left[alone]
            score[special] += weight
            parts[special[:, np.newaxis], chosen] += weight
            smallest[special[smallest[special] == 0]] = size
            unique[chosen][special] = True
            if size < LARGEST:
                groups[chosen] = np.zeros(n, dtype=np.int64)
                groups[chosen][left] = group
    return score, smallest, parts / np.where(score > 0, score, 1.0)[:, np.newaxis]


def dis_scores(
    cells: Integers, score: Floats, fraction: float, units: Integers | None = None
) -> Floats:
    """Return each record's DIS-SUDA score: P(a match with a special unique is true), shape (n,)."""
    # The file's data intrusion score is U f / (U f + P (1 - f)), with U unique records, P records
    # in pairs and the sampling fraction f (Elliot 2000; Skinner and Elliot 2002). It is spread over
    # the special uniques as sdcMicro does, by powers of their scores.
    size = counts_of_classes(cells, units)[classes(cells)]
    special = score > 0
    each = once(cells, units)
    alone, paired = float(each[size == 1].sum()), float(each[size == 2].sum())
    result = np.zeros(len(score))
    if not special.any() or not alone:
        return result
    overall = alone * fraction / (alone * fraction + paired * (1 - fraction))
    power = score[special] ** (1 + (8 - cells.shape[1]) / 20)
    against = (alone / overall - alone) / (power * (1 / power).sum())
    result[special] = 1 / (1 + against)
    return result


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpecialUniques(Detail):
    """The records that few key variables single out.

    Attributes
    ----------
    names : sequence of str
        The keys, at most the ten with most different values.
    score, dis : Sides of ndarray of float64, shape (n,)
        SUDA and DIS-SUDA score of each record; 0 without a minimal unique.
    shares : Sides of ndarray of float64, shape (names,)
        Share of all scores that each key has a part in.
    sizes : sequence of int
        Numbers of key variables of a minimal unique.
    count : Sides of sequence of int
        Records by the size of their smallest minimal unique, for each of `sizes`.
    left_out : int
        Number of further keys.
    """

    score: Sides[Floats]
    dis: Sides[Floats]
    shares: Sides[Floats]
    sizes: Sequence[int]
    count: Sides[list[int]]
    left_out: int = 0


class _OfFile(NamedTuple):
    """The special uniques of one file: see `SpecialUniques`."""

    score: Floats
    dis: Floats
    shares: Floats
    smallest: Integers  # shape (n,): variables of the smallest minimal unique, 0 without one


def _special_uniques(
    cells: Integers, rows: Integers, units: Integers | None, fraction: float
) -> _OfFile:
    """Return the special uniques among some rows of a file, of all of its n records."""
    # Shapes: cells (n, keys); rows, units (m,).
    score = np.zeros(len(cells))
    dis = np.zeros(len(cells))
    smallest = np.zeros(len(cells), dtype=np.int64)
    score[rows], smallest[rows], parts = scores(cells[rows], units)
    dis[rows] = dis_scores(cells[rows], score[rows], fraction, units)
    total = max(float(score.sum()), np.finfo(np.float64).tiny)
    return _OfFile(score, dis, score[rows] @ parts / total, smallest)


def compute_suda(comparison: Comparison) -> Reading[SpecialUniques]:
    """Return the share of released records that at most three key variables single out."""
    every = key_names(comparison)
    # the keys with most different values, the first of equally many, in their own order
    rich = comparison.original.frame[list(every)].nunique().to_numpy()
    keys = [every[at] for at in np.sort(np.argsort(-rich, kind="stable")[:MOST_KEYS])]
    original = comparison.original
    leaving = released_rows(comparison.original, comparison.masked)
    fraction = 1 / float(comparison.sampling.record_weights(original, original).mean())
    before, after = cell_codes(comparison, keys)
    owner, owner_of_row = owners(comparison)
    # codes depend on the release, but not which of them are equal
    own = comparison.cached_for_original(
        ("special uniques", tuple(keys), comparison.sampling),
        lambda: _special_uniques(before, np.arange(original.n), owner, fraction),
    )
    shown = own
    if len(leaving) < original.n or not np.array_equal(before, after):
        shown = _special_uniques(after, leaving, owner_of_row, fraction)
    sizes = list(range(1, LARGEST + 1))
    detail = SpecialUniques(
        names=keys,
        left_out=len(every) - len(keys),
        score=Sides(own.score, shown.score),
        dis=Sides(own.dis, shown.dis),
        shares=Sides(own.shares, shown.shares),
        sizes=sizes,
        count=Sides(
            *([int((each.smallest == size).sum()) for size in sizes] for each in (own, shown))
        ),
    )
    special = Sides(own.smallest > 0, shown.smallest[leaving] > 0)
    return mean_reading(special, comparison, detail)


def suda_sentence(reading: Reading[SpecialUniques], n: int) -> str:
    """Say how many records are special, which key makes them so, and what a match is worth."""
    left = reading.detail.left_out
    of = f" of the {MOST_KEYS} with most values ({left} more left out)" if left else ""
    said = filled(f"Up to three key variables{of} single out {{people}}")(reading, n)
    dis = reading.detail.dis.released
    shares = reading.detail.shares.released
    if not (dis > 0).any():
        return f"{said}."
    first = int(np.argmax(shares))
    return (
        f"{said}; {reading.detail.names[first]} has a part in {percent(float(shares[first]))} "
        "of their scores, and a match with one of them is true with probability "
        f"{percent(float(dis[dis > 0].mean()))} on average."
    )


SUDA = class_measure(
    key="suda",
    title="Special uniques",
    question="How many records do at most three key variables single out?",
    sentence=suda_sentence,
    source="SUDA: Elliot, Manning, Ford 2002; minimal uniques of up to three variables, of the "
    "ten keys with most values; DIS scores: Elliot 2000",
    compute=compute_suda,
    of_units=SHARES_OF_UNITS,
    label="special uniques",
    places={"report": 20},
)


# Population uniqueness: share of sample uniques that are population uniques

POPULATION_UNIQUENESS_WORTH = (
    "In simulated populations the truth was 0 to 1.3 times the estimate; where all are alone, it "
    "says nothing."
)


def compute_population_uniqueness(comparison: Comparison) -> Reading[PopulationRisk]:
    """Return the share of sample uniques that Pitman's formula expects to be population uniques."""
    # a file of the whole population needs no estimate
    many, population = _people(comparison)
    keys = key_names(comparison)
    if population <= many * (1 + 1e-9):
        raise NotApplicable(
            "The file is taken for the whole population, where unique is unique; give the size of "
            "the population or sampling weights."
        )
    before, after = cell_codes(comparison, keys)
    cells = before, after[released_rows(comparison.original, comparison.masked)]
    own, released = map(np.sort, map(counts_of_classes, cells, owners(comparison)))
    detail = PopulationRisk(
        names=list(keys),
        population=population,
        uniques=Sides(*(int((side == 1).sum()) for side in (own, released))),
        caveat=POPULATION_UNIQUENESS_WORTH,
    )
    return Reading(
        value=pitman(released, population),
        baseline=pitman(own, population),
        interval=pitman_range(released, population),
        detail=detail,
    )


def population_uniqueness_sentence(reading: Reading[PopulationRisk], n: int) -> str:
    """Say how many sample uniques are population uniques, and in which range that lies."""
    detail = reading.detail
    low, high = reading.interval or (reading.value, reading.value)
    return (
        f"Of {detail.uniques.released:,} released records that are alone with their key values, "
        f"{percent(reading.value)} would be alone among {detail.population:,.0f} people, by "
        f"Pitman's model of the population; of the original's {percent(reading.baseline or 0)}. "
        f"From {percent(low)} to {percent(high)} would fit the release. {detail.caveat}"
    )


POPULATION_UNIQUENESS = Measure(
    key="population_uniqueness",
    title="Unique in the population",
    unit="share of the records that are unique on the keys",
    question="How many of the records that are alone with their key values in the file would be "
    "alone with them in the whole population?",
    sentence=population_uniqueness_sentence,
    source="Pitman's sampling formula (Pitman 1995; Hoshino 2001), all its laws within the 95 % "
    "likelihood region; needs the size of the population or sampling weights",
    compute=compute_population_uniqueness,
    of_released=True,
    of_units=ROWS_OF_UNITS,
)


# Log-linear risk: expected correct matches of sample uniques with the population

STEPS = 60
CLOSE = 1e-6  # largest remaining error of a margin, in records
ENOUGH = 1.96  # |B| / sd(B) at which a model is no longer refuted

Terms = tuple[tuple[int, ...], ...]


class Model(NamedTuple):
    """A fitted model of key cells."""

    terms: Terms  # fitted margins: a key each for main effects, pairs for interactions
    means: Floats  # fitted sample means of all cells, in the shape of the table of counts
    tau2: float
    # the check B of tau2; and standardized: about standard normal if the model holds, above 0 where
    # it is too simple
    check: float
    z: float


def fit_margins(counts: Floats, terms: Terms) -> Floats:
    """Return the fitted means of a log-linear model with these margins (Deming, Stephan 1940)."""
    # Shapes: counts and the answer have the same shape, with an axis for each variable.
    means = np.full(counts.shape, counts.sum() / counts.size)
    for _ in range(STEPS):
        error = 0.0
        for term in terms:
            others = tuple(axis for axis in range(counts.ndim) if axis not in term)
            target = counts.sum(axis=others, keepdims=True)
            have = means.sum(axis=others, keepdims=True)
            error = max(error, float(np.abs(target - have).max()))
            means = means * np.divide(target, have, out=np.zeros_like(target), where=have > 0)
        if error < CLOSE:
            break
    return means


def check_deviation(means: Floats, fraction: float) -> float:
    """Return the standard deviation of the check B of tau2 under the model."""
    # Shapes: means with an axis for each variable, (c,) when flat.
    # For a Poisson count f of mean m, f - m has variance m, (f - m)^2 - f has variance 2 m^2, and
    # the two are uncorrelated.
    m = np.maximum(means.ravel(), 1e-300)
    first, second = slopes_of_inverse(m / fraction, fraction)
    variance = (first / fraction) ** 2 * m + (second / fraction**2) ** 2 * m**2 / 2
    return float(np.sqrt(((m * np.exp(-m)) ** 2 * variance).sum()))


def _model(counts: Floats, terms: Terms, fraction: float) -> Model:
    means = fit_margins(counts, terms)
    tau2, check = file_risk(counts.ravel(), means.ravel(), fraction)
    spread = check_deviation(means, fraction)
    return Model(terms, means, tau2, check, z=check / spread if spread > 0 else 0.0)


MOST_INTERACTIONS = 6  # of a path of models


def forward_search(counts: Floats, fraction: float) -> list[Model]:
    """Return models from main effects on, each with one more interaction."""
    # The search ends when |B| is at most 1.96 standard deviations (Skinner and Shlomo 2008, section
    # 4).
    mains: Terms = tuple((axis,) for axis in range(counts.ndim))
    path = [_model(counts, mains, fraction)]
    left = list(combinations(range(counts.ndim), 2))
    while left and len(path) <= MOST_INTERACTIONS and abs(path[-1].z) > ENOUGH and fraction < 1:
        tried = []
        for pair in left:  # the margins that the new one contains are dropped
            others = tuple(term for term in path[-1].terms if not set(term) <= set(pair))
            tried.append(_model(counts, (*others, pair), fraction))
        best = int(np.argmin([abs(model.z) for model in tried]))
        if abs(tried[best].z) >= abs(path[-1].z):
            break
        path.append(tried[best])
        left.pop(best)
    return path


GROUPS = 6  # quantile groups of a number with more different values
MOST_CELLS = 20_000  # decides: cells of the keys in a log-linear model; further keys are left out
MOST_MODEL_KEYS = 6


def model_cells(
    comparison: Comparison, keys: Sequence[str]
) -> tuple[list[Integers], dict[str, int], list[str]]:
    """Return each record's cell of the model in both files, its keys with their levels, and others.

    The table of counts has an axis per key; for the others it has no room. Keys of one level are
    left out.
    """
    original, masked = comparison.original, comparison.masked
    columns = []
    levels = dict[str, int]()
    apart = list[str]()
    for name in keys:
        # the key of both tables, one after the other, as codes from 0, numbers in groups
        if original.schema.variable(name).kind in LEVELS:
            sides = [codes(original, table, name)[0] for table in (original, masked)]
        else:
            values = original.values(name)
            known = np.unique(values[~np.isnan(values)])
            edges = known[1:]
            if len(known) > GROUPS:
                edges = np.unique(np.nanquantile(values, np.linspace(0, 1, GROUPS + 1)[1:-1]))
                if edges[-1] <= known[0]:  # nearly all have the least value
                    edges = known[1:2]
            sides = [
                np.where(np.isnan(v), -1, np.searchsorted(edges, v, side="right"))
                for v in (values, numbers(original, masked, name))
            ]
        both = np.unique(np.concatenate(sides), return_inverse=True)[1].astype(np.int64)
        width = int(both.max()) + 1
        full = np.prod([*levels.values(), width]) > MOST_CELLS or len(levels) == MOST_MODEL_KEYS
        if width > 1 and full:
            apart.append(name)
        elif width > 1:
            columns.append(both)
            levels[name] = width
    if not levels:
        raise NotApplicable("No key variable has two levels, so there are no cells to model.")
    cells = np.ravel_multi_index(columns, tuple(levels.values()))
    before, after = np.split(cells, [original.n])
    return [before, after[released_rows(original, masked)]], levels, apart


def compute_loglinear_risk(comparison: Comparison) -> Reading[PopulationRisk]:
    """Return the expected number of correct matches of released sample uniques, as a share."""
    # The sampling fraction is the file's size over the sum of the sampling weights.
    keys = key_names(comparison)
    population = _people(comparison)[1]
    cells, levels, apart = model_cells(comparison, keys)
    used = list(levels)
    shape = tuple(levels.values())
    # the values themselves, which a model of groups of numbers lacks
    before, after = cell_codes(comparison, [*used, *(name for name in keys if name not in used)])
    values = before, after[released_rows(comparison.original, comparison.masked)]
    risks, shares = [], []
    for own, known, units in zip(cells, values, owners(comparison), strict=True):
        each = once(own[:, np.newaxis], units)
        counts = np.rint(np.bincount(own, each, int(np.prod(shape)))).reshape(shape)
        size = float(len(own if units is None else np.unique(units)))
        fraction = min(size / max(population, size), 1.0)
        path = forward_search(counts, fraction)
        # the records that are unique on all keys, and their expected tau1 and tau2
        rate = _rates(path[-1].means, own, known, fraction)
        alone = class_sizes(known + 1, units) == 1
        each = once(known + 1, units)[alone]
        rate = rate[alone]
        expected = (law(rate, fraction) @ each for law in (probability_unique, expected_inverse))
        risks.append((round(float(each.sum())), *map(float, expected)))
        shares.append(min(risks[-1][2] / max(size, 1.0), 1.0))
    uniques, tau1, tau2 = (Sides(*both) for both in zip(*risks, strict=True))
    detail = PopulationRisk(
        names=used,
        independent=apart,
        left_out=[name for name in keys if name not in used and name not in apart],
        population=population,
        cells=path[-1].means.size,
        uniques=uniques,
        alone=tau1,
        expected=tau2,
        model=_crossed_words(path[-1].terms, used),
        of_names=path[-1].tau2,
        check=path[-1].check,
        z=path[-1].z,
        caveat=_independent_words(apart),
    )
    return Reading(value=shares[1], baseline=shares[0], detail=detail)


def _rates(means: Floats, cells: Integers, values: Integers, fraction: float) -> Floats:
    """Return the mean of each record's values in the population, shape (n,)."""
    # Shapes: means, by the groups of the model's keys; cells (n,), values (n, keys). Values are
    # independent of the other keys within a group of the model, and further keys, of which all
    # records are one group, altogether: each multiplies the fitted mean by the share of the
    # record's value in its group. Missing is a value.
    rate = np.maximum(means.ravel()[cells], 1e-300) / fraction
    every = np.zeros_like(cells)
    groups = np.unravel_index(cells, means.shape)
    for value, group in zip_longest(values.T + 1, groups, fillvalue=every):
        rate = rate * (np.bincount(value)[value] / np.bincount(group)[group])
    return rate


def _crossed_words(terms: Iterable[Sequence[int]], names: Sequence[str]) -> str:
    """Write the terms of a model of more than one variable."""
    words = []
    for term in terms:
        if len(term) > 1:
            words.append(" × ".join(names[at] for at in term))
    return ", ".join(words)


def _independent_words(apart: Sequence[str]) -> str:
    """Say which keys the model takes as independent of the others; nothing where none is."""
    if not apart:
        return ""
    verb = "enters" if len(apart) == 1 else "enter"
    return f"{', '.join(apart)} {verb} as independent of the other keys, for lack of cells."


def loglinear_risk_sentence(reading: Reading[PopulationRisk], n: int) -> str:
    """Say how many matches with the population are correct."""
    detail = reading.detail
    many = reading.units or n
    ending = ", if the file is the whole population (give its size or sampling weights)."
    parts = [
        f"Matching unique rows with the population gives {reading.value * many:,.1f} right matches "
        f"in expectation{'.' if detail.population > many else ending}",
        detail.caveat,
        (f"Left out, of one level only: {', '.join(detail.left_out)}." if detail.left_out else ""),
    ]
    return " ".join(filter(None, parts))


def model_table(reading: Reading[PopulationRisk], n: int) -> dict[str, Any]:
    """Return the uniques of both files, and how the model of the keys fits."""
    detail = reading.detail
    # a row for each file
    numbers = zip(detail.uniques, detail.alone, detail.expected, strict=True)
    rows = [
        [side, *(f"{each:,.4g}" for each in (uniques, alone, right, alone / max(uniques, 1)))]
        for side, (uniques, alone, right) in zip(Sides._fields, numbers, strict=True)
    ]
    # what the model leaves out, and how it fits the released counts
    out = f" {detail.caveat}" if detail.caveat else ""
    out += f" Left out: {', '.join(detail.left_out)}." if detail.left_out else ""
    model = (
        f"Model of the released counts: {detail.model or 'main effects only'}; check B of τ2 "
        f"{detail.check:.3g}, {detail.z:.2g} standard deviations (above 2: too simple, the risk is "
        "overestimated)."
    )
    if detail.population <= (reading.units or n):
        model = (
            "The file is taken for the whole population, so that unique is unique; give the size "
            "of the population or sampling weights."
        )
    return {
        "title": f"Log-linear risk on {', '.join([*detail.names, *detail.independent])}",
        "columns": [
            "file",
            "sample uniques",
            "of them unique in the population (τ1)",
            "right matches expected (τ2)",
            "leakage (τ1 / uniques)",
        ],
        "rows": rows,
        "caption": f"{model} Numbers are grouped by their quantiles ({detail.cells:,} cells) and, "
        f"within a group, independent of the other keys.{out}",
    }


LOGLINEAR_RISK = class_measure(
    key="loglinear_risk",
    title="Log-linear risk",
    unit="expected right matches, share of records",
    question="How many right matches does an intruder expect who matches every record that is "
    "unique on the keys with the population?",
    sentence=loglinear_risk_sentence,
    source="Skinner and Shlomo 2008 (tau2 as a share of the records; model by forward search); "
    "without a population size or weights the file is the population",
    compute=compute_loglinear_risk,
    of_units=ROWS_OF_UNITS,
    about="row",
    tables=(model_table,),
    label="log-linear matches",
    places={"tables of keys": 3, "report": 20},
)
