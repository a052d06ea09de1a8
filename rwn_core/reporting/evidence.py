"""Evidence of a report: the measures and charts that it shows, and the riskiest keys.

It holds values of the original, so it lies in a file of its own next to the record, which has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

from rwn_core.charts import CHARTS, Chart, draw_reason
from rwn_core.charts.measures import guessing_attacks, key_classes
from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError
from rwn_core.evaluation.attack_list import attacks
from rwn_core.evaluation.audit import Audit, compare
from rwn_core.measures import MEASURES
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.key_variables import key_names

FORMAT = "rwn evidence 1"
NOTE = "CONFIDENTIAL: holds values of the original. It stays in the house."
RISKIEST = 10
DISTRIBUTIONS = 6

CHART_OF = {  # by the chart's key the measure that it draws
    "correlation": "correlation",
    "correlation_change": "correlation",
    "regression": "regression",
    "principal_components": "principal_components",
    "subgroups": "subgroups",
    "quantiles": "quantiles",
    "record_risk": "bayes_linkage",
    "precision_recall": "abstaining_linkage",
    "true_matches": "true_matches",
    "repeated_releases": "repeated_releases",
    "extreme_values": "extremes",
    "queries": "queries",
    "neighborhood_size": "neighborhood_size",
    "cooks_distance": "cooks_distance",
    "mahalanobis": "mahalanobis",
}
CHART_OF_MANY = {
    "key_classes": tuple(key_classes.NAMES),
    "guessing_attacks": ("attribute_inference", *guessing_attacks.NAMES),
}
_LINKAGE = (
    "intruder_levels",
    "distance_linkage",
    "mahalanobis_linkage",
    "global_linkage",
    "probabilistic_linkage",
    "bayes_linkage",
    "linked_over_half",
    "whole_file_linkage",
)
_TABLES = (
    "cells_changed",
    "marginals",
    "association_loss",
    "contingency",
    "standard_errors",
    "ci_overlap",
    "il1s",
    "pmse",
    "hellinger",
    "attribute_gain",
    "membership",
    "homogeneity",
)
_WANTED = {*CHART_OF.values(), *_LINKAGE, *_TABLES}.union(*CHART_OF_MANY.values())
REPORTED = tuple(key for key in MEASURES if key in _WANTED)
"""The measures that an internal report shows, in the order of the catalogue."""


def evidence(microdata: Microdata, masked: Any, audited: Audit, id: str) -> bytes:
    """Write the evidence of a release."""
    document = {
        "format": FORMAT,
        "note": NOTE,
        "release": id,
        "riskiest": _riskiest(microdata, masked, audited),
        "charts": _charts(audited),
    }
    # rows of a table may be kept as columns: they are written as lists
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY, default=list)


def read_evidence(content: bytes) -> dict[str, Any]:
    """Read what `evidence` wrote."""
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        document = None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError("The evidence file is none of this program; give the record's own.")
    return document


def _charts(audited: Audit) -> list[Chart]:
    """The charts of the Utility and the Risk page, in one order; a reason where one is missing."""
    readings = audited.readings
    made = [
        CHARTS[key](reading) if isinstance(reading, Reading)
        else draw_reason(key.replace("_", " ").capitalize(), str(reading), key)
        for key, reading in ((key, audited[measure]) for key, measure in CHART_OF.items())
    ]  # fmt: skip
    made += [CHARTS[key](readings) for key in CHART_OF_MANY]
    made.append(CHARTS["linkage_attacks"](attacks(readings)))
    marginals = audited["marginals"]
    if isinstance(marginals, Reading):
        variables = marginals.detail["variables"]
        moved = sorted(variables, key=lambda name: -variables[name]["difference"])
        made += [CHARTS["distribution"](marginals, name) for name in moved[:DISTRIBUTIONS]]
    return made


def _riskiest(microdata: Microdata, masked: Any, audited: Audit) -> dict[str, Any]:
    """The original's combinations of key values that are easiest to single out."""
    risk, special = audited["individual_risk"], audited["suda"]
    if not isinstance(risk, Reading):
        return {"reason": str(risk)}
    names = list(key_names(compare(microdata, masked)))
    own = np.asarray(risk.detail["original"])
    score = np.zeros(len(own))
    if isinstance(special, Reading):
        score = np.asarray(special.detail["score_original"], dtype=float)
    frame = microdata.frame[names]
    numbers = frame.groupby(names, dropna=False, observed=True, sort=False).ngroup().to_numpy()
    rows, seen = [], set()
    for record in np.lexsort((-score, -own)):
        if numbers[record] in seen:
            continue
        seen.add(numbers[record])
        rows.append(
            {
                "values": [str(frame[name].iloc[record]) for name in names],
                "records": int((numbers == numbers[record]).sum()),
                "risk": float(own[record]),
                "score": float(score[record]),
            }
        )
        if len(rows) == RISKIEST:
            break
    return {"names": names, "rows": rows}


def kept_detail(key: str, reading: Reading) -> dict[str, Any]:
    """Return the details that a record retains: counts and shares, never a record's own."""
    if key == "marginals":
        return _agreement(reading.detail["variables"])
    parts = {name: reading.detail[name] for name in _KEPT.get(key, ())}
    return {n: p.tolist() if isinstance(p, np.ndarray) else p for n, p in parts.items()}


_KEPT: Mapping[str, tuple[str, ...]] = {
    "k_anonymity": ("names", "limits", "violations_original", "violations_released"),
    "individual_risk": ("expected_original", "expected_released"),
    "repeated_releases": ("releases", "same_order", "shuffled", "standing"),
    "cells_changed": ("names", "share"),
    "standard_errors": ("terms", "ratio"),
    "association_loss": ("faded", "gone", "invented"),
}


def _agreement(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes of means in standard deviations, and total changes of shares."""
    means, shares = {}, {}
    for name, about in variables.items():
        if about["kind"] != "numeric":
            shares[name] = float(about["difference"])
        elif about["sd_original"] > 0:
            moved = about["mean_released"] - about["mean_original"]
            means[name] = float(moved / about["sd_original"])
    return {"mean_shift": means, "share_shift": shares}
