"""Replays the 2015 method's first example: a regression before and after, on the user's file."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.evaluation.published_results.replay import (
    Attempt,
    Found,
    Number,
    Replay,
    Request,
    mean_number,
    published,
)
from rwn_core.io.demo import load_demo
from rwn_core.masking import NBRS2015, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading

KEY = "mt2015-regression"
PRINTED, USED = 0.3, 0.6
TERMS = ("age", "sex", "wkswrkd", "ms", "phd")
RELEASES, FEW = 50, 5
STAND_IN = 600
_CALL = ", call as printed (epsilon 0.3)"
_USED = f"with epsilon = {USED:g}"


def _regression(data: Microdata, masked: Microdata) -> Reading:
    reading = MEASURES["regression"].compute(Comparison(original=data, masked=masked))
    assert isinstance(reading, Reading)
    return reading


def _terms(reading: Reading, part: str) -> dict[str, float]:
    values = zip(reading.detail["terms"], reading.detail[part], strict=True)
    return {str(term): float(value) for term, value in values}


def _releases(data: Microdata, epsilon: float, count: int) -> tuple[Number, list[Reading]]:
    """Return the count of records that lose their values at a radius, and each regression."""
    method = NBRS2015(epsilon=epsilon)
    law = method.prepare(data).law
    assert law is not None
    assert law.neighborhoods is not None
    seeds = range(1, count + 1)
    readings = [_regression(data, mask(data, method, seed=seed).masked) for seed in seeds]
    return Number(value=int((law.neighborhoods.sizes == 0).sum())), readings


def _means(readings: list[Reading], part: str) -> dict[str, Number]:
    rows = [_terms(reading, part) for reading in readings]
    return {term: mean_number([row[term] for row in rows]) for term in rows[0]}


def _on_the_file(data: Microdata, count: int) -> Found:
    question = data.schema.question
    if question is None or not set(TERMS) <= set(question.predictors):
        raise ParameterError(
            f"The schema's question must have the predictors {', '.join(TERMS)}; add them, and "
            "the paper's weights of the variables."
        )
    itself = _regression(data, data)
    before, errors = (_terms(itself, f"{part}_original") for part in ("coefficient", "se"))
    empty, printed = _releases(data, PRINTED, count)
    empty_used, used = _releases(data, USED, count)
    rows = f"rows without values{_CALL}"
    numbers: dict[str, Number | str] = {rows: empty}
    attempts = {rows: (Attempt(words=_USED, number=empty_used),)}
    parts = (_means(printed, "coefficient_released"), _means(used, "coefficient_released"))
    released_errors = _means(used, "se_released")
    for term in TERMS:
        numbers[f"coefficient of {term}, original"] = Number(value=before[term])
        row = f"standard error of {term}, row headed original"
        numbers[row] = Number(value=errors[term])
        words = "as that of the released table"
        attempts[row] = (Attempt(words=words, number=released_errors[term]),)
        row = f"coefficient of {term}, released{_CALL}"
        numbers[row] = parts[0][term]
        attempts[row] = (Attempt(words=_USED, number=parts[1][term]),)
    notes = (
        "Weights are those of the schema. The paper has a single draw; it is compared "
        f"with the spread of {count} draws here.",
    )
    return Found(
        numbers=numbers, attempts=attempts, pictures=(("regression", used[0]),), notes=notes
    )


def _stand_in() -> Any:
    """The regression on a part of the demo table cps1988, masked by the 2015 method."""
    data = load_demo("cps1988").take(np.arange(STAND_IN))
    return _regression(data, mask(data, NBRS2015(epsilon=USED), seed=1).masked)


def _nbrs(request: Request) -> Found:
    if request.data is not None:
        return _on_the_file(request.data, request.repetitions(RELEASES, FEW))
    why = (
        "The census table is not part of this program; give it with --file, and the weights and "
        "the regression with --schema."
    )
    notes = (
        f"The picture is of a stand-in: the first {STAND_IN} records of the demo table cps1988, "
        f"masked by the 2015 method {_USED}; nothing in it is the paper's.",
    )
    return Found(
        numbers={each.name: why for each in published(KEY)},
        pictures=(("regression", _stand_in()),),
        notes=notes,
        stand_in=True,
    )


NBRS = Replay(
    key=KEY, title="The 2015 method: a regression on census data", run=_nbrs, file="census data"
)
