"""All that an intruder may learn from one release: every risk measure, and aligned releases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import factorial
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.evaluation.attack_list import Answers
from rwn_core.evaluation.audit import read_all
from rwn_core.evaluation.control_group import control_group
from rwn_core.evaluation.draws import draws
from rwn_core.laws.law import Law
from rwn_core.masking import Method, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.posterior import Sample, weigh
from rwn_core.measures.comparison import Comparison, Sampling
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.membership import MEMBERSHIP
from rwn_core.measures.risk.population_risk import SUDA
from rwn_core.measures.risk.worst_linkage import BAYES_LINKAGE, LINKED_OVER_HALF
from rwn_core.parallel.threads import current_work, work


def mode_is_own(own: float, others: Floats, releases: int) -> float:
    """Return P(the mode of a cell over M aligned releases is the true value)."""
    # Shapes: others (v,), the other values.
    # `others` are the chances of other values, all different; ties are broken at random. With t
    # others tied 1 / (1 + t) is the integral of s^t over s from 0 to 1, and sums over all counts
    # are coefficients of products of series in x: of exp(sum of logs), which need power sums only
    powers = np.array([(others**power).sum() for power in range(1, releases + 1)])
    nodes, weights = np.polynomial.legendre.leggauss(releases // 2 + 1)
    s = (nodes + 1) / 2
    total = 0.0
    for top in range(1, releases + 1):  # the count of the own value
        factors = np.array([1.0 / factorial(count) for count in range(top + 1)])
        series = np.zeros((releases + 1, len(s)))
        series[: top + 1] = factors[:, None]
        series[top] *= s
        # the logarithm of the series, and the exponential of it times the power sums
        logs, found = np.zeros_like(series), np.zeros_like(series)
        for n in range(1, releases + 1):
            logs[n] = series[n] - sum(k * logs[k] * series[n - k] for k in range(1, n)) / n
        logs[1:] *= powers[:, None]
        found[0] = 1.0
        for n in range(1, releases + 1):
            found[n] = sum(k * logs[k] * found[n - k] for k in range(1, n + 1)) / n
        total += float(found[releases - top] @ weights) / 2 * own**top * factors[top]
    return float(total * factorial(releases))


def distinct_donors(weights: Floats, releases: int) -> float:
    """Return the expected number of distinct donor values in M releases at q = 1."""
    # weights: shape (donors,)
    return float((1.0 - (1.0 - weights) ** releases).sum())


def values_alone(law: Law | None) -> dict[str, Any] | None:
    """Return the averaging attack's success on a typical record; None without donors."""
    if law is None or law.neighborhoods is None:
        return None
    q = float(law.q.max())
    # the weights of a typical record for itself and for its other donors
    found = law.neighborhoods
    own = 0.0
    sizes = found.effective_sizes
    if found.equally_likely:
        donors = max(1, round(float(np.median(sizes[sizes > 0])))) if (sizes > 0).any() else 1
        others = np.full(donors, 1.0 / donors)
    else:
        record = int(np.argsort(sizes, kind="stable")[len(sizes) // 2])
        weights = found.weights(record)
        itself = found.members(record) == record
        own = float(weights[itself].sum())
        others = weights[~itself]
    chance, chances = 1.0 - q + q * own, q * others
    modes = [mode_is_own(chance, chances, times) for times in RELEASES]
    every = np.append(others, own)
    return {
        "releases": list(RELEASES),
        "q": q,
        "donors": max(1, round(1 / float((every**2).sum()))),
        "own": chance,
        "largest": float(chances.max()),
        "even": law.neighborhoods.equally_likely,
        "mode": [min(max(mode, 0.0), 1.0) for mode in modes],
        "distinct": [distinct_donors(every, times) for times in RELEASES],
    }


RELEASES = (1, 2, 3, 5, 10, 20)  # after which it is stated what the values alone say
WORST = 10  # records that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """The assumptions of a disclosure report."""

    # steps to which released values are rounded
    precision: Mapping[str, float] = field(default_factory=dict)
    # how the table was drawn from its population
    sampling: Sampling = field(default_factory=Sampling)
    watch: tuple[int, ...] = ()  # records that are followed, counted from 0
    # sets of variables that an intruder may know of a person, besides the key variables
    key_sets: tuple[tuple[str, ...], ...] = ()
    # the two sets of variables of linkability; taken in turn by default
    halves: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure:
    """The disclosure of a release; parts on single records are internal."""

    readings: Answers  # every risk measure
    # by watched record, in which share of releases its own row is named; None without a law
    followed: Mapping[int, float | None] = field(default_factory=dict)
    # what aligned releases tell without the original file (`values_alone`)
    repetition: Mapping[str, Any] | None = field(default=None, repr=False)


def with_keys(microdata: Microdata, keys: Sequence[str]) -> Microdata:
    """The same table with other key variables; confidential ones among them become keys."""
    if not keys or not set(keys) <= {variable.name for variable in microdata.schema.released}:
        raise ParameterError("Choose at least one key variable among the released ones.")
    schema = microdata.schema
    for variable in microdata.schema.released:
        if variable.name in keys:
            schema = schema.replace_variable(variable.name, role=Role.KEY)
        elif variable.role is Role.KEY:
            schema = schema.replace_variable(variable.name, role=Role.OTHER)
    return Microdata(microdata.frame, schema, microdata.notices)


def disclose(
    base: Comparison,
    masked: Microdata,
    law: Law | None,
    *,
    precision: Mapping[str, float] | None = None,
    control: Comparison | None = None,
) -> Disclosure:
    """Read every risk measure of a release."""
    precision = precision or {}
    coarse = rounded(masked, precision)
    comparison = base.with_masked(coarse, law.rounded(precision) if law is not None else None)
    risks = [key for key, measure in MEASURES.items() if measure.side == "risk"]
    found = read_all(comparison, risks, control=control)
    return Disclosure(readings=found.readings, repetition=values_alone(law))


def disclose_release(
    microdata: Microdata,
    params: Method,
    *,
    seed: int,
    assumed: Assumptions | None = None,
    progress: Callable[[float], None] | None = None,
) -> Disclosure:
    """Mask a table and read every risk measure: the work of a background job."""
    assumed = assumed or Assumptions()
    precision = assumed.precision
    with work(progress=progress).part(0.0, 0.1):
        release = mask(microdata, params, precision=precision, seed=seed)
    base = Comparison(original=microdata, masked=release.masked, sampling=assumed.sampling)
    base = base.with_key_sets(assumed.key_sets).with_halves(assumed.halves)
    with work(progress=progress).part(0.1, 0.2):
        control = control_group(base, params, seed, precision)
        current_work().report(1.0)
    with work(progress=progress).part(0.2, 0.95):
        disclosure = disclose(
            base, release.masked, release.law, precision=precision, control=control
        )
    followed = follow(microdata, params, assumed.watch, seed=seed, precision=precision)
    return replace(disclosure, followed=followed)


OUT_OF = 100  # releases of one setting: the base of the odds


def follow(
    microdata: Microdata,
    params: Method,
    records: Sequence[int],
    *,
    seed: int,
    precision: Mapping[str, float] | None = None,
    releases: int = OUT_OF,
) -> dict[int, float | None]:
    """Return in which share of releases the best intruder names the unit of each record.

    The intruder knows the original table and the setting, and names for each row, read by itself,
    the unit (person, household or row) that the exact law makes most likely; equally likely units
    share the hit. One of a unit's rows is enough. None where the setting has no law.
    """
    if not records:
        return {}
    precision = precision or {}
    units = Comparison(original=microdata, masked=microdata).units
    numbers = np.arange(microdata.n) if units is None else units
    watched = np.flatnonzero(np.isin(numbers, numbers[list(records)]))  # all of their rows
    hits = dict.fromkeys(records, 0.0)  # releases in which each is named
    for drawn in draws(microdata, params, releases, seed):
        if drawn.law is None:
            return dict.fromkeys(records)
        law = drawn.law.rounded(precision)
        masked = rounded(drawn.masked, precision)
        # rows that do not leave name no unit; top1 is 1 / ties where the true unit is most likely
        named = weigh(law, masked, None, Sample(watched, len(watched)), units=units)[0]
        missed = np.ones(numbers.max() + 1)
        np.multiply.at(missed, numbers[named.rows], 1.0 - named.top1)
        for record in records:
            hits[record] += 1.0 - float(missed[numbers[record]])
    return {record: hit / releases for record, hit in hits.items()}


def odds_words(chance: float | None, units: int) -> str:
    """Say in how many of 100 releases a watched person is named, and how often a guess is right."""
    if chance is None:
        return "not known: this method has no exact law"
    return (
        f"correctly named in {_of_100(chance)} of {OUT_OF} releases like this, in 0 if not in the "
        f"file; a guess is correct in {_of_100(1 / units)}"
    )


def _of_100(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.0995 else f"{100 * share:.2g}"


def worst_records(readings: Answers) -> list[dict[str, float]]:
    """The records at highest risk, with what makes them so; internal."""
    links, member = readings[BAYES_LINKAGE.key], readings[MEMBERSHIP.key]
    special, over = readings[SUDA.key], readings[LINKED_OVER_HALF.key]
    if not isinstance(links, Reading):
        return []
    records, truth = links.detail.records, links.detail.truth
    if isinstance(over, Reading) and np.array_equal(over.detail.records, records):
        truth = over.detail.truth  # given all rows, where that links more
    appears, score = np.full((2, len(records)), np.nan)
    if isinstance(member, Reading):
        appears = member.detail.appears[records]
    if isinstance(special, Reading):
        score = special.detail.score.released[records]
    # many records may be known for certain: first those that other measures disclose as well
    order = np.lexsort((-np.nan_to_num(score), -np.nan_to_num(appears), -truth.round(9)))
    return [
        {
            "record": int(records[index]),
            "truth": float(truth[index]),
            "candidates": int(links.detail.candidates[index]),
            "appears": float(appears[index]),
            "special": float(score[index]),
        }
        for index in order[:WORST].tolist()
    ]
