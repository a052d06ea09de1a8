"""The catalogue of formats, layouts that are recognized, and the demo tables."""

import ast
import csv
import gzip
import inspect
import io as std_io
import os
import random
import shutil
import stat
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pyreadstat
import pytest
import rdata

import rwn_core as rwn
from rwn_core import Kind, Microdata, ReleaseError, Role, Schema, Variable, io
from rwn_core.data.file_layout import FileLayout
from rwn_core.errors import InputError, ParameterError, SchemaError
from rwn_core.io import csv_format, demo, parquet_format
from rwn_core.io.demo import DEMOS, demo_path, load_demo
from rwn_core.io.format import Feature, Format
from rwn_core.io.format_limits import losses
from rwn_core.io.guessed_layout import guess_text_layout
from rwn_core.io.limits import LONGEST_FIELD
from rwn_core.io.parse import file_content, parse
from rwn_core.io.readstat_files import coded_table
from rwn_core.io.text_types import plain_records
from rwn_core.io.text_types.plain_records import plain_columns
from rwn_core.io.write import table_bytes, write_atomically, write_together
from tests.read_here import said_of

ROOT = Path(__file__).resolve().parents[3]
SIGN = b"TOY\n"


def read_toy(file: str, content: bytes, schema: Any, layout: Any = None) -> Microdata:
    if not content.startswith(SIGN):
        raise InputError(f"{file} is not a Toy file.")
    lines = content.removeprefix(SIGN).decode().splitlines()
    rows = [[float(part) for part in line.split()] for line in lines[1:]]
    return Microdata.from_frame(pd.DataFrame(rows, columns=lines[0].split()), schema)


def write_toy(frame: pd.DataFrame, schema: Any = None) -> bytes:
    lines = [frame.columns, *frame.to_numpy().tolist()]
    return SIGN + "\n".join(" ".join(map(str, line)) for line in lines).encode()


TOY = Format(
    key="toy",
    title="Toy",
    noun="a Toy file",
    suffixes=(".toy", ".plaything"),
    media_type="text/x-toy",
    read=read_toy,
    write=write_toy,
    demand="no blanks",
    detects=lambda content: content.startswith(SIGN),
)
# some programs have no type of whole numbers: decimals tell that these are none
TABLE = pd.DataFrame({"a": [1.5, 2.0, 4.0, 7.0], "b": [3.0, 1.0, 0.5, 2.0]})


def test_every_file_of_a_format_is_in_the_catalogue_and_no_key_or_ending_is_shared():
    folder = Path(inspect.getfile(csv_format)).parent
    assert {path.stem for path in folder.glob("*_format.py")} == {
        f"{form.key}_format" for form in io.FORMATS
    }
    assert io.FORMATS[:2] == (csv_format.FORMAT, parquet_format.FORMAT)
    endings = [suffix for form in io.FORMATS for suffix in form.suffixes]
    assert len(set(endings)) == len(endings)
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in endings)


@pytest.mark.parametrize("form", [*io.writable(), TOY], ids=lambda form: form.key)
def test_a_format_reads_what_it_writes_and_writes_the_same_again(form):
    content = form.write(TABLE, None)
    again = form.read(f"t{form.suffixes[0]}", content, None)
    pd.testing.assert_frame_equal(again.frame, TABLE)
    assert form.write(again.frame, again.schema) == content
    others = [each for each in (*io.FORMATS, TOY) if each is not form]
    assert not any(each.detects(content) for each in others)


def test_a_third_format_is_in_the_refusals(monkeypatch, tmp_path):
    # without any list or message being edited
    monkeypatch.setattr(io, "FORMATS", (*io.FORMATS[:2], TOY))
    with pytest.raises(InputError, match=r"does not end in \.csv, \.parquet or \.toy; save .* Toy"):
        parse("table.txt", b"a b")
    with pytest.raises(InputError, match=r"is a Toy file; give it the ending \.toy or \.plaything"):
        parse("table.txt", SIGN)
    with pytest.raises(InputError, match="is a Toy file and not CSV"):
        parse("table.csv", SIGN)
    with pytest.raises(InputError, match=r"a file of another format the ending \.csv or \.toy"):
        parse("table.parquet", b"a,b")
    with pytest.raises(ParameterError, match=r"must end in \.csv, \.parquet or \.toy"):
        rwn.mask(Microdata.from_frame(TABLE), rwn.RWN(k=2)).publish(tmp_path / "out.txt")
    with pytest.raises(ParameterError, match="one of: csv, parquet, toy"):
        io.format_of_key("xlsx")


