"""Say what a file format is: its name, its endings, how it is read, written and recognized."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from rwn_core.data.file_layout import FileLayout
    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema
    from rwn_core.io.guessed_layout import GuessedLayout


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
    """True if a content has the format's own sign; never, as any text may be of such a format."""
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
    """

    key: str  # for code and the command line, such as "parquet"
    title: str  # for people, such as "Parquet"
    noun: str  # for a sentence about one file, such as "a Parquet file"
    # endings of a file's name, in lower case with their point; files are written under the first
    suffixes: tuple[str, ...]
    media_type: str
    # Of the file's name for messages, its bytes, a Schema or None and a FileLayout; gives a
    # Microdata, or raises InputError or SchemaError.
    read: Callable[..., Microdata]
    # Of a data frame and a Schema or None; gives bytes that hold the values, with the labels and
    # codes of the schema as far as the format keeps them, and nothing else, always the same. None
    # where files of the format are only read.
    write: Callable[[pd.DataFrame, Schema | None], bytes] | None
    # what a file keeps that is written and read again, or only read
    keeps: frozenset[Feature] = frozenset()
    companion: str = ""  # the ending of a second file that each has, such as a codebook
    demand: str = ""  # what a file must be beyond its format, such as "UTF-8, separated by commas"
    separator: str = ""  # the usual one, of separated text
    layout: frozenset[str] = frozenset()  # fields of a FileLayout that files of the format have
    # those of them that are written as the file of the original had them
    marks: frozenset[str] = frozenset()
    # Guesses the layout of a file's bytes. For formats with a layout.
    sees: Callable[[bytes], GuessedLayout | None] | None = None
    # whether these bytes are certainly of this format, whatever the file's name says
    detects: Callable[[bytes], bool] = _never
    # reads a file a second time, by another library than `read` does, see `other_readers`; None
    # where there is none
    again: Callable[[bytes, pd.DataFrame, Schema], pd.DataFrame] | None = None
    # the name of that library, for people; without `again`, of the one that reads releases
    again_by: str = ""

    @property
    def has_signature(self) -> bool:
        """True if the first bytes of this format identify it."""
        return self.detects is not _never

    @property
    def words(self) -> str:
        """The title, with what is demanded of a file in brackets."""
        return f"{self.title} ({self.demand})" if self.demand else self.title


def arrow_format(key: str, sign: bytes, **fields: Any) -> Format:
    """Return a format of Arrow's columns; its files begin with a sign."""
    return Format(
        key=key,
        keeps=frozenset({Feature.TRUTHS, Feature.DATES, Feature.TIME_ZONES, Feature.LEVEL_ORDER}),
        detects=lambda content: content.startswith(sign),
        again=when_called("rwn_core.io.other_readers.arrow_again"),
        again_by="Arrow's Rust library",
        **fields,
    )


MARKS = frozenset({"separator", "decimal", "dates"})


def text_format(separator: str, *, marks: frozenset[str], **fields: Any) -> Format:
    """Return a format of separated text; released files repeat these marks of the original."""

    def read(
        file: str, content: bytes, schema: Schema | None, layout: FileLayout | None = None
    ) -> Microdata:
        from rwn_core.io.text_reader import read_text_table

        return read_text_table(file, content, schema, layout, separator)

    def write(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
        from rwn_core.io.text_types.lay_out import text_table

        given = schema.file if schema is not None and "separator" in marks else None
        return text_table(frame, (given and given.separator) or separator, schema)

    return Format(
        read=read,
        write=write,
        separator=separator,
        layout=MARKS | {"encoding", "header", "above", "below", "missing", "grouped"},
        marks=marks,
        sees=partial(when_called("rwn_core.io.guessed_layout.guess_text_layout"), usual=separator),
        keeps=frozenset({Feature.DATES, Feature.TIME_ZONES}),
        again=partial(when_called("rwn_core.io.other_readers.text_again"), usual=separator),
        again_by="pandas",
        **fields,
    )
