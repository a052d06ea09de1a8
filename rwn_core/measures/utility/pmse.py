"""pMSE: success of a model of all pairs of variables at telling release and original apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.statistics.propensity import Propensity, propensity


def compute(comparison: Comparison) -> Reading:
    """Return pMSE over its expectation for a release from the fitted model, pairwise terms."""
    model = propensity(comparison, "pairwise")
    pairwise = _numbers(model)
    shares = np.linspace(0, 1, 21)
    detail = {
        **pairwise,
        "main": _numbers(propensity(comparison, "main")),
        "quantile_shares": shares,
        "original": np.quantile(model.original, shares),
        "released": np.quantile(model.released, shares),
    }
    return Reading(value=pairwise["ratio"], baseline=0.0, detail=detail)


def _numbers(model: Propensity) -> dict[str, Any]:
    expected, spread = model.null
    return {
        "pmse": model.pmse,
        "null_mean": expected,
        "null_sd": spread,
        "ratio": model.pmse / expected,
        "standardized": (model.pmse - expected) / spread,
        "specks": model.specks,
        "parameters": model.parameters,
        "records": len(model.original) + len(model.released),
    }


MEASURE = Measure(
    key="pmse",
    title="Propensity score (pMSE)",
    side="utility",
    better="lower",
    bounds=(0.0, float("inf")),
    unit="times its null expectation; 2: as different as a fresh sample",
    question="Can a model of all pairs of variables tell released records from original ones?",
    source="Woo and others 2009; Snoke and others 2018; SPECKS: Bowen, Liu, Su 2021",
    compute=compute,
)
