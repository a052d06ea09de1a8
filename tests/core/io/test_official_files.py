"""Files in the layouts of statistical offices, read and released."""

from __future__ import annotations

import datetime as dt
import io
import math
import struct
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
import xlsxwriter

import rwn_core as rwn
from rwn_core import InputError, Role
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.identity import identity_doubts
from rwn_core.data.role_guesses import guessed_roles
from rwn_core.io import format_of_key, format_of_name, limits
from rwn_core.io.guessed_layout import guess_text_layout
from rwn_core.io.other_readers import differing
from rwn_core.io.parse import parse
from rwn_core.io.time_formats import time_format
from rwn_core.masking.second_reading import SourceFile, second_reading

HOUSEHOLDS = 110
ROLES = {
    "h": Role.HOUSEHOLD,
    "p": Role.PERSON,
    "i": Role.IDENTIFIER,
    "w": Role.SAMPLING_WEIGHT,
    "k": Role.KEY,
    "s": Role.CONFIDENTIAL,
}
SEMICOLONS = FileLayout(encoding="cp1252", separator=";", decimal=",")
COUNTRIES = ["AT", "DE", "FR", "IT", "PL", "SE"]
ILLS = ["I10", "E11.9", "J45.0", "F32.1", "M54.5", "K21.0"]


@dataclass(frozen=True)
class Item:
    """One variable of a layout."""

    name: str
    label: str
    made: str
    role: str
    codes: dict[int, str]
    missing: tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """A layout with a table of values."""

    items: list[Item]
    frame: pd.DataFrame
    files: list[str]


def _item(line: str) -> Item:
    name, label, made, role, *codes = (part.strip() for part in line.split("|"))
    pairs = [each.strip().split("=", 1) for each in (codes[0] if codes else "").split(";") if each]
    return Item(
        name=name,
        label=label,
        made=made,
        role=role,
        codes={int(code.rstrip("!")): text for code, text in pairs},
        missing=tuple(int(code[:-1]) for code, _ in pairs if code.endswith("!")),
    )


@cache
def layouts() -> dict[str, Layout]:
    """All layouts, each with a table."""
    path = Path(__file__).with_name("official_layouts.toml")
    given = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: _layout(each, np.random.default_rng(place))
        for place, (name, each) in enumerate(given.items())
    }


def _layout(given: dict[str, Any], rng: np.random.Generator) -> Layout:
    items = [_item(line) for line in given["variables"].strip().splitlines()]
    one_each = not any(
        each.made.split()[-1] in ("household", "pernum", "caseid", "textserial") for each in items
    )
    sizes = np.ones(3 * HOUSEHOLDS, int) if one_each else rng.integers(1, 5, HOUSEHOLDS)
    place = np.repeat(np.arange(len(sizes)), sizes)  # the household of a person
    member = np.concatenate([np.arange(1, size + 1) for size in sizes])
    years = given.get("panel", 1)
    rows = np.arange(len(place))
    if years > 1:
        some = (
            np.full(len(rows), years)
            if given.get("balanced")
            else rng.integers(1, years + 1, len(rows))
        )
        rows = np.repeat(rows, some)
    nth = pd.Series(rows).groupby(rows).cumcount().to_numpy()
    columns = {}
    for item in items:
        own = item.made.startswith("own ")
        kind, *more = item.made.removeprefix("own ").split()
        if kind == "year":
            columns[item.name] = int(more[0]) + nth
            continue
        where = np.arange(len(place)) if own or years == 1 else rows
        made = _values(kind, more, item, (place, member, sizes), where, rng)
        columns[item.name] = pd.Series(made)[rows].to_numpy() if own or years == 1 else made
    frame = pd.DataFrame(columns)
    return Layout(items=items, frame=frame, files=given["files"].split())


