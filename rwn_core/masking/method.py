"""A masking method prepares a table once and draws releases of it at will."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import Steps, check_precision, rounded, steps_by_name
from rwn_core.data.schema import Slices
from rwn_core.data.variable import NUMBERS, Kind, NamedParameters
from rwn_core.errors import ParameterError
from rwn_core.laws.donors import random_streams
from rwn_core.laws.group_law import DeterministicUnit
from rwn_core.laws.invariants import Invariants, Keeps, declared
from rwn_core.laws.law import Law
from rwn_core.laws.noise_law import Noise, NoiseOn, Shape
from rwn_core.laws.separate_law import SeparateLaw
from rwn_core.laws.transition_law import is_discrete, with_numbers
from rwn_core.masking.lever import (
    Lever,
    LeverRange,
    at_levers,
    check_records,
    family,
    lever_presets,
    lever_ranges,
    lever_values,
)
from rwn_core.masking.option import kept_as_they_are, maskable, method_options, name_tuple
from rwn_core.neighbors.record_draws import two_uniforms
from rwn_core.parallel.threads import Progress, current_work, work
from rwn_core.randomness import SecretKey

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Masked:
    """The result of a method: the masked table with what the steward may know about it."""

    masked: Microdata  # row-aligned with the original, or with those of its records that are shown
    # shape (n, p): the donor of each cell; -1 where it became missing. As confidential as the
    # original.
    donors: Integers | None = field(repr=False)
    law: Law | None = field(repr=False)  # the exact law of the method, where it has one
    # draws the same before rounding to some steps, where the draw depends on them
    redraw: Callable[[Mapping[str, float]], Masked] | None = field(default=None, repr=False)

    def rounded(self, precision: Mapping[str, float]) -> Masked:
        """Return the same with values, and the law, rounded to each variable's step."""
        if not precision:
            return self
        made = self if self.redraw is None else self.redraw(precision)
        law = None if made.law is None else made.law.rounded(precision)
        return replace(made, masked=rounded(made.masked, precision), law=law)


