"""What pages and reports show of a measure: its charts, tables and headline numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """Show one headline number of a reading.

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
    aim : str
        The name of its aim for utility.
    """

    places: Mapping[str, int]
    label: str
    words: Callable[[float], str]
    help: str = ""
    value: Callable[[Any], float] = attrgetter("value")
    part: str = ""
    context: Callable[[Any], str] = "".format
    aim: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Say where a measure is shown, and what is drawn and recorded of its detail.

    Attributes
    ----------
    charts : mapping of str to callable
        Charts that draw its reading, by key: each returns plain Plotly data.
    of_variable : mapping of str to callable
        Charts that draw one variable of its reading, given by name.
    tables : tuple of callable
        Tables below the pictures, of its reading and the number of records; None where there is
        nothing to say.
    tiles : tuple of Tile
        Headline numbers of its reading.
    about : {"", "row", "value"}
        Whether it asks for the person of a released row, or for what is learned about a person.
    of_all_kinds : str
        The measure that is shown in its place where not all variables are numbers.
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
    recorded : tuple of str
        Parts of the detail that the record of a release retains: counts and shares, never a
        record's own.
    places : mapping of str to int
        Each page and table that shows it, such as "report", and its place there.
    """

    charts: Mapping[str, Callable[..., dict[str, Any]]] = field(default_factory=dict)
    of_variable: Mapping[str, Callable[..., dict[str, Any]]] = field(default_factory=dict)
    tables: tuple[Callable[..., dict[str, Any] | None], ...] = ()
    tiles: tuple[Tile, ...] = ()
    about: Literal["", "row", "value"] = ""
    of_all_kinds: str = ""
    silent: bool = False
    shared: str = ""
    label: str = ""
    level: tuple[str, str] | None = None
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    recorded: tuple[str, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
