"""A lever is a number of a method that a slider may move."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import check_count
from rwn_core.errors import ParameterError

OneMethod = TypeVar("OneMethod", bound="HasParameters")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeverRange:
    """The range of a lever on a table."""

    low: float
    high: float
    step: float
    most: float | None = None  # the largest value that may be typed, where a slider ends before it

    def clip(self, value: float) -> float:
        """The nearest value inside."""
        return min(max(value, self.low), self.high)

    @property
    def largest(self) -> float:
        """The largest value that may be typed."""
        return self.high if self.most is None else self.most

    def with_room_for(self, value: float) -> LeverRange:
        """Return a range that ends at a value which lies beyond its end."""
        return replace(self, high=value) if value > self.high else self

    def reach(self, value: float) -> float:
        """The nearest value that may be typed."""
        most = self.high if self.most is None else self.most
        return min(max(value, self.low), most)


SHARE = LeverRange(low=0.0, high=1.0, step=0.05)
"""The range of a share or a probability."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lever:
    """A number of a method that a slider may move."""

    name: str  # the parameter
    title: str  # above its slider
    short: str = ""  # in a line of words, such as "ε"; the name if empty
    unit: str = ""  # empty for a share or a count
    help: str = ""  # one sentence
    whole_number: bool = False  # whether it takes whole numbers only, from 1 on
    optional: bool = False  # whether it may be left out; then its method checks it
    # the largest number that it takes, whatever the table; other numbers begin at 0
    largest: float = 1.0
    # the position at which it has no part in the masking; a first sweep leaves it there
    off: float | None = None
    # a position that any table takes, for a setting without chosen levers
    neutral: float | None = None
    # how far it goes, or a function of a setting and what its levers depend on: a table, or for
    # methods of neighborhoods the distances of its records
    range: LeverRange | Callable[[Any, Any], LeverRange] = SHARE
    # Starting points by name; those beyond the range lie at its end. Without one the lever stays
    # where it is.
    presets: Mapping[str, float] = field(default_factory=dict, hash=False)
    # a function of a starting point and what levers depend on, where it is no position itself
    position: Callable[[float, Any], float] | None = None

    def __post_init__(self) -> None:
        """Take the name where no short one is given."""
        object.__setattr__(self, "short", self.short or self.name)

    @property
    def words(self) -> str:
        """The title within a sentence, without its unit."""
        first = self.title[0]
        remainder = self.title.partition(" (")[0][1:]
        return first.lower() + remainder

    def value(self, number: object) -> Any:
        """A number as this lever takes it; anything else, such as None, as it is."""
        if isinstance(number, bool) or not isinstance(number, int | float | np.number):
            return number
        return int(number) if self.whole_number and number == int(number) else float(number)

    def check(self, number: object) -> None:
        """Refuse a number that it does not take on any table."""
        if self.whole_number:
            check_count(self.name, number, least=1)
        else:
            check_share(self.name, number, self.largest, share=self.largest <= 1)


class HasLevers(Protocol):
    """A setting of a method, or the method: what sliders move."""

    @property
    def levers(self) -> tuple[Lever, ...]:
        """What sliders move, the strength among them."""


class HasParameters(HasLevers, Protocol):
    """A setting of a method."""

    method: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


class HasKey(Protocol):
    """A method, or a setting of one, with its key in the catalogue."""

    @property
    def method(self) -> str:
        """Its key."""


class HasOptions(Protocol):
    """A setting of a method, of which the method says what no lever moves."""

    method: ClassVar[str]
    levers: ClassVar[tuple[Lever, ...]]
    formulas: ClassVar[tuple[str, ...]]  # parameters that are terms of a formula
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


class MasksNumbers(HasParameters, Protocol):
    """A method that masks numeric variables alone."""

    def masked_names(self, microdata: Microdata) -> list[str]:
        """Return the variables that are masked."""


def count_lever(
    title: str,
    *,
    help: str,
    range: LeverRange | Callable[[Any, Any], LeverRange],
    presets: Mapping[str, float],
) -> Lever:
    """Return the lever of a least number of records, k."""
    return Lever(
        name="k",
        title=title,
        whole_number=True,
        neutral=1,
        help=help,
        range=range,
        presets=presets,
    )


