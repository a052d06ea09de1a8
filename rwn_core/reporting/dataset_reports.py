"""The reports of a dataset's release: what the public may know, and what stays in the house.

The facts are those of every release; what they say is read from the files, batch by batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rwn_core.data.question import Question
from rwn_core.datasets.audit_dataset import AuditOptions, DatasetAudit, audit_dataset
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.dataset_regression import coefficients, standard_errors
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.standard_errors import Z95
from rwn_core.measures.statistics.independence import chance_of_numbers
from rwn_core.measures.statistics.ols import standardized_difference, turned
from rwn_core.measures.statistics.relation_loss import GONE, faded, relation_loss
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey
from rwn_core.reporting.dataset_leaks import check_copied, check_released, rare_in_dataset
from rwn_core.reporting.dataset_record import recorded_schema
from rwn_core.reporting.facts import Material
from rwn_core.reporting.internal_report import internal_file
from rwn_core.reporting.leak_check import check_file, check_release, said_values
from rwn_core.reporting.public_notice import require_form, unchecked_file

_COMPARED = 0.8  # of the work: four passes; the fifth looks for what the files would give away


def public_dataset_files(
    material: Material,
    original: str | Path,
    released: Path,
    names: Iterable[str],
    progress: Progress | None = None,
) -> dict[str, bytes]:
    """Write public files of a dataset's release, once the leak check has passed."""
    forms = {name: require_form(name) for name in names}
    check_release(material.record)
    texts = check_released(material.record, released)
    dataset = Dataset.at(original)
    schema = recorded_schema(material.record, dataset)
    options = AuditOptions(schema=replace(schema, question=None), sample=0)
    found = audit_dataset(original, released, options, _part(progress, 0.0, _COMPARED))
    check_copied(found)
    known = _with_readings(material, found, schema.question)
    contents = {name: unchecked_file(known, form) for name, form in forms.items()}
    said = set[Any]().union(*(said_values(c, forms[n], known) for n, c in contents.items()))
    rare = rare_in_dataset(dataset, schema, said, texts, _part(progress, _COMPARED, 1.0))
    for name, content in contents.items():
        check_file(content, forms[name], known, rare)
    return contents


def internal_dataset_file(
    material: Material,
    original: str | Path,
    released: Path,
    suffix: str,
    key: SecretKey | None = None,
    progress: Progress | None = None,
) -> bytes:
    """Write the internal report of a dataset's release."""
    schema = recorded_schema(material.record, Dataset.at(original))
    options = AuditOptions(schema=replace(schema, question=None), key=key)
    found = audit_dataset(original, released, options, progress)
    if schema.question is not None:
        sides = (found.original, found.released)
        with suppress(NotApplicable):
            one, two = (coefficients(side, schema.question) for side in sides)
            found = replace(found, regression=(one, two))
    return internal_file(_with_readings(material, found, schema.question), suffix)


def dataset_readings(found: DatasetAudit, question: Question | None) -> dict[str, dict[str, Any]]:
    """Read the measures of public facts from sums over a dataset and its release."""
    moved = {name: found.distances[name] for name in found.original.levels}
    each = [*found.steps.values(), *moved.values()]
    shifts = {name: _shift(found, name) for name in found.original.numeric}
    readings: dict[str, dict[str, Any]] = {}
    if each:
        readings["marginals"] = {
            "value": float(np.mean(each)),
            "mean_shift": {name: shift for name, shift in shifts.items() if shift is not None},
            "share_shift": moved,
        }
    readings |= _relations(found)
    if question is not None:
        with suppress(NotApplicable):
            readings |= _regression(found, question)
    return readings


def _shift(found: DatasetAudit, name: str) -> float | None:
    before, after = (side.columns[name] for side in (found.original, found.released))
    return (after.mean - before.mean) / before.sd if before.sd > 0 and after.count else None


def _regression(found: DatasetAudit, question: Question) -> dict[str, dict[str, Any]]:
    sides = (found.original, found.released)
    slopes = [np.array(list(coefficients(side, question).values())[1:]) for side in sides]
    errors = [standard_errors(side, question) for side in sides]
    moved = standardized_difference(slopes[0], slopes[1], errors[0])
    ratio = errors[1] / errors[0]
    return {
        "regression": {"value": float(moved.max())},
        "standard_errors": {
            "value": float(np.median(np.abs(ratio - 1))),
            "ratio": [1.0, *ratio.tolist()],  # the intercept's, which no fact reads, stands first
        },
    }


def _relations(found: DatasetAudit) -> dict[str, dict[str, Any]]:
    """The loss of relations between numbers: a dataset has no other ones in its sums."""
    before, after = (side.correlation for side in (found.original, found.released))
    names = list(found.original.numeric)
    readings: dict[str, dict[str, Any]] = {}
    if found.correlation_change is None:
        return readings
    readings["correlation"] = {"value": found.correlation_change}
    loss = relation_loss(before, after, chance_of_numbers(len(names), found.original.n))
    if np.isfinite(loss.value):
        readings["association_loss"] = {
            "value": loss.value,
            "faded": faded(names, before, after, loss),
            "gone": faded(names, before, after, loss, GONE),
            "invented": loss.invented,
            "only_numbers": True,
        }
    return readings


def _slopes(found: DatasetAudit, question: Question | None) -> list[dict[str, Any]]:
    """Return the slopes of a regression on this one release of very many records."""
    if question is None:
        return []
    sides = (found.original, found.released)
    try:
        before, after = (coefficients(side, question) for side in sides)
        errors = [standard_errors(side, question) for side in sides]
    except NotApplicable:
        return []
    terms = list(before)[1:]
    own, new = (np.array(list(side.values())[1:]) for side in (before, after))
    held = np.abs(new - own) <= Z95 * errors[1]
    turns = turned(own, new, errors[0])
    parts: dict[str, list[bool]] = {}
    for name in question.predictors:
        mine = [t == name or t.startswith(f"{name} = ") for t in terms]
        parts[name] = [bool(held[mine].all()), not turns[mine].any()]
    return [
        {
            "response": question.response,
            "names": list(parts),
            "coverage": [float(held) for held, _ in parts.values()],
            "signs": [float(same) for _, same in parts.values()],
            "shift": [],
            "releases": 1,
            "drawn": 1,
        }
    ]


def _with_readings(material: Material, found: DatasetAudit, question: Question | None) -> Material:
    """The material with what the files show: the readings, and which variables lack values."""
    record = material.record
    readings = {**record["readings"], **dataset_readings(found, question)}
    table = {**record["table"], "missing": found.original.with_missing}
    more = {"readings": readings, "table": table, "slopes": _slopes(found, question)}
    return replace(material, record={**record, **more}, dataset=found)


def _part(progress: Progress | None, low: float, high: float) -> Callable[[float], None] | None:
    """The progress of a part of the work."""
    return None if progress is None else lambda share: progress(low + (high - low) * share)
