"""Say what a file format is: its name, its endings, how it is read, written and recognized."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema
    from rwn_core.io.guessed_layout import GuessedLayout
    from rwn_core.io.other_readers import Found, Wanted


class Feature(StrEnum):
    """A feature that a format can store, in the order of the table in the docs."""

    TRUTHS = "truth values"
    DATES = "dates and times"
    TIME_ZONES = "time zones"
    LEVEL_ORDER = "order of levels"
    LABELS = "variable labels"
    VALUE_LABELS = "value labels with their codes"
    MISSING_CODES = "codes for missing"
    MISSING_LETTERS = "letters for missing"


def _never(content: bytes) -> bool:
    """Recognize nothing: any text may be of a format without a sign of its own."""
    return False


def when_called(name: str) -> Callable[..., Any]:
    """Return a function by its full name; its file is imported when the function is called."""
    module, _, function = name.rpartition(".")
    return lambda *given, **named: getattr(import_module(module), function)(*given, **named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format in which tables are read and releases are written.

    Its functions import what they need when they are called (`when_called`): the list of formats
    stays cheap.

    Attributes
    ----------
    key : str
        For code and the command line, such as "parquet".
    title : str
        For people, such as "Parquet".
    noun : str
        For a sentence about one file, such as "a Parquet file".
    suffixes : tuple of str
        Endings of a file's name, in lower case with their point; files are written under the first.
    media_type : str
    read : callable
        Of the file's name for messages, its bytes and a Schema or None; gives a Microdata, or
        raises InputError or SchemaError. Where `layout` names any, it takes a FileLayout, too.
    write : callable or None
        Of a data frame and a Schema or None; gives bytes that hold the values, with the labels
        and codes of the schema as far as the format keeps them, and nothing else, always the same.
        None where files of the format are only read.
    keeps : frozenset of Feature
        What a file keeps that is written and read again, or only read.
    demand : str
        What a file must be beyond its format, such as "UTF-8, separated by commas".
    layout : frozenset of str
        Fields of a FileLayout that files of the format have.
    marks : frozenset of str
        Those of them that are written as the file of the original had them.
    sees : callable or None
        Guesses the layout of a file's bytes. For formats with a layout.
    detects : callable
        Whether these bytes are certainly of this format, whatever the file's name says.
    again : callable or None
        Reads a file a second time, by another library than `read` does; None where there is none.
    again_by : str
        The name of that library, for people; without `again`, of the one that reads and does not
        write.
    """

    key: str
    title: str
    noun: str
    suffixes: tuple[str, ...]
    media_type: str
    read: Callable[..., Microdata]
    write: Callable[[pd.DataFrame, Schema | None], bytes] | None
    keeps: frozenset[Feature] = frozenset()
    demand: str = ""
    layout: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()
    sees: Callable[[bytes], GuessedLayout | None] | None = None
    detects: Callable[[bytes], bool] = _never
    again: Callable[[bytes, Wanted], Found] | None = None
    again_by: str = ""

    @property
    def has_signature(self) -> bool:
        """Return True if the first bytes of this format identify it."""
        return self.detects is not _never

    @property
    def words(self) -> str:
        """The title, with what is demanded of a file in brackets."""
        return f"{self.title} ({self.demand})" if self.demand else self.title
