"""PRAM: categories change at random, by a transition matrix that is known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata, joint_codes, value_codes
from rwn_core.data.variable import LEVELS, Kind
from rwn_core.errors import ParameterError
from rwn_core.laws.donors import copy_columns
from rwn_core.laws.invariants import Keeps
from rwn_core.laws.law import Law
from rwn_core.laws.separate_law import SeparateLaw
from rwn_core.laws.transition_law import Levels, Transition, chosen_anew, chosen_by, within_strata
from rwn_core.laws.transition_matrix import check_transition, is_singular
from rwn_core.masking.lever import Lever, check_share
from rwn_core.masking.method import Method, Prepared
from rwn_core.masking.option import (
    Others,
    kept_as_they_are,
    maskable,
    name_tuple,
    require_masked,
    require_released,
)
from rwn_core.randomness import SecretKey

Rows = tuple[tuple[float, ...], ...]


Spread = Literal["even", "margins"]


def _as_numbers(rows: Iterable[Iterable[Any]]) -> tuple[tuple[float, ...], ...]:
    """Return the rows of a table of probabilities, as numbers."""
    return tuple(tuple(map(float, row)) for row in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class PRAM(Method):
    """The parameters of the post-randomization method.

    Each category changes by itself: level a becomes level b with probability T[a, b]. T is given,
    or it keeps a value with probability 1 - change and else draws it anew. Invariant PRAM adds a
    second stage that keeps the shares v of the levels in expectation: v T = v. Missing values
    stay missing, and no level arises that no record has.

    Parameters
    ----------
    change : float
        The probability that a value is drawn anew, which may give the same: a fraction from 0
        (nothing is masked) to 1, and no percentage. For the variables without a matrix of their
        own.
    spread : {"even", "margins"}
        Drawn anew from all levels alike, or by their shares in the file.
    invariant : bool
        Whether a second stage follows, R = P Q, which changes up to twice as many values; by shares
        none is needed.
    alpha : float
        The share of the change that is carried out, from 0 to 1: alpha R + (1 - alpha) I. Of all
        variables.
    matrices : tuple of (str, rows)
        Transition matrices by variable, of the levels in their order; the rows of true levels sum
        to 1. A mapping is taken too, and its text in JSON.
    variables : tuple of str
        What is changed; by default all categories, or where there are none the counts, whose
        values are levels then. As a text: names with commas.
    within : tuple of str
        Variables that are not changed, such as a region: a value is drawn anew among records that
        are alike in them, from the levels and by the shares of these. As a text: names with commas.
    others : {"keep", "refuse"}
        What happens to other variables, where none are named: they are released unmasked, or
        the table is refused.

    Raises
    ------
    ParameterError

    When to use
    -----------
    For categories, where analysts are given the matrix and estimate true counts with it, or where
    shares must be right without any correction (the invariant form). As shipped it is not
    differentially private, since levels and second stage come from the file. With invariant=False,
    a positive matrix and declared levels (a matrix in the parameters, or levels in the schema and
    spread="even") of at least two records each it is, at the epsilon that the measures state.

    What it destroys
    ----------------
    Relations of changed variables with all others; impossible combinations arise. Rare levels are
    made up by people of frequent ones, so that a released rare level is rarely true. Shares are
    kept in expectation only, and a matrix without an inverse leaves nothing to estimate from.
    Numbers are not masked where there are categories.

    References
    ----------
    Gouweleeuw, Kooiman, Willenborg, de Wolf 1998; Kooiman, Willenborg, Gouweleeuw 1997 for the
    second stage.

    Examples
    --------
    >>> PRAM(change=0.1, matrices={"sex": [[0.9, 0.1], [0.2, 0.8]]}).matrices
    (('sex', ((0.9, 0.1), (0.2, 0.8))),)
    """

    change: float = 0.2
    spread: Spread = "even"
    invariant: bool = True
    alpha: float = 1.0
    matrices: tuple[tuple[str, Rows], ...] | Mapping[str, Any] | str = ()
    variables: tuple[str, ...] | str = ()
    within: tuple[str, ...] | str = ()
    others: Others = "keep"

    method: ClassVar[str] = "pram"
    title: ClassVar[str] = "Post-randomization (PRAM)"
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            name="change",
            title="Categories drawn anew (probability)",
            help="How likely a category is drawn anew; at 0 nothing is masked.",
            presets={"Light": 0.1, "Standard": 0.2, "Strong": 0.5},
        ),
    )
    keeps: ClassVar[tuple[Keeps, ...]] = (
        Keeps(what="records", when={"alpha": 0}),
        Keeps(what="records", when={"change": 0, "matrices": ()}),
        Keeps(what="support", including="within"),
    )

    def check_setting(self) -> None:
        """Check the options that are the method's own."""
        check_share("alpha", self.alpha)
        # the matrices by variable as tuples, however they were stated
        given: Any = self.matrices or ()
        try:
            given = json.loads(given) if isinstance(given, str) else given
            pairs = given.items() if isinstance(given, Mapping) else given
            stated = tuple((str(name), _as_numbers(rows)) for name, rows in pairs)
            if any(len(set(map(len, rows))) > 1 for _, rows in stated):
                raise ValueError("rows of different lengths")
        except (TypeError, ValueError) as error:
            raise ParameterError(
                'matrices must be rows of numbers by variable, such as {"sex": [[0.9, 0.1], [0.2, '
                "0.8]]}."
            ) from error
        for _, rows in stated:
            check_transition(np.array(rows))
        object.__setattr__(self, "matrices", stated)
        if self.within and self.matrices:
            raise ParameterError("matrices are for the whole table; give them or within.")
        if set(self.within) & set(self.variables):
            raise ParameterError("within and variables must not share a variable.")

    @property
    def _given(self) -> dict[str, Floats]:
        # Shapes: each (K, K).
        pairs: Any = self.matrices
        return {name: np.array(rows) for name, rows in pairs}

    def masked_names(self, microdata: Microdata) -> tuple[str, ...]:
        """Return the variables that the method masks on a table."""
        if self.variables:
            return require_masked(microdata, name_tuple(self.variables))
        free = [v for v in microdata.schema.released if v.masked and v.name not in self.within]
        kinds = LEVELS if any(v.kind in LEVELS for v in free) else (Kind.COUNT,)
        if self.within and not any(v.kind in kinds for v in free):
            raise ParameterError("No variable is left to be changed; name fewer in within.")
        names = maskable(microdata, lambda v: v.kind in kinds, self.others, "categories and counts")
        return tuple(name for name in names if name not in self.within)

    def check(self, microdata: Microdata) -> None:
        """Refuse a table without categories, and matrices that do not fit its levels."""
        names = self.masked_names(microdata)
        require_released(microdata, name_tuple(self.within))
        for name, matrix in self._given.items():
            if name not in names:
                raise ParameterError(
                    f"matrices has one for {name}, which is not changed; name it in variables, or "
                    "leave its matrix out."
                )
            count = len(occurring_levels(microdata, name).codes)
            if len(matrix) != count:
                raise ParameterError(
                    f"The matrix of {name} must have {count} rows and columns, one for each level "
                    "that occurs."
                )

    def _part(self, table: Prepared, name: str) -> Transition:
        levels = table.cached(("levels", name), partial(occurring_levels, table.microdata, name))
        given = self._given.get(name)
        variable = table.microdata.schema.variable(name)
        if given is None:
            microdata = table.microdata
            within = name_tuple(self.within)
            strata = np.zeros(microdata.n, dtype=np.int64)
            if within:
                strata = table.cached(("strata", within), lambda: joint_codes(microdata, within))
            how = (self.change, self.spread, self.invariant, self.alpha)
            choice = within_strata(levels, strata, lambda own: chosen_anew(own, *how))
        else:
            choice = chosen_by(levels, given, self.invariant, self.alpha)
        stated = given is not None or (
            self.spread == "even"
            and variable.kind is Kind.CATEGORICAL  # levels of an ordered one may be the file's
            and variable.levels is not None
            and len(variable.levels) == len(levels.codes)
        )
        several = bool((levels.counts > 1).all())
        return Transition(
            original=table.microdata,
            unit=(name,),
            choice=choice,
            by_value=not self.within,
            declared=stated and not self.invariant and not self.within and several,
        )

    def draw(self, table: Prepared, key: SecretKey) -> Microdata:
        """The table with changed categories."""
        microdata = table.microdata
        donors = {}
        for name in self.masked_names(microdata):
            own = value_codes(microdata, name)[0]
            drawn = self._part(table, name).choice.drawn(own, table.uniforms(key, name))
            somebody = np.zeros(int(own.max()) + 1, dtype=np.int64)
            somebody[own] = table.records
            donors[name] = np.where(drawn == own, table.records, somebody[drawn])
        return copy_columns(microdata, donors)

    def law(self, table: Prepared) -> SeparateLaw:
        """Independent transitions of all variables."""
        parts = [self._part(table, name) for name in self.masked_names(table.microdata)]
        return SeparateLaw.of_changes(table.microdata, parts, name_tuple(self.within))

    def matrix(self, microdata: Microdata, name: str) -> Floats:
        """T of one variable over the levels that occur, for estimates: rows are true levels."""
        if self.within:
            raise ParameterError("Under within each stratum has its own matrix; take one of them.")
        levels = occurring_levels(microdata, name)
        return self._part(self.prepare(microdata), name).choice.matrix(levels.own, levels.codes)

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return remarks: variables released unchanged, and counts that cannot be estimated."""
        remarks = kept_as_they_are(microdata, self.masked_names(microdata))
        singular = [name for name, matrix in self._given.items() if is_singular(matrix)]
        if self.change == self.alpha == 1:
            unstated = [n for n in self.masked_names(microdata) if n not in self._given]
            singular += [n for n in unstated if len(occurring_levels(microdata, n).codes) > 1]
        if singular:
            remarks.append(
                f"the matrix of {', '.join(singular)} has no inverse, so nobody can estimate true "
                "counts without bias"
            )
        return remarks

    def cautions(self) -> list[str]:
        """Return cautions about this setting."""
        shares = "Shares of levels are kept in expectation, not exactly; "
        return Method.cautions(self) or [
            (shares if self.invariant or self.spread == "margins" else "Shares of levels change; ")
            + "relations to other variables shrink, and impossible combinations may arise.",
            "Publish the matrices, so that analysts can correct their estimates, but never the "
            "seed.",
        ]


def occurring_levels(microdata: Microdata, name: str) -> Levels:
    """The levels of a variable that occur, in their order, without missing ones."""
    codes, values = value_codes(microdata, name)
    counts = np.bincount(codes, minlength=len(values))
    if values and values[-1] is None:
        counts = counts[:-1]
    return Levels(own=codes, codes=np.flatnonzero(counts), counts=counts[counts > 0])
