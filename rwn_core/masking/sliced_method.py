"""Slices of a row by prediction, or tied: the levers of every method that draws from donors.

Later slices come from records that are predicted as the row is; ties let slices know each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.data.regression import product_terms
from rwn_core.data.variable import check_count
from rwn_core.errors import ParameterError
from rwn_core.laws.cell_law import CellLaw, Predicted
from rwn_core.laws.law import Law
from rwn_core.masking.neighborhood_method import CellMethod
from rwn_core.neighbors import Neighborhoods

_Record = TypeVar("_Record")

MOST_UNITS = 40  # that one or two factors tie
BALANCED = 1e-6  # of the sums of columns: rounding of a balance that is reached

PREDICTED = (
    "A later slice is drawn from people for whom the other columns predict about the same values "
    "of it. An intruder learns of a row's source from the first slice only. Main effects, and the "
    "products that you name, keep most of their size; relations that the prediction does not "
    "contain fade.",
    "Linkage is no longer the risk to watch: it falls to 1 in n while relations stay, as with "
    "whole rows of other people. Judge slices by prediction by attribute gain and true matches.",
)
NEAR_ALL_LEFT = (
    "Slices are no longer chained near in all variables (chain = true); set by_prediction = true, "
    "which keeps more of their relations, or tie = true."
)
_NOT_PROMISED = (
    "Not promised: interactions, squares and thresholds that are not in terms; a spread of the "
    "response that depends on the row beyond its prediction; extremes of a far record's response "
    "near its own values; exact slopes; anything on the people shown.",
)
# of `python -m benchmarks strongest`: what is learned of one response, in nats of 1.7
_STRONGEST = (
    "This is no differential privacy. Who knows all records but one response, the law, and which "
    "first slice each row shows, learns {} nats of 1.7 about that response in a test with 70 "
    "records and 8 levels, and .05 from slices apart.{}"
)
_LEARNED_OF_TIES = ".12"
_LEARNED_BY_PREDICTION = ".89"
_NOT_FOR = (
    " So it is not for people whose answer must stay hidden from somebody who knows all other "
    "records."
)
TIED = (
    "Slices are drawn tied: each slice is what it was, and a share of the relations between slices "
    "is kept that drawing them apart would lose; it stands above the picture. Relations finer than "
    "one direction a slice are not.",
)
_OF_TIE = (
    "slices are drawn tied: each slice is what it was, and {:.0%} of the relations between slices "
    "are kept that drawing them apart would lose; relations finer than one direction a slice are "
    "not"
)
_FEW = "Below 20 records a later slice often shows a few people only; take later = 20 or more."
_MIXED = (
    "A later slice may hold identifying variables with a confidential one, so that true keys and a "
    "true fragment of another person stand in one row: on bodyfat nearest rows then named the "
    "response for 59 % more of the people inside the file than of those outside."
)
LEAST_KEPT = 0.9  # of slopes, below which a remark says how to keep more
SMALL = 100  # records, below which fewer donors are advised
SMALL_LATER = 10
LEAST_LATER = 20  # donors of a later slice, below which one often shows a few people only


def slice_words(params: object) -> list[str]:
    """Return what is said of slices that are drawn by prediction or tied; nothing of others."""
    if getattr(params, "by_prediction", False):
        return [*PREDICTED]
    return [*TIED] if getattr(params, "tie", False) else []


def prediction_words(predicted: Predicted) -> list[str]:
    """Return remarks on a slice that was drawn by prediction."""
    names = ", ".join(predicted.names)
    if np.isnan(predicted.kept):
        return [f"nothing in the earlier slices predicts {names}, so that it is drawn evenly"]
    products = f" and {', '.join(predicted.terms)}" if predicted.terms else ""
    kept = min(predicted.kept, 1.0)
    said = [
        f"{names} is drawn by prediction from {', '.join(predicted.regressors)}{products}: slopes "
        f"keep about {kept:.0%} of their size, and relations that the prediction does not contain "
        "fade"
    ]
    if predicted.kept < LEAST_KEPT:
        said.append(f"fewer than later = {predicted.later}, or more records, keep more of slopes")
    if predicted.columns > predicted.records / 2:
        said.append("more columns than half of the records: the prediction is mostly noise")
    if predicted.records < SMALL and predicted.later > SMALL_LATER:
        said.append(f"below {SMALL} records later = {SMALL_LATER} keeps more of slopes")
    return said


def imbalance_words(error: float, kept: float | None = None) -> list[str]:
    """Return remarks on a balance that misses its sums by so much, and on what ties keep."""
    missed = (
        f"balance is not reached: some records give {error:.2g} more or less often than they should"
    )
    return ([missed] if error > BALANCED else []) + ([] if kept is None else [_OF_TIE.format(kept)])


def own_parameters_first(cls: type[_Record]) -> type[_Record]:
    """Let a record list its own parameters before those that it shares with others."""
    known: Any = cls
    named = known.__dataclass_fields__
    own = {name: named[name] for name in named if name in cls.__annotations__}
    known.__dataclass_fields__ = own | named
    return cls


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SlicedMethod(CellMethod):
    """A method whose slices may be drawn by prediction or tied.

    Parameters
    ----------
    by_prediction : bool
        Whether later slices of a row come from records for which the earlier slices predict, by
        least squares, about the same values of the later one, and not from its own neighborhood.
        Then only the first slice says from which record a row comes. Slopes of a later slice on
        earlier ones stay, and relations that the prediction does not contain fade. It needs two
        slices or more, q = 1 and all variables masked, and no identifying variable in a later
        slice. Linkage is then low for almost any setting, so that limits on attribute gain and
        true matches have to be set.
    later : int
        By prediction: how many nearest records a later slice is drawn from, at least 5. No record
        is its donor with a probability above 1 / later, where records balance.
    later_balance : bool
        By prediction: whether every record gives each later slice equally often, as balance=1 does
        for the first.
    order : sequence of str
        By prediction: variables whose slices come first, in this order. Left out, or for the
        others: slices with keys, then those most correlated with what is before, and last those
        with confidential variables.
    mixed : bool
        By prediction: whether a later slice may hold an identifying variable. It is refused
        otherwise, because a true key and a true fragment of another person then stand in one row.
    terms : str
        By prediction: products and squares that predict besides the variables themselves, such as
        "age:bmi + square(age)". Those with variables of later slices are left out. Those of a
        stated regression whose response is in the slice join by themselves; the release says so.
    tie : bool
        Whether the slices of a row are drawn tied: where one takes a donor with high values among
        the neighbors, so do the others. Each slice alone is what it was; q must be 1, and there
        must be two slices or more.
    tie_factors : {1, 2}
        Number of latent factors that tie the slices.
    """

    by_prediction: bool = False
    later: int = 20
    later_balance: bool = True
    order: tuple[str, ...] | str = ()
    mixed: bool = False
    terms: str = ""
    tie: bool = False
    tie_factors: int = 1

    formulas: ClassVar[tuple[str, ...]] = ("terms",)
    gone: ClassVar[Mapping[str, str]] = dict.fromkeys(("chain", "near"), NEAR_ALL_LEFT)

    def __repr__(self) -> str:
        """Name the parameters in the order in which the record lists them."""
        given = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self))
        return f"{type(self).__qualname__}({', '.join(given)})"

    def for_fewer(self, records: int) -> Self:
        """Return the setting for fewer records: a later slice has a third of them at most.

        Fewer donors mask less: of 200 records with 10, 16 and 33 donors attribute gain read .054,
        .048 and .030, with a standard error of .01.
        """
        if 3 * self.later <= records:
            return self
        return replace(self, later=records // 3)

    def check_slices(self) -> None:
        """Refuse chains and ties of no meaning, whatever the table."""
        check_count("later", self.later, least=5)
        if self.by_prediction and self.q != 1:
            raise ParameterError(
                "Slices by prediction need q = 1, because a value that stays shows from which "
                "record it comes; own = true, of soft neighborhoods, lets a record keep its first "
                "slice."
            )
        if not isinstance(self.terms, str):
            raise ParameterError("terms must be a text, such as age:bmi + square(age).")
        if self.terms.strip() and not self.by_prediction:
            raise ParameterError("terms are for slices by prediction; set by_prediction = true.")
        product_terms(self.terms)
        if self.tie and self.by_prediction:
            raise ParameterError(
                "Slices are drawn by prediction or tied, not both; leave out by_prediction or tie."
            )
        if self.tie and self.q < 1:
            raise ParameterError(
                "Ties need q = 1; own = true, of soft neighborhoods, lets records keep values."
            )
        if self.tie_factors not in (1, 2):
            raise ParameterError("tie_factors must be 1 or 2: more could be recognized.")

    @property
    def fixed_neighborhoods(self) -> bool:
        """True if slices do not depend on each other's draws."""
        return not self.by_prediction

    def check(self, microdata: Microdata) -> None:
        """Refuse a table without slices to tie."""
        CellMethod.check(self, microdata)
        if self.tie:
            self.tied_units(microdata)

    def tied_units(self, microdata: Microdata) -> list[tuple[str, ...]]:
        """Return the slices that are tied: those of masked variables."""
        units = list(self.moved_together(microdata).values())
        if not 2 <= len(units) <= MOST_UNITS:
            raise ParameterError(
                f"Ties need from 2 to {MOST_UNITS} slices; this table has {len(units)}."
            )
        return units

    def law(self, microdata: Microdata, neighborhoods: Neighborhoods) -> CellLaw:
        """The exact law of this setting on this table."""
        if not self.tie:
            return CellMethod.law(self, microdata, neighborhoods)
        from rwn_core.laws.tied_law import FittedTie, TiedLaw, fitted_records

        some = fitted_records(microdata.fingerprint, microdata.n)
        listed = neighborhoods.table.numbers
        fits = listed is None or np.array_equal(listed, some)
        q = self.draw_probability(microdata)
        rule = self.rule(microdata)
        found = neighborhoods if fits else rule.find(microdata)
        fitted = FittedTie.fit(microdata, self.tied_units(microdata), found, self.tie_factors, some)
        return TiedLaw(microdata, neighborhoods, q, rule, fitted)

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return remarks on a balance that is not reached and on weights by the table's size."""
        later = {} if law is None else law.later
        found = [law and law.neighborhoods, *(each.neighborhoods for each in later.values())]
        error = max((each.imbalance for each in found if each), default=0.0)
        kept = law.tied.fitted.kept if law is not None and law.tied is not None else None
        said: list[str] = []
        for each in () if law is None else law.predicted:
            said += prediction_words(each)
        return [*imbalance_words(error, kept), *said, *CellMethod.remarks(self, microdata, law)]

    def slice_cautions(self) -> list[str]:
        """Return cautions about slices by prediction and tied ones."""
        if self.tie:
            return [_STRONGEST.format(_LEARNED_OF_TIES, "")]
        if not self.by_prediction:
            return []
        texts = [*PREDICTED, *_NOT_PROMISED, _STRONGEST.format(_LEARNED_BY_PREDICTION, _NOT_FOR)]
        if self.later < LEAST_LATER:
            texts.append(_FEW)
        if self.mixed:
            texts.append(_MIXED)
        return texts