def _values(
    kind: str,
    more: list[str],
    item: Item,
    people: tuple[np.ndarray, np.ndarray, np.ndarray],
    where: np.ndarray,
    rng: np.random.Generator,
) -> Any:
    place, member, sizes = people
    n = len(where)
    household = place[where]
    numbers = np.sort(rng.choice(80_000, len(sizes), replace=False)) + 10_001
    weight = np.round(rng.lognormal(6, 0.5, len(sizes)), 4)
    low, high, *rest = [*map(float, [each for each in more if each[0] in "-.0123456789"]), 0, 0]
    if kind == "code":
        known = [code for code in item.codes if code not in item.missing]
        made = rng.choice(known, n)
        if item.missing:
            made[rng.random(n) < 0.04] = item.missing[0]
        return made
    simple: dict[str, Callable[[], Any]] = {
        "const": lambda: np.array([int(more[0]) if more[0].isdigit() else more[0]] * n),
        "household": lambda: numbers[household],
        "person": lambda: numbers[household] * 100 + member[where],
        "pernum": lambda: member[where],
        "hhnum": lambda: household % 7 + 1,
        "hhsize": lambda: sizes[household],
        "cluster": lambda: household // 5 + 1,
        "counter": lambda: int(low) + np.arange(n),
        "textserial": lambda: [f"2021HU{numbers[h]:07d}" for h in household],
        "caseid": lambda: [
            f"{h // 5 + 1:8d}{h % 7 + 1:4d}{m:3d}"
            for h, m in zip(household, member[where], strict=True)
        ],
        "nuts": lambda: np.array([f"AT{each}" for each in (11, 12, 13, 21, 22, 31, 32, 33, 34)])[
            rng.integers(0, 9, n)
        ],
        "country": lambda: rng.choice(COUNTRIES, n),
        "icd": lambda: rng.choice(ILLS, n),
        "yob": lambda: rng.integers(1930, 2003, n),
        "age": lambda: rng.integers(int(low), int(high) + 1, n),
        "score": lambda: rng.integers(int(low), int(high) + 1, n),
        "weight": lambda: weight[household],
        "weight6": lambda: np.round(weight[household] * 1_000).astype(int),
        "weightint": lambda: np.maximum(rng.lognormal(4, 0.6, n).astype(int), 1),
        "amount": lambda: np.where(
            rng.random(n) < 0.05, np.nan, rng.lognormal(low, high, n).round()
        ),
        "hhamount": lambda: rng.lognormal(low, high, len(sizes)).round()[household],
        "measure": lambda: np.round(rng.normal(low, high, n), int(rest[0])),
        "date": lambda: (
            np.datetime64(f"{int(low)}-01-01", "D") + rng.integers(0, 365 * int(high - low), n)
        ),
    }
    return simple[kind]()


@dataclass(frozen=True)
class OfficialFile:
    """A file, how it is read, and what its cells are."""

    layout: str
    form: str
    name: str
    content: bytes
    how: FileLayout | None
    cells: dict[str, list[Any]]
    roles: dict[str, Role]


@cache
def official_file(name: str, form: str) -> OfficialFile:
    """Write one file."""
    layout = layouts()[name]
    ending, content = _written(layout, form)
    return OfficialFile(
        layout=name,
        form=form,
        name=f"t.{ending}",
        content=content,
        how=SEMICOLONS if form == "semicolon" else None,
        cells={item.name: _cells(layout.frame[item.name], item, form) for item in layout.items},
        roles={item.name: ROLES[item.role] for item in layout.items if item.role},
    )


def _cells(column: pd.Series[Any], item: Item, form: str) -> list[Any]:
    """What each cell is to be read as: its label where the file has labels."""
    made = []
    missing = item.missing if form in ("sav", "zsav", "fixed") else ()
    labelled = form in ("sav", "zsav", "fixed") or form.startswith("dta")
    for value in column.tolist():
        if pd.isna(value) or value in missing:
            made.append(None)
        elif labelled and item.codes:
            made.append(item.codes[value])
        else:
            made.append(value)
    return made