@dataclass(kw_only=True, eq=False)
class Prepared:
    """A table ready for releases of one setting, and of others of its family."""

    method: Method  # the setting, without rounding
    microdata: Microdata  # the original, n records
    precision: Steps = ()  # the step of each rounded variable
    # by its key, what no lever changes: settings of a family share it
    made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    @property
    def params(self) -> Any:
        """The setting, with rounding if there is any."""
        if not self.precision:
            return self.method
        return Rounded(params=self.method, precision=self.precision)

    @property
    def records(self) -> Integers:
        """The records that `release` masks, ascending, shape (m,): all, or random ones."""
        return np.arange(self.microdata.n)

    @property
    def about(self) -> Any:
        """Return the table or the distances of its records, on which a lever's range depends."""
        return self.microdata

    @cached_property
    def masks_all_records(self) -> bool:
        """True if `release` masks all records."""
        return len(self.records) == self.microdata.n

    @cached_property
    def ranges(self) -> Mapping[str, LeverRange]:
        """The range of each lever on this table, by its name."""
        return lever_ranges(self.method, self.about)

    @cached_property
    def presets(self) -> Mapping[str, Mapping[str, float]]:
        """Starting points: a value of each lever, by the name of the preset."""
        return lever_presets(self.method, self.about)

    @cached_property
    def exact_law(self) -> Law | None:
        """The law of releases before they are rounded."""
        return self.method.law(self)

    @property
    def law(self) -> Law | None:
        """The exact law of every release; None where there is none before a key is drawn."""
        law = self.exact_law
        return law if law is None or not self.precision else law.rounded(dict(self.precision))

    def cached(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return what no lever changes, made the first time only."""
        if key not in self.made:
            self.made[key] = make()
        made: _T = self.made[key]
        return made

    def uniforms(self, key: SecretKey, name: str) -> Floats:
        """Return two uniform numbers of each record for a released variable, shape (2, m)."""
        names = [variable.name for variable in self.microdata.schema.released]
        return two_uniforms(key, self.records, names.index(name))

    @property
    def known(self) -> Any:
        """The results that spare another process the search, after a release; None without."""
        return None

    def with_search_state(self, known: object) -> Prepared:
        """Return the same setting with a search that another process has made."""
        return self

    @property
    def is_quick(self) -> bool:
        """True if a release takes milliseconds, False if a search comes first."""
        return True

    def with_levers(self, **levers: object) -> Prepared:
        """Return the same table at another position of the levers; None: a lever is not used."""
        return self.with_setting(at_levers(self.method, levers))

    def with_setting(self, method: Method) -> Prepared:
        """Return the same table at a setting with other levers."""
        assert family(method) == family(self.method)
        method.check(self.microdata)
        return replace(self, method=method)

    def with_slices(self, slices: Slices) -> Prepared:
        """Return the same table with these variables travelling together, all others alone."""
        microdata = self.microdata.with_slices(slices)
        self.method.check(microdata)
        return replace(self, microdata=microdata, made={})

    def release(
        self, key: SecretKey, *, threads: int | None = None, progress: Progress | None = None
    ) -> Masked:
        """Draw a release; the same key draws the same cells, however the table was prepared."""
        if threads is None and progress is None:  # a move of a slider, where each call counts
            return self.drawn(key).rounded(dict(self.precision))
        with work(threads=threads, progress=progress):
            return self.release(key)

    def drawn(self, key: SecretKey) -> Masked:
        """Draw a release before rounding."""
        made = self.method.draw(self, key)
        current_work().report(1.0)
        if isinstance(made, Masked):
            return made
        return Masked(masked=made, donors=None, law=self.exact_law)

    def resampled(self, rows: Integers) -> Prepared:
        """Return a bootstrap sample, its rows ascending; copies of a record are no neighbors."""
        return replace(self.method.prepare(self.microdata.take(rows)), precision=self.precision)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Method(NamedParameters):
    """A method's parameter record; by default it masks a table as a whole, by `draw`."""

    __slots__ = ()
    checks_itself: ClassVar[bool] = True
    # what has parameters that are no method's own, by their names
    elsewhere: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("weights", "slices", "precision", "confidential", "key", "as_is", "seed", "threads"),
        "rwn.mask(table, method, ...)",
    )

    method: ClassVar[str]  # its key in METHODS
    title: ClassVar[str]
    levers: ClassVar[tuple[Lever, ...]]  # what sliders move
    strength: ClassVar[str]  # the first of them; it is swept along it against other methods
    # whether every key has the same neighborhoods
    fixed_neighborhoods: ClassVar[Any] = False
    uses_weights: ClassVar[bool] = False  # whether a release depends on the variables' weights
    uses_slices: ClassVar[bool] = False  # and on which of them travel together
    moves_together: ClassVar[bool] = False  # whether all masked columns of a row come together
    drops_lost_rows: ClassVar[bool] = False  # whether a file lacks the rows without any value
    # whether every released row is one person's true record
    releases_true_rows: ClassVar[bool] = False
    formulas: ClassVar[tuple[str, ...]] = ()  # parameters that are terms of a formula
    # whether a record that lacks a value in the original may have one in the release: missing
    # values are masked like values
    moves_missing: ClassVar[bool] = False
    # whether a masked variable may stay as it is: the method changes only values that stand out
    spares_variables: ClassVar[bool] = False
    kinds: ClassVar[tuple[Kind, ...]] = ()  # which variables it masks; all, if empty
    kinds_in_words: ClassVar[str] = ""
    # what every release keeps of the columns that it masks, and at which parameters
    keeps: ClassVar[tuple[Keeps, ...]] = ()
    # cautions about every setting that masks anything; {setting} stands for its record
    warns: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Sweep a method along its first lever."""
        if "levers" in vars(cls):
            cls.strength = cls.levers[0].name

    def __post_init__(self) -> None:
        """Check what does not depend on the table: options, what is the method's own, levers."""
        method: Any = type(self)
        for option in method_options(method):
            value = getattr(self, option.name)
            if option.form == "names":
                object.__setattr__(self, option.name, name_tuple(value, option.name))
            elif option.form == "choice" and value not in option.choices:
                other = "; weights of variables are given to rwn.mask(table, method, weights=...)"
                raise ParameterError(
                    f"{option.name} must be one of: {', '.join(option.choices)}"
                    f"{other * (option.name == 'weights')}."
                )
            elif option.form == "switch" and not isinstance(value, bool):
                raise ParameterError(f"{option.name} must be true or false.")
        self.check_setting()
        for lever in self.levers:
            if not lever.optional:
                lever.check(getattr(self, lever.name))

    def check_setting(self) -> None:
        """Refuse what neither an option's form nor a lever's range refuses."""

    def masked_names(self, microdata: Microdata) -> tuple[str, ...]:
        """Return the variables of which this setting may change a cell, whatever is drawn."""
        if not self.kinds:
            return tuple(v.name for v in microdata.schema.released if v.masked)
        others: str = getattr(self, "others")  # noqa: B009 - a field of methods with kinds
        return maskable(microdata, lambda v: v.kind in self.kinds, others, self.kinds_in_words)

    def moved_together(self, microdata: Microdata) -> dict[int, tuple[str, ...]]:
        """Return the masked columns by the stream of their draw, which some share."""
        masked = self.masked_names(microdata)
        variables = microdata.schema.released
        if self.moves_together:
            return {0: masked} if masked else {}
        streams = random_streams(microdata) if self.uses_slices else range(len(variables))
        units = dict[int, tuple[str, ...]]()
        for stream, variable in zip(streams, variables, strict=True):
            if variable.name in masked:
                units[stream] = (*units.get(stream, ()), variable.name)
        return units

    def invariants(self, microdata: Microdata) -> Invariants:
        """Return what every release of the setting keeps of a table, as `keeps` declares it."""
        return declared(self, microdata, list(self.moved_together(microdata).values()))

    def for_fewer(self, records: int) -> Self:
        """Return the setting that masks so many records of a table as it masks all of them."""
        return self

    def check(self, microdata: Microdata) -> None:
        """Refuse a table that the setting cannot mask; a ParameterError says why."""
        self.masked_names(microdata)

    def draw(self, table: Prepared, key: SecretKey) -> Microdata | Masked:
        """The masked table of a key, row-aligned with the original, or it with its donors."""
        raise NotImplementedError

    def law(self, *args: Any, **kwargs: Any) -> Law | None:
        """The exact law of a release; None where the method has none."""
        return None

    def remarks(self, microdata: Microdata, law: Law | None) -> list[str]:
        """Return remarks on this setting and a table, in sentences."""
        return kept_as_they_are(microdata, self.masked_names(microdata))

    def cautions(self) -> list[str]:
        """Return cautions about this setting, most important first."""
        for each in self.keeps:
            if each.what == "records" and each.when and not each.kinds and each.holds(self):
                name, value = next(iter(each.when.items()))
                short = {lever.name: lever.short for lever in self.levers}.get(name, name)
                return [f"{short} = {value:g} masks nothing: the release is the original."]
        return [text.format(setting=self) for text in self.warns]

    def prepare(
        self, microdata: Microdata, *, settings: Sequence[Any] = (), records: Integers | None = None
    ) -> Prepared:
        """Return the table ready for releases of this setting and of `settings` of its family."""
        self.check(microdata)
        return Prepared(method=self, microdata=microdata)

    def preview(self, microdata: Microdata, *args: Any, **kwargs: Any) -> Prepared:
        """Return the table ready for a screen: every lever position, random records of many."""
        return self.prepare(microdata)


