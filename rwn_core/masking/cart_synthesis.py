"""CART synthesis: variable after variable is redrawn from the leaves of a regression tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata, value_codes
from rwn_core.data.variable import NUMBERS, Kind
from rwn_core.laws.donors import copy_columns, masked_columns
from rwn_core.laws.invariants import LEVELS_AND_DATES, Keeps
from rwn_core.laws.transition_law import with_numbers
from rwn_core.masking.lever import Lever, LeverRange, range_of_groups
from rwn_core.masking.method import Method, Prepared
from rwn_core.masking.option import name_tuple, require_masked
from rwn_core.neighbors.metric import CODED_LEVELS
from rwn_core.neighbors.record_draws import two_uniforms
from rwn_core.randomness import SELECTION_STREAM, SecretKey

_DIGITS = 9  # of a response: another unit's rounding error must not decide between equal splits
_LEAST_GAIN = 1e-8  # of the response's variance, as synthpop's complexity parameter


@dataclass(frozen=True, slots=True, kw_only=True)
class CARTSynthesis(Method):
    """The parameters of synthesis by classification and regression trees.

    Variables are visited one after the other. A tree predicts each from those visited before, and
    from all that are not to be masked; a released value is that of a random record of the leaf to
    which the row's values drawn so far lead. The first variable is drawn from all records. Missing
    values are drawn like values. Variables of one group take their values from one record.

    Parameters
    ----------
    q : float
        The share of records that are synthesized, from 0 (nothing is masked) to 1; every other
        record is released whole.
    leaf : int
        The smallest number of records in a leaf, at least 1.
    smoothing : float
        The standard deviation of normal noise on each drawn number, in standard deviations of its
        leaf, from 0 to 10. The result is shrunk toward the leaf's mean, so that the leaf's mean
        and variance stay. Counts stay whole.
    visit : tuple of str
        The variables that are visited first, in this order; the others follow in the table's. As
        a text: names with commas.

    Raises
    ------
    ParameterError

    When to use
    -----------
    Where no released row shall be made from one record, and analysts need many relations at once,
    not one model that is known before.

    What it destroys
    ----------------
    Relations that no tree finds: those of variables visited late with many others, small groups
    that are not split off, and links between records. It hides no relation that it keeps: an
    intruder with a person's keys learns of a confidential value what the leaf tells, and an
    outlier's value is released. There is no law, so that it is unknown how well the best intruder
    does: a policy with a limit on the worst case is not kept. Standard errors are too small,
    because the trees are fitted to the same records.

    References
    ----------
    Reiter 2005, "Using CART to generate partially synthetic public use microdata"; Nowok, Raab and
    Dibben 2016 (synthpop); Silverman and Young 1987 on smoothing that keeps the variance.

    Examples
    --------
    >>> CARTSynthesis(leaf=10).q
    1.0
    """

    q: float = 1.0
    leaf: int = 5
    smoothing: float = 0.0
    visit: tuple[str, ...] | str = ()

    method: ClassVar[str] = "cart_synthesis"
    title: ClassVar[str] = "CART synthesis"
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            name="q",
            title="Synthesized records q",
            help="The share of records whose values are all drawn anew; at 0 nothing is masked.",
            presets={"Light": 0.5, "Standard": 1.0, "Strong": 1.0},
        ),
        Lever(
            name="leaf",
            title="Smallest leaf (records)",
            help="A value is drawn from at least so many records; larger leaves keep less.",
            whole_number=True,
            range=range_of_groups,
            presets={"Light": 5, "Standard": 5, "Strong": 20},
        ),
        Lever(
            name="smoothing",
            title="Smoothing (standard deviations of the leaf)",
            help="Noise on drawn numbers; at 0 each is the true number of some record.",
            off=0.0,
            largest=10.0,
            range=LeverRange(low=0.0, high=2.0, step=0.05),
            presets={"Light": 0.0, "Standard": 0.0, "Strong": 0.5},
        ),
    )
    uses_slices: ClassVar[bool] = True
    moves_missing: ClassVar[bool] = True
    keeps: ClassVar[tuple[Keeps, ...]] = (
        Keeps(what="records", when={"q": 0}),
        Keeps(what="support", when={"smoothing": 0}),
        Keeps(what="support", kinds=LEVELS_AND_DATES),
    )

    def check(self, microdata: Microdata) -> None:
        """Refuse a table without variables to mask, and names that are none of them."""
        masked_columns(microdata)
        require_masked(microdata, name_tuple(self.visit))

    def draw(self, table: Prepared, key: SecretKey) -> Microdata:
        """The table with synthesized records."""
        microdata, records = table.microdata, table.records
        selected = two_uniforms(key, records, SELECTION_STREAM)[0] < self.q
        donors = dict[str, Integers]()
        smooth = dict[str, Floats]()
        visited = {v.name: records for v in microdata.schema.released if not v.masked}
        # the variables that are drawn together, in the order of their visit
        together = self.moved_together(microdata)
        first = {name: place for place, name in enumerate(self.visit)}
        units = sorted(together.values(), key=lambda unit: min(first.get(n, 1e9) for n in unit))
        for unit in units:
            # the leaves of a tree on what was visited before, and a record of each row's leaf
            about = unit, tuple(visited), int(self.leaf)
            leaves = table.cached(("leaves", *about), partial(_fitted, microdata, *about))
            chosen = leaves.draw(visited, table.uniforms(key, unit[0])[0])
            visited.update(dict.fromkeys(unit, chosen))
            for name in unit:
                donors[name] = np.where(selected, chosen, records)
                if self.smoothing and microdata.schema.variable(name).kind in NUMBERS:
                    noise = self.smoothing * ndtri(table.uniforms(key, name)[1])
                    drawn = leaves.smoothed(microdata.values(name), chosen, noise, self.smoothing)
                    smooth[name] = np.where(selected, drawn, microdata.values(name))
        released = copy_columns(microdata, donors)
        return with_numbers(released, smooth) if smooth and selected.any() else released

    def law(self, table: Prepared) -> None:
        """A row's chance is the product of its leaves; for some variables alone it has no form."""

    def cautions(self) -> list[str]:
        """Return cautions about this setting."""
        retained = f"At q = {self.q:g} each record is released whole with probability "
        retained += f"{1 - self.q:.2g}; kept records identify."
        true = "Every released number is somebody's true value, extremes included."
        return Method.cautions(self) or [
            *([retained] if self.q < 1 else []),
            *([true] if not self.smoothing else []),
            "A synthesized row may equal a real person's: often where variables have few values, "
            "at leaf = 1 nearly always. Look at True matches.",
            "An intruder with a person's keys learns of a confidential value what the records of "
            f"a leaf, {self.leaf} or more, have in common.",
            "Analysts who treat the release as data take standard errors that are too small.",
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaves:
    """The leaves of one tree with their records."""

    # shape (n,): each record's place in the tree's order of a predictor's values
    columns: Mapping[str, Floats]
    tree: Any  # None where all records are one leaf
    leaf: Integers  # shape (n,): the number of each record's leaf, from 0
    numbers: Integers  # the number of each node of the tree that is a leaf
    # order, starts, sizes: the records leaf by leaf, and where each leaf begins
    order: Integers
    starts: Integers
    sizes: Integers

    def draw(self, donors: Mapping[str, Integers], uniform: Floats) -> Integers:
        """Return a random record of the leaf that each row's values so far lead to, shape (m,)."""
        leaf = np.zeros(len(uniform), dtype=np.int64)
        if self.tree is not None:
            drawn = [column[donors[name]] for name, column in self.columns.items()]
            leaf = self.numbers[self.tree.apply(np.column_stack(drawn).astype(np.float32))]
        return self.order[self.starts[leaf] + (uniform * self.sizes[leaf]).astype(np.int64)]

    def smoothed(self, values: Floats, chosen: Integers, noise: Floats, size: float) -> Floats:
        """Return the chosen values with noise, of the leaf's mean and variance, shape (m,)."""
        known = ~np.isnan(values)
        filled = np.where(known, values, 0.0)
        count = np.maximum(np.bincount(self.leaf, weights=known), 1)
        mean = (np.bincount(self.leaf, weights=filled) / count)[self.leaf]
        apart = np.where(known, values - mean, 0.0)
        spread = np.sqrt(np.bincount(self.leaf, weights=apart**2) / count)[self.leaf]
        moved = apart[chosen] + noise * spread[chosen]
        result = mean[chosen] + moved / np.sqrt(1 + size**2)
        return np.where(spread[chosen] > 0, result, values[chosen])


def _fitted(
    microdata: Microdata, unit: tuple[str, ...], given: tuple[str, ...], least: int
) -> _Leaves:
    """Fit a tree of some variables on those that are drawn before them."""
    parts = chain.from_iterable(_response(microdata, name) for name in unit)
    response = np.column_stack(list(parts))
    columns = {name: _predictor(microdata, name, response) for name in given}
    tree = None
    nodes = np.zeros(microdata.n, dtype=np.int64)
    if columns and microdata.n >= 2 * least and (response != response[0]).any():
        from sklearn.tree import DecisionTreeRegressor

        gain = _LEAST_GAIN * float(response.var(axis=0).mean())
        limits = {"min_samples_leaf": least, "min_impurity_decrease": gain}
        tree = DecisionTreeRegressor(**limits, random_state=0)
        predictors = np.column_stack(list(columns.values())).astype(np.float32)
        nodes = np.asarray(tree.fit(predictors, response).apply(predictors))
    present, leaf = np.unique(nodes, return_inverse=True)
    numbers = np.zeros(int(present.max()) + 1, dtype=np.int64)
    numbers[present] = np.arange(len(present))
    sizes = np.bincount(leaf)
    return _Leaves(
        columns=columns,
        tree=tree,
        leaf=leaf,
        numbers=numbers,
        order=np.argsort(leaf, kind="stable"),
        starts=np.cumsum(sizes) - sizes,
        sizes=sizes,
    )


def _response(microdata: Microdata, name: str) -> Sequence[Floats]:
    """Return the columns that a tree splits: their variance within nodes is the Gini index."""
    if microdata.schema.variable(name).kind is Kind.CATEGORICAL:
        codes, levels = value_codes(microdata, name)
        frequent = np.argsort(-np.bincount(codes, minlength=len(levels)), kind="stable")
        return [(codes == level).astype(np.float64) for level in frequent[:CODED_LEVELS]]
    values = microdata.values(name)
    known = ~np.isnan(values)
    if not known.any():
        return [np.zeros(len(values))]
    scaled = values / max(float(np.abs(values[known]).max()), np.finfo(np.float64).tiny)
    spread = float(scaled[known].std())
    apart = (scaled - scaled[known].mean()) / (spread if spread > 0 else 1.0)
    apart = np.round(apart, _DIGITS)
    missing = [] if known.all() else [(~known).astype(np.float64)]
    return [np.where(known, apart, 0.0), *missing]


def _predictor(microdata: Microdata, name: str, response: Floats) -> Floats:
    """Return each record's place in an order of a variable's values; missing comes last."""
    # Levels are ordered along the first principal component of their mean responses, so that one
    # split of the order parts the levels well (Breiman et al. 1984; Coppersmith et al. 1999).
    codes, _ = value_codes(microdata, name)
    if microdata.schema.variable(name).kind is not Kind.CATEGORICAL:
        return codes.astype(np.float64)
    count = np.bincount(codes)
    centered = response - response.mean(axis=0)
    sums = np.column_stack([np.bincount(codes, weights=column) for column in centered.T])
    means = sums / np.maximum(count, 1)[:, np.newaxis]
    axis = np.linalg.eigh((means * count[:, np.newaxis]).T @ means)[1][:, -1]
    scores = means @ axis
    largest = float(np.abs(scores).max(initial=0.0))
    places = np.unique(np.round(scores / largest, 9) if largest else scores, return_inverse=True)[1]
    return np.asarray(places[codes], dtype=np.float64)