def _written(layout: Layout, form: str) -> tuple[str, bytes]:
    frame = layout.frame
    stream = io.BytesIO()
    labels = {each.name: each.label for each in layout.items}
    codes = {each.name: each.codes for each in layout.items if each.codes}
    if form in ("csv", "tsv"):
        frame.to_csv(stream, index=False, sep="," if form == "csv" else "\t")
        return form, stream.getvalue()
    if form == "semicolon":
        text = frame.to_csv(index=False, sep=";", decimal=",", lineterminator="\r\n")
        return "csv", text.encode("cp1252")
    if form == "xlsx":
        with pd.ExcelWriter(stream, engine="xlsxwriter") as book:
            frame.to_excel(book, sheet_name="data", index=False)
        return "xlsx", stream.getvalue()
    if form in ("parquet", "int96"):
        table = pa.Table.from_pandas(frame, preserve_index=False)
        old = form == "int96"
        pq.write_table(table, stream, use_deprecated_int96_timestamps=old)
        return "parquet", stream.getvalue()
    if form == "feather":
        frame.to_feather(stream)
        return form, stream.getvalue()
    if form == "r":
        write = format_of_key("r").write
        return "rds", write(frame, None)
    if form.startswith("dta"):
        frame.to_stata(
            stream,
            write_index=False,
            version=int(form[3:]),
            variable_labels=labels,
            value_labels=codes,
            convert_dates=dict.fromkeys(frame.select_dtypes("datetime"), "td"),
        )
        return "dta", stream.getvalue()
    if form == "fixed":
        return "dat", _fixed_width(layout)
    return _by_readstat(layout, form, labels, codes)


def _by_readstat(
    layout: Layout, form: str, labels: dict[str, str], codes: dict[str, dict[int, str]]
) -> tuple[str, bytes]:
    frame = layout.frame
    more = dict[str, Any]()
    kind = {"xpt5": "xport", "xpt8": "xport", "zsav": "sav"}.get(form, form)
    if kind == "sav":
        missing = {each.name: list(each.missing) for each in layout.items if each.missing}
        more = {"variable_value_labels": codes, "missing_ranges": missing}
        more["compress"] = form == "zsav"
    if kind == "xport":
        more = {"file_format_version": int(form[3:]), "table_name": "DEMO"}
    # a day has no clock, or the programs show one
    days = frame.assign(**{n: frame[n].dt.date for n in frame.select_dtypes("datetime")})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t.{kind}"
        getattr(pyreadstat, f"write_{kind}")(days, str(path), column_labels=labels, **more)
        return {"xport": "xpt"}.get(kind, form), path.read_bytes()


def _fixed_width(layout: Layout) -> bytes:
    """Lines of one length, and after a NUL the codebook."""
    start = 1
    variables = []
    columns = []
    for item in layout.items:
        column = layout.frame[item.name]
        decimals = 4 if column.dtype.kind == "f" and (column.dropna() % 1 != 0).any() else 0
        digits = [
            "" if pd.isna(each) else f"{round(float(each) * 10**decimals):d}" for each in column
        ]
        width = max(map(len, digits))
        columns.append([each.rjust(width) for each in digits])
        absent = dict.fromkeys(item.missing, " missing='Y'")
        pairs = "".join(
            f"<catgry{absent.get(code, '')}><catValu>{code}</catValu><labl>{text}</labl></catgry>"
            for code, text in item.codes.items()
        )
        variables.append(
            f'<var ID="{item.name}" name="{item.name}" dcml="{decimals}"><location '
            f'StartPos="{start}" EndPos="{start + width - 1}" width="{width}"/><labl>'
            f"{item.label.replace('&', '&amp;')}</labl>{pairs}"
            '<varFormat type="numeric" schema="other"/></var>'
        )
        start += width
    lines = "\n".join("".join(row) for row in zip(*columns, strict=True))
    book = f"<codeBook><dataDscr>{''.join(variables)}</dataDscr></codeBook>"
    return f"{lines}\n".encode() + b"\0" + book.encode()


def as_cell(value: Any) -> Any:
    """A value that compares: a number, a text, a day or none."""
    if value is None or value is pd.NA or value != value or value == "":
        return None
    if isinstance(value, dt.date | pd.Timestamp | np.datetime64):
        return pd.Timestamp(value)
    return value.strip() if isinstance(value, str) else float(value)


@cache
def read(layout: str, form: str) -> tuple[OfficialFile, rwn.Microdata]:
    file = official_file(layout, form)
    return file, parse(file.name, file.content, None, file.how)


FILES = [(name, form) for name, each in layouts().items() for form in each.files]


