"""Which terms of a model are nearly collinear in the original, so that masking cannot hide it.

A design with more columns has no smaller condition number. So a model is nearly collinear if it
holds one of the listed sets, and the smallest sets are enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.measures.comparison import standardized
from rwn_core.measures.statistics.formula import Factor
from rwn_core.measures.statistics.ols import predictor_columns

Term = tuple[Factor, ...]

MOST_CONDITION = 30.0
"""Condition of standardized predictors, beyond which they are nearly collinear (Belsley 1991)."""
RARE = 10  # records of a level, below which a model that names it gets no claim
MOST_COLUMNS = 24  # of a table with examined transforms and products
MOST_SETS = 3_000  # a table with more sets is looked at in less detail
PASSES = 40  # random orders in which plain variables are joined
_BATCH = 20_000
_TRANSFORMS = {"log": np.log, "sqrt": np.sqrt, "square": np.square}


@dataclass(frozen=True, slots=True, kw_only=True)
class TiedTerms:
    """Hold the smallest sets of terms that are nearly collinear in the original."""

    sets: tuple[tuple[Term, ...], ...] = ()
    # {"all", "plain", "none"}: models that hold none of the sets and are known to be
    # well-conditioned. "plain": those of variables as they are. "all": also up to three terms of
    # one variable each (transforms and cubes), and up to three variables as they are with one
    # transform, cube or product of two.
    examined: str = "none"


NOT_EXAMINED = TiedTerms()


def tied_terms(microdata: Microdata) -> TiedTerms:
    """Find the sets of terms that no model of a masked file may hold."""
    names = _modelled(microdata)
    plain: list[Term] = [(Factor(name=name),) for name in names]
    search = _Search(microdata, plain)
    search.join()
    if len(search.found) > MOST_SETS:
        return NOT_EXAMINED
    found = _named(search)
    if search.width > MOST_COLUMNS:
        return TiedTerms(sets=found, examined="plain")
    wider = _Search(microdata, modelled_terms(microdata))
    wider.found = search.found  # plain variables come first in both
    wider.look_at_small(len(plain))
    if len(wider.found) > MOST_SETS:
        return TiedTerms(sets=found, examined="plain")
    return TiedTerms(sets=_named(wider), examined="all")


def _named(search: _Search) -> tuple[tuple[Term, ...], ...]:
    """Return the sets by name, smaller ones first."""
    found = sorted(search.found, key=lambda some: (len(some), sorted(some)))
    return tuple(tuple(search.terms[at] for at in sorted(some)) for some in found)


def term_text(term: Term) -> str:
    """Write a term as a formula has it, every name in backticks."""
    names = [f"{f.transform}(`{f.name}`)" if f.transform else f"`{f.name}`" for f in term]
    return ":".join(sorted(names))


def modelled_terms(microdata: Microdata) -> list[Term]:
    """Return all terms that are looked at: variables, their transforms, cubes, and products."""
    names = _modelled(microdata)
    plain: list[Term] = [(Factor(name=name),) for name in names]
    made = [
        (Factor(name=name, transform=transform),)
        for name in names
        if microdata.schema.variable(name).kind is not Kind.CATEGORICAL
        for transform in _TRANSFORMS
    ]
    cubes = [(Factor(name=f.name), f) for (f,) in made if f.transform == "square"]
    return [*plain, *made, *cubes, *((*a, *b) for a, b in combinations(plain, 2))]


def _modelled(microdata: Microdata) -> list[str]:
    """Return the variables that a formula can name and a reader can take."""
    return [
        variable.name
        for variable in microdata.schema.released
        if variable.kind is not Kind.DATE
        and not set(variable.name) & set("`+*:~")
        and not has_rare_levels(microdata, variable.name)
    ]


class _Search:
    """The search for the smallest sets, in one table; a term is its position in `terms`."""

    def __init__(self, microdata: Microdata, terms: Sequence[Term]) -> None:
        self._original, self.terms = microdata, terms
        parts = [self._made(term) for term in terms]
        ends = np.cumsum([part.shape[1] for part in parts], dtype=np.int64)
        self._own = [range(end - part.shape[1], end) for end, part in zip(ends, parts, strict=True)]
        self._columns = np.column_stack(parts) if parts else np.empty((microdata.n, 0))
        masks, self._mask_of = np.unique(np.isnan(self._columns), axis=1, return_inverse=True)
        self._masks = masks.T
        self.found: set[frozenset[int]] = set()

    @property
    def width(self) -> int:
        """Number of columns of all terms."""
        return int(self._columns.shape[1])

    def _made(self, term: Term) -> NDArray[np.float64]:
        """Return the columns of a term, NaN where it has no value."""
        result = np.ones((self._original.n, 1))
        for factor in term:
            made = predictor_columns(self._original, self._original, factor.name)[1]
            own = np.column_stack(made or [np.zeros(self._original.n)])
            if factor.transform:
                with np.errstate(invalid="ignore", divide="ignore"):
                    own = _TRANSFORMS[factor.transform](own)
            result = np.column_stack([a * b for a in result.T for b in own.T])
        return np.where(np.isfinite(result), result, np.nan)

    def tied(self, sets: Sequence[frozenset[int]]) -> NDArray[np.bool_]:
        """Say of each set whether it is nearly collinear among the records that have it all."""
        result = np.zeros(len(sets), dtype=np.bool_)
        groups: dict[tuple[frozenset[int], int], list[tuple[int, list[int]]]] = {}
        for at, some in enumerate(sets):
            columns = [column for term in some for column in self._own[term]]
            masks = frozenset(int(self._mask_of[column]) for column in columns)
            groups.setdefault((masks, len(columns)), []).append((at, columns))
        for (masks, width), members in groups.items():
            records = ~self._masks[list(masks)].any(axis=0)
            places = np.array([at for at, _ in members])
            if records.sum() <= width:
                result[places] = True
                continue
            wanted = np.array([columns for _, columns in members])
            every, wanted = np.unique(wanted, return_inverse=True)
            wanted = wanted.reshape(len(members), width)
            related = _correlations(self._columns[np.ix_(records, every)])
            for begin in range(0, len(members), _BATCH):
                some_columns = wanted[begin : begin + _BATCH]
                blocks = related[some_columns[:, :, None], some_columns[:, None, :]]
                constant = np.isnan(blocks).any(axis=(1, 2))
                ends = np.linalg.eigvalsh(np.where(np.isnan(blocks), 0.0, blocks))
                known = ends[:, -1] <= MOST_CONDITION**2 * ends[:, 0]
                result[places[begin : begin + _BATCH]] = constant | ~known
        return result

    def _is_tied(self, some: Iterable[int]) -> bool:
        return bool(self.tied([frozenset(some)])[0])

    def join(self) -> None:
        """Join terms in random orders until all join, and keep what is tied on the way."""
        rng = np.random.default_rng(0)
        for _ in range(PASSES):
            joined: list[int] = []
            for term in rng.permutation(len(self.terms)).tolist():
                some = [*joined, term]
                if any(each <= set(some) for each in self.found):
                    continue
                if self._is_tied(some):
                    self.found.add(self._smallest(some))
                else:
                    joined = some
            if len(joined) == len(self.terms) or len(self.found) > MOST_SETS:
                return

    def _smallest(self, some: list[int]) -> frozenset[int]:
        """Drop terms as long as the others are tied."""
        for term in list(some):
            others = [each for each in some if each != term]
            if others and self._is_tied(others):
                some = others
        return frozenset(some)

    def look_at_small(self, plain: int) -> None:
        """Look at all sets that `TiedTerms.examined` names; the first `plain` terms are plain."""
        self.found |= {frozenset({at}) for at in range(len(self.terms)) if self._has_rare_cells(at)}
        single = [
            at for at, term in enumerate(self.terms) if len({factor.name for factor in term}) == 1
        ]
        for size in (1, 2, 3, 4):
            sets = set(map(frozenset, combinations(single, size))) if size < 4 else set()
            for other in range(plain, len(self.terms)):
                sets |= {frozenset((other, *some)) for some in combinations(range(plain), size - 1)}
            left = [some for some in sorted(sets, key=sorted) if not self._holds_one(some)]
            for some, tied in zip(left, self.tied(left), strict=True):
                if tied:
                    self.found.add(some)
            if len(self.found) > MOST_SETS:
                return

    def _holds_one(self, some: frozenset[int]) -> bool:
        sizes = range(1, len(some) + 1)
        return any(frozenset(part) in self.found for s in sizes for part in combinations(some, s))

    def _has_rare_cells(self, at: int) -> bool:
        """True for a product of two categories with a cell of few records."""
        names = [factor.name for factor in self.terms[at]]
        schema = self._original.schema
        if len(names) < 2 or any(
            schema.variable(name).kind is not Kind.CATEGORICAL for name in names
        ):
            return False
        one, other = (self._original.codes(name)[0] for name in names)
        cells = np.zeros((one.max() + 1, other.max() + 1), dtype=np.int64)
        known = (one >= 0) & (other >= 0)
        np.add.at(cells, (one[known], other[known]), 1)
        cells = cells[cells.any(axis=1)][:, cells.any(axis=0)]
        return bool((cells < RARE).any())


def _correlations(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the correlations of columns; NaN for a constant one."""
    constant = np.ptp(columns, axis=0) == 0
    scaled = standardized(np.where(constant, np.arange(len(columns))[:, None], columns))
    result = scaled.T @ scaled / (len(columns) - 1)
    result[constant] = np.nan
    result[:, constant] = np.nan
    return np.asarray(result)


def condition_number(columns: NDArray[np.float64]) -> float:
    """Return the condition of predictors once they are standardized: 1 if none are related."""
    singular = np.linalg.svd(standardized(columns), compute_uv=False)
    return float(singular.max() / singular.min()) if singular.min() > 0 else np.inf


def has_rare_levels(microdata: Microdata, name: str) -> bool:
    """True for a category with a level that few records have."""
    if microdata.schema.variable(name).kind is not Kind.CATEGORICAL:
        return False
    codes, levels = microdata.codes(name)
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    return bool((counts[counts > 0] < RARE).any())
