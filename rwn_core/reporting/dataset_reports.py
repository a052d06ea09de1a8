"""The reports of a dataset's release: what the public may know, and what stays in the house.

The facts are those of every release; what they say is read from the files, batch by batch. Nothing
is held in memory but a batch of records, some texts of the release, and what the public files say.
What the leak check refuses is named by its kind, never by its value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from rwn_core.data.identity.text_forms import NEARLY_ALL, common_form
from rwn_core.data.question import Question
from rwn_core.data.schema import Schema
from rwn_core.datasets.audit_dataset import AuditOptions, DatasetAudit, audit_dataset
from rwn_core.datasets.dataset import BATCH, Dataset, to_frame
from rwn_core.datasets.dataset_regression import coefficients, standard_errors
from rwn_core.errors import NotApplicable, ReleaseError
from rwn_core.evaluation.standard_errors import Z95
from rwn_core.measures.statistics.association import GONE, faded, relation_loss
from rwn_core.measures.statistics.independence import chance_of_numbers
from rwn_core.measures.statistics.ols import standardized_difference, turned
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey
from rwn_core.reporting.dataset_record import recorded_schema
from rwn_core.reporting.facts import Material
from rwn_core.reporting.internal_report import internal_file
from rwn_core.reporting.leak_check import (
    LEAST,
    check_file,
    check_release,
    counted,
    said_values,
)
from rwn_core.reporting.public_notice import require_form, unchecked_file

_COMPARED = 0.8  # of the work: four passes; the fifth looks for what the files would give away

TEXTS = 10_000  # different texts of a released variable that are looked at
_MANY = 0.5  # of them that must be those of an identifier
_FEWEST = 20  # below which a variable is no identifier
_NAME = re.compile(r"part-\d{6}\.parquet")

Texts = Mapping[str, Set[str]]
"""Different texts of the release, by variable; its rows are in random order, and so are they."""


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


def _fits(found: DatasetAudit, question: Question) -> tuple[list[str], list[Any], list[Any]]:
    """Return the terms of a regression, and its slopes and their errors on both sides."""
    sides = (found.original, found.released)
    fits = [coefficients(side, question) for side in sides]
    slopes = [np.array(list(fit.values())[1:]) for fit in fits]
    return list(fits[0])[1:], slopes, [standard_errors(side, question) for side in sides]


def _regression(found: DatasetAudit, question: Question) -> dict[str, dict[str, Any]]:
    _, slopes, errors = _fits(found, question)
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
    try:
        terms, (own, new), errors = _fits(found, question)
    except NotApplicable:
        return []
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


def check_released(record: Mapping[str, Any], released: Path) -> dict[str, set[str]]:
    """Refuse released files that hold more than the values of their variables."""
    named = [part["name"] for part in record["file"]["parts"]]
    if sorted(path.name for path in released.iterdir()) != named:
        raise _refusal("The folder of the release holds more than its files")
    texts: dict[str, set[str]] = {}
    for name in named:
        path = released / name
        if not _NAME.fullmatch(name) or path.is_symlink() or not path.is_file():
            raise _refusal("The folder of the release holds a file that is none of its own")
        with _opened(path) as source:
            _check_footer(source, record["table"]["variables"])
            _take_texts(source, texts)
    for variable, some in texts.items():
        form = common_form(list(some), NEARLY_ALL)
        if form:
            raise _refusal(
                f"The released variable {variable} looks like {form}; leave it out with --drop and "
                "mask again"
            )
    return texts


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A file of the release; one that is no Parquet is refused."""
    try:
        with pq.ParquetFile(path) as source:
            yield source
    except pa.ArrowException:
        raise _refusal(f"{path.name} is damaged or not Parquet") from None


