"""Measures: each judges one thing that a release keeps or gives away.

A measure is a pure function of arrays, a `compute` that reads a Comparison, and their `Measure`
record, in the file of its family in `utility/` or `risk/`, with a line here. A measure of risk has
its plain sentence there, too; its `view` says which charts draw it and which pages show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, partial
from types import MappingProxyType

from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.risk import (
    attributes,
    certified_linkage,
    guesses,
    key_classes,
    key_intruders,
    loglinear_risk,
    membership,
    nearness,
    ordinary_linkage,
    outliers,
    population_risk,
    red_team,
    repeated_releases,
    true_matches,
    values,
    worst_linkage,
)
from rwn_core.measures.utility import (
    distributions,
    joint_distribution,
    prediction,
    regressions,
    relations,
    survey_estimates,
    tables,
)
from rwn_core.measures.view import Tile

__all__ = [
    *("CHANGED", "MARGINALS", "MEASURES", "ORDINARY", "UTILITY"),
    *("measures_of", "no_measure", "read", "tiles_of"),
]

UTILITY = relations.ASSOCIATION_LOSS.key
"""The measure of utility of maps, searches and matches that name none."""
ORDINARY = ordinary_linkage.DISTANCE_LINKAGE.key
"""The attack of an intruder without the method, beside which each worst case is shown."""
CHANGED = nearness.CELLS_CHANGED.key
"""The measure of what a release changed at all, which every record and page states."""
MARGINALS = distributions.MARGINALS.key
"""The measure of single variables, of which notices and maps say the shifts."""

_NAMED = 5  # of nearly the name that was asked for

_OTHERS = {each.key: each for each in (attributes.ATTRIBUTE_GAIN, true_matches.MEASURE)}
_certified = replace(  # bounds sources alone: read with what rows show
    certified_linkage.MEASURE, compute=partial(certified_linkage.compute, others=_OTHERS)
)

_MEASURES: tuple[Measure, ...] = (
    relations.CORRELATION,
    relations.RANK_CORRELATION,
    relations.ASSOCIATION,
    relations.ASSOCIATION_LOSS,
    relations.TOTAL_CORRELATION,
    relations.EIGENVALUES,
    regressions.REGRESSION,
    regressions.R_SQUARED,
    regressions.CI_OVERLAP,
    regressions.STANDARD_ERRORS,
    regressions.GENERALIZED_REGRESSION,
    relations.PRINCIPAL_COMPONENTS,
    relations.LOADINGS,
    joint_distribution.CLUSTERING,
    distributions.MARGINALS,
    distributions.QUANTILES,
    distributions.WASSERSTEIN,
    distributions.HELLINGER,
    tables.CONTINGENCY,
    tables.SUBGROUPS,
    survey_estimates.MEASURE,
    tables.EDIT_RULES_BROKEN,
    joint_distribution.PMSE,
    distributions.IL1S,
    prediction.MEASURE,
    worst_linkage.BAYES_LINKAGE,
    worst_linkage.LINKED_OVER_HALF,
    worst_linkage.LARGEST_LINKAGE,
    _certified,
    key_intruders.INTRUDER_LEVELS,
    worst_linkage.WHOLE_FILE_LINKAGE,
    worst_linkage.ABSTAINING_LINKAGE,
    repeated_releases.MEASURE,
    ordinary_linkage.DISTANCE_LINKAGE,
    ordinary_linkage.MAHALANOBIS_LINKAGE,
    ordinary_linkage.GLOBAL_LINKAGE,
    ordinary_linkage.PROBABILISTIC_LINKAGE,
    membership.MEMBERSHIP,
    attributes.ATTRIBUTE_INFERENCE,
    attributes.ATTRIBUTE_GAIN,
    true_matches.MEASURE,
    red_team.MEASURE,
    membership.DIFFERENTIAL_PRIVACY,
    key_intruders.MISCLASSIFICATION,
    values.POSTERIOR_ODDS,
    values.EXTREMES,
    values.QUERIES,
    key_classes.HOMOGENEITY,
    key_classes.UNIQUENESS,
    key_classes.REPLICATED_UNIQUES,
    key_classes.K_ANONYMITY,
    key_classes.L_DIVERSITY,
    key_classes.T_CLOSENESS,
    population_risk.INDIVIDUAL_RISK,
    population_risk.SUDA,
    loglinear_risk.MEASURE,
    population_risk.POPULATION_UNIQUENESS,
    nearness.INTERVAL_DISCLOSURE,
    nearness.CLOSEST_RECORD,
    nearness.CELLS_CHANGED,
    nearness.NEIGHBORHOOD_SIZE,
    outliers.NEAREST_DISTANCE,
    outliers.COOKS_DISTANCE,
    outliers.MAHALANOBIS,
    guesses.SINGLING_OUT,
    guesses.LINKABILITY,
    guesses.INFERENCE,
)

MEASURES: Mapping[str, Measure] = MappingProxyType({m.key: m for m in _MEASURES})


def read(measure: str, comparison: Comparison) -> Reading | NotApplicable:
    """Read one measure of a comparison by its key; return the reason if there is no reading."""
    return MEASURES[measure].read(comparison)


@cache
def measures_of(place: str) -> tuple[str, ...]:
    """Return the keys of the measures that a page or table shows, in its order."""
    shown = [measure for measure in _MEASURES if place in measure.view.places]
    return tuple(m.key for m in sorted(shown, key=lambda m: m.view.places[place]))


def tiles_of(page: str) -> dict[str, Tile]:
    """Return the tiles of a page in its order, by the key of their measure."""
    shown = [(m.key, tile) for m in _MEASURES for tile in m.view.tiles if page in tile.places]
    return dict(sorted(shown, key=lambda pair: pair[1].places[page]))


def no_measure(key: str) -> str:
    """The refusal of an unknown measure: the nearest that there are, and where all are listed.

    >>> no_measure("entropi")
    'There is no measure entropi; docs/reference/measures.md lists all.'
    """
    near = [known for known in MEASURES if str(key) in known][:_NAMED]
    near = near or get_close_matches(str(key), MEASURES, n=_NAMED)
    meant = f"; near it: {', '.join(near)}" if near else ""
    return f"There is no measure {key}{meant}; docs/reference/measures.md lists all."
