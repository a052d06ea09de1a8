"""Registered analyses: models, tables or measures, each with the change that its answer may have.

The steward registers them in an analysis plan before choosing a setting. Every setting then passes
or fails each of them. A plan names variables and tolerances and holds no data.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import (
    MOST_ANALYSES,
    MOST_FACTORS,
    MOST_TABLE_CELLS,
    check_number,
    read_plain,
    toml_document,
    toml_text,
)
from rwn_core.data.regression import MODELS, Formula
from rwn_core.data.variable import NamedParameters
from rwn_core.errors import InputError, NotApplicable, ParameterError
from rwn_core.evaluation.draws import draws, unmasked
from rwn_core.masking import Method
from rwn_core.measures import MEASURES, no_measure
from rwn_core.measures.comparison import RELEASED, Comparison, numbers
from rwn_core.measures.measure import Reading, Sides
from rwn_core.measures.statistics.distributions import (
    counts,
    grouped,
    standard_deviation,
    total_variation,
)
from rwn_core.measures.statistics.formula import design_width, fit_model
from rwn_core.measures.statistics.ols import (
    MOST_COEFFICIENTS,
    released_kinds,
    standardized_difference,
)

KINDS: Mapping[str, str] = {
    **dict.fromkeys(MODELS, "largest change of a slope, in the original's standard errors"),
    "table": "total variation distance of the table",
    "means": "largest change of a group's mean, in standard deviations",
    "measure": "value of the measure",
}
"""What each kind of analysis compares with its tolerance."""

LEAST_GROUP = 5  # fewest records of a group with a mean that is read


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis(NamedParameters):
    """One analysis with its tolerance.

    Parameters
    ----------
    name : str
        Its name among its analysts.
    kind : str
        A key of `KINDS`.
    tolerance : float
        The analysis passes if its number is at most this; a measure for which higher is better
        passes if it is at least this.
    formula : str
        Of a linear, logistic or poisson model.
    variables : tuple of str
        Of a table, at least one; of means, the variable and then those that make the groups.
    measure : str
        Key of a measure.

    Raises
    ------
    ParameterError
    """

    name: str
    kind: str
    tolerance: float
    formula: str = ""
    variables: tuple[str, ...] = ()
    measure: str = ""

    def __post_init__(self) -> None:
        """Refuse an analysis that could never be run."""
        object.__setattr__(self, "variables", tuple(self.variables))
        if self.kind not in KINDS:
            raise ParameterError(f"The kind of an analysis must be one of: {', '.join(KINDS)}.")
        if not np.isfinite(self.tolerance):
            raise ParameterError(f"The tolerance of {self.name} must be a number.")
        if self.kind in MODELS:
            Formula.parse(self.formula)
        check_number(self.variables, MOST_FACTORS, f"The variables of {self.name}", ParameterError)
        needed = {"table": 1, "means": 2}.get(self.kind, 0)
        if len(self.variables) < needed:
            raise ParameterError(f"{self.name} needs at least {needed} variables.")
        if self.kind == "measure" and self.measure not in MEASURES:
            raise ParameterError(no_measure(self.measure))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisResult:
    """The result of one analysis on a release."""

    analysis: Analysis
    value: float | None
    passed: bool  # False where the analysis has no answer: it could not be run
    reason: str = ""  # why there is no value; empty otherwise


def analysis_work(analysis: Analysis, microdata: Microdata) -> int:
    """Return about how many multiplications an analysis takes on one release."""
    records = microdata.n
    if analysis.kind == "measure":  # one of risk compares pairs of records
        return records * (10 * records if MEASURES[analysis.measure].side == "risk" else 1_000)
    if analysis.kind not in MODELS:
        return records * 50 * len(analysis.variables)
    formula = Formula.parse(analysis.formula)
    if not set(formula.names) <= {variable.name for variable in microdata.schema.released}:
        return 0  # it is refused
    width = 1 + min(design_width(microdata, formula), MOST_COEFFICIENTS)
    steps = 1 if analysis.kind == "linear" else 8  # of a likelihood
    return records * width * (width + 50) * steps


def verdict(analysis: Analysis, comparison: Comparison) -> AnalysisResult:
    """Run one analysis on the original and on the release."""
    original = comparison.original
    try:
        if analysis.kind == "measure":
            measure = MEASURES[analysis.measure]
            reading = measure.read(comparison)
            if not isinstance(reading, Reading):
                raise reading
            higher = measure.better == "higher"
            value = reading.value
            passed = value >= analysis.tolerance if higher else value <= analysis.tolerance
            return AnalysisResult(analysis=analysis, value=value, passed=passed)
        if analysis.kind == "table":
            sides, sizes = _cells(comparison, analysis.variables)
            value = total_variation(*(counts(codes, sizes) for codes in sides))
        elif analysis.kind == "means":
            # the largest move of a group's mean, in standard deviations
            name, *by = analysis.variables
            released_kinds(comparison.original, [name], "analysis")
            values = [numbers(comparison.original, table, name) for table in comparison.tables]
            spread = standard_deviation(values[0][~np.isnan(values[0])])
            if not spread:
                raise NotApplicable(f"Variable {name} is constant, so its means cannot move.")
            sides, sizes = _cells(comparison, by)
            means = []
            for codes, column in zip(sides, values, strict=True):
                known = ~np.isnan(column)
                number = counts([code[known] for code in codes], sizes)
                cell = np.ravel_multi_index([code[known] for code in codes], sizes)
                total = np.bincount(cell, weights=column[known] / spread, minlength=len(number))
                means.append((number, total / np.maximum(number, 1)))
            large = means[0][0] >= LEAST_GROUP
            if not large.any():
                raise NotApplicable(f"No group has {LEAST_GROUP} records with a value of {name}.")
            lost = large & (means[1][0] == 0)
            if lost.any():
                raise NotApplicable(f"{int(lost.sum())} groups have no record{RELEASED}.")
            value = float(np.abs(means[1][1] - means[0][1])[large].max())
        else:
            own = comparison.cached_for_original(
                ("analysis plan", analysis), lambda: fit_model(analysis, original, original, "")
            )
            released = fit_model(analysis, original, comparison.masked, RELEASED).coefficients
            moved = standardized_difference(own.coefficients, released, own.standard_errors)
            value = float(moved[1:].max())
    except NotApplicable as reason:
        return AnalysisResult(analysis=analysis, value=None, passed=False, reason=reason.reason)
    return AnalysisResult(analysis=analysis, value=value, passed=value <= analysis.tolerance)


def _cells(comparison: Comparison, names: Sequence[str]) -> tuple[Sides[list[Integers]], list[int]]:
    """Group numbers of the original and of the release, and how many groups each has."""
    original = comparison.original
    released_kinds(original, names, "analysis")
    groups, sides = grouped(comparison, [original.schema.variable(name) for name in names])
    if math.prod(len(group.labels) for group in groups) > MOST_TABLE_CELLS:
        raise NotApplicable(
            f"The table would have more than {MOST_TABLE_CELLS:,} cells; choose fewer variables."
        )
    return sides, [len(group.labels) for group in groups]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The results of one analysis over many releases of a setting."""

    analysis: Analysis
    # passed, releases: on how many of the releases it passes
    passed: int
    releases: int
    value: float | None  # the median over the releases with an answer
    reason: str = ""  # why the first release without an answer has none; empty otherwise

    @property
    def always(self) -> bool:
        """True if it passes on every release."""
        return self.passed == self.releases


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisPlan(NamedParameters):
    """The registered analyses, in order.

    Parameters
    ----------
    analyses : tuple of Analysis
        With different names.
    """

    analyses: tuple[Analysis, ...] = ()

    def __post_init__(self) -> None:
        """Refuse two analyses of one name."""
        object.__setattr__(self, "analyses", tuple(self.analyses))
        check_number(self.analyses, MOST_ANALYSES, "The registered analyses", ParameterError)
        for name, times in Counter(analysis.name for analysis in self.analyses).items():
            if times > 1:
                raise ParameterError(f"Two analyses have the name {name}; give each its own.")

    def work(self, microdata: Microdata) -> int:
        """Return about how many multiplications all analyses take on one release."""
        return sum(analysis_work(analysis, microdata) for analysis in self.analyses)

    def judge(self, comparison: Comparison) -> tuple[AnalysisResult, ...]:
        """Run every analysis on the original and on the release.

        Parameters
        ----------
        comparison : Comparison
            What depends on the original alone is computed once for all its releases.

        Returns
        -------
        tuple of AnalysisResult
        """
        return tuple(verdict(analysis, comparison) for analysis in self.analyses)

    def judge_setting(
        self,
        microdata: Microdata,
        params: Method,
        *,
        repeats: int = 8,
        seed: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> tuple[Standing, ...]:
        """Run every analysis on many releases of a setting: luck passes on some of them only.

        Parameters
        ----------
        microdata : Microdata
        params : Method
        repeats : int
            Releases, at least 1.
        seed : int, optional
            The releases have the keys of seed, seed + 1, ...; fresh keys if it is left out.
        progress : callable, optional
            Called with the share done, from 0 to 1.

        Returns
        -------
        tuple of Standing

        Raises
        ------
        ParameterError
            The method refuses the setting on this table.
        """
        comparison = unmasked(microdata)
        judged = [
            self.judge(comparison.with_masked(work.masked, work.law))
            for work in draws(microdata, params, repeats, seed, progress)
        ]
        standings = []
        for analysis, verdicts in zip(self.analyses, zip(*judged, strict=True), strict=False):
            values = [each.value for each in verdicts if each.value is not None]
            standings.append(
                Standing(
                    analysis=analysis,
                    passed=sum(each.passed for each in verdicts),
                    releases=len(verdicts),
                    value=float(np.median(values)) if values else None,
                    reason=next((each.reason for each in verdicts if each.reason), ""),
                )
            )
        return tuple(standings)

    def to_records(self) -> list[dict[str, Any]]:
        """Plain data, without empty fields: for a scenario file."""
        return [
            {name: value for name, value in asdict(analysis).items() if value not in ("", ())}
            for analysis in self.analyses
        ]

    @classmethod
    def from_records(cls, records: Sequence[Mapping[str, Any]]) -> AnalysisPlan:
        """Read what `to_records` made; raises InputError or ParameterError."""
        plan: AnalysisPlan = read_plain(cls, records, "analysis plan", path="analysis")
        return plan

    def to_toml(self) -> str:
        """The analyses as TOML: an ``[[analysis]]`` table each."""
        records = self.to_records()
        return toml_text({"analysis": records} if records else {})

    @classmethod
    def from_toml(cls, text: str) -> AnalysisPlan:
        """Read the TOML form.

        Raises
        ------
        InputError, ParameterError
        """
        document = toml_document(text, "analysis plan")
        if set(document) - {"analysis"}:
            raise InputError("The analysis plan must hold [[analysis]] tables and nothing else.")
        return cls.from_records(document.get("analysis", []))
