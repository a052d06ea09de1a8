"""What is timed, and against which rival."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

import rwn_core as rwn
from benchmarks.bench import Pair, bench
from benchmarks.tables import mixed, radius_of, survey
from rwn_core.laws.cell_law import CellLaw
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.tuning import evaluate
from rwn_ui.state.results import PreparedTable

QUERIES = 2_000


def _table(n: int, p: int) -> rwn.Microdata:
    names = [f"v{i}" for i in range(p)]
    return rwn.Microdata.from_frame(pd.DataFrame(mixed(n, p), columns=names))


def _masking(n: int, p: int, size: int) -> Pair:
    """Mask a table with a given mean neighborhood; the rival counts members of some records."""
    points = np.ascontiguousarray(mixed(n, p))
    epsilon, data, tree = radius_of(points, size), _table(n, p), cKDTree(points)
    some = points[np.random.default_rng(7).choice(n, QUERIES, replace=False)]
    method = rwn.RWN(epsilon=epsilon, k=5)
    return Pair(
        work=lambda: rwn.mask(data, method, seed=1, threads=1),
        rival=lambda: tree.query_ball_point(some, epsilon, return_length=True, workers=1),
        rival_share=QUERIES / n,
    )


for _n, _least in ((100_000, 12.0), (1_000_000, 12.0)):
    bench(f"mask {_n} x 10", rival="cKDTree, counting only", least=_least)(
        partial(_masking, _n, 10, 100)
    )


@bench("mask 100000 x 10 soft", rival="even neighborhoods of 100", least=0.15)
def _soft_masking() -> Pair:
    points = np.ascontiguousarray(mixed(100_000, 10))
    data = _table(100_000, 10)
    even, soft = rwn.RWN(epsilon=radius_of(points, 100), k=5), rwn.SoftRWN(kernel="gaussian")
    return Pair(
        work=lambda: rwn.mask(data, soft, seed=1, threads=1),
        rival=lambda: rwn.mask(data, even, seed=1, threads=1),
    )


def _auditing(n: int) -> Pair:
    """Read all measures of a release of a table that nothing is known of; the rival masks it."""
    data = _table(n, 10)
    points = np.ascontiguousarray(mixed(n, 10))
    method = rwn.RWN(epsilon=radius_of(points, min(100, n // 20)), k=5)
    release = rwn.mask(data, method, seed=1)

    def audit() -> object:
        return rwn.audit(rwn.Microdata.from_frame(data.frame), release)

    return Pair(work=audit, rival=lambda: rwn.mask(data, method, seed=1))


for _n, _times in ((1_000, 10), (10_000, 30)):
    bench(f"audit {_n} x 10", rival="masking", least=1 / _times)(partial(_auditing, _n))


def _two_slices(data: rwn.Microdata) -> rwn.Microdata:
    """Return a table with its last variable, or the response of its regression, apart."""
    names = [variable.name for variable in data.schema.released]
    last = data.schema.question.response if data.schema.question else names[-1]
    return data.with_slices([[name for name in names if name != last]])


KINDS = {
    "by prediction": ("by_prediction", 3.0, 4.0),
    "tied": ("tie", 1.3, 1.5),
}  # at most, a move and masking


def _priced(demo: str, option: str, balance: float, *, read: bool) -> Pair:
    """Draw, and read, at another width: slices by prediction or tied, and the same kernel apart."""
    data = _two_slices(rwn.load_demo(demo))
    base = rwn.SoftRWN(kernel="exponential", bandwidth="absolute", own=True, balance=balance)

    def moves(**options: bool) -> Callable[[], object]:
        positions, params = count(), replace(base, **options)
        table = PreparedTable.prepare(data, params=params)
        ready = params.preview(data)

        def move() -> object:
            # what ties remember of a width must not be that of another benchmark
            width = (2.5 if read else 2.0) * (1 + next(positions) % 10 / 100)
            if read:
                return table.release(replace(params, width=width), 1).readings
            return ready.with_levers(width=width).release(rwn.SecretKey.from_seed(1))

        return move

    plain = {} if balance or option == "tie" else {"later_balance": False}
    return Pair(work=moves(**{option: True}, **plain), rival=moves())


def _priced_masking(option: str) -> Pair:
    """Mask 100,000 records in two slices: by prediction or tied, and the same kernel apart."""
    data = _two_slices(_table(100_000, 10))
    base = rwn.SoftRWN(kernel="gaussian", balance=1.0)
    return Pair(
        work=lambda: rwn.mask(data, replace(base, **{option: True}), seed=1, threads=1),
        rival=lambda: rwn.mask(data, base, seed=1, threads=1),
    )


for _kind, (_option, _move_most, _mask_most) in KINDS.items():
    for _demo in ("bodyfat", "pima"):
        for _balance, _words in ((1.0, ""), (0.0, " without balance")):
            for _read, _what in ((False, "draw"), (True, "move")):
                bench(
                    f"by prediction and tied: {_what} {_kind} {_demo}{_words}",
                    rival="the same kernel apart",
                    least=round(1 / _move_most, 3),
                )(partial(_priced, _demo, _option, _balance, read=_read))
    bench(
        f"by prediction and tied: mask 100000 x 10 {_kind}",
        rival="the same kernel apart",
        least=round(1 / _mask_most, 3),
    )(partial(_priced_masking, _option))


def _move(demo: str, even: dict[str, float]) -> Pair:
    """Draw and read at another position of a slider: of the width, and of the radius."""
    data, positions = rwn.load_demo(demo), count()

    def moves(method: str, first: dict[str, float], lever: str) -> Callable[[], object]:
        table = PreparedTable.prepare(data, params=rwn.METHODS[method](**first))

        def move() -> object:
            levers = {**first, lever: first[lever] * (1 + next(positions) % 10 / 100)}
            return table.release(rwn.METHODS[method](**levers), 1).readings

        return move

    return Pair(
        work=moves("soft_rwn", {"width": 1.0}, "width"), rival=moves("rwn", even, "epsilon")
    )


for _demo, _even in (("bodyfat", {"epsilon": 2.0, "k": 5}), ("randhie", {"epsilon": 0.4, "k": 5})):
    bench(f"slider move {_demo} soft", rival="the even kernel", least=0.4)(
        partial(_move, _demo, _even)
    )


def _worst_case(demo: str, epsilon: float, rows: int) -> Pair:
    data = rwn.load_demo(demo)
    release = rwn.mask(data, rwn.RWN(epsilon=epsilon, k=5), seed=7)
    law = release.law
    assert isinstance(law, CellLaw)

    def linkage() -> None:
        fresh = CellLaw(data, law.neighborhoods, law.q)
        comparison = Comparison(original=data, masked=release.masked, law=fresh)
        MEASURES["bayes_linkage"].compute(comparison)

    tables = {each.name: law.table(each.name) for each in data.schema.released}
    places = {name: {v: i for i, v in enumerate(table[1])} for name, table in tables.items()}

    def formula() -> None:
        """Multiply P(released value | record) pair by pair, as the formula stands."""
        for row in range(rows):
            likelihood = np.ones(data.n)
            for name, (chances, _) in tables.items():
                column = places[name][release.masked.frame[name].iloc[row]]
                for record in range(data.n):
                    likelihood[record] *= chances[record, column]

    return Pair(work=linkage, rival=formula, rival_share=rows / data.n)


bench("worst case bodyfat", rival="a loop over all pairs", least=50)(
    partial(_worst_case, "bodyfat", 2.0, 5)
)
bench("worst case pima", rival="a loop over all pairs", least=50)(
    partial(_worst_case, "pima", 2.0, 5)
)


@bench("category of 500 levels", rival="the table with 2 levels", least=0.33)
def _many_levels() -> Pair:
    numbers = np.random.default_rng(3)
    frame = pd.DataFrame(mixed(20_000, 5), columns=list("abcde"))

    def masked(levels: int) -> Callable[[], object]:
        codes = numbers.integers(0, levels, len(frame))
        data = rwn.Microdata.from_frame(frame.assign(level=[f"L{code}" for code in codes]))
        return lambda: rwn.mask(data, rwn.RWN(epsilon=0.5, k=5), seed=1, threads=1)

    return Pair(work=masked(500), rival=masked(2))


@bench("dataset of 300000 rows", rival="the table in memory", least=0.2)
def _dataset() -> Pair:
    folder = tempfile.TemporaryDirectory()
    path, table = Path(folder.name), _table(300_000, 10)
    (path / "in").mkdir()
    table.frame.to_parquet(path / "in" / "0.parquet", index=False)
    method, count = rwn.RWN(epsilon=1.2, k=5), iter(range(1000))

    def files() -> None:
        options = rwn.RunOptions(workers=1)
        target = Path(folder.name) / f"out{next(count)}"
        rwn.mask_dataset(path / "in", target, method, seed=1, options=options)

    return Pair(work=files, rival=lambda: rwn.mask(table, method, seed=1, threads=1))


class _Answered(Exception):
    """A search has an answer."""


class _UntilAnswered:
    """Ends a search at its first answer."""

    def __call__(self, share: float) -> None:
        """Take in the share done."""

    def found(self, answer: object) -> None:
        """Take in an answer so far."""
        raise _Answered


@bench("find 8400 x 23", rival="one reading of all limits", least=0.5, most_s=60)
def _first_answer() -> Pair:
    """The first answers of a search and of a slice search, one after the other."""
    data, policy = survey(8_400), rwn.Policy()
    setting = rwn.Setting.of("rwn", {"epsilon": 8, "k": 20}).resolved(data)

    def answered() -> None:
        with suppress(_Answered):
            rwn.search(data, policy, progress=_UntilAnswered())
        with suppress(_Answered):
            ranges = rwn.SliceRanges(weights=False)
            rwn.seek_slices(data, policy, ranges=ranges, workers=1, progress=_UntilAnswered())

    def read() -> object:
        return evaluate(data, setting, (1,), policy.measures)

    return Pair(work=answered, rival=read)
