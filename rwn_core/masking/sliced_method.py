"""Slices of a row that are chained or tied: the levers of every method that draws from donors.

A chain draws each later slice near to what the row already shows; ties let slices know each other.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.data.regression import product_terms
from rwn_core.data.variable import check_count
from rwn_core.errors import ParameterError
from rwn_core.laws.cell_law import CellLaw, Predicted
from rwn_core.laws.law import Law
from rwn_core.masking.neighborhood_method import CellMethod, Near
from rwn_core.neighbors import Neighborhoods

_Record = TypeVar("_Record")

MOST_UNITS = 40  # that one or two factors tie
BALANCED = 1e-6  # of the sums of columns: rounding of a balance that is reached

CHAINED = (
    "Later slices are drawn near to what the row already shows. An intruder learns of a row's "
    "source from the first slice only. The other slices are those of people who resemble the row, "
    "not of the source.",
    "Linkage is no longer the risk to watch: it falls to 1 in n while relations stay, as with "
    "whole rows of other people. Judge a chain by attribute gain and true matches.",
)
PREDICTED = (
    "A later slice is drawn from people for whom the other columns predict about the same values "
    "of it. An intruder learns of a row's source from the first slice only. Main effects, and the "
    "products that you name, keep most of their size; relations that the prediction does not "
    "contain fade.",
    CHAINED[1],
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
_LEARNED = {"all": 0.19, "prediction": 0.89, "tied": 0.12}
_MUCH = 0.2  # nats
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
    "A later slice may hold a confidential variable with several keys, so that near keys and a "
    "true fragment stand in one row: on bodyfat nearest rows then named the response for 59 % more "
    "of the people inside the file than of those outside."
)
LEAST_KEPT = 0.9  # of slopes, below which a remark says how to keep more
SMALL = 100  # records, below which fewer donors are advised
SMALL_LATER = 10


def slice_words(params: object) -> list[str]:
    """Return what is said of slices that are chained or tied; nothing of others."""
    if getattr(params, "chain", False):
        return [*(PREDICTED if getattr(params, "near", "") == "prediction" else CHAINED)]
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
    """A method whose slices may be chained or tied.

    Parameters
    ----------
    chain : bool
        Whether later slices of a row come from records near to what its earlier slices show, and
        not from its own neighborhood. Then only the first slice says from which record a row comes.
        It needs two slices or more, q = 1 and all variables masked. Linkage is then low for almost
        any setting, so that limits on attribute gain and true matches have to be set.
    later : int
        For a chain: how many nearest records a later slice is drawn from, at least 5. No record is
        its donor with a probability above 1 / later, where records balance.
    later_balance : bool
        For a chain: whether every record gives each later slice equally often, as balance=1 does
        for the first.
    order : sequence of str
        For a chain: variables whose slices come first, in this order. Left out, or for the others:
        slices with keys, then those most correlated with what is before, and last those with
        confidential variables.
    mixed : bool
        For a chain: whether a later slice may hold a confidential variable and several keys, or by
        prediction an identifying variable. It is refused otherwise, because near keys and a true
        fragment then stand in one row.
    near : {"all", "prediction"}
        For a chain: near in all variables of the earlier slices, or in what they predict for the
        later slice by least squares. By prediction slopes of a later slice on earlier ones stay,
        and relations that the prediction does not contain fade. No identifying variable may then
        stand in a later slice.
    terms : str
        For near="prediction": products and squares that predict besides the variables themselves,
        such as "age:bmi + square(age)". Those with variables of later slices are left out. Those of
        a stated regression whose response is in the slice join by themselves; the release says so.
    tie : bool
        Whether the slices of a row are drawn tied: where one takes a donor with high values among
        the neighbors, so do the others. Each slice alone is what it was; q must be 1, and there
        must be two slices or more.
    tie_factors : {1, 2}
        Number of latent factors that tie the slices.
    """

    chain: bool = False
    later: int = 20
    later_balance: bool = True
    order: tuple[str, ...] | str = ()
    mixed: bool = False
    near: Near = "all"
    terms: str = ""
    tie: bool = False
    tie_factors: int = 1

    formulas: ClassVar[tuple[str, ...]] = ("terms",)

    def __repr__(self) -> str:
        """Name the parameters in the order in which the record lists them."""
        given = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self))
        return f"{type(self).__qualname__}({', '.join(given)})"

    def check_slices(self) -> None:
        """Refuse chains and ties of no meaning, whatever the table."""
        check_count("later", self.later, least=5)
        if self.chain and self.q != 1:
            raise ParameterError(
                "Chained slices need q = 1, because a value that stays shows from which record it "
                "comes; own = true, of soft neighborhoods, lets a record keep its first slice."
            )
        if self.near == "prediction" and not self.chain:
            raise ParameterError("near = prediction is for chained slices; set chain = true.")
        if not isinstance(self.terms, str):
            raise ParameterError("terms must be a text, such as age:bmi + square(age).")
        if self.terms.strip() and self.near != "prediction":
            raise ParameterError("terms are for near = prediction; leave them out.")
        product_terms(self.terms)
        if self.tie and self.chain:
            raise ParameterError("Slices are chained or tied, not both; leave out chain or tie.")
        if self.tie and self.q < 1:
            raise ParameterError(
                "Ties need q = 1; own = true, of soft neighborhoods, lets records keep values."
            )
        if self.tie_factors not in (1, 2):
            raise ParameterError("tie_factors must be 1 or 2: more could be recognized.")

    @property
    def fixed_neighborhoods(self) -> bool:
        """True if slices do not depend on each other's draws."""
        return not self.chain

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
        """Return cautions about chained and tied slices."""
        texts: list[str] = []
        if self.chain:
            texts += slice_words(self)
        if self.near == "prediction":
            texts += _NOT_PROMISED
        if self.chain or self.tie:
            learned = _LEARNED["tied" if self.tie else self.near]
            texts.append(
                _STRONGEST.format(f"{learned:.2f}".lstrip("0"), _NOT_FOR if learned > _MUCH else "")
            )
        if self.chain and self.later < 20:
            texts.append(_FEW)
        if self.chain and self.mixed:
            texts.append(_MIXED)
        return texts