def test_no_other_file_names_an_ending_or_a_title_of_a_format():
    """A list of formats anywhere else would miss the next one."""
    for folder in ("rwn_core", "rwn_ui", "pages"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text("utf-8").lower()
            if "csv" not in text or "parquet" not in text:
                continue
            names = [text.lower() for text in _texts(path)]
            both = [text for text in names if "csv" in text and "parquet" in text]
            assert not both, f"{path}: {both}"
            assert not {"csv", "parquet"} <= set(names), path


def _texts(path: Path) -> list[str]:
    """The texts of a file that are no documentation, and its lists of texts."""
    tree = ast.parse(path.read_text("utf-8"))
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documented
    ]


NAMES = ["Käthe", "Bert", "Cora", "Dora", "Emil"]


def written(layout: FileLayout, rows: int = 40) -> bytes:
    """A table of names and incomes in some layout."""
    mark = layout.separator or ","
    lines = [f"Title {i} of the survey" if i else "" for i in range(layout.above, 0, -1)]
    if layout.header:
        lines.append(mark.join(["name", "income", "age"]))
    for i in range(rows):
        income = f"{i * 37 % 900}.{i % 9 + 1}".replace(".", layout.decimal)
        lines.append(mark.join([NAMES[i % 5], income, str(20 + i % 9)]))
    lines += ["Source of the table" for _ in range(layout.below)]
    return "\n".join(lines).encode(layout.encoding)


LAYOUTS = [
    FileLayout(encoding=encoding, separator=mark, decimal=decimal, header=header, above=a, below=b)
    for encoding, (mark, decimal), (header, a, b) in product(
        ("utf-8", "cp1252", "utf-16"),
        ((None, "."), (";", ","), ("\t", ","), ("|", ".")),
        ((True, 0, 0), (True, 2, 1), (False, 0, 2)),
    )
]


def test_every_layout_is_seen_and_read_with_the_same_values():
    plain = parse("t.csv", written(FileLayout()))
    for layout in LAYOUTS:
        content = written(layout)
        seen = guess_text_layout(content, ",")
        assert seen.layout == layout
        data = parse("t.csv", content, None, seen.layout)
        assert data.schema.file == (layout if layout != FileLayout() else None)
        for mine, theirs in zip(data.names, plain.names, strict=True):
            assert data.frame[mine].tolist() == plain.frame[theirs].tolist(), layout


@pytest.mark.parametrize("thousands", ["1.234", "1.234,5"])
def test_points_beside_decimal_commas_are_said_and_not_misread(thousands):
    content = f"a;b\n1,5;x\n{thousands};y\n2,5;x\n".encode()
    said = said_of("t.csv", content, None, FileLayout(separator=";", decimal=","))
    assert "Read as categories of texts: a (numbers with a point" in said
    assert "234" not in said


def test_invented_names_are_said_and_a_schema_gives_others():
    layout = FileLayout(header=False)
    content = written(layout)
    (notice,) = parse("t.csv", content, None, layout).notices
    assert "they are invented: V1 to V3. A schema" in notice
    (notice,) = parse("t.csv", b"5\n6\n7\n", None, layout).notices
    assert "they are invented: V1. A schema" in notice
    kinds = {"name": "categorical", "income": "continuous", "age": "count"}
    given = tuple(Variable(name=name, kind=kind) for name, kind in kinds.items())
    data = parse("t.csv", content, Schema(variables=given, file=layout))
    assert data.names == tuple(kinds)
    assert data.notices == ()
    assert data.frame["age"].tolist() == parse("t.csv", content, None, layout).frame["V3"].tolist()
    kept = tuple(Variable(name=f"V{i}", kind=v.kind) for i, v in enumerate(given, 1))
    assert parse("t.csv", content, Schema(variables=kept, file=layout)).names == ("V1", "V2", "V3")
    with pytest.raises(SchemaError, match=r"has 2 variables, and .* 3 columns; give one"):
        parse("t.csv", content, Schema(variables=given[:2], file=layout))


