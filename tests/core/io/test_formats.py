"""The catalogue of formats, layouts that are recognized, and the demo tables."""

from __future__ import annotations

import ast
import csv
import inspect
import io as std_io
import math
import random
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import Kind, Microdata, Role, Schema, Variable, io
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.identity import identity_doubts
from rwn_core.data.role_guesses import guessed_roles
from rwn_core.errors import InputError, ParameterError, SchemaError
from rwn_core.io import Format, csv_format, demo, format_of_name, parquet_format
from rwn_core.io.demo import DEMOS, demo_path, load_demo
from rwn_core.io.guessed_layout import guess_text_layout
from rwn_core.io.limits import LONGEST_FIELD
from rwn_core.io.other_readers import differing
from rwn_core.io.parse import parse
from rwn_core.io.text_types import plain_records
from rwn_core.io.text_types.plain_records import plain_columns
from tests.core.io.test_official_files import OfficialFile, as_cell, official_file, official_files
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


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalogue with a third format, without any list or message being edited."""
    monkeypatch.setattr(io, "FORMATS", (*io.FORMATS[:2], TOY))


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


def test_a_third_format_is_in_the_refusals(toy, tmp_path):
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


HELPS = """
from dataclasses import replace
from rwn_core import io
io.FORMATS = (*io.FORMATS[:2], replace(io.FORMATS[0], key='toy', title='Toy', suffixes=('.toy',)))
from rwn_cli import main as cli
for command in ('app', 'demo', 'mask', 'sweep'):
    print(chr(12))
    cli.run([command, '--help'])
"""


def test_a_third_format_is_in_the_help():
    run = subprocess.run(
        [sys.executable, "-c", HELPS], capture_output=True, text=True, check=True, cwd=ROOT
    )
    app, demo, mask, sweep = (" ".join(each.split()) for each in run.stdout.split("\f")[1:])
    for text in (app, mask):
        assert "CSV, Parquet or Toy file" in text
    for text in (demo, mask, sweep):
        assert "Ends in .csv, .parquet or .toy" in text


def test_the_list_of_formats_is_cheap():
    code = "import sys, rwn_core.io, rwn_cli.main; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert not {"numpy", "pandas", "pyarrow"} & set(run.stdout.split())


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
    lines += ["Source of the table"] * layout.below
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
    draw, taken, wrong = random.Random(seed), 0, 0
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


FILES = official_files()


@cache
def read(layout: str, form: str) -> tuple[OfficialFile, rwn.Microdata]:
    file = official_file(layout, form)
    return file, parse(file.name, file.content, None, file.how)


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


@cache
def found_roles(layout: str, form: str) -> tuple[dict[str, Role], dict[str, Role]]:
    """The roles of a file by name, in truth and as they are guessed or asked about."""
    file, data = read(layout, form)
    guessed = {each.variable: each.role for each in guessed_roles(data.frame, data.schema)}
    names = list(data.frame.columns)
    asked = {each.variable for each in identity_doubts(data.frame, names) if each.stops}
    upper = {name.lower(): name for name in names}
    truth = {upper[name.lower()]: role for name, role in file.roles.items()}
    for name in asked:
        if truth.get(name) is Role.IDENTIFIER:
            guessed[name] = Role.IDENTIFIER
    return truth, guessed


@pytest.mark.parametrize(("layout", "form"), FILES)
def test_most_roles_of_each_file_are_found(layout, form):
    truth, guessed = found_roles(layout, form)
    wrong = {
        name: (role, guessed.get(name)) for name, role in truth.items() if guessed.get(name) != role
    }
    assert len(wrong) <= 0.3 * len(truth), wrong


def test_four_of_five_roles_of_every_kind_are_found():
    known, right = Counter[Role](), Counter[Role]()
    for layout, form in FILES:
        truth, guessed = found_roles(layout, form)
        known.update(truth.values())
        right.update(role for name, role in truth.items() if guessed.get(name) == role)
    shares = {role: right[role] / known[role] for role in known}
    assert min(shares.values()) >= 0.8, shares


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


def test_each_demo_is_as_described():
    for name, about in DEMOS.items():
        microdata = load_demo(name)
        assert (microdata.n, microdata.p) == (about.records, about.variables)
        assert f"{microdata.n:,}" in about.size
        roles = {variable.role for variable in microdata.schema.variables}
        assert {Role.KEY, Role.CONFIDENTIAL} <= roles
        assert microdata.notices == ()
        question = microdata.schema.question
        assert microdata.schema.variable(question.response).kind in (Kind.CONTINUOUS, Kind.COUNT)
    pima = load_demo("pima")  # its zeros stay
    assert [int((pima.values(name) == 0).sum()) for name in ("insulin", "triceps")] == [374, 227]
    assert pima.schema.variable("test").kind is Kind.CATEGORICAL
    grouped = [v.name for v in load_demo("randhie").schema.variables if v.group == "health"]
    assert grouped == ["hlthg", "hlthf", "hlthp"]
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


def test_the_sources_name_every_file():
    folder = demo_path("pima").parent
    sources = (folder / "SOURCES.md").read_text("utf-8")
    for path in folder.glob("*.csv"):
        assert f"## {path.stem}:" in sources
        assert path.stem in DEMOS
        assert tomllib.loads(path.with_suffix(".toml").read_text("utf-8"))["question"]
