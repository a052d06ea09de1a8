"""A record of a release that was written by hand, so that a whole section can be expected."""

import copy
from typing import Any

from rwn_core.reporting.facts.fact import Content, Material

RECORD: dict[str, Any] = {
    "format": "rwn internal record 2",
    "made": "2028-02-29T10:11:12+00:00",
    "release": {"id": "0f" * 16},
    "table": {
        "fingerprint": "ab" * 32,
        "records": 1200,
        "variables": ["age", "income", "sex"],
        "kinds": ["count", "continuous", "categorical"],
        "roles": ["key", "sampling weight", "time"],
        "not_masked": ["sex"],
        "left_alone": ["income"],
        "missing": [],
        "removed": ["name", "street"],
    },
    "setting": {
        "method": "rwn",
        "parameters": {"epsilon": 2.0, "k": 5},
        "weights": {"age": 3.0},
        "precision": {"income": 100.0},
        "slices": [["age", "sex"]],
    },
    "file": {
        "format": "csv",
        "order": "shuffled",
        "key": "a fresh 256-bit secret, forgotten",
        "size": 45678,
        "sha256": "cd" * 32,
        "records": 1100,
    },
    "limit": [
        {"measure": "distance_linkage", "at_most": 0.5, "source": "Handbook", "set_by": "Board"},
        {"measure": "membership", "at_most": 0.1, "source": "", "set_by": ""},
        {"measure": "bayes_linkage", "at_most": 0.25},
    ],
    "verdict": {
        "kept": False,
        "words": "One limit is broken.",
        "shares": {"distance_linkage": 0.5, "bayes_linkage": 2.0},
        "judged": {"distance_linkage": {"title": "Linkage by distance", "value": 0.25}},
        "not_judged": {"membership": "No value is rare."},
    },
    "program": {"rwn": "1.2.3", "python": "3.12.0"},
}
LOST = {
    "marginals": {
        "mean_shift": {"age": -0.06, "income": 0.01}, "share_shift": {"sex": 0.3},
        "value": 0.03, "baseline": 0.0, "title": "Distributions",
    },
    "correlation": {"value": 0.02, "title": "Correlations"},
    "association_loss": {
        "faded": [["age", "income"], ["income", "sex"]], "gone": [["income", "sex"]],
        "value": 0.3, "title": "Relations lost", "invented": 0.2,
    },
    "regression": {"not_applicable": "No regression was asked for."},
    "cells_changed": {
        "names": ["age", "income", "sex"], "share": [0.75, 0.0, 0.25],
        "value": 0.5, "baseline": 0.0, "title": "Values changed",
    },
}  # fmt: skip
RISKS = {
    "distance_linkage": {
        "title": "Distance linkage", "words": "A quarter is linked.",
        "value": 0.25, "baseline": 0.001,
    },
    "bayes_linkage": {
        "title": "Linkage at least", "words": "Half of them are linked.",
        "value": 0.5, "baseline": 0.001,
    },
    "membership": {"not_applicable": "No value is rare."},
    "singling_out": {
        "title": "Singling out", "words": "One in eight is singled out.",
        "value": 0.125, "baseline": 0.0,
    },
    "k_anonymity": {
        "title": "Below 3-anonymity", "value": 0.01, "names": ["age", "sex"],
        "limits": [2, 3], "violations_original": [12, 1200], "violations_released": [6, 24],
    },
    "individual_risk": {
        "title": "Expected re-identifications", "value": 0.1,
        "expected_original": 1234.5, "expected_released": 2.0,
    },
    "repeated_releases": {
        "title": "Three releases", "words": "A fifth is linked after three.", "value": 0.2,
        "releases": [1, 3], "same_order": [0.125, 0.2], "shuffled": 0.125, "standing": "worst",
    },
}  # fmt: skip
RECORD["readings"] = LOST | RISKS


def record(**parts: Any) -> dict[str, Any]:
    """A copy of the record, with other parts."""
    return copy.deepcopy({**RECORD, **parts})


def by_hand(**parts: Any) -> Material:
    """What facts are made of, with other parts of the record."""
    return Material(record=record(**parts))


def said(content: Content) -> list[str]:
    """All that a fact says: its sentences, the titles of its columns, its rows."""
    if content.table is None:
        return list(content.lines)
    rows = [content.table.columns, *content.table.rows]
    return [*content.lines, *(" | ".join(row) for row in rows)]