PIECES = ("a", "é", "1.5", "", " ", *",,", *"\n\n\r", "\r\n", *'""', '""', '","', "NA", "null")


def by_csv(records: bytes, width: int) -> list[list[str]] | None:
    """Columns by the csv module; None where it refuses, or a record has another width."""
    lines = std_io.TextIOWrapper(std_io.BytesIO(records), encoding="utf-8", newline="")
    try:
        rows = list(csv.reader(lines, strict=True))
    except csv.Error:
        return None
    if any(len(row) != width for row in rows):
        return None
    return [list(column) for column in zip(*rows, strict=True)]


def differences(seed: int, count: int) -> tuple[int, int]:
    """Random texts that Arrow takes, and those that it reads in another way."""
    draw = random.Random(seed)
    taken = 0
    wrong = 0
    for _ in range(count):
        width = draw.choice((2, 3))
        if draw.random() < 0.5:  # well-formed, with a piece changed
            cells = [
                [draw.choice(('"a"', "b", '"c,d"', '""', "", '"x\ny"')) for _ in range(width)]
                for _ in range(3)
            ]
            text = "\n".join(",".join(row) for row in cells)
            if draw.random() < 0.5:
                at = draw.randrange(len(text) + 1)
                text = text[:at] + draw.choice(PIECES) + text[at:]
        else:
            text = "".join(draw.choice(PIECES) for _ in range(draw.randrange(1, 14)))
        records = text.rstrip("\r\n").encode()
        found = plain_columns(records, width, ",")
        if found is not None:
            taken += 1
            wrong += [column.to_pylist() for column in found] != by_csv(records, width)
    return taken, wrong


def test_what_arrow_takes_is_what_the_csv_module_gives():
    taken, wrong = differences(seed=1, count=8_000)
    assert taken > 1_200
    assert wrong == 0


@pytest.mark.parametrize("check", ["_has_plain_lines", "_has_plain_quotes"])
def test_without_a_check_some_are_read_in_another_way(monkeypatch, check):
    monkeypatch.setattr(plain_records, check, lambda *_: True)
    assert differences(seed=1, count=5_000)[1] > 0


def test_a_field_beyond_the_limit_of_the_csv_module_is_left_to_it():
    assert plain_columns(b'a,"' + b"x" * (LONGEST_FIELD + 1) + b'"', 2, ",") is None
    assert plain_columns(b"a;b\nc;d", 2, ";") is not None
    assert plain_columns(b"", 2, ",") is None
    assert plain_columns(b"a\nb", 1, ",") is None


MEASUREMENTS = (
    "siri age weight height neck chest abdomen hip thigh knee ankle biceps forearm wrist bmi"
)


def ols(microdata: Microdata) -> tuple[np.ndarray, np.ndarray, float]:
    """Coefficients, standard errors and R squared of the question."""
    question = microdata.schema.question
    y = microdata.values(question.response)
    x = np.column_stack([np.ones(microdata.n), microdata.matrix(question.predictors)])
    coefficients = np.linalg.lstsq(x, y)[0]
    residuals = y - x @ coefficients
    variance = residuals @ residuals / (microdata.n - x.shape[1])
    errors = np.sqrt(variance * np.diag(np.linalg.inv(x.T @ x)))
    return coefficients, errors, 1 - residuals @ residuals / ((y - y.mean()) ** 2).sum()


@pytest.mark.parametrize("name", DEMOS)
def test_each_demo_is_as_described(name):
    about = DEMOS[name]
    microdata = load_demo(name)
    assert (microdata.n, microdata.p) == (about.records, about.variables)
    assert f"{microdata.n:,}" in about.size
    roles = {variable.role for variable in microdata.schema.variables}
    assert {Role.KEY, Role.CONFIDENTIAL} <= roles
    assert microdata.notices == ()
    question = microdata.schema.question
    assert microdata.schema.variable(question.response).kind in (Kind.CONTINUOUS, Kind.COUNT)


def test_each_file_of_a_demo_has_its_source_and_its_question():
    folder = demo_path("pima").parent
    sources = (folder / "SOURCES.md").read_text("utf-8")
    for path in folder.glob("*.csv"):
        assert f"## {path.stem}:" in sources
        assert path.stem in DEMOS
        assert tomllib.loads(path.with_suffix(".toml").read_text("utf-8"))["question"]


