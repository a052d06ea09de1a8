"""Record of a measure, and of what it reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, cast

from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.laws.donors import copy_from_donors, shuffled_donors, unmasked
from rwn_core.measures.comparison import ROWS, Comparison, Rows, released_rows
from rwn_core.measures.view import View
from rwn_core.randomness import SecretKey

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    # without a type argument the detail has what all details have
    from typing_extensions import TypeVar

    D = TypeVar("D", bound="Detail", default="Detail", covariant=True)
else:
    from typing import TypeVar

    D = TypeVar("D")

T = TypeVar("T")


class Sides(NamedTuple, Generic[T]):
    """The same part of a detail, of the original and of the release."""

    original: T
    released: T


UNMASKED, UNRELATED = "unmasked", "unrelated"
"""Names of the readings of the unmasked file, and of one without relations, in the ends."""
Bounds = tuple[float, float]
FROM_ZERO: Bounds = (0.0, float("inf"))
SHARE: Bounds = (0.0, 1.0)
UNBOUNDED: Bounds = (-float("inf"), float("inf"))
BY_VALUES, SLOW = 0, 2  # the least and the largest effort of a reading
SHUFFLES = 3  # files with shuffled columns; their mean counts
SHARED = 200_000  # records of a file, up to which measures share what they compute of both ends
SHUFFLED = 6_000  # their records together, where there is more than one: chance evens out


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Detail:
    """The details of a reading, which the chart, table, tile and report of a measure show.

    Each family of measures has a record of its own, with the shapes of its arrays. Record numbers
    count from 0; those of a sample are in fields named `records...` or `argmax...`.

    Attributes
    ----------
    names : sequence of str
        The variables that it is about, such as the keys; empty where it is about all or none.
    standing : {"", "worst", "at least"}
        Whether the value is a worst case, or only a lower bound of one.
    estimate : float, optional
        Of a lower bound, the estimate of the worst case.
    at_most : float, optional
        The upper bound of the worst case; None where it is not known.
    attacked_by : str
        The simple attack that raised the value above what the measure states.
    scope : str
        What the value covers, where that is not all; the verdict says it.
    caveat : str
        What a reader of the value must know.
    records : ndarray of int64, shape (m,), optional
        What was looked at, of `of` records; random ones where `sampled`.
    """

    names: Sequence[str] = ()
    standing: str = ""
    estimate: float | None = None
    at_most: float | None = None
    attacked_by: str = ""
    scope: str = ""
    caveat: str = ""
    records: Any = None
    of: int = 0
    sampled: Any = False

    @property
    def stated_parts(self) -> Mapping[str, float]:
        """Numbers by name that a spread over releases states with the value; mostly none."""
        return {}


def some_of(records: Integers, of: int) -> dict[str, Any]:
    """Return the parts of a detail about the records, shape (m,), that were looked at."""
    return {"records": records, "of": of, "sampled": len(records) < of}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BothFiles(Detail):
    """A number, row or square of the original file and of the released one.

    Attributes
    ----------
    names : sequence of str
        The variables or terms that rows stand for; empty of one number.
    original, released : float or ndarray, shape (m,), (m, q) or (m, m)
    change : ndarray, optional
        In the measure's unit, of the same shape or shape (m,).
    columns : sequence
        What the q columns stand for.
    errors : ndarray of float64, shape (m,), optional
        Standard errors of `original`, in its unit.
    weights : str
        The variable that weighs records.
    people : Sides of float, optional
        How many the weighted records stand for.
    """

    original: Any
    released: Any
    change: Any = None
    columns: Sequence[Any] = ()
    errors: Any = None
    weights: str = ""
    people: Sides[float] | None = None


def parts_of(detail: DataclassInstance) -> dict[str, Any]:
    """Return the parts of a detail by their names."""
    return {each.name: getattr(detail, each.name) for each in fields(detail)}


def plain(detail: DataclassInstance) -> dict[str, Any]:
    """Return a detail as a mapping, where it leaves: a part of two sides is two of them."""
    parts: dict[str, Any] = {}
    for name, held in parts_of(detail).items():
        if isinstance(held, Sides):
            parts |= {f"{name}_{side}": one for side, one in held._asdict().items()}
        elif isinstance(held, Mapping):  # of variables, each with parts of its own
            parts[name] = {k: _plain_part(v) for k, v in held.items()}
        else:
            parts[name] = held._asdict() if hasattr(held, "_asdict") else held
    return parts


def _plain_part(part: object) -> object:
    """Return a part of a detail: a record as a mapping, all else as it is."""
    is_record = is_dataclass(part) and not isinstance(part, type)
    return plain(cast("DataclassInstance", part)) if is_record else part


def with_parts(reading: Reading[D], **parts: Any) -> Reading[D]:
    """Return the reading with other parts of its detail."""
    return replace(reading, detail=replace(reading.detail, **parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Generic[D]):
    """The value of one measure for one comparison, and its detail.

    Attributes
    ----------
    value : float
        The number that stands for the measure on a tile, a map or a report.
    detail : Detail
        Exactly what the measure's chart and table draw.
    baseline : float, optional
        What the value must be read against: the original's, or an ignorant guess's.
    interval : tuple of float, optional
        Where the value lies over repeated draws or samples.
    used, total : int, optional
        Rows that the value rests on, where fewer than all: without a missing value, or random ones.
    ends : mapping of str to float
        What the measure reads on the unmasked file ("unmasked") and where no relation is left
        ("unrelated"), as far as that is known.
    units : int
        How many people or households were counted; 0 where each row is one.
    unit_name : str
        The variable that numbers them.
    unit_words : {"people", "households"}
    people : int
        How many units the value is a share of; 0 where it is one of rows.
    released_share : float
        Share of the records that are released; the value is a share of these.
    is_first_part : bool
        Whether this is what is known sooner, and the rest is being read.
    """

    value: float
    detail: D = field(repr=False)
    baseline: float | None = None
    interval: tuple[float, float] | None = None
    used: int | None = None
    total: int | None = None
    ends: Mapping[str, float] = field(default_factory=dict, repr=False)
    units: int = 0
    unit_name: str = ""
    unit_words: str = "people"
    people: int = 0
    released_share: float = 1.0
    is_first_part: bool = False

    @property
    def rows_words(self) -> str:
        """Say how many rows were used, to stand after a title; nothing where all were."""
        if self.used is None or self.total is None or self.used >= self.total:
            return ""
        return f" ({self.used:,} of {self.total:,} rows)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measure(View):
    """A way to judge a release against its original.

    Where it is shown, and how, is said by the attributes of `View`.

    Attributes
    ----------
    key, title : str
    side : {"utility", "risk"}
    better : {"lower", "higher", "neutral"}
        Which direction of `value` a data steward wants; lower by default.
    bounds : tuple of float
        Smallest and largest possible value; those of a share by default.
    unit : str
    question : str
        The question the value answers, in plain words.
    sentence : callable, optional
        Of a Reading and the number of records: what the value says, in one plain sentence. A
        measure of risk has one: the Risk page says it.
    source : str
        Where it is defined.
    compute : callable
        Reads a Comparison; raises NotApplicable with the reason where there is no answer.
    at_least : str
        The title of a reading that is a lower bound only (its detail's `standing` says so); of a
        worst case that may be too large to find.
    certain_up_to : int, optional
        Up to how many records no reading is a lower bound only.
    begin : callable, optional
        Reads what is known sooner than all that `compute` tells.
    of_ends : callable, optional
        Reads both ends, of an unmasked file and of one without relations, in less time than
        `compute`, where that reads the same or differs by luck only.
    reads_some : bool
        Whether random records of a larger file are enough. To a measure of utility they are: it
        compares the same records.
    of_released : bool
        Whether its shares are of the rows that are in the file that leaves. Where rows were left
        out or lost all of their values, the reading's `released_share` is the share that leaves,
        and the sentence says it.
    of_units : bool or str
        Whether units are counted, such as a person with several rows; what it says of them, if it
        is not that a link is right when it names the unit. The reading's `units` says how many
        there are, and the sentence says it.
    against_control : bool
        Whether it guesses about a person: a release is to blame for what it learns beyond what it
        learns of people outside of the file.
    is_slow : bool
        Whether it is left out, or follows later, where a large table is read many times.
    of_setting : bool
        Whether every draw of a setting reads the same, where donors are not random candidates.
    of_holdout : bool
        Whether it needs held-out records, so that no page reads it with the others.
    counts : bool
        Whether its limit is stated as a number of people.
    usual_limit : float, optional
        What a policy allows that states no limits; None where it has none on this measure.
    raised_by : {"identity", "attribute"}, optional
        Which attacks of the red team may exceed the worst case that it states: those that link, or
        those that name values. One measure each.
    falls : bool
        Whether the value falls with the number of records, at equal geometry.
    needs_own : bool
        Whether only a soft kernel with own = true has an answer.
    must_hold : bool
        Of a measure of utility, whether a policy may have a limit on it.
    effort : int
        What a reading takes, compared with others: 0 by values alone, in a hundredth of the time
        of an intruder's beliefs; 1 where the beliefs of one intruder are enough; 2 otherwise.
    is_share : bool
        Whether the values are shares, shown in percent.

    Raises
    ------
    ValueError
        A measure of risk has no sentence.
    """

    key: str
    title: str
    question: str
    source: str
    compute: Callable[[Comparison], Reading]
    side: Literal["utility", "risk"] = "risk"
    unit: str = "share of records"
    better: Literal["lower", "higher", "neutral"] = "lower"
    bounds: Bounds = SHARE
    sentence: Callable[[Reading[Any], int], str] | None = None
    at_least: str = ""
    certain_up_to: int | None = None
    begin: Callable[[Comparison], Reading] | None = None
    of_ends: Callable[[Comparison], Reading] | None = None
    reads_some: bool = False
    of_released: bool = False
    of_units: bool | str = False
    against_control: bool = False
    is_slow: bool = False
    of_setting: bool = False
    of_holdout: bool = False
    counts: bool = False
    usual_limit: float | None = None
    raised_by: Literal["identity", "attribute"] | None = None
    falls: bool = False
    needs_own: bool = False
    must_hold: bool = False
    effort: int = SLOW
    is_share: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Raise ValueError for a measure of risk without a sentence."""
        object.__setattr__(self, "is_share", self.bounds == SHARE or self.unit.startswith("share"))
        if self.side == "risk" and self.sentence is None:
            raise ValueError(f"The measure of risk {self.key} needs a sentence; write one.")
        if (self.of_released or self.of_units) and self.sentence is not None:
            object.__setattr__(
                self, "sentence", _with_what_is_counted(self.sentence, self.of_units)
            )

    def words(self, value: float) -> str:
        """Write a value as people read it: a share in percent."""
        return f"{100 * value:.3g} %" if self.is_share else f"{value:.4g}"

    def reading_title(self, reading: Reading | NotApplicable) -> str:
        """Return the title of a reading: a worst case, or a lower bound of it, and its rows."""
        if not isinstance(reading, Reading):
            return self.title
        bound = reading.detail.standing == "at least"
        title = self.at_least if bound else self.title
        return title if reading.used is None else title + reading.rows_words

    def title_as(self, standing: str) -> str:
        """Return the title of a bound or an estimate, such as "estimated at most"."""
        return self.at_least.replace("at least", standing) if standing else self.title

    def title_for(self, records: int) -> str:
        """Return the title of readings of a table of n records, at any setting."""
        bound = self.certain_up_to is not None and records > self.certain_up_to
        return self.at_least if bound else self.title

    def read(
        self, comparison: Comparison, *, begin: bool = False, bare: bool = False
    ) -> Reading[Any] | NotApplicable:
        """Return the reading (the quick one if `begin`); a `bare` one lacks the ends' readings."""
        file = comparison.file
        if file is not None and self.side == "risk" and not self.reads_some:
            return NotApplicable(
                f"This needs every record, and these are {comparison.original.n:,} random ones of "
                f"{file.n:,}; audit a release of the whole table."
            )
        compute = self.compute
        if begin and self.begin is not None:
            compute = self.begin
        try:
            reading = _with_rows_used(compute, comparison)
            if not bare:
                reading = replace(reading, ends=self.ends(comparison))
        except NotApplicable as reason:
            return NotApplicable(reason.reason)
        if self.of_released:
            reading = _with_released_share(reading, comparison)
        unit = comparison.unit if self.of_units else None
        if unit is not None:
            reading = replace(reading, units=unit.size, unit_name=unit.name, unit_words=unit.words)
        if self.side == "risk":
            reading = _numbered_as_in_the_file(reading, comparison)
        return reading

    def ends(self, comparison: Comparison) -> Mapping[str, float]:
        """Return the readings of an unmasked and of an independently shuffled file, cached."""
        if self.better == "neutral" or (self.side == "risk" and self.better == "higher"):
            return {}
        # neither end depends on the release's slices or weights; a missing end has no reading, and
        # a measure that reads the same on both files has no "unrelated"
        about = comparison.cached_for_original(
            "as described for both ends", partial(unsliced, comparison.original)
        )
        known = (comparison.key_sets, comparison.halves)
        given = (*known, comparison.question, comparison.sampling, comparison.holdout)
        # every description of these values shares what is remembered of them
        return about.cached(
            ("ends", self.key, about.schema, *given),
            partial(_read_ends, comparison, about, self.of_ends or self.begin or self.compute),
        )


utility_measure = partial(Measure, side="utility")
"""A measure of utility, of what is given."""
linkage_measure = partial(Measure, of_released=True, of_units=True, about="row")
"""A measure of rows that are linked, of those that leave."""
class_measure = partial(Measure, of_released=True, shared="key_classes")
"""A measure of classes of equal key values, with a bar in the chart of them."""


def unsliced(original: Microdata) -> Microdata:
    """Return the table without slices and weights; itself, where it has none."""
    if all(v.weight == 1.0 and v.group is None for v in original.schema.variables):
        return original
    variables = tuple(replace(v, weight=1.0, group=None) for v in original.schema.variables)
    return original.with_schema(replace(original.schema, variables=variables))


def _read_ends(
    comparison: Comparison, original: Microdata, compute: Callable[[Comparison], Reading]
) -> dict[str, float]:
    as_it_is, shuffled = _end_files(comparison, original)
    found: dict[str, float] = {}
    baseline = None
    try:
        reading = compute(as_it_is)
        found[UNMASKED] = float(reading.value)
        baseline = reading.baseline
    except NotApplicable:
        pass  # such a limit is judged without this end
    values: list[float] = []
    try:
        for file in shuffled:
            values.append(float(compute(file).value))
        unrelated: float | None = fmean(values)
    except NotApplicable:
        unrelated = baseline
    if unrelated is not None and unrelated != found.get(UNMASKED):
        found[UNRELATED] = float(unrelated)
    return found


_EndFiles = tuple[Comparison, Iterable[Comparison]]
"""The original compared with itself, and with shuffled files."""
_SHARED: ContextVar[dict[Hashable, _EndFiles] | None] = ContextVar("shared ends", default=None)


@contextmanager
def sharing_ends() -> Iterator[None]:
    """Have all measures that are read meanwhile share what they compute of both ends."""
    token = _SHARED.set({})
    try:
        yield
    finally:
        _SHARED.reset(token)


def _end_files(comparison: Comparison, original: Microdata) -> _EndFiles:
    """Return the comparisons of both ends; they last while measures share them."""
    start = comparison
    if original is not comparison.original:
        start = comparison.with_original(original)
    shared = _SHARED.get()
    if shared is None or original.n > SHARED:
        files: Iterable[Microdata] = _shuffled(original)
        if original.n <= SHUFFLED:  # drawn once for all measures
            key = ("shuffled", original.schema)
            files = original.cached(key, lambda: tuple(_shuffled(original)))
        return start.with_masked(*unmasked(original)), map(start.with_masked, files)
    given = (comparison.question, comparison.sampling, comparison.holdout)
    about = (original, comparison.key_sets, comparison.halves, *given)
    if about not in shared:
        drawn = tuple(start.with_masked(file) for file in _shuffled(original))
        shared[about] = start.with_masked(*unmasked(original)), drawn
    return shared[about]


def _shuffled(original: Microdata) -> Iterator[Microdata]:
    """Yield the original with each slice in a random order, a few times."""
    for seed in range(max(1, min(SHUFFLES, SHUFFLED // max(original.n, 1)))):
        yield copy_from_donors(original, shuffled_donors(original, SecretKey.from_seed(seed)))


def _with_what_is_counted(
    sentence: Callable[[Reading[Any], int], str], counted: bool | str
) -> Callable[[Reading[Any], int], str]:
    """Return the sentence with the units that are linked, and with the chance of being released."""

    def say(reading: Reading, n: int) -> str:
        share, words = reading.released_share, reading.unit_words
        rows = n if share == 1 else round(share * n)
        said = [sentence(reading, reading.people or rows)]
        if reading.people:
            said[0] = said[0].replace(f"{reading.people:,} records", f"{reading.people:,} {words}")
        if reading.units:
            who = "household" if words == "households" else "person"
            how = counted if isinstance(counted, str) else "A row is linked when its {} is named"
            said.append(
                f"{how.format(who)}, of {reading.units:,} {words} with {n:,} rows "
                f"({reading.unit_name})."
            )
        if share != 1:
            said.append(
                f"Only {rows:,} of {n:,} records ({100 * share:.2g} %) are released; shares are of "
                "these."
            )
        return " ".join(said)

    return say


def _with_rows_used(
    compute: Callable[[Comparison], Reading[Any]], comparison: Comparison
) -> Reading[Any]:
    """Return a reading with how many rows it used, of a file with incomplete ones or a sample."""
    noted: list[Rows] = []
    token = ROWS.set(noted)
    try:
        reading = compute(comparison)
    finally:
        ROWS.reset(token)
    detail = reading.detail
    total = comparison.original.n
    used = min([rows for rows, every in noted if every == total], default=total)
    if detail.sampled and detail.records is not None:
        some_were_incomplete = used < total
        used = min(used, len(detail.records))
        total = max(detail.of, total) if some_were_incomplete else detail.of
    if used < total and reading.used is None:
        return replace(reading, used=used, total=total)
    return reading


def _with_released_share(reading: Reading[Any], comparison: Comparison) -> Reading[Any]:
    """Return a reading with the share of the released rows that it is of, where not all are."""
    rows = released_rows(comparison.original, comparison.masked)
    n = comparison.masked.n
    return reading if len(rows) == n else replace(reading, released_share=len(rows) / n)


def _numbered_as_in_the_file(reading: Reading[Any], comparison: Comparison) -> Reading[Any]:
    """Return a reading whose records have their numbers in the file that they were taken from."""
    numbers = comparison.records
    if numbers is None:
        return reading
    of_records = {
        name: numbers[held]
        for name, held in parts_of(reading.detail).items()
        if name.startswith(("records", "argmax")) and held is not None
    }
    return with_parts(reading, **of_records)
