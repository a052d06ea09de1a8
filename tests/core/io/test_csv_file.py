"""Reading CSV: what each kind of text becomes, and that nothing is lost on the way."""

from __future__ import annotations

import contextlib
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import InputError
from rwn_core.io.parse import parse
from rwn_core.io.reading import read
from rwn_core.io.write import table_bytes


def table(text: str, **kinds: Kind) -> Microdata:
    schema = None
    if kinds:
        schema = Schema(variables=tuple(Variable(name=n, kind=k) for n, k in kinds.items()))
    return parse("t.csv", text.encode(), schema)


def column(*cells: str, kind: Kind | None = None) -> tuple[pd.Series, tuple[str, ...]]:
    text = "x,row\n" + "".join(f'"{cell}",{i}\n' for i, cell in enumerate(cells))
    kinds = {} if kind is None else {"x": kind, "row": Kind.COUNT}
    microdata = table(text, **kinds)
    return microdata.frame["x"], microdata.notices


def test_the_schema_decides() -> None:
    assert column("1", "2", "1", kind=Kind.CATEGORICAL)[0].tolist() == ["1", "2", "1"]
    assert column("00501", "7", kind=Kind.COUNT)[0].tolist() == [501, 7]
    assert column("1E3", "7", kind=Kind.CONTINUOUS)[0].tolist() == [1000.0, 7.0]
    assert column("a", "7", kind=Kind.CATEGORICAL)[0].tolist() == ["a", "7"]
    assert column("9007199254740993", "7", kind=Kind.CATEGORICAL)[0][0] == "9007199254740993"
    ordered = table("x,y\n10,1\n9,2\n100,3\n", x=Kind.ORDERED, y=Kind.COUNT)
    assert ordered.values("x").tolist() == [1, 0, 2]


def test_line_ends_and_byte_order_mark() -> None:
    lines = ["age,sex", '1,"a ""b"", c"', "2,d"]
    for ending, last, start in product(("\n", "\r\n", "\r"), (0, 1, 3), (b"", b"\xef\xbb\xbf")):
        text = ending.join(lines) + ending * last
        microdata = parse("t.CSV", start + text.encode())
        assert microdata.names == ("age", "sex")
        assert microdata.frame["sex"].tolist() == ['a "b", c', "d"]


@pytest.mark.usefixtures("read_here")
def test_a_saved_schema_the_file_is_not_picked_up(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "t.toml").write_text("not a schema")
    assert read(tmp_path / "t.csv").schema.variable("x").kind is Kind.COUNT
    with pytest.raises(InputError, match=r"^t\.toml: the schema file is not valid TOML"):
        read(tmp_path / "t.csv", tmp_path / "t.toml")


# what a text column can hold: no NUL or half pair, not empty (that is a missing value), and no
# lone carriage return, which pandas writes without quotes
TEXTS = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\0\r"), min_size=1, max_size=8
)
COLUMNS = {
    Kind.CONTINUOUS: st.floats(-1e150, 1e150).map(np.float64),
    Kind.COUNT: st.integers(-(2**53) + 1, 2**53 - 1),
    Kind.CATEGORICAL: TEXTS,
    Kind.DATE: st.datetimes().map(pd.Timestamp),
}
DTYPES = {
    Kind.CONTINUOUS: "float64",
    Kind.COUNT: "Int64",
    Kind.CATEGORICAL: "str",
    Kind.DATE: "datetime64[us]",
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[pd.DataFrame, Schema]:
    """Random tables with missing values in every column."""
    n = draw(st.integers(2, 12))
    names = draw(
        st.lists(st.from_regex(r"[a-z][ ,;\"a-z]{0,5}", fullmatch=True), min_size=1, unique=True)
    )
    series, variables = {}, []
    for name in names:
        kind = draw(st.sampled_from(list(COLUMNS)))
        cells = draw(
            st.lists(st.one_of(st.none(), COLUMNS[kind]), min_size=n, max_size=n).filter(
                lambda values: any(value is not None for value in values)
            )
        )
        dtype = DTYPES[kind]
        if kind is Kind.COUNT and None not in cells:
            dtype = "int64"
        series[name] = pd.Series(cells, dtype=dtype)
        variables.append(Variable(name=name, kind=kind))
    return pd.DataFrame(series), Schema(variables=tuple(variables))


@settings(max_examples=40)
@given(tables())
def test_what_is_written_is_what_is_read(made: tuple[pd.DataFrame, Schema]) -> None:
    frame, schema = made
    # a name such as a;b alone looks like another separator
    assume(frame.columns[0].strip('a;,"'))
    assume(len(frame.columns) > 1 or ";" not in frame.columns[0])
    original = Microdata.from_frame(frame, schema)
    again = parse("t.csv", table_bytes(frame, "csv"), schema)
    assert again.fingerprint == original.fingerprint
    pd.testing.assert_frame_equal(again.frame, original.frame)


GOOD = (
    b'age,income,sex,when\n34,1000.5,M,2020-01-02\n35,,"F, x",2020-01-03\n36,1e+3,"a ""b""",\n'
    b"37,-2,M,1999-12-31\n"
)


@given(
    st.lists(
        st.tuples(st.integers(0, len(GOOD) - 1), st.binary(max_size=3), st.booleans()), max_size=4
    )
)
def test_mutated_bytes_give_a_table_or_a_refusal(
    mutations: list[tuple[int, bytes, bool]],
) -> None:
    content = GOOD
    for place, new, insert in mutations:
        content = content[:place] + new + content[place + (0 if insert else len(new)) :]
    with contextlib.suppress(InputError):
        assert parse("t.csv", content).n >= 2