def test_pima_keeps_its_zeros():
    pima = load_demo("pima")
    assert [int((pima.values(name) == 0).sum()) for name in ("insulin", "triceps")] == [374, 227]
    assert pima.schema.variable("test").kind is Kind.CATEGORICAL


def test_randhie_groups_what_is_said_of_health():
    grouped = [v.name for v in load_demo("randhie").schema.variables if v.group == "health"]
    assert grouped == ["hlthg", "hlthf", "hlthp"]


def test_a_demo_that_there_is_not_is_refused():
    with pytest.raises(ParameterError, match="must be one of: bodyfat,"):
        load_demo("../secret")


def test_bodyfat_gives_the_published_regression():
    # check value BF-1, to its six printed digits
    microdata = load_demo("bodyfat")
    assert microdata.names == tuple(MEASUREMENTS.split())
    coefficients, errors, r2 = ols(microdata)
    expected = [8.450951, 0.593879, -0.737784, -0.175618, 0.929864, -0.445964]
    np.testing.assert_allclose(coefficients, expected, atol=1e-6)
    expected = [7.115275, 0.243746, 0.195986, 0.096137, 0.080435, 0.090796]
    np.testing.assert_allclose(errors, expected, atol=1e-6)
    assert r2 == pytest.approx(0.7069453265510273, abs=1e-12)


def test_the_files_are_found_inside_an_installed_package(tmp_path, monkeypatch):
    checkout = demo_path("pima").parent
    package = tmp_path / "site-packages" / "rwn_core"
    package.mkdir(parents=True)
    monkeypatch.setattr(demo, "__file__", str(package / "io" / "demo.py"))
    with pytest.raises(InputError, match="not installed"):
        demo_path("pima")
    shutil.copytree(checkout, package / "demo_data")
    assert demo_path("pima") == package / "demo_data" / "pima.csv"
    assert load_demo("pima").n == 768


@pytest.mark.parametrize("code", [1.5, 2**31], ids=["no whole number", "too large"])
def test_codes_that_stata_has_no_labels_for_are_refused_and_kept_by_spss(code, tmp_path):
    frame = pd.DataFrame({"rate": pd.Categorical(["low", "high", "low"])})
    variable = Variable(
        name="rate", kind=Kind.CATEGORICAL, value_labels=((code, "low"), (2.0, "high"))
    )
    schema = Schema(variables=(variable,))
    with pytest.raises(ReleaseError, match="Stata cannot hold this table"):
        table_bytes(frame, "stata", schema)
    (tmp_path / "t.sav").write_bytes(table_bytes(frame, "spss", schema))
    assert pyreadstat.read_sav(tmp_path / "t.sav")[0]["rate"].tolist() == [code, 2.0, code]


def test_a_data_frame_with_a_column_that_is_too_short_is_damaged():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": np.array([7, 8, 9], dtype="int32")})
    content = table_bytes(frame, "r")
    plain = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    column = b"".join(n.to_bytes(4, "big") for n in (3, 7, 8, 9))
    assert plain.count(column) == 1
    short = plain.replace(column, b"".join(n.to_bytes(4, "big") for n in (2, 7, 8)))
    with pytest.raises(InputError, match="damaged or cut off"):
        parse("t.rds", gzip.compress(short))


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    measured = Path.stat
    path.write_bytes(b"a\n1\n")

    def grown_since(file: Path, *, follow_symlinks: bool = True) -> object:
        found = measured(file, follow_symlinks=follow_symlinks)
        if file == path:
            with file.open("ab") as stream:
                stream.write(b"2\n")
        return found

    monkeypatch.setattr(Path, "stat", grown_since)
    with pytest.raises(InputError, match=r"t\.csv is still being written; open it when"):
        file_content(path)


def test_the_data_frames_of_an_r_file_are_named(tmp_path):
    frames = {name: pd.DataFrame({"x": [1.5, 2.5, 3.5]}) for name in ("people", "towns")}
    rdata.write_rda(tmp_path / "two.rda", frames)
    data = parse("two.rda", (tmp_path / "two.rda").read_bytes())
    assert "The file holds 2 data frames: people is read, not towns." in data.notices


