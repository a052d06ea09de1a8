"""A replay: compare the numbers that a source prints with ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from rwn_core.data.microdata import Microdata
from rwn_core.data.toml import toml_document
from rwn_core.errors import ParameterError
from rwn_core.evaluation.published_results.comparison import (
    Attempt,
    Number,
    Published,
    Row,
    Verdict,
)

SOURCES = {"paper": "paper", "program": "independent program"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Say how a replay is run.

    Attributes
    ----------
    short : bool
        Fewer repetitions: the same verdicts with more room for luck.
    data : Microdata, optional
        The paper's own table, where it is not among the demo tables; its schema has the weights
        and the regression.
    """

    short: bool = False
    data: Microdata | None = None

    def repetitions(self, full: int, short: int) -> int:
        """Return the number of repetitions."""
        return short if self.short else full


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Hold what came out, by the name of the published number.

    Attributes
    ----------
    numbers : mapping of str to Number or str
        A text says why there is none.
    attempts : mapping of str to tuple of Attempt
    pictures : tuple of (chart, what it draws)
        Charts by their key in CHARTS.
    unit : str
        Of the numbers that are drawn side by side; empty for none.
    notes : tuple of str
        How it was done, in sentences.
    stand_in : bool
        Whether the pictures show another table than the paper's.
    """

    numbers: Mapping[str, Number | str]
    attempts: Mapping[str, tuple[Attempt, ...]] = field(default_factory=dict)
    pictures: tuple[tuple[str, Any], ...] = ()
    unit: str = ""
    notes: tuple[str, ...] = ()
    stand_in: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """State one figure, table or claim of a paper that is run again.

    Attributes
    ----------
    key, title : str
    run : callable
        Of a Request; gives what was found.
    file : str
        Which table the user must give, if any.
    """

    key: str
    title: str
    run: Callable[[Request], Found]
    file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """Hold a replay's rows, and what else it shows.

    Attributes
    ----------
    key, title, where : str
        Where the source prints it.
    rows : tuple of Row
    pictures, unit, notes, stand_in
        As of `Found`.
    """

    key: str
    title: str
    where: str
    rows: tuple[Row, ...]
    pictures: tuple[tuple[str, Any], ...]
    unit: str
    notes: tuple[str, ...]
    stand_in: bool

    @property
    def drawn(self) -> tuple[Row, ...]:
        """The rows that stand side by side in a picture."""
        return tuple(row for row in self.rows if self.unit and row.published.unit == self.unit)

    @property
    def counts(self) -> tuple[str, ...]:
        """Count in words the rows of each source that agree, differ and cannot be found."""
        return totals(self.rows)


def totals(rows: Sequence[Row]) -> tuple[str, ...]:
    """Count in words the rows of each source that agree, differ and cannot be found."""
    of = {name: [r for r in rows if r.published.source == name] for name in SOURCES.values()}
    return tuple(_words(name, mine) for name, mine in of.items() if mine)


def _words(source: str, rows: Sequence[Row]) -> str:
    seen = Counter(row.verdict for row in rows)
    explained = sum(row.explained for row in rows)
    return (
        f"{source}: {seen[Verdict.AGREES]} of {len(rows)} agree, {seen[Verdict.DIFFERS]} differ "
        f"({explained} with a cause), {seen[Verdict.NOT_REPRODUCIBLE]} not reproducible"
    )


def replayed(replay: Replay, request: Request) -> Replayed:
    """Run a replay, and hold each published number against ours."""
    if request.data is not None and not replay.file:
        raise ParameterError(f"{replay.key} runs on a table of its own; leave the file out.")
    found = replay.run(request)
    return Replayed(
        key=replay.key,
        title=replay.title,
        where=str(_entry(replay.key)["where"]),
        rows=tuple(_row(each, found) for each in published(replay.key)),
        pictures=found.pictures,
        unit=found.unit,
        notes=found.notes,
        stand_in=found.stand_in,
    )


def _row(each: Published, found: Found) -> Row:
    number = found.numbers[each.name]
    if isinstance(number, str):
        return Row(published=each, reason=number)
    return Row(published=each, ours=number, attempts=found.attempts.get(each.name, ()))


@cache
def _facts() -> dict[str, Any]:
    text = (files(__package__) / "published.toml").read_text(encoding="utf-8")
    return toml_document(text, "data file")


def _entry(key: str) -> dict[str, Any]:
    entry: dict[str, Any] = _facts()[key]
    return entry


def published(key: str) -> tuple[Published, ...]:
    """The numbers that the source of a replay prints, in its order."""
    return tuple(_published(name, fact) for name, fact in _entry(key)["values"].items())


def _published(name: str, fact: Mapping[str, Any]) -> Published:
    text = str(fact["value"])
    bound = text.startswith("at least ")
    printed = text.removeprefix("at least ")
    number, rounding = float(printed), 0.0
    digits = Decimal(printed).as_tuple().exponent
    if not bound and isinstance(digits, int) and digits < 0:
        rounding = 0.5 * 10.0**digits
    return Published(
        name=name,
        text=text,
        low=number,
        high=float("inf") if bound else number,
        rounding=float(fact.get("rounding", rounding)),
        source=SOURCES[fact.get("from", "paper")],
        unit=str(fact.get("unit", "")),
        sd=fact.get("sd"),
        runs=int(fact.get("runs", 0)),
    )
