"""All that an intruder may learn from one release: every risk measure, and what would help."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.cell_law import CellLaw
from rwn_core.comparison import Comparison
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.intruder.posterior import link
from rwn_core.intruder.repeated import success_after
from rwn_core.intruder.simulation import simulate
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.risk import individual_risk, loglinear_risk
from rwn_core.microdata import Microdata
from rwn_core.reading import Measure, Reading
from rwn_core.rounding import rounded
from rwn_core.schema import Role

SHARES = (0.0, 0.1, 0.25, 0.5, 1.0)  # of a standard deviation: the rounding that is tried
SIMULATED = 5  # releases of the repeated-release curve
LARGEST_SIMULATED = 2000  # records
_SEED = 7  # of the simulated further releases: the curve moves with the setting only

Answers = Mapping[str, Reading | NotApplicable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure:
    """What an intruder may learn from a release; internal where it speaks of single records.

    Attributes
    ----------
    readings : mapping of str to Reading or NotApplicable
        Every risk measure.
    rounding : list of mappings
        For each tried step: "share" of a standard deviation, worst-case "risk" of all variables
        and of the "keys", and mean absolute change of the "correlation".
    """

    readings: Answers
    rounding: list[dict[str, float]] = field(repr=False)


def with_keys(microdata: Microdata, keys: Sequence[str]) -> Microdata:
    """The same table with other key variables; confidential ones among them become keys.

    Raises
    ------
    ParameterError
        None is chosen, or one of them is not released.
    """
    released = {variable.name for variable in microdata.schema.released}
    if not keys or not set(keys) <= released:
        raise ParameterError("Choose at least one key variable among the released ones.")
    schema = microdata.schema
    for variable in microdata.schema.released:
        if variable.name in keys:
            schema = schema.replace_variable(variable.name, role=Role.KEY)
        elif variable.role is Role.KEY:
            schema = schema.replace_variable(variable.name, role=Role.OTHER)
    return Microdata(microdata.frame, schema, microdata.notices)


def steps_of(microdata: Microdata, share: float) -> dict[str, float]:
    """A release precision for every number: about a share of its standard deviation.

    Parameters
    ----------
    microdata : Microdata
    share : float
        Of the standard deviation; 0 rounds nothing.

    Returns
    -------
    dict of str to float
        Steps of 1, 2 or 5 times a power of ten, that a person can read.
    """
    found: dict[str, float] = {}
    for name in microdata.numeric_names if share > 0 else ():
        values = microdata.values(name)
        known = values[~np.isnan(values)]
        spread = float(known.std(ddof=1)) if len(known) > 1 else 0.0
        if np.isfinite(spread) and spread > 0:
            found[name] = readable_step(share * spread)
    return found


def readable_step(size: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten.

    Examples
    --------
    >>> readable_step(3.4), readable_step(0.08)
    (5.0, 0.1)
    """
    power = 10.0 ** floor(log10(size))
    nearest = min((1, 2, 5, 10), key=lambda digit: abs(log10(digit * power / size)))
    return float(f"{nearest * power:.3g}")