def test_the_largest_short_numbers_take_four_bytes():
    short = 2**31 - 1000
    frame = pd.DataFrame({"in": [1, short - 1], "out": [1, short], "low": [1, -short]})
    made = coded_table(frame, None)[0]
    assert [str(dtype) for dtype in made.dtypes] == ["int32", "float64", "float64"]
    frame = pd.DataFrame({"in": pd.Categorical(["a", "b"]), "out": pd.Categorical(["a", "b"])})
    labels = {"in": ((short - 1, "a"), (1, "b")), "out": ((short, "a"), (1, "b"))}
    variables = [
        Variable(name=name, kind=Kind.CATEGORICAL, value_labels=pairs)
        for name, pairs in labels.items()
    ]
    made = coded_table(frame, Schema(variables=tuple(variables)))[0]
    assert [str(dtype) for dtype in made.dtypes] == ["int32", "float64"]


PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "open-a-file.md"
FRAME = pd.DataFrame(
    {
        "truth": [True, False, True, True],
        "day": pd.to_datetime(["2020-01-02", "1999-12-31", None, "2001-02-03"]).astype(
            "datetime64[s]"
        ),
        "zone": pd.to_datetime(["2020-01-02 00:00", "2020-06-02 03:04"] * 2).tz_localize(
            "UTC+09:00"
        ),
        "rank": pd.Categorical(["lo", "hi", "lo", "mid"], ["lo", "mid", "hi"], ordered=True),
        "sex": pd.Categorical(["m", "f", None, "f"], ["m", "f"]),
        "work": pd.Categorical(["a", "b", None, "a"], ["a", "b"]),
        "gap": pd.array([1, None, 7, 2], "Int64"),
        "wide": [1, 2**40, 7, 3],
        "real": [0.1, np.nan, 2.5, 0.3],
        "text": pd.array(["a", None, "b", "c"], "str"),
        "noon": pd.to_datetime(["2020-01-02 12:00", None, "1950-01-01 12:00", "2001-02-03 12:00"]),
    }
)
PLAIN_KINDS = dict.fromkeys(("gap", "wide"), Kind.COUNT) | {"real": Kind.CONTINUOUS}
PLAIN_KINDS |= {"text": Kind.CATEGORICAL, "noon": Kind.DATE}
SCHEMA = Schema(
    variables=(
        Variable(name="truth", kind=Kind.CATEGORICAL),
        Variable(name="day", kind=Kind.DATE),
        Variable(name="zone", kind=Kind.DATE),
        Variable(name="rank", kind=Kind.ORDERED),
        Variable(
            name="sex",
            kind=Kind.CATEGORICAL,
            label="Sex",
            value_labels=((1, "m"), (2, "f"), (9, "refused")),
            missing_codes=(9,),
        ),
        Variable(
            name="work",
            kind=Kind.CATEGORICAL,
            value_labels=((10, "a"), (20, "b"), ("r", "refused")),
            missing_codes=("r",),
        ),
        *(Variable(name=name, kind=kind) for name, kind in PLAIN_KINDS.items()),
    )
)
ORIGINAL = Microdata.from_frame(FRAME, SCHEMA)


def kept(form: Format) -> set[Feature]:
    """The features of the table that come back from a file."""
    content = table_bytes(ORIGINAL.frame, form.key, ORIGINAL.schema)
    again = parse(f"t{form.suffixes[0]}", content)
    frame, schema = again.frame, again.schema
    sex, work = schema.variable("sex"), schema.variable("work")
    checks = {
        Feature.TRUTHS: frame["truth"].dtype == bool,
        Feature.DATES: frame["day"].dropna().tolist() == FRAME["day"].dropna().tolist(),
        Feature.TIME_ZONES: getattr(frame["zone"].dtype, "tz", None) is not None
        and frame["zone"].tolist() == FRAME["zone"].tolist()
        and frame["zone"].dt.hour.tolist() == [0, 3, 0, 3],
        Feature.LEVEL_ORDER: schema.variable("rank").levels == ("lo", "mid", "hi"),
        Feature.LABELS: sex.label == "Sex",
        Feature.VALUE_LABELS: dict(sex.value_labels) == {1: "m", 2: "f", 9: "refused"}
        and dict(work.value_labels).items() >= {10: "a", 20: "b"}.items(),
        Feature.MISSING_CODES: sex.missing_codes == (9,),
        Feature.MISSING_LETTERS: work.missing_codes == ("r",),
    }
    assert frame["sex"].tolist()[:2] == ["m", "f"]
    assert frame["sex"].isna().tolist() == [False, False, True, False]
    for name in PLAIN_KINDS:
        pd.testing.assert_series_equal(frame[name], FRAME[name], check_dtype=False)
    assert table_bytes(ORIGINAL.frame, form.key, ORIGINAL.schema) == content
    return {feature for feature, fine in checks.items() if fine}


