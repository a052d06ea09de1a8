"""What R, pandas and others write opens as it is meant, or with an advice that was tried."""

import gzip
import io
import json
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

import rwn_core as rwn
from rwn_core import Kind, Microdata, Schema, Variable
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.identity.gate import doubts_of_schema
from rwn_core.data.open_questions import open_questions, require_answers
from rwn_core.data.rows import Belong, Rows
from rwn_core.data.same_looks import pairs_of_levels
from rwn_core.errors import InputError, ReleaseError
from rwn_core.io import limits, reading, writable
from rwn_core.io.format import Feature, Format
from rwn_core.io.header_row import values_among_names
from rwn_core.io.other_readers import differing, json_again
from rwn_core.io.parse import parse, with_levels_joined
from rwn_core.io.r_files import r_bytes, with_letters
from rwn_core.io.row_names import is_counter, named

N = 24
SEPARATE = Rows(of=Belong.SEPARATE)
BY_R = Path(__file__).with_name("written_by_r.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A file, the table that another library or its writer has, and whether something is asked."""

    name: str  # of the file, with its ending
    content: bytes
    frame: pd.DataFrame
    asks: str = ""  # a variable that may identify people
    advice: bool = False  # whether it opens in the layout that is advised


def plain() -> pd.DataFrame:
    """A table without counters, with a missing value of each kind."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, N),
            "pay": rng.normal(2000, 300, N).round(2),
            "sex": pd.array(rng.choice(["m", "f"], N), dtype="str"),
            "day": pd.to_datetime("2020-01-31") + pd.to_timedelta(rng.integers(0, 900, N), "D"),
        }
    )
    frame.loc[3, "pay"] = np.nan
    frame.loc[4, "sex"] = None
    frame.loc[5, "day"] = pd.NaT
    return frame


INDEXES: dict[str, Callable[[], pd.Index]] = {
    "counter": lambda: pd.RangeIndex(N),
    "counter from 1": lambda: pd.Index(range(1, N + 1)),
    "counter called id": lambda: pd.Index(range(N), name="id"),
    "counter called person": lambda: pd.Index(range(1, N + 1), name="person"),
    "numbers of a part": lambda: pd.Index(range(0, 5 * N, 5)),
    "numbers in any order": lambda: pd.Index(np.random.default_rng(1).permutation(N)),
    "texts": lambda: pd.Index([f"p{i}" for i in range(N)]),
    "days": lambda: pd.date_range("2020-01-01", periods=N),
    "years": lambda: pd.Index(range(1960, 1960 + N)),
}
KEPT = {"texts": "row", "days": "row", "years": "row"}  # and under which name


def excel(frame: pd.DataFrame, **how: object) -> bytes:
    stream = io.BytesIO()
    frame.to_excel(stream, **how)
    return stream.getvalue()


def parquet(frame: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    frame.to_parquet(stream)
    return stream.getvalue()


def feather(frame: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    frame.to_feather(stream)
    return stream.getvalue()


WRITERS: dict[str, Callable[[pd.DataFrame], bytes]] = {
    "csv": lambda frame: frame.to_csv().encode(),
    "xlsx": excel,
    "parquet": parquet,
    "feather": feather,
}


def of_indexes() -> list[Case]:
    """Every index in every format of pandas; a range is no column of Parquet or Feather."""
    cases = []
    for ending, write in WRITERS.items():
        for what in INDEXES:
            if ending != "feather" or what == "texts":
                cases.append(of_index(what, ending, write))
    return cases


def of_index(what: str, ending: str, write: Callable[[pd.DataFrame], bytes]) -> Case:
    """One index in one format, and the table that a reader has."""
    index = INDEXES[what]()
    in_front = ending in ("csv", "xlsx")
    frame = plain()
    if in_front or not isinstance(index, pd.RangeIndex):
        place = 0 if in_front else frame.shape[1]
        if what in KEPT:
            frame.insert(place, KEPT[what], pd.Series(index))
        elif index.name is not None:
            frame.insert(place, str(index.name), pd.Series(index))
    content = write(plain().set_index(index))
    asks = "row" if what == "texts" else ""
    return Case(name=f"{what}.{ending}", content=content, frame=frame, asks=asks)


def of_texts() -> list[Case]:
    """Texts of pandas and others: packed, with titles, other marks, names that are numbers."""
    frame = plain()
    text = frame.to_csv(index=False)
    years = pd.DataFrame(np.random.default_rng(2).uniform(0, 90, (N, 3)).round(1))
    years.columns = ["2019", "2020", "2021"]
    years.insert(0, "land", [f"c{i % 5}" for i in range(N)])
    items = pd.DataFrame(np.random.default_rng(3).integers(1, 6, (N, 12)))
    items.columns = [str(number) for number in range(1, 13)]
    total = text + f"Total,{frame['pay'].sum():.2f},,\n"
    semicolons = frame.to_csv(index=False, sep=";", decimal=",")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("folder/table.csv", text)
        packed.writestr("readme.md", "The table of the office.")
    grouped = frame.assign(pay=[f"{v:,.2f}".replace(",", "\u2019") for v in frame["pay"]])
    grouped["pay"] = grouped["pay"].replace("nan", "")
    titled = "Survey of the office\n\n" + semicolons
    cases = [
        ("plain.csv", text, frame, {}),
        ("quoted.csv", frame.to_csv(index=False, quoting=1), frame, {}),
        ("na.csv", frame.drop(columns="sex").to_csv(na_rep="NA"), frame.drop(columns="sex"), {}),
        ("lines.csv", text.replace("\n", "\r\n"), frame, {}),
        ("tabs.tsv", frame.to_csv(sep="\t"), frame, {}),
        ("semicolons.csv", semicolons, frame, {"advice": True}),
        ("titled.csv", titled, frame, {"advice": True}),
        ("total.csv", total, frame, {"advice": True}),
        ("foot.csv", text + "\nSource: the office\n", frame, {"advice": True}),
        ("grouped.csv", grouped.to_csv(index=False), frame, {"advice": True}),
        ("years.csv", years.to_csv(index=False), years, {}),
        ("years with rows.csv", years.to_csv(), years, {}),
        ("items.csv", items.to_csv(index=False), items, {}),
        ("twice.csv", pd.read_csv(io.StringIO(frame.to_csv())).to_csv(), frame, {}),
    ]
    found = [Case(name=n, content=t.encode(), frame=f, **more) for n, t, f, more in cases]
    latin = frame.assign(sex=frame["sex"].replace({"m": "männlich"}))
    written = latin.to_csv(index=False, sep=";").encode("cp1252")
    found.append(Case(name="latin.csv", content=written, frame=latin, advice=True))
    found.append(Case(name="plain.csv.gz", content=gzip.compress(text.encode()), frame=frame))
    found.append(Case(name="plain.zip", content=archive.getvalue(), frame=frame))
    return found


def of_sheets() -> list[Case]:
    """Workbooks with years above numbers, titles, and a table somewhere."""
    frame = plain()
    years = pd.DataFrame(np.random.default_rng(2).uniform(0, 90, (N, 2)).round(1))
    years.columns = [2019, 2020]
    named_years = years.set_axis(["2019", "2020"], axis=1)
    return [
        Case(name="plain.xlsx", content=excel(frame, index=False), frame=frame),
        Case(name="years.xlsx", content=excel(years, index=False), frame=named_years),
        Case(name="years with rows.xlsx", content=excel(years), frame=named_years),
        Case(
            name="placed.xlsx",
            content=excel(frame, index=False, startrow=2, startcol=3),
            frame=frame,
        ),
        Case(name="placed rows.xlsx", content=excel(frame, startrow=3), frame=frame),
        Case(name="plain.ods", content=opendocument(frame), frame=frame),
        Case(name="rows.ods", content=opendocument(frame.reset_index(names="")), frame=frame),
    ]


MANIFEST = (
    '<?xml version="1.0"?><manifest:manifest '
    'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"></manifest:manifest>'
)


def opendocument(frame: pd.DataFrame) -> bytes:
    """Write a sheet as LibreOffice does."""
    names = (f'"string"><text:p>{name}</text:p>' for name in frame.columns)
    rows = [[f"<table:table-cell office:value-type={name}</table:table-cell>" for name in names]]
    for row in frame.astype(object).to_numpy().tolist():
        rows.append([_cell(value) for value in row])
    body = "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in rows)
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0"?><office:document-content{spaces}><office:body><office:spreadsheet>'
        f'<table:table table:name="t">{body}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", MANIFEST)
        archive.writestr("content.xml", content)
    return stream.getvalue()


def _cell(value: object) -> str:
    if pd.isna(value):
        return "<table:table-cell/>"
    if isinstance(value, pd.Timestamp):
        kind = f'"date" office:date-value="{value.date()}"'
    elif isinstance(value, str):
        kind = '"string"'
    else:
        kind = f'"float" office:value="{value!r}"'
    inside = f"<text:p>{value}</text:p>"
    return f"<table:table-cell office:value-type={kind}>{inside}</table:table-cell>"


def of_records() -> list[Case]:
    """JSON of pandas, in three forms."""
    frame = plain()
    texts = frame.assign(day=frame["day"].dt.strftime("%Y-%m-%d"))
    records = texts.to_json(orient="records")
    lines = texts.to_json(orient="records", lines=True)
    columns = texts.to_json()
    named_texts = {"records.json": records, "lines.jsonl": lines, "columns.json": columns}
    return [
        Case(name=name, content=text.encode(), frame=frame) for name, text in named_texts.items()
    ]


def of_columns() -> list[Case]:
    """Parquet and Feather with levels, truths and gaps."""
    frame = plain()
    levels = frame.assign(sex=frame["sex"].astype("category"), age=frame["age"].astype("Int64"))
    levels.loc[7, "age"] = pd.NA
    truths = frame.assign(sex=pd.array([True, None] * (N // 2), dtype="boolean"))
    twice = pa.DictionaryArray.from_arrays([0, 1, 2, 1], ["low", None, "high"], ordered=True)
    stream = io.BytesIO()
    with pa.ipc.new_file(stream, pa.schema([("x", twice.type)])) as writer:
        writer.write_table(pa.table({"x": twice}))
    ordered = pd.DataFrame({"x": ["low", None, "high", None]})
    return [
        Case(name="levels.parquet", content=parquet(levels), frame=levels),
        Case(name="levels.feather", content=feather(levels), frame=levels),
        Case(name="truths.parquet", content=parquet(truths), frame=truths),
        Case(name="truths.feather", content=feather(truths), frame=truths),
        Case(name="null level.feather", content=stream.getvalue(), frame=ordered),
    ]


def of_labels(folder: Path) -> list[Case]:
    """Stata with its index, SPSS with codes for missing, SAS for transport."""
    frame = plain()
    texts = frame.assign(sex=frame["sex"].fillna("").astype(object))
    stream = io.BytesIO()
    texts.to_stata(stream, convert_dates={"day": "td"})
    codes = pd.DataFrame({"edu": [1.0, 2.0, 9.0, 2.0] * 6, "pay": frame["pay"]})
    labels = {"edu": {1.0: "low", 2.0: "high", 9.0: "no answer"}}
    pyreadstat.write_sav(
        codes,
        str(folder / "t.sav"),
        variable_value_labels=labels,
        missing_ranges={"edu": [9]},
    )
    known = pd.DataFrame({"edu": ["low", "high", None, "high"] * 6, "pay": frame["pay"]})
    pyreadstat.write_xport(frame[["age", "pay"]], str(folder / "t.xpt"))
    return [
        Case(name="index.dta", content=stream.getvalue(), frame=frame),
        Case(name="codes.sav", content=(folder / "t.sav").read_bytes(), frame=known),
        Case(
            name="plain.xpt", content=(folder / "t.xpt").read_bytes(), frame=frame[["age", "pay"]]
        ),
    ]


def of_r() -> list[Case]:
    """What R wrote, and the table that it had."""
    days = ["2020-01-31", None, "2020-03-01", "2021-12-24", "2020-02-29", "2019-07-04"]
    frame = pd.DataFrame(
        {
            "age": pd.array([31, None, 45, 52, 28, 60], dtype="Int64"),
            "pay": [2.5, None, 1.25, 4, 3.5, 2],
            "sex": ["m", "f", None, "f", "m", "m"],
            "town": ["Ulm", None, "NA", "Bonn", "Ulm", "Bonn"],
            "day": pd.to_datetime(days),
        }
    )
    part = frame.iloc[[1, 3, 4]].reset_index(drop=True)
    with_texts = frame.copy()
    with_texts.insert(0, "row", [f"p{number}" for number in range(1, 7)])
    use = pd.DataFrame({"use": ["never", "daily", None, "never"], "n": [1.5, None, 2.5, 4]})
    numbers = pd.DataFrame({"row": ["x", "y", "z"], "n": [1.5, 2, 2.5]})
    rest = pd.DataFrame({"n": [1.5, 2.5, 3]})
    three = frame[["age", "pay", "sex"]]
    at = pd.to_datetime(["2020-01-01 10:30:00", None, "2021-07-03 00:00:15"], utc=True)
    moments = pd.DataFrame({"n": [1.5, 2, 2.5], "at": at})
    texts = tomllib.loads(BY_R.read_text("utf-8"))
    cases = [
        ("csv", "csv", frame, {}),
        ("csv_without_row_names", "csv", frame, {}),
        ("csv2", "csv", frame, {"advice": True}),
        ("table", "csv", frame, {}),
        ("csv_of_a_part", "csv", part, {}),
        ("csv_with_texts", "csv", with_texts, {"asks": "row"}),
        ("rds", "rds", three, {}),
        ("rda", "rda", three, {}),
        ("rds_with_an_na_level", "rds", use, {}),
        ("rds_with_row_names", "rds", numbers, {"asks": "row"}),
        ("rds_of_a_part", "rds", rest, {}),
        ("rds_with_moments_in_parts", "rds", moments, {}),
    ]
    return [
        Case(name=f"{key}.{ending}", content=texts[key]["text"].encode(), frame=table, **more)
        for key, ending, table, more in cases
    ]


@cache
def corpus(folder: Path) -> list[Case]:
    cases = [*of_indexes(), *of_texts(), *of_sheets(), *of_records(), *of_columns(), *of_r()]
    return [*cases, *of_labels(folder)]


def opened(case: Case) -> tuple[Microdata, bool]:
    """The table of a file, and whether an advice was followed to open it."""
    file = reading.FileToRead(name=case.name, content=case.content)
    answer = reading._taken(bytes(reading._read(file, None)))
    if answer.data is None:
        assert answer.seen is not None, (case.name, answer.refusal)
        assert answer.seen.opens, (case.name, answer.refusal)
        return parse(case.name, case.content, None, answer.seen.layout), True
    better = reading.proposed_layout(answer.data)
    if better is None:
        return answer.data, False
    return parse(case.name, case.content, None, better), True


def keys(column: pd.Series) -> list[Any]:
    """Values that compare: numbers as numbers, days as days, nothing as None."""
    found = []
    for value in column.tolist():
        if pd.isna(value):
            found.append(None)
        elif isinstance(value, pd.Timestamp):
            found.append(value.isoformat())
        else:
            found.append(round(value, 9) if isinstance(value, float) else value)
    return found


def differences(data: Microdata, frame: pd.DataFrame) -> list[str]:
    """Columns that are not those of another table."""
    if list(data.names) != list(frame.columns):
        return [f"names {data.names}"]
    return [name for name in data.names if keys(data.frame[name]) != keys(frame[name])]


def asked(data: Microdata) -> list[str]:
    """Variables that stop a release until somebody answers."""
    doubts = doubts_of_schema(data.frame, data.schema)
    return [doubt.variable for doubt in doubts if doubt.stops]


MISSING = {"None", "none", "nan", "NaN", "NA", "<NA>", "NaT"}


def texts_of_missing(data: Microdata, frame: pd.DataFrame) -> list[str]:
    """Variables with a text that stands for nothing, where the other table has no such text."""
    found = []
    for name in data.names:
        texts = {value for value in data.frame[name].dropna().unique() if isinstance(value, str)}
        real = {value for value in frame.get(name, []) if isinstance(value, str)}
        if (texts & MISSING) - real:
            found.append(name)
    return found


def test_each_file_opens_with_its_cells_and_no_advice_loses_a_line(tmp_path: Path) -> None:
    cases = corpus(tmp_path)
    assert len(cases) >= 60
    wrong = {}
    for case in cases:
        data, advised = opened(case)
        faults = differences(data, case.frame) + texts_of_missing(data, case.frame)
        if "".join(asked(data)) != case.asks:
            faults.append(f"asks {asked(data)}")
        if advised != case.advice:
            faults.append(f"advice {advised}")
        if faults:
            wrong[case.name] = faults
    assert wrong == {}


def test_a_text_in_place_of_a_missing_value_is_found() -> None:
    """The planted fault: `str` of a missing level."""
    frame = pd.DataFrame({"use": ["never", None, "daily"], "x": [1.0, 2.0, 3.0]})
    wrong = Microdata.from_frame(frame.assign(use=[str(value) for value in frame["use"]]))
    assert texts_of_missing(wrong, frame) == ["use"]
    assert texts_of_missing(Microdata.from_frame(frame), frame) == []


def test_a_header_that_may_be_a_record_is_asked_about_and_loses_no_line() -> None:
    """The planted faults: values in place of names, and a sheet without a name in the middle."""
    rng = np.random.default_rng(1)
    records = [f"c{i % 7},{rng.random():.1f},{rng.integers(1, 5)}" for i in range(40)]
    data, advised = opened(Case(name="t.csv", content="\n".join(records).encode(), frame=plain()))
    assert (data.n, data.names, advised) == (40, ("V1", "V2", "V3"), True)
    likert = [",".join(map(str, rng.integers(1, 6, 3))) for _ in range(40)]
    ordered = Case(name="t.csv", content="\n".join(["1,2,3", *likert]).encode(), frame=plain())
    assert opened(ordered)[0].n == 41
    unnamed = plain().rename(columns={"sex": ""})
    file = reading.FileToRead(name="t.xlsx", content=excel(unnamed, index=False))
    answer = reading._taken(bytes(reading._read(file, None)))
    assert "column 3 has no name" in str(answer.refusal)
    assert answer.seen is not None
    assert not answer.seen.opens


@pytest.mark.parametrize(
    ("names", "values", "expected"),
    [
        (["2019", "2020"], [[5, 7], [8, 1]], []),
        (["2019", "2020"], [[2011, 1999], [2003, 2015]], [0, 1]),
        (["1", "2", "3"], [[2, 1], [1, 2], [2, 2]], []),
        (["1", "2", "3"], [[5, 4], [1, 2], [3, 3]], [0, 1, 2]),
        (["1", "2", "9"], [[2, 1], [1, 2], [2, 2]], [0, 1, 2]),
        (["2", "4", "6"], [[5, 1], [1, 3], [3, 5]], [0, 1, 2]),  # a record is in order, too
        (["3.4", "7.1"], [[5, 4], [1, 2]], [0, 1]),
        (["7"], [["a", "b"]], []),
    ],
)
def test_a_number_is_a_name_by_kind_as_a_year_or_in_order(
    names: list[str], values: list[list[object]], expected: list[int]
) -> None:
    doubted = dict(enumerate(names))
    assert values_among_names(doubted, dict(enumerate(values))) == expected


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        ([0, 1, 2, 3], True),
        ([3, 1, 2], True),
        ([4, 9, 21], True),
        (["1", "2", "5"], True),
        ([1, 2, 2], False),
        ([1999, 2000, 2001], False),
        ([10_115, 20_095, 80_331], False),
        ([1.5, 2.5], False),
        (["a", "b"], False),
    ],
)
def test_a_counter_is_whole_different_and_no_year_or_code(
    values: list[object], counts: bool
) -> None:
    assert is_counter(pd.Series(values)) is counts


def test_the_first_columns_without_a_name_get_one() -> None:
    assert named(["", "Unnamed: 1", "age"]) == ["row", "row_2", "age"]
    assert named(["age", "", "pay"]) == ["age", "", "pay"]  # a name that is left out
    schema = Schema(variables=(Variable(name="Unnamed: 0", kind=Kind.COUNT),))
    assert named(["Unnamed: 0", "age"], schema) == ["Unnamed: 0", "age"]


def labelled(letters: bool) -> tuple[pd.DataFrame, Schema]:
    """A table with labels, levels, dates and gaps, and codes for missing of one kind."""
    frame = plain()
    frame["edu"] = pd.Categorical(["low", "high", None, "high"] * 6, ["low", "high"])
    frame["day"] = frame["day"].astype("datetime64[s]")
    frame["n"] = pd.array([1, None, 3, 4] * 6, dtype="Int64")
    codes: tuple[Any, ...] = ("a", "b") if letters else (8, 9)
    labels = ((1, "low"), (2, "high"), (codes[0], "refused"), (codes[1], "not asked"))
    by_kind = {"age": Kind.COUNT, "pay": Kind.CONTINUOUS, "sex": Kind.CATEGORICAL}
    by_kind |= {"day": Kind.DATE, "n": Kind.COUNT}
    variables = [Variable(name=n, kind=k, label=f"The {n}") for n, k in by_kind.items()]
    edu = Variable(
        name="edu",
        kind=Kind.CATEGORICAL,
        label="Education",
        value_labels=labels,
        missing_codes=codes,
    )
    order = {name: place for place, name in enumerate(frame)}
    ordered = sorted([*variables, edu], key=lambda each: order[each.name])
    return frame, Schema(variables=tuple(ordered), rows=SEPARATE)


def in_format(form: Format) -> tuple[pd.DataFrame, Schema, Microdata]:
    """A labelled table, its schema, and what is read of it in a format; letters of its own."""
    frame, schema = labelled(letters=form.key == "stata")
    return frame, schema, parse(f"t{form.suffixes[0]}", form.write(frame, schema))


@pytest.mark.parametrize("form", writable(), ids=lambda form: form.key)
def test_every_kind_of_missing_value_goes_through_every_format(form: Format) -> None:
    frame, schema, data = in_format(form)
    assert texts_of_missing(data, frame) == []
    assert differences(data, frame) == []
    if Feature.LABELS in form.keeps:
        assert [v.label for v in data.schema.variables] == [v.label for v in schema.variables]
    codes = data.schema.variable("edu").missing_codes
    kept = Feature.MISSING_CODES in form.keeps or Feature.MISSING_LETTERS in form.keeps
    assert codes == (schema.variable("edu").missing_codes if kept else ())
    if kept:
        assert len(data.schema.variable("edu").value_labels) == 4


@pytest.mark.parametrize("form", writable(), ids=lambda form: form.key)
def test_a_release_that_changes_nothing_has_the_cells_names_and_labels(form: Format) -> None:
    _, _, data = in_format(form)
    open_ones = {v.name: {"confirmed": True} for v in data.schema.variables}
    stated = replace(data.schema.replace_variables(open_ones), rows=SEPARATE)
    release = rwn.mask(data.with_schema(stated), rwn.RWN(k=2, q=0.0), seed=1)
    again = parse(f"t{form.suffixes[0]}", release.to_bytes(form.key, "original"))
    assert differences(again, data.frame) == []
    assert [v.label for v in again.schema.variables] == [v.label for v in data.schema.variables]
    codes = data.schema.variable("edu").missing_codes
    assert again.schema.variable("edu").missing_codes == codes


def test_letters_of_r_for_missing_are_said_and_stay_in_the_schema() -> None:
    """The package haven writes them into the bits of NA."""
    numbers = np.array([1.0, np.nan, 3.0, np.nan])
    bits = numbers.view(np.uint64)
    bits[1] = 0x7FF00061_000007A2 | (1 << 51)
    bits[1] = (0x7FF80000 | ord("a")) << 32 | 1954
    bits[3] = 0x7FF00000_000007A2  # NA without a letter
    assert with_letters(numbers).tolist()[:3] == [1.0, "a", 3.0]
    assert pd.isna(with_letters(numbers)[3])
    content = r_bytes(pd.DataFrame({"x": numbers, "y": [1.5, 2, 3, 4]}))
    data = parse("t.rds", content)
    assert data.schema.variable("x").missing_codes == ("a",)
    assert "x has 1 value declared as missing (a)" in data.notices[0]
    assert data.frame["x"].isna().tolist() == [False, True, False, True]


def test_letters_of_sas_for_missing_are_said_and_stay_in_the_schema(tmp_path: Path) -> None:
    frame = pd.DataFrame({"name": ["ab", "c", "d", "e"], "x": [1.5, np.nan, np.nan, 0.0]})
    pyreadstat.write_xport(frame.assign(y=[7.0, 8.0, 9.0, 0.0]), str(tmp_path / "t.xpt"))
    content = (tmp_path / "t.xpt").read_bytes()
    point = b"." + bytes(7)
    assert content.count(point) == 2
    lettered = content.replace(point, b"R" + bytes(7), 1)
    data = parse("t.xpt", lettered)
    assert data.schema.variable("x").missing_codes == ("R",)
    assert data.schema.variable("y").missing_codes == ()
    assert "x has 1 value declared as missing (R)" in data.notices[0]
    assert differences(data, parse("t.xpt", content).frame) == []


def test_infinity_is_missing_in_every_format() -> None:
    frame = pd.DataFrame({"x": [1.5, np.inf, -np.inf, 2], "y": [1, 2, 3, 4]})
    text = frame.to_csv(index=False)
    record = json.dumps(frame.to_dict("records"))
    for name, content in {
        "t.csv": text.encode(),
        "t.parquet": parquet(frame),
        "t.feather": feather(frame),
        "t.json": record.encode(),
        "t.rds": r_bytes(frame),
    }.items():
        data = parse(name, content)
        assert data.frame["x"].isna().sum() == 2, name
        assert "x has 2 infinite values, which count as missing." in data.notices


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1 234", 1234),
        ("1\u00a0234", 1234),
        ("1\u2009234.5", 1234.5),
        ("1'234", 1234),
        ("1\u2019234", 1234),
        ("1\u02d9234", 1234),
        ("(1,234)", -1234),
        ("1.5D+03", 1500),
    ],
)
def test_numbers_in_groups_are_proposed(text: str, number: float) -> None:
    lines = ["a,b", "1,17", f'2,"{text}"', *(f"{i},{i * 7}" for i in range(3, 9))]
    case = Case(name="t.csv", content="\n".join(lines).encode(), frame=plain())
    data, advised = opened(case)
    assert advised
    assert data.frame["b"].tolist()[1] == number
    assert data.schema.variable("b").kind is not Kind.CATEGORICAL


def test_a_category_that_is_nearly_all_numbers_stops_a_release() -> None:
    values = [str(i) for i in range(19)] + ["about 5"]
    frame = pd.DataFrame({"x": values, "y": np.arange(20.0)})
    data = Microdata.from_frame(frame).with_schema(
        replace(Microdata.from_frame(frame).schema, rows=SEPARATE)
    )
    with pytest.raises(ReleaseError, match="numbers with other texts among them: x"):
        require_answers(data)
    (question,) = (q for q in open_questions(data.frame, data.schema) if q.kind == "mixed")
    assert question.stops
    require_answers(data.with_schema(data.schema.replace_variable("x", confirmed=True)))
    grades = frame.assign(x=["1", "2", "3", "4+"] * 5)
    require_answers(Microdata.from_frame(grades, replace(data.schema, variables=())))


ALIKE = ["Ulm", "Ulm", "ulm ", "U\u200blm", "New\u00a0York", "New York", "New York", "Bonn"]


def test_levels_that_look_alike_are_asked_about_and_joined_by_one_answer() -> None:
    text = "town,x\n" + "".join(f"{town},{i}\n" for i, town in enumerate(ALIKE))
    data = parse("t.csv", text.encode())
    (question,) = (q for q in open_questions(data.frame, data.schema) if q.kind == "same look")
    assert question.sentence.startswith("town has 3 pairs of levels that look the same")
    assert [answer.option for answer in question.answers] == ["", "--file join=true"]
    joined = ["Ulm"] * 4 + ["New York"] * 3 + ["Bonn"]
    assert with_levels_joined(data).frame["town"].tolist() == joined
    again = parse("t.csv", text.encode(), None, FileLayout(join=True))
    assert again.frame["town"].tolist() == joined
    assert parse("t.csv", text.encode(), again.schema).fingerprint == again.fingerprint


def test_levels_that_look_alike_are_pairs_in_which_each_difference_is_seen() -> None:
    """They are for the steward's screen; the question has no level."""
    column = pd.Series(ALIKE, name="town", dtype="str")
    pairs = [(pair.level, pair.usual, pair.differ_in) for pair in pairs_of_levels(column)]
    assert sorted(pairs) == [
        ("New⟨00A0⟩York", "New York", "blanks"),
        ("U⟨200B⟩lm", "Ulm", "invisible letters"),
        ("ulm⟨0020⟩", "Ulm", "blanks, case"),
    ]
    assert pairs_of_levels(column.replace({"ulm ": "Ulm"}).iloc[[0, 1, 2, 5, 7]]) == []
    schema = Microdata.from_frame(column.to_frame()).schema
    asked = open_questions(column.to_frame(), schema)
    (question,) = (each for each in asked if each.kind == "same look")
    assert "Ulm" not in question.sentence


def test_records_are_read_again_by_pandas() -> None:
    for case in of_records():
        data = parse(case.name, case.content)
        again = json_again(case.content, data.frame, data.schema)
        assert differing(data.frame, again, data.schema, gaps=True) == {}
        wrong = again.assign(age=again["age"] + 1)
        assert differing(data.frame, wrong, data.schema, gaps=True) == {"age": N}


def test_an_archive_has_one_table_and_no_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    def archive(**parts: str) -> bytes:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, text in parts.items():
                packed.writestr(name.replace("_", "."), text)
        return stream.getvalue()

    with pytest.raises(InputError, match=r"t\.zip holds 2 tables, and one is opened; unpack it"):
        parse("t.zip", archive(a_csv="x,y\n1,2\n3,4\n", b_csv="x,y\n1,2\n3,4\n"))
    with pytest.raises(InputError, match=r"t\.zip holds no table"):
        parse("t.zip", archive(a_md="x"))
    monkeypatch.setattr(limits, "LARGEST_UNPACKED", 1_000)
    for name, content in {
        "t.zip": archive(a_csv="x,y\n" + "1,2\n" * 1_000),
        "t.csv.gz": gzip.compress(b"x,y\n" + b"1,2\n" * 1_000),
    }.items():
        with pytest.raises(InputError, match=f"{name} unpacks to more than"):
            parse(name, content)
