"""Define a fact of a report: its audience, and its content for one release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cached_property, partial
from typing import Any

from rwn_core.data.record_noun import RecordNoun, spoken_of, spoken_parts
from rwn_core.evaluation.audit import changed_shares
from rwn_core.evaluation.valid_intervals import FACTOR
from rwn_core.masking import METHODS, RWN, SoftRWN, in_present_names
from rwn_core.masking.option import method_words
from rwn_core.measures import CHANGED
from rwn_core.measures.drawing.style import Chart
from rwn_core.reporting import public_words as words
from rwn_core.reporting.context import Context
from rwn_core.reporting.release_record import OF_EACH_RECORD
from rwn_core.tuning import Setting


class Audience(StrEnum):
    """The audience of a fact."""

    INTERNAL = "internal"
    PUBLIC = "public"
    BOTH = "both"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of texts in rows under column titles."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def written_table(columns: tuple[str, ...], rows: Iterable[Iterable[Any]]) -> Table:
    """Write numbers and texts as a table of texts."""
    return Table(columns=columns, rows=tuple(tuple(map(_written, row)) for row in rows))


def pairs(named: Mapping[str, Any]) -> Table:
    """Write names and what belongs to them as a table of two columns."""
    return written_table(("what", "value"), named.items())


def _written(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:.4g}".replace("-", "−")
    return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The content of a fact about one release: sentences, a table, charts."""

    lines: tuple[str, ...] = ()
    table: Table | None = None
    charts: tuple[Chart, ...] = ()
    filled: int | None = None  # of a hundred dots, a picture of what the last sentence says


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact of one release."""

    key: str
    title: str
    audience: Audience
    content: Content

    @property
    def text(self) -> str:
        """The sentences, and the rows of the table as sentences."""
        table = self.content.table
        rows = () if table is None else (f"{': '.join(row)}." for row in table.rows)
        return " ".join([*self.content.lines, *rows])


def spoken_fact(fact: Fact, noun: RecordNoun, names: tuple[str, ...]) -> Fact:
    """Return a fact in the noun of the records."""
    said = partial(spoken_of, noun=noun, names=names)
    table = fact.content.table
    if table is not None:
        rows = tuple(tuple(map(said, row)) for row in table.rows)
        table = Table(columns=tuple(map(said, table.columns)), rows=rows)
    content = Content(
        lines=tuple(map(said, fact.content.lines)),
        table=table,
        charts=tuple(spoken_parts(fact.content.charts, noun, names)),
        filled=fact.content.filled,
    )
    return replace(fact, title=said(fact.title), content=content)


@dataclass(frozen=True, kw_only=True)
class Material:
    """The material that facts are made of."""

    record: Mapping[str, Any]  # from `rwn_core.reporting.release_record.read_record`
    # from `rwn_core.reporting.evidence.read_evidence`; empty where it is missing
    evidence: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""  # what the data are called, in the steward's words
    # releases of the same people before this one, by the ledger; None if it was not read
    earlier: int | None = None

    @cached_property
    def context(self) -> Context:
        """Context of the release; empty in a record that says nothing of it."""
        return Context.from_dict(self.record.get("context", {}))

    @property
    def name(self) -> str:
        """Name of the data."""
        return self.title or "Masked microdata"

    @property
    def made(self) -> str:
        """The day on which the release was made."""
        return str(self.record["made"])[:10]

    @cached_property
    def setting(self) -> Setting:
        """Method of the release; a radius for each record is not recorded, so it is 0."""
        plain = self.record["setting"]
        parameters = {
            name: 0.0 if value == OF_EACH_RECORD else value
            for name, value in plain["parameters"].items()
        }
        return Setting.from_dict({**plain, "parameters": parameters})

    @property
    def method(self) -> Any:
        """The method's parameter record, as a class."""
        plain = self.record["setting"]
        return METHODS[in_present_names(plain["method"], plain.get("parameters", {}))[0]]

    @property
    def noun(self) -> RecordNoun:
        """What a record of the release is."""
        return RecordNoun(self.record["table"].get("record", RecordNoun.PERSON))

    @property
    def own_words(self) -> tuple[str, ...]:
        """Names of variables, words of the steward and of the method, which stay as they are."""
        stated = asdict(self.context).values()
        return (*self.variables, *stated, self.name, *method_words(self.method).values())

    @property
    def records(self) -> int:
        """Number of records of the released file."""
        return int(self.record["file"]["records"])

    @property
    def variables(self) -> tuple[str, ...]:
        """The released variables, in order."""
        return tuple(self.record["table"]["variables"])

    @property
    def changed(self) -> dict[str, float]:
        """The share of cells that changed, by variable; empty if it was not read."""
        return changed_shares(self.reading(CHANGED))

    @property
    def does(self) -> str:
        """Say in words what the method does at this setting."""
        said = setting_words(self.record["setting"]) or method_words(self.method)["does"]
        return " ".join([said, *map(predicted_words, self.record["table"].get("predicted", ()))])

    def reading(self, measure: str) -> Mapping[str, Any]:
        """Return the record's entry of a measure; empty if it was not read or has no answer."""
        reading: Mapping[str, Any] = self.record["readings"].get(measure, {})
        return reading if "value" in reading else {}

    def reason(self, measure: str) -> str:
        """Return why the record has no value of a measure."""
        reading = self.record["readings"].get(measure, {})
        return str(reading.get("not_applicable", "It was not read."))

    def words(self, measure: str) -> str:
        """Return what the record says of a measure, or why it says nothing."""
        return self.reading(measure).get("words") or self.reason(measure)