@pytest.mark.parametrize("form", io.writable(), ids=lambda form: form.key)
def test_a_format_keeps_what_it_says_and_the_rest_is_named(form):
    assert kept(form) == set(form.keeps)
    lost = set(Feature) - set(form.keeps) - {Feature.DATES}
    said = losses(ORIGINAL, form)
    assert len(said) == len(lost)
    for feature in lost:
        assert any(f"{form.title} does not keep {feature} (" in sentence for sentence in said)


def test_the_page_has_the_table_of_formats():
    # the table of the page, made of FORMATS
    lines = [
        "| | " + " | ".join(form.title for form in io.FORMATS) + " |",
        "|---|" + ":-:|" * len(io.FORMATS),
        "| endings | " + " | ".join(" ".join(form.suffixes) for form in io.FORMATS) + " |",
        "| written | " + " | ".join("yes" if form.write else "no" for form in io.FORMATS) + " |",
    ]
    for feature in Feature:
        marks = ("yes" if feature in form.keeps else "no" for form in io.FORMATS)
        lines.append(f"| {feature} | " + " | ".join(marks) + " |")
    assert "\n".join(lines) in PAGE.read_text("utf-8")


SECRET = b"Zaphod"


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_nothing_but_the_values_is_written(format):
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["a", "b", "Zaphod"]),
            "x": [0.1, 27.5, 78051120.5],
            "t": ["u", 'v, "w"\n', "Zaphod"],
        },
        index=pd.Index(["p", "q", "r"], name="Zaphod"),
    )
    frame.attrs["source"] = "/home/Zaphod"
    content = table_bytes(frame.iloc[:2], format)
    assert SECRET not in content
    if format == "csv":
        assert content == b'c,x,t\na,0.1,u\nb,27.5,"v, ""w""\n"\n'
    else:
        file = pq.ParquetFile(std_io.BytesIO(content))
        assert file.schema_arrow.metadata is None
        assert not file.metadata.row_group(0).column(1).is_stats_set
        again = file.read()
        assert SECRET not in repr(again.to_pydict()).encode()
        assert again.column_names == ["c", "x", "t"]


def test_a_carriage_return_inside_a_text_is_quoted():
    frame = pd.DataFrame({"t": ["a\rb", "c"], "x": [1, 2]})
    assert table_bytes(frame, "csv") == b'"t","x"\n"a\rb",1\n"c",2\n'


def test_files_that_belong_together_are_all_there_or_none(tmp_path, monkeypatch):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"old")
    write_together({one: b"1", two: b"2"})
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    real = os.fsync
    calls = []

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:  # the second file finds the disk full
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReleaseError, match=r"The file two could not be written \(No space left"):
        write_together({one: b"new", two: b"new"})
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]


@pytest.mark.skipif(os.name != "posix", reason="folders are synced on POSIX only")
def test_the_folder_is_synced_after_the_file_has_its_name(tmp_path, monkeypatch):
    seen = []

    def sync(descriptor: int) -> None:
        seen.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), (tmp_path / "one").exists()))

    monkeypatch.setattr(os, "fsync", sync)
    write_atomically(tmp_path / "one", b"1")
    assert seen == [(False, False), (True, True)]


def test_what_a_killed_program_left_is_swept_and_what_another_writes_is_not(tmp_path):
    old, young = tmp_path / ".part-rwn-old", tmp_path / ".part-rwn-young"
    foreign, folder = tmp_path / ".part-of-a-song", tmp_path / ".part-rwn-0123"
    folder.mkdir()
    for left in (old, young, foreign, folder / "release.csv"):
        left.write_bytes(b"masked")
    for left in (old, foreign, folder):
        os.utime(left, (1, 1))
    write_atomically(tmp_path / "one", b"1")
    assert sorted(os.listdir(tmp_path)) == [".part-of-a-song", ".part-rwn-young", "one"]
