"""Replays the 2022 paper: prediction, and the work of Methods 1 to 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isqrt

import numpy as np

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
from rwn_core.data.schema import Question
from rwn_core.evaluation.holdout import predict_on_holdout
from rwn_core.io.demo import load_demo
from rwn_core.masking import RWN
from rwn_core.neighbors.candidates import numbered_pairs, random_pairs, random_parts
from rwn_core.randomness import SecretKey

Q = 0.5
KS = (5, 10, 25, 50)
REPEATS, FEW_REPEATS = 25, 3
_SPLIT = (
    "The split comes before the masking: no held-out record gives or takes a value. Every k has "
    "the same {repeats} splits, and the forest the same seed with and without masking."
)


def _errors(data: Microdata, repeats: int, train_share: float) -> dict[str, Number | str]:
    numbers: dict[str, Number | str] = {}
    for k in KS:
        trial = predict_on_holdout(
            data, RWN(epsilon=0.0, k=k, q=Q), repeats=repeats, train_share=train_share
        )
        numbers["not masked"] = mean_number(trial.errors.original[:, 0])
        numbers[f"k = {k}"] = mean_number(trial.errors.released[:, 0])
    return numbers


def _pima(request: Request) -> Found:
    data = load_demo("pima")
    repeats = request.repetitions(REPEATS, FEW_REPEATS)
    others = tuple(name for name in data.schema.names if name != "test")
    asked = replace(data.schema, question=Question(response="test", predictors=others))
    notes = (
        _SPLIT.format(repeats=repeats),
        "The paper does not state the size of the holdout for this table; here it is 30 %.",
        "The paper's forest is that of R; here it is that of scikit-learn.",
    )
    numbers = _errors(data.with_schema(asked), repeats, 0.7)
    return Found(numbers=numbers, notes=notes)


def _pef(request: Request) -> Found:
    data = request.data
    repeats = request.repetitions(REPEATS, FEW_REPEATS)
    if data is None:
        why = "The table pef is not part of this program; give it with --file and --schema."
        return Found(numbers={each.name: why for each in published("rwn2022-pef")})
    notes = (
        _SPLIT.format(repeats=repeats),
        "The response is that of the schema's question.",
        "The paper's forest is that of R, whose error without masking goes from 0.58 to 0.64 by "
        "the split; here it is that of scikit-learn.",
    )
    numbers = _errors(data, repeats, 1 - min(1000 / data.n, 0.5))
    return Found(numbers=numbers, notes=notes)


PREDICTION: tuple[Replay, ...] = (
    Replay(key="rwn2022-pima", title="Predicting diabetes from a release", run=_pima),
    Replay(key="rwn2022-pef", title="Predicting from a release of pef", run=_pef, file="pef"),
)


N, M = 4096, 64
PARTS = (2, 4, 8, 16)
_KEY = SecretKey.from_seed(1)


def growth(work: Callable[[int], float], at: Sequence[int]) -> float:
    """The exponent b for which the work grows as its argument to the power of b.

    >>> round(growth(lambda n: n**2 / 3, (10, 20, 40)), 6)
    2.0
    """
    logs = np.log([work(number) for number in at])
    # what machines disagree on is below .000001, and so is the sign of a zero
    return round(float(np.polyfit(np.log(at), logs, 1)[0]), 6) + 0.0


def whole_parts(n: int, u: int) -> list[int]:
    """Distances that each of u random parts of n records needs: one a pair of its records."""
    sizes = [len(part) for part in random_parts(_KEY, n, u)]
    return [size * (size - 1) // 2 for size in sizes]


def sampled_parts(n: int, u: int, m: int) -> list[int]:
    """Distances that each part needs where its records have about m random partners."""
    sizes = [len(part) for part in random_parts(_KEY, n, u)]
    return [len(random_pairs(_KEY, size, size * m // 2)[0]) for size in sizes]


def _exponent(work: Callable[[int], float]) -> Number:
    return Number(value=growth(work, PARTS))


def printed_pair(number: int) -> tuple[int, int]:
    """The pair of an integer by the steps as printed, where 2 + v is not halved.

    >>> printed_pair(2), printed_pair(3)
    ((-8, 6), (2, 3))
    """
    root = isqrt(8 * number + 1)
    if root * root == 8 * number + 1:
        j = (1 + root) // 2
        return j - 1, j
    j = (3 + root) // 2 if root % 2 else 2 + root
    return number - (j - 1) * (j - 2) // 2, j


def _section_11(_: Request) -> Found:
    first = "Method 3(1): exponent of u"
    second = "Method 3(2): exponent of u"
    numbers: dict[str, Number | str] = {
        first: _exponent(lambda u: sum(whole_parts(N, u))),
        second: _exponent(lambda u: sum(sampled_parts(N, u, M))),
    }
    attempts: dict[str, tuple[Attempt, ...]] = {
        first: (
            Attempt(
                words="for one part alone, as on u machines at once",
                number=_exponent(lambda u: whole_parts(N, u)[0]),
            ),
        ),
        second: (
            Attempt(
                words="for one part alone",
                number=_exponent(lambda u: sampled_parts(N, u, M)[0]),
            ),
            Attempt(
                words="for one part alone, if its records also have only m / u partners",
                number=_exponent(lambda u: sampled_parts(N, u, M // u)[0]),
            ),
        ),
    }
    for integer in (2, 5):
        ours = numbered_pairs(np.array([integer]))
        for name, value, printed in zip("ij", ours, printed_pair(integer), strict=True):
            row = f"pair of the integer {integer}: {name}"
            numbers[row] = Number(value=int(value[0]))
            words = "if 2 + v is not halved, as printed; that is no pair of records"
            attempts[row] = (Attempt(words=words, number=Number(value=printed)),)
    notes = (
        "How the work depends on the number of parts u: an exponent of −2 says that twice the "
        "parts need a quarter of the work.",
        f"Work is the number of distances: counted for n = {N:,}, m = {M} and "
        f"u = {', '.join(map(str, PARTS))}, all parts together; an exponent of −2 says that twice "
        "the parts need a quarter of the work.",
        "A pair of an integer is that of two records, 1 <= i < j.",
    )
    return Found(numbers=numbers, attempts=attempts, notes=notes)


SECTION_11 = Replay(
    key="rwn2022-section-11", title="The work of Method 3, and numbered pairs", run=_section_11
)
