"""Singling out: conditions read off the release that exactly one original person fulfills."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.aligned import codes, numbers
from rwn_core.measures.attacks.guessing import canonical_sample, guess_reading
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import beyond_a_guess

VARIABLES = 3  # conditions in a predicate
ATTACKS = 400
_SEED = 90


def _columns(comparison: Comparison, table: Microdata) -> tuple[NDArray[np.float64], list[bool]]:
    """All variables of a table as numbers, NaN where missing, and which of them have an order."""
    original = comparison.original
    columns, ordered = [], []
    for variable in original.schema.released:
        if variable.kind is Kind.CATEGORICAL:
            code = codes(original, table, variable.name)[0]
            columns.append(np.where(code < 0, np.nan, code.astype(np.float64)))
        else:
            columns.append(numbers(original, table, variable.name))
        ordered.append(variable.kind is not Kind.CATEGORICAL)
    return np.column_stack(columns), ordered


class Conditions:
    """Predicates of three conditions each: a category, or beyond a number on its far side.

    Parameters
    ----------
    values : ndarray of float64, shape (m, p)
        One row for each predicate.
    chosen : ndarray of int64, shape (m, VARIABLES)
    ordered : list of bool, length p
    middle : ndarray of float64, shape (p,)
        Medians: a value above its median asks for at least as much.
    """

    def __init__(
        self,
        values: NDArray[np.float64],
        chosen: NDArray[np.int64],
        ordered: list[bool],
        middle: NDArray[np.float64],
    ) -> None:
        self.values, self.chosen, self.ordered, self.middle = values, chosen, ordered, middle

    def counts(self, table: NDArray[np.float64]) -> NDArray[np.int64]:
        """How many records of a table fulfill each predicate, shape (m,)."""
        fits = np.ones((len(self.values), len(table)), dtype=bool)
        for number in range(self.chosen.shape[1]):
            column = self.chosen[:, number]
            asked = self.values[np.arange(len(column)), column][:, None]
            known = table[:, column].T
            middle = self.middle[column][:, None]
            order = np.array(self.ordered)[column][:, None]
            beyond = np.where(asked >= middle, known >= asked, known <= asked)
            fits &= np.where(order, beyond, known == asked)
        return np.asarray(fits.sum(axis=1), dtype=np.int64)


def compute(comparison: Comparison) -> Reading:
    """Risk that conditions unique in the release single out an original, beyond the control."""
    released, ordered = _columns(comparison, comparison.masked)
    original, _ = _columns(comparison, comparison.original)
    rows = canonical_sample(comparison.masked, ATTACKS)
    generator = np.random.default_rng(_SEED)
    width = released.shape[1]
    chosen = np.array(
        [
            generator.choice(width, min(VARIABLES, width), replace=False)
            for _ in range(max(len(rows), 1))
        ]
    )
    known = ~np.isnan(released).all(axis=0)
    middle = np.zeros(width)
    middle[known] = np.nanmedian(released[:, known], axis=0)
    attack = Conditions(released[rows], chosen, ordered, middle)
    alone = attack.counts(released) == 1
    if not alone.any():
        raise NotApplicable("No conditions that were tried single out a released record.")
    guess = Conditions(_guesses(released[rows], generator), chosen, ordered, middle)
    control = None
    if comparison.holdout is not None:
        held, _ = _columns(comparison, comparison.holdout)
        # a control group of another size meets a predicate more or less often by chance alone
        control = (float((attack.counts(held)[alone] == 1).sum()), int(alone.sum()))
    success = float((attack.counts(original)[alone] == 1).sum())
    return guess_reading(
        (success, int(alone.sum())),
        control,
        float((guess.counts(original) == 1).mean()),
        tried=len(rows),
        variables=int(chosen.shape[1]),
    )


def _guesses(values: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    """Each variable shuffled by itself: its values are known, their relations are not."""
    return np.column_stack([column[generator.permutation(len(column))] for column in values.T])


MEASURE = Measure(
    key="singling_out",
    title="Singling out",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="risk beyond control",
    question="How often do three conditions that fit one released row fit exactly one original "
    "person, more often than among people who are not in the file?",
    sentence=beyond_a_guess(
        "Conditions read off the release single people out",
        "It assumes somebody who has nothing but the release, neither anybody's values nor the "
        "method.",
    ),
    source="Giomi et al. 2023 (multivariate attack); without a control group, beyond a "
    "random guess",
    compute=compute,
)
