"""What pages and reports show of a measure: its charts, tables and headline numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A tile with one headline number of a reading.

    `rwn_ui/panel/parts.py` draws it; Tune adds limit and comparison (`rwn_ui/tune/tiles.py`).

    Attributes
    ----------
    places : mapping of str to int
        Each page that shows it, and its place there.
    label, help : str
    words : callable
        Writes the number as people read it.
    value : callable
        Returns the number of a reading.
    part : str
        Of the reading's detail, where the number is not its value.
    context : callable
        Says of a reading what the number is read against.
    sampled : str
        What the number is in units of, where it is read on some records and they have other ones.
    """

    places: Mapping[str, int]
    label: str
    words: Callable[[float], str] = "{:.2f}".format
    help: str = ""
    value: Callable[[Any], float] = attrgetter("value")
    part: str = ""
    context: Callable[[Any], str] = "".format
    sampled: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linker:
    """One intruder among those that link rows.

    Attributes
    ----------
    place : int
        Place in the list, in the order of what they need.
    words : str or callable
        What the intruder knows; of a reading, or the reason why there is none: empty to leave out.
    success : callable
        Returns the share that it links, of a reading.
    worst, estimated : bool
        Whether it knows the method; and whether its number may be a lower bound only.
    """

    place: int
    words: str | Callable[[Any], str]
    success: Callable[[Any], float | None] = attrgetter("value")
    worst: bool = False
    estimated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """The places where a measure is shown, and what is drawn and recorded of its detail.

    Attributes
    ----------
    charts : mapping of str to callable
        Charts that draw its reading, by key: each returns plain Plotly data. Tune shows the first.
    of_variable : mapping of str to callable
        Charts that draw one variable of its reading, given by name.
    tables : tuple of callable
        Tables below the pictures, of its reading and the number of records; None where there is
        nothing to say.
    tile : Tile, optional
        The headline number of its reading.
    about : {"", "row", "value"}
        Whether it asks for the person of a released row, or for what is learned about a person.
    of_all_kinds, otherwise : str
        The measure that is shown in its place where not all variables are numbers, or where it has
        no reading.
    silent : bool
        Whether it has no card where it has no reading.
    shared, label : str
        The key of a chart that draws several measures, and the name of this one in it.
    level : tuple of str, optional
        The axis along which pinned settings are marked, "x", "y" or "" for in words, and the part
        of the detail that is marked; else "value". Without it they are drawn as lines.
    bands : mapping of str to tuple of float
        Parts of the detail that a chart shows over many draws, and the bounds of their numbers:
        statistics, never a record.
    bands_of : callable, optional
        Yields more of them, of a reading: name, numbers, what they belong to, and their bounds.
    recorded : tuple of str, or callable
        Parts of the detail that the record of a release retains, or what it retains of a reading:
        counts and shares, never a record's own.
    steps : tuple of float
        Where each word ends that the public notice has for its value.
    linkers : tuple of Linker
        Intruders that it tries, as the list of all that link shows them.
    warn : callable, optional
        Of its reading: warnings at a setting. Named are whether values are `drawn` from
        neighborhoods, and the share that an `ordinary` intruder links.
    places : mapping of str to int
        Each page and table that shows it, such as "report", and its place there.
    """

    charts: Mapping[str, Callable[..., dict[str, Any]]] = field(default_factory=dict)
    of_variable: Mapping[str, Callable[..., dict[str, Any]]] = field(default_factory=dict)
    tables: tuple[Callable[..., dict[str, Any] | None], ...] = ()
    tile: Tile | None = None
    about: Literal["", "row", "value"] = ""
    of_all_kinds: str = ""
    otherwise: str = ""
    silent: bool = False
    shared: str = ""
    label: str = ""
    level: tuple[str, str] | None = None
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    bands_of: Callable[[Any], Iterable[tuple[str, Any, Any, tuple[float, float]]]] | None = None
    recorded: tuple[str, ...] | Callable[[Any], dict[str, Any]] = ()
    steps: tuple[float, ...] = ()
    linkers: tuple[Linker, ...] = ()
    warn: Callable[..., list[str]] | None = None
    places: Mapping[str, int] = field(default_factory=dict)