def disclose(
    base: Comparison,
    masked: Microdata,
    law: CellLaw | None,
    *,
    precision: Mapping[str, float] | None = None,
    population: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Disclosure:
    """Read every risk measure of a release.

    Parameters
    ----------
    base : Comparison
        Of the original with the chosen keys (`with_keys`); what depends on it alone is kept.
    masked : Microdata
        The release before rounding, row-aligned.
    law : CellLaw, optional
    precision : mapping of str to float, optional
        Steps to which released values are rounded.
    population : float, optional
        How many people the file is a sample of; itself by default.
    progress : callable, optional
        Told the share done, from 0 to 1.

    Returns
    -------
    Disclosure
    """
    precision = precision or {}
    coarse = rounded(masked, precision)
    comparison = base.with_masked(coarse, law.rounded(precision) if law is not None else None)
    risks = [measure for measure in MEASURES.values() if measure.side == "risk"]
    readings: dict[str, Reading | NotApplicable] = {}
    for place, measure in enumerate(risks):
        readings[measure.key] = _read(measure, comparison, population)
        if progress is not None:
            progress((place + 1) / (len(risks) + 2))
    readings["repeated_releases"] = _simulated(readings["repeated_releases"], comparison)
    return Disclosure(readings=readings, rounding=_rounding(base, masked, law))


def _read(
    measure: Measure, comparison: Comparison, population: float | None
) -> Reading | NotApplicable:
    by_population = {
        "individual_risk": individual_risk.compute,
        "loglinear_risk": loglinear_risk.compute,
    }
    compute = by_population.get(measure.key)
    if compute is None or population is None:
        return measure.read(comparison)
    return replace(measure, compute=lambda c: compute(c, population)).read(comparison)


def _simulated(reading: Reading | NotApplicable, comparison: Comparison) -> Reading | NotApplicable:
    """The bound with simulated success beside it, where the table is small enough."""
    law = comparison.law
    if not isinstance(reading, Reading) or law is None or law.original.n > LARGEST_SIMULATED:
        return reading
    generator = np.random.default_rng(_SEED)
    releases = [simulate(law, generator) for _ in range(SIMULATED)]
    success = success_after(law, releases, reading.detail["names"])
    return replace(reading, detail={**reading.detail, "simulated": success})


def _rounding(base: Comparison, masked: Microdata, law: CellLaw | None) -> list[dict[str, float]]:
    """Worst case and loss at coarser and coarser release precision."""
    if law is None:
        return []
    tried = []
    for share in SHARES:
        precision = steps_of(base.original, share)
        coarse = rounded(masked, precision)
        links = link(law.rounded(precision), coarse)
        loss = MEASURES["correlation"].read(base.with_masked(coarse))
        tried.append(
            {
                "share": share,
                "risk": links.success,
                "correlation": loss.value if isinstance(loss, Reading) else float("nan"),
            }
        )
    return tried


def disclose_release(
    microdata: Microdata,
    params: RWN,
    *,
    seed: int,
    precision: Mapping[str, float] | None = None,
    population: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Disclosure:
    """Mask a table and read every risk measure: the work of a background job.

    Parameters
    ----------
    microdata : Microdata
        With the chosen keys.
    params : RWN
    seed : int
    precision, population, progress : see `disclose`
    """
    release = mask(microdata, params, seed=seed)
    if progress is not None:
        progress(0.1)
    return disclose(
        Comparison(original=microdata, masked=release.masked),
        release.masked,
        release.law,
        precision=precision,
        population=population,
        progress=None if progress is None else lambda share: progress(0.1 + 0.9 * share),
    )


def attacks(readings: Answers) -> list[dict[str, Any]]:
    """Linkage attacks in the order of what they need, each with its success.

    Returns
    -------
    list of mappings
        "words", "success" (None with a "reason"), "worst" (whether the intruder knows the law).
    """
    found: list[dict[str, Any]] = []
    levels = readings["intruder_levels"]
    if isinstance(levels, Reading):
        found.append({"words": "guessing", "success": levels.baseline, "worst": False})
        ordinary, informed = levels.detail["success"][1:3]
    else:
        ordinary = informed = None
    for words, key, success, worst in (
        ("distance, keys", "intruder_levels", ordinary, False),
        ("probabilistic, keys", "probabilistic_linkage", None, False),
        ("distance, all", "distance_linkage", None, False),
        ("global distance, all", "global_linkage", None, False),
        ("method known, keys only", "intruder_levels", informed, True),
        ("keys and neighborhoods", "intruder_levels", _value(readings, "intruder_levels"), True),
        ("… of the whole file at once", "whole_file_linkage", None, True),
        ("whole original file", "bayes_linkage", None, True),
    ):
        reading = readings[key]
        if key != "intruder_levels":
            success = _value(readings, key)
        reason = str(reading) if isinstance(reading, NotApplicable) else ""
        found.append({"words": words, "success": success, "worst": worst, "reason": reason})
    return found


def _value(readings: Answers, key: str) -> float | None:
    reading = readings[key]
    return reading.value if isinstance(reading, Reading) else None


def worst_records(readings: Answers) -> list[dict[str, float]]:
    """The records at highest risk, with what makes them so; internal.

    Returns
    -------
    list of mappings
        "record" (from 0), "truth", "candidates", "appears", "suda".
    """
    links, member = readings["bayes_linkage"], readings["membership"]
    special = readings["suda"]
    if not isinstance(links, Reading):
        return []
    found = []
    for place, record in enumerate(links.detail["worst"].tolist()):
        found.append(
            {
                "record": record,
                "truth": float(links.detail["worst_truth"][place]),
                "candidates": int(links.detail["worst_candidates"][place]),
                "appears": _of(member, "appears", record),
                "suda": _of(special, "score_released", record),
            }
        )
    return found


def _of(reading: Reading | NotApplicable, name: str, record: int) -> float:
    if not isinstance(reading, Reading):
        return float("nan")
    values: NDArray[np.float64] = reading.detail[name]
    return float(values[record])
