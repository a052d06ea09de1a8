"""Which slopes of registered regressions can be trusted, judged over many releases of a setting.

One release says little: a slope may be near the original's by luck. Over many releases a shift
shows, which no wider interval corrects.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.sizes import ESTIMATED_CELLS
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.analysis_plan import AnalysisPlan
from rwn_core.evaluation.registered_analysis import MODELS, Analysis, fit_model
from rwn_core.evaluation.repeated_draws import released_only, releases
from rwn_core.evaluation.standard_errors import Estimate, QuestionModel
from rwn_core.masking import Method
from rwn_core.measures.comparison import RELEASED
from rwn_core.measures.statistics.formula import Formula, formula_design
from rwn_core.measures.statistics.intervals import t95
from rwn_core.measures.statistics.ols import SIGNIFICANT

FEWEST, MOST = 3, 60  # releases: 60 of a small table, 3 of a large one
LEAST_COVERAGE = 0.8  # of 95 % intervals over releases
LEAST_SIGNS = 0.95  # of the releases that show the original's sign
_LEVEL = re.compile(r" = [^:]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlopeTrust:
    """State how the slopes of one regression fare over many releases."""

    response: str
    names: tuple[str, ...]  # the predictors; of a category the worst of its levels counts
    # share of the releases with the original's slope in the 95 % interval
    coverage: tuple[float, ...]
    # share of the releases that show the original's sign; 1 where the original's sign is not beyond
    # chance
    signs: tuple[float, ...]
    shift: tuple[float, ...]  # mean change, in the original's standard errors
    releases: int  # releases with an estimate, of those that were drawn
    drawn: int

    def to_record(self) -> dict[str, Any]:
        """Plain data, for the record of a release."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in plain.items()}


def misses(slopes: Mapping[str, Any]) -> list[str]:
    """Return the predictors with intervals that miss the original's slope too often."""
    failed = slopes["releases"] < LEAST_COVERAGE * slopes["drawn"]
    rated = zip(slopes["names"], slopes["coverage"], strict=True)
    return [name for name, held in rated if failed or held < LEAST_COVERAGE]


def turns(slopes: Mapping[str, Any]) -> list[str]:
    """Return the predictors with a sign that may change, beyond chance in the original."""
    rated = zip(slopes["names"], slopes["signs"], strict=True)
    return [name for name, agrees in rated if agrees < LEAST_SIGNS]


def slope_trust(
    microdata: Microdata,
    params: Method,
    *,
    plan: AnalysisPlan | None = None,
    repeats: int | None = None,
    seed: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[SlopeTrust, ...]:
    """Judge the slopes of the registered regressions over fresh releases of a setting."""
    models = _models(microdata, plan)
    if not models:
        return ()
    cells = microdata.n * max(len(microdata.schema.released), 1)
    drawn = repeats or int(np.clip(ESTIMATED_CELLS // cells, FEWEST, MOST))
    found: list[list[Estimate]] = [[] for _ in models]
    for masked, _ in releases(microdata, params, drawn, seed, progress):
        for model, each in zip(models, found, strict=True):
            with suppress(NotApplicable):
                each.append(model.fit(masked))
    return tuple(_judged(m, e, drawn) for m, e in zip(models, found, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Model:
    """A regression with the original's estimate, and the predictors of each of its terms."""

    response: str
    owners: tuple[tuple[str, ...], ...]
    own: Estimate
    reach: float  # standard errors from a slope to an end of its 95 % interval
    fit: Callable[[Microdata], Estimate]


def _models(microdata: Microdata, plan: AnalysisPlan | None) -> list[_Model]:
    registered = [each for each in (plan.analyses if plan else ()) if each.kind in MODELS]
    models = []
    for analysis in registered:
        with suppress(NotApplicable):
            models.append(_of_analysis(microdata, analysis))
    if not registered and microdata.schema.question is not None:
        with suppress(NotApplicable):
            models.append(_of_question(microdata))
    return models


def _of_question(microdata: Microdata) -> _Model:
    model = QuestionModel(microdata, microdata.schema.question)

    def fit(masked: Microdata) -> Estimate:
        estimate = model.fit(masked)
        if estimate is None:
            raise NotApplicable(f"The regression has no answer{RELEASED}.")
        return estimate

    names = model.question.predictors
    return _Model(
        response=model.question.response,
        owners=tuple(_owners(term, names) for term in model.terms[1:]),
        own=model.own,
        reach=model.reach,
        fit=fit,
    )


def _of_analysis(microdata: Microdata, analysis: Analysis) -> _Model:
    formula, original = Formula.parse(analysis.formula), released_only(microdata)
    own = fit_model(analysis, original, original, "")
    design = formula_design(original, original, formula, "")
    freedom = len(design.response) - len(own[0])
    return _Model(
        response=formula.response.name,
        owners=tuple(_owners(term, formula.names) for term in design.terms),
        own=own,
        reach=t95(freedom if analysis.kind == "linear" else math.inf),
        fit=lambda masked: fit_model(analysis, original, masked, RELEASED),
    )


def _owners(term: str, names: Sequence[str]) -> tuple[str, ...]:
    """The variables of a term, without the levels that it names."""
    exact = tuple(name for name in names if term == name or term.startswith(f"{name} = "))
    if exact:
        return exact[:1]
    plain = _LEVEL.sub("", term)
    return tuple(n for n in names if re.search(rf"(?<!\w){re.escape(n)}(?!\w)", plain))


def _judged(model: _Model, found: list[Estimate], drawn: int) -> SlopeTrust:
    names = tuple(dict.fromkeys(name for owners in model.owners for name in owners))
    coverage, signs, shift = _rated(model, names, found) if found else ((0.0,) * len(names),) * 3
    return SlopeTrust(
        response=model.response,
        names=names,
        coverage=coverage,
        signs=signs,
        shift=shift,
        releases=len(found),
        drawn=drawn,
    )


def _rated(
    model: _Model, names: Sequence[str], found: list[Estimate]
) -> tuple[tuple[float, ...], ...]:
    """Return coverage, signs and shift of each variable: those of its worst term."""
    own, error = (part[1:] for part in model.own)
    slopes, errors = (np.array([each[at] for each in found])[:, 1:] for at in (0, 1))
    coverage = (np.abs(slopes - own) <= model.reach * errors).mean(axis=0)
    signs = (np.sign(slopes) == np.sign(own)).mean(axis=0)
    signs = np.where(np.abs(own) > SIGNIFICANT * error, signs, 1.0)
    shift = (slopes - own).mean(axis=0) / error

    def of_each(values: Floats, worst: Callable[..., Any]) -> tuple[float, ...]:
        return tuple(
            float(worst(v for v, o in zip(values, model.owners, strict=True) if name in o))
            for name in names
        )

    largest = of_each(shift, lambda parts: max(parts, key=abs))
    return of_each(coverage, min), of_each(signs, min), largest