def _check_footer(source: Any, variables: list[str]) -> None:
    """Refuse other columns, and notes or statistics in a footer."""
    footer, fields = source.metadata, source.schema_arrow
    if fields.names != variables:
        raise _refusal("A released file has other columns than the variables of the release")
    notes = [footer.metadata, *(field.metadata for field in fields)]
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    columns = [group.column(place) for group in groups for place in range(group.num_columns)]
    notes += [column.metadata for column in columns]
    if any(notes):
        raise _refusal("The footer of a released file holds notes of the program that wrote it")
    if any(column.is_stats_set or column.has_column_index for column in columns):
        raise _refusal("The footer of a released file holds extremes of its columns")
    if any(group.sorting_columns for group in groups):
        raise _refusal("The footer of a released file says by what its rows are sorted")


def _take_texts(source: Any, texts: dict[str, set[str]]) -> None:
    """Add the different texts of a file to those that are known, as far as there is room."""
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    names = [
        field.name
        for field in source.schema_arrow
        if any(kind(field.type) for kind in kinds)
        and len(texts.setdefault(field.name, set())) < TEXTS
    ]
    if not names:
        return
    for batch in source.iter_batches(BATCH, columns=names):
        for name in names:
            some = batch.column(name).unique().drop_null().to_pylist()
            texts[name].update(some[: TEXTS - len(texts[name])])
        if all(len(texts[name]) >= TEXTS for name in names):
            return


def check_copied(found: DatasetAudit) -> None:
    """Refuse a release with a value that its variable does not have in the original."""
    before, after = found.original, found.released
    strange = [name for name, each in after.levels.items() if each.keys() - before.levels[name]]
    for name, each in after.columns.items():
        known = before.columns[name]
        if each.count and not (known.least <= each.least and each.greatest <= known.greatest):
            strange.append(name)
    if strange:
        raise _refusal(
            f"The released variable {strange[0]} has a value that the original's has not, so that "
            "it is no copy of it"
        )


def rare_in_dataset(
    original: Dataset,
    schema: Schema,
    said: Set[Any],
    texts: Texts,
    progress: Progress | None = None,
) -> set[Any]:
    """Find which values a public file would say that few records of the original have."""
    # Direct identifiers are read, too: a name of one person is what must not be said.
    names = [name for name, _ in original.columns]
    hidden = {variable.name for variable in schema.variables if not variable.is_released}
    held = frozenset[str]().union(*texts.values())
    records: dict[str, Counter[Any]] = {name: Counter() for name in names}
    owners: dict[str, Counter[Any]] = {name: Counter() for name in hidden}
    for start in range(0, original.n, BATCH):
        stop = min(start + BATCH, original.n)
        frame = to_frame(original.read(start, stop, names))
        for name in names:
            for form, value, count in counted(_possible(frame[name], said, name in hidden)):
                if form in said:
                    records[name][form, value] += count
                if name in hidden and value in held:
                    owners[name][value] += count
        if progress is not None:
            progress(stop / original.n)
    _refuse_texts(owners, texts)
    few = {form for each in records.values() for (form, _), n in each.items() if n < LEAST}
    return few - {""}


def _possible(column: pd.Series[Any], said: Set[Any], hidden: bool) -> pd.Series[Any]:
    """Return the stated numbers of a numeric column; of any other, all values."""
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column.dtype)
    if hidden or not numeric:
        return column
    return column[column.isin([value for value in said if isinstance(value, float)])]


def _refuse_texts(owners: Mapping[str, Counter[Any]], texts: Texts) -> None:
    """Refuse a released variable of which many texts are an identifier's, each of few records."""
    for identifier, counts in owners.items():
        few = {value for value, count in counts.items() if count < LEAST}
        for name, some in texts.items():
            if len(some) >= _FEWEST and len(some & few) >= _MANY * len(some):
                raise _refusal(
                    f"The released variable {name} holds the values of {identifier}, a direct "
                    "identifier; leave it out with --drop and mask again"
                )


def _refusal(what: str) -> ReleaseError:
    return ReleaseError(f"{what}; nothing public was written.")
