"""Writes what notices say of ten releases beside what was lost: ``python -m docs.notices``.

What was lost is simulated: further releases of each setting, regressions by the normal equations,
correlations by pandas. Only the loss of relations is the program's own number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from rwn_core.measures import UTILITY
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.intervals import t95
from rwn_core.reporting import ReleasedFile, internal_record, read_record
from rwn_core.reporting.facts import Material
from rwn_core.reporting.facts.outside import OUTSIDE
from rwn_core.reporting.public_words import AMOUNTS, LOST

PAGE = Path(__file__).parent / "explanation" / "notices.md"
SETTINGS: tuple[tuple[str, Any], ...] = (
    ("bodyfat", rwn.RWN(k=5)),
    ("bodyfat", rwn.RWN(epsilon=2.0, k=5)),
    ("bodyfat", rwn.AdditiveNoise(size=0.5)),
    ("pima", rwn.RWN(k=5)),
    ("pima", rwn.RWN(epsilon=3.0, k=15)),
    ("pima", rwn.RankSwapping(p=0.15)),
    ("randhie", rwn.RWN(k=10)),
    ("randhie", rwn.RWN(epsilon=6.0, k=10)),
    ("cps1988", rwn.RWN(k=10)),
    ("cps1988", rwn.RowCopy(k=10)),
)
SIMULATED = 30  # further releases of each setting
_RECORDS = 3000  # random records of the larger tables
_MEASURES = ("marginals", UTILITY, "subgroups", "cells_changed")
_BEGINNING = f"""
<!-- Written by `python -m docs.notices`; change the program, not this file. -->

# What a notice says, beside what was lost