@pytest.mark.parametrize(("layout", "form"), FILES)
def test_every_cell_is_the_one_written_and_that_of_another_library(layout, form):
    file, data = read(layout, form)
    upper = {name.lower(): name for name in data.frame.columns}
    for name, cells in file.cells.items():
        found = [as_cell(each) for each in data.frame[upper[name.lower()]].astype(object)]
        wanted = [as_cell(each) for each in cells]
        if form == "por":  # whose numbers have digits to the base of 30
            same = [
                a == b or (isinstance(a, float) and math.isclose(a, b, rel_tol=1e-9))
                for a, b in zip(found, wanted, strict=True)
            ]
            assert all(same), name
        else:
            assert found == wanted, name
    other = format_of_name(file.name)
    if other.again is not None and form != "xpt8":  # pandas reads the transport format of version 5
        again = other.again(file.content, data.frame, data.schema)
        assert differing(data.frame, again, data.schema, gaps=False) == {}


def test_most_roles_of_each_file_and_four_of_five_of_every_kind_are_found():
    known, right = Counter[Role](), Counter[Role]()
    for layout, form in FILES:
        file, data = read(layout, form)
        found = {each.variable: each.role for each in guessed_roles(data.frame, data.schema)}
        names = list(data.frame.columns)
        upper = {name.lower(): name for name in names}
        truth = {upper[name.lower()]: role for name, role in file.roles.items()}
        for each in identity_doubts(data.frame, names):  # what is asked about is found
            if each.stops and truth.get(each.variable) is Role.IDENTIFIER:
                found[each.variable] = Role.IDENTIFIER
        known.update(truth.values())
        right.update(role for name, role in truth.items() if found.get(name) == role)
        wrong = {name: found.get(name) for name, role in truth.items() if found.get(name) != role}
        assert len(wrong) <= 0.3 * len(truth), (layout, form, wrong)
    assert min(right[role] / known[role] for role in known) >= 0.8


DAYS = [dt.date(1960, 2, 29), dt.date(1899, 12, 31), dt.date(2024, 2, 29), dt.date(9999, 12, 31)]
MOMENTS = [dt.datetime(1959, 12, 31, 23, 59, 58), dt.datetime(2024, 2, 29, 12, 0, 1)]


