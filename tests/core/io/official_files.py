"""Small files of official layouts, made of `official_layouts.toml` in many formats, with truth."""

from __future__ import annotations

import datetime as dt
import io
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.variable import Role
from rwn_core.io import format_of_key

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
        each.made.split()[-1] in ("household", "texthousehold", "pernum", "caseid", "textserial")
        for each in items
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
    n, household = len(where), place[where]
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
        "id": lambda: np.sort(rng.choice(90 * n, n, replace=False)) + 1_000,
        "texthousehold": lambda: [f"{h // 5 + 1:8d}{h % 7 + 1:4d}" for h in household],
        "textserial": lambda: [f"2021HU{numbers[h]:07d}" for h in household],
        "textone": lambda: [f"2021HU{each:07d}" for each in rng.choice(10**6, n, replace=False)],
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


def official_files() -> list[tuple[str, str]]:
    """Every layout in each of its formats."""
    return [(name, form) for name, each in layouts().items() for form in each.files]


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
    frame, stream = layout.frame, io.BytesIO()
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
        assert write is not None
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
    import tempfile

    frame, more = layout.frame, dict[str, Any]()
    kind = {"xpt5": "xport", "xpt8": "xport", "zsav": "sav"}.get(form, form)
    if kind == "sav":
        missing = {each.name: list(each.missing) for each in layout.items if each.missing}
        more = {
            "variable_value_labels": codes,
            "missing_ranges": missing,
            "compress": form == "zsav",
        }
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
    start, variables, columns = 1, [], []
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