A public notice gives no numbers that describe the original. Here are ten releases with their
notices' words and, beside them, what {SIMULATED} further releases of the same setting lost: the
share of all relations between variables (0 none, 1 all), the mean absolute change of a correlation,
the slope that moved most (in the original's standard errors), and the slope that 95 % intervals
hold least often. Of the two larger tables {_RECORDS:,} random records were masked.

A slope is named if fewer than four in five intervals hold the original's. The last column counts
the slopes for which that differs between the notice and the simulation: only slopes near four in
five can.

| table | setting | relations lost, in words | slopes not to be used | loss | mean change of r | \
largest shift | lowest coverage | differ |
|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Hold what one notice says, and what was lost.

    Attributes
    ----------
    relations : str
        The notice's word for the loss of relations.
    missed : tuple of str
        The slopes that it warns of.
    loss, change, shift : float
    coverage : dict of str to float
        Share of the intervals that hold the original's slope, by predictor.
    """

    table: str
    setting: str
    relations: str
    missed: tuple[str, ...]
    loss: float
    change: float
    shift: float
    coverage: dict[str, float]

    @property
    def differ(self) -> list[str]:
        """The predictors of which notice and simulation say different things."""
        return [n for n, held in self.coverage.items() if (held < 0.8) != (n in self.missed)]

    @property
    def line(self) -> str:
        """A row of the page's table."""
        worst = min(self.coverage, key=lambda name: self.coverage[name])
        cells = (
            self.table,
            self.setting,
            self.relations,
            ", ".join(self.missed) or "none",
            f"{self.loss:.2f}",
            f"{self.change:.3f}",
            f"{self.shift:.1f} SE",
            f"{100 * self.coverage[worst]:.0f} % ({worst})",
            str(len(self.differ)),
        )
        return f"| {' | '.join(cells)} |"


def table_of(name: str) -> rwn.Microdata:
    """Return a demo table, or random records of a large one."""
    data = rwn.load_demo(name)
    if data.n <= _RECORDS:
        return data
    return data.take(np.sort(np.random.default_rng(1).choice(data.n, _RECORDS, replace=False)))


def row(name: str, params: Any, simulated: int = SIMULATED) -> Row:
    """Make one release with its notice, and simulate what is lost.

    Parameters
    ----------
    name : str
        Of a demo table.
    params : Method
    simulated : int
        Further releases.
    """
    data = table_of(name)
    release = rwn.mask(data, params)
    text = internal_record(data, release, ReleasedFile.of(b"", "csv"), measures=_MEASURES)
    material = Material(record=read_record(text))
    own, terms = _regression(data, data)
    before = _correlations(data)
    losses, changes, fits = [], [], []
    for seed in range(1, simulated + 1):
        further = rwn.mask(data, params, seed=10_000 + seed)
        reading = rwn.audit(data, further, measures=[UTILITY])[UTILITY]
        assert isinstance(reading, Reading)
        losses.append(reading.value)
        changes.append(np.nanmean(np.abs(_correlations(further.masked) - before)))
        fits.append(_regression(data, further.masked)[0])
    slopes, errors = np.array(fits).transpose(1, 0, 2)
    held = (np.abs(slopes - own[0]) <= t95(data.n - len(terms) - 1) * errors).mean(axis=0)
    coverage: dict[str, float] = {}
    for term, share in zip(terms, held.tolist(), strict=True):
        coverage[term] = min(share, coverage.get(term, 1.0))
    words = rwn.Setting(params=params).words
    return Row(
        table=name,
        setting=words if words.startswith(params.title) else f"{params.method.upper()}: {words}",
        relations=relations_word(material),
        missed=missed(material.record),
        loss=float(np.mean(losses)),
        change=float(np.mean(changes)),
        shift=float(np.abs((slopes.mean(axis=0) - own[0]) / own[1]).max()),
        coverage=coverage,
    )


def relations_word(material: Material) -> str:
    """Return the notice's word for the loss of relations."""
    make = next(entry.make for entry in OUTSIDE if entry.key == "loss")
    assert make is not None
    table = make(material).table
    assert table is not None
    word = next(str(amount) for lost, amount in table.rows if lost == LOST[UTILITY])
    assert word in AMOUNTS
    return word


def missed(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the slopes that the notice warns of, read from its own sentence."""
    make = next(entry.make for entry in OUTSIDE if entry.key == "errors")
    assert make is not None
    first, last = "Intervals from this file miss the original slope of ", " more often than"
    found = [line for line in make(Material(record=record)).lines if line.startswith(first)]
    return tuple(found[0].removeprefix(first).partition(last)[0].split(", ")) if found else ()


def _correlations(table: rwn.Microdata) -> np.ndarray[Any, Any]:
    frame = table.frame[list(table.numeric_names)].astype(float)
    matrix = frame.corr().to_numpy()
    return np.asarray(matrix[np.triu_indices(len(matrix), 1)])


def _regression(
    original: rwn.Microdata, table: rwn.Microdata
) -> tuple[np.ndarray[Any, Any], list[str]]:
    """The slopes and their standard errors, shape (2, t), and the predictor of each."""
    question = original.schema.question
    assert question is not None
    columns, terms = [], []
    for name in question.predictors:
        levels = original.codes(name)[1] if name not in original.numeric_names else []
        texts = table.frame[name]
        for level in levels[1:]:
            columns.append((texts == level).to_numpy(float))
        if not levels:
            columns.append(texts.to_numpy(float))
        terms += [name] * max(len(levels) - 1, 1)
    x = np.column_stack([np.ones(table.n), *columns])
    y = pd.to_numeric(table.frame[question.response]).to_numpy(float)
    known = ~np.isnan(np.column_stack([x, y])).any(axis=1)
    x, y = x[known], y[known]
    inverse = np.linalg.inv(x.T @ x)
    slopes = inverse @ x.T @ y
    rest = y - x @ slopes
    errors = np.sqrt(np.diag(inverse) * (rest @ rest) / (len(y) - len(slopes)))
    return np.array([slopes[1:], errors[1:]]), terms


def page(rows: Sequence[Row]) -> str:
    """The page's text."""
    return _BEGINNING.lstrip() + "\n".join(each.line for each in rows) + "\n"


def main() -> None:
    """Make all releases, and write the page."""
    PAGE.write_text(page([row(name, params) for name, params in SETTINGS]), encoding="utf-8")


if __name__ == "__main__":
    main()