class NumberMethod(Method):
    """A method that masks numbers only."""

    __slots__ = ()

    kinds: ClassVar[tuple[Kind, ...]] = NUMBERS
    kinds_in_words: ClassVar[str] = "numbers"


class NoiseMethod(NumberMethod, ABC):
    """A method that adds independent noise to each number."""

    __slots__ = ()

    shape: Shape
    reflected: bool = False  # whether numbers without negative ones stay so

    @abstractmethod
    def spread(self, table: Prepared, name: str) -> float:
        """The standard deviation of the noise on a variable; 0 for none."""

    def noise(self, table: Prepared) -> dict[str, NoiseOn]:
        """The noise on every variable that gets any."""
        microdata = table.microdata
        parts = {}
        for name in self.masked_names(microdata):
            sd = self.spread(table, name)
            if sd > 0:
                parts[name] = NoiseOn(
                    original=microdata,
                    names=(name,),
                    noise=Noise(shape=self.shape, sd=sd),
                    discrete=is_discrete(microdata, name),
                    reflected=self.reflected and bool(np.nanmin(microdata.values(name)) >= 0),
                )
        return parts

    def draw(self, table: Prepared, key: SecretKey) -> Microdata:
        """The table with noise."""
        columns = {}
        for name, part in self.noise(table).items():
            noisy = table.microdata.values(name) + part.noise.draw(table.uniforms(key, name)[0])
            columns[name] = np.abs(noisy) if part.reflected else noisy
        return with_numbers(table.microdata, columns)

    def law(self, table: Prepared) -> SeparateLaw:
        """Independent densities, or probabilities of whole numbers."""
        return SeparateLaw.of_changes(table.microdata, list(self.noise(table).values()))


