"""Measures: each judges one thing that a release keeps or gives away.

A measure is a pure function of arrays, a `compute` that reads a Comparison, and their `Measure`
record, all in one file of `utility/` or `risk/`, with a line here. A measure of risk has its plain
sentence there, too; audit, sweep and policy read it by itself, tiles and cards name what they show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from types import MappingProxyType

from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.risk import (
    abstaining_linkage,
    attribute_gain,
    attribute_inference,
    bayes_linkage,
    cells_changed,
    certified_linkage,
    closest_record,
    cooks_distance,
    differential_privacy,
    distance_linkage,
    extremes,
    global_linkage,
    homogeneity,
    individual_risk,
    inference,
    interval_disclosure,
    intruder_levels,
    k_anonymity,
    l_diversity,
    largest_linkage,
    linkability,
    linked_over_half,
    loglinear_risk,
    mahalanobis,
    mahalanobis_linkage,
    membership,
    misclassification,
    nearest_distance,
    neighborhood_size,
    population_uniqueness,
    posterior_odds,
    probabilistic_linkage,
    queries,
    red_team,
    repeated_releases,
    replicated_uniques,
    singling_out,
    suda,
    t_closeness,
    true_matches,
    uniqueness,
    whole_file_linkage,
)
from rwn_core.measures.utility import (
    association,
    association_loss,
    ci_overlap,
    clustering,
    contingency,
    correlation,
    edit_rules_broken,
    eigenvalues,
    generalized_regression,
    hellinger,
    il1s,
    loadings,
    marginals,
    pmse,
    prediction,
    principal_components,
    quantiles,
    r_squared,
    rank_correlation,
    regression,
    standard_errors,
    subgroups,
    survey_estimates,
    total_correlation,
    wasserstein,
)

__all__ = ["MEASURES", "UTILITY", "no_measure", "read", "shown_on"]

UTILITY = "association_loss"
"""The measure of utility of maps, searches and matches that name none."""

_NAMED = 5  # of nearly the name that was asked for

_OTHERS = {each.key: each for each in (attribute_gain.MEASURE, true_matches.MEASURE)}
_certified = replace(  # bounds sources alone: read with what rows show
    certified_linkage.MEASURE, compute=partial(certified_linkage.compute, others=_OTHERS)
)

_MEASURES: tuple[Measure, ...] = (
    correlation.MEASURE,
    rank_correlation.MEASURE,
    association.MEASURE,
    association_loss.MEASURE,
    total_correlation.MEASURE,
    eigenvalues.MEASURE,
    regression.MEASURE,
    r_squared.MEASURE,
    ci_overlap.MEASURE,
    standard_errors.MEASURE,
    generalized_regression.MEASURE,
    principal_components.MEASURE,
    loadings.MEASURE,
    clustering.MEASURE,
    marginals.MEASURE,
    quantiles.MEASURE,
    wasserstein.MEASURE,
    hellinger.MEASURE,
    contingency.MEASURE,
    subgroups.MEASURE,
    survey_estimates.MEASURE,
    edit_rules_broken.MEASURE,
    pmse.MEASURE,
    il1s.MEASURE,
    prediction.MEASURE,
    bayes_linkage.MEASURE,
    linked_over_half.MEASURE,
    largest_linkage.MEASURE,
    _certified,
    intruder_levels.MEASURE,
    whole_file_linkage.MEASURE,
    abstaining_linkage.MEASURE,
    repeated_releases.MEASURE,
    distance_linkage.MEASURE,
    mahalanobis_linkage.MEASURE,
    global_linkage.MEASURE,
    probabilistic_linkage.MEASURE,
    membership.MEASURE,
    attribute_inference.MEASURE,
    attribute_gain.MEASURE,
    true_matches.MEASURE,
    red_team.MEASURE,
    differential_privacy.MEASURE,
    misclassification.MEASURE,
    posterior_odds.MEASURE,
    extremes.MEASURE,
    queries.MEASURE,
    homogeneity.MEASURE,
    uniqueness.MEASURE,
    replicated_uniques.MEASURE,
    k_anonymity.MEASURE,
    l_diversity.MEASURE,
    t_closeness.MEASURE,
    individual_risk.MEASURE,
    suda.MEASURE,
    loglinear_risk.MEASURE,
    population_uniqueness.MEASURE,
    interval_disclosure.MEASURE,
    closest_record.MEASURE,
    cells_changed.MEASURE,
    neighborhood_size.MEASURE,
    nearest_distance.MEASURE,
    cooks_distance.MEASURE,
    mahalanobis.MEASURE,
    singling_out.MEASURE,
    linkability.MEASURE,
    inference.MEASURE,
)

MEASURES: Mapping[str, Measure] = MappingProxyType({m.key: m for m in _MEASURES})


def read(measure: str, comparison: Comparison) -> Reading | NotApplicable:
    """Read one measure of a comparison by its key; return the reason if there is no reading."""
    return MEASURES[measure].read(comparison)


def shown_on(place: str) -> tuple[str, ...]:
    """Return the keys of the measures that a page or table shows, in its order."""
    shown = [measure for measure in _MEASURES if place in measure.view.on]
    return tuple(m.key for m in sorted(shown, key=lambda m: m.view.on[place]))


def no_measure(key: str) -> str:
    """The refusal of an unknown measure: the nearest that there are, and where all are listed.

    >>> no_measure("entropi")
    'There is no measure entropi; docs/reference/measures.md lists all.'
    """
    near = [known for known in MEASURES if str(key) in known][:_NAMED]
    near = near or get_close_matches(str(key), MEASURES, n=_NAMED)
    meant = f"; near it: {', '.join(near)}" if near else ""
    return f"There is no measure {key}{meant}; docs/reference/measures.md lists all."