def interval_facts(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the intervals that a record allows, in public words."""
    about = record.get("intervals", {"refusal": "unknown"})  # of an earlier version
    sentence = words.INTERVALS[about["refusal"] or "holds"].format(factor=f"{FACTOR + 0.005:.2f}")
    if about["refusal"]:
        return {**about, "sentence": sentence, "refusal": sentence}
    return {**about, "sentence": sentence, "factor": FACTOR}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One fact that reports know, whatever the release."""

    key: str
    title: str
    audience: Audience
    # of a Material; None for what no report ever says
    make: Callable[[Material], Content] | None = None


def predicted_words(slice: Mapping[str, Any]) -> str:
    """Say in words what is public of a slice that was drawn by prediction."""
    listed = {name: ", ".join(slice[name]) for name in ("names", "regressors", "terms")}
    if "kept" not in slice:
        unpredicted: str = words.RWN_UNPREDICTED.format(**listed)
        return unpredicted
    about = {**listed, "later": slice["later"], "kept": f"{slice['kept']:.2f}"}
    said: str = words.RWN_PREDICTED.format(**about)
    return f"{said} {words.RWN_TERMS.format(**listed)}" if slice["terms"] else said


def setting_words(setting: Mapping[str, Any]) -> str:
    """Say in words what RWN does at a setting; empty for any other method."""
    method, known = in_present_names(setting["method"], setting.get("parameters", {}))
    soft = method == SoftRWN.method
    slices = setting.get("slices", ())
    if not soft and method != RWN.method:
        return ""
    said = [words.RWN_NEAR[soft], words.RWN_VALUES[float(known.get("q", 1.0)) < 1]]
    if slices:
        said.append(words.RWN_SLICES.format(slices="; ".join(", ".join(names) for names in slices)))
    if soft and bool(known.get("own", False)):
        said.append(words.RWN_OWN)
    if soft and float(known.get("balance", 0.0)) > 0:
        said.append(words.RWN_BALANCE)
    if known.get("outside_household", False):
        said.append(words.RWN_HOUSEHOLD)
    return " ".join([*said, words.RWN_TRUE[bool(setting.get("precision"))]])
