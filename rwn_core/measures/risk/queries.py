"""Query attack: questions to the release that exactly one person answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.data.arrays import Booleans
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.likeliest_value import named_values, tolerance
from rwn_core.measures.attacks.predicate import Predicate, answer, single_record_predicates
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.key_variables import confidential_names, key_names


def near_truth(original: Microdata, table: Microdata, name: str, record: int) -> Booleans:
    """Return True for records with one record's value or within its tolerance, shape (n,)."""
    own = named_values(original, original, name)[[record]]
    return tolerance(original, name).right(named_values(original, table, name), own)


def ask(
    comparison: Comparison, law: Law, predicate: Predicate, record: int, secret: str | None
) -> dict[str, Any]:
    """Return the release's answer to one predicate, expected by the law and actual."""
    original, masked = law.original, comparison.masked
    expected = answer(law, predicate)
    matches = np.flatnonzero(predicate.matches(original, masked))
    asked: dict[str, Any] = {
        "words": predicate.words,
        "record": record,
        "none": float(expected.counts[0]),
        "one": float(expected.counts[1]) if len(expected.counts) > 1 else 0.0,
        "one_and_target": float(np.clip(expected.alone[record], 0.0, 1.0)),
        "matches": len(matches),
        "same_person": bool(len(matches) == 1 and matches[0] == record),
        "disclosed": None,
        "baseline": None,
        "disclosed_now": None,
    }
    if secret is None or secret in {c.name for c in predicate.conditions}:
        return asked
    fits = near_truth(original, original, secret, record)
    matching = predicate.tells(law, secret, fits)
    released = near_truth(original, masked, secret, record)
    asked["disclosed"] = float(np.clip(expected.alone @ matching, 0.0, 1.0))
    asked["baseline"] = float(released.mean())
    asked["disclosed_now"] = bool(len(matches) == 1 and released[matches[0]])
    return asked


def compute(comparison: Comparison) -> Reading:
    """Return the mean chance that a question with one true answer returns that person's row."""
    law = comparison.required_law("The query attack")
    keys = key_names(comparison)
    key = ("lone members", keys)
    uniques = comparison.cached_for_original(
        key, lambda: single_record_predicates(comparison.original, keys)
    )
    if not uniques:
        raise NotApplicable(
            "No question about up to three key variables is answered by exactly one person."
        )
    secret = next(iter(confidential_names(comparison)), None)
    asked = [ask(comparison, law, predicate, record, secret) for predicate, record in uniques]
    columns = list(asked[0])
    detail: dict[str, Any] = {name: [row[name] for row in asked] for name in columns}
    detail |= {"names": list(keys), "secret": secret}
    value = float(np.mean(detail["one_and_target"]))
    return Reading(value=value, baseline=1.0, detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say how often a question with one true answer finds that person's row."""
    return (
        f"Asked one of {len(reading.detail['words'])} questions that one person answers, the "
        f"release answers with exactly that person's row with probability "
        f"{percent(reading.value)}."
    )


MEASURE = Measure(
    key="queries",
    title="Query attack",
    side="risk",
    unit="mean probability",
    question="If a question about the key variables has one person as its answer, how likely does "
    "the release answer it with exactly that person's row?",
    sentence=sentence,
    source="Matloff and Tendick 2015 (a single worker); the count of matches is Poisson-binomial",
    compute=compute,
    view=View(charts=("queries",), on={"report": 11}),
)
