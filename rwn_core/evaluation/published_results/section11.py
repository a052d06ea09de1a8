"""Replays the 2022 paper's section 11: the work of Methods 1 to 3, counted, and numbered pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isqrt

import numpy as np

from rwn_core.evaluation.published_results.replay import Attempt, Found, Number, Replay, Request
from rwn_core.neighbors.candidates.pairs import pairs_of, random_pairs
from rwn_core.neighbors.candidates.partition import random_parts
from rwn_core.randomness import SecretKey

N, M = 4096, 64
PARTS = (2, 4, 8, 16)
UNIT = "exponent"
_KEY = SecretKey.from_seed(1)


def growth(work: Callable[[int], float], at: Sequence[int]) -> float:
    """The exponent b for which the work grows as its argument to the power of b.

    Examples
    --------
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

    Examples
    --------
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
        ours = pairs_of(np.array([integer]))
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
    return Found(numbers=numbers, attempts=attempts, unit=UNIT, notes=notes)


SECTION_11 = Replay(
    key="rwn2022-section-11", title="The work of Method 3, and numbered pairs", run=_section_11
)