class FixedMethod(Method, ABC):
    """A method without chance: each record's release follows from the original file."""

    __slots__ = ()

    k: int  # records of a group, at least

    @abstractmethod
    def result(self, table: Prepared) -> Microdata:
        """The masked table, the same for every key."""

    def check(self, microdata: Microdata) -> None:
        """Refuse a table that the setting cannot mask, or of fewer than k records."""
        self.masked_names(microdata)
        check_records(self.k, microdata)

    def draw(self, table: Prepared, key: SecretKey | None = None) -> Microdata:
        """The masked table, made the first time only."""
        levers = tuple(lever_values(self).values())
        return table.cached(("shown", *levers), partial(self.result, table))

    def law(self, table: Prepared) -> SeparateLaw:
        """Each record's release follows from the original file."""
        microdata = table.microdata
        shown = self.draw(table)
        parts = [
            DeterministicUnit(original=microdata, shown=shown, names=unit)
            for unit in self.moved_together(microdata).values()
        ]
        return SeparateLaw.of_changes(microdata, parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounded(NamedParameters):
    """A method that rounds what it releases: for all that take a method's parameters.

    Attributes
    ----------
    params : Method
    precision : mapping of str to float, or the same as pairs
        The step of each rounded variable, in its own unit; kept as pairs, sorted by name.

    Raises
    ------
    ParameterError
        A step is not a number above 0.

    Examples
    --------
    >>> from rwn_core.masking import RWN
    >>> Rounded(params=RWN(k=5), precision={"age": 5}).precision
    (('age', 5.0),)
    """

    params: Method
    precision: Steps | Mapping[str, float]

    checks_itself: ClassVar[bool] = True
    fixed_neighborhoods: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Keep the steps as plain data, which can be a key."""
        object.__setattr__(self, "precision", steps_by_name(dict(self.precision)))

    def __getattr__(self, name: str) -> Any:
        """All else is the method's own."""
        if name == "params":  # a copy is made before it has any
            raise AttributeError(name)
        return getattr(self.params, name)

    def invariants(self, microdata: Microdata) -> Invariants:
        """Return what every release keeps of the rounded values; see `Method.invariants`."""
        own: Invariants = self.params.invariants(microdata)
        return own.rounded(dict(self.precision))

    def prepare(
        self, microdata: Microdata, *, settings: Sequence[Any] = (), records: Integers | None = None
    ) -> Prepared:
        """Return the table ready for rounded releases; see `Method.prepare`."""
        check_precision(microdata, dict(self.precision))  # refuse before the search, not after it
        own = [unrounded(each)[0] for each in settings]
        made: Prepared = self.params.prepare(microdata, settings=own, records=records)
        return replace(made, precision=steps_by_name(dict(self.precision)))

    def for_fewer(self, records: int) -> Self:
        """Return the setting that masks so many records as it masks all; see `Method`."""
        return replace(self, params=self.params.for_fewer(records))

    def preview(self, microdata: Microdata, **options: Any) -> Prepared:
        """Return the table ready for a screen; see `Method.preview`."""
        check_precision(microdata, dict(self.precision))
        made: Prepared = self.params.preview(microdata, **options)
        return replace(made, precision=steps_by_name(dict(self.precision)))


def unrounded(params: Method) -> tuple[Any, dict[str, float]]:
    """A method's own parameters, and the precision that `Rounded` adds to them."""
    if isinstance(params, Rounded):
        return params.params, dict(params.precision)
    return params, {}
