"""Replays the 2015 method's first example, of draft and final text, on the user's file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from benchmarks.papers.replay import (
    Attempt,
    Found,
    Number,
    Replay,
    Request,
    mean_number,
    published,
)
from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking import NBRS2015
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.randomness import SecretKey

KEY, DRAFT_KEY = "mt2015-regression", "mt2015-draft"
PRINTED, USED = 0.3, 0.6
DRAFT_WEIGHT, FINAL_WEIGHT = 0.05, 0.2
TERMS = ("age", "sex", "wkswrkd", "ms", "phd")
WEIGHTED = ("ms", "phd")
FEMALE, YOUNGER_THAN = 2.0, 31.0
RELEASES, FEW = 50, 5
_CALL = ", call as printed (epsilon 0.3)"
_DRAFT = ", released, epsilon 0.3"
_QUERY = "women with a PhD younger than 31"
_USED = f"with epsilon = {USED:g}"


def _regression(data: Microdata, masked: Microdata) -> Reading:
    reading = MEASURES["regression"].compute(Comparison(original=data, masked=masked))
    assert isinstance(reading, Reading)
    return reading


def _terms(reading: Reading, part: str) -> dict[str, float]:
    values = zip(reading.detail.terms, getattr(reading.detail, part), strict=True)
    return {str(term): float(value) for term, value in values}


def _releases(data: Microdata, epsilon: float, count: int) -> _Releases:
    """Return what releases of a radius show."""
    method = NBRS2015(epsilon=epsilon)
    prepared = method.prepare(data)
    law = prepared.law
    assert law is not None
    assert law.neighborhoods is not None
    keys = (SecretKey.from_seed(seed) for seed in range(1, count + 1))
    tables = [prepared.release(key).masked for key in keys]
    return _Releases(
        empty=Number(value=int((law.neighborhoods.sizes == 0).sum())),
        readings=[_regression(data, table) for table in tables],
        found=mean_number([_query(table) for table in tables]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Releases:
    """Hold the records without values, each release's regression, and the query's mean count."""

    empty: Number
    readings: list[Reading]
    found: Number


def _query(table: Microdata) -> int:
    """Count the records that the paper's query finds; a missing value is never found."""
    is_asked = (table.values("sex") == FEMALE) & (table.values("phd") == 1)
    return int((is_asked & (table.values("age") < YOUNGER_THAN)).sum())


def _weighted(data: Microdata, weight: float) -> Microdata:
    """Return the table with the weight that a text gives both degrees in the distance."""
    variables = tuple(
        replace(each, weight=weight if each.name in WEIGHTED else 1.0)
        for each in data.schema.variables
    )
    return data.with_schema(replace(data.schema, variables=variables))


def _checked(data: Microdata) -> Microdata:
    question = data.schema.question
    if question is None or not set(TERMS) <= set(question.predictors):
        raise ParameterError(
            f"The schema's question must have the predictors {', '.join(TERMS)}; add them."
        )
    return data


def _means(readings: list[Reading], part: str) -> dict[str, Number]:
    rows = [_terms(reading, part) for reading in readings]
    return {term: mean_number([row[term] for row in rows]) for term in rows[0]}


def _on_the_file(data: Microdata, count: int) -> Found:
    final = _weighted(_checked(data), FINAL_WEIGHT)
    itself = _regression(final, final)
    before, errors = (_terms(itself, f"{part}_original") for part in ("coefficient", "se"))
    printed, used = (_releases(final, epsilon, count) for epsilon in (PRINTED, USED))
    rows = f"rows without values{_CALL}"
    numbers: dict[str, Number | str] = {rows: printed.empty}
    attempts = {rows: (Attempt(words=_USED, number=used.empty),)}
    parts = [_means(each.readings, "coefficient_released") for each in (printed, used)]
    released_errors = _means(used.readings, "se_released")
    for term in TERMS:
        numbers[f"coefficient of {term}, original"] = Number(value=before[term])
        row = f"standard error of {term}, row headed original"
        numbers[row] = Number(value=errors[term])
        words = "as that of the released table"
        attempts[row] = (Attempt(words=words, number=released_errors[term]),)
        row = f"coefficient of {term}, released{_CALL}"
        numbers[row] = parts[0][term]
        attempts[row] = (Attempt(words=_USED, number=parts[1][term]),)
    numbers[f"{_QUERY}, original"] = Number(value=_query(data))
    row = f"{_QUERY}, released{_CALL}"
    numbers[row] = printed.found
    attempts[row] = (Attempt(words=_USED, number=used.found),)
    return Found(numbers=numbers, attempts=attempts, notes=(_note(FINAL_WEIGHT, count),))


def _draft_on_the_file(data: Microdata, count: int) -> Found:
    draft, final = (_weighted(_checked(data), each) for each in (DRAFT_WEIGHT, FINAL_WEIGHT))
    drawn, other = (_releases(each, PRINTED, count) for each in (draft, final))
    parts = [_means(each.readings, "coefficient_released") for each in (drawn, other)]
    words = f"with the weight {FINAL_WEIGHT:g} of the final text"
    return Found(
        numbers={f"coefficient of {term}{_DRAFT}": parts[0][term] for term in TERMS},
        attempts={
            f"coefficient of {term}{_DRAFT}": (Attempt(words=words, number=parts[1][term]),)
            for term in TERMS
        },
        notes=(_note(DRAFT_WEIGHT, count),),
    )


def _note(weight: float, count: int) -> str:
    return (
        f"Weight {weight:g} for {' and '.join(WEIGHTED)}, 1 for all others. The paper has a single "
        f"draw; it is compared with the spread of {count} draws here."
    )


def _nbrs(request: Request, *, key: str, run: Callable[[Microdata, int], Found]) -> Found:
    if request.data is not None:
        return run(request.data, request.repetitions(RELEASES, FEW))
    why = (
        "The census table is not part of this program; give it with --file, and the regression "
        "with --schema."
    )
    return Found(numbers={each.name: why for each in published(key)})


NBRS: tuple[Replay, ...] = tuple(
    Replay(key=key, title=title, run=partial(_nbrs, key=key, run=run), file="census data")
    for key, title, run in (
        (KEY, "The 2015 method: a regression and a query on census data", _on_the_file),
        (DRAFT_KEY, "The 2015 method: the regression of the draft text", _draft_on_the_file),
    )
)