def labelled(kind: str, numbers: Sequence[float | None], written: str) -> bytes:
    """Write a file whose second column has a format; the first one is a plain number."""
    frame = pd.DataFrame({"x": np.arange(len(numbers)) + 0.5, "when": np.array(numbers, float)})
    options: dict[str, Any] = {"variable_format": {"when": written}}
    if kind == "xpt":
        options["file_format_version"] = 8
    writers = {"dta": "dta", "sav": "sav", "zsav": "sav", "xpt": "xport"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t.{kind}"
        getattr(pyreadstat, f"write_{writers[kind]}")(frame, str(path), **options)
        return path.read_bytes()


def read_when(kind: str, numbers: Sequence[float | None], written: str) -> rwn.Microdata:
    return parse(f"t.{kind}", labelled(kind, numbers, written))


def values(data: rwn.Microdata) -> list[Any]:
    return [None if pd.isna(each) else each for each in data.frame["when"].tolist()]


STATA_DAYS = [
    "%td",
    "%tdDDmonCCYY",
    "%tdCCYY-NN-DD",
    "%tdD_m_Y",
    "%-td",
    "%12td",
    "%d",
    "%9d",
    "%-9d",
    "%dN/D/Y",
    "%dD_m_CY",
    "%td..",
    "%tdNN/DD/CCYY",
]
STATA_MOMENTS = [
    "%tc",
    "%tcDDmonCCYY_HH:MM:SS",
    "%tcCCYY-NN-DD_HH:MM",
    "%-tc",
    "%tcDDmonCCYY",
    "%tcNN/DD/YY",
]
SAS_DAYS = [
    "DATE9.",
    "DATE7.",
    "DATE11.",
    "DATE.",
    "MMDDYY10.",
    "MMDDYY8.",
    "DDMMYY10.",
    "YYMMDD10.",
    *(f"YYMMDD{mark}{10 if mark != 'N' else 8}." for mark in "BCDNPS"),
    *(f"DDMMYY{mark}{10 if mark != 'N' else 8}." for mark in "BCDNPS"),
    *(f"MMDDYY{mark}{10 if mark != 'N' else 8}." for mark in "BCDNPS"),
    "MONYY7.",
    "MONYY5.",
    "JULIAN7.",
    "JULIAN5.",
    "WEEKDATE29.",
    "WEEKDATX29.",
    "WORDDATE18.",
    "E8601DA10.",
    "B8601DA8.",
    "IS8601DA10.",
    "YYMM7.",
    "YYMMC7.",
    "YYMMN6.",
    "MMYY7.",
    "YYQ6.",
    "YYMON7.",
    "YEAR4.",
    "QTR1.",
    "NLDATE20.",
    "EURDFDD10.",
    "DAY2.",
    "MONNAME9.",
    "YYQR6.",
]
SAS_MOMENTS = [
    "DATETIME20.",
    "DATETIME18.2",
    "DATETIME.",
    "DATEAMPM20.",
    "MDYAMPM20.",
    "E8601DT19.",
    "B8601DT15.",
    "E8601DZ20.",
    "B8601DZ20.",
    "DTDATE9.",
    "DTMONYY7.",
    "DTYEAR4.",
    "E8601DN10.",
    "NLDATM20.",
    "E8601LX20.",
]
SPSS_DAYS = ["DATE11", "DATE9", "ADATE10", "ADATE8", "EDATE10", "JDATE7", "SDATE10"]
SPSS_PERIODS = ["MOYR8", "MOYR6", "QYR8", "WKYR10"]
SPSS_MOMENTS = ["DATETIME20", "DATETIME23.2", "YMDHMS20"]


def test_stata_counts_leap_seconds_only_where_it_says_so():
    """[D] Datetime: the leap second of 2016 is 30dec2016 23:59:60 plus a day, number 27 of them."""
    new_year = 1000 * (dt.datetime(2017, 1, 1) - dt.datetime(1960, 1, 1)).total_seconds()
    numbers = [0.0, new_year + 27_000, new_year + 25_000]
    expected = ["1960-01-01", "2017-01-01", "2016-12-31 23:59:59"]
    assert values(read_when("dta", numbers, "%tC")) == [pd.Timestamp(each) for each in expected]


@pytest.mark.parametrize(
    ("written", "numbers", "first_days"),
    [
        ("%tm", [0, -1, 768, 600], ["1960-01-01", "1959-12-01", "2024-01-01", "2010-01-01"]),
        ("%tmMon_CCYY", [0, 5, 13, 600], ["1960-01-01", "1960-06-01", "1961-02-01", "2010-01-01"]),
        ("%tq", [0, -1, 257, 3], ["1960-01-01", "1959-10-01", "2024-04-01", "1960-10-01"]),
        ("%th", [0, -1, 129, 1], ["1960-01-01", "1959-07-01", "2024-07-01", "1960-07-01"]),
        ("%tw", [0, -1, 51, 52], ["1960-01-01", "1959-12-24", "1960-12-23", "1961-01-01"]),
    ],
)
def test_periods_of_stata_are_their_first_days(written, numbers, first_days):
    data = read_when("dta", numbers, written)
    assert values(data) == [pd.Timestamp(day) for day in first_days]
    assert any("each is read as its first day" in notice for notice in data.notices)


MIDNIGHTS = [dt.datetime.combine(day, dt.time()) for day in DAYS]
QUARTER = dt.datetime(2024, 2, 29, 12, 0, 1, 250_000)
TIMES: list[tuple[str, dt.datetime, float, list[dt.datetime], list[str]]] = [
    # kind of file, what is counted from, seconds of a unit, what is written, its formats
    ("dta", dt.datetime(1960, 1, 1), 86_400, MIDNIGHTS, STATA_DAYS),
    ("dta", dt.datetime(1960, 1, 1), 1e-3, MOMENTS, STATA_MOMENTS),
    ("xpt", dt.datetime(1960, 1, 1), 86_400, MIDNIGHTS, SAS_DAYS),
    ("xpt", dt.datetime(1960, 1, 1), 1, MOMENTS, SAS_MOMENTS),
    ("sav", dt.datetime(1582, 10, 14), 1, MIDNIGHTS, [*SPSS_DAYS, *SPSS_PERIODS]),
    ("sav", dt.datetime(1582, 10, 14), 1, [*MOMENTS, QUARTER], SPSS_MOMENTS),
]


@pytest.mark.parametrize(
    ("kind", "origin", "unit", "times", "written"),
    [(*each[:4], written) for each in TIMES for written in each[4]],
)
def test_days_and_moments_of_every_program(kind, origin, unit, times, written):
    numbers = [round((each - origin) / dt.timedelta(seconds=unit), 3) for each in times]
    data = read_when(kind, [*numbers, None], written)
    assert [each and each.to_pydatetime() for each in values(data)] == [*times, None]
    assert data.schema.variable("when").kind is rwn.Kind.DATE
    notices = " ".join(data.notices)
    assert "cut off" not in notices
    if kind == "sav":
        assert ("shows a part of each day only" in notices) == (written in SPSS_PERIODS)


@pytest.mark.parametrize(
    ("kind", "written", "numbers"),
    [
        *(("xpt", f, [0.0, 3661.0, 86_399.5]) for f in ("TIME8.", "TOD8.", "HHMM5.", "E8601TM8.")),
        *(("sav", f, [0.0, 3661.0, 200_000.0]) for f in ("TIME8", "DTIME12", "MTIME8")),
        *(("sav", f, [1.0, 2.0, 7.0]) for f in ("WKDAY9", "MONTH9")),
        ("dta", "%ty", [1960.0, 2010.0, 2024.0]),
        ("dta", "%tbsimple", [1.0, 2.0, 3.0]),
        ("xpt", "XYDATE9.", [1.0, 2.0, 3.0]),
        ("dta", "%td", [1.0, 2.0, 9e9]),
    ],
)
def test_what_is_no_day_stays_the_number_and_is_said(kind, written, numbers):
    data = read_when(kind, numbers, written)
    assert values(data) == numbers
    assert any(f"when ({written.rstrip('.')})" in notice for notice in data.notices)


def test_a_clock_of_stata_stays_a_number_unless_it_shows_days_in_part():
    data = read_when("dta", [0.0, 3_661_500.0, 86_399_000.0], "%tcHH:MM:SS")
    assert values(data) == [0.0, 3_661_500.0, 86_399_000.0]
    assert any("numbers of milliseconds" in notice for notice in data.notices)
    data = read_when("dta", [0.0, 1e12], "%tcHH:MM:SS")
    assert values(data) == [pd.Timestamp("1960-01-01"), pd.Timestamp("1991-09-09 01:46:40")]


def test_letters_for_missing_among_dates_are_missing(tmp_path):
    frame = pd.DataFrame({"when": [0.0, 59.0, "a"], "x": [1.5, 2.5, 3.5]}).astype({"when": object})
    path = tmp_path / "letters.dta"
    pyreadstat.write_dta(
        frame, path, variable_format={"when": "%td"}, missing_user_values={"when": ["a"]}
    )
    data = parse("t.dta", path.read_bytes())
    assert values(data) == [pd.Timestamp("1960-01-01"), pd.Timestamp("1960-02-29"), None]


def int96(day: int) -> bytes:
    """Write moments of 96 bits, one of them on a day by its Julian number."""
    stream = io.BytesIO()
    noon = dt.timedelta(hours=12)
    days = [dt.datetime(2020, 1, 1) + noon, dt.datetime(2021, 1, 1) + noon, None]
    table = pa.table({"when": pa.array(days, pa.timestamp("us")), "x": [1.5, 2.5, 3.5]})
    pq.write_table(
        table, stream, use_deprecated_int96_timestamps=True, use_dictionary=False, compression=None
    )
    half = 12 * 3600 * 10**9
    old, new = struct.pack("<qi", half, 2_458_850), struct.pack("<qi", half, day)
    content = stream.getvalue()
    assert content.count(old) >= 1
    return content.replace(old, new)


@pytest.mark.parametrize("day", [dt.date(9999, 12, 31), dt.date(2262, 4, 12), dt.date(1, 1, 1)])
def test_moments_of_96_bits_do_not_wrap(day):
    """Finding F3: 9999-12-31 became 1816-03-29."""
    content = int96(day.toordinal() + 1_721_425)
    read = values(parse("t.parquet", content))
    assert read[0].to_pydatetime() == dt.datetime.combine(day, dt.time(12))
    assert read[1] == pd.Timestamp("2021-01-01 12:00")


N = 40
ODD_COLUMNS: dict[str, list[Any]] = {
    "house": ["12 1/2", *(str(i) for i in range(N - 1))],
    "route": ["A40" if i % 9 == 0 else str(i % 5) for i in range(N)],
    "empty": [None] * N,
    "code": [f"{i % 7:05}" for i in range(N)],
    "age": [18 + i for i in range(N)],
}


@pytest.mark.parametrize("key", ["csv", "tsv", "excel", "parquet", "feather", "stata", "spss", "r"])
def test_one_odd_column_never_stops_the_others(key):
    frame = pd.DataFrame(ODD_COLUMNS).astype({"empty": "float64"})
    form = format_of_key(key)
    data = parse(f"t{form.suffixes[0]}", form.write(frame, None))
    for name in ("house", "route", "code"):
        assert data.frame[name].astype(str).tolist() == ODD_COLUMNS[name]
        assert data.schema.variable(name).kind is rwn.Kind.CATEGORICAL
    assert data.frame["age"].tolist() == ODD_COLUMNS["age"]
    assert "empty" not in [variable.name for variable in data.schema.released]
    assert sum("Left out of every release: empty" in notice for notice in data.notices) == 1
    if key in ("csv", "tsv"):
        (notice,) = [notice for notice in data.notices if notice.startswith("Read as categories")]
        assert "house (line 2: 1 value" in notice
        assert "route (lines 2, 11, 20, ...: 5 values" in notice
        assert "1/2" not in notice


def partial(*names: str) -> rwn.Schema:
    return rwn.Schema(variables=tuple(rwn.Variable(name=n, kind="categorical") for n in names))


def test_times_of_the_day_are_seconds_in_arrow_and_excel():
    clocks = [dt.time(i % 24, 30, 15) for i in range(N)]
    seconds = [3600.0 * (i % 24) + 1815 for i in range(N)]
    stream = io.BytesIO()
    lengths = pa.array([dt.timedelta(seconds=s) for s in seconds], pa.duration("us"))
    pq.write_table(pa.table({"t": clocks, "d": lengths, "x": range(N)}), stream)
    data = parse("t.parquet", stream.getvalue())
    assert data.frame["t"].tolist() == data.frame["d"].tolist() == seconds
    for epoch in (False, True):
        days = [dt.date(1990 + i % 30, 1 + i % 12, 1 + i % 28) for i in range(N)]
        sheet = workbook({"t": clocks, "day": days}, epoch)
        data = parse("t.xlsx", sheet)
        assert data.frame["t"].tolist() == seconds
        assert [each.date() for each in data.frame["day"]] == days


def workbook(columns: dict[str, Sequence[Any]], date_1904: bool = False) -> bytes:
    stream = io.BytesIO()
    options = {"in_memory": True, "default_date_format": "yyyy-mm-dd", "date_1904": date_1904}
    with xlsxwriter.Workbook(stream, options) as book:
        page = book.add_worksheet()
        clock = book.add_format({"num_format": "hh:mm:ss"})
        for place, (name, cells) in enumerate(columns.items()):
            page.write(0, place, name)
            for row, cell in enumerate(cells, 1):
                given = (clock,) if isinstance(cell, dt.time) else ()
                page.write(row, place, cell, *given)
    return stream.getvalue()


WIDE = [f"v{i}" for i in range(31)]


@pytest.mark.parametrize("ending", ["csv", "parquet", "rds"])
def test_of_too_many_columns_those_that_are_asked_for_are_read(ending, monkeypatch):
    monkeypatch.setattr(limits, "MOST_COLUMNS", 20)
    frame = pd.DataFrame(np.arange(3 * 31).reshape(3, -1), columns=WIDE)
    form = format_of_name(f"t.{ending}")
    content = form.write(frame, None)
    data = parse(f"t.{ending}", content)
    assert data.p == 20
    assert "Of 31 columns 20 are read" in " ".join(data.notices)
    chosen = parse(f"t.{ending}", content, None, FileLayout(only=("v30", "v5")))
    assert chosen.frame.equals(frame[["v5", "v30"]])
    fewer = FileLayout(drop=tuple(f"v{i}" for i in range(12)))
    assert parse(f"t.{ending}", content, None, fewer).frame.equals(frame.iloc[:, 12:])
    described = partial("v7", "v29")
    assert parse(f"t.{ending}", content, described).names == ("v7", "v29")
    with pytest.raises(InputError, match="no column nosuch"):
        parse(f"t.{ending}", content, None, FileLayout(only=("nosuch",)))


COUNTS = [float(i) for i in range(N)]
MIXED = {
    "t": [dt.time(i % 24, 30, 15) for i in range(N)],
    "x": [i / 7 for i in range(N)],
    "mixed": [dt.date(2020, 1, 1 + i % 28) if i % 2 else "unknown" for i in range(N)],
}
LEAVES = {
    "clock.xlsx": lambda: workbook(MIXED),
    "96.parquet": lambda: int96(5_373_484),
    **{
        f"{number}.dta": lambda written=written: labelled("dta", COUNTS, written)
        for number, written in enumerate(("%tm", "%-td", "%tcHH:MM", "%tw", "%tC", "%dN/D/Y"))
    },
    "days.xpt": lambda: labelled("xpt", COUNTS, "YYMMDDC10."),
    "months.sav": lambda: labelled("sav", [1e10 + 86_400 * i for i in COUNTS], "MOYR8"),
}


@pytest.mark.parametrize("name", LEAVES)
def test_a_release_of_such_a_file_passes_the_second_reading(name):
    content = LEAVES[name]()
    data = parse(name, content)
    # some of them number their rows by days or months
    release = rwn.mask(data, rwn.RWN(k=2), rows="separate", seed=1)
    for target in ("csv", "parquet"):
        written = release.to_bytes(target, keep=[each.variable for each in release.find_doubts()])
        found = second_reading(release, written, target, SourceFile(name=name, content=content))
        assert set(found.checked) == set(data.names)


@pytest.mark.parametrize(
    ("name", "cells", "form"),
    [
        ("born", [19_500_101 + 10_000 * i for i in range(N)], "YYYYMMDD"),
        ("x", [f"{1 + i % 28:02}{1 + i % 12:02}19{50 + i}" for i in range(N)], "DDMMYYYY"),
        ("visit_date", [43_831 + i for i in range(N)], "days since 1900"),
        ("timestamp", [1_577_836_800 + 86_400 * i for i in range(N)], "seconds since 1970"),
        ("income", [43_831 + i for i in range(N)], ""),
        ("id", [12_345_678 + 17 * i for i in range(N)], ""),
    ],
)
def test_digits_that_are_days_are_said_and_not_converted(name, cells, form):
    rows = [f"{name},y", *(f"{cell},{i}.5" for i, cell in enumerate(cells))]
    data = parse("t.csv", "\n".join(rows).encode())
    said = [notice for notice in data.notices if "may be days" in notice]
    assert bool(said) == bool(form)
    assert all(form in notice for notice in said)
    assert data.frame[name].tolist() == cells


@pytest.mark.parametrize("cell", ["1.234.567", "12,34,567", "1'234", "12k", "1 234"])
def test_marks_of_thousands_are_said(cell):
    rows = "\n".join(f'"{cell}";{i}' for i in range(9))
    data = parse("t.csv", f"x;y\n{rows}\n".encode(), None, FileLayout(separator=";"))
    assert "x (lines 2, 3, 4, ...: 9 values have marks of thousands" in " ".join(data.notices)


def test_japanese_text_is_recognized():
    text = "氏名,市,x\n" + "".join(f"山田{i},東京,{i}\n" for i in range(9))
    for encoding, content in (("cp932", text), ("cp1252", "name,x\nMüßig “Zürich”,1\nÄöü,2\n")):
        seen = guess_text_layout(content.encode(encoding), ",")
        assert seen.layout.encoding == encoding


@pytest.mark.parametrize(
    ("program", "written"),
    [
        *(("dta", f) for f in ("%9.0g", "%10.2f", "%8.0gc", "%12s", "%21x", "%-9.0g", "%09.2f")),
        *(("xport", f) for f in ("BEST12.", "F8.2", "COMMA10.", "SEXFMT.", "MONEY.", "Z5.", "")),
        *(("sav", f) for f in ("F8.2", "A20", "COMMA8", "DOLLAR10.2", "N5", "PCT5", "E12.3")),
    ],
)
def test_a_format_of_numbers_shows_no_time(program, written):
    assert time_format(program, written) is None