def lever_ranges(params: HasLevers, about: object) -> dict[str, LeverRange]:
    """Return the range of each lever of a setting, given what its levers depend on."""
    return {
        lever.name: lever.range(params, about) if callable(lever.range) else lever.range
        for lever in params.levers
    }


def lever_presets(params: HasLevers, about: object) -> dict[str, dict[str, float]]:
    """Return starting points by name: a value of each lever, none beyond its range."""
    presets: dict[str, dict[str, float]] = {}
    for lever in params.levers:
        ends = lever_ranges(params, about)[lever.name]
        for name, start in lever.presets.items():
            found = start if lever.position is None else lever.position(start, about)
            presets.setdefault(name, {})[lever.name] = lever.value(ends.clip(found))
    return presets


def neutral_levers(method: HasLevers) -> dict[str, float]:
    """Return the neutral positions of a method's levers that have one."""
    return {each.name: each.neutral for each in method.levers if each.neutral is not None}


def lever_values(params: HasLevers) -> dict[str, Any]:
    """The position of each lever of a setting; None where it is not used."""
    return {lever.name: getattr(params, lever.name) for lever in params.levers}


def at_levers(params: OneMethod, levers: Mapping[str, Any]) -> OneMethod:
    """The same method with some of its levers moved."""
    kinds = {lever.name: lever for lever in params.levers}
    return replace(params, **{name: kinds[name].value(x) for name, x in levers.items()})


def fixed_options(params: HasParameters) -> dict[str, Any]:
    """The parameters that no lever moves, where they are not the method's defaults."""
    moved = {lever.name for lever in params.levers}
    return {
        each.name: value
        for each in fields(params)
        if each.name not in moved and (value := getattr(params, each.name)) != each.default
    }


def family(params: HasParameters) -> Hashable:
    """Return the key of a family: settings that differ in lever positions only."""
    moved = {lever.name for lever in params.levers}
    unlike = [
        value
        for name, value in lever_values(params).items()
        if value is not None and not isinstance(value, int | float)
    ]
    others = [(f.name, getattr(params, f.name)) for f in fields(params) if f.name not in moved]
    return (params.method, *others, *unlike)


def check_share(name: str, value: object, largest: float = 1.0, *, share: bool = True) -> None:
    """Refuse what is no number from 0 to the largest; a share that looks like a percentage, too."""
    number: Any = value if isinstance(value, int | float | np.number) else np.nan
    if isinstance(value, bool) or not 0 <= number <= largest:
        if share and largest < number <= 100:
            raise ParameterError(
                f"{name} must be a fraction from 0 to {largest:g}, not a percentage: write 0.05 "
                "for 5 percent."
            )
        raise ParameterError(f"{name} must be a number from 0 to {largest:g}.")


def check_records(k: int, microdata: Microdata) -> None:
    """Refuse more records than a table has."""
    if k > microdata.n:
        raise ParameterError(
            f"k must be at most the number of records, {microdata.n:,}; take a smaller one."
        )


def check_known(k: int, microdata: Microdata, names: Sequence[str]) -> None:
    """Refuse more records than have a value of some numeric variable."""
    for name in names:
        known = int((~np.isnan(microdata.values(name))).sum())
        if 0 < known < k:
            raise ParameterError(
                f"k must be at most {known:,}, the number of records with a value of {name}; "
                "take a smaller one, or take the variable out of the masking."
            )


def range_of_known(params: MasksNumbers, microdata: Microdata) -> LeverRange:
    """Return the range of k if each masked numeric variable must have k values."""
    values = (microdata.values(name) for name in params.masked_names(microdata))
    known = [int((~np.isnan(each)).sum()) for each in values]
    most = min((count for count in known if count), default=1)
    return LeverRange(low=1, high=min(most, max(2, microdata.n // 2)), step=1)


def range_of_groups(params: object, microdata: Microdata) -> LeverRange:
    """Return the range of k if groups hold k records."""
    return LeverRange(low=1, high=min(microdata.n, 100), step=1)
