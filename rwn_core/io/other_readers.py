"""Read a file by another library than the one that `rwn_core.io` reads it with: for a second look.

Columns come back as plain values (texts, numbers, moments), each different one once.
"""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any
from xml.etree import ElementTree

from rwn_core.data.file_layout import FileLayout

Columns = dict[str, list[Any]]
ARROW, ARROW_RUST = "Arrow", "Arrow's Rust library"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Hold what another library finds in a file."""

    columns: Columns  # the different values of each column
    records: int
    by: str = ""  # the library, where it is not always the format's `again_by`
    same: bool = False  # whether it reads and writes the format the first time, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Say what is wanted of a file."""

    names: Sequence[str]  # its columns; of a text file all of them, in order
    layout: FileLayout
    moments: Set[str] = frozenset()  # columns of dates and times
    labels: Set[str] = frozenset()  # columns of which the labels of the codes are wanted


def text_again(content: bytes, wanted: Wanted, usual: str) -> Found:
    """Read a text table by pandas, every field as a text."""
    import pandas as pd

    layout, names = wanted.layout, wanted.names
    text = content.decode("utf-8-sig" if layout.encoding == "utf-8" else layout.encoding)
    frame = pd.read_csv(
        io.StringIO(text, newline=""),
        sep=layout.separator or usual,
        engine="c",
        dtype=str,
        keep_default_na=False,
        na_filter=False,
        header=0 if layout.header else None,
        skiprows=layout.above,
        skip_blank_lines=False,
        on_bad_lines="error" if not layout.below else "skip",
    )
    if frame.shape[1] != len(names):
        raise ValueError("another number of columns")
    columns = {name: pd.unique(frame.iloc[:, i]).tolist() for i, name in enumerate(names)}
    return Found(columns=columns, records=len(frame))


def arrow_again(content: bytes, wanted: Wanted) -> Found:
    """Read columns of Parquet or Feather, exact decimals as texts."""
    import pyarrow as pa

    table, same = _arrow_table(content)
    found: Columns = {}
    for name in wanted.names:
        column = table.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        exact = pa.types.is_decimal(column.type)
        values = column.unique().to_pylist()
        found[name] = [str(v) if exact and v is not None else _seconds(v) for v in values]
    by = ARROW if same else ARROW_RUST
    return Found(columns=found, records=table.num_rows, by=by, same=same)


def _seconds(value: Any) -> Any:
    """A time of the day or a duration as its number of seconds; any other value as it is."""
    if isinstance(value, time):
        value = datetime.combine(datetime.min, value) - datetime.min
    return value / timedelta(seconds=1) if isinstance(value, timedelta) else value


def _arrow_table(content: bytes) -> tuple[Any, bool]:
    """Read all columns by Rust's library if it is installed; True if only Arrow's own can."""
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as pq

    parquet = content.startswith(b"PAR1")
    source = pa.BufferReader(content)
    if parquet:
        pq.read_metadata(source)  # a damaged file makes the other library write to the terminal
    with suppress(ImportError, ValueError), _rust() as rust:
        read = rust.read_parquet if parquet else rust.read_ipc
        return pa.table(read(io.BytesIO(content))), False
    return (
        pq.read_table(source, coerce_int96_timestamp_unit="us")
        if parquet
        else feather.read_table(source)
    ), True


@contextmanager
def _rust() -> Iterator[Any]:
    """Give Rust's library of Arrow; whatever it raises becomes a ValueError."""
    import arro3.io

    try:
        yield arro3.io
    except BaseException as error:  # its panics are no Exception
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise ValueError("not read") from None
        raise


