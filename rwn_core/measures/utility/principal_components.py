"""Principal components: share of the variance of the main directions."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.measures.comparison import Comparison, standardized
from rwn_core.measures.measure import SHARE, Measure, Reading, View
from rwn_core.measures.statistics.association import varying_columns

COMPONENTS = 5  # the paper reports the share that this many hold together


def component_variances(values: Floats) -> Floats:
    """Return the descending variances of the standardized columns' components, shape (m,)."""
    scaled = standardized(values)
    eigenvalues = np.linalg.eigvalsh(scaled.T @ scaled / (len(scaled) - 1))
    return np.asarray(np.maximum(eigenvalues[::-1], 0.0), dtype=np.float64)


def compute(comparison: Comparison) -> Reading:
    """Return the largest change of the cumulative share of variance over the components."""
    names, before, after = varying_columns(comparison, "principal components")
    variances = comparison.cached_for_original(
        ("components", names), lambda: component_variances(before)
    )
    released = component_variances(after)
    share, share_released = variances / variances.sum(), released / released.sum()
    cumulative, cumulative_released = np.cumsum(share), np.cumsum(share_released)
    fifth = min(COMPONENTS, len(names)) - 1
    detail = {
        "names": list(names),
        "share_original": share,
        "share_released": share_released,
        "sd1_original": float(np.sqrt(variances[0])),
        "sd1_released": float(np.sqrt(released[0])),
        "cumulative5_original": float(cumulative[fifth]),
        "cumulative5_released": float(cumulative_released[fifth]),
        "n_original": len(before),
        "n_released": len(after),
    }
    value = float(np.abs(cumulative_released - cumulative).max())
    return Reading(value=min(value, 1.0), baseline=0.0, detail=detail)


MEASURE = Measure(
    key="principal_components",
    title="Principal components",
    side="utility",
    unit="largest change of the cumulative share of variance",
    question="Do the main directions still hold the same share of the variance?",
    source="Perry, Matloff, Tendick 2022, section 8",
    compute=compute,
    view=View(
        charts=("principal_components",),
        bands={"share_released": SHARE, "cumulative_released": SHARE},
        on={"report": 3, "tune": 5},
    ),
)