def stata_again(content: bytes, wanted: Wanted) -> Found:
    """Read a file of Stata by pandas."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # dates that stay numbers are found below
        codes = pd.read_stata(io.BytesIO(content), convert_categoricals=False, convert_dates=False)
        frames = {"codes": codes, "dates": codes, "labels": codes}
        if wanted.moments:
            frames["dates"] = pd.read_stata(io.BytesIO(content), convert_categoricals=False)
            _require_moments(frames["dates"], wanted)
        if wanted.labels:
            with suppress(ValueError):  # labels that codes share
                frames["labels"] = pd.read_stata(io.BytesIO(content), convert_dates=False)
    found: Columns = {}
    for name in wanted.names:
        kind = "labels" if name in wanted.labels else "codes"
        found[name] = pd.unique(frames["dates" if name in wanted.moments else kind][name]).tolist()
    return Found(columns=found, records=len(codes))


def sas_again(content: bytes, wanted: Wanted) -> Found:
    """Read a file of SAS by pandas."""
    import pandas as pd

    transport = content.startswith(b"HEADER")
    frame = pd.read_sas(
        io.BytesIO(content),
        format="xport" if transport else "sas7bdat",
        encoding="utf-8" if transport else "infer",
    )
    _require_moments(frame, wanted)
    columns = {name: pd.unique(frame[name]).tolist() for name in wanted.names}
    return Found(columns=columns, records=len(frame))


def _require_moments(frame: Any, wanted: Wanted) -> None:
    """Refuse to compare dates with numbers: pandas leaves formats that it does not know."""
    if any(frame[name].dtype.kind != "M" for name in wanted.moments):
        raise ValueError("dates stay numbers")


_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def workbook_again(content: bytes, wanted: Wanted) -> Found:
    """Read a workbook by Python's XML library."""
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        if wanted.moments and b'date1904="1"' in book.read("xl/workbook.xml"):
            raise ValueError("days are counted from another one")
        parts = sorted(n for n in book.namelist() if n.startswith("xl/worksheets/sheet"))
        shared = list(_shared(book))
        for part in parts:
            with book.open(part) as stream:
                found = _sheet(_rows(stream, shared), wanted.names)
            if found is not None:
                for name in wanted.moments & found.columns.keys():
                    found.columns[name] = [_moment(value) for value in found.columns[name]]
                return found
    raise ValueError("no sheet has these columns")


def _moment(value: Any) -> Any:
    """A workbook's number of days as a moment."""
    number = isinstance(value, float)
    return datetime(1899, 12, 30) + timedelta(days=value) if number else value


def _shared(book: zipfile.ZipFile) -> Iterator[str]:
    if "xl/sharedStrings.xml" not in book.namelist():
        return
    with book.open("xl/sharedStrings.xml") as stream:
        for _, element in ElementTree.iterparse(stream):
            if element.tag == f"{_MAIN}si":
                yield _words(element)
                element.clear()


def _words(element: ElementTree.Element) -> str:
    """The text of a string, without how it is pronounced."""
    own = [each.text or "" for each in element.findall(f"{_MAIN}t")]
    runs = [each.text or "" for each in element.findall(f"{_MAIN}r/{_MAIN}t")]
    return "".join(own + runs)


def _rows(stream: Any, shared: Sequence[str]) -> Iterator[dict[str, Any]]:
    for _, element in ElementTree.iterparse(stream):
        if element.tag == f"{_MAIN}row":
            yield {
                (cell.get("r") or "").rstrip("0123456789"): _cell(cell, shared)
                for cell in element.findall(f"{_MAIN}c")
            }
            element.clear()


def _cell(cell: ElementTree.Element, shared: Sequence[str]) -> Any:
    kind = cell.get("t", "n")
    inline = cell.find(f"{_MAIN}is")
    if inline is not None:
        return _words(inline)
    written = cell.findtext(f"{_MAIN}v")
    if written is None or kind == "e":
        return None
    if kind == "s":
        return shared[int(written)]
    if kind == "b":
        return written == "1"
    return float(written) if kind == "n" else written


def _sheet(rows: Iterator[dict[str, Any]], names: Sequence[str]) -> Found | None:
    """The columns below the first row that holds all the names."""
    for row in rows:
        places = {value: place for place, value in row.items() if isinstance(value, str)}
        if all(name in places for name in names):
            found: dict[str, dict[Any, None]] = {name: {} for name in names}
            records = 0
            for below in rows:
                records += 1
                for name in names:
                    value = below.get(places[name])
                    if value is not None:
                        # a truth value and a number would be one key
                        found[name].setdefault((isinstance(value, bool), value))
            columns = {name: [value for _, value in seen] for name, seen in found.items()}
            return Found(columns=columns, records=records)
    return None
